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
 * One iteration: read the clock once, receive from every queue and hand each burst
 * to the stage, let the stage finish the iteration (flush, send what is due),
 * lull_idle_plan(), rest, lull_idle_wake().
 *
 * Threads: create, start, stop and close from the main thread. What posts to a
 *          loop, snapshots and counters from any thread.
 * Errors:  0 or a negative errno; functions with an argument @p error also
 *          write one sentence that names the thing and the way out.
 */
#ifndef LULL_ENGINE_H
#define LULL_ENGINE_H

#include <rte_mbuf.h>

#include "loop.h"

#ifdef __cplusplus
extern "C" {
#endif

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
	/**
	 * Without DPDK's environment: no ports and no hugepages, loops on threads of this process,
	 * telemetry on a socket of our own. It starts in a moment and takes no memory.
	 */
	bool bare;
	const char *eal;    /**< further EAL arguments, split like a shell does; may be NULL */
	uint32_t memory_mb; /**< without hugepages [256] */
	/**
	 * At least so much without hugepages, for ports that are opened later; only what they use
	 * takes memory. With hugepages they take what is free.
	 */
	uint32_t later_mb;
};
/**
 * Start DPDK's environment (EAL): with hugepages when enough are free, with ordinary memory
 * otherwise. EAL's own log goes to stderr only for errors. SIGPIPE is ignored from here on, unless
 * the program handles it: DPDK's telemetry writes to clients that may be gone.
 * @param error  gets a sentence on failure; may be NULL
 * @return 0, or a negative errno
 * Threads: the main thread, once.
 */
int lull_engine_init(const struct lull_engine_config *config, struct lull_error *error);
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
 * Tell the runtime directory, with DPDK's telemetry socket, of a process that is going to lose the
 * right to remove it.
 * @return static; NULL: it does not run, or the directory is not its own (`--file-prefix`)
 * Threads: the main thread.
 */
const char *lull_engine_runtime_dir(void);
/**
 * Tell the version of the DPDK in use.
 * @return for example "22.11.11"; static
 * Threads: any.
 */
const char *lull_engine_dpdk_version(void);

/* ---- ports ---- */

struct lull_port_config {
	uint16_t queues;       /**< Rx and Tx queues each */
	uint16_t ring_pkts;    /**< descriptors asked for, rounded as the driver wants */
	uint16_t tx_ring_pkts; /**< the same of Tx rings; 0: as ring_pkts */
	uint16_t burst_pkts;
	uint16_t mtu;           /**< 0: the driver's */
	uint16_t buffer_bytes;  /**< of an mbuf at least, where packets may exceed the MTU */
	uint16_t private_bytes; /**< of each mbuf received, for the stage; a multiple of 8 */
	uint32_t held_mbufs;    /**< most that loops keep beyond a burst, in rings of their own */
	bool interrupt;         /**< also ask for Rx interrupts if the driver has them */
	bool promiscuous;
	/** With mtu: packets may come in several buffers of 2 KiB, if the driver can do that. */
	bool scatter;
	bool steered;   /**< rules say what comes to which queue, the rest to the first: no RSS */
	bool checksums; /**< of IPv4 and UDP are looked at by the device if it can: see mbufs */
	/**
	 * Both directions of a flow come to one queue, and with them its fragments, where the
	 * driver can.
	 */
	bool symmetric;
	bool rx_stamps; /**< packets are stamped by the port's own clock, if its driver can */
};
/** Which queue of a port a packet comes to. */
enum lull_port_spread {
	LULL_PORT_SPREAD_NONE,      /**< there is one */
	LULL_PORT_SPREAD_SYMMETRIC, /**< both directions of a flow to the same */
	LULL_PORT_SPREAD_DRIVER,    /**< as the driver, or whoever sends to it, likes */
};
struct lull_port {
	uint16_t port_id;
	char name[64];
	char driver[LULL_NAME_SIZE];
	uint16_t queues;
	uint32_t ring_pkts;     /**< as granted, or as configured when the driver does not tell */
	uint32_t ring_pkts_max; /**< most that may be asked for; 0: not told, or it is ignored */
	uint32_t held_pkts;     /**< rearm threshold the driver may keep empty */
	uint32_t link_mbps;     /**< when it was opened; 0: unknown */
	bool hardware;  /**< the link rate means something: a PCI device with a link speed */
	bool interrupt; /**< Rx interrupts granted */
	bool rx_stamps; /**< the port's own clock stamps packets, and can be read */
	int node;       /**< NUMA node of the device; -1: any */
	enum lull_port_spread spread;
	/** A short burst may leave packets in the ring; true where nobody knows. */
	bool short_leaves;
	uint64_t loss_lag_ns; /**< it may tell of lost packets so much later */
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
 * Ask whether a port's link is up. Asks the driver, as lull_port_missed() does.
 * @return false: it is down, or the driver does not tell
 * Threads: any but those that poll.
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
 * Tell what a port would be, without opening it: its driver, its link, or else the fastest that it
 * can have, and the most descriptors that it grants.
 * @param config  ring_pkts counts, in case the driver goes by it
 * @param port    out; not to be closed
 * @param error   gets a sentence on failure; may be NULL
 * @return 0; -ENODEV: there is no such port; another negative errno of the driver
 * Threads: the main thread.
 */
int lull_port_offer(uint16_t port_id, const struct lull_port_config *config, struct lull_port *port,
		    struct lull_error *error);
/**
 * Configure and start a port that EAL has probed, with buffers on its NUMA node. Close it with
 * lull_port_close(). A port without a link is opened too: until the link comes link_mbps is the
 * fastest that the device can have, and loops follow the link from then on.
 * @param port   out
 * @param error  gets a sentence on failure; may be NULL
 * @return 0; -ENODEV: there is no such port; another negative errno of the driver
 * Threads: the main thread.
 */
int lull_port_open(uint16_t port_id, const struct lull_port_config *config, struct lull_port *port,
		   struct lull_error *error);
/**
 * Make two started ports that are wired back to back by rte_rings, of exactly ring_pkts per queue:
 * what one sends the other receives. Close both with lull_port_close().
 * @param name   unique in this process
 * @param a      out
 * @param b      out
 * @param error  gets a sentence on failure; may be NULL
 * @return 0; -EINVAL: number of queues out of range; -ENOSPC: too many pairs; another negative
 *         errno
 * Threads: the main thread.
 */
int lull_port_pair(const char *name, const struct lull_port_config *config, struct lull_port *a,
		   struct lull_port *b, struct lull_error *error);
/**
 * Stop and close a port. No loop uses it any more.
 * Threads: the main thread.
 */
void lull_port_close(struct lull_port *port);
/**
 * Count the packets that the port lost for want of descriptors or mbufs since it was opened:
 * imissed + rx_nombuf, what the kernel dropped (af_packet), and what the other half of a pair gave
 * up. memif, vhost and tap tell nothing. Asks the driver, which may take milliseconds, and waits
 * for others that ask it; lull_loop_missed() tells what was asked last.
 * @return packets; as of the last answer if the driver refuses
 * Threads: any but those that poll.
 */
uint64_t lull_port_missed(const struct lull_port *port);
/**
 * Make a pool of mbufs. lull_engine_fini() frees it.
 * @param name        unique in this process
 * @param mbuf_count  packets that it has room for
 * @param len_bytes   longest packet
 * @param error       gets a sentence on failure; may be NULL
 * @return the pool; NULL on failure
 * Threads: the main thread.
 */
struct rte_mempool *lull_pool_create(const char *name, uint32_t mbuf_count, uint16_t len_bytes,
				     struct lull_error *error);

/* ---- stages ---- */

/**
 * Forward: what is received on queue i leaves on tx[i]. What a full Tx ring refuses waits, up to
 * LULL_BURST_MAX packets of each queue, while the loop goes on with its other queues. A ring that
 * takes nothing for 64 us is given up: what waits for it is dropped and counted.
 */
enum lull_forward_mode { LULL_FORWARD_IO, LULL_FORWARD_MACSWAP, LULL_FORWARD_SINK };
struct lull_forward_config {
	enum lull_forward_mode mode;
	/** No drops: the whole loop waits, for a peer that makes room for certain while it runs. */
	bool wait;
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
struct lull_share_member; /* core/idle/share.h */
struct lull_loop_config {
	char name[LULL_NAME_SIZE]; /**< "fwd0", "gen0" */
	const char *kind;          /**< "forward", "traffic" */
	unsigned int lcore_id;
	uint32_t queue_count; /**< may be 0 for a loop that only sends */
	struct lull_loop_queue queues[LULL_IDLE_QUEUES_MAX];
	/**
	 * Its queues are those of a share: other loops name the same ones in the same order, and
	 * whoever holds one alone polls it, and sends what came on it. Borrowed until the loop is
	 * destroyed. NULL: the loop has its queues to itself.
	 */
	struct lull_share_member *share;
	uint16_t burst_pkts;
	const struct lull_idle_governor *governor;
	struct lull_idle_limits
		limits; /**< idle states is filled in from the ways that probe well */
	const struct lull_stage *stage;
	const void *stage_config;
	/** Takes the place of the usual way of its idle state; NULL: none. */
	const struct lull_rest_way *way;
	uint64_t slack_ns; /**< timer slack of the thread [1 ns] */
	/** Real-time class of the thread while it rests [auto]. */
	enum lull_sched_policy sched_policy;
	/** Limit on the C-states of its CPU, as struct lull_rest_thread_config has it [none]. */
	uint64_t cpu_latency_ns;
	/** Test hook, may be NULL: on the loop's thread, after every plan (wake NULL) and wake. */
	void (*trace)(void *arg, const struct lull_iteration *iteration,
		      const struct lull_rest *rest, const struct lull_wake *wake);
	void *trace_arg;
};
/**
 * Make a loop. It does not run yet: see lull_loop_start(). Free it with lull_loop_destroy().
 * @param config  copied; stage, stage_config and what they point at are borrowed until the loop is
 *                destroyed
 * @param loop    out
 * @param error   gets a sentence on failure; may be NULL
 * @return 0; -EINVAL: a member is out of range; -ENOMEM; another negative errno, also of the
 *         stage's init
 * Threads: the main thread.
 */
int lull_loop_create(const struct lull_loop_config *config, struct lull_loop **loop,
		     struct lull_error *error);
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

#ifdef __cplusplus
}
#endif

#endif
