/* SPDX-License-Identifier: BSD-3-Clause */
/* In virtual time: a loop that rests ends incomplete frames in time, whichever governor it has. */
#include <stdlib.h>
#include <string.h>

#include <lull/frame.h>
#include <lull/idle.h>

#include "case.h"
#include "base/prng.h"
#include "frame/phase.h"
#include "idle/governor.h"

#define BYTES 100 /* of a packet */
#define PACKETS 50
#define FRAME_BYTES (BYTES * PACKETS)
#define BUFFERS 4
#define CAMERAS 2
#define PERIOD_NS (10 * LULL_NS_PER_MS)
#define GAP_NS (60 * LULL_NS_PER_US) /* between packets */
#define DEADLINE_NS (6 * LULL_NS_PER_MS)
#define END_NS (400 * LULL_NS_PER_MS)
#define ITERATION_NS (2 * LULL_NS_PER_US)
#define OVERSHOOT_NS (20 * LULL_NS_PER_US) /* of a rest, at most */

struct camera {
	struct lull_assembler *assembler;
	struct lull_phase phase;
	uint64_t begin_ns;
	uint64_t number; /* frame whose turn it is */
	uint32_t packet;
	uint32_t ended, late;
	uint64_t late_ns_max;
	uint8_t buffers[BUFFERS][FRAME_BYTES];
};
struct stand {
	struct lull_idle *idle;
	uint64_t now_ns, rested_ns;
	struct lull_prng prng;
	struct camera cameras[CAMERAS];
};

static void *
aligned(size_t size)
{
	void *memory = aligned_alloc(LULL_CACHE_LINE, (size + LULL_CACHE_LINE - 1) /
							      LULL_CACHE_LINE * LULL_CACHE_LINE);

	assert_non_null(memory);
	return memory;
}

static struct stand *
stand_open(const struct lull_idle_governor *governor)
{
	const struct lull_assembler_config config = {
		.buffer_bytes = FRAME_BYTES,
		.deadline_ns = DEADLINE_NS,
		.geometry = { .width = BYTES, .height = PACKETS, .pixel = LULL_PIXEL_MONO8 },
	};
	const struct lull_idle_limits limits = { .ring_pkts = 4096, .latency_ns = LULL_NS_PER_MS };
	struct stand *stand = aligned(sizeof(*stand));

	memset(stand, 0, sizeof(*stand));
	lull_prng_init(&stand->prng, 1, 0);
	stand->now_ns = LULL_NS_PER_S;
	assert_int_equal(lull_idle_init(aligned(lull_idle_size()), governor, &limits, stand->now_ns,
					&stand->idle),
			 0);
	for (uint32_t i = 0; i < CAMERAS; i++) {
		struct camera *camera = &stand->cameras[i];

		assert_int_equal(lull_assembler_init(aligned(lull_assembler_size(&config)), &config,
						     &camera->assembler),
				 0);
		for (uint32_t k = 0; k < BUFFERS; k++)
			lull_assembler_supply(camera->assembler, camera->buffers[k], NULL);
		camera->begin_ns = stand->now_ns + (i + 1) * PERIOD_NS / 3;
	}
	return stand;
}

static void
stand_close(struct stand *stand)
{
	for (uint32_t i = 0; i < CAMERAS; i++)
		free(stand->cameras[i].assembler);
	free(stand->idle);
	free(stand);
}

/* Packets that came up to now; of each frame one is lost, every fifth ends after its half. */
static uint32_t
camera_receive(struct camera *camera, uint64_t now_ns)
{
	static const uint8_t data[BYTES];
	uint32_t count = 0;

	for (;;) {
		uint64_t due_ns = camera->begin_ns + camera->number * PERIOD_NS;
		uint32_t packets = camera->number % 5 == 4 ? PACKETS / 2 : PACKETS;
		uint32_t packet = camera->packet;
		struct lull_frame_fragment fragment = { .key = camera->number + 1,
							.packet = packet };

		if (due_ns + packet * GAP_NS > now_ns)
			return count;
		fragment.range_count = 1;
		fragment.ranges[0] = (struct lull_frame_range){
			.offset = (uint64_t)packet * BYTES,
			.data = data,
			.bytes = BYTES,
		};
		if (packet == 0)
			lull_phase_begin(&camera->phase, now_ns);
		if (packet != 7) {
			lull_assembler_add(camera->assembler, now_ns, &fragment);
			lull_phase_news(&camera->phase, now_ns, BYTES);
			count++;
		}
		if (++camera->packet == packets) {
			camera->packet = 0;
			camera->number++;
		}
	}
}

static void
camera_give(struct camera *camera, uint64_t now_ns)
{
	struct lull_frame frame;

	lull_assembler_expire(camera->assembler, now_ns);
	while (lull_assembler_next(camera->assembler, now_ns, &frame)) {
		uint64_t took_ns = frame.stamps.done_ns - frame.stamps.first_ns;

		assert_int_equal(frame.reason, LULL_FRAME_DEADLINE);
		assert_true(took_ns >= DEADLINE_NS);
		camera->late_ns_max = LULL_MAX(camera->late_ns_max, took_ns - DEADLINE_NS);
		camera->ended++;
		lull_phase_end(&camera->phase, now_ns, frame.bytes, false);
		lull_assembler_supply(camera->assembler, frame.data, NULL);
	}
}

static void
stand_rest(struct stand *stand, uint16_t count, uint64_t due_ns, uint64_t quiet_until_ns)
{
	struct lull_iteration iteration = {
		.now_ns = stand->now_ns,
		.deadline_ns = due_ns == UINT64_MAX ? 0 : due_ns,
		.quiet_until_ns = quiet_until_ns == UINT64_MAX ? 0 : quiet_until_ns,
		.queue_pkts = &count,
		.queue_count = 1,
	};
	struct lull_rest rest = lull_idle_plan(stand->idle, &iteration);
	struct lull_wake wake = { .rest = rest, .reason = LULL_WAKE_TIMER };

	stand->now_ns += ITERATION_NS;
	if (rest.idle_state == LULL_IDLE_NONE)
		return;
	wake.begin_ns = stand->now_ns;
	stand->now_ns += rest.limit_ns + lull_prng_u64(&stand->prng) % OVERSHOOT_NS;
	wake.end_ns = stand->now_ns;
	stand->rested_ns += wake.end_ns - wake.begin_ns;
	lull_idle_wake(stand->idle, &wake);
}

static void
stand_iterate(struct stand *stand)
{
	uint64_t due_ns = UINT64_MAX, quiet_until_ns = UINT64_MAX;
	uint32_t count = 0;

	for (uint32_t i = 0; i < CAMERAS; i++) {
		struct camera *camera = &stand->cameras[i];
		uint64_t camera_ns;

		count += camera_receive(camera, stand->now_ns);
		camera_give(camera, stand->now_ns);
		camera_ns = lull_assembler_deadline_ns(camera->assembler);
		due_ns = LULL_MIN(due_ns, camera_ns);
		camera_ns = lull_phase_quiet_until_ns(&camera->phase, stand->now_ns, FRAME_BYTES);
		if (camera_ns != 0)
			quiet_until_ns = LULL_MIN(quiet_until_ns, camera_ns);
	}
	stand_rest(stand, (uint16_t)count, due_ns, quiet_until_ns);
}

/*
 * No frame is later than an iteration and what a rest takes longer than it was told to: below 100
 * us.
 */
TEST(deadline__holds_with_every_governor)
{
	uint32_t resting = 0;

	for (uint32_t i = 0; lull_idle_governors[i] != NULL; i++) {
		struct stand *stand = stand_open(lull_idle_governors[i]);
		uint64_t end_ns = stand->now_ns + END_NS;

		while (stand->now_ns < end_ns)
			stand_iterate(stand);
		for (uint32_t k = 0; k < CAMERAS; k++) {
			const struct camera *camera = &stand->cameras[k];

			print_message("%s: %u frames, at most %llu ns late, rested %llu us\n",
				      lull_idle_governors[i]->name, camera->ended,
				      (unsigned long long)camera->late_ns_max,
				      (unsigned long long)(stand->rested_ns / 1000));
			assert_true(camera->ended >= END_NS / PERIOD_NS - 3);
			assert_true(camera->late_ns_max <= ITERATION_NS + OVERSHOOT_NS);
		}
		resting += stand->rested_ns > END_NS / 4;
		stand_close(stand);
	}
	assert_true(resting >= 5);
}
