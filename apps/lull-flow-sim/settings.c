/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "program/dispatch_rows.h"
#include "program/rows.h"

#include "spec.h"

static const char *const gaps_names[] = { "poisson", "constant", NULL };
static const char *const start_names[] = { "cold", "warm", "both", NULL };

#define LULL_SETTINGS struct flow_sim_settings

const struct lull_option flow_sim_options[] = {
	LULL_ROW_CUSTOM("scheduler", "NAME,...", schedulers, flow_sim_schedulers,
			"Schedulers to try, each on the same packets; all: every one there is.",
			.group = "Dispatch", .value = "crc32,hrw,subflow,sticky", .joined = true),
	LULL_ORDER_OPTION(order, "none"),
	LULL_ROW_COUNT("workers", "N", workers, "Workers.", .value = "4", .low = 1,
		       .high = LULL_DISPATCH_WORKERS_MAX),
	LULL_THRESHOLD_OPTIONS(threshold, enter, leave, false),
	LULL_ROW_COUNT("bucket-bits", "N", bucket_bits, "2^N buckets of flows.", .value = "16",
		       .low = 8, .high = 22),
	LULL_ROW_TIME("bucket-idle", idle_ns, "A bucket without packets for so long is forgotten.",
		      .value = "30", .unit = "s", .low = LULL_NS_PER_MS,
		      .high = 3600 * LULL_NS_PER_S),
	LULL_ROW_COUNT("pin", "PACKETS", pin_pkts,
		       "A flow stays where it is for its first so many packets, while it is being "
		       "identified; 0: no pins.",
		       .value = "0", .high = 65535),
	LULL_ROW_BOOL("hand-over", hand_over,
		      "A flow that moves takes its verdict along: it is not identified again.",
		      .value = "no"),
	LULL_RESEQUENCE_OPTIONS(delay_ns, window_pkts),
	LULL_ROW_CUSTOM(
		"load", "LOAD,...", loads, flow_sim_loads,
		"Offered, as a share of the unsplit capacity: of what the workers could do "
		"together with these very packets if each flow stayed at one worker and all had "
		"the same to do. A packet then costs --service, and --identify if it is one of the "
		"first --identify-packets of its flow; how many these are is counted.",
		.group = "Traffic", .value = "0.7", .joined = true),
	LULL_ROW_CHOICE("gaps", gaps, "Between packets.", .choices = gaps_names,
			.value = "poisson"),
	LULL_ROW_COUNT("flows", "N", flow_count, "Flows alive at once.", .value = "10k", .low = 1,
		       .high = LULL_SIM_FLOWS_MAX),
	LULL_ROW_REAL("zipf", "S", zipf,
		      "The n-th flow has a share of the packets that falls as n^-S; 0: all alike.",
		      .value = "1.1", .real_high = 4),
	LULL_ROW_REAL("elephant", "PERCENT", elephant,
		      "One flow has this share of the packets, the others share the rest as --zipf "
		      "says; 0: none.",
		      .value = "0", .real_high = 100),
	LULL_ROW_COUNT("target", "N", target_count,
		       "Only flows that hrw and crc32 both send to the same one of the first N "
		       "workers; 0: any flows.",
		       .value = "0", .high = LULL_DISPATCH_WORKERS_MAX),
	LULL_ROW_COUNT("churn", "N", churn_ppm,
		       "So many of a million packets come with a new flow, in place of an old one.",
		       .value = "0", .high = 1000000),
	LULL_ROW_COUNT("packets", "N", pkts, "Packets measured.", .value = "1M", .low = 1,
		       .high = 1000000000000ULL),
	LULL_ROW_CHOICE("start", start,
			"cold: every flow is new at first. warm: --lead packets come before those "
			"that are measured.",
			.choices = start_names, .value = "both"),
	LULL_ROW_COUNT("lead", "N", lead_pkts, "Packets before a warm start.", .value = "500k",
		       .low = 1, .high = 1000000000000ULL),
	LULL_ROW_COUNT("rx-ring", "PACKETS", rx_ring_pkts, "Room in front of the I/O core.",
		       .group = "Rings and bursts", .value = "1024", .low = 1, .high = 1048576),
	LULL_BURST_OPTION(burst_pkts, LULL_SIM_PIPELINE_BURST_MAX),
	LULL_FLUSH_OPTIONS(flush_pkts, flush_ns, LULL_SIM_PIPELINE_BURST_MAX, false),
	LULL_ROW_COUNT("ring", "PACKETS", ring_pkts, "Room in front of each worker.",
		       .value = "1024", .low = 1, .high = 1048576),
	LULL_ROW_COUNT("worker-burst", "PACKETS", worker_burst_pkts,
		       "Most packets a worker takes at once.", .value = "32", .low = 1,
		       .high = LULL_SIM_PIPELINE_BURST_MAX),
	LULL_ROW_TIME("io-turn", io_turn_ns, "Of every turn of the I/O core.", .group = "Costs",
		      .value = "50ns", .low = 1, .high = LULL_NS_PER_S),
	LULL_ROW_TIME("io-packet", io_pkt_ns, "Of every packet there.", .value = "20ns",
		      .high = LULL_NS_PER_S),
	LULL_ROW_TIME("service", service_ns, "Of every packet at its worker.", .value = "300ns",
		      .low = 1, .high = LULL_NS_PER_S),
	LULL_ROW_REAL("jitter", "PERCENT", jitter, "That much more or less, at random.",
		      .value = "25", .real_high = 100),
	LULL_ROW_TIME("identify", identify_ns,
		      "On top, for the first packets of a flow at a worker.", .value = "1300ns",
		      .high = LULL_NS_PER_S),
	LULL_ROW_COUNT("identify-packets", "N", identify_pkts, "How many these are.", .value = "8",
		       .high = 255),
	LULL_ROW_TIME("wake", wake_ns, "A worker that found its ring empty begins so much later.",
		      .value = "0", .high = LULL_NS_PER_S),
	LULL_ROW_CUSTOM("stall", "EVERY:TIME", stall, flow_sim_stall,
			"Fault: a worker stands still for TIME, every EVERY.", .value = "none"),
	LULL_ROW_COUNT("stall-worker", "N", stall_worker, "Which one, from 0 on.", .value = "0",
		       .high = LULL_DISPATCH_WORKERS_MAX - 1),
	LULL_ROW_COUNT("watch", "N", watch_pkts,
		       "Of the packets sent to a worker whose ring is filled above --threshold: "
		       "how many see one of its next N packets lost? 0: do not ask.",
		       .group = "Run", .value = "0", .high = 65536),
	LULL_ROW_BOOL("bisect", bisect,
		      "Instead of --load: find the largest load at which none of --packets is "
		      "lost, for any of --seeds.",
		      .value = "no"),
	LULL_ROW_REAL("bisect-step", "PERCENT", bisect_step, "Loads tried are multiples of this.",
		      .value = "1", .real_low = 0.01, .real_high = 100),
	LULL_ROW_REAL("bisect-most", "PERCENT", bisect_high, "No load above this is tried.",
		      .value = "120", .real_low = 0.01, .real_high = 400),
	LULL_SEED_OPTION(NULL),
	LULL_ROW_COUNT("seeds", "N", seed_count, "So many runs, with --seed and those after it.",
		       .value = "1", .low = 1, .high = 100000),
	LULL_JSON_OPTION,
	{ .key = NULL },
};
