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
			"Schedulers to compare on the same packets; all: every scheduler.",
			.group = "Dispatch", .value = "crc32,hrw,subflow,sticky", .joined = true),
	LULL_ORDER_OPTION(order, "none"),
	LULL_ROW_COUNT("workers", "N", workers, "Workers.", .value = "4", .low = 1,
		       .high = LULL_DISPATCH_WORKERS_MAX),
	LULL_THRESHOLD_OPTIONS(threshold, enter, leave, false),
	LULL_ROW_COUNT("bucket-bits", "N", bucket_bits,
		       "Number of buckets of flows, as a power "
		       "of two.",
		       .value = "16", .low = 8, .high = 22),
	LULL_ROW_TIME("bucket-idle", idle_ns,
		      "Time without packets after which a bucket is "
		      "forgotten.",
		      .value = "30", .unit = "s", .low = LULL_NS_PER_MS,
		      .high = 3600 * LULL_NS_PER_S),
	LULL_ROW_COUNT("pin", "PACKETS", pin_pkts,
		       "Number of first packets for which a bucket of flows stays at its worker "
		       "while none of them is identified; 0: buckets may move at once.",
		       .value = "0", .high = 65535),
	LULL_ROW_BOOL("hand-over", hand_over,
		      "The identification moves with the flow: its next worker does not identify "
		      "it again.",
		      .value = "no"),
	LULL_RESEQUENCE_OPTIONS(delay_ns, window_pkts),
	LULL_ROW_CUSTOM(
		"load", "LOAD,...", loads, flow_sim_loads,
		"Offered load, as a share of the unsplit capacity: the rate at which all workers "
		"could process these packets if each flow stayed at one worker and all workers "
		"had the same load.",
		.group = "Traffic", .value = "0.7", .joined = true),
	LULL_ROW_CHOICE("gaps", gaps, "Between packets.", .choices = gaps_names,
			.value = "poisson"),
	LULL_ROW_COUNT("flows", "N", flow_count, "Flows alive at once.", .value = "10k", .low = 1,
		       .high = LULL_SIM_FLOWS_MAX),
	LULL_ROW_REAL("zipf", "S", zipf,
		      "Skew of the flows: the n-th flow has a share of the packets in proportion "
		      "to n^-S; 0: all flows alike.",
		      .value = "1.1", .real_high = 4),
	LULL_ROW_REAL("elephant", "PERCENT", elephant,
		      "Share of the packets that one flow has; the others share the rest by "
		      "--zipf; 0: no such flow.",
		      .value = "0", .real_high = 100),
	LULL_ROW_COUNT("target", "N", target_count,
		       "Use only flows that hrw and crc32 send to the same one of the first N "
		       "workers; 0: all flows.",
		       .value = "0", .high = LULL_DISPATCH_WORKERS_MAX),
	LULL_ROW_COUNT("churn", "N", churn_ppm,
		       "Number of packets per million that begin a new flow in place of an old "
		       "one.",
		       .value = "0", .high = 1000000),
	LULL_ROW_COUNT("packets", "N", pkts, "Packets measured.", .value = "1M", .low = 1,
		       .high = 1000000000000ULL),
	LULL_ROW_CHOICE("start", start,
			"cold: every flow is new at first. warm: --lead packets come before the "
			"measurement. both: both.",
			.choices = start_names, .value = "both"),
	LULL_ROW_COUNT("lead", "N", lead_pkts, "Packets before the measurement of a warm start.",
		       .value = "500k", .low = 1, .high = 1000000000000ULL),
	LULL_ROW_COUNT("rx-ring", "PACKETS", rx_ring_pkts, "Room of the Rx ring of the I/O core.",
		       .group = "Rings and bursts", .value = "1024", .low = 1, .high = 1048576),
	LULL_BURST_OPTION(burst_pkts, LULL_SIM_PIPELINE_BURST_MAX),
	LULL_FLUSH_OPTIONS(flush_pkts, flush_ns, LULL_SIM_PIPELINE_BURST_MAX, false),
	LULL_ROW_COUNT("ring", "PACKETS", ring_pkts, "Room of the ring of each worker.",
		       .value = "1024", .low = 1, .high = 1048576),
	LULL_ROW_COUNT("worker-burst", "PACKETS", worker_burst_pkts,
		       "Largest number of packets that a worker takes at once.", .value = "32",
		       .low = 1, .high = LULL_SIM_PIPELINE_BURST_MAX),
	LULL_ROW_TIME("io-iteration", io_iteration_ns,
		      "Time of each poll iteration of the I/O core.", .group = "Costs",
		      .value = "50ns", .low = 1, .high = LULL_NS_PER_S),
	LULL_ROW_TIME("io-packet", io_pkt_ns, "Time of the I/O core per packet.", .value = "20ns",
		      .high = LULL_NS_PER_S),
	LULL_ROW_TIME("service", service_ns, "Time of a worker per packet.", .value = "300ns",
		      .low = 1, .high = LULL_NS_PER_S),
	LULL_ROW_REAL("jitter", "PERCENT", jitter, "Random variation of --service, up or down.",
		      .value = "25", .real_high = 100),
	LULL_ROW_TIME("identify", identify_ns,
		      "Additional time of a worker for each of the first packets of a flow.",
		      .value = "1300ns", .high = LULL_NS_PER_S),
	LULL_ROW_COUNT("identify-packets", "N", identify_pkts,
		       "Number of first packets of a flow "
		       "that cost --identify.",
		       .value = "8", .high = 255),
	LULL_ROW_TIME("wake", wake_ns, "Delay of a worker that has found its ring empty.",
		      .value = "0", .high = LULL_NS_PER_S),
	LULL_ROW_CUSTOM("stall", "EVERY:TIME", stall, flow_sim_stall,
			"Fault: a worker stops for TIME, every EVERY.", .value = "none"),
	LULL_ROW_COUNT("stall-worker", "N", stall_worker, "Worker that --stall stops, from 0 on.",
		       .value = "0", .high = LULL_DISPATCH_WORKERS_MAX - 1),
	LULL_ROW_COUNT("watch", "N", watch_pkts,
		       "Count the packets sent to a worker above --threshold, and those of them "
		       "that are followed by a loss among this worker's next N packets; 0: do not "
		       "count.",
		       .group = "Run", .value = "0", .high = 65536),
	LULL_ROW_BOOL("bisect", bisect,
		      "Instead of --load: search for the largest load at which no packet is lost "
		      "with any of --seeds.",
		      .value = "no"),
	LULL_ROW_REAL("bisect-step", "PERCENT", bisect_step,
		      "Step between the loads that "
		      "--bisect tries.",
		      .value = "1", .real_low = 0.01, .real_high = 100),
	LULL_ROW_REAL("bisect-most", "PERCENT", bisect_high, "Largest load that --bisect tries.",
		      .value = "120", .real_low = 0.01, .real_high = 400),
	LULL_SEED_OPTION(NULL),
	LULL_ROW_COUNT("seeds", "N", seed_count,
		       "Number of runs, with --seed and the following "
		       "seeds.",
		       .value = "1", .low = 1, .high = 100000),
	LULL_JSON_OPTION,
	{ .key = NULL },
};
