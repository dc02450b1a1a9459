/* SPDX-License-Identifier: BSD-3-Clause */
/* What real senders sent (tests/data/camera): no packet malformed, pictures without a gap. */
#include <stdio.h>

#include <lull/capture.h>

#include "case.h"
#include "gige/gvcp_message.h"
#include "sent.h"

#define UDP_AT 34 /* Ethernet and IPv4 without options */

struct opened {
	uint8_t *bytes;
	struct lull_capture capture;
	struct lull_capture_packet packet;
	uint8_t payload[9216];
};

static void
open_file(struct opened *opened, const char *name)
{
	char path[512];
	FILE *file;
	long size;

	snprintf(path, sizeof(path), "%s/camera/%s.pcap", DATA_DIR, name);
	file = fopen(path, "rb");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	opened->bytes = malloc((size_t)size);
	assert_non_null(opened->bytes);
	assert_int_equal(fread(opened->bytes, 1, (size_t)size, file), size);
	fclose(file);
	lull_capture_open(&opened->capture, opened->bytes, (size_t)size);
}

/*
 * The UDP payload of the next packet between two ports (0: any); NULL at the end. What the capture
 * left out of long packets is 0: headers are whole, the picture is not.
 */
static const uint8_t *
next_payload(struct opened *opened, uint16_t source, uint16_t target, size_t *len)
{
	while (lull_capture_next(&opened->capture, &opened->packet) == LULL_CAPTURE_PACKET) {
		const uint8_t *udp = opened->packet.data + UDP_AT;
		size_t there = opened->packet.captured_bytes - UDP_AT - 8;
		uint16_t from = (uint16_t)(udp[0] << 8 | udp[1]);
		uint16_t to = (uint16_t)(udp[2] << 8 | udp[3]);

		if ((source != 0 && from != source) || (target != 0 && to != target))
			continue;
		*len = (size_t)(udp[4] << 8 | udp[5]) - 8;
		assert_true(*len <= sizeof(opened->payload));
		memset(opened->payload, 0, *len);
		memcpy(opened->payload, udp + 8, LULL_MIN(*len, there));
		return opened->payload;
	}
	assert_int_equal(opened->capture.result, LULL_CAPTURE_END);
	return NULL;
}

struct stream {
	const char *name;
	uint32_t width, height;
	enum lull_pixel pixel;
	bool interlaced;
	uint32_t frames, ranges_max; /* whole frames, line headers in a packet at most */
};

static const struct stream streams[] = {
	{ "r4175_uyvy_320x240_3hdr", 320, 240, LULL_PIXEL_UYVY8, false, 1, 4 },
	{ "r4175_uyvp_64x48", 64, 48, LULL_PIXEL_UYVY10_4175, false, 2, 10 },
	{ "r4175_i420_64x48", 64, 48, LULL_PIXEL_YUV420_4175, false, 2, 7 },
	{ "r4175_rgb_64x48", 64, 48, LULL_PIXEL_RGB8, false, 2, 7 },
	{ "r4175_y41b_64x48", 64, 48, LULL_PIXEL_YUV411_4175, false, 1, 14 },
	{ "r4175_ayuv_64x48", 64, 48, LULL_PIXEL_YUV444, false, 1, 7 },
	{ "r4175_uyvy_jumbo_640x64", 640, 64, LULL_PIXEL_UYVY8, false, 1, 8 },
	{ "r4175_uyvy_interlaced_64x48", 64, 48, LULL_PIXEL_UYVY8, true, 2, 11 },
	{ "r4175_ffmpeg_yuv422p10_64x48", 64, 48, LULL_PIXEL_UYVY10_4175, false, 2, 10 },
};

TEST(rfc4175__every_frame_of_two_senders_is_whole)
{
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		const struct stream *stream = &streams[i];
		struct lull_packet_format format = {
			.geometry = { .width = stream->width,
				      .height = stream->height,
				      .pixel = stream->pixel },
			.interlaced = stream->interlaced,
		};
		struct lull_frame_protocol_config config = config_for(&format, true);
		uint64_t bytes = lull_frame_bytes(&format.geometry), key = 0, got = 0, number = 0;
		uint32_t frames = 0, ranges_max = 0, pkts = 0;
		struct opened opened;
		struct sink sink;
		const uint8_t *payload;
		size_t len;

		open_file(&opened, stream->name);
		sink_open(&sink, "rfc4175", &config, bytes);
		while ((payload = next_payload(&opened, 0, 0, &len)) != NULL) {
			assert_int_equal(sink_take(&sink, payload, len), LULL_FRAME_FRAGMENT);
			assert_true(pkts == 0 || sink.fragment.packet == number + 1);
			number = sink.fragment.packet;
			if (got == 0)
				key = sink.fragment.key;
			assert_int_equal(sink.fragment.key, key);
			pkts++;
			ranges_max = LULL_MAX(ranges_max, sink.fragment.range_count);
			for (uint32_t k = 0; k < sink.fragment.range_count; k++)
				got += sink.fragment.ranges[k].bytes;
			assert_int_equal((sink.fragment.flags & LULL_FRAME_END) != 0, got == bytes);
			if (got < bytes)
				continue;
			for (uint64_t k = 0; k < bytes; k++)
				assert_int_equal(sink.there[k], 1);
			frames++;
			got = 0;
			sink_clear(&sink);
		}
		printf("%s: %u frames of %u packets, %u ranges\n", stream->name,
		       (unsigned int)frames, (unsigned int)pkts, (unsigned int)ranges_max);
		assert_int_equal(got, 0);
		assert_int_equal(frames, stream->frames);
		assert_int_equal(ranges_max, stream->ranges_max);
		sink_close(&sink);
		free(opened.bytes);
	}
}

/* Read GVSP packets from a file, with the packet size told or learned. */
static void
read_gvsp(const char *name, uint16_t source, uint32_t packet_bytes, uint32_t whole_min,
	  uint32_t frames_min)
{
	struct lull_frame_protocol_config config = { .packet_bytes = packet_bytes };
	uint64_t bytes = 128 * 96, key = 0, got = 0;
	uint32_t frames = 0, whole = 0;
	struct opened opened;
	struct sink sink;
	const uint8_t *payload;
	size_t len;

	open_file(&opened, name);
	sink_open(&sink, "gvsp", &config, bytes);
	while ((payload = next_payload(&opened, source, 0, &len)) != NULL) {
		enum lull_frame_verdict verdict = sink_take(&sink, payload, len);

		assert_true(verdict == LULL_FRAME_FRAGMENT ||
			    (verdict == LULL_FRAME_NOTHING && packet_bytes == 0));
		if (verdict != LULL_FRAME_FRAGMENT)
			continue;
		if (sink.fragment.key != key) {
			assert_true(key == 0 || sink.fragment.key == key + 1);
			key = sink.fragment.key;
			frames++;
			got = 0;
			sink_clear(&sink);
			sink_put(&sink);
		}
		if ((sink.fragment.flags & LULL_FRAME_GEOMETRY) != 0) {
			assert_int_equal(sink.fragment.geometry.width, 128);
			assert_int_equal(sink.fragment.geometry.height, 96);
			assert_int_equal(sink.fragment.geometry.pixel, LULL_PIXEL_MONO8);
			assert_true(sink.fragment.device_time > 1000000000);
		}
		for (uint32_t k = 0; k < sink.fragment.range_count; k++)
			got += sink.fragment.ranges[k].bytes;
		assert_true(got <= bytes);
		whole += sink.fragment.range_count > 0 && got == bytes;
		/* The fake camera draws a diagonal ramp: a byte tells where it belongs. */
		for (uint32_t k = 0; k < sink.fragment.range_count; k++) {
			const struct lull_frame_range *range = &sink.fragment.ranges[k];
			uint64_t at = range->offset;

			for (uint32_t b = 1; b < range->bytes; b++)
				if ((at + b) % 128 != 0)
					assert_int_equal((uint8_t)(range->data[b - 1] + 1) % 255,
							 range->data[b] % 255);
		}
	}
	printf("%s, %u: %u frames, %u whole\n", name, (unsigned int)packet_bytes,
	       (unsigned int)frames, (unsigned int)whole);
	assert_true(whole >= whole_min && frames >= frames_min);
	sink_close(&sink);
	free(opened.bytes);
}

TEST(gvsp__session_and_losses_of_the_fake_camera)
{
	read_gvsp("gvsp_session", 49418, 1400, 6, 7);
	read_gvsp("gvsp_session", 49418, 0, 6, 7);
	read_gvsp("gvsp_lossy_128x96", 47413, 1400, 3, 12);
	read_gvsp("gvsp_lossy_128x96", 47413, 0, 3, 12);
}

static uint32_t
number_at(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Our commands are byte for byte what another client sent, the flags apart. */
TEST(gvcp__session_written_again)
{
	uint32_t commands = 0, answers = 0, discovered = 0;
	struct lull_gvcp_device device;
	struct opened opened;
	const uint8_t *payload;
	size_t len;

	open_file(&opened, "gvsp_session");
	while ((payload = next_payload(&opened, 0, 0, &len)) != NULL) {
		const uint8_t *udp = opened.packet.data + UDP_AT;
		uint8_t message[LULL_GVCP_BYTES_MAX];
		struct lull_gvcp_header header;
		uint32_t address;
		size_t written = 0;

		if ((udp[0] << 8 | udp[1]) != LULL_GVCP_PORT &&
		    (udp[2] << 8 | udp[3]) != LULL_GVCP_PORT)
			continue;
		assert_true(lull_gvcp_header_read(payload, len, &header));
		discovered += lull_gvcp_read_discovery(payload, len, &device);
		answers += !header.command && header.status == 0;
		if (!header.command)
			continue;
		address = header.bytes >= 4 ? number_at(payload + 8) : 0;
		if (header.code == LULL_GVCP_READREG)
			written = lull_gvcp_write_readreg(message, header.id, address);
		else if (header.code == LULL_GVCP_WRITEREG)
			written = lull_gvcp_write_writereg(
				message, header.id,
				(struct lull_gvcp_register){ address, number_at(payload + 12) });
		else if (header.code == LULL_GVCP_READMEM)
			written = lull_gvcp_write_readmem(message, header.id, address,
							  (uint16_t)number_at(payload + 12));
		else
			written = lull_gvcp_write_discovery(message, header.id, false);
		assert_int_equal(written, len);
		assert_memory_equal(message, payload, len);
		commands++;
	}
	assert_int_equal(commands, 77);
	assert_int_equal(answers, 77);
	assert_int_equal(discovered, 1);
	assert_string_equal(device.maker, "Aravis");
	assert_string_equal(device.model, "Fake");
	assert_string_equal(device.serial, "CAMRES1");
	assert_int_equal(device.address, 0x0a4d0101);
	free(opened.bytes);
}
