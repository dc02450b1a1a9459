/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/base.h>

#include "case.h"
#include "idle/stalls.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define BUDGET_PPM 10000

/* A gap as waits.c tells it. */
static void
gap(struct lull_stall_watch *watch, uint64_t now_ns, uint64_t gap_ns, uint64_t planned_ns)
{
	if (lull_stall_is(gap_ns, planned_ns))
		lull_stall_watch_stall(watch, now_ns, gap_ns);
	else
		lull_stall_watch_fine(watch, gap_ns, 0);
	lull_stall_watch_fold(watch, now_ns);
}

/* Packets of a stall, or of none. */
static void
pkts(struct lull_stall_watch *watch, uint64_t gap_ns, bool stalled, uint32_t count)
{
	if (stalled)
		lull_stall_watch_met(watch, gap_ns, count);
	else
		lull_stall_watch_fine(watch, 0, count);
	lull_stall_watch_fold(watch, watch->recent.fade_ns);
}

/* Looks every 200 us, asked for; each every_ns a stall of length_ns. Packets come evenly. */
static uint64_t
watch_for(struct lull_stall_watch *watch, uint64_t now_ns, uint64_t end_ns, uint64_t every_ns,
	  uint64_t length_ns, uint64_t pps)
{
	uint64_t stall_ns = now_ns + every_ns / 2;

	while (now_ns < end_ns) {
		uint64_t gap_ns = 200 * US;
		bool stalled = every_ns > 0 && now_ns >= stall_ns;

		if (stalled) {
			gap_ns += length_ns;
			stall_ns += every_ns;
		}
		now_ns += gap_ns;
		gap(watch, now_ns, gap_ns, 200 * US);
		pkts(watch, gap_ns, stalled, (uint32_t)(pps * gap_ns / LULL_NS_PER_S));
	}
	return now_ns;
}

TEST(late_ppm__is_a_share_of_the_time)
{
	static const uint64_t lengths_ns[] = { 1 * MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS };
	static const uint64_t everies_ns[] = { 100 * MS, 300 * MS, 1000 * MS, 3000 * MS };

	for (int pps = 0; pps <= 100000; pps += 100000) {
		for (int l = 0; l < 5; l++) {
			for (int e = 0; e < 4; e++) {
				struct lull_stall_watch watch;
				double share = (double)lengths_ns[l] / (double)everies_ns[e];

				lull_stall_watch_init(&watch, 0);
				watch_for(&watch, 0, 60 * LULL_NS_PER_S, everies_ns[e],
					  lengths_ns[l], (uint64_t)pps);
				assert_in_range(
					lull_stalls_late_ppm(&watch.rest, 200 * US, BUDGET_PPM),
					(uint64_t)(share * LULL_PPM * 0.85),
					(uint64_t)(share * LULL_PPM * 1.15));
			}
		}
	}
}

/* Where packets meet no stall none is late, however many there are; and the other way round. */
TEST(late_ppm__counts_packets_where_there_are_enough)
{
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	for (uint64_t now_ns = 0; now_ns < 10 * LULL_NS_PER_S; now_ns += 100 * MS) {
		gap(&watch, now_ns, 90 * MS, 90 * MS);
		pkts(&watch, 0, false, 100);
		gap(&watch, now_ns, 10 * MS, 0);
	}
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 200 * US, BUDGET_PPM), 0);
	/* at p99.999 ten thousand packets say nothing, so time does */
	assert_in_range(lull_stalls_late_ppm(&watch.rest, 200 * US, 10), 90000, 110000);
	lull_stall_watch_init(&watch, 0);
	for (uint64_t now_ns = 0; now_ns < 10 * LULL_NS_PER_S; now_ns += 1000 * MS) {
		gap(&watch, now_ns, 999 * MS, 999 * MS);
		gap(&watch, now_ns, 1 * MS, 0);
		pkts(&watch, 1 * MS, true, 1000);
	}
	/* all packets met a stall of 1 ms; four fifths of them waited longer than 200 us */
	assert_in_range(lull_stalls_late_ppm(&watch.rest, 200 * US, BUDGET_PPM), 790000, 810000);
}

TEST(late_ppm__the_first_second_is_not_all_there_is)
{
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	/* one hiccup of 3 ms in the first 10 ms: 0.3 % of a second, not 30 % */
	watch_for(&watch, 0, 10 * MS, 10 * MS, 3 * MS, 100000);
	assert_in_range(lull_stalls_late_ppm(&watch.rest, 200 * US, BUDGET_PPM), 2500, 3500);
}

TEST(late_ppm__fades_with_its_evidence)
{
	struct lull_stall_watch watch;
	uint64_t now_ns, count_x256;
	uint32_t late_ppm;

	lull_stall_watch_init(&watch, 0);
	now_ns = watch_for(&watch, 0, 20 * LULL_NS_PER_S, 500 * MS, 7 * MS, 1000);
	late_ppm = lull_stalls_late_ppm(&watch.rest, 200 * US, BUDGET_PPM);
	count_x256 = lull_stalls_count_x256(&watch.rest, 200 * US);
	assert_in_range(late_ppm, 12000, 15000);
	assert_in_range(count_x256 / 256, 20, 40);
	assert_in_range(lull_stalls_rate(&watch.rest), 1800, 2100);
	assert_in_range(lull_stalls_longest_ns(&watch.rest), 7 * MS, 7300 * US);
	/* seconds without one */
	now_ns = watch_for(&watch, now_ns, 30 * LULL_NS_PER_S, 0, 0, 1000);
	assert_in_range(lull_stalls_late_ppm(&watch.rest, 200 * US, BUDGET_PPM), late_ppm / 3,
			late_ppm * 2 / 3);
	now_ns = watch_for(&watch, now_ns, 300 * LULL_NS_PER_S, 0, 0, 1000);
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 200 * US, BUDGET_PPM), 0);
	assert_int_equal(lull_stalls_count_x256(&watch.rest, 200 * US), 0);
	assert_int_equal(lull_stalls_longest_ns(&watch.rest), 0);
}

TEST(gap__what_was_planned_is_no_stall)
{
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	gap(&watch, 5 * MS, 5 * MS, 5 * MS);
	gap(&watch, 10 * MS, 5 * MS, 5 * MS - LULL_STALL_NS + 1);
	assert_int_equal(lull_stalls_count_x256(&watch.rest, 0), 0);
	gap(&watch, 15 * MS, 5 * MS, 5 * MS - LULL_STALL_NS);
	assert_int_equal(lull_stalls_count_x256(&watch.rest, 0), 256);
	/* and a stall that is shorter than the wait makes nothing late */
	assert_int_equal(lull_stalls_count_x256(&watch.rest, 6 * MS), 0);
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 6 * MS, BUDGET_PPM), 0);
}

TEST(turn_to__keeps_resting_and_polling_apart)
{
	struct lull_stall_watch watch;
	uint64_t now_ns;

	lull_stall_watch_init(&watch, 0);
	now_ns = watch_for(&watch, 0, 2 * LULL_NS_PER_S, 100 * MS, 5 * MS, 0);
	assert_true(lull_stalls_count_x256(&watch.recent, 0) > 0);
	lull_stall_watch_turn_to(&watch, true, now_ns);
	assert_int_equal(lull_stalls_count_x256(&watch.recent, 0), 0);
	assert_int_equal(lull_stalls_count_x256(&watch.poll, 0), 0);
	assert_true(lull_stalls_count_x256(&watch.rest, 0) > 0);
	gap(&watch, now_ns + 9 * MS, 9 * MS, 0);
	assert_int_equal(lull_stalls_count_x256(&watch.poll, 0), 256);
	assert_int_equal(lull_stalls_count_x256(&watch.recent, 0), 256);
}

TEST(wait_ns__is_the_quantile_of_waits)
{
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	assert_int_equal(lull_stalls_wait_ns(&watch.rest, BUDGET_PPM), 0);
	/* 10 ms in each 500 ms: a share of 1 % waits 5 ms or more */
	watch_for(&watch, 0, 60 * LULL_NS_PER_S, 500 * MS, 10 * MS, 0);
	assert_in_range(lull_stalls_wait_ns(&watch.rest, BUDGET_PPM), 4500 * US, 5500 * US);
	assert_int_equal(lull_stalls_wait_ns(&watch.rest, 30000), 0);
}

/* Powers of two from half a millisecond on; the last bin takes all that is longer. */
TEST(stall__has_the_bin_of_its_length)
{
	struct lull_stall_watch watch;

	for (uint32_t i = 0; i < LULL_STALL_BINS; i++) {
		lull_stall_watch_init(&watch, 0);
		lull_stall_watch_stall(&watch, 0, LULL_STALL_NS << i);
		lull_stall_watch_stall(&watch, 0, (LULL_STALL_NS << (i + 1)) - 1);
		lull_stall_watch_met(&watch, LULL_STALL_NS << i, 3);
		for (uint32_t k = 0; k < LULL_STALL_BINS; k++) {
			assert_int_equal(watch.rest.bins[k].count_x256, k == i ? 512 : 0);
			assert_int_equal(watch.rest.bins[k].pkts_x256, k == i ? 768 : 0);
		}
		assert_int_equal(watch.rest.bins[i].len_ns, 3 * (LULL_STALL_NS << i) - 1);
		assert_int_equal(watch.rest.time_ns, 3 * (LULL_STALL_NS << i) - 1);
		assert_int_equal(watch.rest.pkts_x256, 768);
		assert_memory_equal(watch.rest.bins, watch.recent.bins, sizeof(watch.rest.bins));
	}
	lull_stall_watch_stall(&watch, 0, 100 * LULL_NS_PER_S);
	assert_int_equal(watch.rest.bins[LULL_STALL_BINS - 1].count_x256, 768);
	/* a gap that was planned to be long is less of a stall than its bins begin with */
	lull_stall_watch_stall(&watch, 0, 1);
	assert_int_equal(watch.rest.bins[0].count_x256, 256);
}

/* By a 128th in each 128th of 20 s, as far as whole numbers go. */
TEST(fold__fades_step_by_step)
{
	const uint64_t step_ns = LULL_STALL_MEMORY_NS / 128;
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 1000 * MS);
	lull_stall_watch_fine(&watch, 128000, 1000);
	lull_stall_watch_stall(&watch, 1000 * MS, 1280000);
	lull_stall_watch_met(&watch, 1280000, 128);
	lull_stall_watch_fold(&watch, 1000 * MS + step_ns - 1);
	assert_int_equal(watch.rest.time_ns, 1408000);
	assert_int_equal(watch.rest.bins[1].count_x256, 256);
	lull_stall_watch_fold(&watch, 1000 * MS + step_ns);
	assert_int_equal(watch.rest.time_ns, 1408000 - 11000);
	assert_int_equal(watch.rest.pkts_x256, 1128 * 256 - 1128 * 2);
	assert_int_equal(watch.rest.bins[1].count_x256, 254);
	assert_int_equal(watch.rest.bins[1].len_ns, 1270000);
	assert_int_equal(watch.rest.bins[1].pkts_x256, 128 * 254);
	lull_stall_watch_fold(&watch, 1000 * MS + 3 * step_ns);
	/* rounded up: 254 - 2 - 2 */
	assert_int_equal(watch.rest.bins[1].count_x256, 250);
	assert_int_equal(watch.rest.fade_ns, 1000 * MS + 3 * step_ns);
	/* at last nothing is left of it */
	lull_stall_watch_fold(&watch, 1000 * MS + 700 * step_ns);
	assert_int_equal(watch.rest.bins[1].count_x256, 0);
	assert_int_equal(watch.rest.bins[1].len_ns, 0);
	assert_int_equal(watch.rest.bins[1].pkts_x256, 0);
	assert_int_equal(watch.rest.fade_ns, 1000 * MS + 700 * step_ns);
}

/* After hours it does not count every step of them. */
TEST(fold__a_long_absence_is_forgotten_at_once)
{
	const uint64_t step_ns = LULL_STALL_MEMORY_NS / 128;
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	lull_stall_watch_fold(&watch, 1024 * step_ns);
	assert_int_equal(watch.rest.fade_ns, 1024 * step_ns);
	lull_stall_watch_init(&watch, 0);
	lull_stall_watch_fold(&watch, 5000 * step_ns + 7);
	assert_int_equal(watch.rest.fade_ns, 5000 * step_ns + 7);
}

TEST(turn_to__what_was_not_told_yet_is_of_the_time_before)
{
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	lull_stall_watch_fine(&watch, 3 * MS, 5);
	lull_stall_watch_turn_to(&watch, true, 3 * MS);
	assert_int_equal(watch.rest.time_ns, 3 * MS);
	assert_int_equal(watch.rest.pkts_x256, 5 * 256);
	assert_int_equal(watch.poll.time_ns, 0);
	assert_int_equal(watch.recent.time_ns, 0);
	/* once more changes nothing */
	lull_stall_watch_fine(&watch, 2 * MS, 5);
	lull_stall_watch_fold(&watch, 5 * MS);
	lull_stall_watch_turn_to(&watch, true, 5 * MS);
	assert_int_equal(watch.recent.time_ns, 2 * MS);
	assert_int_equal(watch.poll.time_ns, 2 * MS);
	/* of another time, but it polls as before */
	lull_stall_watch_fine(&watch, 2 * MS, 5);
	lull_stall_watch_forget(&watch, 9 * MS);
	assert_true(watch.polling);
	assert_int_equal(watch.fresh_ns, 0);
	assert_int_equal(watch.fresh_pkts, 0);
	assert_int_equal(watch.poll.time_ns, 0);
	assert_int_equal(watch.since_ns, 9 * MS);
	assert_int_equal(watch.rest.fade_ns, 9 * MS);
}

TEST(late_ppm__of_few_stalls_by_hand)
{
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	/* 4 s, in which 2 ms and 8 ms were stalls; at 1 ms of wait 1 + 7 ms are late */
	lull_stall_watch_fine(&watch, 3990 * MS, 0);
	lull_stall_watch_stall(&watch, 0, 2 * MS);
	lull_stall_watch_stall(&watch, 0, 8 * MS);
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 1 * MS, BUDGET_PPM), 2000);
	assert_int_equal(lull_stalls_time_ppm(&watch.rest, 1 * MS), 2000);
	/* what is no longer than the wait takes nothing from what is */
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 4 * MS, BUDGET_PPM), 1000);
	assert_int_equal(lull_stalls_count_x256(&watch.rest, 4 * MS), 256);
	assert_int_equal(lull_stalls_count_x256(&watch.rest, 2 * MS), 256);
	assert_int_equal(lull_stalls_count_x256(&watch.rest, 2 * MS - 1), 512);
	assert_int_equal(lull_stalls_rate(&watch.rest), 500);
	assert_int_equal(lull_stalls_longest_ns(&watch.rest), 8 * MS);
	/* packets: 1000 at a budget of 1 % are ten, 999 are not */
	lull_stall_watch_met(&watch, 8 * MS, 40);
	lull_stall_watch_fine(&watch, 0, 959);
	lull_stall_watch_fold(&watch, 0);
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 4 * MS, BUDGET_PPM), 1000);
	lull_stall_watch_fine(&watch, 0, 1);
	lull_stall_watch_fold(&watch, 0);
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 4 * MS, BUDGET_PPM), 20000);
	/* never more than all */
	lull_stall_watch_init(&watch, 0);
	assert_int_equal(lull_stalls_time_ppm(&watch.rest, 0), 0);
	assert_int_equal(lull_stalls_rate(&watch.rest), 0);
	lull_stall_watch_stall(&watch, 0, 3000 * MS);
	assert_int_equal(lull_stalls_late_ppm(&watch.rest, 0, BUDGET_PPM), 1000000);
	assert_int_equal(lull_stalls_time_ppm(&watch.rest, 0), 1000000);
	assert_int_equal(lull_stalls_time_ppm(&watch.rest, 1500 * MS), 500000);
}

TEST(longest_ns__is_a_mean_of_the_longest_bin)
{
	struct lull_stall_watch watch;

	lull_stall_watch_init(&watch, 0);
	lull_stall_watch_stall(&watch, 0, LULL_STALL_NS);
	lull_stall_watch_stall(&watch, 0, LULL_STALL_NS + 100);
	assert_int_equal(lull_stalls_longest_ns(&watch.rest), LULL_STALL_NS + 50);
	lull_stall_watch_stall(&watch, 0, 30 * MS);
	assert_int_equal(lull_stalls_longest_ns(&watch.rest), 30 * MS);
}

/* What has faded to a part of a stall is one still. */
TEST(longest_ns__counts_parts)
{
	struct lull_stalls stalls;

	lull_stalls_init(&stalls, LULL_STALL_MEMORY_NS, 0);
	stalls.bins[4].count_x256 = 1;
	stalls.bins[4].len_ns = 50000;
	assert_int_equal(lull_stalls_longest_ns(&stalls), 256 * 50000);
	stalls.time_ns = 2000 * MS;
	assert_int_equal(lull_stalls_rate(&stalls), 1000000 / 256 / 2000);
}
