/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow/probation.h"

#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "case.h"
#include "flow/wheel.h"

#define ENTRIES 4096
#define TCP LULL_FLOW_PROTO_TCP
#define UDP LULL_FLOW_PROTO_UDP
#define SYN 2
#define RST 4
#define ACK 16

static struct lull_flow_probation probation;
static void *memory;

static void
stand_start(uint32_t rate)
{
	struct lull_flow_table_config config = {
		.entries_max = ENTRIES,
		.prefix4_bits = 24,
		.prefix6_bits = 48,
		.half_open_rate = rate,
		.seed = 9,
	};

	memory = aligned_alloc(LULL_CACHE_LINE, lull_flow_probation_size(&config));
	memset(memory, 0xa5, lull_flow_probation_size(&config));
	lull_flow_probation_init(&probation, memory, &config);
}

static struct lull_flow_packet
packet_from(uint32_t source)
{
	struct lull_flow_packet packet = { .key = { .version = 4 } };

	for (uint32_t i = 0; i < 4; i++)
		packet.key.addr[0][i] = (uint8_t)(source >> (24 - 8 * i));
	return packet;
}

static void
stand_enter(uint32_t index, uint32_t source)
{
	struct lull_flow_packet packet = packet_from(source);

	lull_flow_probation_enter(&probation, index, &packet);
}

/* Flags of the packets of a flow, of direction 1 where negative; 0: it has answered. */
static uint8_t
heard_of(uint8_t proto, const int *flags, uint32_t count)
{
	uint8_t heard = LULL_FLOW_PROBATION_NEW;

	for (uint32_t i = 0; i < count; i++) {
		struct lull_flow_packet packet = {
			.key = { .proto = proto },
			.tcp_flags = (uint8_t)abs(flags[i]),
			.direction = flags[i] < 0,
		};

		assert_int_not_equal(heard, 0);
		heard = lull_flow_probation_hear(heard, &packet);
	}
	return heard;
}
#define HEARD(proto, ...)                                                                          \
	heard_of(proto, (const int[]){ __VA_ARGS__ }, COUNT(((const int[]){ __VA_ARGS__ })))

TEST(hear__what_is_an_answer)
{
	assert_int_equal(HEARD(TCP, SYN, -(SYN | ACK), ACK), 0);
	assert_int_equal(HEARD(TCP, ACK, -ACK), 0);
	assert_int_equal(HEARD(TCP, SYN, ACK, ACK, ACK), 0); /* who sees one direction */
	assert_int_equal(HEARD(UDP, 0, -1), 0);
	assert_int_equal(HEARD(UDP, 0, 0, 0), 0);
}

TEST(hear__what_is_none)
{
	assert_int_not_equal(HEARD(TCP, SYN), 0);
	assert_int_not_equal(HEARD(TCP, SYN, SYN, SYN, SYN, SYN), 0);
	assert_int_not_equal(HEARD(TCP, SYN, -(SYN | ACK), -(SYN | ACK), -(SYN | ACK)), 0);
	assert_int_not_equal(HEARD(TCP, SYN, -(RST | ACK)), 0);
	assert_int_not_equal(HEARD(TCP, ACK, -RST, ACK, -RST), 0);
	assert_int_not_equal(HEARD(UDP, 0, 0), 0);
}

/* As if one worker had seen all, in any order. */
TEST(join__parts)
{
	uint8_t syn = HEARD(TCP, SYN), answer = HEARD(TCP, -(SYN | ACK)), ack = HEARD(TCP, ACK);

	assert_int_not_equal(lull_flow_probation_join(syn, answer), 0);
	assert_int_not_equal(lull_flow_probation_join(syn, ack), 0);
	assert_int_equal(lull_flow_probation_join(answer, ack), 0);
	assert_int_equal(lull_flow_probation_join(lull_flow_probation_join(syn, answer), ack), 0);
	assert_int_equal(lull_flow_probation_join(lull_flow_probation_join(ack, ack), ack), 0);
	assert_int_equal(lull_flow_probation_join(syn, 0), 0);
	assert_int_equal(lull_flow_probation_join(0, syn), 0);
}

TEST(victim__not_below_the_reserve)
{
	stand_start(0);
	for (uint32_t i = 0; i < ENTRIES / LULL_FLOW_PROBATION_RESERVE; i++) {
		stand_enter(i, i << 8);
		assert_int_equal(lull_flow_probation_victim(&probation), LULL_WHEEL_NONE);
	}
	stand_enter(ENTRIES - 1, 0);
	assert_int_not_equal(lull_flow_probation_victim(&probation), LULL_WHEEL_NONE);
	free(memory);
}

/* The one silent longest, of one prefix. */
TEST(victim__in_the_order_of_packets)
{
	uint32_t went[6];

	stand_start(0);
	probation.reserve = 0;
	probation.mask = 0;
	for (uint32_t i = 0; i < 6; i++)
		stand_enter(i, 5);
	lull_flow_probation_touch(&probation, 0);
	lull_flow_probation_touch(&probation, 3);
	lull_flow_probation_leave(&probation, 2);
	for (uint32_t i = 0; i < 5; i++) {
		went[i] = lull_flow_probation_victim(&probation);
		lull_flow_probation_leave(&probation, went[i]);
	}
	assert_memory_equal(went, ((uint32_t[]){ 1, 4, 5, 0, 3 }), 5 * sizeof(went[0]));
	assert_int_equal(lull_flow_probation_victim(&probation), LULL_WHEEL_NONE);
	free(memory);
}

/* However long one prefix floods, others lose nothing unless both their lists are its. */
TEST(victim__of_the_prefix_that_has_most)
{
	bool lost[1000] = { false };
	uint32_t lost_count = 0;

	stand_start(0);
	for (uint32_t i = 1000; i < ENTRIES; i++)
		stand_enter(i, 77u << 24 | (i & 0xff));
	for (uint32_t i = 0; i < 1000; i++)
		stand_enter(i, i << 8); /* a thousand prefixes, each with one */
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t index = lull_flow_probation_victim(&probation);

		if (index < 1000)
			lost[index] = true;
		lull_flow_probation_leave(&probation, index);
		stand_enter(index, index < 1000 ? index << 8 : 77u << 24 | (i & 0xff));
	}
	for (uint32_t i = 0; i < 1000; i++)
		lost_count += lost[i];
	/* Of 64 lists the flood has two: one in a thousand prefixes. */
	assert_true(lost_count <= 4);
	assert_int_equal(probation.count, ENTRIES);
	free(memory);
}

/* Against counting anew after each of many random steps. */
TEST(lists__most_is_the_most)
{
	bool in[256] = { false };
	struct lull_prng prng;

	lull_prng_init(&prng, 4, 0);
	stand_start(0);
	probation.reserve = 0;
	for (uint32_t step = 0; step < 20000; step++) {
		uint32_t index = (uint32_t)lull_prng_below(&prng, COUNT(in)), most = 0, count = 0;

		if (in[index])
			lull_flow_probation_leave(&probation, index);
		else
			stand_enter(index, (uint32_t)lull_prng_below(&prng, 20) << 8);
		in[index] = !in[index];
		for (uint32_t i = 0; i <= probation.mask; i++) {
			most = LULL_MAX(most, probation.lists[i].count);
			count += probation.lists[i].count;
		}
		assert_int_equal(probation.count, count);
		if (count > 0) {
			uint32_t victim = lull_flow_probation_victim(&probation);

			assert_true(in[victim]);
			assert_int_equal(probation.lists[probation.places[victim].list].count,
					 most);
		}
	}
	free(memory);
}

/* Each kept record stands for 2^shift: their sum is what went, whatever the load. */
TEST(keeps__tells_how_many_went)
{
	const uint64_t loads[] = { 500, 1000000, 30000, 200 }; /* per second, each for one */
	uint64_t clock_ns = 1700000000 * LULL_NS_PER_S;
	struct lull_prng prng;

	lull_prng_init(&prng, 8, 0);
	stand_start(1000);
	for (uint32_t i = 0; i < COUNT(loads); i++) {
		uint64_t stands_for = 0, kept = 0;
		uint8_t shift;

		for (uint64_t j = 0; j < loads[i]; j++) {
			clock_ns += LULL_NS_PER_S / loads[i];
			if (!lull_flow_probation_keeps(&probation,
						       (uint32_t)lull_prng_u64(&prng) & 0x7fffffff,
						       clock_ns, &shift))
				continue;
			kept++;
			stands_for += 1ull << shift;
		}
		assert_true(stands_for >= loads[i] * 85 / 100 &&
			    stands_for <= loads[i] * 115 / 100);
		assert_true(kept <= 1000 + 11 * 200);
		assert_true(kept >= LULL_MIN(loads[i], 1000u) / 2);
	}
	assert_int_equal(probation.shift, 0);
	free(memory);
}

/* By digest alone: who is kept at a large interval is kept at a smaller one. */
TEST(keeps__nested_by_digest)
{
	uint8_t shift;

	stand_start(10);
	for (uint32_t digest = 1; digest < 100000; digest += 37) {
		bool before = true;

		for (uint8_t i = 0; i < 10; i++) {
			bool keeps;

			probation.window_end_ns = UINT64_MAX;
			probation.kept = 0;
			probation.shift = i;
			keeps = lull_flow_probation_keeps(&probation, digest, 0, &shift);
			assert_int_equal(shift, i);
			assert_true(before || !keeps);
			before = keeps;
		}
	}
	free(memory);
}
