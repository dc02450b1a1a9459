/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "base/bytes.h"
#include "frame/cmp.h"
#include "sent.h"

#define ROW 24 /* 16 pixels of 12 bit */

static uint8_t packet[512];
static uint8_t row[ROW];

static uint8_t *
put_packet(uint16_t number)
{
	uint8_t *at = lull_bytes_put(packet, 0x01000001, 4); /* device 1 */

	at = lull_bytes_put(at, CMP_TYPE_DATA << 8 | 2, 2); /* its stream 2 */
	return lull_bytes_put(at, number, 2);
}

static uint8_t *
put_message(uint8_t *at, uint64_t time, uint32_t segment, uint32_t bytes)
{
	at = lull_bytes_put(at, time, 8);
	at = lull_bytes_put(at, 1, 4);
	at = lull_bytes_put(at, segment << CMP_SEGMENT_SHIFT, 1);
	at = lull_bytes_put(at, CMP_PAYLOAD_CSI2, 1);
	return lull_bytes_put(at, bytes, 2);
}

static uint8_t *
put_csi2(uint8_t *at, uint16_t counter, uint16_t line, uint8_t type, uint32_t words)
{
	at = lull_bytes_put(at, 0, 4); /* counters are the camera's */
	at = lull_bytes_put(at, counter, 2);
	at = lull_bytes_put(at, line, 2);
	at = lull_bytes_put(at, type, 1);
	at = lull_bytes_fill(at, 5);
	return lull_bytes_put(at, words, 2);
}

static uint8_t *
put_line(uint8_t *at, uint64_t time, uint16_t counter, uint16_t line)
{
	at = put_message(at, time, CMP_SEGMENT_NONE, CMP_CSI2_BYTES + ROW);
	return lull_bytes_copy(put_csi2(at, counter, line, 0x2c, ROW), row, ROW);
}

static uint8_t *
put_end(uint8_t *at, uint64_t time, uint16_t counter)
{
	at = put_message(at, time, CMP_SEGMENT_NONE, CMP_CSI2_BYTES);
	return put_csi2(at, counter, 0, CSI2_FRAME_END, counter);
}

static enum lull_frame_verdict
take(struct sink *sink, const uint8_t *end)
{
	return sink_take(sink, packet, (size_t)(end - packet));
}

static void
begin(struct sink *sink, bool told)
{
	struct lull_frame_protocol_config config = { .stream_id = 0x102 };

	if (told)
		config.geometry = (struct lull_frame_geometry){ .width = 16,
								.height = 4,
								.pixel = LULL_PIXEL_RAW12_CSI };
	sink_open(sink, "cmp", &config, 4 * ROW);
}

/* The end of one frame and the start of the next in one packet, behind it Ethernet padding. */
TEST(parse__two_frames_in_a_packet)
{
	struct sink sink;
	uint8_t *at;
	uint64_t key;

	begin(&sink, true);
	at = put_line(put_packet(0), 1, 5, 1);
	assert_int_equal(take(&sink, at), LULL_FRAME_FRAGMENT);
	key = sink.fragment.key;
	at = put_line(put_packet(1), 2, 5, 4);
	at = put_end(at, 3, 5);
	at = put_line(at, 4, 6, 1);
	at = lull_bytes_fill(at, 30);
	assert_int_equal(take(&sink, at), LULL_FRAME_NOTHING); /* the padding is no message */
	assert_int_equal(sink.counts[LULL_FRAME_FRAGMENT], 4);
	assert_int_equal(sink.ends, 1);
	assert_int_equal(sink.there[0], 2);
	assert_int_equal(sink.there[3 * ROW], 1);
	assert_int_equal(take(&sink, put_line(put_packet(2), 5, 6, 2)), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.key, key + 1);
	assert_int_equal(take(&sink, put_line(put_packet(3), 6, 6, 5)), LULL_FRAME_MALFORMED);
	sink_close(&sink);
}

/* Cameras count 1, 2, 1, 2 or not at all; what comes late belongs to its frame. */
TEST(parse__counters_that_do_not_count)
{
	struct sink sink;
	uint64_t keys[4];

	begin(&sink, true);
	for (uint32_t i = 0; i < 4; i++) {
		uint16_t counter = i < 2 ? 0 : (uint16_t)(3 - i);
		uint8_t *at = put_line(put_packet((uint16_t)i), 10 * i + 1, counter, 1);

		assert_int_equal(take(&sink, put_end(at, 10 * i + 2, counter)),
				 LULL_FRAME_FRAGMENT);
		keys[i] = sink.fragment.key;
		assert_true(i == 0 || keys[i] > keys[i - 1]);
		assert_int_equal(take(&sink, put_line(put_packet(9), 10 * i + 1, counter, 2)),
				 LULL_FRAME_FRAGMENT);
		assert_int_equal(sink.fragment.key, keys[i]);
	}
	sink_close(&sink);
}

/* A line in three segments; without the second, the third has no place. */
TEST(parse__segments)
{
	for (uint32_t lost = 0; lost < 2; lost++) {
		struct sink sink;
		uint8_t *at;

		for (uint32_t i = 0; i < ROW; i++)
			row[i] = (uint8_t)(i + 1);
		begin(&sink, true);
		at = put_message(put_packet(65535), 1, CMP_SEGMENT_FIRST, CMP_CSI2_BYTES + 10);
		at = lull_bytes_copy(put_csi2(at, 1, 2, 0x2c, ROW), row, 10);
		assert_int_equal(take(&sink, at), LULL_FRAME_FRAGMENT);
		at = put_message(put_packet(0), 1, CMP_SEGMENT_MIDDLE, 8);
		at = lull_bytes_copy(at, row + 10, 8);
		if (lost == 0)
			assert_int_equal(take(&sink, at), LULL_FRAME_FRAGMENT);
		at = put_message(put_packet(1), 1, CMP_SEGMENT_LAST, 6);
		at = lull_bytes_copy(at, row + 18, 6);
		assert_int_equal(take(&sink, at),
				 lost == 0 ? LULL_FRAME_FRAGMENT : LULL_FRAME_NOTHING);
		assert_int_equal(memcmp(sink.data + ROW, row, ROW) == 0, lost == 0);
		sink_close(&sink);
	}
}

/* Two frames of equal height tell the geometry; lines may count from 0. */
TEST(parse__learns_the_geometry)
{
	struct sink sink;
	uint8_t *at;

	begin(&sink, false);
	for (uint16_t frame = 1; frame <= 3; frame++) {
		at = put_packet(frame);
		for (uint16_t i = 0; i < 4; i++)
			at = put_line(at, 10 * frame, frame, i);
		at = put_end(at, 10 * frame + 1, frame);
		assert_int_equal(take(&sink, at), LULL_FRAME_FRAGMENT);
		assert_int_equal(sink.there[0], frame == 3);
	}
	assert_int_equal(sink.fragment.geometry.width, 16);
	assert_int_equal(sink.fragment.geometry.height, 4);
	assert_int_equal(sink.fragment.geometry.pixel, LULL_PIXEL_RAW12_CSI);
	packet[5] ^= 1;
	assert_int_equal(take(&sink, at), LULL_FRAME_FOREIGN);
	sink_close(&sink);
}
