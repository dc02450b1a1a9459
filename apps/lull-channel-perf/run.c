/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include <lull/rest.h>

#include "perf.h"

/* A signal is seen after so long at the latest. */
#define STEP_NS (20 * LULL_NS_PER_MS)
/* What found no room is tried again after this. */
#define AGAIN_NS LULL_NS_PER_MS
/* At the end: what others still wait for is sent in this time. */
#define LINGER_NS LULL_NS_PER_S
#define BATCH 64U

int
perf_check(void *state, struct lull_error *error)
{
	return perf_settings_check(&((struct perf *)state)->settings, error);
}

int
perf_instead(void *state, bool *done, struct lull_error *error)
{
	struct perf *perf = state;

	*done = perf->settings.link.check;
	return *done ? lull_link_check_print(&perf->run, &perf->settings.link, stdout, error) : 0;
}

static int
run_change(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	const struct perf_settings *changed = change->settings;

	return lull_link_change(&((struct perf *)state)->link, change, &changed->link, error);
}

int
perf_open(void *state, struct lull_error *error)
{
	struct perf *perf = state;

	perf->results = json_array();
	return lull_link_open(&perf->link, &perf->run, &perf->settings.link, error);
}

void
perf_close(void *state)
{
	struct perf *perf = state;

	/* Buffers of what is under way are the channel's until it has closed. */
	lull_link_close(&perf->link, LINGER_NS);
	for (uint32_t i = 0; i < perf->session_count; i++)
		perf_session_free(perf->sessions[i]);
	json_decref(perf->results);
}

/* ---- turns ---- */

static uint64_t
run_wait_ns(const struct perf *perf, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < perf->session_count; i++)
		due_ns = LULL_MIN(due_ns, perf_session_due_ns(perf->sessions[i]));
	if (due_ns == 0)
		return AGAIN_NS;
	return due_ns <= now_ns ? 0 : LULL_MIN(due_ns - now_ns, STEP_NS);
}

/* incast: shares are compared over the time in which all send. */
static void
run_fair(struct perf *perf)
{
	for (uint32_t i = 0; !perf->fair_known && i < perf->session_count; i++)
		perf->fair_known = perf->sessions[i]->total != UINT64_MAX;
	if (perf->fair_known)
		for (uint32_t i = 0; i < perf->session_count; i++)
			perf->fair_bytes[i] = perf->sessions[i]->bytes;
}

static void
run_take(struct perf *perf, uint64_t wait_ns)
{
	struct lull_channel_completion done[BATCH];
	uint32_t count = lull_channel_done(perf->link.channel, done, BATCH, wait_ns);
	uint64_t now_ns = lull_clock_ns();

	for (uint32_t i = 0; i < count; i++) {
		struct perf_slot *slot = done[i].context;

		if (slot->session == NULL)
			perf_listen_done(perf, slot, &done[i]);
		else
			perf_session_done(slot->session, slot, &done[i], now_ns);
	}
	if (!perf->fair_known && !perf->settings.listen)
		run_fair(perf);
	for (uint32_t i = 0; i < perf->session_count; i++)
		perf_session_turn(perf->sessions[i], now_ns);
}

/* A first signal ends the jobs in order, a second one at once. */
static bool
run_signal(struct perf *perf)
{
	if (lull_run_signal(&perf->run, 0) == 0)
		return false;
	if (perf->run.end != NULL || perf->settings.listen) {
		perf->run.end = "signal";
		return true;
	}
	perf->run.end = "signal";
	for (uint32_t i = 0; i < perf->session_count; i++)
		perf_session_stop(perf->sessions[i]);
	return false;
}

static int
run_over(struct perf *perf, uint64_t now_ns, bool *over, struct lull_error *error)
{
	if (!perf->settings.listen)
		return perf_call_over(perf, now_ns, over, error);
	perf_listen_sweep(perf);
	*over = perf->settings.jobs > 0 && perf->jobs + perf->broken_jobs >= perf->settings.jobs;
	return 0;
}

static int
run_until_end(struct perf *perf, struct lull_error *error)
{
	uint64_t now_ns = perf->run.begin_ns, looked_ns = now_ns;
	bool over = false;
	int rc = 0;

	while (rc == 0 && !over) {
		run_take(perf, run_wait_ns(perf, now_ns));
		now_ns = lull_clock_ns();
		rc = run_over(perf, now_ns, &over, error);
		if (now_ns - looked_ns < STEP_NS)
			continue;
		looked_ns = now_ns;
		over |= run_signal(perf);
		if (lull_run_shows(&perf->run, perf->settings.stats_ns))
			perf_progress_print(perf, now_ns);
	}
	return rc;
}

int
perf_run(void *state, struct lull_error *error)
{
	struct perf *perf = state;
	int rc = lull_link_start(&perf->link, &perf->run, run_change, error);

	if (rc != 0)
		return rc;
	lull_run_begin(&perf->run);
	perf->shown.now_ns = perf->run.begin_ns;
	perf->shown.cpu_ns = perf_cpu_ns();
	rc = perf->settings.listen ? perf_listen_begin(perf, error) : perf_call_begin(perf, error);
	if (rc == 0)
		rc = run_until_end(perf, error);
	/* Signals stay blocked: the channel is about to close. */
	perf->run.end_ns = lull_clock_ns();
	if (perf->run.end == NULL)
		perf->run.end = "done";
	if (rc != 0 || perf->settings.listen)
		return rc;
	perf->run.result_anyway = true;
	return perf_call_judge(perf, error);
}
