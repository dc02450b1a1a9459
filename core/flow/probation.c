/* SPDX-License-Identifier: BSD-3-Clause */
#include "probation.h"

#include <string.h>

#include "wheel.h"

#define LISTS_MAX 1024u
#define ENTRIES_PER_LIST 64
#define WINDOWS_PER_S 10
#define WINDOW_NS (LULL_NS_PER_S / WINDOWS_PER_S)
#define SHIFT_MAX 24

#define TCP_SYN 2u
#define TCP_RST 4u

/* What was heard: a bit per direction, and how many packets that are more than SYN or RST. */
#define HEARD_BOTH 3u
#define HEARD_PKT 4u
#define HEARD_PKTS (3 * HEARD_PKT)

/* ---- life ---- */

static uint32_t
probation_lists(const struct lull_flow_table_config *config)
{
	uint32_t lists = 1;

	while (lists < LISTS_MAX && 2 * lists * ENTRIES_PER_LIST <= config->entries_max)
		lists *= 2;
	return lists;
}

static size_t
probation_aligned(size_t bytes)
{
	return (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
}

static size_t
probation_places_bytes(const struct lull_flow_table_config *config)
{
	return probation_aligned(config->entries_max * sizeof(struct probation_place));
}

static size_t
probation_lists_bytes(const struct lull_flow_table_config *config)
{
	return probation_aligned(probation_lists(config) * sizeof(struct probation_list));
}

static size_t
probation_levels_bytes(const struct lull_flow_table_config *config)
{
	return probation_aligned((config->entries_max + 1ull) * sizeof(uint32_t));
}

size_t
lull_flow_probation_size(const struct lull_flow_table_config *config)
{
	return probation_places_bytes(config) + probation_lists_bytes(config) +
	       probation_levels_bytes(config);
}

/* A mask over the bytes of an address as they lie in memory. */
static void
probation_prefix(uint64_t words[2], uint32_t bits)
{
	uint8_t bytes[16] = { 0 };

	for (uint32_t i = 0; i < bits; i++)
		bytes[i / 8] |= (uint8_t)(0x80u >> i % 8);
	memcpy(words, bytes, sizeof(bytes));
}

void
lull_flow_probation_rate(struct lull_flow_probation *probation, uint32_t rate)
{
	probation->quota = rate > 0 ? LULL_MAX(rate / WINDOWS_PER_S, 1u) : 0;
}

void
lull_flow_probation_init(struct lull_flow_probation *probation, void *memory,
			 const struct lull_flow_table_config *config)
{
	uint8_t *at = memory;

	memset(probation, 0, sizeof(*probation));
	/* Places are written before they are read, and their pages cost nothing until then. */
	probation->places = (struct probation_place *)(void *)at;
	at += probation_places_bytes(config);
	probation->lists = (struct probation_list *)(void *)at;
	memset(at, 0xff, probation_lists_bytes(config));
	at += probation_lists_bytes(config);
	probation->levels = (uint32_t *)(void *)at;
	memset(at, 0xff, probation_levels_bytes(config));
	probation->mask = probation_lists(config) - 1;
	for (uint32_t i = 0; i <= probation->mask; i++)
		probation->lists[i].count = 0;
	probation->reserve = config->entries_max / LULL_FLOW_PROBATION_RESERVE;
	probation->seed = config->seed;
	probation_prefix(probation->prefixes[0], config->prefix4_bits);
	probation_prefix(probation->prefixes[1], config->prefix6_bits);
	lull_flow_probation_rate(probation, config->half_open_rate);
}

/* ---- answers ---- */

static uint8_t
heard_judge(uint8_t heard)
{
	uint32_t pkts = heard & HEARD_PKTS;

	return pkts == HEARD_PKTS || (pkts > 0 && (heard & HEARD_BOTH) == HEARD_BOTH) ? 0 : heard;
}

uint8_t
lull_flow_probation_hear(uint8_t heard, const struct lull_flow_packet *packet)
{
	uint32_t flags = packet->key.proto == LULL_FLOW_PROTO_TCP ? packet->tcp_flags : 0;

	if ((flags & TCP_RST) == 0)
		heard |= (uint8_t)(1u << packet->direction);
	if ((flags & (TCP_SYN | TCP_RST)) == 0)
		heard += HEARD_PKT;
	return heard_judge(heard);
}

uint8_t
lull_flow_probation_join(uint8_t a, uint8_t b)
{
	uint32_t pkts = (a & HEARD_PKTS) + (b & HEARD_PKTS);

	if (a == 0 || b == 0)
		return 0;
	return heard_judge((uint8_t)(((a | b) & ~HEARD_PKTS) | LULL_MIN(pkts, HEARD_PKTS)));
}

/* ---- lists by how many entries they have ---- */

static void
level_take(struct lull_flow_probation *probation, uint32_t number)
{
	const struct probation_list *list = &probation->lists[number];
	uint32_t *first = &probation->levels[list->count];

	if (*first == number)
		*first = list->next != number ? list->next : LULL_WHEEL_NONE;
	probation->lists[list->prev].next = list->next;
	probation->lists[list->next].prev = list->prev;
}

/* Behind the others: of equal lists each gives way in its turn. */
static void
level_put(struct lull_flow_probation *probation, uint32_t number)
{
	struct probation_list *list = &probation->lists[number];
	uint32_t *first = &probation->levels[list->count];

	if (*first == LULL_WHEEL_NONE) {
		*first = list->next = list->prev = number;
		return;
	}
	list->next = *first;
	list->prev = probation->lists[*first].prev;
	probation->lists[list->prev].next = number;
	probation->lists[*first].prev = number;
}

/* Counts change by one, so the largest does too. Empty lists are at no level. */
static void
level_change(struct lull_flow_probation *probation, uint32_t number, bool more)
{
	struct probation_list *list = &probation->lists[number];

	if (list->count > 0)
		level_take(probation, number);
	list->count += more ? 1 : UINT32_MAX;
	probation->count += more ? 1 : UINT32_MAX;
	if (list->count > 0)
		level_put(probation, number);
	if (list->count > probation->most)
		probation->most = list->count;
	else if (probation->levels[probation->most] == LULL_WHEEL_NONE)
		probation->most = list->count;
}

/* ---- entries ---- */

/* The shorter of the two lists of the source's prefix. */
static uint32_t
probation_choose(const struct lull_flow_probation *probation, const struct lull_flow_packet *packet)
{
	const uint64_t *prefix = probation->prefixes[packet->key.version == 6];
	uint64_t words[2], mixed;
	uint32_t first, second;

	memcpy(words, packet->key.addr[packet->direction], sizeof(words));
	mixed = ((words[0] & prefix[0]) ^ probation->seed) * 0x9e3779b97f4a7c15u;
	mixed ^= mixed >> 29;
	mixed = (mixed ^ (words[1] & prefix[1])) * 0xbf58476d1ce4e5b9u;
	mixed ^= mixed >> 32;
	mixed *= 0x94d049bb133111ebu;
	first = (uint32_t)(mixed >> 48) & probation->mask;
	second = (uint32_t)(mixed >> 32) & probation->mask;
	return probation->lists[second].count < probation->lists[first].count ? second : first;
}

static void
list_append(struct lull_flow_probation *probation, struct probation_list *list, uint32_t index)
{
	struct probation_place *place = &probation->places[index];

	place->next = LULL_WHEEL_NONE;
	place->prev = list->tail;
	if (list->tail == LULL_WHEEL_NONE)
		list->head = index;
	else
		probation->places[list->tail].next = index;
	list->tail = index;
}

static void
list_take(struct lull_flow_probation *probation, struct probation_list *list, uint32_t index)
{
	const struct probation_place *place = &probation->places[index];

	if (place->prev == LULL_WHEEL_NONE)
		list->head = place->next;
	else
		probation->places[place->prev].next = place->next;
	if (place->next == LULL_WHEEL_NONE)
		list->tail = place->prev;
	else
		probation->places[place->next].prev = place->prev;
}

void
lull_flow_probation_enter(struct lull_flow_probation *probation, uint32_t index,
			  const struct lull_flow_packet *packet)
{
	uint32_t number = probation_choose(probation, packet);

	probation->places[index].list = number;
	list_append(probation, &probation->lists[number], index);
	level_change(probation, number, true);
}

void
lull_flow_probation_touch(struct lull_flow_probation *probation, uint32_t index)
{
	struct probation_list *list = &probation->lists[probation->places[index].list];

	if (list->tail == index)
		return;
	list_take(probation, list, index);
	list_append(probation, list, index);
}

void
lull_flow_probation_leave(struct lull_flow_probation *probation, uint32_t index)
{
	uint32_t number = probation->places[index].list;

	list_take(probation, &probation->lists[number], index);
	level_change(probation, number, false);
}

uint32_t
lull_flow_probation_victim(const struct lull_flow_probation *probation)
{
	if (probation->count <= probation->reserve)
		return LULL_WHEEL_NONE;
	return probation->lists[probation->levels[probation->most]].head;
}

/* ---- sampling ---- */

/* What went in the last window tells the rate of this one. */
static void
probation_window(struct lull_flow_probation *probation, uint64_t clock_ns)
{
	if (clock_ns >= probation->window_end_ns + WINDOW_NS)
		probation->gone = 0; /* nothing went in the window before */
	probation->shift = 0;
	while (probation->shift < SHIFT_MAX &&
	       probation->gone >> probation->shift > probation->quota)
		probation->shift++;
	probation->gone = 0;
	probation->kept = 0;
	probation->window_end_ns = clock_ns - clock_ns % WINDOW_NS + WINDOW_NS;
}

bool
lull_flow_probation_keeps(struct lull_flow_probation *probation, uint32_t digest, uint64_t clock_ns,
			  uint8_t *shift)
{
	bool keeps;

	*shift = 0;
	if (probation->quota == 0)
		return true;
	if (clock_ns >= probation->window_end_ns)
		probation_window(probation, clock_ns);
	/* More than the window before: do not wait for its end. */
	if (probation->kept >= 2 * probation->quota && probation->shift < SHIFT_MAX) {
		probation->kept = 0;
		probation->shift++;
	}
	*shift = probation->shift;
	keeps = (uint64_t)digest * 0x9e3779b97f4a7c15u >> 32 >> (32 - probation->shift) == 0;
	probation->gone++;
	probation->kept += keeps;
	return keeps;
}
