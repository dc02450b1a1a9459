/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random packets of many flows, and the records that they are, worked out from the words of
 * lull/flow.h alone: one pass over all packets in the order of their clocks, a division for the
 * cut, no table, no wheel, no merge.
 */
#ifndef RECORDS_WORLD_H
#define RECORDS_WORLD_H

#include <stdlib.h>
#include <string.h>

#include <lull/flow.h>

#include "base/prng.h"

#define PKTS_MAX 2048
#define FLOWS_MAX 400
#define RECORDS_MAX (PKTS_MAX + 1)
#define KEPT_BYTES 12

/* A record with its payload room, as tables and rings hold it. */
struct kept {
	struct lull_flow_record record;
	uint8_t payload[2 * KEPT_BYTES];
};

struct traffic {
	struct lull_prng prng;
	uint64_t idle_ns, active_ns;
	uint32_t flow_count, pkt_count, dispatcher_count;
	uint64_t end_clock_ns;
	uint32_t digests[FLOWS_MAX];
	struct lull_flow_packet pkts[PKTS_MAX];
	bool gone[PKTS_MAX]; /* lost on its way to a worker */
	uint8_t payload[PKTS_MAX][16];
	uint32_t expected_count;
	struct kept expected[RECORDS_MAX];
};

static inline uint64_t
traffic_phase(const struct traffic *traffic, uint32_t digest)
{
	return digest * (traffic->active_ns / 65536) / 32768;
}

static inline uint32_t
traffic_cut(const struct traffic *traffic, uint32_t digest, uint64_t clock_ns)
{
	if (traffic->active_ns == 0)
		return 0;
	return (uint32_t)((clock_ns + traffic_phase(traffic, digest)) / traffic->active_ns);
}

/* Mostly small steps; some to the very edge of a flow's silence or cut, or beyond. */
static inline uint64_t
traffic_step(struct traffic *traffic, uint64_t clock_ns, uint64_t last_ns, uint32_t digest)
{
	struct lull_prng *prng = &traffic->prng;
	uint64_t edge_ns = last_ns + traffic->idle_ns + lull_prng_below(prng, 2);
	uint64_t cut = traffic_cut(traffic, digest, clock_ns);

	switch (lull_prng_below(prng, 40)) {
	case 0:
		return clock_ns + lull_prng_below(prng, 2 * traffic->idle_ns);
	case 1:
	case 2:
		return last_ns > 0 && edge_ns > clock_ns ? edge_ns : clock_ns;
	case 3:
		if (traffic->active_ns == 0)
			return clock_ns;
		return (cut + 1) * traffic->active_ns - traffic_phase(traffic, digest) -
		       (lull_prng_below(prng, 2) == 0 && clock_ns > 0);
	case 4:
	case 5:
	case 6:
	case 7:
		return clock_ns;
	default:
		return clock_ns + lull_prng_below(prng, traffic->idle_ns / 8);
	}
}

static inline void
traffic_packet(struct traffic *traffic, uint32_t index, uint32_t flow, uint64_t clock_ns)
{
	struct lull_prng *prng = &traffic->prng;
	struct lull_flow_packet *packet = &traffic->pkts[index];

	memset(packet, 0, sizeof(*packet));
	packet->key.port[0] = (uint16_t)flow;
	packet->key.version = 4;
	packet->key.proto = LULL_FLOW_PROTO_TCP;
	packet->digest = traffic->digests[flow];
	packet->clock_ns = clock_ns;
	/* As the engine does: own count, or the clock where several count. */
	packet->number = traffic->dispatcher_count > 1 ? clock_ns : index;
	packet->time_ns = clock_ns + LULL_NS_PER_S - lull_prng_below(prng, traffic->idle_ns);
	packet->ip_bytes = 20 + (uint32_t)lull_prng_below(prng, 1480);
	packet->direction = (uint8_t)lull_prng_below(prng, 2);
	packet->tcp_flags = (uint8_t)(1u << lull_prng_below(prng, 6));
	packet->flags = lull_prng_below(prng, 20) == 0 ? LULL_FLOW_FRAGMENT : 0;
	packet->dispatcher = (uint8_t)lull_prng_below(prng, traffic->dispatcher_count);
	if (lull_prng_below(prng, 3) > 0) {
		packet->payload_bytes = 1 + (uint16_t)lull_prng_below(prng, 100);
		packet->payload_captured =
			(uint16_t)lull_prng_below(prng, LULL_MIN(packet->payload_bytes, 16u) + 1u);
	}
	for (uint32_t i = 0; i < 16; i++)
		traffic->payload[index][i] = (uint8_t)lull_prng_u64(prng);
}

static inline void
traffic_make(struct traffic *traffic)
{
	struct lull_prng *prng = &traffic->prng;
	uint64_t last_ns[FLOWS_MAX] = { 0 };
	uint64_t clock_ns = lull_prng_below(prng, 3) * 1700000000 * LULL_NS_PER_S;
	uint32_t hot = 1 + (uint32_t)lull_prng_below(prng, traffic->flow_count);

	for (uint32_t flow = 0; flow < traffic->flow_count; flow++) {
		traffic->digests[flow] = (uint32_t)lull_prng_below(prng, 0x80000000u);
		if (flow > 0 && lull_prng_below(prng, 10) == 0) /* two flows of one digest */
			traffic->digests[flow] = traffic->digests[flow - 1];
	}
	for (uint32_t i = 0; i < traffic->pkt_count; i++) {
		uint32_t among = lull_prng_below(prng, 3) > 0 ? hot : traffic->flow_count;
		uint32_t flow = (uint32_t)lull_prng_below(prng, among);

		clock_ns = traffic_step(traffic, clock_ns, last_ns[flow], traffic->digests[flow]);
		last_ns[flow] = clock_ns;
		traffic_packet(traffic, i, flow, clock_ns);
	}
	traffic->end_clock_ns = clock_ns;
}

/* ---- the records by definition ---- */

static inline void
reference_payload(struct kept *kept, const struct lull_flow_packet *packet, const uint8_t *bytes)
{
	struct lull_flow_record *record = &kept->record;
	uint32_t direction = packet->direction;
	uint8_t *room = &kept->payload[direction * KEPT_BYTES];
	uint16_t len = LULL_MIN(packet->payload_captured, KEPT_BYTES);
	bool first = record->payload_total[direction] == 0;
	/* Of packets with one number the longer part counts, then the smaller bytes. */
	bool same = !first && record->payload_number[direction] == packet->number;

	if (first ||
	    (same && (len > record->payload_len[direction] ||
		      (len == record->payload_len[direction] && memcmp(bytes, room, len) < 0)))) {
		record->payload_number[direction] = packet->number;
		record->payload_len[direction] = len;
		memcpy(room, bytes, len);
	}
	record->payload_total[direction] += packet->payload_bytes;
}

static inline void
reference_packet(struct kept *kept, const struct lull_flow_packet *packet, const uint8_t *bytes)
{
	struct lull_flow_record *record = &kept->record;
	uint32_t direction = packet->direction;

	if (record->packets[0] + record->packets[1] == 0) {
		record->first_ns = packet->time_ns;
		record->first_clock_ns = packet->clock_ns;
		record->first_number = packet->number;
		record->first_direction = packet->direction;
		record->exact = 1;
	} else if (packet->number == record->first_number && packet->direction == 0) {
		record->first_direction = 0;
	}
	record->packets[direction]++;
	record->bytes[direction] += packet->ip_bytes;
	if (packet->payload_bytes > 0)
		reference_payload(kept, packet, bytes);
	if (packet->time_ns < record->first_ns)
		record->first_ns = packet->time_ns;
	if (packet->time_ns > record->last_ns)
		record->last_ns = packet->time_ns;
	record->last_clock_ns = packet->clock_ns;
	record->tcp_flags[direction] |= packet->tcp_flags;
	record->fragments += packet->flags == LULL_FLOW_FRAGMENT;
	if ((packet->mark_flags & LULL_FLOW_MARK_LOST) != 0)
		record->exact = 0;
}

static inline void
reference_end(const struct traffic *traffic, struct lull_flow_record *record)
{
	uint64_t silent_ns = record->last_clock_ns + traffic->idle_ns + 1;
	uint64_t cut_ns = UINT64_MAX;

	if (traffic->active_ns > 0)
		cut_ns = (record->cut + 1ull) * traffic->active_ns -
			 traffic_phase(traffic, record->digest);
	if (LULL_MIN(silent_ns, cut_ns) > traffic->end_clock_ns)
		record->end = LULL_FLOW_END_FLUSH;
	else
		record->end = cut_ns < silent_ns ? LULL_FLOW_END_ACTIVE : LULL_FLOW_END_IDLE;
	record->app = (uint16_t)(record->key.port[0] + 1);
	record->app_confidence = 3;
	record->app_number = record->first_number;
}

static inline void
reference_make(struct traffic *traffic)
{
	int32_t current[FLOWS_MAX];

	memset(current, 0xff, sizeof(current));
	traffic->expected_count = 0;
	for (uint32_t i = 0; i < traffic->pkt_count; i++) {
		const struct lull_flow_packet *packet = &traffic->pkts[i];
		int32_t *at = &current[packet->key.port[0]];
		uint32_t cut = traffic_cut(traffic, packet->digest, packet->clock_ns);
		struct kept *kept = *at < 0 ? NULL : &traffic->expected[*at];

		if (traffic->gone[i])
			continue;
		if (kept == NULL || kept->record.cut != cut ||
		    packet->clock_ns - kept->record.last_clock_ns > traffic->idle_ns) {
			*at = (int32_t)traffic->expected_count++;
			kept = &traffic->expected[*at];
			memset(kept, 0, sizeof(*kept));
			kept->record.key = packet->key;
			kept->record.digest = packet->digest;
			kept->record.cut = cut;
		}
		reference_packet(kept, packet, traffic->payload[i]);
	}
	for (uint32_t i = 0; i < traffic->expected_count; i++)
		reference_end(traffic, &traffic->expected[i].record);
}

/* ---- comparing ---- */

static inline int
kept_order(const void *a, const void *b)
{
	const struct lull_flow_record *x = &((const struct kept *)a)->record;
	const struct lull_flow_record *y = &((const struct kept *)b)->record;

	if (x->key.port[0] != y->key.port[0])
		return x->key.port[0] < y->key.port[0] ? -1 : 1;
	return (x->first_clock_ns > y->first_clock_ns) - (x->first_clock_ns < y->first_clock_ns);
}

static inline bool
kept_same(const struct kept *a, const struct kept *b)
{
	if (memcmp(&a->record, &b->record, sizeof(a->record)) != 0)
		return false;
	for (uint32_t direction = 0; direction < 2; direction++) {
		if (memcmp(&a->payload[direction * KEPT_BYTES], &b->payload[direction * KEPT_BYTES],
			   a->record.payload_len[direction]) != 0)
			return false;
	}
	return true;
}

/* Place of the first record that differs, -1: none does. Sorts both. */
static inline int
kept_compare(struct kept *a, uint32_t a_count, struct kept *b, uint32_t b_count)
{
	uint32_t count = LULL_MIN(a_count, b_count);

	qsort(a, a_count, sizeof(*a), kept_order);
	qsort(b, b_count, sizeof(*b), kept_order);
	for (uint32_t i = 0; i < count; i++) {
		if (!kept_same(&a[i], &b[i]))
			return (int)i;
	}
	return a_count == b_count ? -1 : (int)count;
}

#endif
