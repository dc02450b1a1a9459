/* SPDX-License-Identifier: BSD-3-Clause */
/* Port readings: what is published only rises, however a driver counts and fails. */
#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <lull/rest.h>

#include "case.h"
#include "port_readings.h"

#define MS LULL_NS_PER_MS

/* What the driver answers next. */
static struct {
	int rc;
	uint64_t took_ns;
	struct lull_port_counts counts;
} answer;

static int
answer_count(uint16_t port_id, struct lull_port_counts *counts)
{
	const struct timespec took = { .tv_nsec = (long)answer.took_ns };

	assert_int_equal(port_id, 3);
	if (answer.took_ns > 0)
		nanosleep(&took, NULL);
	*counts = answer.counts;
	return answer.rc;
}

static const struct lull_port_asker asker = { .count = answer_count };

static struct lull_port_readings readings;

/* Ask, and say what has been published then. */
static struct lull_port_reading
ask(int rc, uint64_t missed)
{
	struct lull_port_reading reading;

	answer.rc = rc;
	answer.counts.missed = missed;
	lull_port_readings_ask(&readings, &asker, 3, 100);
	lull_port_readings_read(&readings, &reading);
	return reading;
}

static int
begin(void **state)
{
	(void)state;
	answer.took_ns = 0;
	answer.counts = (struct lull_port_counts){ .missed = 0 };
	lull_port_readings_init(&readings);
	lull_port_readings_begin(&readings);
	return 0;
}

TEST_WITH(ask__begins_with_the_first_answer, begin, NULL)
{
	struct lull_port_reading reading;

	assert_true(lull_port_readings_due(&readings, 1));
	assert_int_equal(ask(-EIO, 900).end_ns, 0);
	reading = ask(0, 1000);
	assert_int_equal(reading.missed, 0);
	assert_true(reading.begin_ns > 0 && reading.end_ns >= reading.begin_ns);
	assert_int_equal(reading.refused, 1);
	assert_int_equal(ask(0, 1007).missed, 7);
	answer.counts.nombuf = 5;
	answer.counts.errors = 6;
	reading = ask(0, 1007);
	assert_int_equal(reading.nombuf, 5);
	assert_int_equal(reading.errors, 6);
	assert_int_equal(reading.missed, 7);
}

/* 1000, a failure, 1000: nothing has happened in between, whether the driver admits it or not. */
TEST_WITH(ask__a_failure_changes_nothing, begin, NULL)
{
	struct lull_port_reading before, after;

	ask(0, 0);
	before = ask(0, 1000);
	assert_int_equal(before.missed, 1000);
	after = ask(-EIO, 0);
	assert_int_equal(after.missed, 1000);
	assert_int_equal(after.begin_ns, before.begin_ns);
	assert_int_equal(after.end_ns, before.end_ns);
	assert_int_equal(ask(0, 1000).missed, 1000);
	/* one that says 0 and that all is well, as some drivers do */
	before = ask(0, 1000);
	after = ask(0, 0);
	assert_int_equal(after.missed, 1000);
	assert_int_equal(after.begin_ns, before.begin_ns);
	assert_int_equal(ask(0, 1001).missed, 1001);
	/* again and again */
	for (int i = 0; i < 5; i++) {
		assert_int_equal(ask(0, 0).missed, 1001);
		assert_int_equal(ask(0, 1001).missed, 1001);
	}
	/* both at once */
	ask(0, 0);
	ask(-EIO, 0);
	assert_int_equal(ask(0, 1002).missed, 1002);
}

TEST_WITH(ask__counters_that_began_anew_count_on, begin, NULL)
{
	ask(0, 0);
	ask(0, 1000);
	assert_int_equal(ask(0, 4).missed, 1000);
	assert_int_equal(ask(0, 5).missed, 1005);
	assert_int_equal(ask(0, 6).missed, 1006);
	/* any of them */
	answer.counts.nombuf = 50;
	ask(0, 6);
	answer.counts.nombuf = 0;
	assert_int_equal(ask(0, 6).nombuf, 50);
	assert_int_equal(ask(0, 0).nombuf, 50);
	answer.counts.nombuf = 2;
	assert_int_equal(ask(0, 0).nombuf, 52);
}

TEST_WITH(begin__forgets_the_port_before, begin, NULL)
{
	struct lull_port_reading reading;

	ask(0, 0);
	ask(0, 1000);
	lull_port_readings_begin(&readings);
	lull_port_readings_read(&readings, &reading);
	assert_int_equal(reading.missed + reading.end_ns, 0);
	assert_int_equal(ask(0, 30).missed, 0);
	assert_int_equal(ask(0, 33).missed, 3);
}

/* At 1 % of a CPU 1 ms is due again after 100, but never before 10 ms or after a second. */
TEST_WITH(due__as_seldom_as_a_call_is_long, begin, NULL)
{
	struct lull_port_reading reading = ask(0, 0);

	assert_false(lull_port_readings_due(&readings, reading.begin_ns + 10 * MS - 1));
	assert_true(lull_port_readings_due(&readings, reading.begin_ns + 10 * MS));
	answer.took_ns = 2 * MS;
	/* one slow call: perhaps it only lost its CPU */
	reading = ask(0, 0);
	assert_true(lull_port_readings_due(&readings, reading.begin_ns + 10 * MS));
	reading = ask(0, 0);
	assert_true(reading.cost_ns >= 2 * MS);
	assert_false(lull_port_readings_due(&readings, reading.begin_ns + 200 * MS - 1));
	assert_true(lull_port_readings_due(&readings, reading.begin_ns + LULL_NS_PER_S));
	answer.took_ns = 30 * MS;
	ask(0, 0);
	reading = ask(-EIO, 0); /* one that fails costs as much */
	reading = ask(0, 0);
	assert_false(lull_port_readings_due(&readings, reading.begin_ns + LULL_NS_PER_S - 1));
	assert_true(lull_port_readings_due(&readings, reading.begin_ns + LULL_NS_PER_S));
}

/* ---- read while it is written ---- */

static bool writer_stop;

static void *
write_again_and_again(void *arg)
{
	(void)arg;
	for (uint64_t i = 0; !__atomic_load_n(&writer_stop, __ATOMIC_RELAXED); i++) {
		answer.counts = (struct lull_port_counts){ i, 2 * i, 3 * i };
		lull_port_readings_ask(&readings, &asker, 3, 100);
	}
	return NULL;
}

TEST_WITH(read__is_never_torn, begin, NULL)
{
	struct lull_port_reading reading, last = { .begin_ns = 0 };
	uint64_t changes = 0;
	pthread_t writer;

	answer.rc = 0;
	__atomic_store_n(&writer_stop, false, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&writer, NULL, write_again_and_again, NULL), 0);
	while (changes < 1000) {
		lull_port_readings_read(&readings, &reading);
		assert_int_equal(reading.nombuf, 2 * reading.missed);
		assert_int_equal(reading.errors, 3 * reading.missed);
		assert_true(reading.missed >= last.missed && reading.begin_ns >= last.begin_ns);
		changes += reading.missed != last.missed;
		last = reading;
	}
	__atomic_store_n(&writer_stop, true, __ATOMIC_RELAXED);
	pthread_join(writer, NULL);
}
