/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces that have no buffer yet: their message is not accepted, or its head has not come. */
#include "protocol.h"

uint8_t *
bundle_chunk_bytes(const struct lull_bundle *bundle, const struct bundle_store *store,
		   uint32_t chunk)
{
	return store->chunk_bytes + (size_t)chunk * bundle->config.piece_bytes_max;
}

bool
bundle_chunk_keep(const struct lull_bundle *bundle, struct bundle_store *store,
		  struct bundle_incoming *message, uint32_t piece, const uint8_t *bytes,
		  uint32_t count)
{
	uint32_t at = store->chunk_free;

	if (at == NONE || piece >= BUNDLE_EAGER_PIECES)
		return false;
	store->chunk_free = store->chunks[at].next;
	store->chunk_count--;
	store->chunks[at] = (struct bundle_chunk){ .next = message->chunks,
						   .piece = piece,
						   .len_bytes = count };
	message->chunks = at;
	if (count > 0)
		memcpy(bundle_chunk_bytes(bundle, store, at), bytes, count);
	return true;
}

void
bundle_chunks_free(struct bundle_store *store, struct bundle_incoming *message)
{
	uint32_t at, next;

	for (at = message->chunks; at != NONE; at = next) {
		next = store->chunks[at].next;
		store->chunks[at].next = store->chunk_free;
		store->chunk_free = at;
		store->chunk_count++;
	}
	message->chunks = NONE;
}
