/* SPDX-License-Identifier: BSD-3-Clause */
#include "early.h"

#include <assert.h>
#include <string.h>

#define PLACE(index) ((index) & (LULL_EARLY_PKTS - 1))

static_assert((LULL_EARLY_PKTS & (LULL_EARLY_PKTS - 1)) == 0, "places wrap");

static struct lull_flow_packet *
early_pop(struct lull_early *early)
{
	struct lull_flow_packet *packet = early->waiting[PLACE(early->begin)].packet;

	early->begin++;
	early->count--;
	return packet;
}

struct lull_flow_packet *
lull_early_add(struct lull_early *early, uint32_t hash, uint64_t clock_ns)
{
	struct lull_flow_packet *gone = NULL;
	uint32_t place;

	if (early->count + early->ready == LULL_EARLY_PKTS) {
		if (early->count == 0)
			return early->last.packet;
		gone = early_pop(early);
	}
	place = PLACE(early->begin + early->count);
	early->hashes[place] = hash;
	early->waiting[place] = early->last;
	early->waiting[place].due_ns = clock_ns + early->wait_ns;
	early->count++;
	return gone;
}

/* As if it had come behind its first one. */
static bool
early_take_key(const struct lull_early_pkt *pkt, const struct lull_fragment_datagram *datagram)
{
	struct lull_flow_packet *packet = pkt->packet;
	bool entered = (datagram->flags & ~packet->flags & LULL_FLOW_TUNNEL) != 0;

	lull_fragment_apply(datagram, packet);
	packet->flags &= (uint8_t)~LULL_FLOW_ORPHAN;
	if (datagram->inner) {
		packet->ip_offset = (uint16_t)(packet->ip_offset + pkt->header_bytes);
		packet->ip_bytes -= pkt->header_bytes;
	}
	return entered;
}

uint32_t
lull_early_join(struct lull_early *early, uint32_t hash,
		const struct lull_fragment_datagram *datagram)
{
	uint32_t count = early->count, entered = 0;

	early->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = PLACE(early->begin + i), to = PLACE(early->begin + early->count);
		const struct lull_early_pkt *pkt = &early->waiting[from];

		if (early->hashes[from] == hash &&
		    lull_fragment_same(&pkt->name, &datagram->name)) {
			entered += early_take_key(pkt, datagram);
			early->joined[PLACE(early->ready_begin + early->ready++)] = pkt->packet;
			continue;
		}
		if (from != to) {
			early->hashes[to] = early->hashes[from];
			early->waiting[to] = *pkt;
		}
		early->count++;
	}
	return entered;
}

struct lull_flow_packet *
lull_early_ready(struct lull_early *early)
{
	if (early->ready == 0)
		return NULL;
	early->ready--;
	return early->joined[PLACE(early->ready_begin++)];
}

uint64_t
lull_early_deadline_ns(const struct lull_early *early)
{
	return early->count > 0 ? early->waiting[PLACE(early->begin)].due_ns : UINT64_MAX;
}

struct lull_flow_packet *
lull_early_due(struct lull_early *early, uint64_t clock_ns, uint64_t *due_ns)
{
	uint64_t deadline_ns = lull_early_deadline_ns(early);

	if (deadline_ns >= clock_ns)
		return NULL;
	*due_ns = deadline_ns;
	return early_pop(early);
}
