/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Simulator: polling threads, their rings and links in virtual time.
 *
 * The policy code is core/ unchanged; everything around it is a number in the
 * configuration. One seed, one result, on any machine and with any compiler.
 * Threads: a simulation belongs to one thread; any number run side by side.
 * Memory:  created and freed here; a run allocates only for packets under way.
 */
#ifndef LULL_SIM_H
#define LULL_SIM_H

#include <lull/idle.h>
#include <lull/traffic.h>

#include "idle/share.h"

#include "feed.h"
#include "machine.h"

#define LULL_SIM_THREADS_MAX 16
#define LULL_SIM_WEIGHTS_MAX (LULL_SIM_THREADS_MAX * LULL_IDLE_QUEUES_MAX)

enum lull_sim_path {
	LULL_SIM_RECEIVE, /**< source -> link -> Rx rings -> threads */
	/** producer -> public ring -> sending thread -> link -> Rx ring -> receiving thread */
	LULL_SIM_SEND_RECEIVE,
};

enum lull_sim_side { LULL_SIM_SIDE_RECEIVE, LULL_SIM_SIDE_SEND, LULL_SIM_SIDE_COUNT };

struct lull_sim_policy {
	const struct lull_idle_governor *governor;
	struct lull_idle_limits limits; /**< ring, held, burst and link rate are filled in here */
};

struct lull_sim_config {
	enum lull_sim_path path;
	struct lull_sim_policy policy[LULL_SIM_SIDE_COUNT];
	struct lull_sim_machine machine;
	struct lull_arrival_config arrival; /**< begins at time 0; or */
	struct lull_sim_trace trace;        /**< borrowed; count 0: arrival */
	uint64_t link_bps;                  /**< 0: no link */
	uint64_t shape_bps;                 /**< shaper in front of the link, 0: none */
	uint32_t shape_bytes;               /**< its burst */
	uint32_t ring_pkts, held_pkts;
	uint32_t public_pkts; /**< public ring of the sending side */
	uint32_t burst_pkts;  /**< 1..LULL_SIM_BURST_MAX */
	/**
	 * A burst of more ends at a descriptor whose number is a multiple of this, as with virtio:
	 * it may be short although packets are left. 0 or 1: a short burst empties its ring.
	 */
	uint32_t round_pkts;
	bool trusts_short;    /**< governors are not told so: for what that does */
	uint32_t queue_count; /**< per thread, 1..LULL_IDLE_QUEUES_MAX; or in all: */
	/** The threads, at least as many as queues, share them; their governor can do so. */
	bool share_queues;
	/** Shares of the rings, each thread's after those of the one before; all 0: even. */
	uint32_t queue_weights[LULL_SIM_WEIGHTS_MAX];
	uint32_t thread_count, core_count;
	uint32_t late_ppm;               /**< share of wake-ups that come late ... */
	uint64_t late_ns;                /**< ... by this */
	uint64_t stall_every_ns;         /**< stolen time, 0: none */
	uint64_t stall_ns, stall_ns_max; /**< its length, or evenly up to the longest; 0: fixed */
	uint64_t stall_from_ns;          /**< none before, warm-up included */
	uint32_t competitor_ppm;         /**< other program on each core, its share, 0: none */
	uint64_t competitor_run_ns;      /**< CPU time of one of its runs */
	bool fifo;                       /**< threads are of a real-time class while they rest */
	uint64_t line_every_ns;          /**< bursts at line rate, each into one ring, 0: none */
	uint32_t line_pkts;
	uint64_t seed;
	uint64_t warmup_ns;   /**< not measured */
	uint64_t duration_ns; /**< measured */
};

/** One side, all its threads together, since the warm-up. */
struct lull_sim_result {
	uint32_t thread_count;
	uint64_t time_ns; /**< of all threads together */
	uint64_t cpu_ns;
	uint64_t offered, delivered, lost, bytes;
	uint64_t stolen_ns;           /**< from threads at work */
	uint64_t waited_ns;           /**< for the competitor, at work or late to wake */
	uint64_t realtime_ns, leaves; /**< in the real-time class, and times taken out of it */
	uint64_t competitor_ns, competitor_time_ns; /**< CPU time it got, of so much; 0: nobody */
	uint64_t active_ns, cstate_ns[LULL_SIM_CSTATES_MAX];
	uint64_t samples, samples_feasible; /**< the verdict, every 10 ms */
	struct lull_verdict verdict;        /**< of the first thread, at the end */
	struct lull_idle_limits limits;     /**< by which the threads rested, all filled in */
	struct lull_idle_counters counters;
	struct lull_histogram latency; /**< arrival at the ring to the end of its burst */
	struct lull_histogram added;   /**< beyond an ideal polling thread, see ring.h */
	struct lull_histogram rest;
	struct lull_share_counters share; /**< with share_queues */
	struct lull_histogram vacations;  /**< likewise: no thread looked at a queue for so long */
	struct lull_histogram wait;       /**< what lull says that packets waited at most, in all */
};

struct lull_sim; /* opaque */

/** -EINVAL and @p error filled in (when not NULL) if a member is out of range. */
int lull_sim_config_check(const struct lull_sim_config *config, struct lull_range *error);
/** 0, -EINVAL or -ENOMEM. */
int lull_sim_create(const struct lull_sim_config *config, struct lull_sim **sim);
/** Called a hundred times during a run, and every 100 ms of its time at least; false ends it. */
typedef bool lull_sim_progress(void *arg, uint64_t done_ns, uint64_t total_ns);
/** Warm-up and measurement. 0, -ENOMEM, or -EINTR when @p progress (may be NULL) ended it. */
int lull_sim_run(struct lull_sim *sim, lull_sim_progress *progress, void *arg);
/** Figures of one side after the run. */
void lull_sim_read(const struct lull_sim *sim, enum lull_sim_side side,
		   struct lull_sim_result *result);
/** Packets that arrived anywhere, warm-up included. */
uint64_t lull_sim_pkts(const struct lull_sim *sim);
void lull_sim_free(struct lull_sim *sim);

/** Times the core was left and taken again; pauses do not count. */
uint64_t lull_sim_wakes(const struct lull_sim_result *result);

/** Joules of that time by the machine's C-states. */
double lull_sim_energy_j(const struct lull_sim_machine *machine,
			 const struct lull_sim_result *result);
/**
 * Least CPU, ppm, with which any governor can keep the objective's percentile
 * when packets come independently of each other (constant, Poisson): the work
 * itself, and one wake-up per longest legal rest in the time left. Longest: a
 * share e of the packets may wait longer than T, so rests of T / (1 - e / f)
 * at most (f: share that arrives during rests, at most the idle share). The
 * ring is left out: how much it may be offered is the user's promise. Where
 * packets come in bursts few of them meet a rest, and less CPU can do.
 */
uint32_t lull_sim_cpu_bound_ppm(const struct lull_sim_config *config,
				const struct lull_sim_result *result);

#endif
