/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that answers: any number of nodes, a job of each at a time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "perf.h"

/* ASK and STOP differ in this bit of the tag. */
#define ASK_IGNORE (PERF_ASK ^ PERF_STOP)

static int
listen_wait(struct perf *perf, struct perf_slot *slot)
{
	const struct lull_channel_receive receive = {
		.source = LULL_CHANNEL_ANY,
		.tag = PERF_ASK,
		.ignore = ASK_IGNORE,
		.buffer = slot->bytes,
		.size_bytes = PERF_CONTROL_BYTES,
	};

	return lull_channel_recv(perf->link.channel, &receive, slot);
}

int
perf_listen_begin(struct perf *perf, struct lull_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < PERF_ASKS; i++) {
		perf->asks[i] =
			(struct perf_slot){ .kind = PERF_SLOT_ASK, .bytes = perf->ask_bytes[i] };
		perf->refusals[i] = (struct perf_slot){ .kind = PERF_SLOT_CONTROL,
							.bytes = perf->refusal_bytes[i] };
		rc = listen_wait(perf, &perf->asks[i]);
	}
	if (rc != 0)
		return lull_error_set(error, rc, "cannot wait for jobs: %s", strerror(-rc));
	/* Who starts the other side waits for this line. */
	fprintf(stderr, "%s: listening at %u rail%s\n", perf->run.program->name,
		perf->settings.link.rails.count, perf->settings.link.rails.count == 1 ? "" : "s");
	return 0;
}

static struct perf_session *
listen_find(const struct perf *perf, uint32_t peer)
{
	for (uint32_t i = 0; i < perf->session_count; i++)
		if (perf->sessions[i]->peer == peer && perf->sessions[i]->failed == 0)
			return perf->sessions[i];
	return NULL;
}

/* Who gets no answer ends by his own time limit. */
static void
listen_refuse(struct perf *perf, uint32_t peer, int rc)
{
	const struct perf_answer answer = { .refused = (uint64_t)-rc };

	for (uint32_t i = 0; i < PERF_ASKS; i++) {
		struct perf_slot *slot = &perf->refusals[i];
		struct lull_channel_message message = {
			.data = slot->bytes,
			.tag = PERF_READY,
			.endpoint = perf->settings.link.endpoint,
		};

		if (slot->under_way > 0)
			continue;
		message.len_bytes = perf_answer_write(slot->bytes, &answer);
		slot->under_way = lull_channel_send(perf->link.channel, peer, &message, slot) == 0;
		return;
	}
}

static int
listen_ask(struct perf *perf, const struct perf_slot *slot,
	   const struct lull_channel_completion *completion)
{
	struct perf_session *session = listen_find(perf, completion->peer);
	struct perf_plan plan;
	int rc = perf_plan_read(slot->bytes, completion->len_bytes, &plan);

	if (rc == 0)
		rc = perf_plan_check(&plan);
	if (rc != 0)
		return rc;
	if (session != NULL && session->phase != PERF_PHASE_ENDED)
		return -EBUSY;
	if (perf->session_count == PERF_SESSIONS_MAX)
		return -EBUSY;
	session = perf_session_create(perf->link.channel, completion->peer,
				      perf->settings.link.endpoint, &plan, false);
	if (session == NULL)
		return -ENOMEM;
	perf->sessions[perf->session_count++] = session;
	return 0;
}

void
perf_listen_done(struct perf *perf, struct perf_slot *slot,
		 const struct lull_channel_completion *completion)
{
	int rc = 0;

	if (slot->kind == PERF_SLOT_CONTROL) {
		slot->under_way = 0;
		return;
	}
	if (completion->error == 0 && completion->tag == PERF_STOP) {
		struct perf_session *session = listen_find(perf, completion->peer);

		if (session != NULL)
			perf_session_stop(session);
	} else if (completion->error == 0) {
		rc = listen_ask(perf, slot, completion);
	}
	if (rc != 0)
		listen_refuse(perf, completion->peer, rc);
	/* A receive that finds no room now is one less for good; there are several. */
	if (completion->error != -ECANCELED)
		listen_wait(perf, slot);
}

static void
listen_count(struct perf *perf, const struct perf_session *session)
{
	const struct perf_report report = perf_session_report(session);

	if (session->failed != 0) {
		perf->broken_jobs++;
		fprintf(stderr, "%s: a job for %s broke off: %s\n", perf->run.program->name,
			session->name, strerror(-session->failed));
		return;
	}
	perf->jobs++;
	fprintf(stderr, "%s: %s for %s: %" PRIu64 " messages, %" PRIu64 " bytes in %.3f s\n",
		perf->run.program->name, perf_session_role(session)->name, session->name,
		report.messages, report.bytes, (double)report.wall_ns / LULL_NS_PER_S);
	if (json_array_size(perf->results) == PERF_RESULTS_MAX)
		json_array_remove(perf->results, 0);
	json_array_append_new(perf->results, perf_session_result(session));
}

void
perf_listen_sweep(struct perf *perf)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < perf->session_count; i++) {
		struct perf_session *session = perf->sessions[i];

		if (!perf_session_ended(session)) {
			perf->sessions[kept++] = session;
			continue;
		}
		listen_count(perf, session);
		perf_session_free(session);
	}
	perf->session_count = kept;
}
