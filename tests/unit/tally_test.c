/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "case.h"
#include "base/prng.h"
#include "traffic/tally.h"

#define FRAME_BYTES 60

static struct lull_tally tally;

static int
fresh(void **state)
{
	(void)state;
	lull_tally_init(&tally);
	return 0;
}

static void
add_of(uint16_t stream, uint16_t run, uint32_t seq)
{
	const struct lull_probe probe = { .run = run, .stream = stream, .seq = seq };

	lull_tally_add(&tally, &probe, FRAME_BYTES, 0);
}

static void
add(uint32_t seq)
{
	add_of(0, 1, seq);
}

static void
assert_counts(uint64_t received, uint64_t duplicates, uint64_t reordered, uint64_t gaps,
	      uint64_t stale)
{
	const struct lull_tally_counters *counters = lull_tally_counters(&tally);

	assert_int_equal(counters->received, received);
	assert_int_equal(counters->bytes, received * FRAME_BYTES);
	assert_int_equal(counters->duplicates, duplicates);
	assert_int_equal(counters->reordered, reordered);
	assert_int_equal(counters->gaps, gaps);
	assert_int_equal(counters->stale, stale);
	assert_int_equal(lull_tally_latency(&tally)->count, received);
}

TEST_WITH(add__in_order_is_nothing_special, fresh, NULL)
{
	for (uint32_t seq = 0; seq < 200000; seq++)
		add(seq);
	assert_counts(200000, 0, 0, 0, 0);
}

TEST_WITH(add__gap_late_and_duplicate, fresh, NULL)
{
	add(10);
	add(14); /* 11, 12, 13 missing */
	assert_counts(2, 0, 0, 3, 0);
	add(12);
	assert_counts(3, 0, 1, 2, 0);
	add(12);
	add(14);
	add(10);
	assert_counts(3, 3, 1, 2, 0);
	add(13);
	add(11);
	assert_counts(5, 3, 3, 0, 0);
}

TEST_WITH(add__foreign, fresh, NULL)
{
	lull_tally_add(&tally, NULL, 1000, 5);
	add_of(LULL_TALLY_STREAMS, 1, 0);
	assert_counts(0, 0, 0, 0, 0);
	assert_int_equal(lull_tally_counters(&tally)->foreign, 2);
}

TEST_WITH(add__window_edge, fresh, NULL)
{
	lull_tally_begin(&tally, 0, 1, 0);
	add(LULL_TALLY_WINDOW); /* 0 .. 65535 missing, 1 .. 65535 still within the window */
	assert_counts(1, 0, 0, LULL_TALLY_WINDOW, 0);
	add(1);
	assert_counts(2, 0, 1, LULL_TALLY_WINDOW - 1, 0);
	add(0);
	assert_counts(2, 0, 1, LULL_TALLY_WINDOW - 1, 1);
}

TEST_WITH(add__jumps_forget_exactly_what_leaves_the_window, fresh, NULL)
{
	static const uint32_t jumps[] = { 1, 63, 64, 65, 127, 65535, 65536, 65537, 1000000 };

	for (uint32_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		uint32_t seq = 100000;

		lull_tally_init(&tally);
		lull_tally_begin(&tally, 0, 1, 0);
		for (uint32_t n = 0; n <= seq; n++)
			add(n);
		add(seq + jumps[i]);
		assert_counts(seq + 2, 0, 0, jumps[i] - 1, 0);
		/* The last one known before the jump is a duplicate, or out of sight. */
		add(seq);
		if (jumps[i] < LULL_TALLY_WINDOW)
			assert_counts(seq + 2, 1, 0, jumps[i] - 1, 0);
		else
			assert_counts(seq + 2, 0, 0, jumps[i] - 1, 1);
	}
}

TEST_WITH(add__numbers_wrap, fresh, NULL)
{
	uint32_t seq = UINT32_MAX - 100;

	for (uint32_t n = 0; n < 300; n++)
		if (n % 3 != 0 || n < 3 || n == 297)
			add(seq + n);
	assert_counts(202, 0, 0, 98, 0);
	add(UINT32_MAX - 100 + 99);
	assert_counts(203, 0, 1, 97, 0);
}

TEST_WITH(add__first_probe_is_where_a_sink_joins, fresh, NULL)
{
	add(4000000000);
	add(4000000001);
	add(3999999999);
	assert_counts(2, 0, 0, 0, 1);
}

TEST_WITH(begin__expects_from_the_start, fresh, NULL)
{
	uint16_t run;
	uint32_t seq;

	assert_false(lull_tally_highest(&tally, 0, &run, &seq));
	lull_tally_begin(&tally, 0, 7, 0);
	assert_true(lull_tally_highest(&tally, 0, &run, &seq));
	assert_int_equal(run, 7);
	assert_int_equal(seq, UINT32_MAX);
	add_of(0, 7, 5);
	add_of(0, 7, 4);
	assert_counts(2, 0, 1, 4, 0);
	assert_true(lull_tally_highest(&tally, 0, &run, &seq));
	assert_int_equal(seq, 5);
}

TEST_WITH(add__new_run_counts_from_zero_and_the_old_is_stale, fresh, NULL)
{
	add_of(0, 1, 1000);
	add_of(0, 2, 2); /* 0 and 1 missing */
	assert_counts(2, 0, 0, 2, 0);
	add_of(0, 1, 1001);
	assert_counts(2, 0, 0, 2, 1);
	add_of(0, 2, 0);
	assert_counts(3, 0, 1, 1, 1);
}

TEST_WITH(add__two_senders_on_one_stream_do_not_take_turns, fresh, NULL)
{
	for (uint32_t seq = 0; seq < 100; seq++) {
		add_of(0, 10, seq);
		add_of(0, 20, seq);
	}
	assert_counts(101, 0, 0, 0, 99);
}

/* Older runs are forgotten in the end, and their numbers may be used again. */
TEST_WITH(add__run_numbers_come_round, fresh, NULL)
{
	for (uint32_t round = 0; round < 3; round++)
		for (uint16_t run = 0; run < LULL_TALLY_RETIRED + 2; run++)
			add_of(0, run, 0);
	assert_counts(3 * (LULL_TALLY_RETIRED + 2), 0, 0, 0, 0);
}

TEST_WITH(add__streams_are_apart, fresh, NULL)
{
	for (uint16_t stream = 0; stream < LULL_TALLY_STREAMS; stream++)
		add_of(stream, stream, stream * 1000u);
	for (uint16_t stream = 0; stream < LULL_TALLY_STREAMS; stream++)
		add_of(stream, stream, stream * 1000u + 2);
	assert_counts(2 * LULL_TALLY_STREAMS, 0, 0, LULL_TALLY_STREAMS, 0);
}

TEST_WITH(add__latency, fresh, NULL)
{
	struct lull_probe probe = { .stamp_ns = 1000 };

	assert_int_equal(lull_tally_latency_min_ns(&tally), 0);
	lull_tally_add(&tally, &probe, FRAME_BYTES, 51000);
	probe.seq = 1;
	lull_tally_add(&tally, &probe, FRAME_BYTES, 31001);
	lull_tally_add(&tally, &probe, FRAME_BYTES, 99999); /* duplicate: no latency */
	assert_int_equal(lull_tally_latency(&tally)->count, 2);
	assert_int_equal(lull_tally_latency(&tally)->max, 50000);
	assert_int_equal(lull_tally_latency(&tally)->sum, 80001);
	assert_int_equal(lull_tally_latency_min_ns(&tally), 30001);
	probe.seq = 2;
	lull_tally_add(&tally, &probe, FRAME_BYTES, 999); /* stamped after the clock was read */
	assert_int_equal(lull_tally_latency_min_ns(&tally), 0);
	assert_int_equal(lull_tally_latency(&tally)->max, 50000);
}

TEST_WITH(clear__old_window_is_stale_and_new_one_exact, fresh, NULL)
{
	add(0);
	add(5); /* 1 .. 4 on their way */
	lull_tally_add(&tally, NULL, FRAME_BYTES, 0);
	lull_tally_clear(&tally);
	assert_counts(0, 0, 0, 0, 0);
	assert_int_equal(lull_tally_counters(&tally)->foreign, 0);
	assert_int_equal(lull_tally_latency_min_ns(&tally), 0);
	add(3);
	add(5);
	assert_counts(0, 0, 0, 0, 2);
	add(8); /* 6 and 7 belong to this window */
	assert_counts(1, 0, 0, 2, 2);
	add(6);
	add(4);
	assert_counts(2, 0, 1, 1, 3);
}

/* The sender knows what is on its way when the window begins. */
TEST_WITH(begin__rules_out_what_was_sent_before, fresh, NULL)
{
	for (uint32_t seq = 0; seq < 10; seq++)
		add(seq);
	lull_tally_clear(&tally);
	lull_tally_begin(&tally, 0, 1, 13); /* 10, 11, 12 in flight */
	add(10);
	add(12);
	add(14);
	add(11);
	add(13);
	assert_counts(2, 0, 1, 0, 3);
}

TEST(counter_table__names_every_counter)
{
	uint32_t count = 0;

	while (lull_tally_counter_table[count].name != NULL) {
		assert_int_equal(lull_tally_counter_table[count].offset, count * sizeof(uint64_t));
		count++;
	}
	assert_int_equal(count * sizeof(uint64_t), sizeof(struct lull_tally_counters));
	assert_int_equal(lull_tally_size(), sizeof(tally));
}

/* ---- against a book kept of every number ---- */

#define BOOK_SENT 300000

struct book {
	bool came[BOOK_SENT];
	int64_t highest; /* -1: none */
	int64_t floor;   /* first number of the window */
	struct lull_tally_counters expected;
};

static void
book_arrive(struct book *book, int64_t seq)
{
	struct lull_tally_counters *expected = &book->expected;

	if (seq < book->floor || book->highest - seq >= LULL_TALLY_WINDOW) {
		expected->stale++;
		return;
	}
	if (book->came[seq]) {
		expected->duplicates++;
		return;
	}
	book->came[seq] = true;
	expected->received++;
	expected->reordered += seq < book->highest;
	book->highest = LULL_MAX(book->highest, seq);
}

static void
book_compare(const struct book *book)
{
	uint64_t gaps = 0;

	for (int64_t seq = book->floor; seq < book->highest; seq++)
		gaps += !book->came[seq];
	assert_counts(book->expected.received, book->expected.duplicates, book->expected.reordered,
		      gaps, book->expected.stale);
}

/* Loss, copies, delays up to beyond the window; now and then a new measurement window. */
static void
book_run(uint64_t seed, uint32_t seq_first, uint32_t delay_max)
{
	static struct book book;
	struct lull_prng prng;

	lull_prng_init(&prng, seed, 0);
	memset(&book, 0, sizeof(book));
	book.highest = -1;
	lull_tally_init(&tally);
	lull_tally_begin(&tally, 0, 9, seq_first);
	for (uint32_t n = 0; n < 400000; n++) {
		int64_t newest = LULL_MIN(n, BOOK_SENT - 1u);
		int64_t seq = newest - (int64_t)(lull_prng_below(&prng, delay_max) *
						 (lull_prng_below(&prng, 4) == 0));

		if (seq < 0 || lull_prng_below(&prng, 10) == 0)
			continue;
		book_arrive(&book, seq);
		add_of(0, 9, seq_first + (uint32_t)seq);
		if (lull_prng_below(&prng, 50000) == 0) {
			book_compare(&book);
			lull_tally_clear(&tally);
			memset(&book.expected, 0, sizeof(book.expected));
			book.floor = book.highest + 1;
		}
	}
	book_compare(&book);
}

TEST(add__agrees_with_the_book)
{
	book_run(1, 0, 3);
	book_run(2, UINT32_MAX - 150000, 1000);
	book_run(3, INT32_MAX - 150000, 70000);
	book_run(4, 12345, 200000);
}
