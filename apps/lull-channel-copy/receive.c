/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that takes files: a session per sender, which reads its messages in order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/rest.h>

#include "copy.h"

#define STEP_NS (20 * LULL_NS_PER_MS)
#define AGAIN_NS LULL_NS_PER_MS
/* Most replies to one message. */
#define REPLIES_EACH 2U

/* ---- replies ---- */

static void
receive_reply(struct copy_session *session, enum copy_kind kind, const struct copy_note *note)
{
	uint8_t *room = copy_pipe_room(&session->pipe);

	if (room != NULL) /* there was room for REPLIES_EACH */
		copy_pipe_send(&session->pipe, kind, copy_note_write(room, note));
}

static void
receive_verdict(struct copy_session *session, const struct copy_note *verdict)
{
	session->copy->totals.failed += verdict->status != 0 && verdict->status != ECANCELED;
	receive_reply(session, COPY_VERDICT, verdict);
}

/* A status and its sentence. */
static void
receive_put_error(struct copy_note *note, int rc, const struct lull_error *error)
{
	note->status = (uint32_t)-rc;
	if (rc != 0)
		snprintf(note->text, sizeof(note->text), "%.*s", (int)sizeof(note->text) - 1,
			 error->text);
}

/* The rest of an item is dropped; its verdict follows its end. */
static void
receive_drop(struct copy_session *session, int rc, const struct lull_error *error)
{
	const struct copy_item *item = &session->place.item;
	struct copy_note stop = { .index = item->index };
	bool keep = !session->copy->settings.discard_parts && item->size != COPY_SIZE_UNKNOWN;

	session->dropping = true;
	session->dropped = stop;
	receive_put_error(&session->dropped, rc, error);
	copy_place_leave(&session->place, keep);
	receive_reply(session, COPY_STOP, &stop);
}

static void
receive_count(struct copy_session *session, const struct copy_item *item, uint64_t bytes,
	      uint64_t resumed_bytes, const uint8_t digest[COPY_DIGEST_BYTES])
{
	struct copy *copy = session->copy;
	json_t *shown = copy_item_result(copy, item->path, bytes, resumed_bytes, digest);

	copy->totals.files++;
	copy->totals.bytes += bytes;
	if (shown != NULL)
		json_array_append_new(copy->items, shown);
}

/* ---- messages ---- */

static int
receive_whole(struct copy_session *session, const struct copy_slot *slot)
{
	struct copy_item *item = &session->item;
	struct copy *copy = session->copy;
	struct lull_error error = { .text = "" };
	struct copy_note verdict;
	int rc;

	if (session->place.open || session->dropping ||
	    copy_item_read(slot->bytes, slot->len, (enum copy_kind)slot->kind, item) != 0)
		return -EPROTO;
	verdict = (struct copy_note){ .index = item->index };
	if (slot->kind == COPY_SMALL)
		rc = copy_place_small(&session->place, copy->target, item, &error);
	else if (copy->target < 0)
		rc = 0; /* stdout has no folders */
	else if (slot->kind == COPY_FOLDER)
		rc = copy_place_folder(copy->target, item, &error);
	else
		rc = copy_place_folder_end(copy->target, item, &error);
	receive_put_error(&verdict, rc, &error);
	if (rc == 0 && slot->kind == COPY_SMALL) {
		verdict.offset = item->size;
		memcpy(verdict.digest, item->digest, sizeof(verdict.digest));
		receive_count(session, item, item->size, 0, item->digest);
	}
	copy->totals.folders += rc == 0 && slot->kind == COPY_FOLDER_END;
	receive_verdict(session, &verdict);
	return 0;
}

static int
receive_file(struct copy_session *session, const struct copy_slot *slot)
{
	struct copy_item *item = &session->item;
	struct lull_error error = { .text = "" };
	struct copy_note place;
	int rc;

	if (session->place.open || session->dropping ||
	    copy_item_read(slot->bytes, slot->len, COPY_FILE, item) != 0)
		return -EPROTO;
	place = (struct copy_note){ .index = item->index };
	rc = copy_place_open(&session->place, session->copy->target, item, &place, &error);
	receive_put_error(&place, rc, &error);
	session->copy->totals.failed += rc != 0;
	receive_reply(session, COPY_PLACE, &place);
	return 0;
}

static int
receive_begin(struct copy_session *session, const struct copy_note *note)
{
	const struct copy_item *item = &session->place.item;
	struct copy *copy = session->copy;
	struct lull_error error = { .text = "" };
	struct copy_note verdict = { .index = note->index, .offset = item->size };
	int rc;

	if (note->how == COPY_HOW_NOT) {
		copy_place_leave(&session->place, true);
		return 0;
	}
	if (note->how == COPY_HOW_SAME) {
		memcpy(verdict.digest, note->digest, sizeof(verdict.digest));
		copy->totals.same_bytes += item->size;
		receive_count(session, item, item->size, item->size, note->digest);
		copy_place_same(&session->place);
		receive_verdict(session, &verdict);
		return 0;
	}
	rc = copy_place_begin(&session->place, note->offset, &error);
	copy->totals.resumed_bytes += rc == 0 ? note->offset : 0;
	session->resumed_bytes = note->offset;
	if (rc != 0)
		receive_drop(session, rc, &error);
	return 0;
}

static int
receive_bytes(struct copy_session *session, const struct copy_slot *slot)
{
	struct lull_error error = { .text = "" };
	struct copy_note hole;
	int rc;

	if (session->dropping)
		return 0;
	if (!session->place.open)
		return -EPROTO;
	if (slot->kind == COPY_DATA) {
		rc = copy_place_write(&session->place, slot->bytes, slot->len, &error);
	} else {
		if (copy_note_read(slot->bytes, slot->len, &hole) != 0)
			return -EPROTO;
		rc = copy_place_hole(&session->place, hole.offset, &error);
	}
	if (rc != 0)
		receive_drop(session, rc, &error);
	return 0;
}

static int
receive_end(struct copy_session *session, const struct copy_note *note)
{
	bool keep = !session->copy->settings.discard_parts &&
		    session->place.item.size != COPY_SIZE_UNKNOWN;
	struct copy_note verdict = { .index = note->index, .offset = note->offset };
	struct lull_error error = { .text = "" };
	int rc;

	if (session->dropping) {
		session->dropping = false;
		receive_verdict(session, &session->dropped);
		return 0;
	}
	if (!session->place.open)
		return -EPROTO;
	if (note->how != 0) {
		copy_place_leave(&session->place, keep);
		verdict.status = ECANCELED;
	} else {
		rc = copy_place_end(&session->place, note->offset, note->digest, verdict.digest,
				    &error);
		receive_put_error(&verdict, rc, &error);
		if (rc == 0)
			receive_count(session, &session->place.item, note->offset,
				      session->resumed_bytes, verdict.digest);
	}
	receive_verdict(session, &verdict);
	return 0;
}

static int
receive_message(struct copy_session *session, const struct copy_slot *slot)
{
	const struct copy_note bye = { .index = 0 };
	struct copy_note note;

	switch (slot->kind) {
	case COPY_FOLDER:
	case COPY_FOLDER_END:
	case COPY_SMALL:
		return receive_whole(session, slot);
	case COPY_FILE:
		return receive_file(session, slot);
	case COPY_DATA:
	case COPY_HOLE:
		return receive_bytes(session, slot);
	default:
		break;
	}
	if (copy_note_read(slot->bytes, slot->len, &note) != 0)
		return -EPROTO;
	if (slot->kind == COPY_BEGIN && session->place.open && !session->dropping)
		return receive_begin(session, &note);
	if (slot->kind == COPY_END)
		return receive_end(session, &note);
	if (slot->kind != COPY_BYE || session->place.open)
		return -EPROTO;
	session->over = true;
	receive_reply(session, COPY_BYE, &bye);
	return 0;
}

/* ---- sessions ---- */

static void
receive_take(struct copy_session *session)
{
	struct copy_pipe *pipe = &session->pipe;
	const struct copy_slot *slot;

	while (pipe->error == 0 && !session->over && copy_pipe_rooms(pipe) >= REPLIES_EACH &&
	       (slot = copy_pipe_next(pipe)) != NULL) {
		int rc = receive_message(session, slot);

		copy_pipe_took(pipe);
		if (rc != 0) {
			copy_say(session->copy, "%s sends what no lull-channel-copy would",
				 session->name);
			copy_pipe_fail(pipe, rc);
			lull_channel_disconnect(pipe->channel, pipe->peer, 0);
		}
	}
}

/* It broke off: say what stays. */
static void
receive_break(struct copy_session *session)
{
	struct copy *copy = session->copy;
	bool keep = !copy->settings.discard_parts && session->place.item.size != COPY_SIZE_UNKNOWN;

	session->broke = true;
	copy->totals.broken++;
	if (session->place.open && !session->place.standard && session->place.offset > 0)
		copy_say(copy, "%s broke off: %s.part %s", session->name, session->place.item.path,
			 keep ? "stays, a second copy goes on there" : "is removed");
	else
		copy_say(copy, "%s broke off", session->name);
	copy_place_leave(&session->place, keep);
}

static bool
receive_ended(struct copy_session *session)
{
	struct copy_pipe *pipe = &session->pipe;

	/* Who has heard that we are done may leave before we hear that he has. */
	if (session->over && !session->ended && (pipe->error != 0 || copy_pipe_empty(pipe))) {
		session->ended = true;
		session->copy->ended += session->refused == 0;
		copy_pipe_fail(pipe, -ECANCELED); /* its receives */
	}
	if (pipe->error != 0 && !session->over && !session->broke)
		receive_break(session);
	return pipe->error != 0 && pipe->under_way == 0;
}

static void
receive_sweep(struct copy *copy)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < copy->session_count; i++) {
		struct copy_session *session = copy->sessions[i];

		copy_pipe_turn(&session->pipe);
		receive_take(session);
		if (!receive_ended(session)) {
			copy->sessions[kept++] = session;
			continue;
		}
		copy->ended_bytes += session->pipe.moved_bytes;
		copy_pipe_close(&session->pipe);
		free(session);
	}
	copy->session_count = kept;
}

/* ---- who comes ---- */

static int
receive_wait(struct copy *copy, struct copy_slot *slot)
{
	const struct lull_channel_receive receive = {
		.source = LULL_CHANNEL_ANY,
		.tag = COPY_TAG_HELLO,
		.buffer = slot->bytes,
		.size_bytes = COPY_REPLY_BYTES,
	};

	return lull_channel_recv(copy->link.channel, &receive, slot);
}

static struct copy_session *
receive_open(struct copy *copy, uint32_t peer, uint32_t refused)
{
	struct copy_session *session = calloc(1, sizeof(*session));
	struct lull_bundle_peer_look look;

	if (session == NULL)
		return NULL;
	session->copy = copy;
	session->refused = refused;
	session->place.fd = session->place.parent = -1;
	if (lull_channel_peer_look(copy->link.channel, peer, &look) == 0)
		memcpy(session->name, look.name, sizeof(session->name));
	if (copy_pipe_open(&session->pipe, copy->link.channel, peer, copy->settings.link.endpoint,
			   COPY_REPLIES, COPY_REPLY_BYTES, refused == 0 ? copy->settings.window : 1,
			   COPY_HEAD_BYTES + COPY_CHUNK_BYTES) != 0) {
		free(session);
		return NULL;
	}
	return session;
}

/* Stdout takes one sender, a folder several. */
static uint32_t
receive_judge(const struct copy *copy, const struct copy_note *hello)
{
	uint32_t most = copy->target < 0 || copy->settings.once ? 1 : COPY_SESSIONS_MAX - 1;

	if (hello->offset != COPY_VERSION)
		return EPROTO;
	return copy->session_count >= most || (copy->settings.once && copy->ended > 0) ? EBUSY : 0;
}

void
copy_receive_hello(struct copy *copy, struct copy_slot *slot,
		   const struct lull_channel_completion *completion)
{
	struct copy_note hello, welcome = { .offset = COPY_VERSION };
	struct copy_session *session;

	if (completion->error == 0 && copy->session_count < COPY_SESSIONS_MAX &&
	    copy_note_read(slot->bytes, completion->len_bytes, &hello) == 0) {
		welcome.status = receive_judge(copy, &hello);
		session = receive_open(copy, completion->peer, welcome.status);
		if (session != NULL) {
			copy->sessions[copy->session_count++] = session;
			receive_reply(session, COPY_WELCOME, &welcome);
			session->over = welcome.status != 0;
		}
	}
	/* A receive that finds no room now is one less for good; there are several. */
	if (completion->error != -ECANCELED)
		receive_wait(copy, slot);
}

static uint64_t
receive_wait_ns(const struct copy *copy)
{
	for (uint32_t i = 0; i < copy->session_count; i++)
		if (copy_pipe_waits(&copy->sessions[i]->pipe))
			return AGAIN_NS;
	return STEP_NS;
}

static int
receive_end_error(const struct copy *copy, struct lull_error *error)
{
	if (copy->settings.once && copy->ended == 0 && !copy->interrupted)
		return lull_error_set(error, -ECONNRESET,
				      "the sender broke off: copy again, which goes on where it "
				      "stopped");
	return 0;
}

int
copy_receive_run(struct copy *copy, struct lull_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < COPY_HELLOS; i++) {
		copy->hellos[i].bytes = copy->hello_bytes[i];
		rc = receive_wait(copy, &copy->hellos[i]);
	}
	if (rc != 0)
		return lull_error_set(error, rc, "cannot wait for senders: %s", strerror(-rc));
	/* Who starts the other side waits for this line. */
	copy_say(copy, "listening at %u rail%s", copy->settings.link.rails.count,
		 copy->settings.link.rails.count == 1 ? "" : "s");
	while (copy_turn(copy, receive_wait_ns(copy))) {
		receive_sweep(copy);
		if (copy->settings.once && copy->ended + copy->totals.broken > 0 &&
		    copy->session_count == 0)
			break;
	}
	return receive_end_error(copy, error);
}
