/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Bundles that are joined by a switch, in virtual time. Rail r of node n has the address
 * (n + 1, r). A packet to nobody reaches the rail of the same number at every other node.
 *
 * Messages of a stand are told apart by their tag, which says what their bytes are.
 */
#ifndef LULL_TEST_BUNDLE_STAND_H
#define LULL_TEST_BUNDLE_STAND_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/bundle.h>

#include "base/prng.h"
#include "bundle/protocol.h"

#define STAND_NODES 3
#define STAND_PACKET_BYTES 1500
#define STAND_PACKETS 4096 /* under way at once */
#define STAND_HEADS 512
#define STAND_BUFFERS 1024
#define STAND_STEP_NS (50 * LULL_NS_PER_US)

enum stand_policy { STAND_ACCEPT, STAND_REFUSE, STAND_HOLD };

struct stand_node {
	struct lull_bundle *bundle;
	struct lull_bundle_open open;
	struct lull_prng prng;
	struct lull_bundle_config config;
	uint32_t peer;                                    /* of the last event UP */
	uint32_t ups, downs, sent, received, errors[256]; /* errors of SENT and RECEIVED by errno */
	int down_error;
	enum stand_policy policy;
	uint64_t accept_bytes; /* room of a buffer; 0: as long as the message */
	struct lull_bundle_event heads[STAND_HEADS]; /* those that are held */
	uint32_t head_count;
	bool away; /* it does nothing */
};

struct stand_packet {
	uint64_t at_ns; /* arrives */
	uint32_t from, from_rail, to, to_rail, len_bytes;
	struct lull_bundle_address source;
	uint8_t bytes[STAND_PACKET_BYTES];
};

struct stand {
	uint64_t now_ns;
	uint32_t node_count;
	struct stand_node nodes[STAND_NODES];
	uint64_t latency_ns;
	uint32_t burst; /* packets that leave by a rail in a step */
	/* Says whether a packet passes, and may change it. NULL: all do. */
	bool (*judge)(struct stand *stand, struct stand_packet *packet);
	uint32_t judged, kept; /* for the judge */
	struct stand_packet *packets;
	uint32_t packet_first, packet_count;
	uint8_t *bytes; /* what messages consist of */
	uint64_t message_bytes_max;
	uint32_t sends;
	void *buffers[STAND_BUFFERS]; /* of messages that are accepted */
};

/** Nodes "a", "b", ... with so many rails each; @p config: what is not zero is taken over. */
struct stand *stand_open(uint32_t nodes, uint32_t rails, const struct lull_bundle_config *config);
void stand_close(struct stand *stand);
/** A node begins anew, with nothing, under another node id. */
void stand_node_begin(struct stand *stand, uint32_t node, uint32_t rails);
void stand_node_end(struct stand *stand, uint32_t node);
struct lull_bundle_rail stand_rail(uint32_t node, uint32_t rail);
int stand_rail_add(struct stand *stand, uint32_t node, uint32_t rail);
/** Time goes on by a step. */
void stand_step(struct stand *stand);
void stand_run(struct stand *stand, uint64_t for_ns);
/** Until the number is reached; fails after so long. */
void stand_wait(struct stand *stand, const uint32_t *count, uint32_t wanted, uint64_t limit_ns);
/** By name; @return the peer's number */
uint32_t stand_ask(struct stand *stand, uint32_t from, uint32_t to);
/** Asks, waits until both are up, and until all paths of both are. */
void stand_join(struct stand *stand, uint32_t from, uint32_t to);
/** @return as lull_bundle_send(); up to message_bytes_max */
int stand_send(struct stand *stand, uint32_t from, uint64_t len_bytes, bool matched);
/** Send, and wait for SENT there and RECEIVED at the other. */
void stand_bring(struct stand *stand, uint32_t from, uint32_t to, uint64_t len_bytes);
void stand_take(struct stand *stand, uint32_t node, const struct lull_bundle_event *head);
/** Accepts all heads that are held. */
void stand_take_all(struct stand *stand, uint32_t node);
struct bundle_slot *stand_slot(struct stand *stand, uint32_t node);
struct bundle_path *stand_path(struct stand *stand, uint32_t node, uint32_t path);
const struct lull_bundle_counters *stand_counters(struct stand *stand, uint32_t node);
/** Fails when the node would turn without an end: it is due at once, and nothing leaves. */
void stand_rests(struct stand *stand, uint32_t node);

#endif
