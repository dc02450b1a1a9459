/* SPDX-License-Identifier: BSD-3-Clause */
/* Rests inside fi_cq_read(): when there are some, and what ends them, with several threads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "stand.h"

#define LONG_US "100000"  /* the longest rest that may be asked for */
#define SOON_NS (50 * MS) /* half of that */
#define FEW 5000          /* reads in 200 ms with rests: without them there are 10 times so many */
#define ROUNDS 8          /* most of which have to be soon: the machine may be busy */
#define WARM 205          /* reads in vain: some more than it takes to rest */

static char context[16];

/* Reads for a while; how many. */
static uint32_t
reads_within(struct end *end, uint64_t time_ns)
{
	struct fi_cq_tagged_entry entry;
	uint64_t end_ns;
	uint32_t count = 0;

	for (int i = 0; i < WARM; i++)
		assert_int_equal(fi_cq_read(end->cq, &entry, 1), -FI_EAGAIN);
	end_ns = end_clock_ns() + time_ns;
	while (end_clock_ns() < end_ns) {
		assert_int_equal(fi_cq_read(end->cq, &entry, 1), -FI_EAGAIN);
		count++;
	}
	return count;
}

TEST_WITH(cq_read__rests_when_nothing_comes, set_up, NULL)
{
	struct end end;

	open_end(&end);
	assert_in_range(reads_within(&end, 200 * MS), 1, FEW);
	close_end(&end);
	setenv("FI_LULL_MAX_REST", "0", 1);
	open_end(&end);
	assert_true(reads_within(&end, 200 * MS) > FEW);
	close_end(&end);
}

/* Rails that are polled go by the governor. */
TEST_WITH(cq_read__rests_by_the_governor, set_up, NULL)
{
	struct end end;

	setenv("FI_LULL_RAILS", "kernel-busy:lo", 1);
	setenv("FI_LULL_MAX_REST", "2000", 1);
	open_end(&end);
	assert_in_range(reads_within(&end, 200 * MS), 1, FEW);
	close_end(&end);
}

/* Who has something to compute between two reads is not held up. */
TEST_WITH(cq_read__does_not_rest_between_work, set_up, NULL)
{
	struct fi_cq_tagged_entry entry;
	uint32_t held_up = 0;
	struct end end;

	setenv("FI_LULL_MAX_REST", LONG_US, 1);
	open_end(&end);
	for (int i = 0; i < 5 * WARM && held_up < ROUNDS; i++) {
		uint64_t begin_ns = end_clock_ns();

		assert_int_equal(fi_cq_read(end.cq, &entry, 1), -FI_EAGAIN);
		held_up += end_clock_ns() - begin_ns > SOON_NS;
		while (end_clock_ns() - begin_ns < 60000)
			;
	}
	assert_true(held_up < ROUNDS);
	close_end(&end);
}

struct reader {
	struct end *end;
	pthread_t thread;
	atomic_bool ends;
	_Atomic uint64_t began_ns; /* the read that is under way */
	_Atomic uint64_t count;
};

static void *
reader_run(void *arg)
{
	struct fi_cq_tagged_entry entry;
	struct reader *reader = arg;

	while (!atomic_load(&reader->ends)) {
		atomic_store(&reader->began_ns, end_clock_ns());
		fi_cq_read(reader->end->cq, &entry, 1);
		atomic_fetch_add(&reader->count, 1);
	}
	return NULL;
}

/* It has read in vain often enough, and a read began a moment ago that goes on. */
static uint64_t
reader_at_rest(struct reader *reader)
{
	uint64_t end_ns = end_clock_ns() + WAIT_NS;

	while (end_clock_ns() < end_ns) {
		uint64_t began_ns = atomic_load(&reader->began_ns), now_ns = end_clock_ns();

		if (atomic_load(&reader->count) > WARM && began_ns != 0 && now_ns > began_ns &&
		    now_ns - began_ns > 2 * MS && now_ns - began_ns < 10 * MS)
			return atomic_load(&reader->count);
		usleep(500);
	}
	fail_msg("it does not rest");
	return 0;
}

/* Not when its time is over. */
static bool
reader_ends_soon(const struct reader *reader, uint64_t count, uint64_t since_ns)
{
	while (atomic_load(&reader->count) == count)
		if (end_clock_ns() - since_ns >= SOON_NS)
			return false;
	return true;
}

static void
start_readers(struct reader *readers, uint32_t count, struct end *end)
{
	for (uint32_t i = 0; i < count; i++) {
		readers[i].end = end;
		assert_int_equal(pthread_create(&readers[i].thread, NULL, reader_run, &readers[i]),
				 0);
	}
}

static void
stop_readers(struct reader *readers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		atomic_store(&readers[i].ends, true);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(readers[i].thread, NULL);
}

/* Somebody of whom nothing ever comes. */
static fi_addr_t
nobody(struct end *end)
{
	struct end other;
	fi_addr_t address;

	open_end(&other);
	address = end_know(end, other.address);
	close_end(&other);
	return address;
}

static void
ends_by_a_send(const char *rails)
{
	struct reader reader = { .end = NULL };
	uint32_t soon = 0;
	fi_addr_t address;
	struct end end;

	setenv("FI_LULL_RAILS", rails, 1);
	setenv("FI_LULL_CONNECT_TIMEOUT", "1000", 1); /* its close waits no longer */
	setenv("FI_LULL_MAX_REST", LONG_US, 1);
	open_end(&end);
	address = nobody(&end);
	start_readers(&reader, 1, &end);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t count = reader_at_rest(&reader), now_ns = end_clock_ns();

		assert_int_equal(fi_tsend(end.ep, NULL, 0, NULL, address, 1, context), 0);
		/* nor does it keep the sender */
		soon += end_clock_ns() - now_ns < SOON_NS &&
			reader_ends_soon(&reader, count, now_ns);
	}
	stop_readers(&reader, 1);
	close_end(&end);
	assert_true(soon > ROUNDS / 2);
}

TEST_WITH(cq_read__another_threads_send_ends_a_rest, set_up, NULL)
{
	ends_by_a_send("kernel:lo");
}

TEST_WITH(cq_read__another_threads_send_ends_a_rest_of_polled_rails, set_up, NULL)
{
	ends_by_a_send("kernel-busy:lo");
}

TEST_WITH(cq_read__one_that_rests_keeps_nobody_from_reading, set_up, NULL)
{
	struct reader reader = { .end = NULL };
	struct fi_cq_tagged_entry entry;
	uint32_t soon = 0;
	struct end end;

	setenv("FI_LULL_MAX_REST", LONG_US, 1);
	open_end(&end);
	start_readers(&reader, 1, &end);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t now_ns;

		reader_at_rest(&reader);
		now_ns = end_clock_ns();
		for (int k = 0; k < 50; k++)
			assert_int_equal(fi_cq_read(end.cq, &entry, 1), -FI_EAGAIN);
		soon += end_clock_ns() - now_ns < SOON_NS;
	}
	stop_readers(&reader, 1);
	close_end(&end);
	assert_true(soon > ROUNDS / 2);
}

/* Each of them, though one alone hears packets. */
TEST_WITH(cq_read__what_another_thread_takes_ends_all_rests, set_up, NULL)
{
	struct reader readers[3] = { { .end = NULL } };
	uint64_t counts[3];
	uint32_t soon = 0;
	struct end end, other;
	fi_addr_t address;

	setenv("FI_LULL_MAX_REST", LONG_US, 1);
	open_end(&end);
	open_end(&other);
	address = end_know(&other, end.address);
	start_readers(readers, 3, &end);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t now_ns;

		assert_int_equal(fi_trecv(end.ep, NULL, 0, NULL, FI_ADDR_UNSPEC, i, 0, context), 0);
		usleep(5000);
		for (uint32_t k = 0; k < 3; k++)
			counts[k] = reader_at_rest(&readers[k]);
		now_ns = end_clock_ns();
		assert_int_equal(fi_tinject(other.ep, context, 0, address, i), 0);
		while (end_clock_ns() - now_ns < 10 * MS) { /* it is sent once they are connected */
			struct fi_cq_tagged_entry entry;

			fi_cq_read(other.cq, &entry, 1);
		}
		for (uint32_t k = 0; k < 3; k++)
			soon += reader_ends_soon(&readers[k], counts[k], now_ns);
	}
	stop_readers(readers, 3);
	close_end(&other);
	close_end(&end);
	assert_true(soon > 3 * ROUNDS / 2);
}
