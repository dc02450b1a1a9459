/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What flow records cost on one core: CPU time per packet of a worker's table, by number of flows
 * and how packets are spread over them; per partial record of a merge, passing them on, keeping
 * them until the watermark has passed, and joining two announced parts; bytes of memory for each.
 * No packets' bytes, no DPDK. What it takes to make the input up is measured alone and subtracted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/flow.h>

#include "base/prng.h"
#include "figure.h"

#define ROUNDS 9
#define PKTS (1u << 20)
#define SEED 7
#define PKT_STEP_NS 100 /* 10 M packets/s: a round is far shorter than the idle timeout */
#define PARTIALS (1u << 20)
#define FLOW_STEP_NS 200
#define DIGEST_MAX 0x7fffffffu
#define BURST 64 /* flows from one advance() to the next */

/* Keeps the compiler from leaving out what nobody looks at. */
static volatile uint64_t sink;

static void *
cost_memory(size_t bytes)
{
	void *memory = aligned_alloc(LULL_CACHE_LINE, (bytes + LULL_CACHE_LINE - 1) /
							      LULL_CACHE_LINE * LULL_CACHE_LINE);

	if (memory == NULL) {
		fprintf(stderr, "records-cost: no memory for %zu bytes\n", bytes);
		exit(1);
	}
	return memory;
}

/* Of a flow's number: 31 bits, no two alike. */
static uint32_t
cost_digest(uint32_t flow)
{
	return flow * 2654435761u & DIGEST_MAX;
}

static struct lull_flow_key
cost_key(uint32_t flow)
{
	struct lull_flow_key key = { .port = { 1024, 443 }, .version = 4, .proto = 6 };

	memcpy(key.addr[0], &flow, sizeof(flow));
	return key;
}

/* ---- table ---- */

/* Which flow each packet of a round is of: Zipf with exponent 1.1, or all alike. */
static void
cost_spread(uint32_t *flows, uint32_t flow_count, bool zipf)
{
	double *sums = cost_memory(flow_count * sizeof(*sums)), sum = 0;
	struct lull_prng prng;

	lull_prng_init(&prng, SEED, 0);
	for (uint32_t i = 0; i < flow_count; i++)
		sums[i] = sum += zipf ? pow(i + 1, -1.1) : 1;
	for (uint32_t i = 0; i < PKTS; i++) {
		double drawn = sum * (double)(lull_prng_u64(&prng) >> 11) / (double)(1ULL << 53);
		uint32_t low = 0, high = flow_count - 1;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (sums[middle] > drawn)
				high = middle;
			else
				low = middle + 1;
		}
		/* Heavy flows do not lie side by side. */
		flows[i] = (uint32_t)((uint64_t)low * 2654435761u % flow_count);
	}
	free(sums);
}

struct packets {
	const uint32_t *flows;
	uint64_t clock_ns;
	struct lull_flow_table *table; /* NULL: only make them up */
};

static bool
packets_refuse(void *arg, struct lull_flow_record *record, void *extra)
{
	(void)arg, (void)record, (void)extra;
	return false;
}

/* CPU time per packet of a round, ns. */
static double
packets_round(struct packets *packets)
{
	struct lull_flow_packet packet = { .ip_bytes = 500, .tcp_flags = 16 };
	uint64_t begin_ns = figure_cpu_ns();

	for (uint32_t i = 0; i < PKTS; i++) {
		packet.key = cost_key(packets->flows[i]);
		packet.digest = cost_digest(packets->flows[i]);
		packets->clock_ns += PKT_STEP_NS;
		packet.time_ns = packet.clock_ns = packet.number = packets->clock_ns;
		if (packets->table != NULL)
			sink = (uintptr_t)lull_flow_table_add(packets->table, &packet, NULL);
		else
			sink = packet.digest + packet.key.addr[0][0];
	}
	return (double)(figure_cpu_ns() - begin_ns) / PKTS;
}

static void
measure_table(uint32_t flow_count, bool zipf)
{
	struct lull_flow_table_config config = { .entries_max = flow_count };
	void *memory = cost_memory(lull_flow_table_size(&config));
	uint32_t *flows = cost_memory(PKTS * sizeof(*flows));
	struct figure figure = { .count = 0 }, input = { .count = 0 };
	struct packets alone = { .flows = flows }, packets = { .flows = flows };
	const struct lull_flow_table_counters *counters;

	cost_spread(flows, flow_count, zipf);
	if (lull_flow_table_init(memory, &config, packets_refuse, NULL, &packets.table) != 0)
		exit(1);
	counters = lull_flow_table_counters(packets.table);
	packets_round(&packets); /* makes the entries */
	for (int round = 0; round < ROUNDS; round++) {
		double input_ns = packets_round(&alone);

		figure_add(&input, input_ns);
		figure_add(&figure, packets_round(&packets) - input_ns);
	}
	printf("| %u | %s | %.1f | %.1f | %.1f | %llu | %llu |\n", flow_count,
	       zipf ? "Zipf 1.1" : "uniform", figure_median(&figure), figure_least(&figure),
	       figure_median(&input), (unsigned long long)counters->entries,
	       (unsigned long long)counters->unrecorded);
	free(flows);
	free(memory);
}

/* ---- merge ---- */

struct parts {
	const char *name;
	bool hold;
	uint32_t workers; /* that had packets of each flow; several: announced */
};
static const struct parts parts_ways[] = {
	{ "hold off", false, 1 },
	{ "hold on, one part", true, 1 },
	{ "hold on, two announced parts", true, 2 },
};

static void
parts_give(void *arg, const struct lull_flow_record *record)
{
	(void)arg;
	sink = record->digest;
}

static void
parts_add(struct lull_flow_merge *merge, uint32_t flow, uint32_t worker, uint8_t message,
	  bool announced)
{
	uint64_t clock_ns = (uint64_t)flow * FLOW_STEP_NS;
	struct lull_flow_record record = {
		.key = cost_key(flow),
		.digest = cost_digest(flow),
		.first_ns = clock_ns,
		.last_ns = clock_ns,
		.first_clock_ns = clock_ns,
		.last_clock_ns = clock_ns,
		.first_number = clock_ns,
		.workers = 1ULL << worker,
		.message = message,
		.announced = announced,
		.split = 1,
		.exact = 1,
	};

	if (message == LULL_FLOW_PARTIAL)
		record.packets[0] = 1;
	if (merge != NULL)
		lull_flow_merge_add(merge, &record);
	else
		sink = record.digest + record.key.addr[0][0];
}

/*
 * All of flow @p flow was seen at its clock. The watermark tells the end of a flow when @p open
 * later ones have begun; announced parts come only then.
 */
static void
parts_flow(struct lull_flow_merge *merge, const struct parts *parts, uint32_t flow, uint32_t open)
{
	bool announced = parts->workers > 1;

	for (uint32_t worker = 0; announced && worker < parts->workers; worker++)
		parts_add(merge, flow, worker, LULL_FLOW_ANNOUNCE, false);
	if (announced && flow < open)
		return;
	for (uint32_t worker = 0; worker < parts->workers; worker++)
		parts_add(merge, announced ? flow - open : flow, worker, LULL_FLOW_PARTIAL,
			  announced);
}

/* CPU time per partial record, ns; @p *flow goes on from round to round. */
static double
parts_round(struct lull_flow_merge *merge, const struct parts *parts, uint32_t *flow, uint32_t open)
{
	uint64_t begin_ns = figure_cpu_ns();

	for (uint32_t i = 0; i < PARTIALS / parts->workers; i++, ++*flow) {
		parts_flow(merge, parts, *flow, open);
		if (merge != NULL && *flow % BURST == 0 && *flow >= open)
			lull_flow_merge_advance(merge, (uint64_t)(*flow - open) * FLOW_STEP_NS +
							       30 * LULL_NS_PER_S);
	}
	return (double)(figure_cpu_ns() - begin_ns) / PARTIALS;
}

static void
measure_merge(const struct parts *parts, uint32_t open)
{
	struct lull_flow_merge_config config = {
		.records_max = 2 * open + 4 * BURST,
		.idle_ns = 30 * LULL_NS_PER_S,
		.hold = parts->hold,
		.seed = SEED,
	};
	void *memory = cost_memory(lull_flow_merge_size(&config));
	struct figure figure = { .count = 0 };
	const struct lull_flow_merge_counters *counters;
	struct lull_flow_merge *merge;
	uint32_t flow = 0, alone = 0;

	if (lull_flow_merge_init(memory, &config, parts_give, NULL, &merge) != 0)
		exit(1);
	counters = lull_flow_merge_counters(merge);
	while (flow < 2 * open) /* until as many come as go */
		parts_round(merge, parts, &flow, open);
	for (int round = 0; round < ROUNDS; round++) {
		double input_ns = parts_round(NULL, parts, &alone, 0);

		figure_add(&figure, parts_round(merge, parts, &flow, open) - input_ns);
	}
	printf("| %s | %u | %.1f | %.1f | %.2f | %llu | %llu |\n", parts->name,
	       parts->hold ? open : 0, figure_median(&figure), figure_least(&figure),
	       1e3 / figure_median(&figure), (unsigned long long)counters->joined,
	       (unsigned long long)counters->evicted);
	free(memory);
}

/* ---- memory ---- */

static void
measure_bytes(uint32_t payload_bytes)
{
	const uint32_t few = 1u << 16, many = 1u << 20;
	struct lull_flow_table_config table[2] = {
		{ .entries_max = few, .payload_bytes = payload_bytes },
		{ .entries_max = many, .payload_bytes = payload_bytes },
	};
	struct lull_flow_merge_config merge[2] = {
		{ .records_max = few, .payload_bytes = payload_bytes },
		{ .records_max = many, .payload_bytes = payload_bytes },
	};
	size_t entries = lull_flow_table_size(&table[1]) - lull_flow_table_size(&table[0]);
	size_t records = lull_flow_merge_size(&merge[1]) - lull_flow_merge_size(&merge[0]);

	printf("| %u | %zu | %.1f | %.1f |\n", payload_bytes, lull_flow_record_bytes(payload_bytes),
	       (double)entries / (many - few), (double)records / (many - few));
}

int
main(void)
{
	static const uint32_t flow_counts[] = { 1000, 100000, 1000000 };

	figure_print_machine(LULL_TREE);
	printf("| flows | packets | table, ns/pkt | least | input, ns | entries | unrecorded |\n"
	       "|---:|---|---:|---:|---:|---:|---:|\n");
	for (uint32_t i = 0; i < 6; i++)
		measure_table(flow_counts[i / 2], i % 2 == 1);
	printf("\n| merge | open | ns/partial | least | M partials/s | joined | evicted |\n"
	       "|---|---:|---:|---:|---:|---:|---:|\n");
	for (uint32_t way = 0; way < 3; way++) {
		for (uint32_t i = 0; i < (parts_ways[way].hold ? 3u : 1u); i++)
			measure_merge(&parts_ways[way], flow_counts[i]);
	}
	printf("\n| payload kept | record | table, bytes/entry | merge, bytes/open record |\n"
	       "|---:|---:|---:|---:|\n");
	measure_bytes(0);
	measure_bytes(LULL_FLOW_PAYLOAD_MAX);
	return 0;
}
