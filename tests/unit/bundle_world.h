/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A path in virtual time: a sender that always has packets, a link with a queue, a receiver that
 * acknowledges as the protocol does, and hosts that can be absent. It stands in for everything that
 * a meter and a control meet.
 */
#ifndef LULL_TEST_BUNDLE_WORLD_H
#define LULL_TEST_BUNDLE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "bundle/control.h"

#define WORLD_PSNS 4096 /* remembered: more than can be under way */
#define WORLD_PACKET_BYTES 1500

/* A host that is absent for absent_ns in each period_ns; 0: never. */
struct bundle_host {
	uint64_t absent_ns, period_ns;
};

struct bundle_world {
	/* Set these before bundle_world_init(), or between two runs. */
	const struct lull_bundle_control *control;
	uint64_t rate_bps, rtt_ns; /* of the empty link, sending time not included */
	uint32_t queue_pkts;       /* that find room; more are lost */
	uint32_t loss_ppm;         /* of random loss */
	uint32_t window_pkts_max, share, fixed_pkts;
	uint64_t seed;
	uint8_t fill; /* what was in the control's memory before */
	uint32_t
		offer_pkts; /* the sender has no more under way than these; 0: it always has more */
	struct bundle_host sender, receiver;
	/* What came of it, since bundle_world_measure(). */
	uint64_t delivered_pkts, lost_pkts, sent_pkts, since_ns, queue_sum_ns, queue_ns_max;
	uint32_t window_pkts_least, window_pkts_most, rounds;
	uint64_t digest; /* of all rounds and windows */
	/* Its own. */
	uint64_t now_ns;
	struct bundle_meter meter;
	_Alignas(16) uint8_t state[BUNDLE_CONTROL_STATE];
	struct lull_prng prng;
	struct {
		uint64_t sent_ns, arrives_ns;
		bool lost;
	} packets[WORLD_PSNS];
	struct {
		uint64_t at_ns, psn, hold_ns, wait_ns;
	} acks[WORLD_PSNS];
	uint64_t psn_next, psn_arrives,
		psn_acked; /* to be sent, next at the receiver, acknowledged */
	uint64_t ack_head, ack_tail;
	uint64_t link_free_ns;
	uint64_t ack_psn, ack_due_ns, look_ns, wait_ns; /* receiver */
	uint32_t ack_pkts;
};

void bundle_world_init(struct bundle_world *world);
/** Go on for so long. */
void bundle_world_run(struct bundle_world *world, uint64_t for_ns);
/** Forget what was counted so far. */
void bundle_world_measure(struct bundle_world *world);
/** Packets delivered since then, in parts of a million of what the link carries. */
uint64_t bundle_world_share_ppm(const struct bundle_world *world);
/** Mean time that a packet waited for the link, ns. */
uint64_t bundle_world_queue_ns(const struct bundle_world *world);
/** Time that the link takes for a packet, ns. */
uint64_t bundle_world_packet_ns(const struct bundle_world *world);

#endif
