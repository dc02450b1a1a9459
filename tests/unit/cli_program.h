/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A program for the tests of the command line: one row of each type.
 */
#ifndef LULL_TEST_CLI_PROGRAM_H
#define LULL_TEST_CLI_PROGRAM_H

#include <lull/base.h>

#include "program/cpus.h"
#include "program/program.h"
#include "program/traffic_spec.h"

enum cli_loss {
	CLI_LOSS_ZERO,
	CLI_LOSS_TOLERATE,
};

struct cli_settings {
	bool rx_only;
	uint16_t queues;
	uint64_t packets;
	uint64_t max_latency_ns;
	uint64_t duration_ns;
	double percentile;
	char json[32];
	struct lull_option_list vdev;
	enum cli_loss loss;
	uint32_t governor;
	struct lull_cpu_list cpus;
	struct lull_arrival_config traffic;
};

static const char *const cli_losses[] = { "zero", "tolerate", NULL };
static const char *const cli_governors[] = { "spin", "objective", "ramp", NULL };

static const char *
cli_governor(uint32_t index)
{
	return cli_governors[index];
}

static const char *
cli_governor_help(uint32_t index)
{
	return index == 0 ? "never rests" :
			    "rests as long as the objective allows, which is a text "
			    "that needs more than one line to be told";
}

static const struct lull_option cli_options[] = {
	{ .key = "vdev",
	  .group = "Ports",
	  .argument = "DEVICE",
	  .type = LULL_OPTION_LIST,
	  .help = "DPDK virtual device.",
	  LULL_OPTION_MEMBER(struct cli_settings, vdev) },
	{ .key = "queues",
	  .type = LULL_OPTION_COUNT,
	  .help = "Rx queues per port.",
	  .value = "1",
	  .low = 1,
	  .high = 16,
	  LULL_OPTION_MEMBER(struct cli_settings, queues) },
	{ .key = "packets",
	  .type = LULL_OPTION_COUNT,
	  .help = "Stop after so many.",
	  LULL_OPTION_MEMBER(struct cli_settings, packets) },
	{ .key = "rx-only",
	  .type = LULL_OPTION_BOOL,
	  .help = "Send nothing.",
	  LULL_OPTION_MEMBER(struct cli_settings, rx_only) },
	{ .key = "governor",
	  .group = "Resting",
	  .type = LULL_OPTION_CHOICE,
	  .help = "How the loops rest.",
	  .value = "objective",
	  .choice = cli_governor,
	  .choice_help = cli_governor_help,
	  .live = true,
	  LULL_OPTION_MEMBER(struct cli_settings, governor) },
	{ .key = "max-latency",
	  .type = LULL_OPTION_DURATION,
	  .help = "Added latency.",
	  .value = "200",
	  .unit = "us",
	  .low = LULL_NS_PER_US,
	  .high = LULL_NS_PER_S,
	  .live = true,
	  LULL_OPTION_MEMBER(struct cli_settings, max_latency_ns) },
	{ .key = "percentile",
	  .argument = "P",
	  .type = LULL_OPTION_REAL,
	  .help = "Of packets.",
	  .value = "99",
	  .real_low = 50,
	  .real_high = 99.9999,
	  .live = true,
	  LULL_OPTION_MEMBER(struct cli_settings, percentile) },
	{ .key = "loss",
	  .type = LULL_OPTION_CHOICE,
	  .help = "What is tolerated.",
	  .value = "zero",
	  .choices = cli_losses,
	  .live = true,
	  LULL_OPTION_MEMBER(struct cli_settings, loss) },
	{ .key = "cpus",
	  .group = "Run",
	  .argument = "LIST",
	  .type = LULL_OPTION_CUSTOM,
	  .help = "CPUs of the threads.",
	  .value_help = "the last CPUs",
	  .joined = true,
	  .parse = lull_cpus_parse,
	  .print = lull_cpus_print,
	  LULL_OPTION_MEMBER(struct cli_settings, cpus) },
	{ .key = "traffic",
	  .argument = "SPEC",
	  .type = LULL_OPTION_CUSTOM,
	  .help = "Traffic: " LULL_TRAFFIC_SPEC_GRAMMAR ".",
	  .value = "off",
	  .live = true,
	  .parse = lull_traffic_spec_parse,
	  .print = lull_traffic_spec_print,
	  LULL_OPTION_MEMBER(struct cli_settings, traffic) },
	{ .key = "traffic-size",
	  .argument = "SIZES",
	  .type = LULL_OPTION_CUSTOM,
	  .help = "Frame sizes on the wire.",
	  .value = "64",
	  .joined = true,
	  .parse = lull_traffic_size_parse,
	  .print = lull_traffic_size_print,
	  LULL_OPTION_MEMBER(struct cli_settings, traffic) },
	{ .key = "duration",
	  .type = LULL_OPTION_DURATION,
	  .help = "0: until a signal.",
	  .value = "0",
	  .unit = "s",
	  .high = 24 * 3600 * LULL_NS_PER_S,
	  LULL_OPTION_MEMBER(struct cli_settings, duration_ns) },
	{ .key = "json",
	  .argument = "FILE",
	  .type = LULL_OPTION_TEXT,
	  .help = "Result.",
	  .file = true,
	  LULL_OPTION_MEMBER(struct cli_settings, json) },
	{ .key = "secret",
	  .type = LULL_OPTION_BOOL,
	  .help = "Not shown.",
	  .hidden = true,
	  LULL_OPTION_MEMBER(struct cli_settings, rx_only) },
	{ .key = NULL },
};

static const char *const cli_examples[] = { "lull-try --vdev net_ring0", NULL };

static const struct lull_program cli_program = {
	.name = "lull-try",
	.version = "0.1.0",
	.summary = "Try the command line.",
	.examples = cli_examples,
	.options = cli_options,
};

#endif
