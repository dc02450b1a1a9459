/* SPDX-License-Identifier: BSD-3-Clause */
/* Asker and echo: requests that come back. A request has a slot, whose number stands in its tag. */
#include <lull/rest.h>

#include "pattern.h"
#include "session.h"

/* ---- asker ---- */

/* One half is sent, the other one received into. */
static uint64_t
asker_slot_bytes(const struct perf_plan *plan)
{
	return 2 * plan->message_bytes;
}

static void
asker_begin(struct perf_session *session)
{
	(void)session;
}

/* A receive that is there already waits for the request that finds room later. */
static bool
asker_ask(struct perf_session *session, struct perf_slot *slot)
{
	uint64_t len = session->plan.message_bytes;

	if (!slot->unsent && !perf_session_receive(session, slot, PERF_ANSWER | slot->index, 0,
						   slot->bytes + len, len))
		return false;
	perf_pattern_fill(slot->bytes, len, session->next);
	slot->number = session->next;
	slot->begin_ns = lull_clock_ns();
	slot->unsent = !perf_session_send(session, slot, PERF_REQUEST | slot->index, slot->bytes,
					  len, session->next);
	session->next += !slot->unsent;
	return !slot->unsent;
}

/* Until then nothing is asked. */
static uint64_t
asker_pause_ns(const struct perf_session *session)
{
	return LULL_MAX(session->begin_ns, session->end_ns) + session->pause_ns;
}

static void
asker_turn(struct perf_session *session, uint64_t now_ns)
{
	bool may = perf_session_may_send(session, now_ns) && now_ns >= asker_pause_ns(session);

	for (uint64_t i = 0; may && i < session->plan.window; i++) {
		struct perf_slot *slot = &session->slots[i];

		if (slot->under_way == 0 || slot->unsent)
			may = asker_ask(session, slot) && perf_session_may_send(session, now_ns);
	}
	if (perf_session_is_last(session, now_ns) && session->messages == session->next)
		perf_session_send_end(session, PERF_REQUEST | PERF_SLOT_BITS);
}

static void
asker_done(struct perf_session *session, struct perf_slot *slot,
	   const struct lull_channel_completion *completion, uint64_t now_ns)
{
	uint64_t len = session->plan.message_bytes, passed_ns = now_ns - slot->begin_ns;

	if (completion->sent)
		return;
	session->messages++;
	session->bytes += completion->len_bytes;
	session->end_ns = now_ns;
	if (completion->user != slot->number)
		session->misordered_messages++;
	if (completion->len_bytes != len ||
	    !perf_pattern_holds(slot->bytes + len, len, slot->number))
		session->bad_messages++;
	/* latency: half the way there and back. */
	lull_histogram_add(&session->latency, session->plan.window == 1 ? passed_ns / 2 : passed_ns,
			   1);
}

static bool
asker_over(const struct perf_session *session)
{
	return session->end_sent;
}

static uint64_t
asker_due_ns(const struct perf_session *session)
{
	const struct perf_plan *plan = &session->plan;
	uint64_t now_ns = lull_clock_ns();
	bool last = perf_session_is_last(session, now_ns);
	uint64_t end_ns =
		plan->duration_ns > 0 && !last ? session->begin_ns + plan->duration_ns : UINT64_MAX;

	if (session->messages != session->next || session->end_wanted)
		return end_ns;
	return last || session->pause_ns == 0 ? 0 : LULL_MIN(end_ns, asker_pause_ns(session));
}

const struct perf_role perf_asker = {
	.name = "asker",
	.slot_bytes = asker_slot_bytes,
	.begin = asker_begin,
	.turn = asker_turn,
	.done = asker_done,
	.over = asker_over,
	.due_ns = asker_due_ns,
};

/* ---- echo ---- */

static uint64_t
echo_slot_bytes(const struct perf_plan *plan)
{
	return plan->message_bytes;
}

/* A slot whose request came, but whose answer found no room, has its tag in `number`. */
static void
echo_turn(struct perf_session *session, uint64_t now_ns)
{
	(void)now_ns;
	for (uint64_t i = 0; i < session->plan.window; i++) {
		struct perf_slot *slot = &session->slots[i];

		if (slot->under_way > 0)
			continue;
		if (slot->number != 0 &&
		    perf_session_send(session, slot, slot->number, slot->bytes,
				      session->plan.message_bytes, slot->begin_ns))
			slot->number = 0;
		else if (slot->number == 0 && session->total == UINT64_MAX)
			perf_session_receive(session, slot, PERF_REQUEST, PERF_SLOT_BITS,
					     slot->bytes, session->plan.message_bytes);
	}
}

static void
echo_begin(struct perf_session *session)
{
	echo_turn(session, 0);
}

static void
echo_done(struct perf_session *session, struct perf_slot *slot,
	  const struct lull_channel_completion *completion, uint64_t now_ns)
{
	if (completion->sent) {
		session->messages++;
		session->bytes += completion->len_bytes;
		session->end_ns = now_ns;
	} else if ((completion->user & PERF_LAST) != 0) {
		session->total = completion->user & ~PERF_LAST;
		return;
	} else {
		slot->number = PERF_ANSWER | (completion->tag & PERF_SLOT_BITS);
		slot->begin_ns = completion->user;
		if (completion->len_bytes != session->plan.message_bytes)
			session->bad_messages++;
	}
	/* An answer shall not wait for the other completions. */
	if (slot->number != 0 && perf_session_send(session, slot, slot->number, slot->bytes,
						   session->plan.message_bytes, slot->begin_ns))
		slot->number = 0;
}

static bool
echo_over(const struct perf_session *session)
{
	return session->messages >= session->total;
}

static uint64_t
echo_due_ns(const struct perf_session *session)
{
	for (uint64_t i = 0; i < session->plan.window; i++)
		if (session->slots[i].under_way == 0)
			return 0;
	return UINT64_MAX;
}

const struct perf_role perf_echo = {
	.name = "echo",
	.slot_bytes = echo_slot_bytes,
	.begin = echo_begin,
	.turn = echo_turn,
	.done = echo_done,
	.over = echo_over,
	.due_ns = echo_due_ns,
};
