/* SPDX-License-Identifier: BSD-3-Clause */
/* Interrupts of many queues in one epoll set, on a fake driver that gives no word twice. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "fake_port.h"
#include "stand.h"

#define PATIENT_NS (10 * LULL_NS_PER_S)
#define PROMPT_NS (5 * LULL_NS_PER_S)

static const uint32_t queue_counts[] = { 1, 4, 16 };
#define QUEUE_COUNTS (sizeof(queue_counts) / sizeof(queue_counts[0]))

static struct lull_rest_device device;

static void
device_open(uint32_t queue_count, bool counts, bool shared)
{
	fake_device_open(&device, queue_count, counts, shared);
	assert_int_equal(lull_rest_interrupt.probe(&device), 0);
}

static enum lull_wake_reason
timed_run(uint64_t limit_ns, uint64_t *took_ns)
{
	uint64_t begin_ns = lull_clock_ns();
	enum lull_wake_reason reason = lull_rest_interrupt.run(&device, limit_ns);

	*took_ns = lull_clock_ns() - begin_ns;
	return reason;
}

static bool
any_armed(void)
{
	for (uint32_t i = 0; i < fake_port.queue_count; i++) {
		if (__atomic_load_n(&fake_port.queues[i].armed, __ATOMIC_SEQ_CST))
			return true;
	}
	return false;
}

static void *
send_later(void *queue)
{
	usleep(500);
	fake_port_send(*(const uint32_t *)queue, 1);
	return NULL;
}

/* Each queue ends a rest, and its word is gone with it: the next rest is whole. */
static void
any_queue_wakes(uint32_t queue_count, bool shared)
{
	pthread_t sender;
	uint64_t took_ns;

	device_open(queue_count, true, shared);
	for (uint32_t i = 0; i < queue_count; i++) {
		assert_int_equal(pthread_create(&sender, NULL, send_later, &i), 0);
		assert_int_equal(timed_run(PATIENT_NS, &took_ns), LULL_WAKE_PACKET);
		assert_int_equal(pthread_join(sender, NULL), 0);
		assert_true(took_ns < PROMPT_NS);
		assert_false(any_armed());
		assert_int_equal(fake_device_drain(&device), 1);
		assert_int_equal(timed_run(LULL_NS_PER_MS, &took_ns), LULL_WAKE_TIMER);
		assert_true(took_ns >= LULL_NS_PER_MS);
	}
	fake_device_close(&device);
}

TEST(queues__any_wakes)
{
	for (uint32_t i = 0; i < QUEUE_COUNTS; i++) {
		any_queue_wakes(queue_counts[i], false);
		any_queue_wakes(queue_counts[i], true);
	}
}

/* All words at once are one wake-up and no more. */
TEST(queues__all_at_once)
{
	uint64_t took_ns;

	device_open(FAKE_QUEUES, true, false);
	for (uint32_t i = 0; i < FAKE_QUEUES; i++) {
		__atomic_store_n(&fake_port.queues[i].armed, true, __ATOMIC_SEQ_CST);
		assert_true(fake_port_send(i, i));
		assert_int_equal(fake_port.queues[i].words, 1);
	}
	assert_int_equal(fake_device_drain(&device), FAKE_QUEUES);
	assert_int_equal(timed_run(PATIENT_NS, &took_ns), LULL_WAKE_PACKET);
	assert_int_equal(timed_run(LULL_NS_PER_MS, &took_ns), LULL_WAKE_TIMER);
	fake_device_close(&device);
}

/* Who comes after the last poll and before arming raises no interrupt. */
static void
meets_a_packet_before_arming(uint32_t queue_count, bool counts)
{
	uint64_t took_ns;

	device_open(queue_count, counts, false);
	for (uint32_t i = 0; i < queue_count; i++) {
		fake_port.at_arm = fake_port.at_queue = (int)i;
		assert_int_equal(timed_run(PATIENT_NS, &took_ns), LULL_WAKE_PACKET);
		assert_int_equal(fake_port.at_arm, -1);
		assert_true(took_ns < PROMPT_NS);
		assert_int_equal(fake_port.queues[i].words, 0);
		assert_false(any_armed());
		assert_int_equal(device.stash_count, counts ? 0 : 1);
		assert_int_equal(fake_device_drain(&device), 1);
	}
	fake_device_close(&device);
}

TEST(queues__no_packet_slips_through)
{
	for (uint32_t i = 0; i < QUEUE_COUNTS; i++) {
		meets_a_packet_before_arming(queue_counts[i], true);
		meets_a_packet_before_arming(queue_counts[i], false);
	}
}

/* One that cannot be armed disarms those before it, and the loop polls. */
TEST(queues__all_or_none)
{
	static const int errors[] = { -EAGAIN, -EIO, -ENOTSUP };

	for (uint32_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++) {
		for (uint32_t i = 0; i < FAKE_QUEUES; i++) {
			uint64_t took_ns;

			device_open(FAKE_QUEUES, true, false);
			fake_port.queues[i].enable_rc = errors[k];
			assert_int_equal(timed_run(PATIENT_NS, &took_ns), LULL_WAKE_PACKET);
			assert_true(took_ns < PROMPT_NS);
			assert_false(any_armed());
			for (uint32_t q = 0; q < FAKE_QUEUES; q++)
				assert_int_equal(fake_port.queues[q].arms,
						 fake_port.queues[q].disarms);
			fake_device_close(&device);
		}
	}
}

TEST(probe__tells_why)
{
	int file;

	fake_device_open(&device, FAKE_QUEUES, true, false);
	fake_port.interrupts = false;
	assert_int_equal(lull_rest_interrupt.probe(&device), -ENOTSUP);
	fake_port.interrupts = true;
	fake_port.queues[7].enable_rc = -EIO;
	assert_int_equal(lull_rest_interrupt.probe(&device), -EIO);
	fake_port.queues[7].enable_rc = -EAGAIN; /* traffic at this moment is no reason */
	assert_int_equal(lull_rest_interrupt.probe(&device), 0);
	lull_rest_device_fini(&device);
	fake_port.queues[7].enable_rc = 0;
	file = fake_port.queues[9].file;
	fake_port.queues[9].file = -1;
	assert_int_equal(lull_rest_interrupt.probe(&device), -ENOTSUP);
	assert_int_equal(device.epoll_fd, -1);
	fake_port.queues[9].file = file;
	fake_device_close(&device);
}

static void *
kick_later(void *arg)
{
	(void)arg;
	usleep(1000);
	lull_rest_device_kick(&device);
	return NULL;
}

TEST(queues__a_kick_ends_the_rest)
{
	pthread_t kicker;
	uint64_t took_ns;

	device_open(FAKE_QUEUES, true, false);
	assert_int_equal(pthread_create(&kicker, NULL, kick_later, NULL), 0);
	assert_int_equal(timed_run(PATIENT_NS, &took_ns), LULL_WAKE_KICK);
	assert_int_equal(pthread_join(kicker, NULL), 0);
	assert_true(took_ns < PROMPT_NS);
	assert_false(any_armed());
	assert_int_equal(timed_run(LULL_NS_PER_MS, &took_ns), LULL_WAKE_TIMER);
	fake_device_close(&device);
}

TEST_GROUP(stand_setup, stand_stop);
