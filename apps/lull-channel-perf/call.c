/* SPDX-License-Identifier: BSD-3-Clause */
/* The side that names others and asks them for a job. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <lull/rest.h>

#include "perf.h"

int
perf_call_begin(struct perf *perf, struct lull_error *error)
{
	const struct perf_plan plan = perf_settings_plan(&perf->settings);
	uint32_t peers[LULL_OPTION_LIST_MAX];
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < perf->settings.to.count; i++)
		rc = lull_link_connect(&perf->link, &perf->run, perf->settings.to.items[i],
				       &peers[i], error);
	/* All are there: now they begin together. */
	for (uint32_t i = 0; rc == 0 && i < perf->settings.to.count; i++) {
		struct perf_session *session = perf_session_create(
			perf->link.channel, peers[i], perf->settings.link.endpoint, &plan, true);

		if (session == NULL)
			rc = lull_error_set(error, -ENOMEM,
					    "no memory for the messages; choose a "
					    "smaller --message or --window");
		else
			perf->sessions[perf->session_count++] = session;
		if (session != NULL)
			session->pause_ns = perf->settings.pause_ns;
	}
	for (uint32_t i = 0; rc == 0 && i < perf->session_count; i++)
		perf_session_turn(perf->sessions[i], lull_clock_ns());
	return rc;
}

static int
call_explain(const struct perf *perf, const struct perf_session *session, struct lull_error *error)
{
	const char *name = session->name;
	int rc = session->failed;

	switch (rc) {
	case -ECONNREFUSED:
		if (session->refused != 0)
			return lull_error_set(error, rc, "%s refuses this job: %s", name,
					      strerror((int)LULL_MIN(session->refused, 4095U)));
		return lull_error_set(error, rc,
				      "%s has nobody at endpoint %u: start lull-channel-perf "
				      "--listen there",
				      name, perf->settings.link.endpoint);
	case -ECONNRESET:
	case -ENOTCONN:
		return lull_error_set(error, rc, "%s has ended, or began anew, during the job",
				      name);
	case -ETIMEDOUT:
		return lull_error_set(error, rc,
				      "%s is there, but no lull-channel-perf answers at endpoint "
				      "%u: start it with --listen",
				      name, perf->settings.link.endpoint);
	case -EPROTO:
		return lull_error_set(error, rc,
				      "%s runs another version of lull-channel-perf: use the same "
				      "on both sides",
				      name);
	default:
		return lull_error_set(error, rc, "%s: %s", name, strerror(-rc));
	}
}

int
perf_call_over(struct perf *perf, uint64_t now_ns, bool *over, struct lull_error *error)
{
	uint32_t ended = 0;

	for (uint32_t i = 0; i < perf->session_count; i++) {
		struct perf_session *session = perf->sessions[i];

		if (session->phase == PERF_PHASE_WAITS &&
		    now_ns - session->asked_ns > perf->settings.link.wait_ns)
			perf_session_fail(session, -ETIMEDOUT);
		if (session->failed != 0)
			return call_explain(perf, session, error);
		ended += perf_session_ended(session);
	}
	*over = ended == perf->session_count;
	return 0;
}

static int
call_judge_one(const struct perf_session *session, struct lull_error *error)
{
	uint64_t bad = session->bad_messages + session->far.bad_messages;
	uint64_t misordered = session->misordered_messages + session->far.misordered_messages;

	if (bad > 0)
		return lull_error_set(error, -EIO,
				      "%s: %" PRIu64 " of %" PRIu64
				      " messages are not what was sent",
				      session->name, bad, session->messages);
	if (misordered > 0)
		return lull_error_set(error, -EIO,
				      "%s: %" PRIu64 " of %" PRIu64
				      " messages came in another order than they were sent",
				      session->name, misordered, session->messages);
	if (session->messages != session->far.messages || session->bytes != session->far.bytes)
		return lull_error_set(error, -EIO,
				      "%s has %" PRIu64 " messages of %" PRIu64
				      " bytes, this node %" PRIu64 " of %" PRIu64,
				      session->name, session->far.messages, session->far.bytes,
				      session->messages, session->bytes);
	return 0;
}

int
perf_call_judge(const struct perf *perf, struct lull_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < perf->session_count; i++)
		if (perf_session_ended(perf->sessions[i]))
			rc = call_judge_one(perf->sessions[i], error);
	return rc;
}
