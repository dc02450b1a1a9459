/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>

#include <lull/traffic.h>

#include "case.h"

static struct lull_arrival_config
usual(enum lull_arrival_kind kind, double pps)
{
	return (struct lull_arrival_config){
		.kind = kind,
		.pps = pps,
		.on_ns = 5 * LULL_NS_PER_MS,
		.off_ns = 20 * LULL_NS_PER_MS,
		.period_ns = 10 * LULL_NS_PER_S,
		.size_count = 1,
		.size_bytes = { 60 },
		.size_weight = { 1 },
		.seed = 1,
	};
}

static void
check_refuses(const struct lull_arrival_config *config, const char *field, uint64_t value)
{
	struct lull_range error = { 0 };

	assert_int_equal(lull_arrival_config_check(config, NULL), -EINVAL);
	assert_int_equal(lull_arrival_config_check(config, &error), -EINVAL);
	assert_string_equal(error.field, field);
	assert_int_equal(error.value, value);
	assert_true(error.value < error.low || error.value > error.high);
}

TEST(config_check__rates)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_CONSTANT, 1000);

	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.pps_high = NAN; /* not looked at */
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.pps = 0.5;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.pps = 0;
	check_refuses(&config, "pps", 0);
	config.pps = -5;
	check_refuses(&config, "pps", 0);
	config.pps = NAN;
	check_refuses(&config, "pps", 0);
	config.pps = 3e8;
	check_refuses(&config, "pps", 300000000);
	config.pps = INFINITY;
	check_refuses(&config, "pps", UINT64_MAX);
}

TEST(config_check__swings)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_TIDAL, 0);

	check_refuses(&config, "pps_high", 0);
	config.pps_high = 1e6;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.period_ns = 1;
	check_refuses(&config, "period_ns", 1);
	config = usual(LULL_ARRIVAL_RAMP, 10);
	config.pps_high = 0;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.period_ns = 25 * 3600 * LULL_NS_PER_S;
	check_refuses(&config, "period_ns", 25 * 3600 * LULL_NS_PER_S);
	config = usual(LULL_ARRIVAL_ONOFF, 10);
	config.off_ns = 999;
	check_refuses(&config, "off_ns", 999);
	config.on_ns = 0;
	check_refuses(&config, "on_ns", 0);
}

TEST(config_check__sizes_and_kind)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_POISSON, 10);

	config.size_count = 9;
	check_refuses(&config, "size_count", 9);
	config.size_count = 2;
	check_refuses(&config, "size_bytes", 0);
	config.size_bytes[1] = 9600;
	check_refuses(&config, "size_weight", 0);
	config.size_weight[1] = 1;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.size_bytes[0] = 59;
	check_refuses(&config, "size_bytes", 59);
	config.kind = LULL_ARRIVAL_OFF;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.kind = LULL_ARRIVAL_INCAST + 1;
	check_refuses(&config, "kind", LULL_ARRIVAL_INCAST + 1);
}

TEST(config_check__selfsimilar)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_SELFSIMILAR, 1000);

	check_refuses(&config, "hurst", 0);
	config.hurst = 0.501;
	check_refuses(&config, "source_count", 0);
	config.source_count = 65;
	check_refuses(&config, "source_count", 65);
	config.source_count = 64;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.hurst = 0.999;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.hurst = 0.5;
	check_refuses(&config, "hurst", 500);
	config.hurst = 0.9995;
	check_refuses(&config, "hurst", 1000);
	config.hurst = NAN;
	check_refuses(&config, "hurst", 0);
	config.hurst = -INFINITY;
	check_refuses(&config, "hurst", 0);
	config.hurst = INFINITY;
	check_refuses(&config, "hurst", 1000000001);
	config.hurst = 0.8;
	config.pps = 0;
	check_refuses(&config, "pps", 0);
}

TEST(config_check__incast)
{
	struct lull_arrival_config config = usual(LULL_ARRIVAL_INCAST, 0);

	check_refuses(&config, "sender_count", 0);
	config.sender_count = 4097;
	check_refuses(&config, "sender_count", 4097);
	config.sender_count = 4096;
	check_refuses(&config, "sender_pkts", 0);
	config.sender_pkts = 65536;
	check_refuses(&config, "sender_pkts", 65536);
	config.sender_pkts = 65535;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.period_ns = LULL_NS_PER_S; /* more than 2e8 packets/s */
	check_refuses(&config, "period_ns", LULL_NS_PER_S);
	config.sender_count = 1;
	config.sender_pkts = 200;
	config.period_ns = LULL_NS_PER_US;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.jitter_ns = LULL_NS_PER_US;
	assert_int_equal(lull_arrival_config_check(&config, NULL), 0);
	config.jitter_ns++;
	check_refuses(&config, "jitter_ns", LULL_NS_PER_US + 1);
	config.period_ns = 999;
	check_refuses(&config, "period_ns", 999);
}
