/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>

#include "case.h"
#include "sent.h"

struct shape {
	uint32_t width, height, padding, packet_bytes;
};

static const struct shape shapes[] = {
	{ 1, 1, 0, 128 },     { 2, 2, 0, 200 },     { 63, 47, 0, 300 }, { 64, 48, 0, 1400 },
	{ 129, 33, 7, 1400 }, { 640, 9, 0, 1472 },  { 641, 5, 0, 333 }, { 1920, 4, 64, 8972 },
	{ 2047, 3, 0, 1440 }, { 4096, 2, 0, 9000 },
};
#define SHAPE_COUNT (sizeof(shapes) / sizeof(shapes[0]))

/* Three frames, in order: the first may teach the reader, the others must be whole. */
static void
send_frames(const struct lull_packet_writer *writer, const struct lull_packet_plan *plan,
	    struct lull_prng *prng)
{
	struct lull_frame_protocol_config config = config_for(&plan->format, true);
	uint8_t packet[LULL_PACKET_BYTES_MAX];
	uint64_t last_key = 0;
	struct sink sink;

	sink_open(&sink, writer->name, &config, plan->rows.bytes);
	for (uint32_t i = 0; i < 3; i++) {
		uint8_t *data = random_bytes(prng, plan->rows.bytes);
		struct lull_packet_frame frame = {
			.key = 65535 + 2 * (uint64_t)i,
			.first_packet = 65530 + (uint64_t)i * plan->count,
			.device_time = 1000 + i,
			.data = data,
		};

		sink_clear(&sink);
		for (uint32_t k = 0; k < plan->count; k++) {
			size_t len = writer->write(plan, &frame, k, packet);

			assert_in_range(len, 1, plan->format.packet_bytes);
			assert_int_equal(sink_take(&sink, packet, len), LULL_FRAME_FRAGMENT);
			assert_true(k == 0 || plan->format.interlaced ||
				    sink.fragment.key == last_key);
			last_key = sink.fragment.key;
		}
		assert_true(sink_whole(&sink, plan, data, 1));
		assert_int_equal(sink.ends, 1);
		assert_int_equal(sink.starts, 1);
		free(data);
	}
	sink_close(&sink);
}

/* Every protocol, every pixel, sizes that end within a group, a row, a packet. */
TEST(write__what_is_written_is_read)
{
	struct lull_prng prng;
	uint32_t done = 0, refused = 0;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	for (uint32_t w = 0; lull_packet_writers[w] != NULL; w++) {
		const struct lull_packet_writer *writer = lull_packet_writers[w];
		uint32_t pixels = 0;

		for (unsigned int pixel = 1; pixel < LULL_PIXEL_COUNT; pixel++) {
			bool any = false;

			for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
				struct lull_packet_format format = {
					.geometry = { .width = shapes[i].width,
						      .height = shapes[i].height,
						      .pixel = (enum lull_pixel)pixel },
					.packet_bytes = shapes[i].packet_bytes,
					.stream_id = 0x1234,
					.extended = i % 2 != 0,
					.virtual_channel = 3,
				};
				struct lull_packet_plan plan;
				struct lull_frame_rows rows;
				int rc;

				if (shapes[i].padding != 0 && w != 3) {
					assert_true(lull_frame_rows_of(&format.geometry, &rows));
					format.geometry.row_bytes =
						rows.row_bytes + shapes[i].padding;
				}
				rc = writer->plan(&plan, &format);
				if (rc != 0) {
					assert_int_equal(rc, -ENOTSUP);
					refused++;
					continue;
				}
				send_frames(writer, &plan, &prng);
				any = true;
				done++;
			}
			pixels += any;
		}
		printf("%s: %u pixels\n", writer->name, (unsigned int)pixels);
		assert_true(pixels >= 18);
	}
	assert_true(done > 700);
	assert_true(refused > 0);
}

/* 9 KB rows in 128 byte packets and all other packet sizes: never longer than asked for. */
TEST(write__packet_sizes)
{
	struct lull_prng prng;

	lull_prng_init(&prng, SEED, 1);
	for (uint32_t w = 0; lull_packet_writers[w] != NULL; w++)
		for (uint32_t bytes = 128; bytes <= 700; bytes += 13) {
			struct lull_packet_format format = {
				.geometry = { .width = 190,
					      .height = 6,
					      .pixel = LULL_PIXEL_MONO16 },
				.packet_bytes = bytes,
			};
			struct lull_packet_plan plan;

			assert_int_equal(lull_packet_writers[w]->plan(&plan, &format), 0);
			send_frames(lull_packet_writers[w], &plan, &prng);
		}
}

TEST(plan__refuses)
{
	struct lull_packet_format format = {
		.geometry = { .width = 64, .height = 4, .pixel = LULL_PIXEL_YUV420_4175 },
		.packet_bytes = 1400,
	};
	struct lull_packet_plan plan;

	assert_int_equal(lull_cmp_writer.plan(&plan, &format), -ENOTSUP);
	assert_int_equal(lull_rvf_writer.plan(&plan, &format), -ENOTSUP);
	assert_int_equal(lull_gvsp_writer.plan(&plan, &format), -ENOTSUP);
	assert_int_equal(lull_rfc4175_writer.plan(&plan, &format), 0);
	format.interlaced = true;
	assert_int_equal(lull_rfc4175_writer.plan(&plan, &format), -ENOTSUP);
	format.packet_bytes = 127;
	assert_int_equal(lull_gvsp_writer.plan(&plan, &format), -EINVAL);
	format.packet_bytes = 9217;
	assert_int_equal(lull_gvsp_writer.plan(&plan, &format), -EINVAL);
	format.packet_bytes = 1400;
	format.geometry.width = 0;
	assert_int_equal(lull_gvsp_writer.plan(&plan, &format), -EINVAL);
	assert_null(lull_packet_writer_find("none"));
	assert_ptr_equal(lull_packet_writer_find("rvf"), &lull_rvf_writer);
}

/* Packets cut anywhere and with bytes damaged: whatever the verdict, nothing outside is touched. */
TEST(parse__cut_and_damaged)
{
	uint8_t packet[LULL_PACKET_BYTES_MAX];
	struct lull_prng prng;

	printf("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 2);
	for (uint32_t w = 0; lull_packet_writers[w] != NULL; w++) {
		const struct lull_packet_writer *writer = lull_packet_writers[w];
		struct lull_packet_format format = {
			.geometry = { .width = 61, .height = 7, .pixel = LULL_PIXEL_MONO8 },
			.packet_bytes = 300,
		};
		struct lull_frame_protocol_config config = config_for(&format, w != 1);
		struct lull_packet_frame frame = { .key = 7, .first_packet = 7 };
		struct lull_packet_plan plan;
		struct sink sink;
		uint8_t *data;

		assert_int_equal(writer->plan(&plan, &format), 0);
		data = random_bytes(&prng, plan.rows.bytes);
		frame.data = data;
		/* Damage may tell of larger pictures: room for what 48 bits of offset can name is
		 * not needed where the ranges are only walked. */
		sink_open(&sink, writer->name, &config, plan.rows.bytes);
		for (uint32_t round = 0; round < 3000; round++) {
			uint32_t index = (uint32_t)lull_prng_below(&prng, plan.count);
			size_t len = writer->write(&plan, &frame, index, packet);
			struct lull_frame_fragment fragment;
			uint8_t *exact;

			if (round < len * 3)
				len = round / 3;
			else
				for (uint64_t i = lull_prng_below(&prng, 4); i < 4; i++)
					packet[lull_prng_below(&prng, LULL_MIN(len, 48))] =
						(uint8_t)lull_prng_u64(&prng);
			exact = malloc(len + (len == 0));
			assert_non_null(exact);
			memcpy(exact, packet, len);
			for (uint32_t i = 0; i < 100; i++) {
				volatile uint8_t touched = 0;

				if (sink.protocol->parse(sink.state, exact, len, &fragment) !=
				    LULL_FRAME_FRAGMENT)
					break;
				assert_true(fragment.range_count <= LULL_FRAME_RANGES_MAX);
				for (uint32_t k = 0; k < fragment.range_count; k++)
					for (uint32_t b = 0; b < fragment.ranges[k].bytes; b++)
						touched = fragment.ranges[k].data[b];
				(void)touched;
				if ((fragment.flags & LULL_FRAME_MORE) == 0)
					break;
			}
			free(exact);
		}
		free(data);
		sink_close(&sink);
	}
}
