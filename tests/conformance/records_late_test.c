/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records under stress: full rings refuse packets, workers stand still until nobody waits.
 *
 * LULL_SEEDS in the environment tries so many seeds, LULL_SEED begins with that one.
 */
#include "records_stand.h"

/* What has come to a worker is recorded as if the rest had never been there. */
TEST(records__same_with_retries_and_drops)
{
	uint64_t first = environment("LULL_SEED", 0), count = environment("LULL_SEEDS", SEEDS);
	uint64_t retried = 0, dropped = 0, lost = 0;

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct stand *stand = stand_create(seed);
		int difference;

		stand->refuses = true;
		stand_run(stand);
		reference_make(&stand->traffic);
		stand_blank_ends(stand);
		difference = stand_difference(stand);
		if (difference >= 0)
			fail_msg("seed %llu: record %d differs: %u workers, split %d, %u "
				 "dispatchers, %u records, %u expected",
				 (unsigned long long)seed, difference, stand->worker_count,
				 (int)stand->split, stand->traffic.dispatcher_count,
				 stand->given_count, stand->traffic.expected_count);
		for (uint32_t i = 0; i < stand->worker_count; i++)
			assert_int_equal(lull_flow_table_counters(stand->workers[i].table)->behind,
					 0);
		assert_int_equal(lull_flow_merge_counters(stand->merge)->late_parts, 0);
		assert_int_equal(stand->given_pkts + stand->dropped, stand->traffic.pkt_count);
		for (uint32_t i = 0; i < stand->given_count; i++)
			lost += stand->given[i].record.exact == 0;
		retried += stand->retried;
		dropped += stand->dropped;
		stand_destroy(stand);
	}
	assert_true(retried > 100 && dropped > 100 && lost > 10);
}

/* Nobody waits: what says that it is exact is a record by definition, and no packet is missing. */
TEST(records__exact_ones_are_whole_beside_late_workers)
{
	uint64_t first = environment("LULL_SEED", 0), count = environment("LULL_SEEDS", SEEDS);
	uint64_t inexact = 0, parts = 0, exact = 0;

	for (uint64_t seed = first; seed < first + count; seed++) {
		struct stand *stand = stand_create(seed);
		const struct lull_flow_merge_counters *counters;
		uint32_t at = 0;

		stand->leaves = true;
		stand->refuses = seed % 2 == 0;
		stand_run(stand);
		counters = lull_flow_merge_counters(stand->merge);
		reference_make(&stand->traffic);
		stand_blank_ends(stand);
		stand_difference(stand); /* sorts both */
		for (uint32_t i = 0; i < stand->given_count; i++) {
			const struct kept *kept = &stand->given[i];

			inexact += kept->record.exact == 0;
			exact += kept->record.exact;
			if (kept->record.exact == 0)
				continue;
			while (at < stand->traffic.expected_count &&
			       kept_order(&stand->traffic.expected[at], kept) < 0)
				at++;
			if (at == stand->traffic.expected_count ||
			    !kept_same(&stand->traffic.expected[at], kept))
				fail_msg("seed %llu: record %u of %u says that it is exact",
					 (unsigned long long)seed, i, stand->given_count);
		}
		assert_int_equal(counters->open + counters->awaited + counters->evicted, 0);
		assert_int_equal(stand->given_pkts + stand->dropped, stand->traffic.pkt_count);
		parts += counters->late_parts;
		stand_destroy(stand);
	}
	print_message("exact %llu, not %llu\n", (unsigned long long)exact,
		      (unsigned long long)inexact);
	assert_true(inexact > 100 && parts > 100 && exact > inexact);
}

/* What no other worker had a part of leaves whole, whoever is late. */
TEST(records__unsplit_flows_wait_for_nobody)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct stand *stand = stand_create(seed);

		stand->split = SPLIT_HASH;
		stand->bucket_mask = BUCKETS_MAX - 1;
		if (stand->worker_count == 3) /* then flows of one bucket have several workers */
			stand->worker_count = 4;
		stand->leaves = true;
		if (stand->traffic.dispatcher_count == 1) {
			stand_run(stand);
			assert_int_equal(stand_difference(stand), -1);
			assert_int_equal(lull_flow_merge_counters(stand->merge)->passed,
					 stand->given_count);
		}
		stand_destroy(stand);
	}
}
