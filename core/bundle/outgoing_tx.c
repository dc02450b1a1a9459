/* SPDX-License-Identifier: BSD-3-Clause */
#include "outgoing.h"

#define BULK_MAX 4 /* large messages that begin with pieces nobody has accepted */

/* ---- choosing what is sent next ---- */

/* Does the receiver have a place for one more head, and for what may wait with it? */
static bool
out_may_open(const struct bundle_store *store)
{
	return store->out_open < store->out_limit &&
	       (store->heads.first == NONE ||
		store->out_number - store->out[store->heads.first].number < store->out_limit);
}

static struct bundle_outgoing *
out_again(struct bundle_slot *slot, const struct bundle_path *path)
{
	struct bundle_store *store = slot->store;
	uint32_t own = bundle_path_index(slot, path);
	bool other = false;

	for (uint32_t i = 0; i < store->path_count; i++)
		other = other || (i != own && bundle_path_carries(&store->paths[i]));
	for (uint32_t at = store->again.first; at != NONE; at = store->out[at].again.next) {
		if (!other || store->out[at].lost_path != own)
			return &store->out[at];
	}
	return NULL;
}

static struct bundle_outgoing *
out_next(struct bundle_store *store)
{
	uint32_t fresh = store->work[WORK_FRESH].first, bulk = store->work[WORK_BULK].first;

	if (fresh != NONE && !out_may_open(store))
		fresh = NONE;
	if (fresh == NONE && bulk == NONE)
		return NULL;
	if (fresh == NONE || (bulk != NONE && store->bulk_turn))
		return &store->out[bulk];
	return &store->out[fresh];
}

bool
bundle_out_view(struct bundle_slot *slot, const struct bundle_path *path,
		struct bundle_spread_view *view)
{
	struct bundle_store *store = slot->store;
	const struct bundle_outgoing *message = out_again(slot, path);

	view->waiting_pkts = store->sendable;
	view->resend = message != NULL;
	view->not_path = LULL_BUNDLE_ANY; /* what this path lost is not shown to it */
	if (message == NULL)
		message = out_next(store);
	if (message == NULL)
		return false;
	view->message_pkts = message->piece_count;
	return true;
}

/* ---- writing a packet ---- */

/* Its head goes: it has a number, and the first pieces are charged to the grant. */
static void
out_open(struct lull_bundle *bundle, struct bundle_store *store, struct bundle_outgoing *message)
{
	uint32_t eager = out_eager(message), *chain;
	bool crowd = message->piece_count > BUNDLE_EAGER_PIECES && store->bulk_count >= BULK_MAX;

	if (crowd || store->grant - store->charged < eager)
		eager = 0;
	message->number = store->out_number++;
	store->out_open++;
	chain = out_chain(bundle, store, message->number);
	message->chain = *chain;
	*chain = out_index(store, message);
	message->state = SENDING_OPEN;
	message->eager = message->end_piece = eager;
	store->charged += eager;
	bundle_bits_init(store, &message->acked, message->piece_count);
	bundle_bits_init(store, &message->lost, message->piece_count);
	if (message->lost.block == NONE) /* both have the same size */
		bundle_bits_fini(store, &message->acked);
	else if (message->acked.block == NONE)
		bundle_bits_fini(store, &message->lost);
	message->head_lost = true; /* it has to be sent */
	bundle_list_push(&store->heads, BUNDLE_OUT(store, heads), out_index(store, message));
}

static uint32_t
out_lost_piece(struct bundle_store *store, struct bundle_outgoing *message)
{
	uint32_t piece = message->base;

	while (piece < message->next_piece && !bundle_bits_get(store, &message->lost, piece))
		piece++;
	return piece;
}

/* The pieces of the next packet: *piece on, 0 for a head alone. */
static uint32_t
out_pieces(struct bundle_store *store, struct bundle_outgoing *message, uint32_t room,
	   uint32_t *piece)
{
	uint32_t count = 0, end;

	*piece = message->next_piece;
	if (message->head_lost) {
		*piece = 0;
		if (message->eager == 0 || message->head_acked)
			return 0;
		if (message->next_piece > 0)
			return bundle_bits_get(store, &message->acked, 0) || message->base > 0 ? 0 :
												 1;
		return LULL_MIN(room, out_end(message));
	}
	if (message->lost_count > 0) {
		*piece = out_lost_piece(store, message);
		while (count < room && *piece + count < message->next_piece &&
		       bundle_bits_get(store, &message->lost, *piece + count))
			count++;
		return count;
	}
	end = out_end(message);
	return LULL_MIN(room, end - message->next_piece);
}

static void
out_taken(struct bundle_store *store, struct bundle_outgoing *message, uint32_t piece,
	  uint32_t count)
{
	for (uint32_t i = piece; i < piece + count; i++) {
		if (i >= message->base && i < message->next_piece &&
		    bundle_bits_get(store, &message->lost, i)) {
			bundle_bits_clear(store, &message->lost, i);
			message->lost_count--;
		}
	}
	message->next_piece = LULL_MAX(message->next_piece, piece + count);
}

/* Endpoints take turns, a quantum each. */
static void
out_turn(struct bundle_store *store, const struct bundle_outgoing *message)
{
	uint32_t first = store->work[WORK_BULK].first;

	store->bulk_turn = message->work_list != WORK_BULK;
	if (message->work_list != WORK_BULK || ++store->bulk_pkts < LULL_BUNDLE_QUANTUM_PKTS)
		return;
	store->bulk_pkts = 0;
	for (uint32_t at = store->out[first].work.next; at != NONE; at = store->out[at].work.next) {
		if (store->out[at].from == store->out[first].from)
			continue;
		bundle_list_remove(&store->work[WORK_BULK], BUNDLE_OUT(store, work), at);
		bundle_list_push_front(&store->work[WORK_BULK], BUNDLE_OUT(store, work), at);
		bundle_list_remove(&store->work[WORK_BULK], BUNDLE_OUT(store, work), first);
		bundle_list_push(&store->work[WORK_BULK], BUNDLE_OUT(store, work), first);
		return;
	}
}

static uint32_t
out_write(const struct bundle_slot *slot, const struct bundle_outgoing *message, bool head,
	  uint32_t piece, uint32_t count, uint8_t *body)
{
	uint64_t offset = bundle_piece_offset(slot->piece_bytes, piece), bytes = 0;
	const struct bundle_head written = {
		.len_bytes = message->len_bytes,
		.tag = message->tag,
		.user = message->user,
		.eager_pieces = message->eager,
		.from = message->from,
		.to = message->to,
		.matched = message->matched,
	};

	if (head) {
		bundle_head_write(&written, body);
		body += BUNDLE_HEAD_BYTES;
	}
	if (count > 0)
		bytes = bundle_piece_bytes(slot->piece_bytes, message->len_bytes, piece, count);
	if (bytes > 0)
		memcpy(body, message->data + offset, bytes);
	return (uint32_t)bytes + (head ? BUNDLE_HEAD_BYTES : 0);
}

uint32_t
bundle_out_tx(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	      struct bundle_header *header, uint8_t *body, uint32_t room_bytes,
	      struct bundle_flight *flight)
{
	struct bundle_store *store = slot->store;
	struct bundle_outgoing *message = out_again(slot, path);
	uint32_t piece, count, bytes;
	bool head, fresh = false;

	if (message == NULL) {
		message = out_next(store);
		fresh = message != NULL && message->state == SENDING_FRESH;
	}
	if (message == NULL)
		return 0;
	store->sendable -= out_ready(message);
	if (fresh)
		out_open(bundle, store, message);
	head = message->head_lost;
	count = out_pieces(store, message, room_bytes / slot->piece_bytes, &piece);
	if (!fresh && (message->lost_count > 0 || head)) {
		header->flags |= BUNDLE_FLAG_RESENT;
		LULL_COUNTER_ADD(path->counters.resent_pkts, 1);
	}
	header->flags |= head ? BUNDLE_FLAG_HEAD : 0;
	header->msg = message->number;
	header->off = (uint32_t)(bundle_piece_offset(slot->piece_bytes, piece) / 8);
	bytes = out_write(slot, message, head, piece, count, body);
	message->head_lost = false;
	flight->number = message->number;
	flight->piece = piece;
	flight->pieces = (uint16_t)count;
	flight->head = head;
	out_taken(store, message, piece, count);
	LULL_COUNTER_ADD(path->counters.offered_bytes, bytes - (head ? BUNDLE_HEAD_BYTES : 0));
	out_turn(store, message);
	out_sort(bundle, store, message);
	store->sendable += out_ready(message);
	return bytes;
}
