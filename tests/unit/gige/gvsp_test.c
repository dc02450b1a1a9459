/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "base/bytes.h"
#include "pixel/pfnc.h"
#include "unit/frame/sent.h"

#define PICTURE_BYTES 1000 /* 50 x 20, mono */

static const struct lull_packet_format format = {
	.geometry = { .width = 50, .height = 20, .pixel = LULL_PIXEL_MONO8 },
	.packet_bytes = 128,
};
static struct lull_packet_plan plan;
static uint8_t picture[PICTURE_BYTES];

static enum lull_frame_verdict
send(struct sink *sink, uint64_t block, uint32_t index, bool resent)
{
	struct lull_packet_frame frame = { .key = block, .data = picture, .resent = resent };
	uint8_t packet[LULL_PACKET_BYTES_MAX];

	return sink_take(sink, packet, lull_gvsp_writer.write(&plan, &frame, index, packet));
}

static void
begin(struct sink *sink, uint32_t packet_bytes)
{
	struct lull_frame_protocol_config config = { .packet_bytes = packet_bytes };

	for (uint32_t i = 0; i < PICTURE_BYTES; i++)
		picture[i] = (uint8_t)(i * 7 >> 3);
	assert_int_equal(lull_gvsp_writer.plan(&plan, &format), 0);
	assert_int_equal(plan.count, 11); /* 8 of 120 bytes, one of 40 */
	sink_open(sink, "gvsp", &config, PICTURE_BYTES);
}

/* Nothing is put anywhere before the size of packets is known for sure. */
TEST(parse__learns_the_packet_size)
{
	struct sink sink;

	begin(&sink, 0);
	assert_int_equal(send(&sink, 1, 0, false), LULL_FRAME_FRAGMENT);
	assert_int_equal(send(&sink, 1, 9, false), LULL_FRAME_NOTHING);  /* the short one first */
	assert_int_equal(send(&sink, 1, 3, false), LULL_FRAME_FRAGMENT); /* a longer one before */
	assert_int_equal(sink.fragment.ranges[0].offset, 240);
	assert_int_equal(send(&sink, 1, 5, false), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.ranges[0].offset, 480);
	assert_int_equal(send(&sink, 1, 9, false), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.ranges[0].offset, 960);
	assert_int_equal(sink.fragment.ranges[0].bytes, 40);
	assert_memory_equal(sink.data + 960, picture + 960, 40);
	sink_close(&sink);
}

/* Told the size, packets have their place without a leader, from the last known picture on. */
TEST(parse__told_the_packet_size)
{
	struct sink sink;

	begin(&sink, 128 + 28);
	assert_int_equal(send(&sink, 65535, 9, false), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.ranges[0].offset, 960);
	for (uint32_t i = 0; i < plan.count; i++)
		assert_int_equal(send(&sink, 1, i, i % 2 != 0), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.key & 0xffff, 1);
	assert_int_equal(sink.fragment.flags & LULL_FRAME_END, LULL_FRAME_END);
	sink_close(&sink);
}

/* Packets of blocks long past displace none that is on its way. */
TEST(parse__stale_ids)
{
	uint8_t other[8 + 36] = { 0, 0, 0, 101, 1 };
	struct sink sink;

	begin(&sink, 128 + 28);
	assert_int_equal(send(&sink, 100, 0, false), LULL_FRAME_FRAGMENT);
	for (uint64_t stale = 20; stale < 60; stale++)
		assert_int_equal(send(&sink, stale, 3, false), LULL_FRAME_FRAGMENT);
	other[11] = 9; /* a payload type without a picture */
	assert_int_equal(sink_take(&sink, other, sizeof(other)), LULL_FRAME_OTHER);
	assert_int_equal(send(&sink, 100, 4, false), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.ranges[0].offset, 360);
	sink_close(&sink);
}

TEST(parse__answers_and_what_is_gone)
{
	struct lull_packet_frame frame = { .key = 7, .data = picture };
	static const uint16_t later[] = { 0x8010, 0x8014 };
	uint8_t packet[LULL_PACKET_BYTES_MAX];
	struct sink sink;
	size_t len;

	begin(&sink, 128 + 28);
	assert_int_equal(send(&sink, 7, 2, true), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.flags & LULL_FRAME_RESENT, LULL_FRAME_RESENT);
	len = lull_gvsp_write_gone(&plan, &frame, 3, packet);
	assert_int_equal(sink_take(&sink, packet, len), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.flags, LULL_FRAME_GONE);
	assert_int_equal(sink.fragment.packet, 3);
	assert_int_equal(sink.fragment.range_count, 0);
	for (size_t i = 0; i < 2; i++) {
		lull_bytes_put(packet, later[i], 2);
		assert_int_equal(sink_take(&sink, packet, len), LULL_FRAME_NOTHING);
	}
	lull_bytes_put(packet + 2, 0, 2); /* block 0 */
	assert_int_equal(sink_take(&sink, packet, len), LULL_FRAME_NOTHING);
	sink_close(&sink);
}

/* What follows the picture is no part of it; a short packet in the middle is none of this size. */
TEST(parse__chunks_and_short_packets)
{
	uint8_t packet[8 + 128] = { 0, 0, 0, 1, 3, 0, 0, 9 };
	struct sink sink;

	begin(&sink, 128 + 28);
	assert_int_equal(send(&sink, 1, 0, false), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink_take(&sink, packet, 8 + 120), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.ranges[0].bytes, 40);
	packet[7] = 10;
	assert_int_equal(sink_take(&sink, packet, 8 + 120), LULL_FRAME_NOTHING);
	packet[7] = 4;
	assert_int_equal(sink_take(&sink, packet, 8 + 119), LULL_FRAME_MALFORMED);
	assert_int_equal(sink_take(&sink, packet, 8 + 121), LULL_FRAME_MALFORMED);
	packet[7] = 0;
	assert_int_equal(sink_take(&sink, packet, 8 + 120), LULL_FRAME_MALFORMED);
	sink_close(&sink);
}

TEST(parse__all_in_one)
{
	struct lull_packet_format small = format;
	struct lull_frame_protocol_config config = { .packet_bytes = 0 };
	struct sink sink;

	small.all_in = true;
	small.packet_bytes = 1400;
	sink_open(&sink, "gvsp", &config, PICTURE_BYTES);
	assert_int_equal(lull_gvsp_writer.plan(&plan, &small), 0);
	assert_int_equal(send(&sink, 1, 0, false), LULL_FRAME_FRAGMENT);
	assert_true(sink_whole(&sink, &plan, picture, 1));
	assert_int_equal(sink.starts, 1);
	assert_int_equal(sink.ends, 1);
	sink_close(&sink);
}

TEST(pfnc__there_and_back)
{
	for (unsigned int i = 1; i < LULL_PIXEL_COUNT; i++) {
		uint32_t code = lull_pfnc_code((enum lull_pixel)i);

		assert_true(code == 0 || lull_pfnc_pixel(code) == (enum lull_pixel)i);
		/* the code says how many bits a pixel has, ours in a whole group */
		assert_true(code == 0 ||
			    (code >> 16 & 0xff) * lull_pixel_group((enum lull_pixel)i).columns ==
				    lull_pixel_group((enum lull_pixel)i).bytes * 8u);
		assert_int_equal(code != 0, lull_pfnc_name((enum lull_pixel)i) != NULL);
	}
	assert_int_equal(lull_pfnc_pixel(0x010c002b), LULL_PIXEL_BAYER_RG12_PACKED);
	assert_int_equal(lull_pfnc_pixel(0x010a0058), LULL_PIXEL_BAYER_RG10P);
	assert_int_equal(lull_pfnc_pixel(0x010c0006), LULL_PIXEL_MONO12_PACKED);
	assert_int_equal(lull_pfnc_pixel(0x02100032), LULL_PIXEL_YUYV8);
	assert_int_equal(lull_pfnc_pixel(0x01100005), LULL_PIXEL_MONO12);
	assert_int_equal(lull_pfnc_pixel(0x010c0059), LULL_PIXEL_BAYER_RG12P);
	assert_int_equal(lull_pfnc_pixel(0x12345678), LULL_PIXEL_UNKNOWN);
	/* YCbCr411_8_CbYYCrYY of three kinds */
	assert_int_equal(lull_pfnc_matrix(0x020c003c), LULL_PIXEL_MATRIX_UNTOLD);
	assert_int_equal(lull_pfnc_matrix(0x020c003f), LULL_PIXEL_BT601);
	assert_int_equal(lull_pfnc_matrix(0x020c0042), LULL_PIXEL_BT709);
}
