/* SPDX-License-Identifier: BSD-3-Clause */

#include "case.h"
#include "base/prng.h"
#include "sim/link.h"

#define G 1000000000ULL
#define FRAMES 1000000u

/* ns of so many frames back to back, rounded up once, in integers wide enough. */
static uint64_t
frames_ns(uint64_t rate_bps, uint32_t bytes, uint64_t frames)
{
	uint64_t bits = (uint64_t)(bytes + LULL_SIM_WIRE_BYTES) * 8 * frames;

	return (bits * G + rate_bps - 1) / rate_bps;
}

TEST(pass__back_to_back_does_not_drift)
{
	static const uint64_t rates[] = { 1 * G, 10 * G, 25 * G, 100 * G };
	static const uint16_t sizes[] = { 60, 124, 508, 1514 };

	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			struct lull_sim_link link;

			lull_sim_link_init(&link, rates[r], 0, 0);
			for (uint32_t i = 1; i <= FRAMES; i++) {
				uint64_t done_ns = lull_sim_link_pass(&link, 0, sizes[s]);

				if (done_ns != frames_ns(rates[r], sizes[s], i))
					fail_msg("%llu bit/s, frame %u of %u bytes: %llu ns",
						 (unsigned long long)rates[r], i, sizes[s],
						 (unsigned long long)done_ns);
			}
		}
}

/* The smallest frames of 10 GbE: 14.88 million in a second, as everybody knows. */
TEST(pass__line_rate_of_smallest_frames)
{
	struct lull_sim_link link;
	uint64_t frames = 0;

	lull_sim_link_init(&link, 10 * G, 0, 0);
	while (lull_sim_link_pass(&link, 0, 60) <= 10 * LULL_NS_PER_MS)
		frames++;
	assert_int_equal(frames, 148809);
}

TEST(pass__mixed_sizes_and_gaps)
{
	const uint64_t seed = 6;
	struct lull_sim_link link;
	struct lull_prng prng;
	uint64_t ready_ns = 0, free_ps = 0;

	print_message("seed %llu\n", (unsigned long long)seed);
	lull_prng_init(&prng, seed, 0);
	lull_sim_link_init(&link, 25 * G, 0, 0);
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t bytes = 60 + (uint32_t)lull_prng_below(&prng, 1455);

		ready_ns += lull_prng_below(&prng, 600);
		/* 25 Gbit/s: 40 ps per bit, no remainder */
		free_ps = LULL_MAX(free_ps, ready_ns * 1000) + (bytes + 24) * 320ULL;
		assert_int_equal(lull_sim_link_pass(&link, ready_ns, bytes),
				 (free_ps + 999) / 1000);
	}
}

TEST(pass__without_a_rate_takes_no_time)
{
	struct lull_sim_link link;

	lull_sim_link_init(&link, 0, 0, 0);
	assert_int_equal(lull_sim_link_pass(&link, 5, 1514), 5);
	assert_int_equal(lull_sim_link_pass(&link, 5, 60), 5);
	assert_int_equal(lull_sim_link_pass(&link, 7, 60), 7);
}

/* Twenty frames of 84 bytes at once, then 1 Gbit/s although the link has ten. */
TEST(shape__burst_then_rate)
{
	const uint32_t burst_frames = 20;
	struct lull_sim_link link;
	uint64_t done_ns = 0;

	lull_sim_link_init(&link, 10 * G, 1 * G, 84 * burst_frames);
	for (uint32_t i = 1; i <= FRAMES; i++) {
		done_ns = lull_sim_link_pass(&link, 0, 60);
		if (i <= burst_frames)
			assert_int_equal(done_ns, frames_ns(10 * G, 60, i));
		else
			assert_int_equal(done_ns, LULL_MAX(frames_ns(10 * G, 60, i),
							   (i - burst_frames) * 672ULL + 68));
	}
}

/* After silence the burst is there again, but never more than one. */
TEST(shape__fills_up_again)
{
	struct lull_sim_link link;
	uint64_t begin_ns = 0;

	lull_sim_link_init(&link, 10 * G, 1 * G, 84 * 4);
	for (uint32_t round = 0; round < 3; round++, begin_ns += LULL_NS_PER_S) {
		for (uint32_t i = 1; i <= 4; i++)
			assert_int_equal(lull_sim_link_pass(&link, begin_ns, 60),
					 begin_ns + frames_ns(10 * G, 60, i));
		assert_int_equal(lull_sim_link_pass(&link, begin_ns, 60), begin_ns + 672 + 68);
	}
}

/* The largest burst that lull-sim takes, at the lowest rate: 800 s worth. */
TEST(shape__large_burst)
{
	const uint32_t burst_bytes = 100000000;
	struct lull_sim_link link;

	lull_sim_link_init(&link, 10 * G, 1000000, burst_bytes);
	for (uint32_t i = 1; i <= burst_bytes / 1538; i++)
		assert_int_equal(lull_sim_link_pass(&link, 0, 1514), frames_ns(10 * G, 1514, i));
	for (uint32_t i = 0; i < 20; i++)
		lull_sim_link_pass(&link, 0, 1514);
	assert_true(lull_sim_link_pass(&link, 0, 1514) > 200 * LULL_NS_PER_MS);
}
