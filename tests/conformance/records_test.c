/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records do not depend on who saw which packet when: the same packets split over workers in every
 * way, with workers, log and dispatchers that move on at random, make the records that the
 * definition asks for, byte by byte.
 *
 * LULL_SEEDS in the environment tries so many seeds, LULL_SEED begins with that one.
 */
#include "records_stand.h"

TEST(records__same_for_every_split)
{
	uint64_t first = environment("LULL_SEED", 0), count = environment("LULL_SEEDS", SEEDS);

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct stand *stand = stand_create(seed);
		const struct lull_flow_merge_counters *counters;
		int difference;

		stand_run(stand);
		counters = lull_flow_merge_counters(stand->merge);
		difference = stand_difference(stand);
		if (difference >= 0)
			fail_msg("seed %llu: record %d differs: %u workers, split %d, %u "
				 "dispatchers, %u records, %u expected",
				 (unsigned long long)seed, difference, stand->worker_count,
				 (int)stand->split, stand->traffic.dispatcher_count,
				 stand->given_count, stand->traffic.expected_count);
		assert_int_equal(counters->open + counters->awaited + counters->evicted, 0);
		assert_int_equal(stand->given_pkts, stand->traffic.pkt_count);
		stand_destroy(stand);
	}
}

/* The case above would notice: without the dispatcher's marks some record is given too early. */
TEST(records__need_announcements)
{
	uint32_t differ = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct stand *stand = stand_create(seed);

		stand->traffic.dispatcher_count = 1;
		for (uint32_t i = 0; i < stand->traffic.pkt_count; i++)
			stand->traffic.pkts[i].dispatcher = 0;
		stand->unmarked = true;
		stand_run(stand);
		differ += stand_difference(stand) >= 0;
		stand_destroy(stand);
	}
	assert_true(differ > 5);
}

/* Too little room everywhere: records come early and say so, packets are all accounted for. */
TEST(records__conserve_packets_without_room)
{
	uint64_t evicted = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct stand *stand = stand_create(seed);
		uint64_t inexact = 0, unrecorded = 0;

		stand->entries_max = 16;
		stand_run(stand);
		for (uint32_t i = 0; i < stand->worker_count; i++) {
			const struct lull_flow_table_counters *counters =
				lull_flow_table_counters(stand->workers[i].table);

			unrecorded += counters->unrecorded;
			evicted += counters->evicted;
		}
		for (uint32_t i = 0; i < stand->given_count; i++) {
			inexact += stand->given[i].record.exact == 0;
			if (stand->given[i].record.end == LULL_FLOW_END_EVICTED)
				assert_int_equal(stand->given[i].record.exact, 0);
		}
		assert_int_equal(stand->given_pkts + unrecorded, stand->traffic.pkt_count);
		if (inexact == 0 && unrecorded == 0)
			assert_int_equal(stand_difference(stand), -1);
		stand_destroy(stand);
	}
	assert_true(evicted > 1000);
}
