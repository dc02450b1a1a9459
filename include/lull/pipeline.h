/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pipeline: I/O loops dispatch to worker loops, which hand flow records to aggregator loops.
 *
 *     ports, files -> io 0..i -> workers 0..n -> aggregators 0..m -> sink
 *                                    `-> output (resequence, forward)
 *
 * What the loops share (rings, cells with one writer) belongs to the pipeline; each loop is an
 * ordinary lull_loop that rests by a governor, with one of the four stages below.
 *
 * Packets carry a struct lull_flow_packet in the private bytes of their mbufs
 * (LULL_PIPELINE_PRIVATE of struct lull_port_config and lull_pipeline_pool()).
 *
 * Threads: create, finish and destroy from the main thread; counters and totals from any thread.
 */
#ifndef LULL_PIPELINE_H
#define LULL_PIPELINE_H

#include "dispatch.h"
#include "engine.h"
#include "encode.h"
#include "flow.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_PIPELINE_IO_MAX 4         /**< I/O loops */
#define LULL_PIPELINE_AGGREGATOR_MAX 4 /**< aggregator loops */
/** Private bytes per mbuf that the pipeline needs. */
#define LULL_PIPELINE_PRIVATE 128

/** A frame of a source; data is borrowed until the next read, or as long as the source says. */
struct lull_pipeline_frame {
	const uint8_t *data;
	uint32_t captured_bytes, original_bytes;
	uint64_t time_ns;
	uint16_t link_type;
	uint16_t interface; /**< where it came in, for keys that have that; 0: not told */
};

/** Where packets of an I/O loop come from when it has no ports: files. */
struct lull_pipeline_source {
	/** Fill in up to @p count frames; 0 and *end true: there are no more. I/O loop's thread. */
	uint32_t (*read)(void *arg, struct lull_pipeline_frame *frames, uint32_t count, bool *end);
	void *arg;
	bool stays; /**< data lasts as long as the pipeline: it is read where it lies, not copied */
};
/** Takes records on an aggregator loop's thread; every member is required. */
struct lull_pipeline_sink {
	void (*record)(void *arg, const struct lull_flow_record *record);
	/** Each iteration; returns when it wants the next at the latest, 0: no wish. */
	uint64_t (*iterate)(void *arg, uint64_t now_ns, const struct lull_encode_totals *totals);
	void *arg;
};

/** Zero means the default in brackets. */
struct lull_pipeline_config {
	uint32_t io_count;         /**< 1..LULL_PIPELINE_IO_MAX [1] */
	uint32_t worker_count;     /**< 1..LULL_DISPATCH_WORKERS_MAX [1] */
	uint32_t aggregator_count; /**< 1..LULL_PIPELINE_AGGREGATOR_MAX [1] */
	uint32_t ring_pkts;        /**< of each I/O-worker pair, a power of two, 64..65536 [1024] */
	uint32_t aggregator_ring;  /**< records per worker-aggregator pair, a power of two [4096] */
	uint32_t burst_pkts;       /**< most packets of one receive, up to LULL_BURST_MAX [32] */
	uint32_t flush_pkts; /**< staged packets that are sent at once, up to LULL_BURST_MAX [32] */
	uint64_t flush_ns;   /**< staged packets are sent after so long [20 us] */
	bool wait;           /**< wait for room instead of dropping: for files [false] */
	/**
	 * The workers read source 0 themselves, in turn, and no loop dispatches: all of them run
	 * lull_stage_flow_whole. Needs one source whose data stays, a scheduler that does not split
	 * flows, no shadow, trace or output, and at most as many aggregators as workers
	 * [false]
	 */
	bool workers_read;
	/**
	 * Records of flows that were split wait for a worker that stands still until it is so far
	 * behind the worker that is ahead of all, on the packets' clock; then they go without its
	 * part, and say that they are not exact. 100 ms to 1 day; 0: they wait as long as it takes
	 * [0]
	 */
	uint64_t late_ns;
	struct lull_dispatch_config dispatch; /**< worker_count, tracks are filled in */
	struct lull_resequence_config resequence;
	struct lull_flow_parser_config parser;
	struct lull_flow_table_config table; /**< of each worker; indices are filled in */
	/** Of each I/O loop; timeouts are the table's. bits [all tables' entries, twice] */
	struct lull_flow_connections_config connections;
	uint32_t merge_records; /**< [as the tables together and a quarter, at most 2^20] */
	bool identify;          /**< identify protocols; -ENOTSUP when built without */
	bool output;            /**< an output loop exists; with order resequence always */
	bool output_send;       /**< it sends to output_port/queue; false: it frees */
	uint16_t output_port, output_queue;
	uint64_t work_ns; /**< further work per packet of a worker, for trials [0] */
	struct lull_pipeline_source sources[LULL_PIPELINE_IO_MAX]; /**< read NULL: ports */
	struct lull_pipeline_sink sinks[LULL_PIPELINE_AGGREGATOR_MAX];
	/**
	 * Shall a frame be looked at? One that shall not is freed, and is not received: no counter
	 * of the pipeline has it, only the clock goes on. On the I/O loop's thread. NULL: all.
	 */
	bool (*accept)(void *arg, uint32_t io_index, uint16_t link_type, const uint8_t *data,
		       uint32_t captured_bytes, uint32_t original_bytes);
	void *accept_arg;
	lull_dispatch_tracer *trace; /**< of I/O loop 0, on its thread; NULL: none */
	void *trace_arg;
};
struct lull_pipeline; /* opaque */

/**
 * Estimate the DPDK memory that a pipeline takes for tables, merges, rings to the aggregators and
 * dispatchers, which is most of it.
 * @return bytes
 * Threads: any.
 */
uint64_t lull_pipeline_bytes(const struct lull_pipeline_config *config);
/**
 * Make rings and state for all loops. Free them with lull_pipeline_destroy().
 * @param config    copied; what sources, sinks, accept_arg and trace_arg point at is borrowed
 * @param pipeline  out
 * @param error     gets a sentence on failure; may be NULL
 * @return 0; -EINVAL: a member is out of range; -ENOTSUP: identify, built without it; -ENOMEM;
 *         another negative errno of DPDK
 * Threads: the main thread.
 */
int lull_pipeline_create(const struct lull_pipeline_config *config, struct lull_pipeline **pipeline,
			 struct lull_error *error);
/**
 * Free a pipeline. Its loops have been destroyed.
 * @param pipeline  NULL is ignored
 * Threads: the main thread.
 */
void lull_pipeline_destroy(struct lull_pipeline *pipeline);
/**
 * Make what a port loses from now on part of the totals. Call it before the loops run.
 * @return 0; -ENOSPC: beyond 16 ports
 * Threads: the main thread.
 */
int lull_pipeline_port(struct lull_pipeline *pipeline, const struct lull_port *port);

/** Config of a loop's stage. */
struct lull_pipeline_place {
	struct lull_pipeline *pipeline;
	uint32_t index; /**< of this loop among those of its stage */
};
/**
 * The stage that receives and dispatches: with ports as queues of the loop, or with a source and no
 * queues. Its stage_config, like that of the next three, is a struct lull_pipeline_place.
 */
extern const struct lull_stage lull_stage_flow_io;
/** The stage that records flows. */
extern const struct lull_stage lull_stage_flow_worker;
/** The stage that merges records and gives them to a sink. */
extern const struct lull_stage lull_stage_flow_aggregator;
/** The stage that puts packets back in order, and sends or frees them. */
extern const struct lull_stage lull_stage_flow_output;

/**
 * All of it on one thread, for a pipeline with one source, one aggregator and no output: in the
 * place of these two and of the first worker. Further workers have loops of their own. Its config
 * is that of the others, with index 0. With config workers_read each worker is such a loop, with
 * its own index, and has the aggregator of that index too if there is one.
 */
extern const struct lull_stage lull_stage_flow_whole;

/** Commands of lull_loop_post_stage(). */
enum lull_pipeline_verb {
	LULL_PIPELINE_SCHEDULER,  /**< I/O: scheduler and shadow */
	LULL_PIPELINE_THRESHOLDS, /**< I/O */
	LULL_PIPELINE_FLUSH,      /**< I/O: flush_pkts, flush_ns */
	LULL_PIPELINE_IDLE,       /**< I/O, workers and aggregators: idle_ns */
	LULL_PIPELINE_WORK,       /**< workers: work_ns */
	LULL_PIPELINE_STALL,      /**< workers: do nothing for stall_ns, for trials */
};
/** A command; a member that the verb does not use is not looked at. */
struct lull_pipeline_command {
	uint32_t verb; /**< enum lull_pipeline_verb */
	const struct lull_scheduler *scheduler, *shadow;
	uint32_t threshold_ppm, enter_ppm, leave_ppm;
	uint32_t flush_pkts;
	uint64_t flush_ns, idle_ns, work_ns, stall_ns;
};

/**
 * Ask whether the input of an I/O loop has come to its end, with all of it dispatched. Only sources
 * end.
 * @param io_index  of the I/O loop
 * @return true: it has
 * Threads: any.
 */
bool lull_pipeline_ended(const struct lull_pipeline *pipeline, uint32_t io_index);
/**
 * Drain in order while the loops run: I/O loops send what is staged and take no more, workers
 * finish and flush their tables, aggregators give every record, sinks get a last iteration. Stop
 * the loops afterwards.
 * @param limit_ns  longest time that the call may take
 * @param error     gets a sentence that says who is not done; may be NULL
 * @return 0; -ETIMEDOUT
 * Threads: the main thread.
 */
int lull_pipeline_finish(struct lull_pipeline *pipeline, uint64_t limit_ns,
			 struct lull_error *error);

/** Packets by fate, read so that the identities below can be judged while all run. */
struct lull_pipeline_totals {
	struct lull_encode_totals totals;
	uint64_t staged;         /**< decided, waiting to be sent to a ring */
	uint64_t in_flight;      /**< dispatched and not yet in a table, at most ... */
	uint64_t in_flight_room; /**< ... this many have room */
	uint64_t open;           /**< in tables and merges */
	/** Flows in the tables: one that was split counts at each worker that has a part of it. */
	uint64_t open_flows;
	uint64_t output, output_drops; /**< left by the output loop */
	uint64_t reordered;            /**< finished by workers after a later one of their bucket */
};
/**
 * Count packets by fate.
 * @param totals  out; read so that the identities of lull_pipeline_check() can be judged while all
 *                run
 * Threads: any.
 */
void lull_pipeline_totals(const struct lull_pipeline *pipeline,
			  struct lull_pipeline_totals *totals);
/** Workers that stood still for longer than config late_ns: records did not wait for them. */
struct lull_pipeline_late {
	uint64_t workers; /**< bit per worker that is late now */
	uint64_t records; /**< that left without the part of a late worker, if there is one */
	uint64_t parts;   /**< partial records that came when theirs had gone */
	uint64_t behind;  /**< packets that came behind their worker's watermark: our own mistake */
	uint64_t times[LULL_DISPATCH_WORKERS_MAX]; /**< per worker, how often */
	uint64_t ns[LULL_DISPATCH_WORKERS_MAX];    /**< per worker, how long in all */
};
/**
 * Tell which workers are or were late. Each aggregator finds out by itself; of several, times and
 * ns are those of the one that has most.
 * @param late  out
 * Threads: any.
 */
void lull_pipeline_late(const struct lull_pipeline *pipeline, struct lull_pipeline_late *late);
/**
 * Check that every packet is accounted for: rx = staged + dispatched + drops by cause, dispatched =
 * finished + in flight, finished = recorded + open + unrecorded. It reads what lies downstream
 * before and after what lies upstream, so a packet on its way is no difference.
 * @param error  gets the identity that does not hold; may be NULL
 * @return 0; -EPROTO: an identity does not hold
 * Threads: any.
 */
int lull_pipeline_check(const struct lull_pipeline *pipeline, struct lull_error *error);

/**
 * Give access to the counters of a dispatcher. Read members with LULL_COUNTER_READ().
 * @param io_index  of its I/O loop
 * @return borrowed for the life of the pipeline
 * Threads: any.
 */
const struct lull_dispatch_counters *lull_pipeline_dispatch(const struct lull_pipeline *pipeline,
							    uint32_t io_index);
/**
 * Give access to the counters of a parser. Read members with LULL_COUNTER_READ().
 * @param io_index  of its I/O loop
 * @return borrowed for the life of the pipeline
 * Threads: any.
 */
const struct lull_flow_parser_counters *lull_pipeline_parser(const struct lull_pipeline *pipeline,
							     uint32_t io_index);
/**
 * Count the TCP connections that a dispatcher has seen; all of them, where workers read.
 * @param io_index  of its I/O loop
 * @param counters  out
 * Threads: any.
 */
void lull_pipeline_connections(const struct lull_pipeline *pipeline, uint32_t io_index,
			       struct lull_flow_connections_counters *counters);
/**
 * Give access to the counters of a flow table. Read members with LULL_COUNTER_READ().
 * @param worker_index  of its worker
 * @return borrowed for the life of the pipeline
 * Threads: any.
 */
const struct lull_flow_table_counters *lull_pipeline_table(const struct lull_pipeline *pipeline,
							   uint32_t worker_index);
/**
 * Give access to the counters of a merge. Read members with LULL_COUNTER_READ().
 * @param aggregator_index  of its aggregator loop
 * @return borrowed for the life of the pipeline
 * Threads: any.
 */
const struct lull_flow_merge_counters *lull_pipeline_merge(const struct lull_pipeline *pipeline,
							   uint32_t aggregator_index);
/**
 * Give access to the counters of the resequencer. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the pipeline; NULL: the output loop does not resequence
 * Threads: any.
 */
const struct lull_resequence_counters *lull_pipeline_resequence(
	const struct lull_pipeline *pipeline);
/**
 * Give access to the time that packets wait in the output loop for earlier ones, in ns.
 * @return borrowed for the life of the pipeline; NULL: the output loop does not resequence
 * Threads: any.
 */
const struct lull_histogram *lull_pipeline_resequence_wait(const struct lull_pipeline *pipeline);
/**
 * Copy the heaviest open flows of all workers.
 * @param top  out; at most a few seconds old
 * Threads: any.
 */
void lull_pipeline_top(const struct lull_pipeline *pipeline, struct lull_flow_top *top);

/**
 * Make a pool of mbufs with private bytes for the pipeline. lull_engine_fini() frees it.
 * @param name        unique in this process
 * @param mbuf_count  packets that it has room for
 * @param len_bytes   longest packet
 * @param error       gets a sentence on failure; may be NULL
 * @return the pool; NULL on failure
 * Threads: the main thread.
 */
struct rte_mempool *lull_pipeline_pool(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
				       struct lull_error *error);

/* ---- identification ---- */

/**
 * Tell the version of the library that identifies protocols.
 * @return for example "4.2.0"; static; NULL: built without
 * Threads: any.
 */
const char *lull_identify_version(void);
/**
 * Name a protocol, as the library prints it: "TLS.Google".
 * @param unused  not looked at
 * @param text    out: the name, "" when both numbers are 0; cut to @p size bytes
 * @param size    bytes of @p text, at least 1
 * @return @p text
 * Threads: any.
 */
const char *lull_identify_name(void *unused, uint16_t app, uint16_t app_master, char *text,
			       size_t size);

#ifdef __cplusplus
}
#endif

#endif
