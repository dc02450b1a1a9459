/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Engine: loops on DPDK ports that rest by a governor.
 *
 * The only public header that names DPDK types. One loop = one EAL lcore =
 * one thread; it owns its queues, its idle object and its stage. A *stage* is
 * what the loop does with packets (forward, generate, later flow, camera);
 * there is one loop, modes are data.
 *
 * One turn: read the clock once, receive from every queue and hand each burst
 * to the stage, let the stage finish the turn (flush, send what is due),
 * lull_idle_plan(), rest, lull_idle_wake().
 *
 * Threads: create, start, stop and close from the main thread. What posts to a
 *          loop, snapshots and counters from any thread.
 * Errors:  0 or a negative errno; functions with an @p error buffer also write
 *          one sentence that names the thing and the way out.
 */
#ifndef LULL_ENGINE_H
#define LULL_ENGINE_H

#include <rte_mbuf.h>

#include "idle.h"
#include "rest.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_ERROR_SIZE 256
#define LULL_NAME_SIZE 32
#define LULL_LOOPS_MAX 64
#define LULL_BURST_MAX 256

/* ---- environment ---- */

struct lull_engine_config {
	const char *program;      /**< file prefix and telemetry name: <program>-<pid> */
	const char *const *vdevs; /**< --vdev arguments */
	uint32_t vdev_count;
	const char *const *pcis; /**< -a arguments; none: --no-pci */
	uint32_t pci_count;
	const int *cpus; /**< lcore i + 1 runs on cpus[i]; lcore 0 (main) on main_cpu */
	uint32_t cpu_count;
	int main_cpu;
	const char *eal;    /**< further EAL arguments, split like a shell does; may be NULL */
	uint32_t memory_mb; /**< without hugepages [256] */
};
/**
 * Start DPDK's environment (EAL): with hugepages when enough are free, with ordinary memory
 * otherwise. EAL's own log goes to stderr only for errors. SIGPIPE is ignored from here on, unless
 * the program handles it: DPDK's telemetry writes to clients that may be gone.
 * @param error  gets a sentence on failure; LULL_ERROR_SIZE bytes
 * @return 0, or a negative errno
 * Threads: the main thread, once.
 */
int lull_engine_init(const struct lull_engine_config *config, char *error);
/**
 * Ask whether the environment has been started and not ended.
 * @return true: it runs
 * Threads: the main thread.
 */
bool lull_engine_running(void);
/**
 * End telemetry, close every port, free all memory of DPDK, and leave nothing in the runtime
 * directory. All loops have been destroyed.
 * Threads: the main thread.
 */
void lull_engine_fini(void);
/**
 * Tell the version of the DPDK in use.
 * @return for example "22.11.11"; static
 * Threads: any.
 */
const char *lull_engine_dpdk_version(void);

/* ---- ports ---- */

struct lull_port_config {
	uint16_t queues;    /**< Rx and Tx queues each */
	uint16_t ring_pkts; /**< descriptors asked for, rounded as the driver wants */
	uint16_t burst_pkts;
	uint16_t mtu;           /**< 0: the driver's */
	uint16_t buffer_bytes;  /**< of an mbuf at least, where packets may exceed the MTU */
	uint16_t private_bytes; /**< of each mbuf received, for the stage; a multiple of 8 */
	uint32_t held_mbufs;    /**< most that loops keep beyond a burst, in rings of their own */
	bool interrupt;         /**< also ask for Rx interrupts if the driver has them */
	bool promiscuous;
};
struct lull_port {
	uint16_t port_id;
	char name[64];
	char driver[LULL_NAME_SIZE];
	uint16_t queues;
	uint32_t ring_pkts; /**< as granted, or as configured when the driver does not tell */
	uint32_t held_pkts; /**< rearm threshold the driver may keep empty */
	uint32_t link_mbps; /**< 0: unknown */
	bool hardware;      /**< the link rate means something: a PCI device with a link speed */
	bool interrupt;     /**< Rx interrupts granted */
};
/**
 * List the ports that EAL has probed.
 * @param port_ids   out
 * @param count_max  room in @p port_ids
 * @return how many there are, which may be more than @p count_max
 * Threads: the main thread.
 */
uint32_t lull_port_ids(uint16_t *port_ids, uint32_t count_max);
/**
 * Ask whether a port's link is up.
 * @return false: it is down, or the driver does not tell
 * Threads: any.
 */
bool lull_port_link_up(const struct lull_port *port);
/**
 * Compute the packets per second of 64-byte frames, which take 84 bytes on the wire with preamble
 * and gap (IEEE 802.3), at a link rate.
 * @param link_mbps  megabits per second; 0: unknown
 * @return packets per second; 0: unknown
 * Threads: any.
 */
uint64_t lull_link_pps(uint32_t link_mbps);
/**
 * Configure and start a port that EAL has probed. Close it with lull_port_close().
 * @param port   out
 * @param error  gets a sentence on failure; LULL_ERROR_SIZE bytes
 * @return 0; -ENODEV: there is no such port; another negative errno of the driver
 * Threads: the main thread.
 */
int lull_port_open(uint16_t port_id, const struct lull_port_config *config, struct lull_port *port,
		   char *error);
/**
 * Make two started ports that are wired back to back by rte_rings, of exactly ring_pkts per queue:
 * what one sends the other receives. Close both with lull_port_close().
 * @param name   unique in this process
 * @param a      out
 * @param b      out
 * @param error  gets a sentence on failure; LULL_ERROR_SIZE bytes
 * @return 0; -EINVAL: number of queues out of range; -ENOSPC: too many pairs; another negative
 *         errno
 * Threads: the main thread.
 */
int lull_port_pair(const char *name, const struct lull_port_config *config, struct lull_port *a,
		   struct lull_port *b, char *error);
/**
 * Stop and close a port. No loop uses it any more.
 * Threads: the main thread.
 */
void lull_port_close(struct lull_port *port);
/**
 * Count the packets that the port lost for want of descriptors or mbufs since its start: imissed +
 * rx_nombuf, what the kernel dropped (af_packet), and what the other half of a pair gave up. memif,
 * vhost and tap tell nothing.
 * @return packets
 * Threads: any.
 */
uint64_t lull_port_missed(const struct lull_port *port);
/**
 * Make a pool of mbufs. lull_engine_fini() frees it.
 * @param name        unique in this process
 * @param mbuf_count  packets that it has room for
 * @param len_bytes   longest packet
 * @param error       gets a sentence on failure; LULL_ERROR_SIZE bytes
 * @return the pool; NULL on failure
 * Threads: the main thread.
 */
struct rte_mempool *lull_pool_create(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
				     char *error);

/* ---- stages ---- */

/** What a loop does with packets. Members that say so may be NULL, the others are required. */
struct lull_stage {
	const char *name;
	const char *summary;
	size_t state_size; /**< given zeroed and cache-line aligned */
	int (*init)(void *state, const void *config, uint64_t now_ns);
	/** Undo init; the loop has stopped. NULL: nothing to undo. */
	void (*fini)(void *state);
	/**
	 * Where packets come from in a loop without queues: work on what is there, at most a
	 * burst, and say how many packets it was. Called once a turn, in the place of the receive.
	 * NULL: from nowhere, it only sends.
	 */
	uint16_t (*pull)(void *state, uint64_t now_ns);
	/** A burst from queue @p queue_index of the loop; takes all packets. NULL: none comes. */
	void (*burst)(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count,
		      uint64_t now_ns);
	/** End of a turn: flush, send what is due. Returns when it must run next, 0: no wish. */
	uint64_t (*turn)(void *state, uint64_t now_ns);
	/** A new measurement window begins. NULL: counters run on. */
	void (*mark)(void *state, uint64_t now_ns);
	/**
	 * A command of lull_loop_post_stage(); runs on the loop's thread, borrows @p data. NULL:
	 * takes none.
	 */
	void (*command)(void *state, const void *data, size_t size, uint64_t now_ns);
	const struct lull_counter_info *counters; /**< table over the struct that follows */
	size_t counters_offset;                   /**< of the uint64_t counters in the state */
};

/**
 * Forward: what is received on queue i leaves on tx[i]; packets the driver refuses after bounded
 * retries are counted drops, unless the loop is told to wait for room.
 */
enum lull_forward_mode { LULL_FORWARD_IO, LULL_FORWARD_MACSWAP, LULL_FORWARD_SINK };
struct lull_forward_config {
	enum lull_forward_mode mode;
	bool wait; /**< no drops: for a peer that makes room for certain while this loop runs */
	uint32_t queue_count;
	struct {
		uint16_t port_id, queue_id;
	} tx[LULL_IDLE_QUEUES_MAX];
};
struct lull_forward_counters {
	uint64_t rx_pkts, tx_pkts, tx_drops, tx_retries;
};
/** The stage that forwards; its stage_config is a struct lull_forward_config. */
extern const struct lull_stage lull_stage_forward;

/* ---- loops ---- */

struct lull_loop_queue {
	uint16_t port_id, queue_id;
};
struct lull_loop_config {
	char name[LULL_NAME_SIZE]; /**< "fwd0", "gen0" */
	const char *kind;          /**< "forward", "traffic" */
	unsigned int lcore_id;
	uint32_t queue_count; /**< may be 0 for a loop that only sends */
	struct lull_loop_queue queues[LULL_IDLE_QUEUES_MAX];
	uint16_t burst_pkts;
	const struct lull_idle_governor *governor;
	struct lull_idle_limits limits; /**< depths is filled in from the ways that probe well */
	const struct lull_stage *stage;
	const void *stage_config;
	/** Takes the place of the usual way of its depth; NULL: none. */
	const struct lull_rest_way *way;
	uint64_t slack_ns; /**< timer slack of the thread [1 ns] */
	/** Real-time class of the thread while it rests [auto]. */
	enum lull_sched_policy sched_policy;
	/** Test hook, may be NULL: on the loop's thread, after every plan (wake NULL) and wake. */
	void (*trace)(void *arg, const struct lull_turn *turn, const struct lull_rest *rest,
		      const struct lull_wake *wake);
	void *trace_arg;
};
struct lull_loop; /* opaque; owns the idle object and stage state */

/**
 * Make a loop. It does not run yet: see lull_loop_start(). Free it with lull_loop_destroy().
 * @param config  copied; stage, stage_config and what they point at are borrowed until the loop is
 *                destroyed
 * @param loop    out
 * @param error   gets a sentence on failure; LULL_ERROR_SIZE bytes
 * @return 0; -EINVAL: a member is out of range; -ENOMEM; another negative errno, also of the
 *         stage's init
 * Threads: the main thread.
 */
int lull_loop_create(const struct lull_loop_config *config, struct lull_loop **loop, char *error);
/**
 * Run the loop on its lcore.
 * @return 0; -EALREADY: it runs; -EBUSY: the lcore runs something else
 * Threads: the main thread.
 */
int lull_loop_start(struct lull_loop *loop);
/**
 * Ask the loop to end and wait for it: at most one rest. A loop that does not run is left as it is.
 * Threads: the main thread.
 */
void lull_loop_stop(struct lull_loop *loop);
/**
 * Stop the loop and free it.
 * @param loop  NULL is ignored
 * Threads: the main thread.
 */
void lull_loop_destroy(struct lull_loop *loop);

/**
 * Change governor and limits; takes effect within one rest.
 * @param governor  NULL: keep the present one
 * @param limits    copied
 * @return 0; -EINVAL: limits out of range; -EAGAIN: the mailbox is full
 * Threads: any.
 */
int lull_loop_post_change(struct lull_loop *loop, const struct lull_idle_governor *governor,
			  const struct lull_idle_limits *limits);
/**
 * Change the scheduling class of the loop's thread.
 * Threads: any, one at a time.
 */
void lull_loop_change_class(struct lull_loop *loop, enum lull_sched_policy policy);
/**
 * Begin a new measurement window; takes effect within one rest.
 * @param window  its number
 * @return 0; -EAGAIN: the mailbox is full
 * Threads: any.
 */
int lull_loop_post_mark(struct lull_loop *loop, uint32_t window);
/**
 * Send a command to the stage; takes effect within one rest.
 * @param data  copied
 * @param size  up to 4096 bytes
 * @return 0; -EINVAL or -EMSGSIZE: too long; -EAGAIN: the mailbox is full
 * Threads: any.
 */
int lull_loop_post_stage(struct lull_loop *loop, const void *data, size_t size);

/** What other threads may know of a loop; a consistent copy at most 10 ms (or one rest) old. */
struct lull_loop_snapshot {
	uint64_t now_ns; /**< when the copy was made */
	uint64_t window_begin_ns;
	uint32_t window;
	const struct lull_idle_governor *governor;
	struct lull_idle_limits limits;
	struct lull_verdict verdict;
};
/**
 * Copy what other threads may know of a loop, as one consistent whole.
 * @param snapshot  out; at most 10 ms, or one rest, old
 * Threads: any.
 */
void lull_loop_snapshot(const struct lull_loop *loop, struct lull_loop_snapshot *snapshot);
/**
 * Tell the loop's name, as configured.
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const char *lull_loop_name(const struct lull_loop *loop);
/**
 * Tell the loop's kind, as configured.
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const char *lull_loop_kind(const struct lull_loop *loop);
/**
 * Tell the CPU that the loop runs on.
 * @return its number; -1: not known
 * Threads: any.
 */
int lull_loop_cpu(const struct lull_loop *loop);
/**
 * Tell the loop's thread, by its gettid(2) number.
 * @return the number; 0: the loop has not started
 * Threads: any.
 */
int lull_loop_tid(const struct lull_loop *loop);
/**
 * Write one or two sentences on why the loop rests as it does.
 * @param bytes  out; always ends with a zero
 * @param size   bytes of @p bytes, at least 1; what is longer is cut
 * @return @p bytes
 * Threads: any.
 */
char *lull_loop_explain(const struct lull_loop *loop, char *bytes, size_t size);
/**
 * Tell the scheduling class of the loop's thread.
 * @param info  out
 * Threads: any.
 */
void lull_loop_class(const struct lull_loop *loop, struct lull_rest_thread_info *info);
/**
 * Write a sentence on the scheduling class of the loop's thread, and why it is that one.
 * @param bytes  out; "" when there is nothing to say
 * @param size   bytes of @p bytes, at least 1; what is longer is cut
 * @return @p bytes
 * Threads: any.
 */
char *lull_loop_class_explain(const struct lull_loop *loop, char *bytes, size_t size);
/**
 * Count the packets that the loop's ports lost since their start.
 * @param missed  out: for want of descriptors
 * @param nombuf  out: for want of mbufs
 * Threads: any.
 */
void lull_loop_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf);
/**
 * Give access to the stage's counters. Read them with LULL_COUNTER_READ().
 * @param counters  out: borrowed for the life of the loop
 * @return the table of them; NULL: the stage has none
 * Threads: any.
 */
const struct lull_counter_info *lull_loop_stage_counters(const struct lull_loop *loop,
							 const void **counters);
/**
 * Tell which stage the loop has.
 * @return as configured
 * Threads: any.
 */
const struct lull_stage *lull_loop_stage(const struct lull_loop *loop);
/**
 * Give access to the stage's state. Only its counters and histograms may be read from outside.
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const void *lull_loop_stage_state(const struct lull_loop *loop);
/**
 * Give access to the counters of the idle object. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_idle_counters *lull_loop_counters(const struct lull_loop *loop);
/**
 * Give access to the histogram of added wait, in ns; see lull_idle_wait_histogram().
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_histogram *lull_loop_wait_histogram(const struct lull_loop *loop);
/**
 * Give access to the histogram of rests, in ns; see lull_idle_rest_histogram().
 * @return borrowed for the life of the loop
 * Threads: any.
 */
const struct lull_histogram *lull_loop_rest_histogram(const struct lull_loop *loop);
/**
 * Tell why a depth is not on offer for this loop.
 * @return 0: it is; a negative errno otherwise, -ENOTSUP: no way of this depth
 * Threads: any.
 */
int lull_loop_depth_probe(const struct lull_loop *loop, enum lull_rest_depth depth);

/* ---- telemetry ---- */

/**
 * A reply being written: one JSON object. Names: letters, digits, "_". What finds no room, or no
 * memory, is left out.
 */
struct lull_telemetry_reply; /* opaque */
/**
 * Add a number to the reply.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_count(struct lull_telemetry_reply *reply, const char *name, uint64_t value);
/**
 * Add a text to the reply. What is beyond 127 bytes goes into a second member, NAME_more; 254 bytes
 * are the most.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_text(struct lull_telemetry_reply *reply, const char *name,
			     const char *text);
/**
 * Add a member per row of a counter table.
 * @param table     ended by a NULL name
 * @param counters  the struct that its offsets are of
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_table(struct lull_telemetry_reply *reply,
			      const struct lull_counter_info *table, const void *counters);
/**
 * Add a list of numbers, at most 512 long and 16 KiB in the whole reply.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_counts(struct lull_telemetry_reply *reply, const char *name,
			       const uint64_t *values, uint32_t count);
/**
 * Add a list of texts of at most 127 bytes each, at most 512 long and 16 KiB in the whole reply.
 * Threads: the telemetry thread, within a handler.
 */
void lull_telemetry_put_texts(struct lull_telemetry_reply *reply, const char *name,
			      const char *const *texts, uint32_t count);

/** A command of this program, beside those that every program has. */
struct lull_telemetry_command {
	const char *name; /**< "/lull/flow" */
	const char *help; /**< with its parameters, one line */
	/** @p params may be NULL. Telemetry thread. */
	void (*reply)(void *arg, const char *params, struct lull_telemetry_reply *reply);
};

struct lull_telemetry_config {
	const char *program, *version;
	struct lull_loop *const *loops;
	uint32_t loop_count;
	/** /lull/set: apply "KEY[@LOOP]=VALUE"; 0 or -errno and a sentence. Telemetry thread. */
	int (*set)(void *arg, const char *assignment, char *error, size_t error_size);
	/** /lull/settings: write key and value pairs through @p put. */
	void (*settings)(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
			 void *put_arg);
	/** /lull/traffic: for loops of kind "traffic"; values through @p put; NULL: has none. */
	void (*traffic)(void *arg, const struct lull_loop *loop,
			void (*put)(void *put_arg, const char *key, uint64_t value), void *put_arg);
	/** /lull/histogram,NAME,latency: for loops of kind "traffic"; NULL: has none. */
	const struct lull_histogram *(*latency)(void *arg, const struct lull_loop *loop);
	const struct lull_telemetry_command *commands; /**< a NULL name ends them; NULL: none */
	void *arg;
};
/**
 * Register the /lull commands. Call it once, before the loops start. Callbacks run one at a time.
 * @param config  borrowed until lull_telemetry_stop()
 * @return 0, or a negative errno of DPDK
 * Threads: the main thread.
 */
int lull_telemetry_start(const struct lull_telemetry_config *config);
/**
 * End telemetry: no handler runs from here on, and loops may be destroyed. lull_engine_fini() does
 * it too.
 * Threads: the main thread.
 */
void lull_telemetry_stop(void);

#ifdef __cplusplus
}
#endif

#endif
