/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand.h"

#include <errno.h>

#define PORT 5004

static void
finish(struct lull_receiver *receiver, struct recording *recording, struct sender *sender)
{
	struct lull_camera_image *image;

	assert_int_equal(lull_receiver_get(receiver, LULL_CAMERA_ANY, &image, STAND_WAIT_NS),
			 -ENODEV);
	assert_int_equal(lull_receiver_close(receiver), 0);
	recording_remove(recording);
	sender_free(sender);
}

struct kind {
	const char *protocol;
	enum lull_pixel pixel;
	uint32_t width, height;
};
static const struct kind kinds[] = {
	{ "rfc4175", LULL_PIXEL_UYVY10_4175, 322, 31 }, { "rfc4175", LULL_PIXEL_RGB8, 65, 48 },
	{ "gvsp", LULL_PIXEL_BAYER_RG12P, 640, 33 },    { "gvsp", LULL_PIXEL_MONO8, 101, 77 },
	{ "cmp", LULL_PIXEL_RAW12_CSI, 640, 24 },       { "rvf", LULL_PIXEL_MONO16, 320, 20 },
};

/* Every pixel of every protocol; the geometry is told only where it must be. */
TEST(capture__is_pixel_exact)
{
	for (size_t k = 0; k < COUNT(kinds); k++) {
		struct lull_camera_stream stream;
		struct recording recording;
		struct lull_receiver *receiver;
		struct sender sender;

		sender_init(&sender, kinds[k].protocol, kinds[k].pixel, kinds[k].width,
			    kinds[k].height);
		recording_open(&recording);
		recording.vlan = k % 3;
		recording.options = k % 2 * 10;
		for (uint64_t number = 1; number <= 40; number++)
			recording_frame(&recording, &sender, PORT, number, NULL);
		recording_close(&recording);
		stream = stand_stream(
			&sender, lull_frame_protocol_find(kinds[k].protocol)->ethernet ? 0 : PORT);
		if (strcmp(kinds[k].protocol, "gvsp") == 0)
			memset(&stream.settings.geometry, 0, sizeof(stream.settings.geometry));
		receiver = stand_capture(&recording, &stream);
		for (uint64_t number = 1; number <= 40; number++) {
			struct lull_camera_image *image = stand_get(receiver, LULL_CAMERA_ANY);

			if (image->frame.reason != LULL_FRAME_COMPLETE)
				fail_msg("%s: frame %llu is %s", kinds[k].protocol,
					 (unsigned long long)number,
					 lull_frame_reason_name(image->frame.reason));
			assert_int_equal(image->frame.bytes, sender.picture_bytes);
			assert_int_equal(image->frame.number, number - 1);
			stand_check_pixels(image, number);
			assert_int_equal(image->packet_clock, LULL_CAMERA_CLOCK_FILE);
			assert_int_equal(image->latency_from, LULL_CAMERA_ORIGIN_READ);
			assert_true(image->frame.stamps.last_ns >= image->frame.stamps.first_ns);
			assert_int_equal(lull_receiver_put(receiver, image), 0);
		}
		finish(receiver, &recording, &sender);
	}
}

static bool
lost_third(uint32_t index)
{
	return index == 3;
}

/* A lost packet is a hole of exactly its bytes; the frame leaves when it had its time. */
TEST(capture__tells_what_is_missing)
{
	struct lull_camera_image *image;
	struct lull_camera_stream stream;
	struct recording recording;
	struct lull_receiver *receiver;
	struct sender sender;
	uint64_t data_bytes;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	data_bytes = sender.plan.data_bytes;
	recording_open(&recording);
	recording_frame(&recording, &sender, PORT, 1, NULL);
	recording_frame(&recording, &sender, PORT, 2, lost_third);
	recording_frame(&recording, &sender, PORT, 3, NULL);
	recording_close(&recording);
	stream = stand_stream(&sender, PORT);
	stream.deadline_ns = 10 * LULL_NS_PER_MS;
	receiver = stand_capture(&recording, &stream);
	lull_receiver_put(receiver, stand_get(receiver, 0));
	image = stand_get(receiver, 0);
	assert_int_equal(image->frame.reason, LULL_FRAME_DEADLINE);
	assert_int_equal(image->frame.missing_count, 1);
	assert_int_equal(image->frame.missing[0].offset, 2 * data_bytes);
	assert_int_equal(image->frame.missing[0].bytes, data_bytes);
	assert_int_equal(image->frame.bytes_there, sender.picture_bytes - data_bytes);
	stand_check_pixels(image, 2);
	lull_receiver_put(receiver, image);
	image = stand_get(receiver, 0);
	assert_int_equal(image->frame.reason, LULL_FRAME_COMPLETE);
	stand_check_pixels(image, 3);
	lull_receiver_put(receiver, image);
	finish(receiver, &recording, &sender);
}

/* A frame of which the half behind @p pause is sent that much later. */
static void
record_halves(struct recording *recording, struct sender *sender, uint64_t number,
	      uint64_t begin_ns, uint64_t pause_ns, uint32_t first_count)
{
	struct lull_packet_frame frame = sender_frame(sender, number);

	recording->now_ns = begin_ns;
	for (uint32_t i = 0; i < sender->plan.count; i++) {
		size_t size = sender_packet(sender, &frame, i);

		if (i == first_count)
			recording->now_ns = begin_ns + pause_ns;
		recording_udp(recording, PORT, sender->packet, size);
	}
}

static void
expect_whole(struct recording *recording, const struct lull_camera_stream *stream, uint64_t frames)
{
	struct lull_receiver *receiver;

	recording_close(recording);
	receiver = stand_capture(recording, stream);
	for (uint64_t number = 1; number <= frames; number++) {
		struct lull_camera_image *image = stand_get(receiver, 0);

		if (image->frame.reason != LULL_FRAME_COMPLETE)
			fail_msg("frame %llu is partial", (unsigned long long)number);
		lull_receiver_put(receiver, image);
	}
	assert_int_equal(lull_receiver_close(receiver), 0);
	recording_remove(recording);
}

/* What ends a frame is learned from the times in the capture, however fast that is read. */
TEST(capture__has_its_own_time)
{
	struct lull_camera_stream stream;
	struct recording recording;
	struct sender sender;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	recording_open(&recording);
	for (uint64_t number = 1; number <= 40; number++)
		record_halves(&recording, &sender, number, LULL_NS_PER_S + number * 33333333,
			      12 * LULL_NS_PER_MS, sender.plan.count / 2);
	stream = stand_stream(&sender, PORT);
	expect_whole(&recording, &stream, 40);
	sender_free(&sender);
}

/* Fields that come in bursts, 25 frames per second, and none of them in time. */
TEST(capture__waits_for_the_second_field)
{
	struct lull_packet_format format;
	struct lull_camera_stream stream;
	struct recording recording;
	struct sender sender;

	sender_init(&sender, "rfc4175", LULL_PIXEL_UYVY8, 200, 100);
	format = sender.plan.format;
	format.interlaced = true;
	format.field_time = 1800;
	sender.frame_step = 3600;
	assert_int_equal(sender.writer->plan(&sender.plan, &format), 0);
	recording_open(&recording);
	for (uint64_t number = 1; number <= 300; number++)
		record_halves(&recording, &sender, number,
			      LULL_NS_PER_S + number * 40 * LULL_NS_PER_MS + number * 7919 % 900000,
			      20 * LULL_NS_PER_MS + number * 6007 % 1500000,
			      sender.plan.first_count);
	stream = stand_stream(&sender, PORT);
	stream.settings.interlaced = true;
	expect_whole(&recording, &stream, 300);
	sender_free(&sender);
}

/* Whoever is not configured is counted and has no effect; the rest is for no stream. */
TEST(capture__counts_source_mismatch_and_others)
{
	uint8_t short_frame[20] = { 0 };
	struct lull_camera_counters counters;
	struct lull_camera_stream stream;
	struct lull_receiver_totals totals;
	struct lull_camera_image *image;
	struct recording recording;
	struct lull_receiver *receiver;
	struct sender sender;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	recording_open(&recording);
	recording.source = 66;
	recording_frame(&recording, &sender, PORT, 1, NULL);
	recording.source = 1;
	recording_frame(&recording, &sender, PORT, 2, NULL);
	recording_udp(&recording, PORT + 1, sender.packet, 100);
	recording_udp(&recording, PORT, sender.packet, 3);
	short_frame[12] = 0x08;
	recording_raw(&recording, short_frame, sizeof(short_frame));
	recording_close(&recording);
	stream = stand_stream(&sender, PORT);
	stream.source = "192.0.2.1";
	receiver = stand_capture(&recording, &stream);
	image = stand_get(receiver, 0);
	stand_check_pixels(image, 2);
	lull_receiver_put(receiver, image);
	assert_int_equal(lull_receiver_get(receiver, 0, &image, STAND_WAIT_NS), -ENODEV);
	counters = stand_counters(receiver, 0);
	assert_int_equal(counters.source_mismatch, sender.plan.count);
	assert_int_equal(counters.malformed + counters.foreign, 1);
	lull_receiver_totals(receiver, &totals);
	assert_int_equal(totals.unclaimed, 2);
	assert_int_equal(totals.pkts, 2 * sender.plan.count + 1);
	finish(receiver, &recording, &sender);
}

/* Two cameras on one port, told apart by where they send from. */
TEST(capture__tells_cameras_on_one_port_apart)
{
	char backend[96];
	struct lull_receiver_config config = { .backend = backend };
	struct lull_camera_stream stream;
	struct sender senders[2];
	struct recording recording;
	struct lull_receiver *receiver;

	recording_open(&recording);
	for (uint32_t i = 0; i < 2; i++) {
		sender_init(&senders[i], "gvsp", LULL_PIXEL_MONO8, 100 + i, 50);
		recording.source = (uint8_t)(1 + i);
		recording_frame(&recording, &senders[i], PORT, 7 + i, NULL);
	}
	recording_close(&recording);
	snprintf(backend, sizeof(backend), "pcap:%s", recording.path);
	receiver = stand_open(&config);
	stream = stand_stream(&senders[0], PORT);
	stream.source = "192.0.2.1";
	stand_add(receiver, &stream);
	stream = stand_stream(&senders[1], PORT);
	stream.source = "02:00:00:00:00:02";
	stand_add(receiver, &stream);
	stand_start(receiver);
	for (uint32_t i = 0; i < 2; i++) {
		struct lull_camera_image *image = stand_get(receiver, i);

		assert_int_equal(image->stream, i);
		assert_int_equal(image->frame.geometry.width, 100 + i);
		stand_check_pixels(image, 7 + i);
		lull_receiver_put(receiver, image);
		assert_int_equal(stand_counters(receiver, i).source_mismatch, 0);
	}
	sender_free(&senders[1]);
	finish(receiver, &recording, &senders[0]);
}

TEST(open__says_what_is_wrong)
{
	static const struct {
		const char *backend, *words;
	} wrong[] = {
		{ "pcap", "kernel:IF" },
		{ "usb:0", "kernel:IF" },
		{ "pcap:", "kernel:IF" },
		{ "pcap:/does/not/exist", "No such file" },
		{ "pcap:/proc/self/exe", "at byte" },
		{ "kernel:no-such-if", "does not exist" },
	};
	struct lull_error error;
	struct lull_receiver *receiver;

	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct lull_receiver_config config = { .backend = wrong[i].backend };

		assert_true(lull_receiver_open(&config, &receiver, &error) < 0);
		assert_null(receiver);
		assert_non_null(strstr(error.text, wrong[i].words));
	}
}
