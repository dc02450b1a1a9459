/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A million forged SYNs per second beside a thousand real flows, in virtual time through tables and
 * merge: each real flow is one record with all its packets, and no packet is lost from sight.
 *
 * LULL_FLOOD_MS in the environment is how long each flood takes.
 */
#include <stdlib.h>
#include <string.h>

#include <lull/flow.h>

#include "base/prng.h"
#include "case.h"

#define FLOOD_MS 1500
#define REAL_FLOWS 1000
#define REAL_NET 10 /* first byte of their addresses, and of no other */
#define WORKERS_MAX 4
#define FORGED_STEP_NS 1000
#define STEPS_PER_MS (LULL_NS_PER_MS / FORGED_STEP_NS)
#define IDLE_NS (30 * LULL_NS_PER_S)
#define BEGIN_NS (1000 * LULL_NS_PER_S)
#define GAP_NS_MAX (25 * LULL_NS_PER_S)
#define SYN 2
#define ACK 16

struct flood {
	uint32_t workers, entries_max;
	bool split;        /* each packet to any worker */
	bool answered;     /* the server answers each forged SYN */
	uint32_t prefixes; /* that SYNs are forged from; 0: all there are */
	uint64_t rtt_ns;   /* of real flows, between two packets of a handshake */
	uint32_t ring;     /* messages taken per ms and worker; 0: all */
	uint32_t half_open_rate;
};

struct real {
	uint64_t next_ns;
	uint32_t step;
	uint64_t sent[2], got[2];
	uint32_t records, inexact;
};

struct world {
	const struct flood *flood;
	struct lull_prng prng;
	uint64_t clock_ns, sent, given, end_ns, gap_ns;
	uint64_t forged, forged_records, forged_stand_for, sampled;
	uint64_t room[WORKERS_MAX]; /* messages taken in this ms */
	void *tables_memory[WORKERS_MAX], *merge_memory;
	struct lull_flow_table *tables[WORKERS_MAX];
	struct lull_flow_merge *merge;
	struct real real[REAL_FLOWS];
};

/* ---- records ---- */

static void
world_give(void *arg, const struct lull_flow_record *record)
{
	struct world *world = arg;
	const uint8_t *client = record->key.addr[0];

	world->given += record->packets[0] + record->packets[1];
	world->sampled += record->sampling > 0;
	if (client[0] == REAL_NET) {
		struct real *real = &world->real[client[1] << 8 | client[2]];

		real->records++;
		real->got[0] += record->packets[0];
		real->got[1] += record->packets[1];
		real->inexact += !record->exact || record->end == LULL_FLOW_END_EVICTED;
		assert_int_equal(record->sampling, 0);
		return;
	}
	world->forged_records++;
	world->forged_stand_for += 1ull << record->sampling;
	if (record->sampling > 0)
		assert_int_equal(record->end, LULL_FLOW_END_EVICTED);
}

static bool
world_hand(void *arg, struct lull_flow_record *record, void *extra)
{
	struct world *world = arg;
	uint32_t worker = (uint32_t)__builtin_ctzll(record->workers);

	(void)extra;
	if (record->message == LULL_FLOW_LEFT_OUT)
		return true;
	if (world->flood->ring > 0 && world->room[worker]++ >= world->flood->ring)
		return false;
	record->split = world->flood->split;
	lull_flow_merge_add(world->merge, record);
	return true;
}

/* ---- packets ---- */

static void
world_send(struct world *world, uint32_t client, uint32_t port, uint8_t direction, uint8_t flags)
{
	const struct flood *flood = world->flood;
	static const uint8_t server[] = { 255, 255, 255, 1 };
	struct lull_flow_packet packet = {
		.key = { .port = { (uint16_t)port, 443 }, .version = 4, .proto = 6 },
		.time_ns = world->clock_ns,
		.clock_ns = world->clock_ns,
		.number = ++world->sent,
		.ip_bytes = 40,
		.direction = direction,
		.tcp_flags = flags,
		.mark_flags = flood->split ? LULL_FLOW_MARK_SHARED : 0,
	};
	uint32_t worker;

	for (uint32_t i = 0; i < 4; i++)
		packet.key.addr[0][i] = (uint8_t)(client >> (24 - 8 * i));
	memcpy(packet.key.addr[1], server, sizeof(server));
	packet.digest = packet.dispatch_hash = lull_flow_digest(5, &packet.key);
	worker = flood->split ? (uint32_t)lull_prng_below(&world->prng, flood->workers) :
				packet.digest % flood->workers;
	lull_flow_table_add(world->tables[worker], &packet, NULL);
}

static void
world_forge(struct world *world)
{
	const struct flood *flood = world->flood;
	uint64_t drawn = lull_prng_u64(&world->prng);
	uint32_t client = (uint32_t)drawn, port = (uint32_t)(drawn >> 32) & 0xffff;

	if (flood->prefixes > 0) /* other bits of the same drawing */
		client = (64u << 24) + ((uint32_t)(drawn >> 48) % flood->prefixes << 8) +
			 (client & 0xff);
	else
		client = (client & 0x7fffffff) | 1u << 30; /* 64.0.0.0 to 127.255.255.255 */
	world->forged++;
	world_send(world, client, port, 0, SYN);
	if (flood->answered)
		world_send(world, client, port, 1, SYN | ACK);
}

/* SYN, SYN and ACK, ACK, then packets either way with silences. */
static void
world_real(struct world *world, uint32_t number)
{
	struct real *real = &world->real[number];
	uint32_t client = (uint32_t)REAL_NET << 24 | number << 8 | 7;
	uint8_t direction = real->step == 1 || (real->step > 2 && lull_prng_below(&world->prng, 2));
	uint8_t flags = real->step == 0 ? SYN : real->step == 1 ? SYN | ACK : ACK;

	world_send(world, client, 40000, direction, flags);
	real->sent[direction]++;
	real->next_ns += real->step < 2 ? world->flood->rtt_ns :
					  lull_prng_below(&world->prng, world->gap_ns);
	real->step++;
}

/* ---- a run ---- */

static void *
world_memory(size_t bytes)
{
	return aligned_alloc(LULL_CACHE_LINE,
			     (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE);
}

static struct world *
world_create(const struct flood *flood, uint64_t flood_ns)
{
	struct world *world = calloc(1, sizeof(*world));
	struct lull_flow_table_config table = {
		.entries_max = flood->entries_max,
		.half_open_rate = flood->half_open_rate,
		.seed = 11,
	};
	struct lull_flow_merge_config merge = {
		.records_max = flood->workers * flood->entries_max / 4 * 5,
		.hold = flood->workers > 1,
	};

	world->flood = flood;
	lull_prng_init(&world->prng, 3, 0);
	world->clock_ns = BEGIN_NS;
	world->end_ns = BEGIN_NS + flood_ns;
	world->gap_ns = LULL_MIN(flood_ns / 3, GAP_NS_MAX);
	for (uint32_t i = 0; i < REAL_FLOWS; i++)
		world->real[i].next_ns = BEGIN_NS + lull_prng_below(&world->prng, flood_ns / 2);
	for (table.worker_index = 0; table.worker_index < flood->workers; table.worker_index++) {
		void *memory = world_memory(lull_flow_table_size(&table));

		world->tables_memory[table.worker_index] = memory;
		assert_int_equal(lull_flow_table_init(memory, &table, world_hand, world,
						      &world->tables[table.worker_index]),
				 0);
	}
	world->merge_memory = world_memory(lull_flow_merge_size(&merge));
	assert_int_equal(
		lull_flow_merge_init(world->merge_memory, &merge, world_give, world, &world->merge),
		0);
	return world;
}

static void
world_advance(struct world *world)
{
	uint64_t watermark_ns = UINT64_MAX;

	memset(world->room, 0, sizeof(world->room));
	for (uint32_t i = 0; i < world->flood->workers; i++)
		watermark_ns = LULL_MIN(watermark_ns, lull_flow_table_advance(world->tables[i],
									      world->clock_ns, 0));
	lull_flow_merge_advance(world->merge, watermark_ns);
}

static void
world_run(struct world *world)
{
	while (world->clock_ns < world->end_ns) {
		for (uint32_t i = 0; i < REAL_FLOWS; i++) {
			while (world->real[i].next_ns <= world->clock_ns)
				world_real(world, i);
		}
		for (uint64_t i = 0; i < STEPS_PER_MS; i++) {
			world_forge(world);
			world->clock_ns += FORGED_STEP_NS;
		}
		world_advance(world);
	}
	for (uint32_t i = 0; i < world->flood->workers; i++) {
		while (!lull_flow_table_flush(world->tables[i]))
			memset(world->room, 0, sizeof(world->room));
	}
	lull_flow_merge_advance(world->merge, UINT64_MAX);
}

static struct lull_flow_table_counters
world_counters(const struct world *world)
{
	struct lull_flow_table_counters all = { .pkts = 0 };

	for (uint32_t i = 0; i < world->flood->workers; i++) {
		const struct lull_flow_table_counters *one =
			lull_flow_table_counters(world->tables[i]);

		assert_int_equal(one->entries + one->entry_pkts, 0);
		assert_int_equal(one->pkts, one->handed_pkts + one->left_out_pkts);
		assert_int_equal(one->created, one->ended_idle + one->ended_active +
						       one->ended_flush + one->ended_closed +
						       one->evicted + one->left_out);
		all.unrecorded += one->unrecorded;
		all.evicted += one->evicted;
		all.half_open_evicted += one->half_open_evicted;
		all.left_out += one->left_out;
		all.left_out_pkts += one->left_out_pkts;
	}
	return all;
}

/* Every packet has a record or a counter, every real flow one record with all it sent. */
static struct lull_flow_table_counters
world_check(struct world *world)
{
	struct lull_flow_table_counters counters = world_counters(world);
	const struct lull_flow_merge_counters *merge = lull_flow_merge_counters(world->merge);
	uint32_t broken = 0, inexact = 0;

	assert_int_equal(world->sent, world->given + counters.left_out_pkts + counters.unrecorded);
	assert_int_equal(merge->open + merge->awaited, 0);
	for (uint32_t i = 0; i < REAL_FLOWS; i++) {
		const struct real *real = &world->real[i];

		broken += real->records != 1 || real->got[0] != real->sent[0] ||
			  real->got[1] != real->sent[1];
		inexact += real->inexact != 0;
	}
	if (broken > 0)
		fail_msg("%u of %u real flows are not whole", broken, REAL_FLOWS);
	if (!world->flood->split && inexact > 0)
		fail_msg("%u of %u real flows are not exact", inexact, REAL_FLOWS);
	assert_int_equal(counters.evicted, counters.half_open_evicted);
	return counters;
}

static struct world *
world_flood(const struct flood *flood)
{
	const char *ms = getenv("LULL_FLOOD_MS");
	struct world *world = world_create(flood, (ms != NULL ? strtoull(ms, NULL, 0) : FLOOD_MS) *
							  LULL_NS_PER_MS);

	world_run(world);
	return world;
}

static void
world_destroy(struct world *world)
{
	for (uint32_t i = 0; i < world->flood->workers; i++)
		free(world->tables_memory[i]);
	free(world->merge_memory);
	free(world);
}

TEST(flood__of_all_addresses)
{
	const struct flood flood = { .workers = 4,
				     .entries_max = 65536,
				     .rtt_ns = 100 * LULL_NS_PER_MS };
	struct world *world = world_flood(&flood);

	assert_true(world_check(world).half_open_evicted > world->forged / 2);
	world_destroy(world);
}

/* The server's SYN and ACK is no answer of the one who asked. */
TEST(flood__that_is_answered)
{
	const struct flood flood = { .workers = 1,
				     .entries_max = 262144,
				     .answered = true,
				     .rtt_ns = 100 * LULL_NS_PER_MS };
	struct world *world = world_flood(&flood);

	assert_true(world_check(world).half_open_evicted > world->forged / 2);
	world_destroy(world);
}

/* What a worker sees of a flow may never look answered to it. */
TEST(flood__over_split_flows)
{
	const struct flood flood = {
		.workers = 4, .entries_max = 65536, .split = true, .rtt_ns = 100 * LULL_NS_PER_MS
	};
	struct world *world = world_flood(&flood);

	world_check(world);
	world_destroy(world);
}

/* They fill no more than their lists: others may take their time to answer. */
TEST(flood__from_few_prefixes)
{
	const struct flood flood = {
		.workers = 1, .entries_max = 65536, .prefixes = 8, .rtt_ns = 250 * LULL_NS_PER_MS
	};
	struct world *world = world_flood(&flood);

	assert_true(world_check(world).half_open_evicted > world->forged / 2);
	world_destroy(world);
}

/* Few records of the flood, and they tell how large it was. Rings take no more than that. */
TEST(flood__sampled)
{
	const struct flood flood = { .workers = 4,
				     .entries_max = 65536,
				     .ring = 50,
				     .half_open_rate = 10000,
				     .rtt_ns = 100 * LULL_NS_PER_MS };
	struct world *world = world_flood(&flood);
	struct lull_flow_table_counters counters = world_check(world);
	uint64_t ms = (world->end_ns - BEGIN_NS) / LULL_NS_PER_MS;

	assert_int_equal(counters.unrecorded, 0);
	assert_true(counters.left_out > world->forged / 2);
	assert_true(counters.half_open_evicted < 4 * 15 * ms + 40000);
	assert_true(world->sampled > counters.half_open_evicted / 2);
	assert_true(world->forged_stand_for > world->forged * 95 / 100);
	assert_true(world->forged_stand_for < world->forged * 105 / 100);
	world_destroy(world);
}
