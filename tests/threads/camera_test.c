/* SPDX-License-Identifier: BSD-3-Clause */
/* Who reads statistics of a receiver while it gets its streams, starts, receives and is closed. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <lull/rest.h>

#include "camera/device.h"

#define READERS 3
#define ROUNDS 6
#define FRAMES 4

struct reading {
	struct lull_receiver *receiver;
	atomic_bool stop;
	atomic_uint_fast64_t rounds;
	pthread_t threads[READERS];
};

static void
read_stream(struct lull_receiver *receiver, uint32_t stream)
{
	static _Thread_local struct lull_histogram histogram;
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;

	assert_int_equal(lull_receiver_counters(receiver, stream, &counters, &assembler), 0);
	assert_true(counters.fetched <= counters.given + 1);
	assert_non_null(lull_receiver_stream_name(receiver, stream));
	for (uint32_t figure = 0; figure <= LULL_CAMERA_GAP; figure++)
		assert_int_equal(lull_receiver_histogram(receiver, stream,
							 (enum lull_camera_figure)figure,
							 &histogram),
				 0);
}

static void *
read_run(void *arg)
{
	struct reading *reading = arg;
	struct lull_receiver_totals totals;
	struct lull_rest_thread_info info;
	uint64_t pkts = 0;
	char text[256];

	while (!atomic_load(&reading->stop)) {
		lull_receiver_totals(reading->receiver, &totals);
		assert_true(totals.pkts >= pkts); /* also over the end */
		pkts = totals.pkts;
		for (uint32_t i = 0; i < lull_receiver_stream_count(reading->receiver); i++)
			read_stream(reading->receiver, i);
		(void)lull_receiver_class(reading->receiver, &info, text, sizeof(text));
		(void)lull_receiver_change(reading->receiver, NULL, NULL);
		atomic_fetch_add(&reading->rounds, 1);
	}
	return NULL;
}

static void
read_begin(struct reading *reading, struct lull_receiver *receiver)
{
	reading->receiver = receiver;
	atomic_store(&reading->stop, false);
	for (uint32_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&reading->threads[i], NULL, read_run, reading), 0);
}

static void
read_more(struct reading *reading)
{
	uint64_t rounds = atomic_load(&reading->rounds);

	while (atomic_load(&reading->rounds) < rounds + 5 * READERS)
		usleep(100);
}

static void
read_end(struct reading *reading)
{
	atomic_store(&reading->stop, true);
	for (uint32_t i = 0; i < READERS; i++)
		pthread_join(reading->threads[i], NULL);
}

static void
send_frame(struct device *device, uint64_t number)
{
	pthread_mutex_lock(&device->lock);
	device->frame = sender_frame(&device->sender, number);
	pthread_mutex_unlock(&device->lock);
	for (uint32_t i = 0; i < device->sender.plan.count; i++)
		device_packet(device, number, i, false);
}

static void
check_round(struct device *device, struct reading *reading, const char *at, const char *backend)
{
	const struct lull_receiver_config config = { .backend = backend, .unchecked = true };
	struct lull_camera_stream stream = stand_stream(&device->sender, 0);
	struct lull_camera_image *image = NULL;
	struct lull_receiver *receiver = stand_open(&config);

	read_begin(reading, receiver);
	stream.control = at;
	stream.resend = true;
	stream.deadline_ns = STAND_WAIT_NS;
	stand_add(receiver, &stream);
	stand_start(receiver);
	for (uint64_t number = 1; number <= FRAMES; number++) {
		send_frame(device, number);
		if (image != NULL)
			lull_receiver_put(receiver, image);
		image = stand_get(receiver, 0);
	}
	/* All but the memory is gone then, and readers go on. */
	assert_int_equal(lull_receiver_close(receiver), -EBUSY);
	read_more(reading);
	read_end(reading);
	assert_int_equal(lull_receiver_put(receiver, image), 0);
	assert_int_equal(lull_receiver_close(receiver), 0);
}

TEST(statistics__from_any_thread_while_it_is_closed)
{
	static const char at[] = "127.0.4.1";
	struct device *device = device_open(at, false);
	struct reading reading = { .receiver = NULL };

	for (uint32_t round = 0; round < ROUNDS; round++)
		check_round(device, &reading, at, round % 2 == 0 ? "kernel:lo" : "kernel-busy:lo");
	device_close(device);
}
