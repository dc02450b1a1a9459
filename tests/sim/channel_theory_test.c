/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels against theory, in virtual time: how much of its rails a channel uses, how it follows
 * rails that fall silent, return and change their rate, and what a lost packet costs a small
 * message. A full packet carries 1464 bytes of 1514 on the wire, so 96.7 % is all there is.
 */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "sim/channel.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define M 1000000ULL

static struct lull_sim_channel_config *
preset(uint32_t rails, const uint64_t *rates_bps)
{
	struct lull_sim_channel_config *config = malloc(sizeof(*config));

	assert_non_null(config);
	lull_sim_channel_preset(config, 2, rails, 0);
	for (uint32_t n = 0; n < 2; n++)
		for (uint32_t r = 0; r < rails; r++)
			config->nodes[n].rails[r].rate_bps = rates_bps[r];
	config->calm_ns = 700 * MS;
	return config;
}

static void
all_wires(struct lull_sim_channel_config *config, uint64_t delay_ns, uint32_t loss_ppm)
{
	for (uint32_t n = 0; n < config->node_count; n++)
		for (uint32_t r = 0; r < config->nodes[n].rail_count; r++) {
			config->nodes[n].rails[r].wire.delay_ns = delay_ns;
			config->nodes[n].rails[r].wire.loss_ppm = loss_ppm;
		}
}

/* Frees the config. */
static struct lull_sim_channel_result *
run(struct lull_sim_channel_config *config)
{
	struct lull_sim_channel_result *result = calloc(1, sizeof(*result));
	struct lull_sim_channel *world;

	assert_non_null(result);
	assert_int_equal(lull_sim_channel_create(config, &world), 0);
	if (lull_sim_channel_run(world, NULL, NULL) != 0)
		fail_msg("%s", lull_sim_channel_failure(world));
	lull_sim_channel_read(world, result);
	lull_sim_channel_free(world);
	free(config);
	return result;
}

static double
share(struct lull_sim_channel_config *config)
{
	struct lull_sim_channel_result *result = run(config);
	double found = (double)result->received_bytes * 8e9 / (double)result->measured_ns /
		       (double)result->sum_bps;

	free(result);
	return found;
}

static void
assert_between(double found, double low, double high)
{
	if (found < low || found > high)
		fail_msg("%g is not in %g..%g", found, low, high);
}

static const uint64_t unequal[] = { 200 * M, 100 * M, 50 * M };
static const uint64_t eight[] = {
	100 * M, 100 * M, 100 * M, 100 * M, 50 * M, 50 * M, 50 * M, 50 * M
};

static double
spread_share(uint32_t rails, const uint64_t *rates_bps, const char *spread)
{
	struct lull_sim_channel_config *config = preset(rails, rates_bps);

	config->bundle.spread = lull_bundle_spread_find(spread);
	return share(config);
}

/* Round robin is as fast as the slowest rail lets it be: 3 * 50 of 350, 8 * 50 of 600. */
TEST(spread__shares_of_unequal_rails)
{
	assert_between(spread_share(3, unequal, "pull"), 0.955, 0.968);
	assert_between(spread_share(3, unequal, "weigh"), 0.955, 0.968);
	assert_between(spread_share(3, unequal, "turn"), 0.39, 0.44);
	assert_between(spread_share(8, eight, "pull"), 0.955, 0.968);
	assert_between(spread_share(8, eight, "weigh"), 0.955, 0.968);
	assert_between(spread_share(8, eight, "turn"), 0.62, 0.67);
}

TEST(pull__equal_rails)
{
	static const uint64_t rates_bps[] = { 200 * M, 200 * M };

	assert_between(spread_share(2, rates_bps, "pull"), 0.955, 0.968);
	assert_between(spread_share(4, eight, "pull"), 0.955, 0.968);
	assert_between(
		spread_share(4, (const uint64_t[]){ 200 * M, 200 * M, 100 * M, 50 * M }, "pull"),
		0.955, 0.968);
}

/* Round trips of 10 us to 10 ms. */
TEST(pull__at_any_round_trip)
{
	static const uint64_t delays_ns[] = { 5 * US, 50 * US, 500 * US, 5 * MS };

	for (uint32_t i = 0; i < COUNT(delays_ns); i++) {
		struct lull_sim_channel_config *config = preset(3, unequal);

		all_wires(config, delays_ns[i], 0);
		assert_between(share(config), 0.93, 0.968);
	}
}

/* MPTCP keeps 67 % of its sum where round trips differ by two. */
TEST(pull__round_trips_that_differ_by_ten)
{
	static const uint64_t rates_bps[] = { 100 * M, 100 * M };
	struct lull_sim_channel_config *config = preset(2, rates_bps);

	for (uint32_t n = 0; n < 2; n++) {
		config->nodes[n].rails[0].wire.delay_ns = 100 * US;
		config->nodes[n].rails[1].wire.delay_ns = MS;
	}
	assert_between(share(config), 0.90, 0.968);
	config = preset(2, rates_bps);
	for (uint32_t n = 0; n < 2; n++) {
		config->nodes[n].rails[0].wire.delay_ns = 500 * US;
		config->nodes[n].rails[1].wire.delay_ns = 5 * MS;
	}
	assert_between(share(config), 0.90, 0.968);
}

TEST(pull__with_loss)
{
	struct lull_sim_channel_config *config = preset(3, unequal);

	all_wires(config, 5 * US, 1000);
	assert_between(share(config), 0.94, 0.968);
	config = preset(3, unequal);
	all_wires(config, 5 * US, 10000);
	assert_between(share(config), 0.92, 0.968);
}

/* ---- rails that change ---- */

static void
fault(struct lull_sim_channel_config *config, uint64_t at_ns, enum lull_sim_channel_fault_type type,
      uint32_t rail, uint64_t value)
{
	config->faults[config->fault_count++] = (struct lull_sim_channel_fault){
		.at_ns = at_ns,
		.type = type,
		.node = LULL_SIM_CHANNEL_ANY,
		.rail = rail,
		.value = value,
	};
}

/* Mean rate of what was delivered from one ms on to another, Mbit/s. */
static double
curve_rate(const struct lull_sim_channel_result *result, uint32_t from_ms, uint32_t to_ms)
{
	uint64_t bytes = 0;

	for (uint32_t i = from_ms; i < to_ms; i++)
		bytes += result->curve_bytes[i];
	return (double)bytes * 8 / (to_ms - from_ms) / 1000;
}

static uint32_t
curve_zeros(const struct lull_sim_channel_result *result, uint32_t from_ms, uint32_t to_ms)
{
	uint32_t longest = 0, zeros = 0;

	for (uint32_t i = from_ms; i < to_ms; i++) {
		zeros = result->curve_bytes[i] == 0 ? zeros + 1 : 0;
		longest = LULL_MAX(longest, zeros);
	}
	return longest;
}

TEST(silence__is_outlived_and_return_is_seen)
{
	const double all = 350 * 0.967, rest = 250 * 0.967;
	struct lull_sim_channel_config *config = preset(3, unequal);
	struct lull_sim_channel_result *result;

	fault(config, 300 * MS, LULL_SIM_CHANNEL_SILENT, 1, 0);
	fault(config, 600 * MS, LULL_SIM_CHANNEL_RETURN, 1, 0);
	config->calm_ns = 1200 * MS;
	result = run(config);
	assert_true(curve_zeros(result, 250, 1100) < 25);
	assert_between(curve_rate(result, 350, 600), 0.95 * rest, rest);
	assert_between(curve_rate(result, 350, 380), 0.95 * rest, 1.01 * rest);
	assert_between(curve_rate(result, 900, 930), 0.95 * all, 1.01 * all);
	assert_between(curve_rate(result, 900, 1200), 0.95 * all, all);
	assert_int_equal(result->failed + result->falls, 0);
	free(result);
}

TEST(rate__is_followed)
{
	const double all = 350 * 0.967, less = 200 * 0.967;
	struct lull_sim_channel_config *config = preset(3, unequal);
	struct lull_sim_channel_result *result;

	fault(config, 400 * MS, LULL_SIM_CHANNEL_RATE, 0, 50 * M);
	fault(config, 700 * MS, LULL_SIM_CHANNEL_RATE, 0, 200 * M);
	config->calm_ns = 1100 * MS;
	result = run(config);
	assert_between(curve_rate(result, 450, 480), 0.9 * less, 1.05 * less);
	assert_between(curve_rate(result, 500, 700), 0.95 * less, 1.01 * less);
	assert_between(curve_rate(result, 800, 830), 0.9 * all, 1.01 * all);
	assert_between(curve_rate(result, 800, 1100), 0.95 * all, all);
	free(result);
}

/* ---- small messages ---- */

TEST(ping__half_a_round_trip_at_loss)
{
	static const uint64_t rates_bps[] = { 200 * M, 200 * M };
	struct lull_sim_channel_config *config = preset(2, rates_bps);
	struct lull_sim_channel_result *result;

	config->job.type = LULL_SIM_CHANNEL_PING;
	config->job.message_bytes = 64;
	all_wires(config, 5 * US, 10000);
	config->calm_ns = 2200 * MS;
	result = run(config);
	assert_true(result->latency.count > 10000);
	assert_true(lull_histogram_quantile(&result->latency, 990000) <= 500 * US);
	assert_true(result->latency.max <= 5 * MS);
	free(result);
}

/* ---- rests ---- */

/* An exchange each 100 ms loses nothing for its rests, and hardly any speed. */
TEST(rest__costs_no_message_and_no_ring)
{
	uint64_t received[2], lost[2];

	for (uint32_t rests = 0; rests < 2; rests++) {
		struct lull_sim_channel_config *config = preset(3, unequal);
		struct lull_sim_channel_result *result;

		config->job.type = LULL_SIM_CHANNEL_PERIODIC;
		config->job.message_bytes = 20000;
		config->job.under_way = 8;
		config->job.period_ns = 100 * MS;
		config->job.burst_ns = 10 * MS;
		config->calm_ns = 2200 * MS;
		config->rest_ns = rests * MS;
		result = run(config);
		received[rests] = result->received_bytes;
		lost[rests] = result->wire_lost + result->queue_drops + result->ring_drops +
			      result->failed;
		assert_true(rests == 0 || result->rest_ns > 2200 * MS);
		free(result);
	}
	assert_int_equal(lost[0] + lost[1], 0);
	assert_true((double)received[1] >= 0.98 * (double)received[0]);
}

/* Bursts begin with an empty queue and fill windows at once: no port of the switch overflows. */
TEST(rest__overflows_no_queue)
{
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t received[2], resent[2] = { 0 };

		for (uint32_t rests = 0; rests < 2; rests++) {
			struct lull_sim_channel_config *config = preset(3, unequal);
			struct lull_sim_channel_result *result;

			config->seed = 1 + i / 2;
			config->job.type = LULL_SIM_CHANNEL_PERIODIC;
			config->job.message_bytes = i % 2 == 0 ? 100000 : 20000;
			config->job.under_way = 16;
			config->job.period_ns = 100 * MS;
			config->job.burst_ns = 10 * MS;
			config->calm_ns = 1200 * MS;
			config->rest_ns = rests * MS;
			result = run(config);
			received[rests] = result->received_bytes;
			for (uint32_t k = 0; k < result->path_count; k++)
				resent[rests] += result->paths[k].look.counters.resent_pkts;
			assert_int_equal(result->queue_drops + result->ring_drops, 0);
			free(result);
		}
		if (i % 2 == 0) {
			assert_true(resent[1] <= resent[0]);
			assert_true((double)received[1] >= 0.98 * (double)received[0]);
		}
	}
}

TEST(start__overflows_no_queue)
{
	struct lull_sim_channel_config *config = preset(3, unequal);
	struct lull_sim_channel_result *result;

	config->calm_ns = 500 * MS;
	result = run(config);
	assert_int_equal(result->queue_drops + result->ring_drops, 0);
	free(result);
}

/* 32 senders, one receiver: all alike, and hardly anything is sent again. */
TEST(incast__is_fair_and_loses_little)
{
	struct lull_sim_channel_config *config = malloc(sizeof(*config));
	struct lull_sim_channel_result *result;
	uint64_t resent = 0, sent = 0;

	assert_non_null(config);
	lull_sim_channel_preset(config, LULL_SIM_CHANNEL_NODES_MAX, 1, 1000 * M);
	config->job.under_way = 1;
	config->job.message_bytes = 200000;
	config->calm_ns = 500 * MS;
	result = run(config);
	for (uint32_t i = 0; i < result->path_count; i++) {
		resent += result->paths[i].look.counters.resent_pkts;
		sent += result->paths[i].look.counters.tx_pkts * (result->paths[i].node > 0);
	}
	assert_true(lull_sim_channel_jain(result, 1, LULL_SIM_CHANNEL_NODES_MAX - 1) >= 0.95);
	assert_true((double)resent <= 0.005 * (double)sent);
	assert_true((double)result->received_bytes * 8e9 / (double)result->measured_ns >= 0.9e9);
	free(result);
}

/* ---- statistics ---- */

/* Where packets keep their order, what paths count as lost is what the wires lost. */
TEST(statistics__lost_packets_are_exact)
{
	struct lull_sim_channel_config *config = preset(3, unequal);
	struct lull_sim_channel_result *result;
	uint64_t lost = 0;

	all_wires(config, 100 * US, 5000);
	config->job.messages = 0;
	result = run(config);
	for (uint32_t i = 0; i < result->path_count; i++)
		lost += result->paths[i].look.counters.lost_pkts -
			result->paths[i].look.counters.late_pkts;
	/* the wires go on losing after the look, until all has ended */
	assert_true(lost > 0 && lost <= result->wire_lost + result->queue_drops);
	free(result);
}

/*
 * Some packets overtake those that wait in a port, as where a switch has several queues. They see
 * no queue: windows that went by them filled the port, what they overtook was taken for lost, and
 * paths on which all packets were late were given up.
 */
TEST(overtaking__costs_little)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct lull_sim_channel_config *config = malloc(sizeof(*config));
		struct lull_sim_channel_result *result;
		uint64_t resent = 0, sent = 0;

		assert_non_null(config);
		lull_sim_channel_preset(config, 3, 2, 50 * M);
		config->seed = seed;
		config->job.type = LULL_SIM_CHANNEL_STREAM;
		config->job.message_bytes = 1 << 20;
		config->calm_ns = 1000 * MS;
		for (uint32_t rail = 0; rail < 2; rail++) {
			config->nodes[0].rails[rail].wire.overtake_ppm = 200000;
			config->nodes[0].rails[rail].wire.queue_bytes = 200000;
		}
		result = run(config);
		for (uint32_t i = 0; i < result->path_count; i++) {
			assert_int_equal(result->paths[i].look.state, LULL_BUNDLE_PATH_UP);
			resent += result->paths[i].look.counters.resent_pkts;
			sent += result->paths[i].look.counters.tx_pkts;
		}
		assert_between((double)result->received_bytes * 8e9 / (double)result->measured_ns,
			       94.0 * M, 96.8 * M);
		assert_between((double)resent, 0, 0.02 * (double)sent);
		free(result);
	}
}
