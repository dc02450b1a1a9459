/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "spec.h"

static const char *const path_names[] = { "receive", "send-receive", NULL };

#define LULL_SETTINGS struct sim_settings

const struct lull_option sim_options[] = {
	LULL_ROW_CUSTOM("governor", "NAME[:REST],...", governors, sim_governors,
			"Governors to try, each on the same traffic; REST is the rest of fixed and "
			"the vacation of metronome: spin,fixed:50us,objective.",
			.group = "Resting", .value = "objective", .joined = true),
	LULL_ROW_CUSTOM("send-governor", "NAME[:REST]", send_governor, sim_governors,
			"Governor of the sending side.", .value_help = "the same"),
	LULL_OBJECTIVE_OPTIONS(resting, send_max_latency_ns),
	LULL_PPS_MAX_OPTION(resting.pps_max, .live = false),
	LULL_KALMAN_OPTIONS(resting, false),
	LULL_TRAFFIC_OPTION(arrival, lull_traffic_spec, "What arrives: ", .group = "Traffic",
			    .value = "poisson:300k"),
	LULL_TRAFFIC_SIZE_OPTION(arrival),
	LULL_ROW_FILE(
		"pcap", "FILE", pcap,
		"Take times and sizes of the Ethernet frames of this pcap or pcapng file instead."),
	LULL_PCAP_SPEED_OPTION(lull_speed, "original timing, or a factor (2: twice as fast)."),
	LULL_ROW_COUNT("link", "RATE", link_bps,
		       "Rate of the link in front of the ring, bits/s: 1G, 2.5G, 100G; 0: none, "
		       "packets arrive as they leave, like --traffic of lull-fwd.",
		       .value = "0", .high = 10000000000000ULL),
	LULL_ROW_COUNT("shape", "RATE", shape_bps,
		       "A shaper before the link lets no more than this through in the mean, "
		       "bits/s; 0: none.",
		       .value = "0", .high = 10000000000000ULL),
	LULL_ROW_COUNT("shape-burst", "BYTES", shape_bytes, "What the shaper lets through at once.",
		       .value = "16k", .high = 100000000),
	LULL_ROW_CUSTOM("line-bursts", "EVERY:PACKETS", line_bursts, sim_line_bursts,
			"Fault: on top, bursts of so many packets at the link's rate.",
			.value = "none"),
	LULL_ROW_CHOICE("path", path,
			"receive: what arrives meets polling threads. send-receive: a producer "
			"fills a public ring, a sending thread empties it onto the link, a "
			"receiving thread polls its other end; both rest.",
			.group = "Threads and rings", .choices = path_names, .value = "receive"),
	LULL_ROW_COUNT("ring", "PACKETS", ring, "Descriptors of an Rx ring.", .value = "1024",
		       .low = 1, .high = 1048576),
	LULL_ROW_COUNT("held", "PACKETS", held, "Descriptors the driver holds back for rearming.",
		       .value = "32", .high = 1048575),
	LULL_ROW_COUNT("public-ring", "PACKETS", public_ring,
		       "send-receive: room between producer and sending thread.", .value = "1024",
		       .low = 1, .high = 1048576),
	LULL_BURST_OPTION(burst, LULL_SIM_BURST_MAX),
	LULL_ROW_COUNT("queues", "N", queues,
		       "Rings per thread, over which packets are spread at random.", .value = "1",
		       .low = 1, .high = LULL_IDLE_QUEUES_MAX),
	LULL_ROW_COUNT("threads", "N", threads,
		       "Polling threads, over which packets are spread likewise.", .value = "1",
		       .low = 1, .high = LULL_SIM_THREADS_MAX),
	LULL_ROW_COUNT("cores", "N", cores, "Cores for them; fewer than threads: they share.",
		       .value_help = "one per thread", .high = LULL_SIM_THREADS_MAX),
	LULL_SCHED_POLICY_OPTION(resting.sched_policy, .value_help = "the machine's, mostly other"),
	LULL_ROW_CUSTOM("competitor", "SHARE[:RUN]", competitor, sim_competitor,
			"An ordinary program on the core of each thread: 100 is a busy loop, "
			"30:3ms wants 30 % of it in runs of 3 ms.",
			.value_help = "the machine's, mostly none"),
	LULL_ROW_CHOICE("machine", machine,
			"Set of costs; the options below replace single figures of it.",
			.group = "Costs", .choice = sim_machine_name,
			.choice_help = sim_machine_help, .value = "guest"),
	LULL_ROW_TIME("turn-cost", turn_ns, "Of every turn: clock, plan, loop.",
		      .value_help = "the machine's"),
	LULL_ROW_CUSTOM("burst-cost", "PACKETS:TIME,...", burst_cost, sim_burst_cost,
			"Of receiving, processing and sending so many packets of one queue; 0: an "
			"empty poll. Straight lines between the points.",
			.value_help = "the machine's", .joined = true),
	LULL_ROW_TIME("rest-cost", rest_ns, "CPU time of one sleep.",
		      .value_help = "the machine's"),
	LULL_ROW_CUSTOM("overshoot", "PERCENT:TIME,...", overshoot, sim_overshoot,
			"How much longer than asked for a sleep lasts, by quantile.",
			.value_help = "the machine's", .joined = true),
	LULL_ROW_TIME("switch-cost", switch_ns, "From one thread of a core to another.",
		      .value_help = "the machine's"),
	LULL_ROW_REAL("power", "WATTS", watts, "Of a core that runs.",
		      .value_help = "the machine's", .real_high = 100000),
	LULL_ROW_CUSTOM("idle-states", "NAME:TIME:WATTS,...", states, sim_states,
			"What a core draws that rests at least so long: C1:0ns:5,C6:600us:1.",
			.value_help = "the machine's", .joined = true),
	LULL_ROW_CUSTOM("late", "PERCENT:TIME", late, sim_late,
			"Fault: so many wake-ups come later by so much.", .value = "none"),
	LULL_ROW_CUSTOM("stall", "EVERY:TIME", stall, sim_stall,
			"Fault: other programs or the hypervisor take the core for TIME, fixed or "
			"a range (500us-3ms), about every EVERY.",
			.value_help = "the machine's"),
	LULL_ROW_TEXT(
		"describe-machine", "NAME", describe,
		"Only show the costs of this machine, and what a thread can do at most with them.",
		.action = true),
	LULL_SEED_OPTION("Run"),
	LULL_ROW_TIME("duration", duration_ns, "Virtual time measured.",
		      .value_help = "1 s, or the length of the capture", .unit = "s"),
	LULL_ROW_TIME("warmup", warmup_ns, "Virtual time before that, in which governors learn.",
		      .value_help = "0.5 s, none for a capture", .unit = "s"),
	LULL_ROW_CUSTOM("sweep-rest", "LOW-HIGH,STEPS", sweep, sim_sweep,
			"Also try fixed rests, each longer than the last by the same factor: the "
			"best a fixed rest could do.",
			.value = "none"),
	LULL_ROW_BOOL("bins", bins,
		      "Put the bins of the latency histograms into the JSON as well."),
	LULL_JSON_OPTION,
	{ .key = NULL },
};
