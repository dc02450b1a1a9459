/* SPDX-License-Identifier: BSD-3-Clause */
#include "protocol.h"

static struct bundle_link *
list_link(struct bundle_chainer chainer, uint32_t entry)
{
	return (struct bundle_link *)(void *)((char *)chainer.entries + chainer.size * entry +
					      chainer.at);
}

void
bundle_list_init(struct bundle_list *list)
{
	list->first = list->last = NONE;
}

void
bundle_list_push(struct bundle_list *list, struct bundle_chainer chainer, uint32_t entry)
{
	*list_link(chainer, entry) = (struct bundle_link){ .next = NONE, .previous = list->last };
	if (list->last == NONE)
		list->first = entry;
	else
		list_link(chainer, list->last)->next = entry;
	list->last = entry;
}

void
bundle_list_push_front(struct bundle_list *list, struct bundle_chainer chainer, uint32_t entry)
{
	*list_link(chainer, entry) = (struct bundle_link){ .next = list->first, .previous = NONE };
	if (list->first == NONE)
		list->last = entry;
	else
		list_link(chainer, list->first)->previous = entry;
	list->first = entry;
}

void
bundle_list_remove(struct bundle_list *list, struct bundle_chainer chainer, uint32_t entry)
{
	const struct bundle_link *link = list_link(chainer, entry);

	if (link->previous == NONE)
		list->first = link->next;
	else
		list_link(chainer, link->previous)->next = link->next;
	if (link->next == NONE)
		list->last = link->previous;
	else
		list_link(chainer, link->next)->previous = link->previous;
}

uint32_t
bundle_list_pop(struct bundle_list *list, struct bundle_chainer chainer)
{
	uint32_t entry = list->first;

	if (entry != NONE)
		bundle_list_remove(list, chainer, entry);
	return entry;
}

void
bundle_bits_init(struct bundle_store *store, struct bundle_bits *bits, uint32_t piece_count)
{
	*bits = (struct bundle_bits){ .block = NONE };
	if (piece_count <= 64 || store->block_count == 0)
		return;
	bits->block = store->block_free[--store->block_count];
	memset(store->blocks + (size_t)bits->block * (BUNDLE_BITS_LARGE / 64), 0,
	       BUNDLE_BITS_LARGE / 8);
}

void
bundle_bits_fini(struct bundle_store *store, struct bundle_bits *bits)
{
	if (bits->block != NONE)
		store->block_free[store->block_count++] = bits->block;
	bits->block = NONE;
}
