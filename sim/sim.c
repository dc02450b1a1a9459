/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schedule.h"

#define SIDES LULL_SIM_SIDE_COUNT
#define FRAME_BYTES_MIN 60

struct lull_sim {
	struct lull_sim_config config;
	struct lull_sim_schedule schedule;
	struct lull_sim_feed source, relay; /* what arrives first, and what a thread sends on */
	struct lull_sim_link relay_link;
	struct lull_arrival *arrival, *bursts;
	struct lull_sim_cpu cpus[LULL_SIM_THREADS_MAX + 1];
	uint32_t thread_count; /* receiving ones, then the sending one */
	struct lull_sim_thread threads[LULL_SIM_THREADS_MAX + 1];
	uint32_t ring_count;
	struct lull_sim_ring *rings;
	struct lull_sim_ring **ring_list;
	struct lull_share *share; /* NULL: each thread has its rings to itself */
};

/* Smallest frame the link may be full of: the rate a promise has to reckon with. */
static uint64_t
sim_link_pps(const struct lull_sim_config *config)
{
	return config->link_bps / (8 * (FRAME_BYTES_MIN + LULL_SIM_WIRE_BYTES));
}

static struct lull_idle_limits
sim_limits(const struct lull_sim_config *config, enum lull_sim_side side)
{
	struct lull_idle_limits limits = config->policy[side].limits;

	limits.ring_pkts = config->ring_pkts;
	limits.held_pkts = config->held_pkts;
	if (side == LULL_SIM_SIDE_SEND) {
		limits.ring_pkts = config->public_pkts;
		limits.held_pkts = 0;
	}
	limits.burst_pkts = config->burst_pkts;
	limits.short_leaves = config->round_pkts > 1 && !config->trusts_short;
	limits.loss_lag_ns = config->quirks.lag_ns;
	if (limits.envelope == LULL_ENVELOPE_LINK) {
		limits.pps_max = sim_link_pps(config);
		if (limits.pps_max == 0 || side == LULL_SIM_SIDE_SEND)
			limits.envelope = LULL_ENVELOPE_LEARNED;
	}
	/* A producer that waits loses nothing, however long the sender rests. */
	if (side == LULL_SIM_SIDE_SEND)
		limits.loss = LULL_LOSS_TOLERATE;
	return limits;
}

/* ---- setting up ---- */

static int
sim_source(struct lull_sim *sim)
{
	const struct lull_sim_config *config = &sim->config;
	struct lull_arrival_config bursts = {
		.kind = LULL_ARRIVAL_INCAST,
		.sender_count = 1,
		.sender_pkts = config->line_pkts,
		.period_ns = config->line_every_ns,
		.size_count = config->arrival.size_count,
		.seed = config->seed + 1,
	};
	struct lull_arrival_config arrival = config->arrival;

	lull_sim_feed_init(&sim->source, config->seed);
	sim->source.trace = config->trace;
	sim->source.burst_pkts = config->line_pkts;
	sim->source.weights = config->queue_weights;
	for (uint32_t i = 0; i < sim->ring_count; i++)
		sim->source.weight_sum += config->queue_weights[i];
	if (config->trace.count == 0) {
		sim->arrival = calloc(1, lull_arrival_size());
		if (sim->arrival == NULL)
			return -ENOMEM;
		arrival.seed = config->seed;
		lull_arrival_init(sim->arrival, &arrival, 0);
		sim->source.arrival = sim->arrival;
	}
	if (config->line_every_ns > 0) {
		sim->bursts = calloc(1, lull_arrival_size());
		if (sim->bursts == NULL)
			return -ENOMEM;
		memcpy(bursts.size_bytes, arrival.size_bytes, sizeof(bursts.size_bytes));
		memcpy(bursts.size_weight, arrival.size_weight, sizeof(bursts.size_weight));
		if (bursts.size_count == 0) {
			bursts.size_count = 1;
			bursts.size_bytes[0] = FRAME_BYTES_MIN;
			bursts.size_weight[0] = 1;
		}
		lull_arrival_init(sim->bursts, &bursts, 0);
		sim->source.bursts = sim->bursts;
	}
	return 0;
}

static int
sim_thread(struct lull_sim *sim, uint32_t number, enum lull_sim_side side, uint32_t room,
	   struct lull_sim_ring *rings, uint32_t ring_count)
{
	const struct lull_sim_config *config = &sim->config;
	struct lull_sim_thread *thread = &sim->threads[number];
	struct lull_idle_limits limits = sim_limits(config, side);
	const struct lull_sim_machine *machine = &config->machine;
	uint32_t i;
	int rc;

	thread->machine = machine;
	thread->quirks = &config->quirks;
	thread->ring_count = ring_count;
	thread->rings = rings;
	thread->burst_pkts = config->burst_pkts;
	thread->round_pkts = config->round_pkts;
	thread->counts_left = config->counts_left;
	for (i = 0; i <= config->burst_pkts; i++)
		thread->burst_ns[i] = lull_sim_curve_at(&machine->burst, i);
	thread->ideal.lone_ns = machine->iteration_ns + thread->burst_ns[1];
	thread->ideal.each_ns =
		(machine->iteration_ns + thread->burst_ns[config->burst_pkts]) / config->burst_pkts;
	thread->ideal.room_ns = thread->ideal.each_ns * room * ring_count;
	thread->late_ppm = config->late_ppm;
	thread->late_ns = config->late_ns;
	lull_sim_sampler_init(&thread->sampler, &machine->overshoot, config->seed + 16 * number);
	lull_sim_sampler_init(&thread->interrupt, &machine->interrupt,
			      config->seed + 16 * number + 3);
	lull_sim_sampler_init(&thread->monitor, &machine->monitor, config->seed + 16 * number + 4);
	if (config->competitor_ppm > 0) {
		lull_sim_sampler_init(&thread->beside_fifo, &machine->fifo_late,
				      config->seed + 16 * number + 1);
		lull_sim_sampler_init(&thread->beside_fair, &machine->fair_late,
				      config->seed + 16 * number + 2);
	}
	lull_sim_watch_init(&thread->watch, config->fifo, 0);
	lull_prng_init(&thread->fault, config->seed + 16 * number, 0x6c74);
	thread->idle_memory = aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + LULL_CACHE_LINE -
							      1) & ~(size_t)(LULL_CACHE_LINE - 1));
	if (thread->idle_memory == NULL)
		return -ENOMEM;
	rc = lull_idle_init(thread->idle_memory, config->policy[side].governor, &limits, 0,
			    &thread->idle);
	if (rc != 0)
		return rc;
	thread->wants_sizes = lull_idle_wants_sizes(thread->idle);
	for (i = 0; i < ring_count; i++) {
		rc = lull_sim_ring_init(&rings[i], room, &thread->ideal);
		if (rc != 0)
			return rc;
		sim->ring_list[&rings[i] - sim->rings] = &rings[i];
	}
	return 0;
}

static void
sim_cpu(struct lull_sim *sim, uint32_t number, uint32_t core)
{
	const struct lull_sim_config *config = &sim->config;
	struct lull_sim_cpu *cpu = &sim->cpus[core];

	if (cpu->thread_count == 0) {
		lull_sim_cpu_init(cpu, config->stall_every_ns, config->stall_ns,
				  config->stall_ns_max, config->seed + 16 * core);
		if (config->stall_from_ns > 0)
			lull_sim_cpu_quiet(cpu, config->stall_from_ns);
		lull_sim_competitor_init(&cpu->competitor, config->competitor_ppm,
					 config->competitor_run_ns, config->machine.switch_ns,
					 config->seed + 16 * core);
	}
	cpu->thread_count++;
	sim->threads[number].cpu = cpu;
}

static int
sim_share(struct lull_sim *sim)
{
	const struct lull_sim_config *config = &sim->config;

	if (!config->share_queues)
		return 0;
	sim->share = aligned_alloc(LULL_CACHE_LINE, lull_share_size(config->thread_count));
	if (sim->share == NULL)
		return -ENOMEM;
	lull_share_init(sim->share, config->queue_count, config->thread_count, config->seed);
	return 0;
}

/* Each shared ring is with the first threads, one each, for its losses and its ideal thread. */
static int
sim_receiver(struct lull_sim *sim, uint32_t number)
{
	const struct lull_sim_config *config = &sim->config;
	struct lull_sim_thread *thread = &sim->threads[number];
	uint32_t room = config->ring_pkts - config->held_pkts;
	uint32_t per_thread = sim->share == NULL ? config->queue_count : 1;
	bool has_rings = number * per_thread < sim->ring_count;
	int rc = sim_thread(sim, number, LULL_SIM_SIDE_RECEIVE, room,
			    has_rings ? &sim->rings[number * per_thread] : NULL,
			    has_rings ? per_thread : 0);

	if (rc != 0 || sim->share == NULL)
		return rc;
	thread->share = &sim->share->members[number];
	thread->shared = sim->rings;
	lull_share_join(thread->share);
	lull_idle_join(thread->idle, thread->share);
	return 0;
}

static int
sim_receivers(struct lull_sim *sim)
{
	const struct lull_sim_config *config = &sim->config;
	uint32_t i;
	int rc = sim_share(sim);

	if (rc != 0)
		return rc;
	for (i = 0; i < config->thread_count; i++) {
		rc = sim_receiver(sim, i);
		if (rc != 0)
			return rc;
		sim_cpu(sim, i, i % config->core_count);
	}
	sim->thread_count = config->thread_count;
	return 0;
}

/* producer -> public ring -> sender -> link -> the one receiver */
static int
sim_sender(struct lull_sim *sim)
{
	const struct lull_sim_config *config = &sim->config;
	uint32_t number = sim->thread_count;
	struct lull_sim_thread *thread = &sim->threads[number];
	struct lull_sim_ring *ring = &sim->rings[sim->ring_count - 1];
	int rc;

	rc = sim_thread(sim, number, LULL_SIM_SIDE_SEND, config->public_pkts, ring, 1);
	if (rc != 0)
		return rc;
	sim_cpu(sim, number, config->core_count);
	sim->thread_count++;
	thread->out = &sim->rings[0];
	thread->out_link = &sim->relay_link;
	lull_sim_link_init(&sim->relay_link, config->link_bps, config->shape_bps,
			   config->shape_bytes);
	/* The Tx ring: as many descriptors as the Rx ring, of full-sized frames' time at most. */
	thread->out_room_ps =
		(uint64_t)config->ring_pkts * lull_sim_frame_ps(config->link_bps, FRAME_BYTES_MIN);
	lull_sim_feed_init(&sim->relay, config->seed);
	sim->relay.next_ns = UINT64_MAX;
	sim->relay.ring_count = 1;
	sim->relay.rings = sim->ring_list;
	sim->rings[0].feed = &sim->relay;
	sim->source.closed = true;
	sim->source.ring_count = 1;
	sim->source.rings = &sim->ring_list[sim->ring_count - 1];
	ring->feed = &sim->source;
	return 0;
}

static int
sim_set_up(struct lull_sim *sim)
{
	const struct lull_sim_config *config = &sim->config;
	bool relayed = config->path == LULL_SIM_SEND_RECEIVE;
	int rc;

	sim->ring_count = config->queue_count;
	if (!config->share_queues)
		sim->ring_count = config->thread_count * config->queue_count + (relayed ? 1 : 0);
	sim->rings = calloc(sim->ring_count, sizeof(*sim->rings));
	sim->ring_list = calloc(sim->ring_count, sizeof(struct lull_sim_ring *));
	if (sim->rings == NULL || sim->ring_list == NULL)
		return -ENOMEM;
	rc = sim_source(sim);
	if (rc == 0)
		rc = sim_receivers(sim);
	if (rc == 0 && relayed)
		rc = sim_sender(sim);
	if (rc != 0)
		return rc;
	if (!relayed) {
		lull_sim_link_init(&sim->source.link, config->link_bps, config->shape_bps,
				   config->shape_bytes);
		sim->source.ring_count = sim->ring_count;
		sim->source.rings = sim->ring_list;
		for (uint32_t i = 0; i < sim->ring_count; i++)
			sim->rings[i].feed = &sim->source;
	}
	lull_sim_feed_begin(&sim->source);
	lull_sim_schedule_begin(&sim->schedule, sim->threads, sim->thread_count);
	return 0;
}

int
lull_sim_create(const struct lull_sim_config *config, struct lull_sim **out)
{
	struct lull_sim *sim;
	int rc;

	if (lull_sim_config_check(config, NULL) != 0)
		return -EINVAL;
	sim = calloc(1, sizeof(*sim));
	if (sim == NULL)
		return -ENOMEM;
	sim->config = *config;
	rc = sim_set_up(sim);
	if (rc != 0) {
		lull_sim_free(sim);
		return rc;
	}
	*out = sim;
	return 0;
}

void
lull_sim_free(struct lull_sim *sim)
{
	if (sim == NULL)
		return;
	for (uint32_t i = 0; i <= LULL_SIM_THREADS_MAX; i++)
		free(sim->threads[i].idle_memory);
	for (uint32_t i = 0; sim->rings != NULL && i < sim->ring_count; i++)
		lull_sim_ring_done(&sim->rings[i]);
	free(sim->rings);
	free(sim->ring_list);
	free(sim->share);
	free(sim->arrival);
	free(sim->bursts);
	free(sim);
}

/* ---- running ---- */

#define PROGRESS_STEPS 100
#define PROGRESS_NS_MAX (100 * LULL_NS_PER_MS)

/* Advance to end_ns in steps. */
static int
sim_advance(struct lull_sim *sim, uint64_t begin_ns, uint64_t end_ns, lull_sim_progress *progress,
	    void *arg)
{
	uint64_t total_ns = sim->config.warmup_ns + sim->config.duration_ns;
	uint64_t step_ns = LULL_MIN(total_ns / PROGRESS_STEPS + 1, PROGRESS_NS_MAX);
	int rc;

	while (begin_ns < end_ns) {
		begin_ns = LULL_MIN(begin_ns + step_ns, end_ns);
		rc = lull_sim_schedule_run(&sim->schedule, begin_ns);
		if (rc != 0)
			return rc;
		if (progress != NULL && !progress(arg, begin_ns, total_ns))
			return -EINTR;
	}
	return 0;
}

int
lull_sim_run(struct lull_sim *sim, lull_sim_progress *progress, void *arg)
{
	const struct lull_sim_config *config = &sim->config;
	int rc;

	rc = sim_advance(sim, 0, config->warmup_ns, progress, arg);
	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < sim->thread_count; i++)
		lull_sim_thread_mark(&sim->threads[i]);
	return sim_advance(sim, config->warmup_ns, config->warmup_ns + config->duration_ns,
			   progress, arg);
}

static void
sim_add_counters(struct lull_idle_counters *sum, const struct lull_idle_counters *now,
		 const struct lull_idle_counters *then)
{
	const struct lull_counter_info *row;

	for (row = lull_idle_counter_table; row->name != NULL; row++) {
		uint64_t *into = (uint64_t *)(void *)((char *)sum + row->offset);

		*into += *(const uint64_t *)(const void *)((const char *)now + row->offset) -
			 *(const uint64_t *)(const void *)((const char *)then + row->offset);
	}
}

static void
sim_add_share(const struct lull_share_member *member, const struct lull_share_counters *then,
	      struct lull_sim_result *result)
{
	result->share.tries += member->counters.tries - then->tries;
	result->share.tries_failed += member->counters.tries_failed - then->tries_failed;
	lull_histogram_merge(&result->vacations, &member->vacations);
}

static void
sim_add_thread(const struct lull_sim_thread *thread, struct lull_sim_result *result)
{
	const struct lull_sim_stats *stats = &thread->stats;
	const struct lull_sim_competitor *competitor = &thread->cpu->competitor;

	if (result->thread_count++ == 0) {
		lull_idle_verdict(thread->idle, &result->verdict);
		lull_idle_remedies(thread->idle, &result->verdict);
	}
	result->time_ns += thread->now_ns - stats->begin_ns;
	result->cpu_ns += stats->cpu_ns;
	result->offered += lull_sim_thread_offered(thread) - stats->offered;
	result->lost += lull_sim_thread_lost(thread) - stats->lost;
	result->delivered += stats->delivered;
	result->bytes += stats->bytes;
	result->stolen_ns += stats->stolen_ns;
	result->waited_ns += stats->waited_ns;
	result->realtime_ns += stats->realtime_ns;
	result->leaves += thread->watch.leave_count - stats->leaves;
	if (lull_sim_competitor_present(competitor)) { /* which has no other thread beside it */
		result->competitor_ns += competitor->got_ns - stats->competitor_ns;
		result->competitor_time_ns += thread->now_ns - stats->begin_ns;
	}
	result->active_ns += stats->active_ns;
	for (uint32_t i = 0; i < LULL_SIM_CSTATES_MAX; i++)
		result->cstate_ns[i] += stats->cstate_ns[i];
	result->samples += stats->samples;
	result->samples_feasible += stats->samples_feasible;
	sim_add_counters(&result->counters, lull_idle_counters(thread->idle), &stats->counters);
	if (thread->share != NULL)
		sim_add_share(thread->share, &stats->share, result);
	lull_histogram_merge(&result->latency, &stats->latency);
	lull_histogram_merge(&result->added, &stats->added);
	lull_histogram_merge(&result->rest, lull_idle_rest_histogram(thread->idle));
	lull_histogram_merge(&result->wait, lull_idle_wait_histogram(thread->idle));
}

void
lull_sim_read(const struct lull_sim *sim, enum lull_sim_side side, struct lull_sim_result *result)
{
	uint32_t receivers = sim->config.thread_count;

	memset(result, 0, sizeof(*result));
	result->limits = sim_limits(&sim->config, side);
	for (uint32_t i = 0; i < sim->thread_count; i++)
		if ((i < receivers) == (side == LULL_SIM_SIDE_RECEIVE))
			sim_add_thread(&sim->threads[i], result);
}

uint64_t
lull_sim_pkts(const struct lull_sim *sim)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < sim->ring_count; i++)
		sum += sim->rings[i].offered;
	return sum;
}
