/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "program/resting.h"
#include "program/rows.h"
#include "spec.h"

static const char *const job_names[] = { "bandwidth", "latency", "incast", "periodic", NULL };

static const char *
settings_spread_name(uint32_t index)
{
	return lull_bundle_spreads[index] == NULL ?
		       NULL :
		       lull_bundle_spread_name(lull_bundle_spreads[index]);
}

static const char *
settings_spread_help(uint32_t index)
{
	return lull_bundle_spread_summary(lull_bundle_spreads[index]);
}

static const char *
settings_control_name(uint32_t index)
{
	return lull_bundle_controls[index] == NULL ?
		       NULL :
		       lull_bundle_control_name(lull_bundle_controls[index]);
}

static const char *
settings_control_help(uint32_t index)
{
	return lull_bundle_control_summary(lull_bundle_controls[index]);
}

static const char *
settings_machine_name(uint32_t index)
{
	return lull_sim_machines[index].name;
}

static const char *
settings_machine_help(uint32_t index)
{
	return lull_sim_machines[index].summary;
}

/* In front of the governors: what is simulated without one. */
static const char *
settings_governor_name(uint32_t index)
{
	return index == CHANNEL_SIM_STEADY ? "steady" : lull_resting_governor_name(index - 1);
}

static const char *
settings_governor_help(uint32_t index)
{
	return index == CHANNEL_SIM_STEADY ? "no governor: each rest has the length of --rest" :
					     lull_resting_governor_help(index - 1);
}

#define LULL_SETTINGS struct channel_sim_settings

const struct lull_option channel_sim_options[] = {
	LULL_ROW_COUNT("nodes", "N", nodes, "Nodes; with incast each is connected to node 0.",
		       .group = "World", .value = "2", .low = 2,
		       .high = LULL_SIM_CHANNEL_NODES_MAX),
	LULL_ROW_CUSTOM("rails", "RATE,...", rails, channel_sim_rails,
			"Rails of each node by their rates in bit/s, such as 200M,100M,50M. All "
			"are ports of one switch.",
			.value = "100M,100M", .joined = true),
	LULL_ROW_CUSTOM(
		"wire", "KEY=VALUE,...", wire, channel_sim_wire,
		"How packets fare from the switch to each rail: loss, fade (bursts of "
		"loss of 10 packets in the mean), damage, duplicate, reorder and "
		"overtake take a share of the packets, such as 1%; delay, jitter and "
		"reorder-by take a time; queue takes the bytes that a port of the switch holds.",
		.value = "none", .joined = true),
	LULL_ROW_COUNT("packet", "BYTES", packet_bytes,
		       "Longest packet, without its Ethernet "
		       "header.",
		       .value = "1500", .low = LULL_BUNDLE_PACKET_BYTES_MIN, .high = 9000),
	LULL_ROW_COUNT("ring", "PACKETS", ring, "Room of the Rx ring of each rail.",
		       .value = "1024", .low = 16, .high = 65535),
	LULL_ROW_CUSTOM("kill", "RAIL@TIME,...", kill, channel_sim_events,
			"Fault: from TIME on this rail loses everything and says nothing.",
			.value = "none", .joined = true),
	LULL_ROW_CUSTOM("return", "RAIL@TIME,...", back, channel_sim_events,
			"From TIME on this rail carries packets again.", .value = "none",
			.joined = true),
	LULL_ROW_CUSTOM("speed", "RAIL:RATE@TIME,...", speed, channel_sim_speeds,
			"From TIME on this rail has another rate.", .value = "none",
			.joined = true),
	LULL_ROW_CHOICE("job", job,
			"bandwidth: node 0 sends to node 1 all the time. latency: node 0 asks, "
			"node 1 answers. incast: all others send to node 0. periodic: nodes 0 and "
			"1 send to each other for --burst in each --period.",
			.group = "Traffic", .choices = job_names, .value = "bandwidth"),
	LULL_ROW_COUNT("message", "BYTES", message, "Length of each message.",
		       .value_help = "1 MiB; latency: 64", .high = LULL_SIM_CHANNEL_MESSAGE_MAX),
	LULL_ROW_COUNT("under-way", "N", under_way, "Messages that a node has under way at once.",
		       .value = "16", .low = 1, .high = LULL_SIM_CHANNEL_UNDER_WAY_MAX),
	LULL_ROW_TIME("period", period_ns, "periodic: from one exchange to the next.",
		      .value = "100ms", .low = LULL_NS_PER_US, .high = LULL_NS_PER_S),
	LULL_ROW_TIME("burst", burst_ns, "periodic: how long nodes send in each period.",
		      .value = "10ms", .low = 1, .high = LULL_NS_PER_S),
	LULL_ROW_CHOICE("spread", spread, "Which path takes what is sent next.", .group = "Channel",
			.choice = settings_spread_name, .choice_help = settings_spread_help,
			.value = "pull"),
	LULL_ROW_CHOICE("control", control, "How much may be under way on a path.",
			.choice = settings_control_name, .choice_help = settings_control_help,
			.value = "delay"),
	LULL_ROW_COUNT("window", "PACKETS", window, "Window of control fixed.", .value = "64",
		       .low = 8, .high = 1024),
	LULL_ROW_BOOL("rail-credit", rail_credit,
		      "Receivers bound what is under way towards a rail by its ring. Without it "
		      "rings may overflow, and packets that this loses are a result.",
		      .value = "yes"),
	LULL_ROW_TIME("rest", rest_ns, "Longest rest of each loop; 0: loops poll.",
		      .group = "Resting", .value = "0", .high = LULL_NS_PER_S),
	LULL_ROW_CHOICE("governor", governor, "Policy that decides how long a loop rests.",
			.choice = settings_governor_name, .choice_help = settings_governor_help,
			.value = "steady"),
	LULL_ROW_BOOL("heedless", heedless,
		      "The governor alone decides: loops rest also while packets are expected or "
		      "something is to be sent, and nothing shortens a rest.",
		      .value = "no"),
	LULL_ROW_BOOL("announce", announce, "Peers are told how long a rest may be.",
		      .value = "yes"),
	LULL_ROW_BOOL("event-rests", event_rests,
		      "A packet ends a rest, as with rails of the kernel.", .value = "no"),
	LULL_ROW_CHOICE("machine", machine, "Set of costs of the nodes.",
			.choice = settings_machine_name, .choice_help = settings_machine_help,
			.value = "metal"),
	LULL_ROW_TIME("time", time_ns, "Virtual time of the measurement.", .group = "Run",
		      .value = "1s", .unit = "s", .low = LULL_NS_PER_MS,
		      .high = 1000 * LULL_NS_PER_S),
	LULL_ROW_TIME("warmup", warmup_ns,
		      "Virtual time before the measurement. Times of faults "
		      "count from the start, warm-up included.",
		      .value = "0.2s", .unit = "s", .high = 1000 * LULL_NS_PER_S),
	LULL_SEED_OPTION(NULL),
	LULL_ROW_COUNT("scenarios", "N", scenarios,
		       "Instead of the world above: so many small worlds with faults of all "
		       "kinds, drawn from --seed and the following seeds. The first one in which "
		       "a promise is broken ends the run.",
		       .value = "0", .high = 1000000000),
	LULL_ROW_BOOL("curve", curve, "Add to the JSON what was delivered in each millisecond."),
	LULL_JSON_OPTION,
	{ .key = NULL },
};
