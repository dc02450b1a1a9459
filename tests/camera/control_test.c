/* SPDX-License-Identifier: BSD-3-Clause */
/* A camera under control: it streams, loses and sends again, or answers nothing. */
#include <errno.h>

#include "device.h"

#define ADDRESS "127.0.3.1"
#define FRAMES 6

static struct lull_receiver *
camera_with_control(const struct device *device)
{
	struct lull_receiver_config config = { .backend = "kernel:lo", .unchecked = true };
	struct lull_camera_stream stream = stand_stream(&device->sender, 0);
	struct lull_receiver *receiver = stand_open(&config);

	stream.control = ADDRESS;
	stream.resend = true;
	stream.deadline_ns = STAND_WAIT_NS;
	stand_add(receiver, &stream);
	return receiver;
}

/* The camera is taken, what is lost comes again, and in the end it is given back. */
TEST(control__repairs_losses)
{
	struct device *device = device_open(ADDRESS, false);
	struct lull_receiver *receiver = camera_with_control(device);
	struct lull_camera_counters counters;
	uint64_t lost = 0;

	stand_start(receiver);
	for (uint64_t number = 1; number <= FRAMES; number++) {
		struct lull_camera_image *image;

		pthread_mutex_lock(&device->lock);
		device->frame = sender_frame(&device->sender, number);
		pthread_mutex_unlock(&device->lock);
		for (uint32_t i = 0; i < device->sender.plan.count; i++) {
			/* every 20th, and at the end of every second frame the last two */
			if (i % 20 == 7 ||
			    (number % 2 == 0 && i + 3 >= device->sender.plan.count)) {
				lost++;
				continue;
			}
			device_packet(device, number, i, false);
		}
		image = stand_get(receiver, 0);
		assert_int_equal(image->frame.reason, LULL_FRAME_COMPLETE);
		assert_true(image->frame.counts.resent > 0);
		stand_check_pixels(image, number);
		lull_receiver_put(receiver, image);
	}
	counters = stand_counters(receiver, 0);
	assert_int_equal(counters.repaired, FRAMES);
	assert_true(counters.requests > 0 && counters.requests <= counters.requested);
	/* lost trailers need not be asked for; a busy machine may ask twice */
	assert_in_range(counters.requested, lost - FRAMES / 2, 4 * lost);
	assert_int_equal(counters.control_lost, 0);
	assert_int_equal(lull_receiver_close(receiver), 0);
	assert_true(device->released);
	device_close(device);
}

TEST(control__says_that_nobody_answers)
{
	struct device *device = device_open(ADDRESS, true);
	struct lull_receiver *receiver = camera_with_control(device);
	struct lull_error error = { "" };

	assert_int_equal(lull_receiver_start(receiver, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, ADDRESS));
	assert_int_equal(lull_receiver_close(receiver), 0);
	device_close(device);
}
