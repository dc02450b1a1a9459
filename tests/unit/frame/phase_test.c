/* SPDX-License-Identifier: BSD-3-Clause */

#include <lull/base.h>

#include "case.h"
#include "frame/phase.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define BYTES 3686400
#define PERIOD (33 * MS)

/* A camera: frames of @p span_ns each period, fetched in steps of 100 us. Returns the time. */
static uint64_t
frames(struct lull_phase *phase, uint64_t now_ns, uint32_t count, uint64_t span_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		lull_phase_begin(phase, now_ns);
		for (uint64_t at = 100 * US; at <= span_ns; at += 100 * US)
			lull_phase_news(phase, now_ns + at, BYTES * 100 * US / span_ns);
		lull_phase_end(phase, now_ns + span_ns, BYTES, true);
		now_ns += PERIOD;
	}
	return now_ns - PERIOD + span_ns;
}

TEST(phase_quiet_until__unknown_at_first)
{
	struct lull_phase phase = { .open = false };

	/* nothing to go by; within the first frame: at once */
	assert_int_equal(lull_phase_quiet_until_ns(&phase, MS, BYTES), 0);
	lull_phase_begin(&phase, MS);
	assert_int_equal(lull_phase_quiet_until_ns(&phase, MS, BYTES), MS);
}

/* Between frames: until shortly before the next end. */
TEST(phase_quiet_until__by_the_period)
{
	struct lull_phase phase = { .open = false };
	uint64_t end_ns = frames(&phase, MS, 60, 2 * MS);
	uint64_t quiet_until_ns = lull_phase_quiet_until_ns(&phase, end_ns, BYTES);

	assert_in_range(phase.period_ns, PERIOD - US, PERIOD + US);
	assert_in_range(quiet_until_ns, end_ns + PERIOD - PERIOD / 8, end_ns + PERIOD - 49 * US);
	/* awake when it is due */
	assert_true(lull_phase_quiet_until_ns(&phase, end_ns + PERIOD, BYTES) <= end_ns + PERIOD);
	/* one is missing: looks now and then; off: who knows */
	assert_true(lull_phase_quiet_until_ns(&phase, end_ns + 2 * PERIOD, BYTES) >
		    end_ns + 2 * PERIOD);
	assert_int_equal(lull_phase_quiet_until_ns(&phase, end_ns + LULL_NS_PER_S, BYTES), 0);
}

/* Within a frame: half of what is left, as the sender may hurry. */
TEST(phase_quiet_until__by_the_bytes_left)
{
	struct lull_phase phase = { .open = false };
	uint64_t begin_ns = frames(&phase, MS, 60, 20 * MS) + 13 * MS;

	lull_phase_begin(&phase, begin_ns);
	for (uint64_t at = MS; at < 20 * MS; at += MS) {
		uint64_t quiet_until_ns;

		lull_phase_news(&phase, begin_ns + at, BYTES / 20);
		quiet_until_ns = lull_phase_quiet_until_ns(&phase, begin_ns + at, BYTES);
		assert_in_range(quiet_until_ns, begin_ns + at + (20 * MS - at) / 2 - 200 * US,
				begin_ns + at + (20 * MS - at) / 2);
	}
	/* of a picture of unknown size nothing can be told */
	assert_int_equal(lull_phase_quiet_until_ns(&phase, begin_ns + MS, 0), begin_ns + MS);
}

/* Incomplete frames and frames that did not come leave the period as it is. */
TEST(phase_end__survives_losses)
{
	struct lull_phase phase = { .open = false };
	uint64_t end_ns = frames(&phase, MS, 60, 2 * MS);

	lull_phase_begin(&phase, end_ns + PERIOD - 2 * MS);
	lull_phase_end(&phase, end_ns + PERIOD + 20 * MS, BYTES, false);
	frames(&phase, end_ns + 3 * PERIOD - 2 * MS, 3, 2 * MS);
	assert_in_range(phase.period_ns, PERIOD - 10 * US, PERIOD + 10 * US);
	/* another rate is another period */
	phase.last_ns = 0;
	for (uint64_t at = 1; at < 4; at++) {
		lull_phase_begin(&phase, at * 10 * MS + LULL_NS_PER_S);
		lull_phase_end(&phase, at * 10 * MS + LULL_NS_PER_S + MS, BYTES, true);
	}
	assert_int_equal(phase.period_ns, 10 * MS);
}

/* What ends a frame: half a period of silence, but not the pause between two fields. */
TEST(phase_silence__leaves_pauses_alone)
{
	struct lull_phase phase = { .open = false };
	uint64_t now_ns;

	assert_int_equal(lull_phase_silence_ns(&phase), 0);
	now_ns = frames(&phase, MS, 60, 2 * MS) + 31 * MS;
	assert_in_range(lull_phase_silence_ns(&phase), PERIOD / 2 - US, PERIOD / 2 + US);
	for (uint32_t i = 0; i < 8; i++) {
		lull_phase_begin(&phase, now_ns);
		lull_phase_news(&phase, now_ns + MS, BYTES / 2);
		lull_phase_news(&phase, now_ns + PERIOD / 2, BYTES / 4);
		lull_phase_end(&phase, now_ns + PERIOD / 2 + MS, BYTES, true);
		if (i >= 2) /* the period is found again */
			assert_in_range(lull_phase_silence_ns(&phase), PERIOD * 2 / 3,
					PERIOD * 3 / 4 + MS);
		now_ns += PERIOD;
	}
	/* a pause of long ago is forgotten */
	frames(&phase, now_ns, 200, 2 * MS);
	assert_in_range(lull_phase_silence_ns(&phase), PERIOD / 2 - US, PERIOD / 2 + MS);
}
