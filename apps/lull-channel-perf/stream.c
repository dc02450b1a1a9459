/* SPDX-License-Identifier: BSD-3-Clause */
/* Source and sink: messages in one direction, as many under way as the window has. */
#include <errno.h>

#include <lull/rest.h>

#include "pattern.h"
#include "session.h"

static uint64_t
stream_slot_bytes(const struct perf_plan *plan)
{
	return plan->message_bytes;
}

/* ---- source ---- */

static void
source_begin(struct perf_session *session)
{
	for (uint64_t i = 0; i < session->plan.window; i++)
		perf_pattern_fill(session->slots[i].bytes, session->plan.message_bytes, i);
}

static bool
source_send(struct perf_session *session, struct perf_slot *slot)
{
	/* A message that found no room keeps its bytes: it is the next one still. */
	if (session->plan.verify && slot->number != session->next)
		perf_pattern_fill(slot->bytes, session->plan.message_bytes, session->next);
	slot->number = session->next;
	if (!perf_session_send(session, slot, PERF_DATA, slot->bytes, session->plan.message_bytes,
			       session->next))
		return false;
	session->next++;
	return true;
}

/* All of a burst has arrived: the time that it took counts. */
static void
source_burst_end(struct perf_session *session)
{
	if (!session->in_burst || session->messages < session->next)
		return;
	session->in_burst = false;
	session->bursts++;
	session->burst_ns += session->end_ns - session->burst_begin_ns;
}

static void
source_turn(struct perf_session *session, uint64_t now_ns)
{
	bool may = perf_session_may_send(session, now_ns);

	for (uint64_t i = 0; may && i < session->plan.window; i++) {
		struct perf_slot *slot = &session->slots[i];

		if (slot->under_way == 0)
			may = source_send(session, slot) && perf_session_may_send(session, now_ns);
	}
	if (session->plan.period_ns > 0 && !perf_session_may_send(session, now_ns))
		source_burst_end(session);
	if (perf_session_is_last(session, now_ns) && session->messages == session->next)
		perf_session_send_end(session, PERF_DATA);
}

static void
source_done(struct perf_session *session, struct perf_slot *slot,
	    const struct lull_channel_completion *completion, uint64_t now_ns)
{
	(void)slot;
	session->messages++;
	session->bytes += completion->len_bytes;
	session->end_ns = now_ns;
}

static bool
source_over(const struct perf_session *session)
{
	return session->end_sent;
}

static uint64_t
source_due_ns(const struct perf_session *session)
{
	const struct perf_plan *plan = &session->plan;
	uint64_t end_ns =
		plan->duration_ns > 0 ? session->begin_ns + plan->duration_ns : UINT64_MAX;
	uint64_t now_ns = lull_clock_ns(), passed_ns = now_ns - session->begin_ns;
	bool last = perf_session_is_last(session, now_ns);

	if (session->messages == session->next && !session->end_wanted &&
	    (last || plan->period_ns == 0))
		return 0; /* it found no room, and nothing will end */
	if (last)
		return UINT64_MAX;
	if (plan->period_ns == 0 || passed_ns % plan->period_ns < plan->burst_ns)
		return end_ns;
	return LULL_MIN(end_ns,
			session->begin_ns + (passed_ns / plan->period_ns + 1) * plan->period_ns);
}

const struct perf_role perf_source = {
	.name = "source",
	.slot_bytes = stream_slot_bytes,
	.begin = source_begin,
	.turn = source_turn,
	.done = source_done,
	.over = source_over,
	.due_ns = source_due_ns,
};

/* ---- sink ---- */

static bool
sink_receive(struct perf_session *session, struct perf_slot *slot)
{
	slot->number = session->next;
	if (!perf_session_receive(session, slot, PERF_DATA, 0, slot->bytes,
				  session->plan.message_bytes))
		return false;
	session->next++;
	return true;
}

/* Receives are matched in their order, so this loop keeps it: the slot with the lowest free
 * number comes first, as numbers go round. */
static void
sink_turn(struct perf_session *session, uint64_t now_ns)
{
	(void)now_ns;
	while (session->total == UINT64_MAX) {
		struct perf_slot *slot = &session->slots[session->next % session->plan.window];

		if (slot->under_way > 0 || !sink_receive(session, slot))
			return;
	}
}

static void
sink_begin(struct perf_session *session)
{
	sink_turn(session, 0);
}

static void
sink_done(struct perf_session *session, struct perf_slot *slot,
	  const struct lull_channel_completion *completion, uint64_t now_ns)
{
	if ((completion->user & PERF_LAST) != 0) {
		session->total = completion->user & ~PERF_LAST;
		if (slot->number != session->total)
			session->misordered_messages++;
		return;
	}
	session->messages++;
	session->bytes += completion->len_bytes;
	session->end_ns = now_ns;
	if (completion->user != slot->number)
		session->misordered_messages++;
	if (completion->len_bytes != session->plan.message_bytes ||
	    (session->plan.verify &&
	     !perf_pattern_holds(slot->bytes, session->plan.message_bytes, completion->user)))
		session->bad_messages++;
}

static bool
sink_over(const struct perf_session *session)
{
	return session->messages >= session->total;
}

static uint64_t
sink_due_ns(const struct perf_session *session)
{
	return session->under_way == 0 ? 0 : UINT64_MAX;
}

const struct perf_role perf_sink = {
	.name = "sink",
	.slot_bytes = stream_slot_bytes,
	.begin = sink_begin,
	.turn = sink_turn,
	.done = sink_done,
	.over = sink_over,
	.due_ns = sink_due_ns,
};
