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
check_round(struct device *device, struct reading *reading, const char *at,
	    const struct lull_receiver_config *config)
{
	struct lull_camera_stream stream = stand_stream(&device->sender, 0);
	struct lull_camera_image *image = NULL;
	struct lull_receiver *receiver = stand_open(config);

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

/* ---- direct: others put and wake while the one that gets receives ---- */

struct putting {
	struct lull_receiver *receiver;
	struct lull_camera_image *_Atomic image; /* NULL: none to be put */
	atomic_bool stop;
};

static void *
put_run(void *arg)
{
	struct putting *putting = arg;

	while (!atomic_load(&putting->stop)) {
		struct lull_camera_image *image = atomic_exchange(&putting->image, NULL);

		if (image != NULL)
			assert_int_equal(lull_receiver_put(putting->receiver, image), 0);
		lull_receiver_wake(putting->receiver);
		usleep(100);
	}
	return NULL;
}

TEST(direct__others_put_and_wake)
{
	const struct lull_receiver_config config = { .backend = "kernel:lo",
						     .direct = true,
						     .unchecked = true };
	struct putting putting = { .receiver = stand_open(&config) };
	uint16_t port = stand_free_port();
	int fd = stand_socket("127.0.0.1", "127.0.0.1", port);
	struct lull_camera_stream stream;
	struct lull_camera_image *image;
	struct sender sender;
	pthread_t thread;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	stream = stand_stream(&sender, port);
	stream.deadline_ns = STAND_WAIT_NS;
	stream.buffers = 4;
	stand_add(putting.receiver, &stream);
	stand_start(putting.receiver);
	assert_int_equal(pthread_create(&thread, NULL, put_run, &putting), 0);
	for (uint64_t number = 1; number <= 50; number++) {
		stand_send(fd, &sender, number, NULL);
		do /* woken again and again */
			assert_int_equal(
				lull_receiver_get(putting.receiver, 0, &image, STAND_WAIT_NS), 0);
		while (image == NULL);
		while (atomic_load(&putting.image) != NULL)
			usleep(10);
		atomic_store(&putting.image, image);
	}
	while (atomic_load(&putting.image) != NULL)
		usleep(10);
	atomic_store(&putting.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(lull_receiver_close(putting.receiver), 0);
	close(fd);
	sender_free(&sender);
}

TEST(statistics__from_any_thread_while_it_is_closed)
{
	static const char at[] = "127.0.4.1";
	struct device *device = device_open(at, false);
	struct reading reading = { .receiver = NULL };

	for (uint32_t round = 0; round < ROUNDS; round++) {
		const struct lull_receiver_config config = {
			.backend = round % 2 == 0 ? "kernel:lo" : "kernel-busy:lo",
			.direct = round % 4 >= 2,
			.unchecked = true,
		};

		check_round(device, &reading, at, &config);
	}
	device_close(device);
}
