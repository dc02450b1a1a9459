/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "stand.h"

#include <stdlib.h>

/* ---- whole simulations ---- */

struct lull_arrival_config
stand_arrival(enum lull_arrival_kind kind, double pps)
{
	return (struct lull_arrival_config){
		.kind = kind,
		.pps = pps,
		.pps_high = 2 * pps,
		.on_ns = LULL_NS_PER_MS,
		.off_ns = LULL_NS_PER_MS,
		.period_ns = 10 * LULL_NS_PER_MS,
		.hurst = 0.8,
		.source_count = 16,
		.sender_count = 8,
		.sender_pkts = 16,
		.jitter_ns = 100 * LULL_NS_PER_US,
		.size_count = 1,
		.size_bytes = { 60 },
		.size_weight = { 1 },
	};
}

void
stand_about(double value, double expected, double tolerance, const char *what)
{
	if (value < expected * (1 - tolerance) || value > expected * (1 + tolerance))
		fail_msg("%s: %f, expected %f within %f %%", what, value, expected,
			 tolerance * 100);
}

struct lull_sim_config
stand_config(const char *governor, const struct lull_arrival_config *arrival)
{
	struct lull_sim_config config = {
		.machine = *lull_sim_machine_find("guest"),
		.arrival = *arrival,
		.ring_pkts = 1024,
		.public_pkts = 1024,
		.burst_pkts = 32,
		.queue_count = 1,
		.thread_count = 1,
		.core_count = 1,
		.seed = 1,
		.duration_ns = 50 * LULL_NS_PER_MS,
	};

	for (int side = 0; side < LULL_SIM_SIDE_COUNT; side++)
		config.policy[side].governor = lull_idle_governor_find(governor);
	assert_non_null(config.policy[0].governor);
	return config;
}

struct lull_sim_machine
stand_machine(void)
{
	return (struct lull_sim_machine){
		.name = "stand",
		.summary = "costs that are easy to reckon with",
		.iteration_ns = 100,
		.burst = { 2, { { 0, 100 }, { 256, 100 + 256 * 50 } } },
		.rest_ns = 2000,
		.event_ns = 1000,
		.switch_ns = 500,
		.watts = 8,
		.cstate_count = 2,
		.cstates = { { "shallow", 0, 4 }, { "deep", 50000, 1 } },
	};
}

void
stand_run_sides(const struct lull_sim_config *config, struct lull_sim_result *results)
{
	struct lull_range wrong = { "limits of the governor", 0, 0, 0 };
	struct lull_sim *sim = NULL;
	int side, rc;

	rc = lull_sim_config_check(config, &wrong);
	if (rc == 0)
		rc = lull_sim_create(config, &sim);
	if (rc != 0)
		fail_msg("refused, seed %llu: %s is %llu", (unsigned long long)config->seed,
			 wrong.field, (unsigned long long)wrong.value);
	rc = lull_sim_run(sim, NULL, NULL);
	if (rc != 0)
		fail_msg("seed %llu: run ended with %d", (unsigned long long)config->seed, rc);
	for (side = 0; side < LULL_SIM_SIDE_COUNT; side++)
		lull_sim_read(sim, (enum lull_sim_side)side, &results[side]);
	lull_sim_free(sim);
}

void
stand_run(const struct lull_sim_config *config, struct lull_sim_result *result)
{
	struct lull_sim_result *sides = calloc(LULL_SIM_SIDE_COUNT, sizeof(*sides));

	assert_non_null(sides);
	stand_run_sides(config, sides);
	*result = sides[LULL_SIM_SIDE_RECEIVE];
	free(sides);
}

/* ---- digest: FNV-1a over 64-bit words ---- */

static void
digest_word(uint64_t *digest, uint64_t word)
{
	for (uint32_t i = 0; i < 8; i++)
		*digest = (*digest ^ (word >> 8 * i & 0xff)) * 0x100000001b3ULL;
}

static void
digest_histogram(uint64_t *digest, const struct lull_histogram *histogram)
{
	digest_word(digest, histogram->count);
	digest_word(digest, histogram->sum);
	digest_word(digest, histogram->max);
	for (uint32_t i = 0; i < LULL_HISTOGRAM_BINS; i++)
		if (histogram->bins[i] > 0) {
			digest_word(digest, i);
			digest_word(digest, histogram->bins[i]);
		}
}

static void
digest_verdict(uint64_t *digest, const struct lull_verdict *verdict)
{
	const uint64_t words[] = {
		verdict->state,
		verdict->binding,
		verdict->idle_state,
		verdict->rest_ns,
		verdict->latency_bound_ns,
		verdict->ring_bound_ns,
		verdict->break_even_ns,
		verdict->predicted_ns,
		verdict->predicted_cpu_ppm,
		verdict->overshoot_p50_ns,
		verdict->overshoot_p99_ns,
		verdict->overshoot_p9999_ns,
		verdict->cost_ns,
		verdict->load_ppm,
		verdict->resting_ppm,
		verdict->arrival_pps,
		verdict->envelope,
		verdict->pps_max,
		verdict->calibration_count,
	};

	for (size_t i = 0; i < COUNT(words); i++)
		digest_word(digest, words[i]);
}

uint64_t
stand_digest(const struct lull_sim_result *result)
{
	const uint64_t words[] = { result->thread_count, result->time_ns,         result->cpu_ns,
				   result->offered,      result->delivered,       result->lost,
				   result->bytes,        result->stolen_ns,       result->active_ns,
				   result->samples,      result->samples_feasible };
	const struct lull_counter_info *row;
	uint64_t digest = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < COUNT(words); i++)
		digest_word(&digest, words[i]);
	for (uint32_t i = 0; i < LULL_SIM_CSTATES_MAX; i++)
		digest_word(&digest, result->cstate_ns[i]);
	for (row = lull_idle_counter_table; row->name != NULL; row++)
		digest_word(&digest,
			    *(const uint64_t *)(const void *)((const char *)&result->counters +
							      row->offset));
	digest_verdict(&digest, &result->verdict);
	digest_histogram(&digest, &result->latency);
	digest_histogram(&digest, &result->added);
	digest_histogram(&digest, &result->rest);
	return digest;
}

/* ---- threads by hand ---- */

void
stand_bench_init(struct stand_bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	bench->machine = stand_machine();
	lull_sim_cpu_init(&bench->cpu, 0, 0, 0, 1);
}

struct lull_sim_thread *
stand_bench_add(struct stand_bench *bench, const char *governor,
		const struct lull_idle_limits *limits, const struct lull_sim_trace *trace)
{
	uint32_t number = bench->thread_count++;
	struct lull_sim_thread *thread = &bench->threads[number];
	struct lull_sim_feed *feed = &bench->feeds[number];
	struct lull_sim_ring *ring = &bench->rings[number];

	assert_true(number < STAND_THREADS_MAX);
	thread->machine = &bench->machine;
	thread->quirks = &bench->quirks;
	thread->cpu = &bench->cpu;
	bench->cpu.thread_count++;
	thread->burst_pkts = 32;
	for (uint32_t i = 0; i <= 32; i++)
		thread->burst_ns[i] = lull_sim_curve_at(&bench->machine.burst, i);
	lull_sim_sampler_init(&thread->sampler, &bench->machine.overshoot, 1 + number);
	thread->idle_memory =
		aligned_alloc(LULL_CACHE_LINE, (lull_idle_size() + LULL_CACHE_LINE - 1) /
						       LULL_CACHE_LINE * LULL_CACHE_LINE);
	assert_non_null(thread->idle_memory);
	assert_int_equal(lull_idle_init(thread->idle_memory, lull_idle_governor_find(governor),
					limits, 0, &thread->idle),
			 0);
	assert_int_equal(lull_sim_ring_init(ring, 1024, &thread->ideal), 0);
	thread->rings = ring;
	thread->ring_count = 1;
	bench->ring_list[number] = ring;
	lull_sim_feed_init(feed, 1 + number);
	feed->trace = *trace;
	feed->rings = &bench->ring_list[number];
	feed->ring_count = 1;
	ring->feed = feed;
	lull_sim_feed_begin(feed);
	return thread;
}

void
stand_bench_done(struct stand_bench *bench)
{
	for (uint32_t i = 0; i < bench->thread_count; i++) {
		free(bench->threads[i].idle_memory);
		lull_sim_ring_done(&bench->rings[i]);
	}
}
