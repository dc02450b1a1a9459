/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lull/rest.h>

static const struct perf_role *const session_roles[] = {
	[PERF_SOURCE] = &perf_source,
	[PERF_SINK] = &perf_sink,
	[PERF_ASKER] = &perf_asker,
	[PERF_ECHO] = &perf_echo,
};

const struct perf_role *
perf_session_role(const struct perf_session *session)
{
	return session_roles[session->role];
}

uint64_t
perf_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * LULL_NS_PER_S + (uint64_t)time.tv_nsec;
}

/* ---- operations ---- */

bool
perf_session_send(struct perf_session *session, struct perf_slot *slot, uint64_t tag,
		  const void *bytes, uint64_t len, uint64_t user)
{
	const struct lull_channel_message message = {
		.data = bytes,
		.len_bytes = len,
		.tag = tag,
		.user = user,
		.endpoint = session->endpoint,
	};
	int rc;

	if (session->failed != 0)
		return false;
	rc = lull_channel_send(session->channel, session->peer, &message, slot);
	if (rc != 0 && rc != -EAGAIN)
		perf_session_fail(session, rc);
	if (rc != 0)
		return false;
	slot->under_way++;
	session->under_way++;
	return true;
}

bool
perf_session_receive(struct perf_session *session, struct perf_slot *slot, uint64_t tag,
		     uint64_t ignore, void *bytes, uint64_t size)
{
	const struct lull_channel_receive receive = {
		.source = session->peer,
		.tag = tag,
		.ignore = ignore,
		.buffer = bytes,
		.size_bytes = size,
	};
	int rc;

	if (session->failed != 0)
		return false;
	rc = lull_channel_recv(session->channel, &receive, slot);
	if (rc != 0 && rc != -EAGAIN)
		perf_session_fail(session, rc);
	if (rc != 0)
		return false;
	slot->under_way++;
	session->under_way++;
	return true;
}

void
perf_session_cancel(struct perf_session *session)
{
	for (uint64_t i = 0; i < session->plan.window; i++)
		if (session->slots[i].under_way > 0)
			lull_channel_cancel(session->channel, &session->slots[i]);
}

void
perf_session_fail(struct perf_session *session, int rc)
{
	if (session->failed != 0 || session->phase == PERF_PHASE_ENDED)
		return;
	session->failed = rc;
	perf_session_cancel(session);
	for (uint32_t i = 0; i < PERF_CONTROL_COUNT; i++)
		lull_channel_cancel(session->channel, &session->controls[i]);
	lull_channel_cancel(session->channel, &session->ready);
	lull_channel_cancel(session->channel, &session->report);
	lull_channel_cancel(session->channel, &session->end);
}

/* ---- begin and end ---- */

static bool
session_open(struct perf_session *session)
{
	const struct perf_role *role = perf_session_role(session);
	uint64_t slot_bytes = (role->slot_bytes(&session->plan) + 63) & ~63ULL;

	session->slots = calloc(session->plan.window, sizeof(session->slots[0]));
	session->memory = malloc(session->plan.window * slot_bytes);
	if (session->slots == NULL || session->memory == NULL)
		return false;
	/* Its pages are there before time is measured. */
	memset(session->memory, 0, session->plan.window * slot_bytes);
	for (uint32_t i = 0; i < session->plan.window; i++)
		session->slots[i] = (struct perf_slot){ .session = session,
							.index = i,
							.bytes = session->memory + i * slot_bytes };
	for (uint32_t i = 0; i < PERF_CONTROL_COUNT; i++)
		session->controls[i] = (struct perf_slot){ .session = session,
							   .kind = PERF_SLOT_CONTROL,
							   .index = i,
							   .bytes = session->control_bytes[i] };
	session->ready = (struct perf_slot){ .session = session,
					     .kind = PERF_SLOT_READY,
					     .bytes = session->control_bytes[PERF_CONTROL_COUNT] };
	session->report =
		(struct perf_slot){ .session = session,
				    .kind = PERF_SLOT_REPORT,
				    .bytes = session->control_bytes[PERF_CONTROL_COUNT + 1] };
	session->end = (struct perf_slot){ .session = session, .kind = PERF_SLOT_DATA };
	return true;
}

static void
session_begin(struct perf_session *session, uint64_t now_ns)
{
	lull_link_look(session->channel, session->peer, &session->first);
	session->last = session->first;
	session->phase = PERF_PHASE_RUNS;
	session->begin_ns = session->end_ns = now_ns;
	session->cpu_begin_ns = session->cpu_end_ns = perf_cpu_ns();
}

struct perf_session *
perf_session_create(struct lull_channel *channel, uint32_t peer, uint16_t endpoint,
		    const struct perf_plan *plan, bool caller)
{
	struct perf_session *session = calloc(1, sizeof(*session));
	struct lull_bundle_peer_look look;

	if (session == NULL)
		return NULL;
	session->channel = channel;
	session->peer = peer;
	session->endpoint = endpoint;
	session->caller = caller;
	session->plan = *plan;
	session->role = (enum perf_role_id)plan->role;
	if (caller)
		session->role = perf_role_other(session->role);
	session->total = UINT64_MAX;
	session->asked_ns = lull_clock_ns();
	if (lull_channel_peer_look(channel, peer, &look) == 0)
		memcpy(session->name, look.name, sizeof(session->name));
	if (!session_open(session)) {
		perf_session_free(session);
		return NULL;
	}
	perf_session_role(session)->begin(session);
	if (caller) {
		session->wants = 1U << PERF_CONTROL_ASK;
		perf_session_receive(session, &session->ready, PERF_READY, 0, session->ready.bytes,
				     PERF_CONTROL_BYTES);
		perf_session_receive(session, &session->report, PERF_REPORT, 0,
				     session->report.bytes, PERF_CONTROL_BYTES);
	} else {
		session->wants = 1U << PERF_CONTROL_READY;
		session_begin(session, session->asked_ns);
	}
	return session;
}

void
perf_session_free(struct perf_session *session)
{
	if (session == NULL)
		return;
	free(session->memory);
	free(session->slots);
	free(session);
}

bool
perf_session_ended(const struct perf_session *session)
{
	return session->under_way == 0 &&
	       (session->failed != 0 || session->phase == PERF_PHASE_ENDED);
}

struct perf_report
perf_session_report(const struct perf_session *session)
{
	uint64_t wall_ns = session->end_ns - session->begin_ns;

	return (struct perf_report){
		.messages = session->messages,
		.bytes = session->bytes,
		.busy_ns = session->plan.period_ns > 0 && session->bursts > 0 ? session->burst_ns :
										wall_ns,
		.wall_ns = wall_ns,
		.cpu_ns = session->cpu_end_ns - session->cpu_begin_ns,
		.bad_messages = session->bad_messages,
		.misordered_messages = session->misordered_messages,
	};
}

/* ---- when to send ---- */

bool
perf_session_is_last(const struct perf_session *session, uint64_t now_ns)
{
	const struct perf_plan *plan = &session->plan;

	return session->stopped || (plan->count > 0 && session->next >= plan->count) ||
	       (plan->duration_ns > 0 && now_ns - session->begin_ns >= plan->duration_ns);
}

/* Bursts begin at multiples of the period. */
static bool
session_in_burst(struct perf_session *session, uint64_t now_ns)
{
	const struct perf_plan *plan = &session->plan;
	bool within = (now_ns - session->begin_ns) % plan->period_ns < plan->burst_ns;

	if (within && !session->in_burst)
		session->burst_begin_ns = now_ns;
	session->in_burst |= within;
	return within;
}

bool
perf_session_may_send(struct perf_session *session, uint64_t now_ns)
{
	if (session->phase != PERF_PHASE_RUNS || perf_session_is_last(session, now_ns))
		return false;
	return session->plan.period_ns == 0 || session_in_burst(session, now_ns);
}

void
perf_session_stop(struct perf_session *session)
{
	if (session->stopped)
		return;
	session->stopped = true;
	if (session->caller && session->role == PERF_SINK)
		session->wants |= 1U << PERF_CONTROL_STOP;
}

void
perf_session_send_end(struct perf_session *session, uint64_t tag)
{
	if (!session->end_wanted)
		session->end_wanted = perf_session_send(session, &session->end, tag, NULL, 0,
							PERF_LAST | session->next);
}

/* ---- turns ---- */

static void
session_control(struct perf_session *session, enum perf_control control)
{
	struct perf_slot *slot = &session->controls[control];
	const struct perf_answer answer = { .refused = 0 };
	const struct perf_report report = perf_session_report(session);
	uint64_t tag = 0;
	uint32_t len = 0;

	switch (control) {
	case PERF_CONTROL_ASK:
		tag = PERF_ASK;
		len = perf_plan_write(slot->bytes, &session->plan);
		break;
	case PERF_CONTROL_READY:
		tag = PERF_READY;
		len = perf_answer_write(slot->bytes, &answer);
		break;
	case PERF_CONTROL_STOP:
		tag = PERF_STOP;
		break;
	case PERF_CONTROL_REPORT:
		tag = PERF_REPORT;
		len = perf_report_write(slot->bytes, &report);
		break;
	}
	if (perf_session_send(session, slot, tag, slot->bytes, len, 0))
		session->wants &= ~(1U << control);
}

static void
session_over(struct perf_session *session, uint64_t now_ns)
{
	session->phase = PERF_PHASE_OVER;
	session->end_ns = LULL_MAX(session->end_ns, session->begin_ns);
	if (session->end_ns == session->begin_ns)
		session->end_ns = now_ns;
	session->cpu_end_ns = perf_cpu_ns();
	lull_link_look(session->channel, session->peer, &session->last);
	perf_session_cancel(session);
	if (!session->caller)
		session->wants |= 1U << PERF_CONTROL_REPORT;
	else if (session->reported)
		session->phase = PERF_PHASE_ENDED;
}

void
perf_session_turn(struct perf_session *session, uint64_t now_ns)
{
	for (uint32_t i = 0; i < PERF_CONTROL_COUNT; i++)
		if ((session->wants >> i & 1) != 0)
			session_control(session, (enum perf_control)i);
	if (session->failed != 0 || session->phase != PERF_PHASE_RUNS ||
	    (session->wants & 1U << PERF_CONTROL_READY) != 0)
		return;
	/* It may have begun after the batch in whose turn it is. */
	now_ns = LULL_MAX(now_ns, session->begin_ns);
	perf_session_role(session)->turn(session, now_ns);
	if (session->failed == 0 && perf_session_role(session)->over(session))
		session_over(session, now_ns);
}

uint64_t
perf_session_due_ns(const struct perf_session *session)
{
	if (session->failed != 0 || session->phase == PERF_PHASE_ENDED)
		return UINT64_MAX;
	if (session->wants != 0)
		return 0;
	return session->phase == PERF_PHASE_RUNS ? perf_session_role(session)->due_ns(session) :
						   UINT64_MAX;
}

/* ---- completions ---- */

static int
session_ready(struct perf_session *session, const struct lull_channel_completion *completion,
	      uint64_t now_ns)
{
	struct perf_answer answer;
	int rc = perf_answer_read(session->ready.bytes, completion->len_bytes, &answer);

	if (rc != 0)
		return rc;
	session->refused = answer.refused;
	if (answer.refused != 0)
		return -ECONNREFUSED;
	session_begin(session, now_ns);
	return 0;
}

static void
session_control_done(struct perf_session *session, struct perf_slot *slot,
		     const struct lull_channel_completion *completion, uint64_t now_ns)
{
	int rc = 0;

	if (slot->kind == PERF_SLOT_READY) {
		rc = session_ready(session, completion, now_ns);
	} else if (slot->kind == PERF_SLOT_REPORT) {
		rc = perf_report_read(slot->bytes, completion->len_bytes, &session->far);
		session->reported = rc == 0;
		/* Our own end may stand in a later completion of the same batch. */
		if (session->reported && session->phase == PERF_PHASE_OVER)
			session->phase = PERF_PHASE_ENDED;
	} else if (slot->index == PERF_CONTROL_REPORT) {
		session->phase = PERF_PHASE_ENDED;
	}
	if (rc != 0)
		perf_session_fail(session, rc);
}

void
perf_session_done(struct perf_session *session, struct perf_slot *slot,
		  const struct lull_channel_completion *completion, uint64_t now_ns)
{
	slot->under_way--;
	session->under_way--;
	if (completion->error == -ECANCELED || session->failed != 0)
		return;
	if (completion->error != 0) {
		perf_session_fail(session, completion->error);
		return;
	}
	if (slot->kind != PERF_SLOT_DATA)
		session_control_done(session, slot, completion, now_ns);
	else if (slot == &session->end)
		session->end_sent = true;
	else
		perf_session_role(session)->done(session, slot, completion, now_ns);
}
