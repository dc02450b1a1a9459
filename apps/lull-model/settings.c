/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "framework.h"

#define BPS_LEAST 10000000ULL
#define BPS_MOST 400000000000ULL
#define BPS_PER_MBPS 1000000

static const char *const side_names[] = { "both", "send", "receive", NULL };

#define LULL_SETTINGS struct model_settings

const struct lull_option model_options[] = {
	LULL_ROW_CHOICE("side", side,
			"both: sender and receiver in this process, over rings or two ports. "
			"send, receive: only this side, over one port; start the receiver first.",
			.group = "Ports", .choices = side_names, .value = "both"),
	LULL_ROW_LIST("vdev", "DEVICE", devices.vdev,
		      "DPDK virtual device, such as net_af_packet0,iface=veth0. With side both the "
		      "sender has the first port and the receiver the second."),
	LULL_PCI_OPTIONS,
	LULL_ROW_COUNT("ring", "PACKETS", ring,
		       "Descriptors of the sender's Tx ring and of the receiver's Rx ring.",
		       .value = "1024", .low = 64, .high = 32768),
	LULL_ROW_COUNT("public-ring", "PACKETS", public_ring,
		       "Room of the ring between producer and sender, and of the one between "
		       "receiver and consumer.",
		       .value = "1024", .low = 64, .high = 32768),
	LULL_ROW_COUNT("burst", "PACKETS", burst,
		       "Largest number of packets per receive and per "
		       "send.",
		       .value = "64", .low = 1, .high = LULL_BURST_MAX),
	LULL_CPUS_OPTION(cpus, "cpus",
			 "CPUs of the measured threads, sender first, such as 1 or 2,3.",
			 "the last CPUs"),
	LULL_ROW_COUNT("size", "BYTES", size, "Size of each packet with CRC.", .group = "Traffic",
		       .value = "256", .low = 64, .high = 1518),
	LULL_ROW_COUNT("rate", "PPS", pps,
		       "Rate of the producer, in packets/s; 0: as fast as its ring allows.",
		       .value = "0", .high = 100000000),
	LULL_ROW_COUNT("link", "BPS", link_bps,
		       "Rate of the link between sender and receiver, in bit/s, 10M..400G. A full "
		       "link stops the sender, a full receiver loses packets. 0: no link; the "
		       "sender sends into the receiver's ring or the port.",
		       .value = "1G", .high = BPS_MOST),
	LULL_ROW_BOOL("burst-cost", burst_cost,
		      "Measure instead the cost of a receive and of a send, by burst (0..128) and "
		      "size (64..1500)."),
	LULL_ROW_CUSTOM(
		"send-rest", "REST", send_rest, rest_spec,
		"How the sender rests when the public send ring is empty: " REST_SPEC_GRAMMAR ".",
		.group = "Resting", .value = "none"),
	LULL_ROW_CUSTOM("receive-rest", "REST", receive_rest, rest_spec,
			"How the receiver rests when its port is empty; as --send-rest.",
			.value = "none"),
	LULL_ROW_TIME(
		"slack", slack_ns,
		"Timer slack of the measured threads: the kernel may wake them late by this time.",
		.value_help = "50us, the kernel's, with a sleep function; 1ns with a governor",
		.unit = "us", .low = 1, .high = LULL_NS_PER_S),
	LULL_OBJECTIVE_OPTIONS(resting, send_max_latency_ns),
	LULL_KALMAN_OPTIONS(resting, false),
	LULL_ROW_TIME("warmup", warmup_ns,
		      "Time before the measurement; losses count from the start.", .group = "Run",
		      .value = "0.2", .unit = "s"),
	LULL_ROW_TIME("duration", duration_ns,
		      "Duration of the measurement; 0: until a signal. With side receive it "
		      "begins with the first packet, and ends when no packet has come for 1.5 s.",
		      .value = "0", .unit = "s"),
	LULL_JSON_OPTION,
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
model_settings_limits(const struct model_settings *settings, bool sender,
		      const struct lull_ring_facts *port, uint64_t pps_max)
{
	const struct rest_spec *rest = sender ? &settings->send_rest : &settings->receive_rest;
	struct lull_resting resting = settings->resting;
	struct lull_ring_facts rings = *port;

	/* A governor cannot rest 0: a sleep function takes 1 ns for it. */
	resting.rest_ns = rest->timed ? LULL_MAX(rest->rest_ns, 1) : 0;
	resting.max_rest_ns = LULL_MAX(resting.max_rest_ns, resting.rest_ns);
	resting.pps_max.automatic = true;
	rings.hardware_pps = pps_max;
	/* The public ring loses nothing: it holds up the producer. */
	if (sender)
		resting.loss = LULL_LOSS_TOLERATE;
	if (sender && settings->send_max_latency_ns > 0)
		resting.max_latency_ns = settings->send_max_latency_ns;
	return lull_resting_limits(&resting, &rings);
}
