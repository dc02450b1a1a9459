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
 * Threads: create, start, stop and close from the main thread. lull_loop_post()
 *          from any thread. Snapshots and counters from any thread.
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
 * Start EAL: hugepages when enough are free, ordinary memory otherwise. EAL's own log goes to
 * stderr only for errors. SIGPIPE is ignored from here on, unless the program handles it: DPDK's
 * telemetry writes to clients that may be gone.
 */
int lull_engine_init(const struct lull_engine_config *config, char *error);
/** Has it been started and not ended? */
bool lull_engine_running(void);
/** Close every port, leave nothing in the runtime directory. */
void lull_engine_fini(void);
/** "22.11.11", of the DPDK in use. */
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
/** Ids of the ports EAL has probed, at most @p count_max; returns how many there are. */
uint32_t lull_port_ids(uint16_t *port_ids, uint32_t count_max);
/** Any thread. */
bool lull_port_link_up(const struct lull_port *port);
/** Packets per second of 64-byte frames (84 B on the wire) on this link; 0 when unknown. */
uint64_t lull_link_pps(uint32_t link_mbps);
/** Configure and start a port that EAL has probed. */
int lull_port_open(uint16_t port_id, const struct lull_port_config *config, struct lull_port *port,
		   char *error);
/**
 * Two started ports wired back to back by two rte_rings of exactly @p ring_pkts per queue: what
 * one sends the other receives.
 */
int lull_port_pair(const char *name, const struct lull_port_config *config, struct lull_port *a,
		   struct lull_port *b, char *error);
void lull_port_close(struct lull_port *port);
/**
 * Packets the port lost for want of descriptors or mbufs since start: imissed + rx_nombuf, what
 * the kernel dropped (af_packet), what the other half of a pair gave up. memif, vhost and tap tell
 * nothing. Any thread.
 */
uint64_t lull_port_missed(const struct lull_port *port);
/** Mbufs for @p mbuf_count packets of up to @p len_bytes. Freed by lull_engine_fini(). */
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

int lull_loop_create(const struct lull_loop_config *config, struct lull_loop **loop, char *error);
int lull_loop_start(struct lull_loop *loop);
/** Ask the loop to end and wait for it: at most one rest. */
void lull_loop_stop(struct lull_loop *loop);
void lull_loop_destroy(struct lull_loop *loop);

/** Change governor (NULL: keep) and limits; takes effect within one rest. -EAGAIN: mailbox full. */
int lull_loop_post_change(struct lull_loop *loop, const struct lull_idle_governor *governor,
			  const struct lull_idle_limits *limits);
/** Another scheduling class from now on. */
void lull_loop_change_class(struct lull_loop *loop, enum lull_sched_policy policy);
/** Begin measurement window @p window. */
int lull_loop_post_mark(struct lull_loop *loop, uint32_t window);
/** A command for the stage, copied; up to 4096 bytes. */
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
void lull_loop_snapshot(const struct lull_loop *loop, struct lull_loop_snapshot *snapshot);
const char *lull_loop_name(const struct lull_loop *loop);
const char *lull_loop_kind(const struct lull_loop *loop);
int lull_loop_cpu(const struct lull_loop *loop);
int lull_loop_tid(const struct lull_loop *loop);
/** Why it rests as it does, one or two sentences; returns @p bytes. Any thread. */
char *lull_loop_explain(const struct lull_loop *loop, char *bytes, size_t size);
/** Scheduling class of its thread, and why, in words ("": nothing to say). Any thread. */
void lull_loop_class(const struct lull_loop *loop, struct lull_rest_thread_info *info);
char *lull_loop_class_explain(const struct lull_loop *loop, char *bytes, size_t size);
/** Packets its ports lost for want of descriptors and of mbufs. Any thread. */
void lull_loop_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf);
/** Counter table of its stage, and the counters. */
const struct lull_counter_info *lull_loop_stage_counters(const struct lull_loop *loop,
							 const void **counters);
const struct lull_stage *lull_loop_stage(const struct lull_loop *loop);
/** Stage state: only its counters and histograms may be read from outside. */
const void *lull_loop_stage_state(const struct lull_loop *loop);
const struct lull_idle_counters *lull_loop_counters(const struct lull_loop *loop);
const struct lull_histogram *lull_loop_wait_histogram(const struct lull_loop *loop);
const struct lull_histogram *lull_loop_rest_histogram(const struct lull_loop *loop);
/** Why a depth is not on offer for this loop; 0 when it is. */
int lull_loop_depth_probe(const struct lull_loop *loop, enum lull_rest_depth depth);

/* ---- telemetry ---- */

/**
 * A reply being written: one JSON object. Names: letters, digits, "_". What finds no room, or no
 * memory, is left out.
 */
struct lull_telemetry_reply; /* opaque */
void lull_telemetry_put_count(struct lull_telemetry_reply *reply, const char *name, uint64_t value);
/** Beyond 127 bytes it goes on in a second member, NAME_more; 254 are the most. */
void lull_telemetry_put_text(struct lull_telemetry_reply *reply, const char *name,
			     const char *text);
/** A member per row. */
void lull_telemetry_put_table(struct lull_telemetry_reply *reply,
			      const struct lull_counter_info *table, const void *counters);
/** Lists, at most 512 long and 16 KiB in the whole reply; texts of at most 127 bytes. */
void lull_telemetry_put_counts(struct lull_telemetry_reply *reply, const char *name,
			       const uint64_t *values, uint32_t count);
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
 * Register the /lull commands. Call before the loops start, once; the config is borrowed until
 * lull_telemetry_stop(). Callbacks run one at a time.
 */
int lull_telemetry_start(const struct lull_telemetry_config *config);
/** No handler runs from here on: loops may be destroyed. Also part of lull_engine_fini(). */
void lull_telemetry_stop(void);

#ifdef __cplusplus
}
#endif

#endif
