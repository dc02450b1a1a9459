/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pipeline: an I/O core, workers and an output in virtual time around core/dispatch.
 *
 *     source -> Rx ring -> I/O core -> staging -> worker rings -> workers -> order -> output
 *
 * The parser, the dispatcher, its schedulers and the resequencer are those of core/, called as
 * lull-flow calls them; what they cost and what workers cost are numbers here. Time is exact in ns:
 *   I/O core  an iteration takes up to burst_pkts packets that have arrived, reads the loads,
 *   decides and
 *             stages. It ends io_iteration_ns and io_pkt_ns per packet later; what is due is sent
 *             to the
 *             rings then, and the next iteration begins.
 *   worker    takes up to worker_burst_pkts packets at once, which frees their slots, works on one
 *             after the other, and says at the end of all that they are done.
 *   output    sees a packet when its worker has finished it, and works in no time.
 * A packet that finds the Rx ring full is lost there; one that finds its worker's ring full may get
 * another worker once, as in lull-flow, and is lost when that one has no room either.
 *
 * One seed, one result, on any machine and with any compiler.
 * Threads: a pipeline belongs to one thread; any number run side by side.
 * Memory:  created and freed here; a run allocates only before its first packet.
 */
#ifndef LULL_SIM_PIPELINE_H
#define LULL_SIM_PIPELINE_H

#include <lull/dispatch.h>
#include <lull/histogram.h>

#include "flows.h"

#define LULL_SIM_PIPELINE_BURST_MAX 256

enum lull_sim_gaps { LULL_SIM_GAPS_POISSON, LULL_SIM_GAPS_CONSTANT };

struct lull_sim_pipeline_config {
	/** Its worker_count, seed, idle_ns and so on hold; seed is the pipeline's. */
	struct lull_dispatch_config dispatch;
	/** worker_count, inside_pkts and seed are filled in. */
	struct lull_sim_flows_config flows;
	struct lull_resequence_config resequence; /**< bucket_bits is filled in */
	enum lull_sim_gaps gaps;
	/**
	 * Offered, in millionths of the unsplit capacity: what the workers can do together with
	 * these very packets when each flow stays at one worker and all have the same to do. A
	 * packet then costs service_ns, and identify_ns if it is one of the first identify_pkts of
	 * its flow; how many these are is counted. 1..4000000.
	 */
	uint32_t load_ppm;
	uint64_t pkts;      /**< measured, >= 1 */
	uint64_t lead_pkts; /**< before these, not measured; 0: a cold start */
	bool stop_at_loss;  /**< end a run at the first packet lost */

	uint32_t rx_ring_pkts;    /**< 1..2^20 */
	uint32_t burst_pkts;      /**< 1..LULL_SIM_PIPELINE_BURST_MAX */
	uint32_t flush_pkts;      /**< staged packets that are sent at once, as burst_pkts */
	uint64_t flush_ns;        /**< or after so long */
	uint64_t io_iteration_ns; /**< >= 1 */
	uint64_t io_pkt_ns;

	uint32_t ring_pkts;         /**< of each worker, 1..2^20 */
	uint32_t worker_burst_pkts; /**< as burst_pkts */
	uint64_t service_ns;        /**< per packet, 1..1 s */
	uint32_t jitter_ppm;        /**< uniform, that much more or less, 0..10^6 */
	uint64_t identify_ns;       /**< on top, for a flow's first packets at a worker */
	uint32_t identify_pkts;     /**< so many, 0..255 */
	bool hand_over;   /**< the verdict travels with the flow, see lull_dispatch_note() */
	uint64_t wake_ns; /**< a worker that found its ring empty begins so much later */
	uint64_t stall_every_ns, stall_ns; /**< a worker stands still, 0: never */
	uint32_t stall_worker;

	/** Watch what becomes of a worker's next so many packets when its ring is filled above
	 *  dispatch.threshold_ppm; 0..65536, 0: do not. */
	uint32_t watch_pkts;
	uint64_t seed;
};

/** Of the packets measured, each counted once by what became of it. */
struct lull_sim_pipeline_result {
	double capacity_pps; /**< unsplit, see load_ppm */
	uint64_t offered, delivered;
	uint64_t lost_rx, lost_ring;
	uint64_t reordered;        /**< finished by a worker after a later one of its flow */
	uint64_t reordered_output; /**< left the output so */
	uint64_t identified;       /**< packets that paid for identification */
	uint64_t flows, partials;  /**< since the start: flows seen, and pairs of flow and worker */
	struct lull_histogram latency; /**< arrival to end of service */
	struct lull_histogram wait;    /**< in the output, for earlier ones; all packets */
	uint32_t worker_count;
	uint64_t worker_pkts[LULL_DISPATCH_WORKERS_MAX];
	uint64_t worker_busy_ns[LULL_DISPATCH_WORKERS_MAX];
	/** Of busy_ns and of dispatch: first packet measured to the end. */
	uint64_t span_ns;
	uint64_t io_busy_ns; /**< iterations with packets */
	struct lull_dispatch_counters dispatch;
	struct lull_resequence_counters resequence;        /**< since the start */
	uint64_t watched, watched_lost;                    /**< see watch_pkts */
	uint64_t ring_pkts_max[LULL_DISPATCH_WORKERS_MAX]; /**< most that stood in a ring */
};

struct lull_sim_pipeline; /* opaque */

/** -EINVAL and @p error filled in (when not NULL) if a member is out of range. */
int lull_sim_pipeline_config_check(const struct lull_sim_pipeline_config *config,
				   struct lull_range *error);
/** 0, -EINVAL or -ENOMEM. */
int lull_sim_pipeline_create(const struct lull_sim_pipeline_config *config,
			     struct lull_sim_pipeline **pipeline);
/** Called every few thousand iterations; false ends the run. */
typedef bool lull_sim_pipeline_progress(void *arg, uint64_t done_pkts, uint64_t total_pkts);
/**
 * All packets, until the last has left. Judges at every iteration of the I/O core that no packet
 * came from nowhere or went there. 0, -ENOMEM, or -EINTR when @p progress (may be NULL) ended it.
 */
int lull_sim_pipeline_run(struct lull_sim_pipeline *pipeline, lull_sim_pipeline_progress *progress,
			  void *arg);
/** After the run; borrowed. */
const struct lull_sim_pipeline_result *lull_sim_pipeline_read(
	const struct lull_sim_pipeline *pipeline);
void lull_sim_pipeline_free(struct lull_sim_pipeline *pipeline);

struct lull_sim_pipeline_search {
	uint32_t seed_count; /**< each load is tried with seed, seed + 1, ...; >= 1 */
	uint32_t step_ppm;   /**< loads tried are multiples of it, >= 1 */
	uint32_t high_ppm;   /**< nothing above it is tried */
};
/**
 * Largest load without a loss for any of the seeds, by bisection: a load above one that lost is
 * not tried. *load_ppm 0: even the smallest lost. 0, -EINVAL, -ENOMEM or -EINTR.
 */
int lull_sim_pipeline_bisect(const struct lull_sim_pipeline_config *config,
			     const struct lull_sim_pipeline_search *search,
			     lull_sim_pipeline_progress *progress, void *arg, uint32_t *load_ppm);

#endif
