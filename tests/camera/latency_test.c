/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the latency of an image begins: sockets of loopback, polled by the test, that rests. */
#include "stand.h"

#include <unistd.h>

#include <lull/rest.h>

#include "camera/receiver.h"

#define REST_US 900

/* The same sockets without stamps of the kernel, as a port has none. */
static uint32_t
stampless_receive(void *state, struct lull_net_packet *packets)
{
	uint32_t count = lull_net_kernel_busy.receive(state, packets);
	uint64_t now_ns = lull_clock_ns();

	for (uint32_t i = 0; i < count; i++)
		packets[i].stamp_ns = now_ns;
	return count;
}

struct place {
	struct lull_net_backend backend;
	struct lull_receiver *receiver;
	struct sender sender;
	int fd;
};

static void
place_open(struct place *place, bool stamps, uint32_t height)
{
	struct lull_receiver_config config = { .backend = "kernel-busy:lo",
					       .own_loop = true,
					       .unchecked = true };
	uint16_t port = stand_free_port();
	struct lull_camera_stream stream;

	sender_init(&place->sender, "gvsp", LULL_PIXEL_MONO8, 1000, height);
	place->fd = stand_socket("127.0.0.1", "127.0.0.1", port);
	place->receiver = stand_open(&config);
	if (!stamps) {
		place->backend = lull_net_kernel_busy;
		place->backend.receive = stampless_receive;
		place->receiver->backend = &place->backend;
		place->receiver->clock = LULL_CAMERA_CLOCK_POLL;
		place->receiver->origin = LULL_CAMERA_ORIGIN_BOUND;
	}
	stream = stand_stream(&place->sender, port);
	stream.deadline_ns = STAND_WAIT_NS;
	stand_add(place->receiver, &stream);
	stand_start(place->receiver);
}

static void
place_close(struct place *place)
{
	assert_int_equal(lull_receiver_close(place->receiver), 0);
	close(place->fd);
	sender_free(&place->sender);
}

/* An image, by polls with a rest before each. */
static struct lull_camera_image *
place_receive(struct place *place)
{
	struct lull_camera_image *image = NULL;
	uint64_t rest_ns;

	for (uint32_t i = 0; image == NULL; i++) {
		assert_true(i < 1000);
		usleep(REST_US);
		lull_receiver_poll(place->receiver, lull_clock_ns(), &rest_ns);
		assert_int_equal(lull_receiver_get(place->receiver, 0, &image, 0), 0);
	}
	return image;
}

/*
 * A picture sent at a known time into a queue that was empty at a known one: what is shown lies
 * between the two.
 */
static void
shows_the_rest(bool stamps, uint32_t height)
{
	struct lull_histogram fetched, latency;
	struct lull_camera_image *image;
	uint64_t polled_ns, sent_ns, rest_ns, true_ns;
	struct place place;

	place_open(&place, stamps, height);
	polled_ns = lull_clock_ns();
	lull_receiver_poll(place.receiver, polled_ns, &rest_ns);
	stand_send(place.fd, &place.sender, 1, NULL);
	sent_ns = lull_clock_ns();
	image = place_receive(&place);
	true_ns = image->frame.stamps.done_ns - sent_ns;
	assert_true(true_ns >= REST_US * LULL_NS_PER_US);
	assert_true(image->latency_ns >= true_ns);
	assert_true(image->latency_ns <= lull_clock_ns() - polled_ns);
	assert_int_equal(image->latency_from, lull_receiver_origin(place.receiver));
	assert_int_equal(image->latency_from,
			 stamps ? LULL_CAMERA_ORIGIN_KERNEL : LULL_CAMERA_ORIGIN_BOUND);
	assert_int_equal(lull_receiver_histogram(place.receiver, 0, LULL_CAMERA_LATENCY, &latency),
			 0);
	assert_int_equal(lull_receiver_histogram(place.receiver, 0, LULL_CAMERA_FETCHED, &fetched),
			 0);
	assert_int_equal(latency.count, 1);
	assert_int_equal(latency.max, image->latency_ns);
	assert_int_equal(fetched.count, 1);
	assert_true(fetched.max > latency.max);
	lull_receiver_put(place.receiver, image);
	place_close(&place);
}

TEST(latency__begins_at_the_kernels_stamp)
{
	shows_the_rest(true, 20);
}

TEST(latency__is_a_bound_without_stamps)
{
	shows_the_rest(false, 20);
}

/* 150 packets: polls that fetch a burst of 64 do not tell that the others came after them. */
TEST(latency__is_a_bound_over_several_bursts)
{
	shows_the_rest(false, 200);
}

TEST(origin__has_names)
{
	assert_string_equal(lull_camera_origin_name(LULL_CAMERA_ORIGIN_NIC), "nic");
	assert_string_equal(lull_camera_origin_name(LULL_CAMERA_ORIGIN_KERNEL), "kernel");
	assert_string_equal(lull_camera_origin_name(LULL_CAMERA_ORIGIN_BOUND), "bound");
	assert_string_equal(lull_camera_origin_name(LULL_CAMERA_ORIGIN_READ), "read");
	assert_string_equal(lull_camera_origin_name((enum lull_camera_origin)9), "unknown");
}
