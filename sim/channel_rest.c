/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the loop of a node turns. One that polls is run when a packet comes, for it would find it at
 * once; one that rests finds it at the end of the rest under way. Rests are those of a governor,
 * planned and told one by one as in a live loop; or without one all of the same length, one after
 * the other: then rests in which nothing comes are not simulated one by one, but the bundle is told
 * of the last of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "channel_world.h"
#include "idle/governor.h"

#define NEVER LULL_BUNDLE_NEVER
#define IDLE_TURNS_MAX 1000
#define OVERSHOOT_USUAL (LULL_SIM_PPB / 10000 * 9999)

/* ---- begin ---- */

void
channel_rest_set(struct channel_node *node, uint64_t now_ns, uint64_t rest_ns)
{
	uint64_t late_ns =
		lull_sim_curve_at(&node->world->config.machine->overshoot, OVERSHOOT_USUAL);

	node->rest_max_ns = rest_ns;
	if (node->world->config.silent_rests || rest_ns == 0)
		late_ns = rest_ns = 0;
	lull_bundle_rest(node->bundle, now_ns, rest_ns + late_ns);
}

/* As channel/thread.c has them for a rail that is polled: it is rail credit that spares rings. */
static struct lull_idle_limits
rest_limits(const struct lull_sim_channel_config *config, uint32_t number)
{
	struct lull_idle_limits limits = {
		.latency_ns = config->rest_ns,
		.rest_ns_max = config->rest_ns,
		.rest_ns = config->rest_ns,
		.loss = LULL_LOSS_TOLERATE,
		.burst_pkts = CHANNEL_RX_BURST_PKTS,
		.ring_pkts = UINT32_MAX,
		.idle_states =
			LULL_IDLE_STATE_BIT(LULL_IDLE_PAUSE) | LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP),
	};

	for (uint32_t r = 0; r < config->nodes[number].rail_count; r++)
		limits.ring_pkts =
			LULL_MIN(limits.ring_pkts, config->nodes[number].rails[r].ring_pkts);
	return limits;
}

static int
rest_govern(struct channel_node *node, uint64_t now_ns)
{
	const struct lull_sim_channel_config *config = &node->world->config;
	const struct lull_idle_limits limits = rest_limits(config, node->number);
	size_t size = (lull_idle_size() + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);

	free(node->idle_memory);
	node->idle_memory = aligned_alloc(LULL_CACHE_LINE, size);
	if (node->idle_memory == NULL)
		return -ENOMEM;
	return lull_idle_init(node->idle_memory, config->governor, &limits, now_ns, &node->idle);
}

int
channel_rest_begin(struct channel_node *node, uint64_t now_ns)
{
	const struct lull_sim_channel_config *config = &node->world->config;

	node->resting = false;
	node->ready_ns = node->idle_ns = now_ns;
	node->idle = NULL;
	node->work = node->marked = (struct lull_sim_channel_work){ 0 };
	/* Who never rests needs no plan for each turn. */
	channel_rest_set(node, now_ns, config->governor == &lull_idle_spin ? 0 : config->rest_ns);
	return config->governor == NULL || node->rest_max_ns == 0 ? 0 : rest_govern(node, now_ns);
}

/* ---- the end of a rest ---- */

void
channel_rest_look(struct channel_node *node, uint64_t at_ns)
{
	for (uint32_t r = 0; r < node->world->config.nodes[node->number].rail_count; r++)
		if (node->number_of[r] != LULL_SIM_CHANNEL_ANY)
			lull_bundle_look(node->bundle, at_ns, node->number_of[r]);
}

/* Rests of one length: the last one that ended before this one found nothing. */
static void
rest_end_steady(struct channel_node *node, uint64_t now_ns)
{
	uint64_t rested_ns = now_ns - LULL_MIN(node->rest_from_ns, now_ns), whole;

	if (rested_ns == 0)
		return;
	whole = (rested_ns - 1) / node->rest_period_ns;
	node->rests += whole + 1;
	node->rested_ns += rested_ns;
	node->work.rests += whole + 1;
	node->work.rest_ns += rested_ns;
	node->work.requested_ns += (whole + 1) * node->rest_max_ns;
	if (whole > 0)
		channel_rest_look(node, node->rest_from_ns + whole * node->rest_period_ns);
}

static void
rest_end_planned(struct channel_node *node, uint64_t now_ns)
{
	struct lull_wake wake = {
		.rest = node->rest,
		.begin_ns = node->rest_from_ns,
		.end_ns = LULL_MAX(now_ns, node->rest_from_ns),
		/* the application wants to send */
		.reason = now_ns >= node->rest_end_ns ? LULL_WAKE_TIMER : LULL_WAKE_KICK,
	};
	uint64_t rested_ns = wake.end_ns - wake.begin_ns;

	if (node->rest.idle_state != LULL_IDLE_PAUSE) { /* the core stays with one that pauses */
		wake.cpu_ns = LULL_MIN(node->world->config.machine->rest_ns, rested_ns);
		node->rests++;
		node->rested_ns += rested_ns;
		node->work.rests++;
		node->work.rest_ns += rested_ns;
		node->work.requested_ns += node->rest.limit_ns;
	}
	lull_idle_wake(node->idle, &wake);
	node->idle_ns = wake.end_ns;
}

/* It polled since the last turn, and found nothing. */
static void
rest_polled(struct channel_node *node, uint64_t now_ns)
{
	uint64_t iteration_ns = LULL_MAX(node->world->config.machine->iteration_ns, 1);
	uint64_t iterations = (now_ns - LULL_MIN(node->idle_ns, now_ns)) / iteration_ns;

	if (iterations > 0)
		lull_idle_polled(node->idle, now_ns, iterations, iterations, 0);
	node->idle_ns = LULL_MAX(node->idle_ns, now_ns);
}

void
channel_rest_end(struct channel_node *node, uint64_t now_ns)
{
	if (node->idle == NULL && node->resting)
		rest_end_steady(node, now_ns);
	else if (node->idle != NULL && node->resting)
		rest_end_planned(node, now_ns);
	else if (node->idle != NULL)
		rest_polled(node, now_ns);
	node->resting = false;
}

/* ---- the begin of one ---- */

/* By the governor; false: it polls. */
static bool
rest_plan(struct channel_node *node, uint64_t now_ns, const struct channel_moved *moved,
	  uint64_t due_ns)
{
	const struct lull_sim_machine *machine = node->world->config.machine;
	const uint16_t queue_pkts = (uint16_t)LULL_MIN(moved->pkts, (uint32_t)UINT16_MAX);
	const struct lull_iteration iteration = {
		.now_ns = now_ns,
		.deadline_ns = due_ns == NEVER ? 0 : LULL_MAX(due_ns, 1),
		.queue_pkts = &queue_pkts,
		.queue_count = 1,
		.size_pkts = moved->pkts,
		.bytes = moved->bytes,
		.bytes_squared = moved->bytes_squared,
	};

	node->rest = lull_idle_plan(node->idle, &iteration);
	node->idle_ns = node->ready_ns;
	if (node->rest.idle_state == LULL_IDLE_NONE)
		return false;
	node->resting = true;
	node->rest_from_ns = node->ready_ns;
	node->rest_end_ns = node->ready_ns + node->rest.limit_ns;
	if (node->rest.idle_state != LULL_IDLE_PAUSE)
		node->rest_end_ns += lull_sim_curve_at(&machine->overshoot,
						       lull_prng_below(&node->prng, LULL_SIM_PPB));
	return true;
}

/* With a governor; @p due_ns of the bundle. */
static uint64_t
rest_planned(struct channel_node *node, uint64_t now_ns, const struct channel_moved *moved,
	     uint64_t due_ns, uint64_t app_ns)
{
	bool heedless = node->world->config.heedless_rests;
	bool busy = !heedless && (moved->more || lull_bundle_busy(node->bundle));

	if (heedless)
		return rest_plan(node, now_ns, moved, NEVER) ? node->rest_end_ns : node->ready_ns;
	if (rest_plan(node, now_ns, moved, busy ? now_ns : due_ns))
		return LULL_MIN(node->rest_end_ns, LULL_MAX(app_ns, node->ready_ns));
	/* A busy one polls whatever the governor would; else it wants to look again. */
	return busy && !moved->more ? LULL_MAX(node->ready_ns, LULL_MIN(due_ns, app_ns)) :
				      node->ready_ns;
}

/* Rests of rest_max_ns, or none. */
static uint64_t
rest_steady(struct channel_node *node, const struct channel_moved *moved, uint64_t due_ns,
	    uint64_t app_ns)
{
	const struct lull_sim_machine *machine = node->world->config.machine;
	uint64_t late_ns;

	if (moved->more || LULL_MIN(due_ns, app_ns) <= node->ready_ns)
		return node->ready_ns;
	if (node->rest_max_ns == 0 || lull_bundle_busy(node->bundle))
		return LULL_MIN(due_ns, app_ns);
	late_ns =
		lull_sim_curve_at(&machine->overshoot, lull_prng_below(&node->prng, LULL_SIM_PPB));
	node->resting = true;
	node->rest_from_ns = node->ready_ns;
	node->rest_period_ns = node->rest_max_ns + late_ns;
	return due_ns < app_ns ? due_ns + late_ns : app_ns;
}

uint64_t
channel_rest_plan(struct channel_node *node, uint64_t now_ns, const struct channel_moved *moved,
		  uint64_t app_ns)
{
	const struct lull_sim_machine *machine = node->world->config.machine;
	uint64_t due_ns = lull_bundle_deadline_ns(node->bundle);

	node->ready_ns = now_ns + LULL_MAX(machine->iteration_ns, 1) +
			 lull_sim_curve_at(&machine->burst, moved->pkts);
	if (moved->pkts > 0)
		node->work.busy_ns += node->ready_ns - now_ns;
	node->idle_turns = moved->pkts > 0 || due_ns > now_ns ? 0 : node->idle_turns + 1;
	if (node->idle_turns > IDLE_TURNS_MAX)
		channel_fail(node->world, node->number,
			     "the bundle has something to do now, and does nothing");
	return node->idle != NULL ? rest_planned(node, now_ns, moved, due_ns, app_ns) :
				    rest_steady(node, moved, due_ns, app_ns);
}

/* ---- meanwhile ---- */

uint64_t
channel_rest_arrive(const struct channel_node *node, uint64_t now_ns)
{
	const struct lull_sim_channel_config *config = &node->world->config;
	uint64_t from_ns = LULL_MAX(now_ns, node->ready_ns);

	if (!node->resting)
		return from_ns;
	if (node->idle != NULL)
		return LULL_MAX(from_ns, node->rest_end_ns);
	if (config->event_rests)
		return from_ns + config->machine->event_ns;
	return node->rest_from_ns +
	       ((from_ns - node->rest_from_ns) / node->rest_period_ns + 1) * node->rest_period_ns;
}

uint64_t
channel_rest_until(const struct channel_node *node)
{
	bool heedless = node->resting && node->idle != NULL && node->world->config.heedless_rests;

	return heedless ? LULL_MAX(node->ready_ns, node->rest_end_ns) : node->ready_ns;
}

/* ---- what it did ---- */

/* Up to now, the rest under way included. */
static struct lull_sim_channel_work
rest_work(const struct channel_node *node, uint64_t now_ns)
{
	struct lull_sim_channel_work work = node->work;

	if (node->resting && (node->idle == NULL || node->rest.idle_state != LULL_IDLE_PAUSE))
		work.rest_ns += now_ns - LULL_MIN(node->rest_from_ns, now_ns);
	return work;
}

void
channel_rest_mark(struct channel_node *node, uint64_t now_ns)
{
	node->marked = rest_work(node, now_ns);
}

void
channel_rest_sum(const struct channel_node *node, uint64_t now_ns,
		 struct lull_sim_channel_work *work)
{
	*work = rest_work(node, now_ns);
	work->span_ns = now_ns - LULL_MIN(node->world->marked_ns, now_ns);
	work->busy_ns -= LULL_MIN(node->marked.busy_ns, work->busy_ns);
	work->rest_ns -= LULL_MIN(node->marked.rest_ns, work->rest_ns);
	work->requested_ns -= LULL_MIN(node->marked.requested_ns, work->requested_ns);
	work->rests -= LULL_MIN(node->marked.rests, work->rests);
	work->rest_cpu_ns =
		LULL_MIN(work->rests * node->world->config.machine->rest_ns, work->rest_ns);
}

double
lull_sim_channel_cpu(const struct lull_sim_channel_work *work)
{
	if (work->span_ns == 0)
		return 0;
	return 1 - (double)(LULL_MIN(work->rest_ns, work->span_ns) - work->rest_cpu_ns) /
			   (double)work->span_ns;
}

double
lull_sim_channel_empty(const struct lull_sim_channel_work *work)
{
	uint64_t used_ns = LULL_MIN(work->rest_ns + work->busy_ns, work->span_ns);

	return work->span_ns == 0 ? 0 : 1 - (double)used_ns / (double)work->span_ns;
}
