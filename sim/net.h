/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Net: packets with content between nodes, over paths that delay, limit, lose, repeat and reorder.
 *
 * A *path* leads from one node to another, in one direction. A packet waits in the queue before the
 * path until the rate lets it pass, travels for the delay, and is then given to the node at the
 * other end. Whether it is lost, damaged, repeated or held back is drawn from the seed and the
 * number of the path alone, so a path behaves the same whatever happens on the others, and a run
 * repeats exactly.
 *
 * A *node* is a state machine under test: it is given packets, and it is run when it asked to be.
 * One with a ring stands for a program that rests: its packets wait until it runs. A path with a
 * ring stands for a port of such a program, which looks at one port after the other: its packets
 * wait until the node fetches them. A node that only sends on what it is given is a switch.
 *
 * The shape (nodes that say when they want to run next, and forward to each other) is that of the
 * simulator in quicly's tests.
 *
 * Threads: none; a net belongs to its caller.
 * Memory:  allocated by lull_sim_net_create(), nothing afterwards.
 */
#ifndef LULL_SIM_NET_H
#define LULL_SIM_NET_H

#include <lull/base.h>

#define LULL_SIM_NET_NODES_MAX 64
#define LULL_SIM_NET_PATHS_MAX 1024
#define LULL_SIM_NET_BYTES_MAX 65535 /* of a packet */
#define LULL_SIM_NEVER UINT64_MAX

/** How packets fare on a path. Shares are of a million packets, 0..1000000; 0: none. */
struct lull_sim_path_config {
	uint32_t from, to; /**< nodes */
	uint64_t rate_bps; /**< bits/s on the wire, LULL_SIM_WIRE_BYTES a packet included; 0: any */
	uint64_t queue_bytes; /**< before the rate; a packet that does not fit is dropped; 0: any */
	uint64_t delay_ns; /**< from its last bit on the wire to the other end; at least 1 passes */
	uint64_t jitter_ns; /**< up to so much longer, all alike; packets keep their order */
	uint32_t loss_ppm;  /**< lost, each for itself */
	/** Begins a time of loss, in which all packets go until it ends (Gilbert's model) ... */
	uint32_t fade_ppm;
	uint32_t fade_pkts;  /**< ... after so many packets in the mean, 1..1000000 with fade_ppm */
	uint32_t damage_ppm; /**< one of its bits is turned round */
	uint32_t duplicate_ppm; /**< arrives twice */
	uint32_t reorder_ppm;   /**< held back by reorder_ns, so that later ones overtake it */
	uint64_t reorder_ns;
	uint32_t overtake_ppm; /**< ahead of all that waits before the rate: other traffic */
	bool silent;        /**< loses everything and says nothing: a cable that was pulled out */
	uint32_t mtu_bytes; /**< longer packets are lost, and nobody is told; 0: none is too long */
	/**
	 * Packets that wait at the other end until lull_sim_net_fetch(); 0: the node is given them.
	 * What is set here at the start stays: a change may alter the number, not whether it is 0.
	 */
	uint32_t ring_pkts;
};

/**
 * What became of the packets of a path. sent + duplicated = too_long + queue_drops + pool_drops +
 * lost + delivered + ring_drops + those under way.
 */
struct lull_sim_path_counters {
	uint64_t sent, sent_bytes;
	uint64_t too_long;    /**< mtu_bytes */
	uint64_t queue_drops; /**< no room in the queue before the rate */
	uint64_t pool_drops;  /**< no room for packets under way: packets_max is too small */
	uint64_t lost;        /**< loss_ppm, fade_ppm, silent */
	uint64_t damaged, duplicated, reordered, overtook;
	uint64_t delivered, delivered_bytes; /**< given to the node; repeated ones count twice */
	uint64_t ring_drops;                 /**< the ring of the node or of the path was full */
};

struct lull_sim_net;

/** A state machine at the end of paths. */
struct lull_sim_node {
	void *arg;
	/**
	 * A packet from @p path; @p bytes is borrowed and may be written to. Without a ring: when
	 * it arrives; with one: right before run.
	 */
	void (*receive)(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes,
			uint32_t len_bytes);
	/**
	 * Do what is due, and return when to run next: after now_ns, or LULL_SIM_NEVER. Also called
	 * behind each receive; what it returned before counts no more.
	 */
	uint64_t (*run)(void *arg, uint64_t now_ns);
	uint32_t ring_pkts; /**< packets that wait until it runs; 0: it is given them at once */
	/**
	 * A packet waits in the ring of @p path: when to run for it, not before now_ns, or
	 * LULL_SIM_NEVER. What run returned stays. May be NULL where no path has a ring.
	 */
	uint64_t (*arrive)(void *arg, uint64_t now_ns, uint32_t path);
};

struct lull_sim_net_config {
	uint64_t seed;
	uint32_t node_count, path_count;          /**< 1..LULL_SIM_NET_NODES_MAX, .._PATHS_MAX */
	const struct lull_sim_node *nodes;        /**< copied */
	const struct lull_sim_path_config *paths; /**< copied */
	uint32_t packets_max;                     /**< under way at once, in all, 1..1000000 */
	uint32_t packet_bytes_max;                /**< 1..LULL_SIM_NET_BYTES_MAX */
};

/** All nodes run first at 0. 0, -EINVAL: a member is out of range, or -ENOMEM. */
int lull_sim_net_create(const struct lull_sim_net_config *config, struct lull_sim_net **net);
void lull_sim_net_destroy(struct lull_sim_net *net);

/**
 * Send from a node that is running or receiving, now. The path takes a copy. What becomes of it is
 * in the counters alone, as on a real wire.
 *
 * @param len_bytes  1..packet_bytes_max
 */
void lull_sim_net_send(struct lull_sim_net *net, uint32_t path, const uint8_t *bytes,
		       uint32_t len_bytes);
/**
 * Take the first packet out of the ring of a path, for the node at its end.
 *
 * @param bytes  out: may be written to, and is good until the next send
 * @return its length; 0: the ring is empty
 */
uint32_t lull_sim_net_fetch(struct lull_sim_net *net, uint32_t path, uint8_t **bytes);
/** Run a node at @p at_ns at the latest; 1 ns from now when that has passed. */
void lull_sim_net_wake(struct lull_sim_net *net, uint32_t node, uint64_t at_ns);
/** Let everything happen that is due before @p end_ns; the time is end_ns then. */
void lull_sim_net_run(struct lull_sim_net *net, uint64_t end_ns);
uint64_t lull_sim_net_now(const struct lull_sim_net *net);

/**
 * The path behaves so from now on; packets under way keep their fate. Its ends stay. 0 or -EINVAL:
 * then nothing changes.
 */
int lull_sim_net_change(struct lull_sim_net *net, uint32_t path,
			const struct lull_sim_path_config *config);
const struct lull_sim_path_counters *lull_sim_net_counters(const struct lull_sim_net *net,
							   uint32_t path);
/** Packets that are queued, on the wire or in rings. */
uint32_t lull_sim_net_under_way(const struct lull_sim_net *net);

#endif
