/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "case.h"
#include "stand.h"

static struct lull_sim_config
good(void)
{
	struct lull_arrival_config arrival = stand_arrival(LULL_ARRIVAL_POISSON, 1e5);

	return stand_config("objective", &arrival);
}

static void
refused(const struct lull_sim_config *config, const char *field)
{
	struct lull_range wrong = { NULL, 0, 0, 0 };
	struct lull_sim *sim = NULL;

	assert_int_equal(lull_sim_config_check(config, NULL), -EINVAL);
	assert_int_equal(lull_sim_config_check(config, &wrong), -EINVAL);
	assert_string_equal(wrong.field, field);
	assert_true(wrong.value < wrong.low || wrong.value > wrong.high);
	assert_int_equal(lull_sim_create(config, &sim), -EINVAL);
	assert_null(sim);
}

#define REFUSED(field, ...)                                                                        \
	do {                                                                                       \
		struct lull_sim_config config = good();                                            \
		__VA_ARGS__;                                                                       \
		refused(&config, field);                                                           \
	} while (0)

TEST(config_check__takes_what_is_good)
{
	struct lull_sim_config config = good();

	assert_int_equal(lull_sim_config_check(&config, NULL), 0);
	config.path = LULL_SIM_SEND_RECEIVE;
	assert_int_equal(lull_sim_config_check(&config, NULL), 0);
	config = good();
	config.link_bps = 1000000;
	config.shape_bps = 10000000000000ULL;
	config.late_ppm = LULL_PPM;
	config.burst_pkts = LULL_SIM_BURST_MAX;
	config.held_pkts = config.ring_pkts - 1;
	config.queue_count = LULL_IDLE_QUEUES_MAX;
	config.thread_count = config.core_count = LULL_SIM_THREADS_MAX;
	assert_int_equal(lull_sim_config_check(&config, NULL), 0);
}

static struct lull_sim_config
shared(void)
{
	struct lull_sim_config config = good();

	config.policy[LULL_SIM_SIDE_RECEIVE].governor = lull_idle_governor_find("metronome");
	config.share_queues = true;
	config.thread_count = config.core_count = 3;
	config.queue_count = 2;
	return config;
}

TEST(config_check__names_what_cannot_be_shared)
{
	struct lull_sim_config config = shared();

	assert_int_equal(lull_sim_config_check(&config, NULL), 0);
	config.queue_count = 4; /* one more than threads */
	refused(&config, "threads");
	config = shared();
	config.policy[LULL_SIM_SIDE_RECEIVE].governor = lull_idle_governor_find("objective");
	refused(&config, "share-queues");
	config = shared();
	config.thread_count = config.core_count = config.queue_count = 1;
	config.path = LULL_SIM_SEND_RECEIVE;
	refused(&config, "share-queues");
}

TEST(config_check__names_rings_and_threads)
{
	REFUSED("burst", config.burst_pkts = 0);
	REFUSED("burst", config.burst_pkts = LULL_SIM_BURST_MAX + 1);
	REFUSED("ring", config.ring_pkts = 0);
	REFUSED("ring", config.ring_pkts = (1u << 20) + 1);
	REFUSED("held", config.held_pkts = config.ring_pkts);
	REFUSED("public-ring", config.public_pkts = (1u << 20) + 1);
	REFUSED("public-ring", config.path = LULL_SIM_SEND_RECEIVE, config.public_pkts = 0);
	REFUSED("queues", config.queue_count = 0);
	REFUSED("queues", config.queue_count = LULL_IDLE_QUEUES_MAX + 1);
	REFUSED("queues", config.path = LULL_SIM_SEND_RECEIVE, config.queue_count = 2);
	REFUSED("threads", config.thread_count = 0, config.core_count = 0);
	REFUSED("threads", config.thread_count = LULL_SIM_THREADS_MAX + 1);
	REFUSED("threads", config.path = LULL_SIM_SEND_RECEIVE, config.thread_count = 2);
	REFUSED("cores", config.core_count = 0);
	REFUSED("cores", config.core_count = 2);
}

TEST(config_check__names_links_faults_and_times)
{
	REFUSED("link", config.link_bps = 999999);
	REFUSED("link", config.link_bps = 10000000000001ULL);
	REFUSED("shape", config.shape_bps = 1);
	REFUSED("shape", config.shape_bps = 10000000000001ULL);
	REFUSED("late", config.late_ppm = LULL_PPM + 1);
	REFUSED("late", config.late_ns = 10 * LULL_NS_PER_S + 1);
	REFUSED("stall", config.stall_ns = 1);
	REFUSED("stall", config.stall_ns = 1, config.stall_every_ns = 999);
	REFUSED("stall", config.stall_every_ns = LULL_NS_PER_S,
		config.stall_ns = 10 * LULL_NS_PER_S + 1);
	REFUSED("round-bursts", config.round_pkts = config.burst_pkts + 1);
	REFUSED("line-bursts", config.line_every_ns = LULL_NS_PER_MS);
	REFUSED("line-bursts", config.line_pkts = 65536);
	REFUSED("line-bursts", config.line_every_ns = 1, config.line_pkts = 1);
	REFUSED("line-bursts", config.line_every_ns = LULL_NS_PER_US, config.line_pkts = 1000);
	REFUSED("duration", config.duration_ns = 999);
	REFUSED("duration", config.duration_ns = UINT64_MAX);
	REFUSED("warmup", config.warmup_ns = UINT64_MAX);
}

TEST(config_check__asks_the_traffic_only_without_a_trace)
{
	static const uint64_t times_ns[] = { 0 };
	static const uint16_t bytes[] = { 60 };
	struct lull_sim_config traced = good();

	REFUSED("pps", config.arrival.pps = -1);
	REFUSED("size_count", config.arrival.size_count = 0);
	traced.arrival.pps = -1;
	traced.trace = (struct lull_sim_trace){ 1, times_ns, bytes };
	assert_int_equal(lull_sim_config_check(&traced, NULL), 0);
}

TEST(create__refuses_limits_out_of_range)
{
	struct lull_sim_config config = good();
	struct lull_sim *sim = NULL;

	config.policy[LULL_SIM_SIDE_RECEIVE].limits.percentile_ppm = 10;
	assert_int_equal(lull_sim_create(&config, &sim), -EINVAL);
	config = good();
	config.policy[LULL_SIM_SIDE_RECEIVE].governor = NULL;
	assert_int_equal(lull_sim_create(&config, &sim), -EINVAL);
	assert_null(sim);
	lull_sim_free(NULL);
}
