/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers and the assembler, judged together: see together.h. */
#include "together.h"

#include "case.h"

#define NONE UINT32_MAX
#define GAP_NS (33 * LULL_NS_PER_MS)

static struct together together;

static struct lull_packet_format
format_of(uint32_t width, uint32_t height, uint32_t packet_bytes)
{
	return (struct lull_packet_format){
		.geometry = { .width = width, .height = height, .pixel = LULL_PIXEL_MONO8 },
		.packet_bytes = packet_bytes,
		.stream_id = 0x102,
		.payload_type = 96,
	};
}

static void
begin(const char *protocol, const struct lull_packet_format *format, bool told)
{
	const struct lull_assembler_config assembly = {
		.buffer_bytes = TOGETHER_BYTES_MAX,
		.buffer_max = TOGETHER_BUFFERS,
		.silence_ns = GAP_NS / 2,
		.geometry = told ? format->geometry : (struct lull_frame_geometry){ .width = 0 },
	};
	struct lull_frame_protocol_config config = {
		.interlaced = format->interlaced,
		.field_rows = format->field_rows,
		.geometry = told ? format->geometry : (struct lull_frame_geometry){ .width = 0 },
	};

	assert_true(together_open(&together, protocol, format, &config, &assembly));
}

static void
frame(uint32_t lost)
{
	together_whole(&together, lost);
	together_wait(&together, GAP_NS);
}

static uint64_t
complete(void)
{
	return together.given[LULL_FRAME_COMPLETE];
}

/* Two packets per picture, a full one and a short one, and another size from the third frame on. */
TEST(gvsp__packet_size_changes)
{
	static const uint32_t bytes[][2] = { { 8900, 7000 }, { 7000, 8900 }, { 6500, 8900 } };

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct lull_packet_format format = format_of(128, 100, bytes[i][0]);

		begin("gvsp", &format, false);
		frame(NONE);
		frame(NONE);
		together.format.packet_bytes = bytes[i][1];
		for (uint32_t k = 0; k < 3; k++)
			frame(NONE);
		assert_int_equal(complete(), 5);
		together_close(&together);
	}
}

/* The same, each packet of the frame that is the first of the new size lost in turn. */
TEST(gvsp__packet_size_changes_with_loss)
{
	for (uint32_t lost = 0; lost < 4; lost++) {
		struct lull_packet_format format = format_of(128, 100, 8900);

		begin("gvsp", &format, false);
		frame(NONE);
		together.format.packet_bytes = 7000;
		frame(lost);
		assert_int_equal(complete(), lost == 1 || lost == 2 ? 1 : 2);
		frame(NONE);
		assert_int_equal(complete(), lost == 1 || lost == 2 ? 2 : 3);
		together_close(&together);
	}
}

/* A region that grows or shrinks while the leader that tells it is lost: no picture of it. */
TEST(gvsp__region_changes_without_leader)
{
	static const uint32_t heights[] = { 120, 50, 70, 101 };

	for (size_t i = 0; i < sizeof(heights) / sizeof(heights[0]); i++) {
		struct lull_packet_format format = format_of(128, 100, 1400);
		const struct lull_assembler_counters *counters;

		begin("gvsp", &format, false);
		frame(NONE);
		together.format.geometry.height = heights[i];
		frame(0);
		counters = lull_assembler_counters(together.assembler);
		assert_int_equal(complete(), 1);
		assert_int_equal(counters->frames_unsized, 1);
		frame(NONE);
		assert_int_equal(complete(), 2);
		together_close(&together);
	}
}

/* A lost leader costs nothing when nothing changed, and nothing is late by it. */
TEST(gvsp__leader_lost)
{
	for (uint32_t packet_bytes = 1288; packet_bytes <= 1400; packet_bytes += 112) {
		struct lull_packet_format format = format_of(128, 100, packet_bytes);

		begin("gvsp", &format, false);
		frame(NONE);
		together_whole(&together, 0);
		assert_int_equal(complete(), 2);
		assert_int_equal(together.presumed, 0);
		together_close(&together);
	}
}

/* Of one whose last packets are full and whose trailer is lost too nobody knows where it ends. */
TEST(gvsp__leader_and_trailer_lost)
{
	struct lull_packet_format format = format_of(128, 100, 1288); /* 10 packets of 1280 */

	begin("gvsp", &format, false);
	frame(NONE);
	assert_true(together_frame(&together));
	together.next = 1;
	together_go(&together, 10);
	assert_int_equal(complete(), 1);
	together_wait(&together, GAP_NS);
	assert_int_equal(complete(), 2);
	assert_int_equal(together.presumed, 1);
	together_close(&together);
}

/* Blocks 1, 2, 3 again, in packets of another size: nothing is known of them from before. */
TEST(gvsp__restarts_with_another_packet_size)
{
	for (uint32_t quiet = 0; quiet < 2; quiet++) {
		struct lull_packet_format format = format_of(128, 100, 1400);

		begin("gvsp", &format, false);
		for (uint32_t i = 0; i < 3; i++)
			frame(NONE);
		together_restart(&together);
		together.format.packet_bytes = 1000;
		if (quiet != 0) {
			together_wait(&together, 200 * LULL_NS_PER_MS);
			together.protocol->quiet(together.state, true);
			lull_assembler_quiet(together.assembler);
		}
		for (uint32_t i = 0; i < 3; i++)
			frame(NONE);
		assert_int_equal(complete(), 6);
		together_close(&together);
	}
}

/* Heights that are learned: a higher picture is no complete one of the height before. */
TEST(cmp__height_changes)
{
	struct lull_packet_format format = format_of(128, 40, 1400);

	begin("cmp", &format, false);
	for (uint32_t i = 0; i < 4; i++)
		frame(NONE);
	assert_int_equal(complete(), 2);
	together.format.geometry.height = 50;
	for (uint32_t i = 0; i < 4; i++)
		frame(NONE);
	assert_int_equal(complete(), 4);
	assert_int_equal(lull_assembler_counters(together.assembler)->frames_unsized, 1);
	together_close(&together);
}

/* Packets of field @p field of the frame sent last. */
static void
field(uint32_t field)
{
	const struct lull_packet_plan *plan = &together.sent[together.number % TOGETHER_SENT].plan;

	together.next = field == 0 ? 0 : plan->first_count;
	together_go(&together, field == 0 ? plan->first_count : plan->count - plan->first_count);
}

/* The second field of a frame and the first one of the next are lost: the others are no frame. */
TEST(rfc4175__fields_of_two_frames)
{
	for (uint32_t before = 0; before < 3; before++) {
		for (uint32_t field_time = 0; field_time <= 1500; field_time += 1500) {
			struct lull_packet_format format = format_of(128, 100, 1400);

			format.interlaced = true;
			format.field_time = field_time;
			begin("rfc4175", &format, true);
			for (uint32_t i = 0; i < before; i++)
				frame(NONE);
			assert_true(together_frame(&together));
			field(0);
			assert_true(together_frame(&together));
			field(1);
			assert_int_equal(complete(), before);
			for (uint32_t i = 0; i < 3; i++)
				frame(NONE);
			assert_int_equal(complete(), before + 3);
			assert_int_equal(together.given[LULL_FRAME_DEADLINE], 2);
			together_close(&together);
		}
	}
}
