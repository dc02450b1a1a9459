/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <string.h>

#include "cli/number.h"
#include "cli/traffic_spec.h"
#include "spec.h"

static const char *const loss_names[] = { "zero", "tolerate", NULL };
static const char *const path_names[] = { "receive", "send-receive", NULL };
static const char *const layout_names[] = { "linked", "array", "segments", NULL };

static const char *
machine_name(uint32_t index)
{
	return lull_sim_machines[index].name;
}

static const char *
machine_help(uint32_t index)
{
	return lull_sim_machines[index].summary;
}

static int
speed_parse(const char *text, void *member, struct lull_error *error)
{
	double speed = 1;

	if (strcmp(text, "original") != 0 &&
	    (lull_number_parse_real(text, strlen(text), &speed) != 0 ||
	     !(speed >= 0.001 && speed <= 1000000)))
		return lull_error_set(error, -EINVAL,
				      "'%.*s' is neither original nor a factor in 0.001..1000000",
				      LULL_ERROR_SHOWN, text);
	*(double *)member = speed;
	return 0;
}

static char *
speed_print(const void *member, char *text, size_t size)
{
	return lull_real_print(*(const double *)member, text, size);
}

#define MEMBER(member) LULL_OPTION_MEMBER(struct sim_settings, member)

static const struct lull_option sim_options[] = {
	{
		.key = "governor",
		.group = "Resting",
		.argument = "NAME[:REST],...",
		.help = "Governors to try, each on the same traffic; REST is the rest of fixed and "
			"the vacation of metronome: spin,fixed:50us,objective.",
		.type = LULL_OPTION_CUSTOM,
		.value = "objective",
		.parse = sim_governors_parse,
		.print = sim_governors_print,
		.joined = true,
		MEMBER(governors),
	},
	{
		.key = "send-governor",
		.argument = "NAME[:REST]",
		.help = "Governor of the sending side.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "the same",
		.parse = sim_governors_parse,
		.print = sim_governors_print,
		MEMBER(send_governor),
	},
	{
		.key = "max-latency",
		.argument = "TIME",
		.help = "Objective: added latency at the percentile.",
		.type = LULL_OPTION_DURATION,
		.value = "200",
		.unit = "us",
		.low = LULL_NS_PER_US,
		.high = LULL_NS_PER_S,
		MEMBER(max_latency_ns),
	},
	{
		.key = "percentile",
		.help = "Objective: the percentile meant.",
		.type = LULL_OPTION_REAL,
		.value = "99",
		.real_low = 50,
		.real_high = 99.9999,
		MEMBER(percentile),
	},
	{
		.key = "loss",
		.help = "Objective: may a rest lose packets?",
		.type = LULL_OPTION_CHOICE,
		.choices = loss_names,
		.value = "zero",
		MEMBER(loss),
	},
	{
		.key = "max-rest",
		.argument = "TIME",
		.help = "No rest longer than this, whatever the governor.",
		.type = LULL_OPTION_DURATION,
		.value = "1000",
		.unit = "us",
		.low = 1,
		.high = LULL_NS_PER_S,
		MEMBER(max_rest_ns),
	},
	{
		.key = "pps-max",
		.argument = "RATE",
		.help = "What may arrive at one ring, for loss=zero: link (rate of 64-byte frames),"
			" learned (twice the largest seen, at least 1M), packets/s, or auto: link "
			"where there is one.",
		.type = LULL_OPTION_CUSTOM,
		.value = "auto",
		.parse = sim_pps_max_parse,
		.print = sim_pps_max_print,
		MEMBER(pps_max),
	},
	{
		.key = "kalman-step",
		.argument = "TIME",
		.help = "kalman: step of the search.",
		.type = LULL_OPTION_DURATION,
		.value = "10",
		.unit = "us",
		.low = 1,
		.high = 10 * LULL_NS_PER_MS,
		MEMBER(kalman.step_ns),
	},
	{
		.key = "kalman-tolerance",
		.argument = "PERCENT",
		.help = "kalman: loss of speed that still counts as none.",
		.type = LULL_OPTION_REAL,
		.value = "1",
		.real_low = 0.0001,
		.real_high = 50,
		MEMBER(kalman_tolerance),
	},
	{
		.key = "kalman-row",
		.argument = "BYTES",
		.help = "kalman: sizes that share a row of the record table.",
		.type = LULL_OPTION_COUNT,
		.value = "10",
		.low = 1,
		.high = 1437,
		MEMBER(kalman.row_bytes),
	},
	{
		.key = "kalman-window",
		.argument = "TIME",
		.help = "kalman: window of the estimates.",
		.type = LULL_OPTION_DURATION,
		.value = "10",
		.unit = "ms",
		.low = LULL_NS_PER_US,
		.high = LULL_NS_PER_S,
		MEMBER(kalman.window_ns),
	},
	{
		.key = "kalman-layout",
		.help = "kalman: how the record table is laid out.",
		.type = LULL_OPTION_CHOICE,
		.choices = layout_names,
		.value = "linked",
		MEMBER(kalman.layout),
	},
	{
		.key = "traffic",
		.group = "Traffic",
		.argument = "SPEC",
		.help = "What arrives: " LULL_TRAFFIC_SPEC_GRAMMAR
			". Rates are packets/s and take k, M, G; times take ns, us, ms, s, m, h.",
		.type = LULL_OPTION_CUSTOM,
		.value = "poisson:300k",
		.parse = lull_traffic_spec_parse,
		.print = lull_traffic_spec_print,
		MEMBER(arrival),
	},
	{
		.key = "traffic-size",
		.argument = "SIZES",
		.help = "Sizes on the wire with CRC, and weights: 64 or 64:7,594:4,1518:1.",
		.type = LULL_OPTION_CUSTOM,
		.value = "64",
		.parse = lull_traffic_size_parse,
		.print = lull_traffic_size_print,
		.joined = true,
		MEMBER(arrival),
	},
	{
		.key = "pcap",
		.argument = "FILE",
		.help = "Take times and sizes of the Ethernet frames of this pcap or pcapng file "
			"instead.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(pcap),
	},
	{
		.key = "pcap-speed",
		.argument = "SPEED",
		.help = "original timing, or a factor (2: twice as fast).",
		.type = LULL_OPTION_CUSTOM,
		.value = "original",
		.parse = speed_parse,
		.print = speed_print,
		MEMBER(pcap_speed),
	},
	{
		.key = "link",
		.argument = "RATE",
		.help = "Rate of the link in front of the ring, bits/s: 1G, 2.5G, 100G; 0: none, "
			"packets arrive as they leave.",
		.type = LULL_OPTION_COUNT,
		.value = "10G",
		.high = 10000000000000ULL,
		MEMBER(link_bps),
	},
	{
		.key = "shape",
		.argument = "RATE",
		.help = "A shaper before the link lets no more than this through in the mean, "
			"bits/s; 0: none.",
		.type = LULL_OPTION_COUNT,
		.value = "0",
		.high = 10000000000000ULL,
		MEMBER(shape_bps),
	},
	{
		.key = "shape-burst",
		.argument = "BYTES",
		.help = "What the shaper lets through at once.",
		.type = LULL_OPTION_COUNT,
		.value = "16k",
		.high = 100000000,
		MEMBER(shape_bytes),
	},
	{
		.key = "line-bursts",
		.argument = "EVERY:PACKETS",
		.help = "Fault: on top, bursts of so many packets at the link's rate.",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = sim_line_bursts_parse,
		.print = sim_line_bursts_print,
		MEMBER(line_bursts),
	},
	{
		.key = "path",
		.group = "Threads and rings",
		.help = "receive: what arrives meets polling threads. send-receive: a producer "
			"fills a public ring, a sending thread empties it onto the link, a "
			"receiving thread polls its other end; both rest.",
		.type = LULL_OPTION_CHOICE,
		.choices = path_names,
		.value = "receive",
		MEMBER(path),
	},
	{
		.key = "ring",
		.argument = "PACKETS",
		.help = "Descriptors of an Rx ring.",
		.type = LULL_OPTION_COUNT,
		.value = "1024",
		.low = 1,
		.high = 1048576,
		MEMBER(ring),
	},
	{
		.key = "held",
		.argument = "PACKETS",
		.help = "Descriptors the driver holds back for rearming.",
		.type = LULL_OPTION_COUNT,
		.value = "32",
		.high = 1048575,
		MEMBER(held),
	},
	{
		.key = "public-ring",
		.argument = "PACKETS",
		.help = "send-receive: room between producer and sending thread.",
		.type = LULL_OPTION_COUNT,
		.value = "1024",
		.low = 1,
		.high = 1048576,
		MEMBER(public_ring),
	},
	{
		.key = "burst",
		.argument = "PACKETS",
		.help = "Most packets of one receive.",
		.type = LULL_OPTION_COUNT,
		.value = "32",
		.low = 1,
		.high = LULL_SIM_BURST_MAX,
		MEMBER(burst),
	},
	{
		.key = "queues",
		.argument = "N",
		.help = "Rings per thread, over which packets are spread at random.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_IDLE_QUEUES_MAX,
		MEMBER(queues),
	},
	{
		.key = "threads",
		.argument = "N",
		.help = "Polling threads, over which packets are spread likewise.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		.low = 1,
		.high = LULL_SIM_THREADS_MAX,
		MEMBER(threads),
	},
	{
		.key = "cores",
		.argument = "N",
		.help = "Cores for them; fewer than threads: they share.",
		.type = LULL_OPTION_COUNT,
		.value_help = "one per thread",
		.high = LULL_SIM_THREADS_MAX,
		MEMBER(cores),
	},
	{
		.key = "machine",
		.group = "Costs",
		.help = "Set of costs; the options below replace single figures of it.",
		.type = LULL_OPTION_CHOICE,
		.choice = machine_name,
		.choice_help = machine_help,
		.value = "guest",
		MEMBER(machine),
	},
	{
		.key = "turn-cost",
		.argument = "TIME",
		.help = "Of every turn: clock, plan, loop.",
		.type = LULL_OPTION_DURATION,
		.value_help = "the machine's",
		MEMBER(turn_ns),
	},
	{
		.key = "burst-cost",
		.argument = "PACKETS:TIME,...",
		.help = "Of receiving, processing and sending so many packets of one queue; 0: an "
			"empty poll. Straight lines between the points.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "the machine's",
		.parse = sim_burst_cost_parse,
		.print = sim_burst_cost_print,
		.joined = true,
		MEMBER(burst_cost),
	},
	{
		.key = "rest-cost",
		.argument = "TIME",
		.help = "CPU time of one sleep.",
		.type = LULL_OPTION_DURATION,
		.value_help = "the machine's",
		MEMBER(rest_ns),
	},
	{
		.key = "overshoot",
		.argument = "PERCENT:TIME,...",
		.help = "How much longer than asked for a sleep lasts, by quantile.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "the machine's",
		.parse = sim_overshoot_parse,
		.print = sim_overshoot_print,
		.joined = true,
		MEMBER(overshoot),
	},
	{
		.key = "event-cost",
		.argument = "TIME",
		.help = "From a packet to the thread that its interrupt wakes.",
		.type = LULL_OPTION_DURATION,
		.value_help = "the machine's",
		MEMBER(event_ns),
	},
	{
		.key = "switch-cost",
		.argument = "TIME",
		.help = "From one thread of a core to another.",
		.type = LULL_OPTION_DURATION,
		.value_help = "the machine's",
		MEMBER(switch_ns),
	},
	{
		.key = "power",
		.argument = "WATTS",
		.help = "Of a core that runs.",
		.type = LULL_OPTION_REAL,
		.value_help = "the machine's",
		.real_low = 0,
		.real_high = 100000,
		MEMBER(watts),
	},
	{
		.key = "idle-states",
		.argument = "NAME:TIME:WATTS,...",
		.help = "What a core draws that rests at least so long: C1:0ns:5,C6:600us:1.",
		.type = LULL_OPTION_CUSTOM,
		.value_help = "the machine's",
		.parse = sim_states_parse,
		.print = sim_states_print,
		.joined = true,
		MEMBER(states),
	},
	{
		.key = "late",
		.argument = "PERCENT:TIME",
		.help = "Fault: so many wake-ups come later by so much.",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = sim_late_parse,
		.print = sim_late_print,
		MEMBER(late),
	},
	{
		.key = "stall",
		.argument = "EVERY:TIME",
		.help = "Fault: other programs or the hypervisor take the core for TIME, about "
			"every EVERY.",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = sim_stall_parse,
		.print = sim_stall_print,
		MEMBER(stall),
	},
	{
		.key = "describe-machine",
		.argument = "NAME",
		.help = "Only show the costs of this machine, and what a thread can do at most "
			"with them.",
		.type = LULL_OPTION_TEXT,
		MEMBER(describe),
	},
	{
		.key = "seed",
		.group = "Run",
		.argument = "N",
		.help = "The same seed gives the same run on any machine.",
		.type = LULL_OPTION_COUNT,
		.value = "1",
		MEMBER(seed),
	},
	{
		.key = "duration",
		.argument = "TIME",
		.help = "Virtual time measured.",
		.type = LULL_OPTION_DURATION,
		.value_help = "1 s, or the length of the capture",
		.unit = "s",
		MEMBER(duration_ns),
	},
	{
		.key = "warmup",
		.argument = "TIME",
		.help = "Virtual time before that, in which governors learn.",
		.type = LULL_OPTION_DURATION,
		.value_help = "0.5 s, none for a capture",
		.unit = "s",
		MEMBER(warmup_ns),
	},
	{
		.key = "sweep-rest",
		.argument = "LOW-HIGH,STEPS",
		.help = "Also try fixed rests, each longer than the last by the same factor: the "
			"best a fixed rest could do.",
		.type = LULL_OPTION_CUSTOM,
		.value = "none",
		.parse = sim_sweep_parse,
		.print = sim_sweep_print,
		MEMBER(sweep),
	},
	{
		.key = "bins",
		.help = "Put the bins of the latency histograms into the JSON as well.",
		.type = LULL_OPTION_BOOL,
		MEMBER(bins),
	},
	{
		.key = "json",
		.argument = "FILE",
		.help = "Write the result as JSON, - is stdout.",
		.type = LULL_OPTION_TEXT,
		.file = true,
		MEMBER(json),
	},
	{ .key = NULL },
};

static const char *const sim_examples[] = {
	"lull-sim --traffic poisson:300k --governor spin,ramp,objective --max-latency 100",
	"lull-sim --pcap my.pcap --governor objective --max-latency 200 --json -",
	"lull-sim --traffic onoff:10M,1ms,9ms --link 25G --ring 2048 --stall 100ms:2ms",
	NULL,
};

const struct lull_program sim_program = {
	.name = "lull-sim",
	.version = LULL_VERSION,
	.summary = "Run governors in virtual time, on traffic and costs of your choice, and say "
		   "exactly what they cost and saved.",
	.examples = sim_examples,
	.options = sim_options,
};

void
sim_settings_preset(struct sim_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	settings->turn_ns = SIM_UNSET;
	settings->rest_ns = SIM_UNSET;
	settings->event_ns = SIM_UNSET;
	settings->switch_ns = SIM_UNSET;
	settings->watts = -1;
	settings->duration_ns = SIM_UNSET;
	settings->warmup_ns = SIM_UNSET;
}

int
sim_settings_check(const struct sim_settings *settings, struct lull_error *error)
{
	if (settings->describe[0] != '\0' && lull_sim_machine_find(settings->describe) == NULL)
		return lull_error_set(error, -EINVAL,
				      "describe-machine: '%s' is none of those --help lists",
				      settings->describe);
	if (settings->send_governor.count > 1)
		return lull_error_set(error, -EINVAL, "send-governor: one, for all runs");
	if (settings->held >= settings->ring)
		return lull_error_set(error, -EINVAL,
				      "held: %u of %u descriptors leaves none; give less or a "
				      "larger --ring",
				      settings->held, settings->ring);
	if (settings->cores > settings->threads)
		return lull_error_set(error, -EINVAL, "cores: %u for %u threads", settings->cores,
				      settings->threads);
	if (settings->path == LULL_SIM_SEND_RECEIVE &&
	    (settings->threads > 1 || settings->queues > 1))
		return lull_error_set(error, -EINVAL,
				      "path: send-receive has one thread and queue per side");
	if (settings->link_bps > 0 && settings->link_bps < 1000000)
		return lull_error_set(error, -EINVAL,
				      "link: %llu bit/s is below 1M; give the unit, like 10G",
				      (unsigned long long)settings->link_bps);
	if (settings->shape_bps > 0 && settings->shape_bps < 1000000)
		return lull_error_set(error, -EINVAL,
				      "shape: %llu bit/s is below 1M; give the unit, like 1G",
				      (unsigned long long)settings->shape_bps);
	if (settings->line_bursts.first > 0 && settings->link_bps == 0)
		return lull_error_set(error, -EINVAL,
				      "line-bursts: they come at the link's rate; give a --link");
	return 0;
}

struct lull_sim_machine
sim_settings_machine(const struct sim_settings *settings)
{
	struct lull_sim_machine machine = settings->describe[0] != '\0' ?
						  *lull_sim_machine_find(settings->describe) :
						  lull_sim_machines[settings->machine];

	if (settings->turn_ns != SIM_UNSET)
		machine.turn_ns = settings->turn_ns;
	if (settings->rest_ns != SIM_UNSET)
		machine.rest_ns = settings->rest_ns;
	if (settings->event_ns != SIM_UNSET)
		machine.event_ns = settings->event_ns;
	if (settings->switch_ns != SIM_UNSET)
		machine.switch_ns = settings->switch_ns;
	if (settings->burst_cost.count > 0)
		machine.burst = settings->burst_cost;
	if (settings->overshoot.count > 0)
		machine.overshoot = settings->overshoot;
	if (settings->watts >= 0)
		machine.watts = settings->watts;
	if (settings->states.count > 0) {
		machine.state_count = settings->states.count;
		memcpy(machine.states, settings->states.items, sizeof(machine.states));
	}
	return machine;
}

struct lull_idle_limits
sim_settings_limits(const struct sim_settings *settings, const struct sim_governor *governor)
{
	struct lull_idle_limits limits = {
		.latency_ns = settings->max_latency_ns,
		.percentile_ppm = (uint32_t)(settings->percentile * 10000 + 0.5),
		.loss = (enum lull_loss)settings->loss,
		.rest_ns_max = settings->max_rest_ns,
		.rest_ns = governor->rest_ns,
		.envelope = settings->pps_max.envelope,
		.pps_max = settings->pps_max.pps,
		.kalman = settings->kalman,
	};

	limits.kalman.tolerance_ppm = (uint32_t)(settings->kalman_tolerance * 10000 + 0.5);
	if (settings->pps_max.automatic)
		limits.envelope =
			settings->link_bps > 0 ? LULL_ENVELOPE_LINK : LULL_ENVELOPE_LEARNED;
	return limits;
}
