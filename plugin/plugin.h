/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Plugin: a governor for the polling threads of a DPDK program nobody changed.
 *
 * EAL loads the shared object (`-d`). A control thread watches for ports that
 * start and puts a callback in front of every Rx queue; from there on each
 * thread that polls is a *poller*: it knows its own queues, and after
 * an iteration in which none of them had anything it may rest, by the same core/idle
 * code as lull-fwd.
 *
 * This folder is not part of the engine (it lives in a program it does not
 * own), yet includes DPDK's headers: it must not *link* DPDK, or a static host
 * would load a second one. What it shares with the engine (telemetry, port
 * facts, snapshot) calls no DPDK and is one library of both; telemetry_reply.c,
 * which does, is compiled for the release of DPDK that a plugin is for.
 *
 * Rules that were learned the hard way (docs/plugin.md):
 * - Callbacks and their contexts are static and never freed: callbacks survive
 *   port close, and a reader may be inside one at any time. Off is a flag.
 * - The control thread calls no driver operation: a port may close meanwhile.
 *   What needs the driver (ring size, link, lost packets) is asked by a thread
 *   from inside the callback of that very port, for which the program guarantees
 *   that it runs. Even a port of the same iteration may be closed by then.
 * - Nothing comes from DPDK's heap before a port has started.
 * - A poller never rests with packets in hand.
 */
#ifndef LULL_PLUGIN_H
#define LULL_PLUGIN_H

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>
#include <stddef.h>

#include <rte_config.h>

#include <lull/engine.h>

#include "program/resting.h"
#include "idle/blame.h"
#include "engine/loop/telemetry.h"
#include "host/port_readings.h"
#include "host/snapshot.h"

enum plugin_mode {
	PLUGIN_OFF,     /* attached and counting polls, nothing else */
	PLUGIN_PASSIVE, /* measure how busy the pollers are, never rest */
	PLUGIN_SHADOW,  /* reckon what would be slept, never rest */
	PLUGIN_ON,
};

/** What to do in a program with work that the plugin cannot see. */
enum plugin_unseen_choice {
	PLUGIN_UNSEEN_STAY, /* never rest */
	PLUGIN_UNSEEN_REST, /* as if it were not there */
};

/** Settings: environment LULL_<KEY>, then the keys of LULL_CONFIG, then `lull set`. */
struct plugin_settings {
	uint32_t mode;
	struct lull_resting resting;
	uint32_t ring_pkts; /* 0: as the port says */
	uint32_t unseen;    /* enum plugin_unseen_choice */
	char report[256];   /* file for the final report, "-": stderr, "none" */
};

/* How a poller may rest. */
#define PLUGIN_IDLE_STATES                                                                         \
	(LULL_IDLE_STATE_BIT(LULL_IDLE_NONE) | LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) |              \
	 LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP))
#define PLUGIN_THREAD_NAME "lull-watch"
#define PLUGIN_QUEUES_MAX RTE_MAX_QUEUES_PER_PORT
#define PLUGIN_PORTS_MAX RTE_MAX_ETHPORTS
#define PLUGIN_MEMBERS_MAX 512 /* queues of one thread; with more it never rests */

struct plugin_poller;
struct plugin_queue;

/** Ask what only the device behind a queue knows. In a poll of this queue, on its thread. */
typedef void (*plugin_queue_visit_t)(struct plugin_queue *queue, struct plugin_poller *poller,
				     uint64_t now_ns);

/**
 * One Rx queue of one port, or of a guest, for the life of the process. Written by the thread that
 * polls it.
 */
struct plugin_queue {
	/* NULL: visit the queue at its next poll. The control thread writes that too. */
	alignas(LULL_CACHE_LINE) struct plugin_poller *poller;
	uint32_t iteration; /* the poller's iteration in which it was polled last */
	uint16_t index;     /* in the poller's queue_pkts */
	uint16_t port_id, queue_id;
	int vid;                      /* of a guest's device, instead of the port */
	plugin_queue_visit_t visit;   /* NULL: nobody has polled it yet */
	bool known;                   /* what follows holds; the control thread clears it */
	struct plugin_poller *member; /* in whose list of members it stands */
	struct plugin_poller *left;   /* who last took it for gone */
	uint64_t asked_ns;
	struct lull_ring_facts facts;
};

struct plugin_shadow {
	bool resting;
	struct lull_rest rest;
	uint64_t begin_ns, until_ns;
};

/**
 * A thread that polls. A *poll iteration* ends when each of its member
 * queues has been polled. Iterations after a rest are *timed* until the rings have run short;
 * others are only counted and reported in one go.
 */
struct plugin_poller {
	/* Each poll: these stand in one cache line, and a busy thread touches no other. */
	alignas(LULL_CACHE_LINE) uint32_t iteration;
	uint32_t iteration_pkts; /* received in this iteration */
	uint32_t seen;           /* members polled in this iteration */
	uint32_t member_count;
	uint32_t again;           /* polls of members seen already, this iteration */
	uint32_t burst_pkts;      /* smallest receive the program asked for */
	uint32_t empty_run;       /* empty iterations in a row */
	uint32_t empty_need;      /* so many before the clock is read */
	uint32_t clock_countdown; /* iterations until the clock is read anyway */
	union {
		uint32_t attention; /* any of these: the iteration is not merely counted */
		struct {
			bool timed;   /* this iteration began at iteration_begin_ns */
			bool sized;   /* the governor wants packet sizes */
			bool ordered; /* there are orders; others set this, atomically */
		};
	};
	uint64_t iterations, iterations_empty, pkts; /* of iterations that nobody timed */

	/* Each iteration that is not merely counted. */
	uint32_t mode;            /* enum plugin_mode */
	uint32_t unseen;          /* enum plugin_unseen_choice */
	bool crowded;             /* too many queues: never rest */
	uint32_t full_iterations; /* timed ones since a rest, rings not short yet */
	uint64_t iteration_begin_ns;
	uint64_t size_pkts, bytes, bytes_squared; /* since the last plan, if sized */
	uint16_t queue_pkts[LULL_IDLE_QUEUES_MAX];
	struct lull_idle *idle;
	const struct lull_rest_way *ways[LULL_IDLE_STATE_COUNT];
	struct plugin_shadow shadow;

	/*
	 * idle.c is told the time less what others took of this thread's CPU while it only
	 * measured: nobody was busy or idle then.
	 */
	uint64_t stolen_ns;
	uint64_t accounted_ns; /* up to here idle.c knows */
	uint64_t report_ns;    /* next report while only measuring */
	uint64_t wall_seen_ns, cpu_seen_ns;
	uint64_t clock_ns; /* one reading of the clock */
	bool sampling;     /* how long an empty iteration takes; ends with clock_countdown */
	uint32_t sample_iterations;
	uint64_t sample_x256; /* ns per empty iteration, of late, in 1/256 */

	/* Each 10 ms. */
	uint64_t housekeeping_ns;
	uint64_t window_begin_ns;
	uint32_t window;
	uint64_t polled_ns;             /* of the housekeeping before */
	uint64_t rest_ns;               /* it would rest that long now; 0: it is busy */
	uint32_t ports;                 /* that it has polled: a bit each */
	struct lull_loss_charge charge; /* lost packets not yet told to idle.c */
	struct lull_loss_audit audits[PLUGIN_PORTS_MAX];
	struct lull_snapshot_cell snapshot;
	uint64_t published_ns;
	int cpu;

	/* Seldom. */
	struct plugin_queue *members[PLUGIN_MEMBERS_MAX];
	uint32_t
		/* empty polls of seen members before the others are taken for gone */
		absence_polls;
	bool prepared;                /* its timer slack is ours */
	bool used;                    /* a live thread has it */
	struct lull_ring_facts rings; /* of its members */
	struct plugin_settings settings;
	struct lull_idle_limits limits;
	const struct lull_idle_governor *governor;
	char name[LULL_NAME_SIZE];
	char thread[LULL_NAME_SIZE];
	int tid;
	int pinned_cpu; /* the only one it may run on, -1: several */
	struct lull_rest_thread *class;
	uint64_t class_changes;                      /* seen */
	struct lull_rest_thread_config class_config; /* what it was told last */

	/* Written by others, who then set `ordered`: the last word counts. */
	alignas(LULL_CACHE_LINE) pthread_mutex_t orders_lock;
	struct plugin_settings ordered_settings;
	uint32_t ordered_window;
};
static_assert(offsetof(struct plugin_poller, mode) == LULL_CACHE_LINE, "one line on the busy path");

/* settings.c */
/** Environment and file. 0; 1: not asked to do anything; -errno and a sentence. */
int plugin_settings_load(struct plugin_settings *settings, struct lull_error *error);
/** "KEY=VALUE" or "KEY@POLLER=VALUE" on a copy. */
int plugin_settings_change(struct plugin_settings *settings, const char *assignment, char *loop,
			   struct lull_error *error);
void plugin_settings_print(const struct plugin_settings *settings,
			   void (*put)(void *arg, const char *key, const char *value), void *arg);
const struct lull_idle_governor *plugin_settings_governor(const struct plugin_settings *settings);
const char *plugin_mode_name(uint32_t mode);

/* attach.c: from being loaded to a callback in front of every queue */
/** Queues of a running port that have no callback yet. The thread that polls it, or the watch. */
void plugin_attach_port(uint16_t port_id);
/** How late the control thread's own sleeps end, and their CPU time: 0 before the first. */
uint64_t plugin_attach_late_ns(void);
uint64_t plugin_attach_cost_ns(void);
/** Watch for ports that start, in a thread of its own. */
int plugin_attach_start(void);
/** Look at once: the modes have changed, or there is another thread that polls. Any thread. */
void plugin_attach_kick(void);
/** Does a port run now that did not, or with another driver? Have it looked at. Any thread. */
void plugin_attach_notice(void);

/* queue.c: the queues of a poller. On its thread. */
/** The visit of a queue of a port. */
void plugin_queue_visit_port(struct plugin_queue *queue, struct plugin_poller *poller,
			     uint64_t now_ns);
/** The slow path of a poll: learn what must be known of the queue, have it in the iteration. */
void plugin_queue_visit(struct plugin_queue *queue, struct plugin_poller *poller,
			uint16_t count_max);
/** Members that this iteration has waited for in vain belong to the thread no longer. */
void plugin_queue_drop_missing(struct plugin_poller *poller);
/** It has no members any more: its thread has ended, or another one takes its place. */
void plugin_queue_drop_all(struct plugin_poller *poller);
/** Visit one queue of each port at its next poll. */
void plugin_queue_recall(struct plugin_poller *poller);
/** The thread has not polled for long: what was known of its queues may hold no more. */
void plugin_queue_doubt(struct plugin_poller *poller);

/* hook.c: calls of the program that lead through the plugin */
/** A function of a library that the program calls. */
struct plugin_hook {
	const char *function;
	const void *ours;     /* with the same arguments; NULL: only count who calls it */
	uint32_t places;      /* out: entries in tables of objects that lead to ours */
	uint32_t places_left; /* out: entries that do not */
};
/**
 * Lead the calls of all objects but DPDK's own through ours, of those too that are led already.
 * Waits for objects that are just being loaded. 0; -EAGAIN: others were added meanwhile, try again;
 * -ENOTSUP: on this kind of processor that cannot be done.
 */
int plugin_hooks_set(struct plugin_hook *hooks, uint32_t count);
/**
 * The function itself; NULL: nobody has it. @p library: how the name of its file begins.
 * @p shared: out, it is there and not in the program's own file.
 */
void *plugin_hook_find(const char *function, const char *library, bool *shared);
/** A table of a library, the one that the program uses; NULL: nobody has it. */
void *plugin_hook_find_data(const char *name, const char *library);
/** Grows with each object that is added to the process; its loading may not have ended. */
uint64_t plugin_hook_objects(void);

/* vhost.c: queues of guests */
/** Lead the polls of guests' queues through the plugin. Of objects loaded since too; the watch. */
void plugin_vhost_follow(void);
/** Are there guests by now that are not seen? The watch, whenever it is awake. */
void plugin_vhost_look(uint64_t now_ns);
/** Why guests are not seen, NULL: they are, or there are none. */
const char *plugin_vhost_unseen(void);
/** Queues of guests that were polled. */
uint32_t plugin_vhost_queues(void);

/* unseen.c: work of the program that the plugin cannot see */
/** Before any device can have started. */
void plugin_unseen_start(void);
/** Find the libraries that were loaded since. The watch. */
void plugin_unseen_follow(void);
/** Look whether there is some. Each 10 ms, any poller. */
void plugin_unseen_look(void);
/** The sentence of plugin_unseen(). */
#define PLUGIN_UNSEEN(reason) reason ": no thread rests (unseen=rest lets them)"
/** Why threads of this program cannot be judged, one sentence; NULL: they can. */
const char *plugin_unseen(void);

/* poller.c */
/** The Rx callback; @p arg is the struct plugin_queue. */
uint16_t plugin_seen(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t count,
		     uint16_t count_max, void *arg);

/* housekeeping.c: what a poller does besides polling. On its thread. */
/** Act by its settings and what its queues are, from now on. */
void plugin_poller_change(struct plugin_poller *poller);
/** Do what others ordered, if their lock is free. */
void plugin_apply(struct plugin_poller *poller, uint64_t now_ns);
/** Loss audit and snapshot every 10 ms. */
void plugin_housekeeping(struct plugin_poller *poller, uint64_t now_ns);
void plugin_publish(struct plugin_poller *poller, uint64_t now_ns);
/** Lost packets of a port that runs, for certain: one of its queues has just been polled. */
void plugin_audit_port(struct plugin_poller *poller, uint16_t port_id);
/** The port has been started: what it counted before counts no more. Any thread. */
void plugin_audit_restart(uint16_t port_id);
/** Before any thread polls. */
void plugin_audit_init(void);
/** Its thread ends: what it saw of lost packets and nobody has taken. */
void plugin_audit_end(struct plugin_poller *poller);

/* pollers.c: who polls */
/** A poller for the calling thread, NULL when there are too many or no memory. */
struct plugin_poller *plugin_poller_take(void);
/** Pollers that ever were; [0, count) stay valid for the life of the process. */
uint32_t plugin_poller_count(void);
struct plugin_poller *plugin_poller(uint32_t index);
struct plugin_settings plugin_settings_now(void);
/** Change a setting of one poller by name, or of all when none is named. 0 or -errno. */
int plugin_pollers_change(const char *assignment, struct lull_error *error);
/** The modes that are set, for the process or a thread: a bit of 1 << enum plugin_mode each. */
uint32_t plugin_pollers_modes(void);
void plugin_pollers_mark(struct plugin_poller *poller, uint32_t window);
void plugin_pollers_init(const struct plugin_settings *settings);
/** In the child of a fork: no new pollers, its locks may be taken for good. */
void plugin_pollers_forked(void);
/** At exit: each thread has the class again that the program gave it. */
void plugin_pollers_give_classes_back(void);
/** Why it never rests in this program, one sentence; NULL: it may. Any thread. */
const char *plugin_poller_unseen(const struct plugin_poller *poller);
/** What can be told of a poller. Any thread. */
void plugin_poller_info(const struct plugin_poller *poller, struct lull_loop_info *info);

/* life.c */
/** The number of places has grown; telemetry shows that many. */
void plugin_life_seen(uint32_t poller_count);
/** Does the process have a thread with @p part in its name? Reads a file of each: seldom. */
bool plugin_thread_exists(const char *part);
/** A line on stderr, with "lull: " in front. */
void plugin_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* report.c */
void plugin_report(void);

#endif
