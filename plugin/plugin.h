/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Plugin: a governor for the polling threads of a DPDK program nobody changed.
 *
 * EAL loads the shared object (`-d`). A control thread watches for ports that
 * start and puts a callback in front of every Rx queue; from there on each
 * thread that polls is a *poller*: it knows its own round of queues, and after
 * a round in which none of them had anything it may rest, by the same core/idle
 * code as lull-fwd.
 *
 * This folder is not part of the engine (it lives in a program it does not
 * own), yet includes DPDK's headers: it must not *link* DPDK, or a static host
 * would load a second one. It reuses the engine's mailbox, snapshot, telemetry
 * and driver table, compiled into the plugin.
 *
 * Rules that were learned the hard way (docs/plugin.md):
 * - Callbacks and their contexts are static and never freed: callbacks survive
 *   port close, and a reader may be inside one at any time. Off is a flag.
 * - The control thread calls no driver operation: a port may close meanwhile.
 *   What needs the driver (ring size, link, lost packets) is asked by the thread
 *   that polls the port, for which the program guarantees that it runs.
 * - Nothing comes from DPDK's heap before a port has started.
 * - A poller never rests with packets in hand.
 */
#ifndef LULL_PLUGIN_H
#define LULL_PLUGIN_H

#include <lull/engine.h>

#include "mailbox.h"
#include "snapshot.h"

enum plugin_mode {
	PLUGIN_OFF,     /* attached, doing nothing at all */
	PLUGIN_PASSIVE, /* count how busy the pollers are, never rest */
	PLUGIN_SHADOW,  /* reckon what would be slept, never rest */
	PLUGIN_ON,
};

/** Settings: environment LULL_<KEY>, then the keys of LULL_CONFIG, then `lull set`. */
struct plugin_settings {
	uint32_t mode;
	uint32_t governor;
	uint64_t max_latency_ns;
	double percentile;
	uint32_t loss;
	uint64_t max_rest_ns;
	uint64_t rest_ns;
	uint64_t pps_max[2]; /* envelope + 1 (0: auto), rate */
	uint32_t ring_pkts;  /* 0: as the port says */
	char report[256];    /* file for the final report, "-": stderr, "": none */
};

enum plugin_message {
	PLUGIN_MESSAGE_CHANGE, /* struct plugin_settings */
	PLUGIN_MESSAGE_MARK,   /* uint32_t window */
};

#define PLUGIN_QUEUES_MAX 1024 /* RTE_MAX_QUEUES_PER_PORT of 22.11 */
#define PLUGIN_PORTS_MAX 32    /* RTE_MAX_ETHPORTS of 22.11 */
#define PLUGIN_AUDIT_PORTS_MAX 16

/** One Rx queue of one port, for the life of the process. */
struct plugin_queue {
	struct lull_loop *poller; /* who polled it last */
	uint32_t round;           /* the poller's round in which that was */
	uint16_t index;           /* in the poller's queue_pkts */
	uint16_t port_id, queue_id;
	bool attached; /* the control thread's */
	/* As the polling thread found the port. */
	uint32_t ring_pkts, held_pkts; /* 0: not told */
	uint64_t link_pps;             /* 0: no hardware link */
};

struct plugin_shadow {
	bool resting;
	uint64_t begin_ns, until_ns;
	struct lull_rest rest;
};

/**
 * A thread that polls. Named lull_loop because to telemetry it is one: the
 * accessors of lull/engine.h are implemented over it in pollers.c.
 */
struct lull_loop {
	/* Each poll. */
	uint32_t round;
	uint32_t round_pkts; /* received in this round */
	uint32_t
		queue_count; /* queues known; those beyond LULL_IDLE_QUEUES_MAX share the last place */
	uint32_t mode;       /* enum plugin_mode */
	bool timed;          /* this round began at round_begin_ns */
	uint64_t round_begin_ns;
	uint64_t turns, turns_empty, pkts; /* of rounds that nobody timed */
	uint32_t empty_run;                /* empty rounds in a row */
	uint32_t empty_need;               /* so many before the clock is read */
	uint16_t queue_pkts[LULL_IDLE_QUEUES_MAX];
	struct plugin_queue *queues[LULL_IDLE_QUEUES_MAX];
	struct lull_idle *idle;
	const struct lull_rest_way *ways[LULL_REST_DEPTH_COUNT];
	struct plugin_shadow shadow;

	/* Each 10 ms. */
	uint64_t chores_ns;
	uint64_t window_begin_ns;
	uint32_t window;
	uint32_t port_count;
	uint16_t port_ids[PLUGIN_AUDIT_PORTS_MAX];
	uint64_t port_missed[PLUGIN_AUDIT_PORTS_MAX];
	uint64_t missed; /* by the ports of this poller, since it was first asked */
	struct lull_snapshot_cell snapshot;

	/* Written by others. */
	struct lull_mailbox mailbox;

	/* Seldom. */
	bool used;                     /* a live thread has it */
	uint32_t burst_pkts;           /* smallest receive the program asks for */
	uint32_t ring_pkts, held_pkts; /* of the smallest ring */
	uint64_t link_pps;             /* of the fastest hardware link; 0: none */
	struct plugin_settings settings;
	const struct lull_idle_governor *governor;
	char name[LULL_NAME_SIZE];
	char thread[LULL_NAME_SIZE];
	int tid;
};

/* settings.c */
/** Environment and file. 0; 1: not asked to do anything; -errno and a sentence. */
int plugin_settings_load(struct plugin_settings *settings, char *error, size_t size);
/** "KEY=VALUE" or "KEY@POLLER=VALUE" on a copy. */
int plugin_settings_change(struct plugin_settings *settings, const char *assignment, char *loop,
			   char *error, size_t size);
void plugin_settings_print(const struct plugin_settings *settings,
			   void (*put)(void *arg, const char *key, const char *value), void *arg);
const struct lull_idle_governor *plugin_settings_governor(const struct plugin_settings *settings);
const char *plugin_mode_name(uint32_t mode);

/* queue.c */
/** Let @p poller have this queue and learn what it must about the port. On the polling thread. */
void plugin_queue_adopt(struct plugin_queue *queue, struct lull_loop *poller);

/* poller.c */
/** Act by these settings from now on. The poller's thread. */
void plugin_poller_change(struct lull_loop *poller, const struct plugin_settings *settings);
/** The Rx callback; @p arg is the struct plugin_queue. */
uint16_t plugin_seen(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t count,
		     uint16_t count_max, void *arg);
/** Mailbox now, loss audit and snapshot every 10 ms. */
void plugin_chores(struct lull_loop *poller, uint64_t now_ns);
void plugin_mailbox(struct lull_loop *poller, uint64_t now_ns);
void plugin_publish(struct lull_loop *poller, uint64_t now_ns);

/* pollers.c: who polls */
/** A poller for the calling thread, NULL when there are too many or no memory. */
struct lull_loop *plugin_poller_take(void);
/** Pollers that ever were; [0, count) stay valid for the life of the process. */
uint32_t plugin_poller_count(void);
struct lull_loop *plugin_poller(uint32_t index);
struct plugin_settings plugin_settings_now(void);
/** Post to one poller by name, or all when @p name is "". 0 or -errno. */
int plugin_pollers_change(const struct plugin_settings *settings, const char *name);
void plugin_pollers_init(const struct plugin_settings *settings);
/** The places themselves, for telemetry. */
struct lull_loop *const *plugin_poller_places(void);

/* attach.c */
/** The number of places has grown; telemetry shows that many. */
void plugin_attach_seen(uint32_t poller_count);

/* report.c */
void plugin_report(void);
/** A line on stderr, with "lull: " in front. */
void plugin_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
