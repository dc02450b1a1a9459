/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "case.h"
#include "base/bytes.h"
#include "sent.h"

/* A picture of 8 x 4, mono: rows of 8 bytes. */
static struct lull_frame_protocol_config
config_small(bool interlaced, bool field_rows)
{
	return (struct lull_frame_protocol_config){
		.geometry = { .width = 8, .height = 4, .pixel = LULL_PIXEL_MONO8 },
		.interlaced = interlaced,
		.field_rows = field_rows,
	};
}

struct packet {
	uint16_t sequence, extended;
	uint32_t time, source;
	bool marker;
	uint8_t other_type; /* than 96 */
	uint16_t line, column, length;
};

static enum lull_frame_verdict
take(struct sink *sink, const struct packet *packet)
{
	uint8_t bytes[256] = { 0x80 };
	uint8_t *at = bytes + 1;

	at = lull_bytes_put(at, (packet->marker ? 0xe0u : 0x60u) + packet->other_type, 1);
	at = lull_bytes_put(at, packet->sequence, 2);
	at = lull_bytes_put(at, packet->time, 4);
	at = lull_bytes_put(at, packet->source, 4);
	at = lull_bytes_put(at, packet->extended, 2);
	at = lull_bytes_put(at, packet->length, 2);
	at = lull_bytes_put(at, packet->line, 2);
	at = lull_bytes_put(at, packet->column, 2);
	return sink_take(sink, bytes, (size_t)(at - bytes) + packet->length);
}

TEST(parse__line_bounds)
{
	struct lull_frame_protocol_config config = config_small(false, false);
	struct packet packet = { .length = 8, .line = 3 };
	struct sink sink;

	sink_open(&sink, "rfc4175", &config, 32);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	packet.line = 4;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_MALFORMED);
	packet.line = 0;
	packet.column = 1;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_MALFORMED);
	packet.length = 7;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	packet.length = 0;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.range_count, 0);
	sink_close(&sink);
}

/* Padding, contributing sources and an extension move the data, and are no data. */
TEST(parse__rtp_decoration)
{
	static const uint8_t
		bytes
			[] = {
				0xb2, 0x60, 0, 1, 0, 0,    0,    9, 0, 0, 0,
				7,    1,    1, 1, 1, 2,    2,    2, 2, /* 2 sources */
				0xbe, 0xde, 0, 1, 3, 3,    3,    3, 0, 0, 0,
				2,    0,    1, 0, 4, 0xaa, 0xbb, 0, 0, 3,
			};
	struct lull_frame_protocol_config config = config_small(false, false);
	uint8_t changed[sizeof(bytes)];
	struct sink sink;

	sink_open(&sink, "rfc4175", &config, 32);
	assert_int_equal(sink_take(&sink, bytes, sizeof(bytes)), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.ranges[0].offset, 12);
	assert_int_equal(sink.data[12], 0xaa);
	assert_int_equal(sink.data[13], 0xbb);
	for (size_t i = 0; i + 1 < sizeof(bytes); i++)
		if (i != sizeof(bytes) - 2) /* what ends in 0 has no padding */
			assert_int_not_equal(sink_take(&sink, bytes, i), LULL_FRAME_FRAGMENT);
	memcpy(changed, bytes, sizeof(bytes));
	changed[sizeof(bytes) - 1] = 200; /* more padding than packet */
	assert_int_equal(sink_take(&sink, changed, sizeof(bytes)), LULL_FRAME_MALFORMED);
	memcpy(changed, bytes, sizeof(bytes));
	changed[0] = 0x40;
	assert_int_equal(sink_take(&sink, changed, sizeof(bytes)), LULL_FRAME_FOREIGN);
	changed[0] = 0x80;
	changed[1] = 200; /* a control packet */
	assert_int_equal(sink_take(&sink, changed, sizeof(bytes)), LULL_FRAME_FOREIGN);
	sink_close(&sink);
}

/* Write a packet of @p count lines of a byte, on and on through the picture of 8 x 4. */
static size_t
put_lines(uint8_t *bytes, uint32_t count)
{
	uint8_t *at = lull_bytes_fill(bytes, 14);

	bytes[0] = 0x80;
	bytes[1] = 0xe0;
	for (uint32_t i = 0; i < count; i++) {
		at = lull_bytes_put(at, 1, 2);
		at = lull_bytes_put(at, i / 8 % 4, 2);
		at = lull_bytes_put(at, (i + 1 < count ? 0x8000 : 0) | (i % 8), 2);
	}
	for (uint32_t i = 0; i < count; i++)
		at = lull_bytes_put(at, i, 1);
	return (size_t)(at - bytes);
}

/* More headers than a fragment has ranges make more fragments; the last of them ends the frame. */
TEST(parse__many_headers)
{
	static const uint32_t counts[] = { 31, 32, 33, 64, 65, 1300 };
	struct lull_frame_protocol_config config = config_small(false, false);
	uint8_t bytes[16384];
	struct sink sink;

	for (uint32_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		uint32_t count = counts[k];
		size_t len = put_lines(bytes, count);

		sink_open(&sink, "rfc4175", &config, 32);
		assert_int_equal(sink_take(&sink, bytes, len), LULL_FRAME_FRAGMENT);
		assert_int_equal(sink.counts[LULL_FRAME_FRAGMENT], (count + 31) / 32);
		assert_int_equal(sink.ends, 1);
		for (uint32_t i = 0; i < 32; i++) {
			uint32_t times = count / 32 + (i < count % 32);

			assert_int_equal(sink.there[i], times);
			if (times > 0)
				assert_int_equal(sink.data[i], (uint8_t)(i + 32 * (times - 1)));
		}
		sink_close(&sink);
	}
	/* Headers without end are malformed, and what goes on for ever is not read here. */
	sink_open(&sink, "rfc4175", &config, 32);
	put_lines(bytes, 33);
	assert_int_equal(sink_take(&sink, bytes, 14 + 20 * 6), LULL_FRAME_MALFORMED);
	assert_int_equal(sink_take(&sink, bytes, 14 + 33 * 7 - 1), LULL_FRAME_MALFORMED);
	bytes[14 + 32 * 6 + 3] = 4; /* no such row: nothing of the packet is used */
	assert_int_equal(sink_take(&sink, bytes, 14 + 33 * 7), LULL_FRAME_MALFORMED);
	assert_int_equal(sink_take(&sink, bytes, put_lines(bytes, 2100)), LULL_FRAME_OTHER);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(sink.there[i], 0);
	sink_close(&sink);
}

/* A width that is no whole number of groups: the last one comes whole, or cut as GStreamer does. */
TEST(parse__last_group_may_be_cut)
{
	static const struct {
		enum lull_pixel pixel;
		uint32_t width;
		uint16_t column, cut, whole;
	} rows[] = {
		{ LULL_PIXEL_UYVY8, 7, 4, 6, 8 },       { LULL_PIXEL_UYVY10_4175, 7, 4, 7, 10 },
		{ LULL_PIXEL_YUV420_4175, 7, 6, 3, 6 }, { LULL_PIXEL_YUV411_4175, 7, 0, 10, 12 },
		{ LULL_PIXEL_YUV411_4175, 9, 8, 1, 6 }, { LULL_PIXEL_YUV411_4175, 10, 8, 3, 6 },
		{ LULL_PIXEL_RGB12_4175, 3, 2, 4, 9 },
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lull_frame_protocol_config config = {
			.geometry = { .width = rows[i].width, .height = 2, .pixel = rows[i].pixel },
		};
		struct packet packet = { .column = rows[i].column };
		uint64_t bytes = lull_frame_bytes(&config.geometry), row_bytes, begin;
		struct sink sink;

		sink_open(&sink, "rfc4175", &config, bytes);
		row_bytes = rows[i].pixel == LULL_PIXEL_YUV420_4175 ? bytes : bytes / 2;
		begin = row_bytes - rows[i].whole;
		for (packet.length = 1; packet.length <= rows[i].whole + 1; packet.length++) {
			struct lull_pixel_group group = lull_pixel_group(rows[i].pixel);
			bool fits =
				packet.length == rows[i].cut || (packet.length % group.bytes == 0 &&
								 packet.length <= rows[i].whole);

			assert_int_equal(take(&sink, &packet),
					 fits ? LULL_FRAME_FRAGMENT : LULL_FRAME_MALFORMED);
		}
		for (uint64_t k = begin; k < row_bytes; k++)
			assert_true(sink.there[k] > 0);
		sink_clear(&sink);
		packet.length = rows[i].cut;
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		for (uint64_t k = 0; k < bytes; k++)
			assert_int_equal(sink.there[k], k >= begin && k < row_bytes);
		for (uint64_t k = begin + rows[i].cut; k < row_bytes; k++)
			assert_int_equal(sink.data[k], 128);
		sink_close(&sink);
	}
}

/* The upper bits count only after they were seen to, and no longer when they stand still. */
TEST(parse__extended_number_must_prove_itself)
{
	struct lull_frame_protocol_config config = config_small(false, false);
	struct packet packet = { .length = 8, .sequence = 65535, .extended = 5 };
	struct sink sink;
	uint64_t number;

	sink_open(&sink, "rfc4175", &config, 32);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	number = sink.fragment.packet;
	packet.extended = 9; /* not trusted yet */
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.packet, number);
	packet.sequence = 0;
	packet.extended = 10;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.packet, number + 1);
	packet.extended = 13;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.packet, number + 1 + 3 * 65536);
	packet.sequence = 65535; /* the last of the turn before comes late */
	packet.extended = 12;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.packet, number + 3 * 65536);
	packet.sequence = 0; /* stands still over a wrap: ignored from here on */
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	packet.extended = 500;
	packet.sequence = 1;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.packet, number + 2 + 3 * 65536);
	sink_close(&sink);
}

TEST(parse__time_wraps_and_sender_restarts)
{
	struct lull_frame_protocol_config config = config_small(false, false);
	struct packet packet = { .length = 8, .time = 0xfffffff0, .source = 1 };
	struct sink sink;
	uint64_t key;

	sink_open(&sink, "rfc4175", &config, 32);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	key = sink.fragment.key;
	packet.time = 0x10;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.key, key + 0x20);
	packet.time = 0xfffffff0;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.key, key);
	for (uint16_t i = 0; i < 10; i++) { /* a stray one between does not count */
		packet.source = 2;
		packet.sequence = i;
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FOREIGN);
		packet.source = 1;
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	}
	packet = (struct packet){ .length = 8, .time = 5, .source = 2 };
	for (packet.sequence = 100; packet.sequence < 115; packet.sequence++)
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FOREIGN);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_true(sink.fragment.key > key + (1ULL << 39));
	assert_int_equal((uint32_t)sink.fragment.key, 5);
	sink_close(&sink);
}

/* A few packets of another source prove nothing while the one that is followed lives. */
TEST(parse__another_source_does_not_displace_a_living_one)
{
	struct lull_frame_protocol_config config = config_small(false, false);
	struct packet packet = { .length = 8, .time = 1000, .source = 1 };
	struct packet other = { .length = 8, .time = 5, .source = 2 };
	struct sink sink;
	uint64_t key;

	sink_open(&sink, "rfc4175", &config, 32);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	key = sink.fragment.key;
	for (uint32_t i = 0; i < 100; i++) {
		for (uint32_t j = 0; j < 10; j++, other.sequence++)
			assert_int_equal(take(&sink, &other), LULL_FRAME_FOREIGN);
		packet.sequence++;
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		assert_int_equal(sink.fragment.key, key);
	}
	sink_close(&sink);
}

/* Nor do packets of another payload, such as sound, that name the same source. */
TEST(parse__another_payload_type)
{
	struct lull_frame_protocol_config config = config_small(false, false);
	struct packet packet = { .length = 8, .time = 1000, .source = 1 };
	struct sink sink;

	sink_open(&sink, "rfc4175", &config, 32);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	packet.other_type = 1;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FOREIGN);
	packet.other_type = 0;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	sink_close(&sink);
}

/* After silence the first packet of another source counts: nothing of its picture is lost. */
TEST(quiet__another_source_is_followed_at_once)
{
	struct lull_frame_protocol_config config = config_small(false, false);
	struct packet packet = { .length = 8, .time = 1000, .source = 1 };
	struct sink sink;
	uint64_t key;

	sink_open(&sink, "rfc4175", &config, 32);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	key = sink.fragment.key;
	lull_frame_protocol_find("rfc4175")->quiet(sink.state, true);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_int_equal(sink.fragment.key, key);
	packet.source = 2;
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FOREIGN);
	lull_frame_protocol_find("rfc4175")->quiet(sink.state, true);
	assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
	assert_true(sink.fragment.key > key + (1ULL << 39));
	sink_close(&sink);
}

TEST(parse__two_fields_make_a_frame)
{
	for (uint16_t rows = 0; rows < 2; rows++) {
		struct lull_frame_protocol_config config = config_small(true, rows != 0);
		struct packet packet = { .length = 8 };
		uint64_t first, second;
		struct sink sink;

		sink_open(&sink, "rfc4175", &config, 32);
		packet.time = 1000;
		packet.line = rows != 0 ? 1 : 2;
		packet.marker = true;
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		assert_int_equal(sink.fragment.ranges[0].offset, 16);
		assert_int_equal(sink.fragment.flags & LULL_FRAME_END, 0);
		first = sink.fragment.key;
		packet.time = 4000; /* field 0 of the next frame overtakes */
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		second = sink.fragment.key;
		assert_int_not_equal(first, second);
		packet.time = 2500;
		packet.line = 0x8000 | (rows != 0 ? 1 : 3);
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		assert_int_equal(sink.fragment.key, first);
		assert_int_equal(sink.fragment.ranges[0].offset, 24);
		assert_int_not_equal(sink.fragment.flags & LULL_FRAME_END, 0);
		packet.time = 5500;
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		assert_int_equal(sink.fragment.key, second);
		packet.time = 8500; /* its field 0 was lost */
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		assert_true(sink.fragment.key > second);
		packet.time = 10000;
		packet.line = 0;
		assert_int_equal(take(&sink, &packet), LULL_FRAME_FRAGMENT);
		assert_int_equal((uint32_t)sink.fragment.key, 10000);
		sink_close(&sink);
	}
}

TEST(init__refuses)
{
	struct lull_frame_protocol_config config = config_small(false, false);
	const struct lull_frame_protocol *protocol = lull_frame_protocol_find("rfc4175");
	uint64_t memory[128] = { 0 };

	assert_true(protocol->state_size <= sizeof(memory));
	config.geometry.height = 0;
	assert_int_equal(protocol->init(memory, &config), -EINVAL);
	config = config_small(true, false);
	config.geometry.pixel = LULL_PIXEL_YUV420_4175;
	assert_int_equal(protocol->init(memory, &config), -EINVAL);
	assert_null(lull_frame_protocol_find("rtp"));
	assert_string_equal(lull_frame_verdict_name(LULL_FRAME_MALFORMED), "malformed");
}
