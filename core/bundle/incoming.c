/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages we receive. Heads are handed up by number; every number below in_next has had its turn,
 * so one that is not in the table any more is finished. Pieces without a buffer are kept in chunks.
 */
#include <errno.h>

#include "protocol.h"

/* ---- the table of messages by number ---- */

static uint32_t *
in_chain(const struct lull_bundle *bundle, struct bundle_store *store, uint32_t number)
{
	return &store->in_chains[number & (bundle->config.messages_max - 1)];
}

static struct bundle_incoming *
in_find(const struct lull_bundle *bundle, struct bundle_store *store, uint32_t number)
{
	uint32_t at = *in_chain(bundle, store, number);

	while (at != NONE && store->in[at].number != number)
		at = store->in[at].chain;
	return at == NONE ? NULL : &store->in[at];
}

static uint32_t
in_index(const struct bundle_store *store, const struct bundle_incoming *message)
{
	return (uint32_t)(message - store->in);
}

static uint32_t
in_entries(const struct lull_bundle *bundle)
{
	return bundle->config.messages_max + bundle->config.unexpected_pieces;
}

void
bundle_in_init(struct lull_bundle *bundle, struct bundle_store *store)
{
	uint32_t chunks = bundle->config.unexpected_pieces;

	bundle_list_init(&store->in_free);
	bundle_list_init(&store->in_events);
	for (uint32_t i = 0; i < bundle->config.messages_max; i++)
		store->in_chains[i] = NONE;
	for (uint32_t i = 0; i < in_entries(bundle); i++) {
		store->in[i].state = RECEIVING_FREE;
		bundle_list_push(&store->in_free, BUNDLE_IN(store), i);
	}
	for (uint32_t i = 0; i < chunks; i++)
		store->chunks[i].next = i + 1 < chunks ? i + 1 : NONE;
	store->chunk_free = 0;
	store->chunk_count = chunks;
}

static struct bundle_incoming *
in_new(const struct lull_bundle *bundle, struct bundle_store *store, uint32_t number)
{
	uint32_t at = bundle_list_pop(&store->in_free, BUNDLE_IN(store)), *chain;
	struct bundle_incoming *message;

	if (at == NONE)
		return NULL;
	message = &store->in[at];
	chain = in_chain(bundle, store, number);
	*message = (struct bundle_incoming){ .number = number,
					     .chain = *chain,
					     .received.block = NONE,
					     .chunks = NONE,
					     .state = RECEIVING_PIECES };
	*chain = at;
	store->in_count++;
	store->in_partly++;
	return message;
}

static void
in_free(const struct lull_bundle *bundle, struct bundle_store *store,
	struct bundle_incoming *message)
{
	uint32_t *link = in_chain(bundle, store, message->number), own = in_index(store, message);

	while (*link != own)
		link = &store->in[*link].chain;
	*link = message->chain;
	bundle_bits_fini(store, &message->received);
	message->state = RECEIVING_FREE;
	bundle_list_push(&store->in_free, BUNDLE_IN(store), own);
	store->in_count--;
}

/* ---- how far a message is ---- */

static void
in_place(const struct bundle_slot *slot, const struct bundle_incoming *message, uint32_t piece,
	 const uint8_t *bytes, uint32_t count)
{
	uint64_t offset = bundle_piece_offset(slot->piece_bytes, piece);

	if (offset < message->size_bytes)
		memcpy(message->buffer + offset, bytes,
		       LULL_MIN(count, message->size_bytes - offset));
}

uint32_t
bundle_in_grant(const struct lull_bundle *bundle, const struct bundle_store *store)
{
	return bundle->config.unexpected_pieces + store->released;
}

/* Whole, as far as its buffer or the eager pieces go. */
static bool
in_has_all(const struct bundle_incoming *message)
{
	if (!message->head_here)
		return false;
	if (message->state == RECEIVING_WAITS)
		return message->base >= message->head.eager_pieces;
	return message->base >= message->needed_count;
}

static bool
in_partly(const struct bundle_incoming *message)
{
	return message->state == RECEIVING_PIECES ||
	       ((message->state == RECEIVING_WAITS || message->state == RECEIVING_ACCEPTED) &&
		!in_has_all(message));
}

/* The sender may go on: an equal share of what may be open, for those under way. */
static void
in_allow(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_incoming *message)
{
	struct bundle_store *store = slot->store;
	uint32_t window = bundle_bits_size(&message->received);
	uint32_t ahead = LULL_CLAMP(BUNDLE_BITS_LARGE / LULL_MAX(store->in_accepted, 1),
				    BUNDLE_EAGER_PIECES, window);
	uint32_t end = LULL_MIN(message->base + ahead, message->needed_count);

	if (end <= message->granted ||
	    (end < message->needed_count && end - message->granted < ahead / 4))
		return;
	message->granted = end;
	bundle_record_say(bundle, slot,
			  (struct bundle_record){ .kind = BUNDLE_RECORD_GRANT,
						  .msg = message->number,
						  .end = end });
}

static void
in_done(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_incoming *message,
	int error)
{
	struct bundle_store *store = slot->store;

	message->state = RECEIVING_DONE;
	message->error = error;
	store->in_accepted--;
	if (error == 0 || error == -EMSGSIZE) {
		store->carried.received_messages++;
		store->carried.received_bytes +=
			LULL_MIN(message->head.len_bytes, message->size_bytes);
	}
	if (message->needed_count < message->piece_count)
		bundle_record_say(bundle, slot,
				  (struct bundle_record){ .kind = BUNDLE_RECORD_DONE,
							  .msg = message->number });
	bundle_list_push(&store->in_events, BUNDLE_IN(store), in_index(store, message));
}

/* ---- heads ---- */

static void
in_hand_up(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	struct bundle_store *store = slot->store;
	struct bundle_incoming *message;

	while ((message = in_find(bundle, store, store->in_next)) != NULL && message->head_here) {
		bundle_list_push(&store->in_events, BUNDLE_IN(store), in_index(store, message));
		store->in_next++;
	}
}

/* The head of a message that has one already: its sender asks for a record. */
static void
in_asked(struct lull_bundle *bundle, struct bundle_slot *slot,
	 const struct bundle_incoming *message)
{
	struct bundle_record record = { .kind = BUNDLE_RECORD_GRANT,
					.msg = message->number,
					.end = message->granted };

	if (message->state == RECEIVING_DONE && message->needed_count < message->piece_count)
		record = (struct bundle_record){ .kind = BUNDLE_RECORD_DONE,
						 .msg = message->number };
	if (message->state == RECEIVING_ACCEPTED || message->state == RECEIVING_DONE)
		bundle_record_say(bundle, slot, record);
}

static bool
in_head(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_incoming *message,
	const struct bundle_head *head)
{
	uint32_t pieces = bundle_piece_count(slot->piece_bytes, head->len_bytes);
	uint64_t own = message->received.own;

	if (message->head_here) {
		in_asked(bundle, slot, message);
		return true;
	}
	if (head->eager_pieces > LULL_MIN(pieces, BUNDLE_EAGER_PIECES) ||
	    (pieces < 64 && own >> pieces != 0) || message->base > pieces) {
		LULL_COUNTER_ADD(bundle->counters.bad_head, 1);
		return false;
	}
	message->head = *head;
	message->head_here = true;
	message->piece_count = message->needed_count = pieces;
	message->granted = head->eager_pieces;
	bundle_bits_init(slot->store, &message->received, pieces);
	message->received.own = own;
	if (message->received.block != NONE)
		*bundle_bits_word(slot->store, &message->received, 0) = own;
	message->state = RECEIVING_WAITS;
	return true;
}

/* A message that is over: what comes of it was sent before its sender knew. */
static void
in_old(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
       const struct bundle_header *header)
{
	struct bundle_record record = { .kind = BUNDLE_RECORD_DONE, .msg = header->msg };

	LULL_COUNTER_ADD(path->counters.duplicate_pkts, 1);
	if ((header->flags & BUNDLE_FLAG_HEAD) == 0)
		return;
	if (bundle_refused_is(bundle, slot->store, header->msg))
		record.reason = BUNDLE_REASON_REFUSED;
	bundle_record_say(bundle, slot, record);
}

/* ---- pieces ---- */

enum in_fate { IN_REFUSED, IN_DOUBLE, IN_TAKEN };

static enum in_fate
in_piece(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_incoming *message,
	 uint32_t piece, const uint8_t *bytes, uint32_t count)
{
	struct bundle_store *store = slot->store;

	if (message->state == RECEIVING_DONE || piece < message->base)
		return IN_DOUBLE;
	if (piece >= message->base + bundle_bits_size(&message->received) ||
	    (message->head_here && piece >= message->piece_count))
		return IN_REFUSED;
	if (message->head_here &&
	    count != bundle_piece_bytes(slot->piece_bytes, message->head.len_bytes, piece, 1))
		return IN_REFUSED;
	if (bundle_bits_get(store, &message->received, piece))
		return IN_DOUBLE;
	if (message->state == RECEIVING_ACCEPTED)
		in_place(slot, message, piece, bytes, count);
	else if (!bundle_chunk_keep(bundle, store, message, piece, bytes, count))
		return IN_REFUSED;
	bundle_bits_set(store, &message->received, piece);
	/* The first 64 of a message without a head do not move: nobody knows yet how many come. */
	while (message->head_here && bundle_bits_get(store, &message->received, message->base)) {
		bundle_bits_clear(store, &message->received, message->base);
		message->base++;
	}
	return IN_TAKEN;
}

static bool
in_pieces(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	  struct bundle_incoming *message, uint64_t offset, const uint8_t *bytes, uint32_t count)
{
	uint32_t size = slot->piece_bytes, piece, first, doubles = 0, taken = 0;

	if (offset > 0 && (offset + BUNDLE_HEAD_BYTES) % size != 0)
		return false;
	piece = first = offset == 0 ? 0 : (uint32_t)((offset + BUNDLE_HEAD_BYTES) / size);
	do {
		uint32_t room = piece == 0 ? size - BUNDLE_HEAD_BYTES : size;
		uint32_t part = LULL_MIN(count, room);
		enum in_fate fate = in_piece(bundle, slot, message, piece, bytes, part);

		if (fate == IN_REFUSED)
			return false;
		doubles += fate == IN_DOUBLE;
		taken += fate == IN_TAKEN;
		bytes += part;
		count -= part;
		piece++;
	} while (count > 0);
	if (doubles > 0 && taken == 0)
		LULL_COUNTER_ADD(path->counters.duplicate_pkts, 1);
	return true;
}

/* What came may have made it whole, or its sender may go on. */
static void
in_after(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_incoming *message,
	 bool was_partly)
{
	struct bundle_store *store = slot->store;

	if (message->head_here) {
		while (message->base < message->piece_count &&
		       bundle_bits_get(store, &message->received, message->base)) {
			bundle_bits_clear(store, &message->received, message->base);
			message->base++;
		}
	}
	if (message->state == RECEIVING_ACCEPTED) {
		if (in_has_all(message))
			in_done(bundle, slot, message,
				message->size_bytes < message->head.len_bytes ? -EMSGSIZE : 0);
		else if (message->granted < message->needed_count)
			in_allow(bundle, slot, message);
	}
	store->in_partly += in_partly(message);
	store->in_partly -= was_partly;
}

bool
bundle_in_rx(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	     const struct bundle_header *header, const uint8_t *body, uint32_t len_bytes)
{
	struct bundle_store *store = slot->store;
	struct bundle_incoming *message = in_find(bundle, store, header->msg);
	bool has_head = (header->flags & BUNDLE_FLAG_HEAD) != 0, fits = true, was_partly;
	struct bundle_head head;

	if (has_head && !bundle_head_read(&head, body, len_bytes)) {
		LULL_COUNTER_ADD(bundle->counters.bad_head, 1);
		return false;
	}
	if (message == NULL && bundle_before(header->msg, store->in_next)) {
		in_old(bundle, slot, path, header);
		return true;
	}
	if (message == NULL) {
		if (header->msg - store->in_next >= bundle->config.messages_max ||
		    (message = in_new(bundle, store, header->msg)) == NULL) {
			LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
			return false;
		}
	}
	was_partly = in_partly(message);
	if (has_head) {
		fits = in_head(bundle, slot, message, &head);
		body += BUNDLE_HEAD_BYTES;
		len_bytes -= BUNDLE_HEAD_BYTES;
	}
	/* A head alone has no piece; an empty message has one, which is empty. */
	if (fits && (len_bytes > 0 || !has_head || (head.len_bytes == 0 && head.eager_pieces > 0)))
		fits = in_pieces(bundle, slot, path, message, (uint64_t)header->off * 8, body,
				 len_bytes);
	if (!fits)
		LULL_COUNTER_ADD(bundle->counters.bad_range, 1);
	in_after(bundle, slot, message, was_partly);
	in_hand_up(bundle, slot);
	return fits;
}

/* ---- from and to the caller ---- */

static struct bundle_incoming *
in_waiting(struct lull_bundle *bundle, uint32_t peer, uint32_t handle, struct bundle_slot **slot)
{
	struct bundle_incoming *message;

	if (peer >= bundle->slot_count)
		return NULL;
	*slot = &bundle->slots[peer]; /* also one that has ended */
	if ((*slot)->state == PEER_FREE || (*slot)->store == NULL)
		return NULL;
	message = in_find(bundle, (*slot)->store, handle);
	return message != NULL && message->state == RECEIVING_WAITS && message->told ? message :
										       NULL;
}

int
lull_bundle_accept(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer, uint32_t handle,
		   void *buffer, uint64_t size_bytes, void *context)
{
	struct bundle_slot *slot;
	struct bundle_incoming *message = in_waiting(bundle, peer, handle, &slot);
	struct bundle_store *store;
	bool was_partly;

	if (message == NULL)
		return -ENOENT;
	bundle_time(bundle, now_ns);
	store = slot->store;
	was_partly = in_partly(message);
	message->buffer = buffer;
	message->size_bytes = LULL_MIN(size_bytes, message->head.len_bytes);
	message->context = context;
	message->state = RECEIVING_ACCEPTED;
	store->in_accepted++;
	if (message->size_bytes < message->head.len_bytes)
		message->needed_count =
			message->size_bytes == 0 ?
				0 :
				bundle_piece_count(slot->piece_bytes, message->size_bytes);
	for (uint32_t at = message->chunks; at != NONE; at = store->chunks[at].next)
		in_place(slot, message, store->chunks[at].piece,
			 bundle_chunk_bytes(bundle, store, at), store->chunks[at].len_bytes);
	bundle_chunks_free(store, message);
	store->released += message->head.eager_pieces;
	if (message->head.matched || message->head.eager_pieces == 0)
		bundle_record_say(bundle, slot,
				  (struct bundle_record){ .kind = BUNDLE_RECORD_GRANT,
							  .msg = handle,
							  .end = message->granted });
	in_after(bundle, slot, message, was_partly);
	if (slot->state == PEER_ENDED && message->state == RECEIVING_ACCEPTED)
		in_done(bundle, slot, message, -ECONNRESET); /* the rest of it never comes */
	bundle_slot_touch(slot);
	return 0;
}

int
lull_bundle_refuse(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer, uint32_t handle)
{
	struct bundle_slot *slot;
	struct bundle_incoming *message = in_waiting(bundle, peer, handle, &slot);

	if (message == NULL)
		return -ENOENT;
	bundle_time(bundle, now_ns);
	slot->store->in_partly -= in_partly(message);
	bundle_chunks_free(slot->store, message);
	slot->store->released += message->head.eager_pieces;
	bundle_record_say(bundle, slot,
			  (struct bundle_record){ .kind = BUNDLE_RECORD_DONE,
						  .reason = BUNDLE_REASON_REFUSED,
						  .msg = handle });
	bundle_refused_add(bundle, slot->store, handle);
	in_free(bundle, slot->store, message);
	bundle_slot_touch(slot);
	return 0;
}

void
bundle_in_end(struct lull_bundle *bundle, struct bundle_slot *slot, int error)
{
	struct bundle_store *store = slot->store;

	for (uint32_t i = 0; i < in_entries(bundle); i++) {
		if (store->in[i].state == RECEIVING_ACCEPTED)
			in_done(bundle, slot, &store->in[i], error);
	}
	store->in_partly = 0;
}

bool
bundle_in_event(const struct lull_bundle *bundle, struct bundle_slot *slot,
		struct lull_bundle_event *event)
{
	struct bundle_store *store = slot->store;
	uint32_t at;

	while ((at = bundle_list_pop(&store->in_events, BUNDLE_IN(store))) != NONE) {
		struct bundle_incoming *message = &store->in[at];

		event->handle = message->number;
		event->error = message->error;
		event->context = message->context;
		event->len_bytes = message->head.len_bytes;
		event->tag = message->head.tag;
		event->user = message->head.user;
		event->from = message->head.from;
		event->to = message->head.to;
		if (message->state == RECEIVING_DONE) {
			event->type = LULL_BUNDLE_RECEIVED;
			in_free(bundle, store, message);
			return true;
		}
		/* Of a peer that has ended too: what is whole can be accepted until DOWN. */
		event->type = LULL_BUNDLE_HEAD;
		message->told = true;
		return true;
	}
	return false;
}
