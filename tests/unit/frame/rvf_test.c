/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "sent.h"

#define FRAMES 40

/* One seed. Packets lost and swapped with neighbours: no fragment gets into another frame. */
TEST(parse__frames_stay_apart)
{
	static const uint32_t packet_bytes[] = { 128, 300 }; /* parts of lines, whole lines */
	struct lull_prng prng;

	lull_prng_init(&prng, SEED, 5);
	for (uint32_t round = 0; round < 2; round++) {
		struct lull_packet_format format = {
			.geometry = { .width = 120, .height = 64, .pixel = LULL_PIXEL_MONO8 },
			.packet_bytes = packet_bytes[round],
			.stream_id = 5,
		};
		struct lull_frame_protocol_config config = { .stream_id = 5 };
		struct lull_packet_plan plan;
		uint8_t packet[LULL_PACKET_BYTES_MAX];
		uint64_t keys[FRAMES] = { 0 };
		uint32_t lost = 0, fragments = 0;
		struct sink sink;
		uint8_t *data;

		assert_int_equal(lull_rvf_writer.plan(&plan, &format), 0);
		data = random_bytes(&prng, plan.rows.bytes);
		sink_open(&sink, "rvf", &config, plan.rows.bytes);
		for (uint64_t i = 0; i + 1 < (uint64_t)FRAMES * plan.count; i += 2) {
			bool swapped = lull_prng_below(&prng, 4) == 0;

			for (uint32_t k = 0; k < 2; k++) {
				uint64_t number = i + (swapped ? 1 - k : k);
				uint64_t n = number / plan.count;
				struct lull_packet_frame frame = {
					.first_packet = n * plan.count,
					.device_time = 1000 * n,
					.data = data,
				};
				size_t len = lull_rvf_writer.write(
					&plan, &frame, (uint32_t)(number % plan.count), packet);

				if (lull_prng_below(&prng, 10) == 0) {
					lost++;
					continue;
				}
				if (sink_take(&sink, packet, len) != LULL_FRAME_FRAGMENT)
					continue;
				fragments++;
				if (keys[n] == 0)
					keys[n] = sink.fragment.key;
				assert_int_equal(sink.fragment.key, keys[n]);
				assert_true(n == 0 || keys[n - 1] < keys[n]);
			}
		}
		assert_true(lost > 20);
		assert_true(fragments + lost + 4 > FRAMES * plan.count);
		assert_memory_equal(sink.data, data, plan.rows.bytes);
		packet[11] ^= 1; /* another stream */
		assert_int_equal(sink_take(&sink, packet, packet_bytes[round]), LULL_FRAME_FOREIGN);
		free(data);
		sink_close(&sink);
	}
}
