/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that name a tag in full stand in a hash table by source and tag, those from any source
 * by any and tag; receives that ignore bits stand in a list. A message looks at two chains and
 * this list, and the receive that was posted first decides, as in pml/ob1 of Open MPI and in UCX.
 * Messages all stand in a hash table by source and tag, and in one list in their order, for
 * receives that name less.
 *
 * A chain keeps the order of its entries, so its first one of a key is the oldest of this key.
 */
#include "match.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"

#define MATCH_NONE UINT32_MAX

struct match_list {
	uint32_t first, last;
};

/* An entry stands in two lists at once. */
enum match_link {
	MATCH_CHAIN, /* of its key, or of receives that ignore bits */
	MATCH_ALL,
	MATCH_LINKS
};
struct match_node {
	uint64_t order;
	uint32_t next[MATCH_LINKS], previous[MATCH_LINKS];
	struct match_list *chain;
};

/* Receives or messages: nodes, and the lists they stand in. */
struct match_side {
	struct match_node *nodes;
	struct match_list *chains;
	struct match_list all, loose; /* loose: receives that ignore bits */
	uint64_t order;
	uint32_t chain_mask;
	uint32_t free; /* the first; next[MATCH_ALL] is the next */
	uint32_t count;
};

struct lull_match {
	struct match_side receives, messages;
	struct lull_match_receive *receive;
	struct lull_match_message *message;
};

/* A power of two, at least one chain for each entry. */
static uint32_t
match_chain_count(uint32_t max)
{
	uint32_t count = 1;

	while (count < max && count < 1u << 31)
		count *= 2;
	return count;
}

static size_t
match_side_size(uint32_t max)
{
	return max * sizeof(struct match_node) + match_chain_count(max) * sizeof(struct match_list);
}

size_t
lull_match_size(uint32_t receives_max, uint32_t messages_max)
{
	return sizeof(struct lull_match) + match_side_size(receives_max) +
	       match_side_size(messages_max) + receives_max * sizeof(struct lull_match_receive) +
	       messages_max * sizeof(struct lull_match_message);
}

/* Returns what is behind it in memory. */
static uint8_t *
match_side_init(struct match_side *side, uint8_t *memory, uint32_t max)
{
	uint32_t chain_count = match_chain_count(max);

	memset(side, 0, sizeof(*side));
	side->nodes = (struct match_node *)memory;
	side->chains = (struct match_list *)(side->nodes + max);
	side->chain_mask = chain_count - 1;
	side->all = side->loose = (struct match_list){ MATCH_NONE, MATCH_NONE };
	side->free = max > 0 ? 0 : MATCH_NONE;
	for (uint32_t i = 0; i < chain_count; i++)
		side->chains[i] = side->all;
	for (uint32_t i = 0; i < max; i++)
		side->nodes[i].next[MATCH_ALL] = i + 1 < max ? i + 1 : MATCH_NONE;
	return (uint8_t *)(side->chains + chain_count);
}

void
lull_match_init(struct lull_match *match, uint32_t receives_max, uint32_t messages_max)
{
	uint8_t *memory = (uint8_t *)(match + 1);

	memory = match_side_init(&match->receives, memory, receives_max);
	memory = match_side_init(&match->messages, memory, messages_max);
	match->receive = (struct lull_match_receive *)memory;
	match->message = (struct lull_match_message *)(match->receive + receives_max);
}

/* ---- lists ---- */

static struct match_list *
match_chain(const struct match_side *side, uint32_t source, uint64_t tag)
{
	/* Two odd numbers far apart; the high half of a product is well mixed. */
	uint64_t hash = (tag ^ source * 0xff51afd7ed558ccdULL) * 0x9e3779b97f4a7c15ULL;

	return &side->chains[(uint32_t)(hash >> 32) & side->chain_mask];
}

static void
match_append(struct match_side *side, struct match_list *list, enum match_link link, uint32_t index)
{
	struct match_node *node = &side->nodes[index];

	node->next[link] = MATCH_NONE;
	node->previous[link] = list->last;
	if (list->last == MATCH_NONE)
		list->first = index;
	else
		side->nodes[list->last].next[link] = index;
	list->last = index;
}

static void
match_unlink(struct match_side *side, struct match_list *list, enum match_link link, uint32_t index)
{
	struct match_node *node = &side->nodes[index];

	if (node->previous[link] == MATCH_NONE)
		list->first = node->next[link];
	else
		side->nodes[node->previous[link]].next[link] = node->next[link];
	if (node->next[link] == MATCH_NONE)
		list->last = node->previous[link];
	else
		side->nodes[node->next[link]].previous[link] = node->previous[link];
}

/* The place of a new entry; MATCH_NONE: there is no room. */
static uint32_t
match_add(struct match_side *side, struct match_list *chain)
{
	uint32_t index = side->free;

	if (index == MATCH_NONE)
		return MATCH_NONE;
	side->free = side->nodes[index].next[MATCH_ALL];
	side->nodes[index].order = side->order++;
	side->nodes[index].chain = chain;
	match_append(side, chain, MATCH_CHAIN, index);
	match_append(side, &side->all, MATCH_ALL, index);
	side->count++;
	return index;
}

static void
match_remove(struct match_side *side, uint32_t index)
{
	match_unlink(side, side->nodes[index].chain, MATCH_CHAIN, index);
	match_unlink(side, &side->all, MATCH_ALL, index);
	side->nodes[index].next[MATCH_ALL] = side->free;
	side->free = index;
	side->count--;
}

/* ---- who matches ---- */

static bool
match_fits(const struct lull_match_receive *receive, uint32_t source, uint64_t tag)
{
	return (receive->source == LULL_MATCH_ANY || receive->source == source) &&
	       ((receive->tag ^ tag) & ~receive->ignore) == 0;
}

/* The first receive in a list that a message matches; MATCH_NONE: none does. */
static uint32_t
match_receive_in(const struct lull_match *match, const struct match_list *list, uint32_t source,
		 uint64_t tag)
{
	uint32_t index = list->first;

	while (index != MATCH_NONE && !match_fits(&match->receive[index], source, tag))
		index = match->receives.nodes[index].next[MATCH_CHAIN];
	return index;
}

static uint32_t
match_receive_find(struct lull_match *match, uint32_t source, uint64_t tag)
{
	const struct match_list *lists[] = { match_chain(&match->receives, source, tag),
					     match_chain(&match->receives, LULL_MATCH_ANY, tag),
					     &match->receives.loose };
	uint32_t first = MATCH_NONE;

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t index = match_receive_in(match, lists[i], source, tag);

		if (index != MATCH_NONE &&
		    (first == MATCH_NONE ||
		     match->receives.nodes[index].order < match->receives.nodes[first].order))
			first = index;
	}
	return first;
}

static uint32_t
match_message_find(const struct lull_match *match, const struct lull_match_receive *receive)
{
	const struct match_side *messages = &match->messages;
	bool exact = receive->source != LULL_MATCH_ANY && receive->ignore == 0;
	enum match_link link = exact ? MATCH_CHAIN : MATCH_ALL;
	uint32_t index = messages->all.first;

	if (exact)
		index = match_chain(messages, receive->source, receive->tag)->first;
	while (index != MATCH_NONE &&
	       !match_fits(receive, match->message[index].source, match->message[index].tag))
		index = messages->nodes[index].next[link];
	return index;
}

/* ---- calls ---- */

/* Take an entry out; false: there is none. */
static bool
match_take_receive(struct lull_match *match, uint32_t index, struct lull_match_receive *receive)
{
	if (index == MATCH_NONE)
		return false;
	*receive = match->receive[index];
	match_remove(&match->receives, index);
	return true;
}

static bool
match_take_message(struct lull_match *match, uint32_t index, struct lull_match_message *message)
{
	if (index == MATCH_NONE)
		return false;
	*message = match->message[index];
	match_remove(&match->messages, index);
	return true;
}

int
lull_match_post(struct lull_match *match, const struct lull_match_receive *receive,
		struct lull_match_message *message)
{
	struct match_list *chain = &match->receives.loose;
	uint32_t index;

	if (match_take_message(match, match_message_find(match, receive), message))
		return 1;
	if (receive->ignore == 0)
		chain = match_chain(&match->receives, receive->source, receive->tag);
	index = match_add(&match->receives, chain);
	if (index == MATCH_NONE)
		return -ENOBUFS;
	match->receive[index] = *receive;
	return 0;
}

int
lull_match_arrive(struct lull_match *match, const struct lull_match_message *message,
		  struct lull_match_receive *receive)
{
	uint32_t index;

	LULL_ASSERT_HOT(message->source != LULL_MATCH_ANY);
	index = match_receive_find(match, message->source, message->tag);
	if (match_take_receive(match, index, receive))
		return 1;
	index = match_add(&match->messages,
			  match_chain(&match->messages, message->source, message->tag));
	if (index == MATCH_NONE)
		return -ENOBUFS;
	match->message[index] = *message;
	return 0;
}

bool
lull_match_peek(const struct lull_match *match, uint32_t source, uint64_t tag, uint64_t ignore,
		struct lull_match_message *message)
{
	struct lull_match_receive receive = { .source = source, .tag = tag, .ignore = ignore };
	uint32_t index = match_message_find(match, &receive);

	if (index != MATCH_NONE)
		*message = match->message[index];
	return index != MATCH_NONE;
}

bool
lull_match_claim(struct lull_match *match, uint32_t source, uint64_t tag, uint64_t ignore,
		 struct lull_match_message *message)
{
	struct lull_match_receive receive = { .source = source, .tag = tag, .ignore = ignore };

	return match_take_message(match, match_message_find(match, &receive), message);
}

bool
lull_match_cancel(struct lull_match *match, const void *context, struct lull_match_receive *receive)
{
	uint32_t index = match->receives.all.first;

	while (index != MATCH_NONE && match->receive[index].context != context)
		index = match->receives.nodes[index].next[MATCH_ALL];
	return match_take_receive(match, index, receive);
}

bool
lull_match_drop_receive(struct lull_match *match, uint32_t source,
			struct lull_match_receive *receive)
{
	uint32_t index = match->receives.all.first;

	if (source == LULL_MATCH_ANY)
		return false;
	while (index != MATCH_NONE && match->receive[index].source != source)
		index = match->receives.nodes[index].next[MATCH_ALL];
	return match_take_receive(match, index, receive);
}

bool
lull_match_drop_message(struct lull_match *match, uint32_t source,
			struct lull_match_message *message)
{
	uint32_t index = match->messages.all.first;

	while (index != MATCH_NONE && match->message[index].source != source)
		index = match->messages.nodes[index].next[MATCH_ALL];
	return match_take_message(match, index, message);
}

uint32_t
lull_match_receives(const struct lull_match *match)
{
	return match->receives.count;
}

uint32_t
lull_match_messages(const struct lull_match *match)
{
	return match->messages.count;
}
