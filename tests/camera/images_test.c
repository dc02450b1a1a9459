/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has an image when: ownership, lent buffers, back pressure, rows, the end. */
#include "stand.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define PORT 5004
#define BUFFERS 4

struct bench {
	struct recording recording;
	struct sender sender;
	struct lull_receiver *receiver;
	struct lull_camera_stream stream;
};

static void
bench_record(struct bench *bench, uint64_t frames)
{
	memset(bench, 0, sizeof(*bench));
	sender_init(&bench->sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	recording_open(&bench->recording);
	for (uint64_t number = 1; number <= frames; number++)
		recording_frame(&bench->recording, &bench->sender, PORT, number, NULL);
	recording_close(&bench->recording);
	bench->stream = stand_stream(&bench->sender, PORT);
	bench->stream.buffers = BUFFERS;
}

static void
bench_start(struct bench *bench)
{
	bench->receiver = stand_capture(&bench->recording, &bench->stream);
}

static void
bench_end(struct bench *bench)
{
	assert_int_equal(lull_receiver_close(bench->receiver), 0);
	recording_remove(&bench->recording);
	sender_free(&bench->sender);
}

static void
bench_wait_given(struct bench *bench, uint64_t given)
{
	for (uint32_t i = 0; i < 20000 && stand_counters(bench->receiver, 0).given < given; i++)
		usleep(1000);
	assert_int_equal(stand_counters(bench->receiver, 0).given, given);
}

TEST(put__refuses_twice_and_foreign)
{
	struct lull_camera_image foreign = { .stream = 0 }, *image;
	struct lull_receiver_totals totals;
	struct bench bench;

	bench_record(&bench, 2);
	bench_start(&bench);
	image = stand_get(bench.receiver, 0);
	assert_int_equal(lull_receiver_put(bench.receiver, image), 0);
	assert_int_equal(lull_receiver_put(bench.receiver, image), -EINVAL);
	assert_int_equal(lull_receiver_put(bench.receiver, &foreign), -EINVAL);
	assert_int_equal(lull_receiver_put(bench.receiver, NULL), -EINVAL);
	/* inside an image is no image */
	image = (struct lull_camera_image *)(void *)((char *)image + 8);
	assert_int_equal(lull_receiver_put(bench.receiver, image), -EINVAL);
	assert_int_equal(stand_counters(bench.receiver, 0).refused, 1);
	lull_receiver_totals(bench.receiver, &totals);
	assert_int_equal(totals.errors, 3);
	bench_end(&bench);
}

TEST(lent__buffers_are_used_and_no_others)
{
	uint8_t *buffers[3];
	struct bench bench;

	bench_record(&bench, 12);
	for (uint32_t i = 0; i < 3; i++)
		buffers[i] = aligned_alloc(LULL_CACHE_LINE, 20032);
	bench.stream.lent = (struct lull_camera_buffers){ .data = buffers, .count = 3 };
	bench.stream.buffer_bytes = 20032;
	bench_start(&bench);
	for (uint64_t number = 1; number <= 12; number++) {
		struct lull_camera_image *image = stand_get(bench.receiver, 0);

		assert_true(image->frame.data == buffers[0] || image->frame.data == buffers[1] ||
			    image->frame.data == buffers[2]);
		stand_check_pixels(image, number);
		lull_receiver_put(bench.receiver, image);
	}
	bench_end(&bench);
	for (uint32_t i = 0; i < 3; i++)
		free(buffers[i]);
}

TEST(lent__misaligned_is_refused)
{
	struct lull_error error;
	char backend[96];
	struct lull_receiver_config config = { .backend = backend };
	uint8_t *memory = aligned_alloc(LULL_CACHE_LINE, 65536), *buffers[2];
	struct bench bench;

	bench_record(&bench, 1);
	buffers[0] = memory;
	buffers[1] = memory + 20001;
	bench.stream.lent = (struct lull_camera_buffers){ .data = buffers, .count = 2 };
	bench.stream.buffer_bytes = 20000;
	snprintf(backend, sizeof(backend), "pcap:%s", bench.recording.path);
	bench.receiver = stand_open(&config);
	assert_int_equal(lull_receiver_stream_add(bench.receiver, &bench.stream, &error), -EINVAL);
	assert_non_null(strstr(error.text, "aligned"));
	bench_end(&bench);
	free(memory);
}

/* A file waits for the application: not a frame is lost however slow that is. */
TEST(policy__a_file_waits)
{
	struct bench bench;

	bench_record(&bench, 30);
	bench_start(&bench);
	for (uint64_t number = 1; number <= 30; number++) {
		struct lull_camera_image *image = stand_get(bench.receiver, 0);

		stand_check_pixels(image, number);
		usleep(500);
		lull_receiver_put(bench.receiver, image);
	}
	assert_int_equal(stand_assembler(bench.receiver, 0).frames_dropped, 0);
	bench_end(&bench);
}

/* Nothing is fetched: the newest are there in the end, the others were taken back. */
TEST(policy__newest_wins)
{
	struct lull_assembler_counters assembler;
	struct lull_camera_image *image;
	struct bench bench;

	bench_record(&bench, 30);
	bench.stream.policy = LULL_FRAME_NEWEST_WINS;
	bench_start(&bench);
	bench_wait_given(&bench, 30);
	assembler = stand_assembler(bench.receiver, 0);
	assert_int_equal(assembler.frames_dropped, 0);
	assert_int_equal(assembler.frames_replaced, 30 - BUFFERS);
	for (uint64_t number = 30 - BUFFERS + 1; number <= 30; number++) {
		image = stand_get(bench.receiver, 0);
		stand_check_pixels(image, number);
		lull_receiver_put(bench.receiver, image);
	}
	bench_end(&bench);
}

/* Nothing is fetched: as many as there are buffers, then no fragment is taken any more. */
TEST(policy__fail_stop)
{
	struct lull_assembler_counters assembler;
	struct lull_camera_image *image;
	struct bench bench;

	bench_record(&bench, 30);
	bench.stream.policy = LULL_FRAME_FAIL_STOP;
	bench_start(&bench);
	bench_wait_given(&bench, BUFFERS);
	stand_wait_pkts(bench.receiver, 0, 30ull * bench.sender.plan.count);
	assembler = stand_assembler(bench.receiver, 0);
	assert_int_equal(assembler.frames[LULL_FRAME_COMPLETE], BUFFERS);
	assert_true(assembler.stopped > 0);
	for (uint64_t number = 1; number <= BUFFERS; number++) {
		image = stand_get(bench.receiver, 0);
		stand_check_pixels(image, number);
		lull_receiver_put(bench.receiver, image);
	}
	assert_int_equal(lull_receiver_resume(bench.receiver, 1), -EINVAL);
	bench_end(&bench);
}

/* One camera whose images nobody fetches does not hold up the other. */
TEST(policy__a_slow_stream_leaves_others_alone)
{
	char backend[96];
	struct lull_receiver_config config = { .backend = backend };
	struct bench bench;

	memset(&bench, 0, sizeof(bench));
	sender_init(&bench.sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	recording_open(&bench.recording);
	for (uint64_t number = 1; number <= 30; number++) {
		recording_frame(&bench.recording, &bench.sender, PORT, number, NULL);
		recording_frame(&bench.recording, &bench.sender, PORT + 1, number, NULL);
	}
	recording_close(&bench.recording);
	snprintf(backend, sizeof(backend), "pcap:%s", bench.recording.path);
	bench.receiver = stand_open(&config);
	bench.stream = stand_stream(&bench.sender, PORT);
	bench.stream.buffers = BUFFERS;
	stand_add(bench.receiver, &bench.stream);
	bench.stream.port = PORT + 1;
	bench.stream.policy = LULL_FRAME_FAIL_STOP;
	stand_add(bench.receiver, &bench.stream);
	stand_start(bench.receiver);
	for (uint64_t number = 1; number <= 30; number++) {
		struct lull_camera_image *image = stand_get(bench.receiver, 0);

		stand_check_pixels(image, number);
		lull_receiver_put(bench.receiver, image);
	}
	assert_int_equal(stand_counters(bench.receiver, 1).given, BUFFERS);
	bench_end(&bench);
}

static void
bench_frames(struct bench *bench, uint32_t width, uint64_t first, uint64_t last)
{
	struct sender sender;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, width, 100);
	for (uint64_t number = first; number <= last; number++)
		recording_frame(&bench->recording, &sender, PORT, number, NULL);
	sender_free(&sender);
}

static void
bench_begin(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	sender_init(&bench->sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	recording_open(&bench->recording);
	bench->stream = (struct lull_camera_stream){
		.protocol = "gvsp",
		.port = PORT,
		.buffers = BUFFERS,
	};
}

/* Pictures become larger, smaller and larger again; what the application holds stays as it is. */
TEST(buffers__grow_with_the_pictures)
{
	static const uint32_t widths[] = { 200, 300, 100, 450, 450, 200 };
	struct lull_camera_image *held[2];
	struct bench bench;
	uint64_t number = 1;

	bench_begin(&bench);
	for (uint32_t i = 0; i < COUNT(widths); i++)
		bench_frames(&bench, widths[i], 3 * i + 1, 3 * i + 3);
	recording_close(&bench.recording);
	bench_start(&bench);
	held[0] = stand_get(bench.receiver, 0);
	held[1] = stand_get(bench.receiver, 0);
	for (number = 3; number <= 3 * COUNT(widths); number++) {
		struct lull_camera_image *image = stand_get(bench.receiver, 0);

		assert_int_equal(image->frame.reason, LULL_FRAME_COMPLETE);
		assert_int_equal(image->frame.geometry.width, widths[(number - 1) / 3]);
		stand_check_pixels(image, number);
		assert_int_equal(lull_receiver_put(bench.receiver, image), 0);
		if (number == 9)
			for (uint32_t i = 0; i < 2; i++) {
				stand_check_pixels(held[i], 1 + i);
				lull_receiver_put(bench.receiver, held[i]);
			}
	}
	assert_int_equal(stand_counters(bench.receiver, 0).grown, 2);
	bench_end(&bench);
}

/* A leader of a picture that nobody allowed reserves nothing, and costs no frame of the camera. */
TEST(buffers__do_not_grow_beyond_the_bound)
{
	struct lull_finding findings[64];
	struct lull_packet_plan plan;
	struct lull_packet_format format = {
		.geometry = { .width = 20000, .height = 20000, .pixel = LULL_PIXEL_MONO8 },
		.packet_bytes = STAND_PACKET_BYTES,
	};
	struct lull_packet_frame forged = { .key = 20, .device_time = 1 };
	struct bench bench;
	bool told = false;
	uint32_t count;

	for (uint32_t first = 0; first < 2; first++) {
		bench_begin(&bench);
		assert_int_equal(lull_gvsp_writer.plan(&plan, &format), 0);
		for (uint64_t number = 1; number <= 6; number++) {
			if (number == (first != 0 ? 1 : 4)) {
				size_t size = lull_gvsp_writer.write(&plan, &forged, 0,
								     bench.sender.packet);

				recording_udp(&bench.recording, PORT, bench.sender.packet, size);
			}
			bench_frames(&bench, 200, number + 7, number + 7);
		}
		recording_close(&bench.recording);
		bench.stream.memory_bytes = BUFFERS * 100000;
		bench_start(&bench);
		for (uint64_t number = 8; number <= 13; number++) {
			struct lull_camera_image *image = stand_get(bench.receiver, 0);

			stand_check_pixels(image, number);
			assert_int_equal(image->frame.reason, LULL_FRAME_COMPLETE);
			lull_receiver_put(bench.receiver, image);
		}
		assert_int_equal(stand_assembler(bench.receiver, 0).oversize, 1);
		assert_int_equal(stand_counters(bench.receiver, 0).grown, 0);
		count = lull_receiver_check(bench.receiver, findings, COUNT(findings));
		for (uint32_t i = 0; i < count; i++)
			told |= strstr(findings[i].text, "images of up to 400000000 bytes") != NULL;
		assert_true(told);
		bench_end(&bench);
	}
}

struct told {
	uint64_t key;
	uint32_t next, frames, calls;
	bool wrong;
};

static void
rows_reported(void *arg, uint32_t stream, uint64_t key, const uint8_t *data, uint32_t first_row,
	      uint32_t row_count)
{
	struct told *told = arg;

	if (key != told->key) {
		told->wrong |= told->key != 0 && told->next != 100;
		told->key = key;
		told->next = 0;
		told->frames++; /* frames 1, 2 ...: the number that makes the pixels */
	}
	told->wrong |= stream != 0 || first_row != told->next || row_count == 0;
	for (uint32_t i = 200 * first_row; i < 200 * (first_row + row_count); i++)
		told->wrong |= data[i] != sender_byte(told->frames, i);
	told->next = first_row + row_count;
	told->calls++;
}

TEST(rows__come_in_order_and_whole)
{
	struct told told = { .key = 0 };
	struct bench bench;

	bench_record(&bench, 10);
	bench.stream.rows = rows_reported;
	bench.stream.rows_arg = &told;
	bench.stream.rows_step = 16;
	bench_start(&bench);
	for (uint64_t number = 1; number <= 10; number++)
		lull_receiver_put(bench.receiver, stand_get(bench.receiver, 0));
	bench_end(&bench);
	assert_false(told.wrong);
	assert_int_equal(told.frames, 10);
	assert_int_equal(told.next, 100);
	assert_in_range(told.calls, 40, 70);
}

/* Images stay valid after the first close, and the camera until they are back. */
TEST(close__waits_for_images_that_are_out)
{
	struct lull_camera_image *image, *none;
	struct bench bench;

	bench_record(&bench, 1);
	bench_start(&bench);
	image = stand_get(bench.receiver, 0);
	assert_int_equal(lull_receiver_close(bench.receiver), -EBUSY);
	stand_check_pixels(image, 1);
	assert_int_equal(lull_receiver_get(bench.receiver, 0, &none, UINT64_MAX), -ENODEV);
	assert_int_equal(lull_receiver_put(bench.receiver, image), 0);
	bench_end(&bench);
}

TEST(histograms__count_every_image)
{
	struct lull_camera_image *none;
	struct lull_histogram histogram;
	struct bench bench;

	bench_record(&bench, 10);
	bench_start(&bench);
	for (uint64_t number = 1; number <= 10; number++)
		lull_receiver_put(bench.receiver, stand_get(bench.receiver, 0));
	/* the last one is counted behind its hand-over */
	assert_int_equal(lull_receiver_get(bench.receiver, 0, &none, STAND_WAIT_NS), -ENODEV);
	lull_receiver_histogram(bench.receiver, 0, LULL_CAMERA_ASSEMBLY, &histogram);
	assert_int_equal(histogram.count, 10);
	/* a packet each 10 us of the file; it is complete before its trailer */
	assert_int_equal(histogram.max, (bench.sender.plan.count - 2) * 10 * LULL_NS_PER_US);
	lull_receiver_histogram(bench.receiver, 0, LULL_CAMERA_PERIOD, &histogram);
	assert_int_equal(histogram.count, 9);
	assert_int_equal(histogram.max, 33 * LULL_NS_PER_MS);
	assert_int_equal(lull_receiver_histogram(bench.receiver, 1, LULL_CAMERA_PERIOD, &histogram),
			 -EINVAL);
	bench_end(&bench);
}
