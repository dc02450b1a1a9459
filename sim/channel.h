/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Channel: nodes with a bundle each (lull/bundle.h), in virtual time, over rails with faults.
 *
 * A *world* has 2 to 32 nodes. A node is a program: a loop that looks at its rails, lets the bundle
 * work, and rests as a governor would let it; and an application that sends, accepts, refuses and
 * cancels messages. Rails are ports of a switch, whose ports have a rate and a finite queue.
 *
 * While a world runs, it checks what a channel promises, after each turn of each loop: each message
 * arrives exactly once, whole and in order; each operation ends; counters agree with what the wires
 * saw; no ring overflows for a rest; no nonce is used twice under a key; nothing that was forged,
 * cut, replayed or of an older epoch arrives; the bundle stays in its memory. The first thing that
 * is wrong ends the run and is told in one sentence. Same config, same run, same digest.
 *
 * Threads: none; a world belongs to its caller. lull_sim_channel_bytes() is filled at first use.
 * Memory:  allocated by lull_sim_channel_create() and while it runs.
 */
#ifndef LULL_SIM_CHANNEL_H
#define LULL_SIM_CHANNEL_H

#include <lull/bundle.h>
#include <lull/histogram.h>
#include <lull/idle.h>

#include "machine.h"
#include "net.h"

#define LULL_SIM_CHANNEL_NODES_MAX 32
#define LULL_SIM_CHANNEL_FAULTS_MAX 96
#define LULL_SIM_CHANNEL_MESSAGE_MAX (4u << 20) /**< longest message, bytes */
#define LULL_SIM_CHANNEL_UNDER_WAY_MAX 4096
#define LULL_SIM_CHANNEL_FAILURE_SIZE 320
#define LULL_SIM_CHANNEL_BINS 4000 /**< of the curve of what arrived, 1 ms each */
#define LULL_SIM_CHANNEL_ANY UINT32_MAX

/** A rail, and the wire from its port of the switch to it. */
struct lull_sim_channel_rail {
	/** Of frames of full length, their Ethernet header counted: what a shaper is told. */
	uint64_t rate_bps;
	uint64_t up_bps; /**< from the node to the switch; 0: rate_bps */
	uint32_t packet_bytes, ring_pkts;
	uint8_t kind;    /**< rails of one kind reach each other */
	uint8_t network; /**< rails of one network have a wire between them */
	/** Queue of the switch's port, delay, faults; its ends, rate and ring are left out. */
	struct lull_sim_path_config wire;
};

enum lull_sim_channel_job_type {
	LULL_SIM_CHANNEL_RANDOM,   /**< every node to all others, sizes and gaps drawn */
	LULL_SIM_CHANNEL_STREAM,   /**< all other nodes to node 0, or node 0 to node 1 of 2 */
	LULL_SIM_CHANNEL_PING,     /**< node 0 asks, node 1 answers */
	LULL_SIM_CHANNEL_PERIODIC, /**< node 0 and node 1 to each other for a part of each period */
};

/** What applications do. Shares are of a million. */
struct lull_sim_channel_job {
	enum lull_sim_channel_job_type type;
	uint32_t message_bytes; /**< RANDOM: the largest */
	/** Messages at once, up to 4096 and bundle.messages_max; 0: 16 */
	uint32_t under_way;
	uint32_t messages;            /**< RANDOM: of each node; else 0: as many as go */
	uint64_t gap_ns;              /**< RANDOM: between messages of a node, in the mean */
	uint64_t period_ns, burst_ns; /**< PERIODIC */
	uint32_t cancel_ppm, refuse_ppm, late_ppm, short_ppm, matched_ppm;
	uint64_t late_ns; /**< a late accept comes so long after its head at most */
};

enum lull_sim_channel_fault_type {
	LULL_SIM_CHANNEL_SILENT,      /**< a rail loses everything, both ways */
	LULL_SIM_CHANNEL_SILENT_UP,   /**< ... what its node sends */
	LULL_SIM_CHANNEL_SILENT_DOWN, /**< ... what its node would receive */
	LULL_SIM_CHANNEL_RETURN,      /**< it carries again */
	LULL_SIM_CHANNEL_RATE,        /**< value: bits/s, as rate_bps */
	LULL_SIM_CHANNEL_LOSS,        /**< value: ppm; and no fades any more */
	LULL_SIM_CHANNEL_MTU,         /**< value: bytes of packets that pass; 0: all */
	LULL_SIM_CHANNEL_REMOVE,      /**< the program takes a rail out of its bundle */
	LULL_SIM_CHANNEL_ADD,         /**< ... and puts it back */
	LULL_SIM_CHANNEL_KILL,        /**< a node's program dies */
	LULL_SIM_CHANNEL_START,       /**< ... and begins anew: same name, another node id */
	LULL_SIM_CHANNEL_STOP,        /**< others have the core of a loop for value ns */
	LULL_SIM_CHANNEL_REST,        /**< a loop rests for value ns at most from now on */
	LULL_SIM_CHANNEL_DISCONNECT,  /**< a node ends its connection to node `value` */
};

struct lull_sim_channel_fault {
	uint64_t at_ns;
	enum lull_sim_channel_fault_type type;
	uint32_t node, rail; /**< LULL_SIM_CHANNEL_ANY: all */
	uint64_t value;
};

/** Someone on the wires without the key. */
struct lull_sim_channel_attack {
	uint64_t gap_ns; /**< between its packets, in the mean; 0: nobody */
	bool replays, flips, cuts, invents;
};

struct lull_sim_channel_config {
	uint64_t seed;
	uint32_t node_count; /**< 2..LULL_SIM_CHANNEL_NODES_MAX */
	struct {
		uint32_t rail_count; /**< 1..LULL_BUNDLE_RAILS_MAX */
		struct lull_sim_channel_rail rails[LULL_BUNDLE_RAILS_MAX];
	} nodes[LULL_SIM_CHANNEL_NODES_MAX];
	/** Name, node id and security are filled in. */
	struct lull_bundle_config bundle;
	bool keyed; /**< the security of sim/channel_security.c, which watches; else `open` */
	const struct lull_sim_machine *machine;
	uint64_t rest_ns; /**< longest rest; 0: the loop polls */
	/**
	 * Who decides how long a loop rests; rest_ns is its objective and its longest rest. NULL:
	 * rests of rest_ns, one after the other.
	 */
	const struct lull_idle_governor *governor;
	/**
	 * With a governor: nothing but the governor decides about a rest, also while packets are
	 * expected or something is to be sent, and nothing shortens one.
	 */
	bool heedless_rests;
	bool silent_rests; /**< peers are not told of rests */
	bool event_rests;  /**< a packet ends a rest, as in poll(); without a governor */
	/** Ring that peers are told of, for rail credit; 0: the one that there is. */
	uint32_t told_ring_pkts;
	struct lull_sim_channel_job job;
	struct lull_sim_channel_attack attack;
	uint32_t fault_count;
	struct lull_sim_channel_fault faults[LULL_SIM_CHANNEL_FAULTS_MAX]; /**< at_ns rising */
	bool both_ask; /**< both nodes of a pair connect, not only the one with the lower number */
	bool by_address;
	bool may_fall; /**< connections may end: a node dies, or is silent for peer_timeout_ns */
	bool may_overflow;  /**< rings may: packets come twice, or nobody may know of them */
	uint64_t warmup_ns; /**< before the measurement */
	uint64_t calm_ns;   /**< nothing new is sent from then on, and no fault remains */
	uint64_t bound_ns;  /**< so long after calm_ns everything has ended */
	uint64_t age_ns;    /**< no operation takes longer at any time; 0: not watched */
};

/** Of a path from node `node` to `peer`. */
struct lull_sim_channel_path {
	uint32_t node, peer;
	struct lull_bundle_path_look look;
};

/** What the loop of a node did in the measurement, as of its last start. */
struct lull_sim_channel_work {
	uint64_t span_ns; /**< of the measurement */
	uint64_t busy_ns; /**< iterations that moved packets */
	uint64_t rest_ns; /**< asleep; rest_cpu_ns of it the core worked for it */
	uint64_t rest_cpu_ns, requested_ns, rests;
};

/** Packets in the measurement, of all nodes. */
struct lull_sim_channel_traffic {
	uint64_t tx_pkts;      /**< sent, those that are sent again too */
	uint64_t resent_pkts;  /**< carried what another packet had carried */
	uint64_t dropped_pkts; /**< lost on wires, by full queues and full rings */
	uint64_t ring_pkts;    /**< of these by rings */
};

#define LULL_SIM_CHANNEL_PATHS_MAX 512

struct lull_sim_channel_result {
	uint64_t digest;
	uint64_t now_ns, measured_ns;
	uint64_t turns, rests; /* of all loops */
	uint64_t rest_ns;      /* time at rest of all loops, in the measurement */
	uint64_t sent, received, refused, cancelled, failed; /* messages */
	uint64_t received_bytes;                             /* in the measurement */
	uint64_t from_bytes[LULL_SIM_CHANNEL_NODES_MAX];     /* of these, by sender */
	uint64_t wire_pkts, wire_lost, ring_drops, queue_drops;
	uint64_t attacks, falls;
	struct lull_sim_channel_traffic traffic;
	struct lull_sim_channel_work work[LULL_SIM_CHANNEL_NODES_MAX];
	uint64_t sum_bps;              /* of the rails that the job can use */
	struct lull_histogram latency; /* PING: half round trip; else from send to SENT */
	uint64_t curve_bytes[LULL_SIM_CHANNEL_BINS]; /* payload acknowledged, by ms from 0 on */
	struct lull_bundle_counters counters;        /* of all bundles that live at the end */
	uint32_t path_count;                         /* as it was at calm_ns */
	struct lull_sim_channel_path paths[LULL_SIM_CHANNEL_PATHS_MAX];
};

struct lull_sim_channel;

/** 0; -EINVAL: a member is out of its range, -ENOMEM. */
int lull_sim_channel_create(const struct lull_sim_channel_config *config,
			    struct lull_sim_channel **world);
void lull_sim_channel_free(struct lull_sim_channel *world);
/**
 * Run to the end.
 * @param progress  may be NULL; false: stop, -EINTR
 * @return 0; -EPROTO: something was wrong, see lull_sim_channel_failure(); -EINTR, -ENOMEM
 */
int lull_sim_channel_run(struct lull_sim_channel *world,
			 bool (*progress)(void *arg, uint64_t done_ns, uint64_t total_ns),
			 void *arg);
/** What was wrong first, in one sentence; "": nothing. */
const char *lull_sim_channel_failure(const struct lull_sim_channel *world);
/** What came of it. */
void lull_sim_channel_read(const struct lull_sim_channel *world,
			   struct lull_sim_channel_result *result);
/** Fairness of what senders got (Jain, Chiu, Hawe 1984): 1 / n .. 1. */
double lull_sim_channel_jain(const struct lull_sim_channel_result *result, uint32_t first,
			     uint32_t count);

/** CPU that a loop took, of its time: 0..1; it polls where it does not rest. */
double lull_sim_channel_cpu(const struct lull_sim_channel_work *work);
/** Share of its time in which it polled and found nothing: 0..1. */
double lull_sim_channel_empty(const struct lull_sim_channel_work *work);

/** Settings of a world without faults: @p nodes nodes with @p rails rails of @p rate_bps. */
void lull_sim_channel_preset(struct lull_sim_channel_config *config, uint32_t nodes, uint32_t rails,
			     uint64_t rate_bps);
/** A world of everything that can happen to a channel, drawn from @p seed. */
void lull_sim_channel_scenario(struct lull_sim_channel_config *config, uint64_t seed);

#endif
