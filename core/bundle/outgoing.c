/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "outgoing.h"

#define ASK_NS (20 * LULL_NS_PER_MS)
#define ASK_NS_MAX LULL_NS_PER_S

/* ---- the table of messages by number ---- */

static struct bundle_outgoing *
out_find(const struct lull_bundle *bundle, struct bundle_store *store, uint32_t number)
{
	uint32_t at = *out_chain(bundle, store, number);

	while (at != NONE && store->out[at].number != number)
		at = store->out[at].chain;
	return at == NONE ? NULL : &store->out[at];
}

static void
out_unchain(const struct lull_bundle *bundle, struct bundle_store *store,
	    const struct bundle_outgoing *message)
{
	uint32_t *link = out_chain(bundle, store, message->number);
	uint32_t own = (uint32_t)(message - store->out);

	while (*link != own)
		link = &store->out[*link].chain;
	*link = message->chain;
}

static void
out_move(struct bundle_store *store, struct bundle_outgoing *message, enum bundle_work list)
{
	struct bundle_chainer chainer = BUNDLE_OUT(store, work);

	if (message->work_list != WORK_NONE)
		bundle_list_remove(&store->work[message->work_list], chainer,
				   out_index(store, message));
	store->bulk_count -= message->work_list == WORK_BULK;
	store->bulk_count += list == WORK_BULK;
	message->work_list = (uint8_t)list;
	if (list != WORK_NONE)
		bundle_list_push(&store->work[list], chainer, out_index(store, message));
}

void
bundle_out_init(struct lull_bundle *bundle, struct bundle_store *store)
{
	for (uint32_t i = 0; i < WORK_COUNT; i++)
		bundle_list_init(&store->work[i]);
	bundle_list_init(&store->again);
	bundle_list_init(&store->heads);
	store->wait_ns = LULL_BUNDLE_NEVER;
	for (uint32_t i = 0; i < bundle->config.messages_max; i++) {
		store->out[i] = (struct bundle_outgoing){ .work_list = WORK_NONE };
		store->out_chains[i] = NONE;
		out_move(store, &store->out[i], WORK_FREE);
	}
}

/* ---- what of a message may be sent ---- */

bool
bundle_out_wants(const struct bundle_store *store)
{
	return store->sendable > 0;
}

void
out_sort(struct lull_bundle *bundle, struct bundle_store *store, struct bundle_outgoing *message)
{
	struct bundle_chainer chainer = BUNDLE_OUT(store, again);
	bool again = message->lost_count > 0 || message->head_lost;
	/* For a record: one was said, and may have been lost each time, also after others came. */
	bool waits = message->end_piece < message->piece_count ||
		     (!message->accepted && (message->matched || message->eager == 0));

	if (again && !message->in_again)
		bundle_list_push(&store->again, chainer, out_index(store, message));
	else if (!again && message->in_again)
		bundle_list_remove(&store->again, chainer, out_index(store, message));
	message->in_again = again;
	if (out_fresh_pieces(message) > 0) {
		if (message->work_list != WORK_BULK)
			out_move(store, message, WORK_BULK);
	} else if (waits) {
		if (message->work_list != WORK_WAIT) {
			out_move(store, message, WORK_WAIT);
			message->asked_ns = bundle->now_ns + ASK_NS;
			store->wait_ns = LULL_MIN(store->wait_ns, message->asked_ns);
		}
	} else if (message->work_list != WORK_NONE) {
		out_move(store, message, WORK_NONE);
	}
}

/* ---- from and to the caller ---- */

int
lull_bundle_send(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer,
		 const struct lull_bundle_message *given)
{
	struct bundle_slot *slot = bundle_peer_find(bundle, peer);
	struct bundle_store *store;
	struct bundle_outgoing *message;
	uint32_t at;

	if (slot == NULL || slot->state != PEER_UP)
		return -ENOTCONN;
	if (given->len_bytes > LULL_BUNDLE_MESSAGE_BYTES_MAX)
		return -EMSGSIZE;
	store = slot->store;
	at = store->work[WORK_FREE].first;
	if (at == NONE)
		return -EAGAIN;
	bundle_time(bundle, now_ns);
	message = &store->out[at];
	out_move(store, message, WORK_NONE);
	*message = (struct bundle_outgoing){
		.data = given->data,
		.len_bytes = given->len_bytes,
		.tag = given->tag,
		.user = given->user,
		.context = given->context,
		.from = given->from,
		.to = given->to,
		.matched = given->matched,
		.state = SENDING_FRESH,
		.work_list = WORK_NONE,
		.acked.block = NONE,
		.lost.block = NONE,
		.lost_path = LULL_BUNDLE_ANY,
		.piece_count = bundle_piece_count(slot->piece_bytes, given->len_bytes),
	};
	out_move(store, message, WORK_FRESH);
	store->out_count++;
	store->sendable += out_ready(message);
	bundle_slot_touch(slot);
	return 0;
}

static void
out_finish(struct lull_bundle *bundle, struct bundle_store *store, struct bundle_outgoing *message,
	   int error)
{
	store->sendable -= out_ready(message);
	if (message->state == SENDING_OPEN) {
		store->out_open--;
		out_unchain(bundle, store, message);
		if (!message->head_acked)
			bundle_list_remove(&store->heads, BUNDLE_OUT(store, heads),
					   out_index(store, message));
		if (message->in_again)
			bundle_list_remove(&store->again, BUNDLE_OUT(store, again),
					   out_index(store, message));
		bundle_bits_fini(store, &message->acked);
		bundle_bits_fini(store, &message->lost);
	}
	message->state = SENDING_DONE;
	message->error = error;
	out_move(store, message, WORK_EVENT);
	store->out_count--;
	if (error == 0) {
		store->carried.sent_messages++;
		store->carried.sent_bytes += message->len_bytes;
	}
}

int
lull_bundle_cancel(struct lull_bundle *bundle, uint64_t now_ns, uint32_t peer, const void *context)
{
	struct bundle_slot *slot = bundle_peer_find(bundle, peer);
	struct bundle_store *store = slot == NULL ? NULL : slot->store;

	if (store == NULL)
		return -ENOENT;
	bundle_time(bundle, now_ns);
	for (uint32_t at = store->work[WORK_FRESH].first; at != NONE;
	     at = store->out[at].work.next) {
		if (store->out[at].context != context)
			continue;
		out_finish(bundle, store, &store->out[at], -ECANCELED);
		bundle_slot_touch(slot);
		return 0;
	}
	return -ENOENT;
}

void
bundle_out_end(struct lull_bundle *bundle, struct bundle_slot *slot, int error)
{
	struct bundle_store *store = slot->store;

	for (uint32_t i = 0; i < bundle->config.messages_max; i++) {
		struct bundle_outgoing *message = &store->out[i];

		if (message->state == SENDING_FRESH || message->state == SENDING_OPEN)
			out_finish(bundle, store, message, error);
	}
}

bool
bundle_out_event(struct bundle_slot *slot, struct lull_bundle_event *event)
{
	struct bundle_store *store = slot->store;
	struct bundle_outgoing *message;

	if (store->work[WORK_EVENT].first == NONE)
		return false;
	message = &store->out[store->work[WORK_EVENT].first];
	event->type = LULL_BUNDLE_SENT;
	event->error = message->error;
	event->context = message->context;
	event->len_bytes = message->len_bytes;
	event->tag = message->tag;
	event->user = message->user;
	event->from = message->from;
	event->to = message->to;
	message->state = SENDING_FREE;
	out_move(store, message, WORK_FREE);
	return true;
}

/* ---- what became of it ---- */

static void
out_mark(struct bundle_slot *slot, struct bundle_outgoing *message, struct bundle_path *path,
	 uint32_t piece)
{
	struct bundle_store *store = slot->store;

	if (piece < message->base || bundle_bits_get(store, &message->acked, piece))
		return;
	bundle_bits_set(store, &message->acked, piece);
	message->acked_count++;
	if (bundle_bits_get(store, &message->lost, piece)) {
		bundle_bits_clear(store, &message->lost, piece);
		message->lost_count--;
	}
	LULL_COUNTER_ADD(path->counters.delivered_bytes,
			 bundle_piece_bytes(slot->piece_bytes, message->len_bytes, piece, 1));
	while (message->base < message->next_piece &&
	       bundle_bits_get(store, &message->acked, message->base)) {
		bundle_bits_clear(store, &message->acked, message->base);
		message->base++;
	}
}

static bool
out_whole(const struct bundle_outgoing *message)
{
	return message->acked_count == message->piece_count && message->head_acked &&
	       (message->accepted || (message->eager > 0 && !message->matched));
}

static void
out_after(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_outgoing *message)
{
	out_sort(bundle, slot->store, message);
	slot->store->sendable += out_ready(message);
	if (out_whole(message))
		out_finish(bundle, slot->store, message, 0);
	bundle_slot_touch(slot);
}

void
bundle_out_acked(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		 const struct bundle_flight *flight)
{
	struct bundle_store *store = slot->store;
	struct bundle_outgoing *message = out_find(bundle, store, flight->number);

	if (message == NULL)
		return;
	store->sendable -= out_ready(message);
	if (flight->head && !message->head_acked) {
		message->head_acked = true;
		message->head_lost = false;
		bundle_list_remove(&store->heads, BUNDLE_OUT(store, heads),
				   out_index(store, message));
	}
	for (uint32_t i = 0; i < flight->pieces; i++)
		out_mark(slot, message, path, flight->piece + i);
	out_after(bundle, slot, message);
}

void
bundle_out_lost(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		const struct bundle_flight *flight)
{
	struct bundle_store *store = slot->store;
	struct bundle_outgoing *message = out_find(bundle, store, flight->number);

	if (message == NULL)
		return;
	store->sendable -= out_ready(message);
	message->lost_path = bundle_path_index(slot, path);
	if (flight->head && !message->head_acked)
		message->head_lost = true;
	for (uint32_t piece = flight->piece; piece < flight->piece + flight->pieces; piece++) {
		if (piece < message->base || bundle_bits_get(store, &message->acked, piece) ||
		    bundle_bits_get(store, &message->lost, piece))
			continue;
		bundle_bits_set(store, &message->lost, piece);
		message->lost_count++;
	}
	out_after(bundle, slot, message);
}

void
bundle_out_record(struct lull_bundle *bundle, struct bundle_slot *slot,
		  const struct bundle_record *record)
{
	struct bundle_store *store = slot->store;
	struct bundle_outgoing *message = out_find(bundle, store, record->msg);

	if (message == NULL)
		return;
	if (record->kind == BUNDLE_RECORD_DONE) {
		out_finish(bundle, store, message,
			   record->reason == BUNDLE_REASON_REFUSED ? -ECONNREFUSED : 0);
		bundle_slot_touch(slot);
		return;
	}
	if (record->kind != BUNDLE_RECORD_GRANT)
		return;
	store->sendable -= out_ready(message);
	message->accepted = true;
	message->asks = 0;
	message->end_piece =
		LULL_MAX(message->end_piece, LULL_MIN(record->end, message->piece_count));
	out_after(bundle, slot, message);
}

void
bundle_out_grant(struct lull_bundle *bundle, struct bundle_slot *slot, uint32_t grant)
{
	struct bundle_store *store = slot->store;

	if (grant == store->grant || bundle_before(grant, store->grant))
		return; /* an older packet */
	if (grant - store->charged > 65535 + BUNDLE_EAGER_PIECES) {
		LULL_COUNTER_ADD(bundle->counters.bad_grant, 1);
		return;
	}
	store->grant = grant;
	bundle_slot_touch(slot);
}

/* ---- time ---- */

/* A message that has waited long: its head goes again, and asks for the record. */
void
bundle_out_run(struct lull_bundle *bundle, struct bundle_slot *slot)
{
	struct bundle_store *store = slot->store;
	uint64_t next_ns = LULL_BUNDLE_NEVER;

	if (bundle->now_ns < store->wait_ns)
		return;
	for (uint32_t at = store->work[WORK_WAIT].first; at != NONE;
	     at = store->out[at].work.next) {
		struct bundle_outgoing *message = &store->out[at];

		if (bundle->now_ns >= message->asked_ns) {
			store->sendable -= out_ready(message);
			message->head_lost = true;
			message->asked_ns =
				bundle->now_ns + slot->rest_ns +
				LULL_MIN(ASK_NS << LULL_MIN(++message->asks, 10), ASK_NS_MAX);
			out_sort(bundle, store, message);
			store->sendable += out_ready(message);
		}
		next_ns = LULL_MIN(next_ns, message->asked_ns);
	}
	store->wait_ns = next_ns;
}

uint64_t
bundle_out_due(const struct bundle_store *store)
{
	return store->wait_ns;
}
