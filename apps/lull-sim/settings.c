/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "spec.h"

static const char *const path_names[] = { "receive", "send-receive", NULL };

#define LULL_SETTINGS struct sim_settings

const struct lull_option sim_options[] = {
	LULL_ROW_CUSTOM("governor", "NAME[:REST],...", governors, sim_governors,
			"Governors to compare on the same traffic, such as "
			"spin,fixed:50us,objective. REST is the rest of fixed or the mean "
			"vacation of metronome.",
			.group = "Resting", .value = "objective", .joined = true),
	LULL_ROW_CUSTOM("send-governor", "NAME[:REST]", send_governor, sim_governors,
			"send-receive: governor of the sending thread.", .value_help = "the same"),
	LULL_OBJECTIVE_OPTIONS(resting, send_max_latency_ns),
	LULL_PPS_MAX_OPTION(resting.pps_max, .live = false),
	LULL_KALMAN_OPTIONS(resting, false),
	LULL_TRAFFIC_OPTION(arrival, lull_traffic_spec,
			    "Traffic that arrives: ", .group = "Traffic", .value = "poisson:300k"),
	LULL_TRAFFIC_SIZE_OPTION(arrival),
	LULL_ROW_FILE(
		"pcap", "FILE", pcap,
		"Use times and sizes of the Ethernet frames of this pcap or pcapng file instead."),
	LULL_PCAP_SPEED_OPTION(lull_speed, "Speed of the capture: original, or a factor (2: twice "
					   "as fast)."),
	LULL_ROW_COUNT("link", "RATE", link_bps,
		       "Rate of the link in front of the ring, in bit/s, such as 2.5G; 0: no "
		       "link, as with lull-fwd --traffic.",
		       .value = "0", .high = 10000000000000ULL),
	LULL_ROW_COUNT("shape", "RATE", shape_bps,
		       "Mean rate of a shaper before the link, in bit/s; 0: no shaper.",
		       .value = "0", .high = 10000000000000ULL),
	LULL_ROW_COUNT("shape-burst", "BYTES", shape_bytes,
		       "Largest burst that the shaper lets "
		       "through.",
		       .value = "16k", .high = 100000000),
	LULL_ROW_CUSTOM("line-bursts", "EVERY:PACKETS", line_bursts, sim_line_bursts,
			"Fault: additional bursts of PACKETS at the link's rate, one every EVERY.",
			.value = "none"),
	LULL_ROW_CHOICE("path", path,
			"receive: packets arrive at polling threads. send-receive: a producer "
			"fills a public ring, a sending thread sends from it over the link, and a "
			"receiving thread polls the other end; both threads rest.",
			.group = "Threads and rings", .choices = path_names, .value = "receive"),
	LULL_ROW_COUNT("ring", "PACKETS", ring, "Descriptors per Rx ring.", .value = "1024",
		       .low = 1, .high = 1048576),
	LULL_ROW_COUNT("held", "PACKETS", held, "Descriptors per ring that the driver holds back.",
		       .value = "32", .high = 1048575),
	LULL_ROW_COUNT("public-ring", "PACKETS", public_ring,
		       "send-receive: room of the ring between producer and sending thread.",
		       .value = "1024", .low = 1, .high = 1048576),
	LULL_BURST_OPTION(burst, LULL_SIM_BURST_MAX),
	LULL_ROW_COUNT("round-bursts", "N", round_bursts,
		       "The driver ends a burst of more than N packets at a descriptor whose "
		       "number is a multiple of N, as virtio does with 4: a short burst may leave "
		       "packets. 0: it does not.",
		       .value = "0", .high = LULL_SIM_BURST_MAX),
	LULL_ROW_COUNT("queues", "N", queues,
		       "Rx rings per thread, with share-queues in all; packets are distributed at "
		       "random, a burst of --line-bursts goes to one ring.",
		       .value = "1", .low = 1, .high = LULL_IDLE_QUEUES_MAX),
	LULL_ROW_COUNT("threads", "N", threads,
		       "Polling threads; packets are distributed at random.", .value = "1",
		       .low = 1, .high = LULL_SIM_THREADS_MAX),
	LULL_SHARE_OPTIONS(share_queues, resting.backup_rest_ns, false),
	LULL_ROW_COUNT("cores", "N", cores,
		       "Cores for the polling threads; threads share cores "
		       "when there are fewer cores.",
		       .value_help = "one per thread", .high = LULL_SIM_THREADS_MAX),
	LULL_SCHED_POLICY_OPTION(resting.sched_policy, .value_help = "the machine's, mostly other"),
	LULL_ROW_CUSTOM("competitor", "SHARE[:RUN]", competitor, sim_competitor,
			"Ordinary program on the core of each thread. 100: a busy loop. 30:3ms: a "
			"program that runs 30 % of the time, 3 ms at a time.",
			.value_help = "the machine's, mostly none"),
	LULL_ROW_CHOICE("machine", machine,
			"Set of costs; the options below replace single values of the set.",
			.group = "Costs", .choice = sim_machine_name,
			.choice_help = sim_machine_help, .value = "guest"),
	LULL_ROW_TIME("iteration-cost", iteration_ns,
		      "Time of each poll iteration: clock, plan, loop.",
		      .value_help = "the machine's"),
	LULL_ROW_CUSTOM("burst-cost", "PACKETS:TIME,...", burst_cost, sim_burst_cost,
			"Time to receive, process and send PACKETS of one queue; 0 packets: an "
			"empty poll. Interpolated between the points.",
			.value_help = "the machine's", .joined = true),
	LULL_ROW_TIME("rest-cost", rest_ns, "CPU time of one sleep.",
		      .value_help = "the machine's"),
	LULL_ROW_CUSTOM("overshoot", "PERCENT:TIME,...", overshoot, sim_overshoot,
			"Time by which a sleep ends late, by quantile.",
			.value_help = "the machine's", .joined = true),
	LULL_ROW_CUSTOM("interrupt", "PERCENT:TIME,...", interrupt, sim_overshoot,
			"Threads can also wait for an Rx interrupt. Time from a packet until it "
			"wakes them, by quantile: moderation, and the core's way out of its idle "
			"state.",
			.value_help = "no interrupts", .joined = true),
	LULL_ROW_CUSTOM("monitor", "PERCENT:TIME,...", monitor, sim_overshoot,
			"Threads can also wait for a write to the ring (UMWAIT). Time from a "
			"packet until it wakes them, by quantile.",
			.value_help = "no monitor", .joined = true),
	LULL_ROW_TIME("switch-cost", switch_ns,
		      "Time to switch from one thread of a core to "
		      "another.",
		      .value_help = "the machine's"),
	LULL_ROW_REAL("power", "WATTS", watts, "Power of a core that runs.",
		      .value_help = "the machine's", .real_high = 100000),
	LULL_ROW_CUSTOM("c-states", "NAME:TIME:WATTS,...", cstates, sim_cstates,
			"Power of a core that rests for at least TIME, such as "
			"C1:0ns:5,C6:600us:1.",
			.value_help = "the machine's", .joined = true),
	LULL_ROW_CUSTOM("late", "PERCENT:TIME", late, sim_late,
			"Fault: PERCENT of the wake-ups come late by another TIME.",
			.value = "none"),
	LULL_ROW_CUSTOM("stall", "EVERY:TIME", stall, sim_stall,
			"Fault: other programs or the hypervisor take the core for TIME, fixed or "
			"a range (500us-3ms), every EVERY on average.",
			.value_help = "the machine's"),
	LULL_ROW_TEXT("describe-machine", "NAME", describe,
		      "Only print the costs of this machine, and the largest rate of a thread with "
		      "these costs.",
		      .action = true),
	LULL_SEED_OPTION("Run"),
	LULL_ROW_TIME("duration", duration_ns, "Virtual time of the measurement.",
		      .value_help = "1 s, or the length of the capture", .unit = "s"),
	LULL_ROW_TIME("warmup", warmup_ns,
		      "Virtual time before the measurement, in which "
		      "governors learn.",
		      .value_help = "0.5 s, none for a capture", .unit = "s"),
	LULL_ROW_CUSTOM("sweep-rest", "LOW-HIGH,STEPS", sweep, sim_sweep,
			"Also simulate STEPS fixed rests from LOW to HIGH, each longer than the "
			"last by the same factor.",
			.value = "none"),
	LULL_ROW_BOOL("bins", bins, "Add the bins of the latency histograms to the JSON."),
	LULL_JSON_OPTION,
	{ .key = NULL },
};
