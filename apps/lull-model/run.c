/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "framework.h"

#define STEP_NS (10 * LULL_NS_PER_MS)
#define DRAIN_NS LULL_NS_PER_S
#define SIZE_MOST 1500
#define OTHERS_NICE -15
#define QUIET_NS (1500 * LULL_NS_PER_MS)

/*
 * What stands for hardware and for an application on other CPUs goes before measured threads that
 * never sleep, where it shares a CPU with them; without the right to say so it takes its chance.
 */
static void
run_prefer(enum model_role role, const struct lull_loop *loop)
{
	if (role != MODEL_SENDER && role != MODEL_RECEIVER)
		setpriority(PRIO_PROCESS, (id_t)lull_loop_tid(loop), OTHERS_NICE);
}

static int
run_start(struct framework *framework, struct lull_error *error)
{
	for (int role = 0; role < MODEL_ROLES; role++) {
		struct lull_loop *loop = framework->loops[role].loop;
		int rc = loop != NULL ? lull_loop_start(loop) : 0;

		if (rc != 0)
			return lull_error_set(error, rc, "loop %s does not start: %s",
					      lull_loop_name(loop), strerror(-rc));
		/* Known as soon as the thread runs. */
		while (loop != NULL && lull_loop_tid(loop) == 0)
			sched_yield();
		if (loop != NULL)
			run_prefer((enum model_role)role, loop);
	}
	return 0;
}

/* 0: until a signal. True: none came. */
static bool
run_for(struct framework *framework, uint64_t duration_ns)
{
	lull_run_begin(&framework->run);
	while (lull_run_wait(&framework->run, STEP_NS, duration_ns))
		;
	return strcmp(framework->run.end, "signal") != 0;
}

/* ---- readings ---- */

static void
run_copy(void *to, const void *from, size_t size)
{
	const uint64_t *source = from;
	uint64_t *target = to;

	for (size_t i = 0; i < size / sizeof(*source); i++)
		target[i] = LULL_COUNTER_READ(source[i]);
}

static void
run_read(const struct lull_loop *loop, struct model_reading *reading)
{
	const void *forward;

	lull_loop_stage_counters(loop, &forward);
	run_copy(&reading->idle, lull_loop_counters(loop), sizeof(reading->idle));
	run_copy(&reading->forward, forward, sizeof(reading->forward));
	reading->now_ns = lull_clock_ns();
	reading->cpu_ns = lull_thread_cpu_ns(lull_loop_tid(loop));
	reading->steal_ns = lull_steal_ns(lull_loop_cpu(loop));
}

static void
run_read_all(struct framework *framework, bool end)
{
	for (uint32_t i = 0; i < framework->measured_count; i++)
		for (int role = 0; role < MODEL_ROLES; role++) {
			struct model_loop *loop = &framework->loops[role];

			if (loop->loop == framework->measured[i])
				run_read(loop->loop, end ? &loop->end : &loop->begin);
		}
}

/* ---- the end ---- */

/* What a loop has taken in so far. */
static uint64_t
run_taken(const struct framework *framework, enum model_role role)
{
	const struct lull_loop *loop = framework->loops[role].loop;
	const struct lull_produce_counters *produce;
	const struct lull_link_counters *link;
	const struct lull_forward_counters *forward;
	const struct lull_tally_counters *tally;
	const void *counters;

	lull_loop_stage_counters(loop, &counters);
	switch (role) {
	case MODEL_PRODUCER:
		produce = counters;
		return LULL_COUNTER_READ(produce->pkts);
	case MODEL_LINK:
		link = counters;
		return LULL_COUNTER_READ(link->pkts) + LULL_COUNTER_READ(link->missed);
	case MODEL_CONSUMER:
		tally = counters;
		return LULL_COUNTER_READ(tally->received) + LULL_COUNTER_READ(tally->duplicates) +
		       LULL_COUNTER_READ(tally->stale) + LULL_COUNTER_READ(tally->foreign);
	default:
		forward = counters;
		return LULL_COUNTER_READ(forward->tx_pkts) + LULL_COUNTER_READ(forward->tx_drops);
	}
}

/* What it has handed on. */
static uint64_t
run_given(const struct framework *framework, enum model_role role)
{
	const struct lull_loop *loop = framework->loops[role].loop;
	const struct lull_forward_counters *forward;
	const struct lull_link_counters *link;
	const void *counters;

	lull_loop_stage_counters(loop, &counters);
	forward = counters;
	link = counters;
	if (role == MODEL_PRODUCER)
		return run_taken(framework, role);
	return LULL_COUNTER_READ(*(role == MODEL_LINK ? &link->pkts : &forward->tx_pkts));
}

/* The next loop downstream that runs here. */
static int
run_next(const struct framework *framework, int role)
{
	do
		role--;
	while (role >= 0 && framework->loops[role].loop == NULL);
	return role;
}

/* How long that may take: a slow link has full rings to carry. */
static uint64_t
run_drain_ns(const struct model_settings *settings)
{
	uint64_t bits = (uint64_t)(settings->public_ring + settings->ring + 2 * settings->burst) *
			(settings->size + MODEL_WIRE_EXTRA_BYTES) * 8;

	return DRAIN_NS + (settings->link_bps > 0 ? bits * LULL_NS_PER_S / settings->link_bps : 0);
}

/* From the producer on: end a loop, then give the next one time for what has been handed to it. */
static void
run_drain(struct framework *framework)
{
	uint64_t end_ns = lull_clock_ns() + run_drain_ns(&framework->settings);
	const struct timespec moment = { .tv_nsec = (long)LULL_NS_PER_MS };

	for (int role = MODEL_ROLES - 1; role >= 0; role--) {
		int next = run_next(framework, role);

		if (framework->loops[role].loop == NULL)
			continue;
		lull_loop_stop(framework->loops[role].loop);
		while (next >= 0 && lull_clock_ns() < end_ns &&
		       run_taken(framework, (enum model_role)next) <
			       run_given(framework, (enum model_role)role))
			nanosleep(&moment, NULL);
	}
}

/* A receiver alone does not know when its sender begins and ends. */
static bool
run_is_led(const struct framework *framework)
{
	return framework->settings.side == MODEL_RECEIVE && framework->settings.duration_ns > 0;
}

/* Until the first packet. True: no signal came. */
static bool
run_await(struct framework *framework)
{
	while (run_taken(framework, MODEL_RECEIVER) == 0)
		if (lull_run_signal(&framework->run, LULL_NS_PER_MS) != 0) {
			framework->run.end = "signal";
			return false;
		}
	return true;
}

/* Until nothing has come for a while, or a signal. */
static void
run_linger(struct framework *framework)
{
	uint64_t since_ns = lull_clock_ns(), before = 0;

	while (lull_clock_ns() - since_ns < QUIET_NS &&
	       lull_run_signal(&framework->run, STEP_NS) == 0) {
		uint64_t taken = run_taken(framework, MODEL_RECEIVER);

		if (taken != before)
			since_ns = lull_clock_ns();
		before = taken;
	}
}

static int
run_measure(struct framework *framework, struct lull_error *error)
{
	const struct model_settings *settings = &framework->settings;
	int rc = run_start(framework, error);
	bool goes;

	if (rc != 0)
		return rc;
	goes = (!run_is_led(framework) || run_await(framework)) &&
	       (settings->warmup_ns == 0 || run_for(framework, settings->warmup_ns));
	run_read_all(framework, false);
	if (goes)
		goes = run_for(framework, settings->duration_ns);
	run_read_all(framework, true);
	if (run_is_led(framework) && goes)
		run_linger(framework);
	lull_run_end(&framework->run);
	run_drain(framework);
	return 0;
}

/* ---- what a burst costs ---- */

static int
run_cost(const struct framework *framework, struct lull_burst_cost *cost, struct lull_error *error)
{
	int rc = lull_burst_cost(framework_tx_port(framework)->port_id,
				 framework_rx_port(framework)->port_id, framework->pool, cost);

	return rc == 0 ? 0 : lull_error_set(error, rc, "burst-cost: %s", strerror(-rc));
}

static int
run_costs(struct framework *framework, struct lull_error *error)
{
	static const uint32_t sizes[] = { 64, 128, 256, 512, 1024, SIZE_MOST };
	static const uint32_t bursts[] = { 1, 2, 4, 8, 16, 32, 64, 128 };
	const size_t size_count = sizeof(sizes) / sizeof(sizes[0]);
	const size_t count = size_count * (sizeof(bursts) / sizeof(bursts[0])) + 1;
	int rc = 0;

	framework->run.end = "duration";
	framework->costs = calloc(count, sizeof(*framework->costs));
	if (framework->costs == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the costs");
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct lull_burst_cost *cost = &framework->costs[framework->cost_count++];

		/* The first is the cost of having nothing to do. */
		if (i > 0) {
			cost->burst_pkts = bursts[(i - 1) / size_count];
			cost->len_bytes = sizes[(i - 1) % size_count] - MODEL_CRC_BYTES;
		}
		if (lull_run_signal(&framework->run, 0) != 0) {
			framework->run.end = "signal";
			framework->cost_count--;
			break;
		}
		rc = run_cost(framework, cost, error);
	}
	return rc;
}

int
framework_run(void *state, struct lull_error *error)
{
	struct framework *framework = state;

	return framework->settings.burst_cost ? run_costs(framework, error) :
						run_measure(framework, error);
}
