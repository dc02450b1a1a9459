/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Outgoing: messages we send. outgoing.c has their life, outgoing_tx.c writes their packets.
 *
 * One is *fresh* until its head has gone, then in *bulk* while it has pieces to send, or it *waits*
 * for a record. What was lost goes first, wherever its message stands.
 */
#ifndef LULL_BUNDLE_OUTGOING_H
#define LULL_BUNDLE_OUTGOING_H

#include "protocol.h"

static inline uint32_t *
out_chain(const struct lull_bundle *bundle, struct bundle_store *store, uint32_t number)
{
	return &store->out_chains[number & (bundle->config.messages_max - 1)];
}

static inline uint32_t
out_index(const struct bundle_store *store, const struct bundle_outgoing *message)
{
	return (uint32_t)(message - store->out);
}

static inline uint32_t
out_eager(const struct bundle_outgoing *message)
{
	return LULL_MIN(message->piece_count, BUNDLE_EAGER_PIECES);
}

static inline uint32_t
out_end(const struct bundle_outgoing *message)
{
	return LULL_MIN(message->end_piece, message->base + bundle_bits_size(&message->acked));
}

static inline uint32_t
out_fresh_pieces(const struct bundle_outgoing *message)
{
	uint32_t end = out_end(message);

	return end > message->next_piece ? end - message->next_piece : 0;
}

/* Packets that it could fill, about. */
static inline uint32_t
out_ready(const struct bundle_outgoing *message)
{
	if (message->state == SENDING_FRESH)
		return out_eager(message);
	if (message->state != SENDING_OPEN)
		return 0;
	return out_fresh_pieces(message) + message->lost_count + message->head_lost;
}

/** The list a message that is open belongs to. */
void out_sort(struct lull_bundle *bundle, struct bundle_store *store,
	      struct bundle_outgoing *message);

#endif
