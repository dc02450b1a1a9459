/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "dispatch/trace.h"
#include "dispatch_stand.h"

TEST(burst__counts)
{
	struct dispatch_stand stand;

	for (uint32_t worker_count = 1; worker_count <= 32; worker_count++) {
		struct lull_dispatch_config config = stand_config("crc32");
		uint64_t pkts[32] = { 0 };
		uint32_t digests[97];

		config.worker_count = worker_count;
		stand_init(&stand, &config);
		for (uint32_t round = 0; round < 3; round++) {
			for (uint32_t i = 0; i < 97; i++)
				digests[i] = stand_digest(&stand);
			stand.marks[96].flags = 9;
			stand_burst(&stand, digests, 97);
			for (uint32_t i = 0; i < 97; i++)
				pkts[stand.workers[i]]++;
			assert_int_equal(stand.marks[96].flags, 0);
		}
		for (uint32_t i = 0; i < worker_count; i++)
			assert_int_equal(stand.counters->worker_pkts[i], pkts[i]);
		assert_int_equal(stand.counters->pkts, 3 * 97);
		assert_int_equal(stand.counters->bursts, 3);
		stand_end(&stand);
	}
}

TEST(tracks__when_asked_for)
{
	const struct {
		const char *scheduler;
		enum lull_order order;
		bool asked, tracks;
	} cases[] = {
		{ "hrw", LULL_ORDER_NONE, false, false },
		{ "hrw", LULL_ORDER_NONE, true, true },
		{ "hrw", LULL_ORDER_DRAIN, false, true },
		{ "crc32", LULL_ORDER_RESEQUENCE, false, true },
		{ "sticky", LULL_ORDER_NONE, false, true },
	};

	for (uint32_t i = 0; i < COUNT(cases); i++) {
		struct lull_dispatch_config config = stand_config(cases[i].scheduler);
		struct dispatch_stand stand;

		config.order = cases[i].order;
		config.tracks = cases[i].asked;
		stand_init(&stand, &config);
		assert_int_equal(lull_dispatch_tracks(stand.dispatch), cases[i].tracks);
		stand_end(&stand);
	}
}

/*
 * Two flows of one bucket at two workers: nobody has moved, and nobody may. A change of scheduler
 * makes them such as may.
 */
TEST(tracks__no_moves_by_those_that_never_split)
{
	struct lull_dispatch_config config = stand_config("hrw");
	struct dispatch_stand stand;
	uint32_t first = 3, second = 3;

	config.order = LULL_ORDER_DRAIN;
	stand_init(&stand, &config);
	while (stand_hrw(second, 4) == stand_hrw(first, 4))
		second += 1u << 12;
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(stand_one(&stand, first), stand_hrw(first, 4));
		assert_int_equal(stand.marks[0].flags, 0);
		assert_int_equal(stand_one(&stand, second), stand_hrw(second, 4));
		assert_int_equal(stand.marks[0].flags, 0);
		assert_int_equal(stand.marks[0].seq, 2 * i + 1);
	}
	assert_int_equal(stand.counters->moves, 0);
	assert_int_equal(stand.counters->held_order, 0);
	lull_dispatch_change(stand.dispatch, lull_scheduler_find("crc32"), NULL);
	stand_one(&stand, second);
	assert_true((stand.marks[0].flags & LULL_DISPATCH_SHARED) != 0);
	stand_end(&stand);
}

TEST(shadow__beside)
{
	struct lull_dispatch_config config = stand_config("hrw");
	struct dispatch_stand stand;
	uint64_t agreed = 0, shadow_pkts[4] = { 0 };
	uint32_t digests[8];

	config.shadow = lull_scheduler_find("rr-packet");
	stand_init(&stand, &config);
	for (uint32_t i = 0; i < 8; i++)
		digests[i] = stand_digest_of(&stand, i % 3 > 0) & ~7u;
	for (uint32_t i = 0; i < 8; i++)
		digests[i] |= i; /* a bucket each */
	for (uint32_t round = 0; round < 6; round++) {
		stand_burst(&stand, digests, 7);
		for (uint32_t i = 0; i < 7; i++) {
			uint32_t shadow = (round * 7 + i) % 4;

			assert_int_equal(stand.workers[i], stand_hrw(digests[i], 4));
			agreed += stand.workers[i] == shadow;
			shadow_pkts[shadow]++;
		}
	}
	assert_int_equal(stand.counters->shadow_agreed, agreed);
	/* 7 is no multiple of 4: every packet but the first of each flow would move. */
	assert_int_equal(stand.counters->shadow_moves, 5 * 7);
	assert_memory_equal(stand.counters->shadow_pkts, shadow_pkts, sizeof(shadow_pkts));
	assert_int_equal(stand.counters->relieved, 0);
	lull_dispatch_change(stand.dispatch, config.scheduler, NULL);
	stand_burst(&stand, digests, 7);
	assert_int_equal(stand.counters->shadow_agreed, agreed);
	stand_end(&stand);
}

TEST(change__keeps_the_contract)
{
	struct lull_dispatch_config config = stand_config("hash");
	struct dispatch_stand stand;
	uint32_t digest;

	config.order = LULL_ORDER_DRAIN;
	stand_init(&stand, &config);
	digest = stand_digest_of(&stand, 3) & 0x1fffffff; /* hash: 0 */
	while (stand_hrw(digest, 4) == 0)
		digest--;
	assert_int_equal(stand_one(&stand, digest), 0);
	lull_dispatch_change(stand.dispatch, lull_scheduler_find("hrw"), NULL);
	assert_string_equal(lull_scheduler_name(lull_dispatch_scheduler(stand.dispatch)), "hrw");
	assert_int_equal(stand_one(&stand, digest), 0);
	stand_drain(&stand);
	assert_int_equal(stand_one(&stand, digest), stand_hrw(digest, 4));
	assert_int_equal(stand.marks[0].flags, LULL_DISPATCH_SHARED | LULL_DISPATCH_MOVED);
	assert_int_equal(stand.counters->moves, 1);
	assert_int_equal(stand.counters->held_order, 1);
	stand_end(&stand);
}

TEST(thresholds__live)
{
	struct lull_dispatch_config config = stand_config("subflow");
	struct dispatch_stand stand;
	uint32_t digest;

	stand_init(&stand, &config);
	digest = stand_digest_of(&stand, 0);
	stand.loads[0].used_pkts = STAND_CAPACITY / 2;
	assert_int_not_equal(stand_one(&stand, digest), 0);
	lull_dispatch_thresholds(stand.dispatch, 500000, 0, 0);
	assert_int_equal(stand_one(&stand, digest), 0);
	lull_dispatch_thresholds(stand.dispatch, 0, 0, 0); /* the default, a quarter */
	assert_int_not_equal(stand_one(&stand, digest), 0);
	stand_end(&stand);
}

TEST(config_check__names_what_is_wrong)
{
	const struct lull_dispatch_config good = stand_config("sticky");
	struct lull_dispatch_config config = good;
	struct lull_range error;

	assert_int_equal(lull_dispatch_config_check(&good, NULL), 0);
#define REFUSES(member, wrong)                                                                     \
	do {                                                                                       \
		config = good;                                                                     \
		config.member = (wrong);                                                           \
		assert_int_equal(lull_dispatch_config_check(&config, NULL), -EINVAL);              \
		assert_int_equal(lull_dispatch_config_check(&config, &error), -EINVAL);            \
		assert_string_equal(error.field, #member);                                         \
		assert_false(error.value >= error.low && error.value <= error.high);               \
	} while (0)
	REFUSES(scheduler, NULL);
	REFUSES(order, LULL_ORDER_RESEQUENCE + 1);
	REFUSES(worker_count, 0);
	REFUSES(worker_count, LULL_DISPATCH_WORKERS_MAX + 1);
	REFUSES(bucket_bits, 7);
	REFUSES(bucket_bits, 23);
	REFUSES(threshold_ppm, 1000001);
	REFUSES(enter_ppm, 1000001);
	REFUSES(leave_ppm, 1000001);
	REFUSES(idle_ns, 999999);
	REFUSES(pin_pkts, UINT16_MAX);
	REFUSES(weights, LULL_WEIGHTS_AVX512 + 1);
#undef REFUSES
	config = good;
	config.enter_ppm = config.leave_ppm = 100000;
	assert_int_equal(lull_dispatch_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "leave_ppm");
}

TEST(counter_table__covers_the_struct)
{
	uint32_t rows = 0;

	for (; lull_dispatch_counter_table[rows].name != NULL; rows++)
		assert_int_equal(lull_dispatch_counter_table[rows].offset, rows * sizeof(uint64_t));
	assert_int_equal(rows * sizeof(uint64_t),
			 offsetof(struct lull_dispatch_counters, worker_pkts));
}

TEST(names__all)
{
	assert_string_equal(lull_order_name(LULL_ORDER_NONE), "none");
	assert_string_equal(lull_order_name(LULL_ORDER_DRAIN), "drain");
	assert_string_equal(lull_order_name(LULL_ORDER_RESEQUENCE), "resequence");
	assert_null(lull_scheduler_find("hr"));
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		const char *name = lull_scheduler_name(lull_schedulers[i]);

		assert_ptr_equal(lull_scheduler_find(name), lull_schedulers[i]);
		assert_true(strlen(name) <= LULL_TRACE_NAME_MAX);
		assert_true(strlen(lull_scheduler_summary(lull_schedulers[i])) > 0);
	}
}
