/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "framework.h"

#define BPS_LEAST 10000000ULL
#define BPS_MOST 400000000000ULL
#define BPS_PER_MBPS 1000000

static const char *const side_names[] = { "both", "send", "receive", NULL };

#define MEMBER(member) LULL_OPTION_MEMBER(struct model_settings, member)

const struct lull_option model_options[] = {
	{
		.key = "side",
		.group = "Ports",
		.help = "both: sender and receiver in this process, over rings or two ports. "
			"send, receive: only this side, over one port; start the receiver first.",
		.type = LULL_OPTION_CHOICE,
		.choices = side_names,
		.value = "both",
		MEMBER(side),
	},
	{
		.key = "vdev",
		.argument = "DEVICE",
		.help = "DPDK virtual device, such as net_af_packet0,iface=veth0. With side both "
			"the sender has the first port and the receiver the second.",
		.type = LULL_OPTION_LIST,
		MEMBER(devices.vdev),
	},
	LULL_PCI_OPTIONS(struct model_settings),
	{
		.key = "ring",
		.argument = "PACKETS",
		.help = "Descriptors of the sender's Tx ring and of the receiver's Rx ring.",
		.type = LULL_OPTION_COUNT,
		.value = "1024",
		.low = 64,
		.high = 32768,
		MEMBER(ring),
	},
	{
		.key = "public-ring",
		.argument = "PACKETS",
		.help = "Room of the ring between producer and sender, and of the one between "
			"receiver and consumer.",
		.type = LULL_OPTION_COUNT,
		.value = "1024",
		.low = 64,
		.high = 32768,
		MEMBER(public_ring),
	},
	{
		.key = "burst",
		.argument = "PACKETS",
		.help = "Largest number of packets per receive and per send.",
		.type = LULL_OPTION_COUNT,
		.value = "64",
		.low = 1,
		.high = LULL_BURST_MAX,
		MEMBER(burst),
	},
	LULL_CPUS_OPTION(struct model_settings, cpus, "cpus",
			 "CPUs of the measured threads, sender first, such as 1 or 2,3.",
			 "the last CPUs"),
	{
		.key = "size",
		.group = "Traffic",
		.argument = "BYTES",
		.help = "Size of each packet with CRC.",
		.type = LULL_OPTION_COUNT,
		.value = "256",
		.low = 64,
		.high = 1518,
		MEMBER(size),
	},
	{
		.key = "rate",
		.argument = "PPS",
		.help = "Rate of the producer, in packets/s; 0: as fast as its ring allows.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = 100000000,
		MEMBER(pps),
	},
	{
		.key = "link",
		.argument = "BPS",
		.help = "Rate of the link between sender and receiver, in bit/s, 10M..400G. A "
			"full link stops the sender, a full receiver loses packets. 0: no link; "
			"the sender sends into the receiver's ring or the port.",
		.type = LULL_OPTION_COUNT,
		.value = "1G",
		.high = BPS_MOST,
		MEMBER(link_bps),
	},
	{
		.key = "burst-cost",
		.help = "Measure instead the cost of a receive and of a send, by burst (0..128) "
			"and size (64..1500).",
		.type = LULL_OPTION_BOOL,
		MEMBER(burst_cost),
	},
	{
		.key = "send-rest",
		.group = "Resting",
		.argument = "REST",
		.help = "How the sender rests when the public send ring is "
			"empty: " REST_SPEC_GRAMMAR ".",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = rest_spec_parse,
		.print = rest_spec_print,
		MEMBER(send_rest),
	},
	{
		.key = "receive-rest",
		.argument = "REST",
		.help = "How the receiver rests when its port is empty; as --send-rest.",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = rest_spec_parse,
		.print = rest_spec_print,
		MEMBER(receive_rest),
	},
	{
		.key = "slack",
		.argument = "TIME",
		.help = "Timer slack of the measured threads: the kernel may wake them late by "
			"this time.",
		.type = LULL_OPTION_DURATION,
		.value_help = "50us, the kernel's, with a sleep function; 1ns with a governor",
		.unit = "us",
		.low = 1,
		.high = LULL_NS_PER_S,
		MEMBER(slack_ns),
	},
	LULL_OBJECTIVE_OPTIONS(struct model_settings, resting, false),
	LULL_MAX_LATENCY_OPTION("send-", struct model_settings, send_max_latency_ns,
				.value_help = "the same"),
	LULL_KALMAN_OPTIONS(struct model_settings, resting.kalman, resting.kalman_tolerance,
			    resting.kalman_layout, .live = false),
	{
		.key = "warmup",
		.group = "Run",
		.argument = "TIME",
		.help = "Time before the measurement; losses count from the start.",
		.type = LULL_OPTION_DURATION,
		.value = "0.2",
		.unit = "s",
		MEMBER(warmup_ns),
	},
	{
		.key = "duration",
		.argument = "TIME",
		.help = "Duration of the measurement; 0: until a signal. With side receive it "
			"begins with the first packet, and ends when no packet has come for 1.5 "
			"s.",
		.type = LULL_OPTION_DURATION,
		.value = "0",
		.unit = "s",
		MEMBER(duration_ns),
	},
	LULL_JSON_OPTION(struct model_settings),
	{ .key = NULL },
};

static int
settings_check_ports(const struct model_settings *settings, struct lull_error *error)
{
	uint32_t ports = model_settings_ports(settings);

	if (settings->side == MODEL_BOTH && ports != 0 && ports != 2)
		return lull_error_set(error, -EINVAL,
				      "side both takes no port (rings) or two, not %u; with one "
				      "port say --side send or --side receive",
				      ports);
	if (settings->side != MODEL_BOTH && ports != 1)
		return lull_error_set(error, -EINVAL,
				      "side %s takes one port, not %u: like --vdev "
				      "net_af_packet0,iface=veth0",
				      side_names[settings->side], ports);
	if (settings->burst_cost && settings->side != MODEL_BOTH)
		return lull_error_set(
			error, -EINVAL,
			"burst-cost sends and receives in one process: leave out side");
	return 0;
}

int
framework_check(void *state, struct lull_error *error)
{
	const struct model_settings *settings = &((struct framework *)state)->settings;
	uint32_t measured = settings->side == MODEL_BOTH ? 2 : 1;
	int rc = settings_check_ports(settings, error);

	if (rc != 0)
		return rc;
	if (settings->link_bps != 0 && settings->link_bps < BPS_LEAST)
		return lull_error_set(error, -EINVAL,
				      "link: %llu bit/s is too slow to measure on: 10M or more, or "
				      "0 for none",
				      (unsigned long long)settings->link_bps);
	if (settings->link_bps % BPS_PER_MBPS != 0)
		return lull_error_set(error, -EINVAL, "link: whole Mbit/s, like 1G or 2500M");
	if (settings->burst > settings->ring || settings->burst > settings->public_ring)
		return lull_error_set(error, -EINVAL,
				      "burst: %u packets do not fit a ring; raise ring and "
				      "public-ring",
				      settings->burst);
	if (settings->burst_cost && settings->ring < 2 * LULL_BURST_MAX)
		return lull_error_set(error, -EINVAL, "burst-cost needs a ring of %d or more",
				      2 * LULL_BURST_MAX);
	if (settings->cpus.count > 0 && settings->cpus.count != measured)
		return lull_error_set(error, -EINVAL, "cpus: %u CPUs for %u measured threads",
				      settings->cpus.count, measured);
	return 0;
}

struct lull_idle_limits
model_settings_limits(const struct model_settings *settings, const struct rest_spec *rest,
		      const struct lull_ring_facts *rings, uint64_t pps_max)
{
	/* A governor cannot rest 0: a sleep function takes 1 ns for it. */
	uint64_t rest_ns = rest->timed ? LULL_MAX(rest->rest_ns, 1) : 0;
	struct lull_idle_limits limits = lull_resting_limits(&settings->resting, rings);

	limits.rest_ns = rest_ns;
	limits.rest_ns_max = LULL_MAX(limits.rest_ns_max, rest_ns);
	limits.envelope = pps_max > 0 ? LULL_ENVELOPE_LINK : LULL_ENVELOPE_LEARNED;
	limits.pps_max = pps_max;
	return limits;
}
