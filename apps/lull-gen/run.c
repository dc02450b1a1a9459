/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "gen.h"

#define STEP_NS (5 * LULL_NS_PER_MS)

static const struct lull_port *
run_port_down(const struct gen *gen)
{
	uint32_t i;

	for (i = 0; i < gen->port_count; i++)
		if (!lull_port_link_up(&gen->ports[i]))
			return &gen->ports[i];
	return NULL;
}

/* 1: a signal came meanwhile. */
static int
run_links(struct gen *gen, struct lull_error *error)
{
	uint64_t begin_ns = lull_clock_ns();
	const struct lull_port *port;

	while ((port = run_port_down(gen)) != NULL) {
		if (lull_clock_ns() - begin_ns >= gen->settings.link_wait_ns)
			return lull_error_set(
				error, -ENETDOWN,
				"port %s has no link: start the other side, or give it "
				"more time with --link-wait",
				port->name);
		if (lull_run_signal(&gen->run, STEP_NS))
			return 1;
	}
	return 0;
}

/* All sent, or received; says so. */
static bool
run_done(struct gen *gen)
{
	const struct gen_settings *settings = &gen->settings;

	if (lull_traffic_done(gen->state))
		gen->run.end = gen->replay != NULL && settings->count == 0 ? "replay" : "count";
	else if (settings->rx_only && settings->count > 0 &&
		 lull_traffic_received(gen->state) >= settings->count)
		gen->run.end = "count";
	else
		return false;
	return true;
}

/* Stop sending, then give what is under way its time; a signal cuts that short. */
static void
run_drain(struct gen *gen)
{
	const struct lull_traffic_counters *counters = lull_traffic_counters(gen->state);
	uint64_t begin_ns;

	gen_control_off(gen);
	while (!lull_traffic_silent(gen->state))
		lull_run_signal(&gen->run, STEP_NS);
	begin_ns = lull_clock_ns();
	/* a sink alone has nothing under way; a source alone cannot see its receiver catch up */
	while (!gen->settings.rx_only &&
	       lull_traffic_received(gen->state) < LULL_COUNTER_READ(counters->sent) &&
	       lull_clock_ns() - begin_ns < gen->settings.drain_ns)
		if (lull_run_signal(&gen->run, LULL_NS_PER_MS))
			break;
}

int
gen_run(void *state, struct lull_error *error)
{
	struct gen *gen = state;
	struct gen_progress last;
	int rc = run_links(gen, error);

	if (rc < 0)
		return rc;
	lull_run_begin(&gen->run);
	if (rc > 0) {
		gen->run.end = "signal";
		return 0;
	}
	rc = lull_live_loop_start(&gen->loops.items[0], error);
	if (rc != 0)
		return rc;
	last = (struct gen_progress){ .now_ns = gen->run.begin_ns };
	while (!run_done(gen) && lull_run_wait(&gen->run, STEP_NS, gen->settings.duration_ns))
		if (lull_run_shows(&gen->run, gen->settings.stats_ns))
			gen_progress_print(gen, &last);
	run_drain(gen);
	/* From here on the figures stand still. */
	lull_live_loops_stop(&gen->loops);
	lull_run_end(&gen->run);
	return 0;
}
