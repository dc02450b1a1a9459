/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sender whose packets are lost, doubled, reordered and late, and that begins anew, against the
 * model: frames, maps, pictures, stamps, deadlines and counters must be equal at each step.
 */
#include <stdio.h>

#include "assembler_model.h"
#include "assembler_stand.h"
#include "base/prng.h"

#define SEEDS 4000
#define FRAMES 24
#define WAY_MAX 256
#define FRAGMENT_RANGES 3

/* A packet on its way. */
struct packet {
	uint64_t due_ns;
	struct lull_frame_fragment fragment;
	uint8_t data[FRAGMENT_RANGES][MODEL_BYTES];
};
struct trial {
	struct stand stand;
	struct lull_prng prng;
	uint64_t key, step, packet, session;
	uint32_t loss, twice, late; /* parts of 100 */
	uint32_t size;              /* largest range of a packet */
	uint32_t way_count;
	uint32_t held_count; /* buffers of the application */
	uint8_t *held[STAND_BUFFERS];
};
static struct trial trial;
static struct model model;
static struct packet way[WAY_MAX];
static uint64_t outcomes[LULL_FRAME_REASON_COUNT], restarts, fulls, replaced, dropped, stops;

static uint64_t
below(uint64_t bound)
{
	return lull_prng_below(&trial.prng, bound);
}

static bool
chance(uint32_t percent)
{
	return below(100) < percent;
}

/* ---- comparing ---- */

static void
check_map(const struct model_frame *expected, const struct lull_frame *frame)
{
	bool by_rows = model_rows_fit(&model, expected);
	uint64_t end = 0;
	uint32_t span = 0;

	for (uint64_t i = 0; i < model.bytes; i++) {
		bool missing = expected->states[i] == MODEL_MISSING;

		if (span < frame->missing_count && frame->missing[span].offset == i)
			end = i + frame->missing[span++].bytes;
		if (by_rows || expected->states[i] != MODEL_PADDING)
			assert_true(missing == (i < end));
		if (expected->written[i])
			assert_int_equal(frame->data[i], expected->data[i]);
	}
	assert_int_equal(span, frame->missing_count);
}

static void
check_frame(const struct model_frame *expected, const struct lull_frame *frame)
{
	assert_true(frame->key == expected->key);
	assert_int_equal(frame->reason, expected->reason);
	assert_true(frame->number == expected->number);
	assert_true(frame->bytes == model.bytes);
	assert_true(frame->bytes_there == model.bytes - model_missing(&model, expected));
	assert_memory_equal(&frame->stamps, &expected->stamps, sizeof(frame->stamps));
	assert_memory_equal(&frame->counts, &expected->counts, sizeof(frame->counts));
	assert_true(frame->damaged == ((expected->flags & LULL_FRAME_DAMAGED) != 0));
	assert_true(frame->missing_more == (expected->full || !model_rows_fit(&model, expected)));
	check_map(expected, frame);
}

static void
check_counters(void)
{
	uint64_t key;

	assert_memory_equal(trial.stand.counters, &model.counters, sizeof(model.counters));
	stand_check_identity(&trial.stand);
	assert_true(lull_assembler_deadline_ns(trial.stand.assembler) == model_due_ns(&model));
	assert_int_equal(lull_assembler_rows(trial.stand.assembler, &key), model_rows(&model));
	assert_true(lull_assembler_stopped(trial.stand.assembler) == model.stopped);
}

/* What a resend would ask for. */
static void
check_holes(void)
{
	for (uint32_t i = 0; i < model.frame_count; i++) {
		const struct model_frame *frame = &model.frames[i];
		struct lull_frame_span spans[MODEL_BYTES];
		uint64_t limit = frame->flags & LULL_FRAME_END ? model.bytes : frame->high, end = 0;
		uint32_t count, span = 0;

		if (!frame->open)
			continue;
		count = lull_assembler_holes(trial.stand.assembler, frame->key, spans,
					     COUNT(spans));
		for (uint64_t at = 0; at < limit; at++) {
			if (span < count && spans[span].offset == at)
				end = at + spans[span++].bytes;
			assert_true((frame->states[at] == MODEL_MISSING) == (at < end));
		}
		assert_int_equal(span, count);
	}
}

/* ---- application ---- */

static void
put_back(void)
{
	while (trial.held_count > 0) {
		uint8_t *data = trial.held[--trial.held_count];

		assert_int_equal(lull_assembler_supply(trial.stand.assembler, data, data), 0);
		model.buffers++;
	}
	lull_assembler_resume(trial.stand.assembler);
	model.stopped = false;
}

static void
fetch(void)
{
	struct model_frame *expected;

	model_expire(&model, trial.stand.now_ns);
	while (stand_next(&trial.stand)) {
		expected = model_next(&model);
		assert_non_null(expected);
		check_frame(expected, &trial.stand.frame);
		outcomes[expected->reason]++;
		fulls += expected->full;
		trial.held[trial.held_count++] = trial.stand.frame.data;
	}
	assert_null(model_next(&model));
}

/* ---- sender ---- */

static void
pass(const struct packet *packet)
{
	struct lull_frame_fragment fragment = packet->fragment;

	for (uint32_t i = 0; i < fragment.range_count; i++)
		fragment.ranges[i].data = packet->data[i];
	lull_assembler_add(trial.stand.assembler, trial.stand.now_ns, &fragment);
	model_add(&model, trial.stand.now_ns, &fragment);
	check_counters();
	if (chance(20))
		check_holes();
	if (chance(50))
		fetch();
	if (chance(20))
		put_back();
}

static void
expire_at(uint64_t now_ns)
{
	trial.stand.now_ns = now_ns;
	lull_assembler_expire(trial.stand.assembler, now_ns);
	model_expire(&model, now_ns);
	check_counters();
}

/* Let pass what is due; sometimes with expire in between, to the nanosecond. */
static void
pass_until(uint64_t now_ns)
{
	for (;;) {
		uint32_t first = 0;
		struct packet packet;

		for (uint32_t i = 1; i < trial.way_count; i++)
			if (way[i].due_ns < way[first].due_ns)
				first = i;
		if (trial.way_count == 0 || way[first].due_ns > now_ns)
			break;
		packet = way[first];
		way[first] = way[--trial.way_count];
		if (model_due_ns(&model) <= packet.due_ns && chance(50))
			expire_at(LULL_MAX(model_due_ns(&model), trial.stand.now_ns));
		trial.stand.now_ns = LULL_MAX(packet.due_ns, trial.stand.now_ns);
		pass(&packet);
	}
	trial.stand.now_ns = LULL_MAX(now_ns, trial.stand.now_ns);
}

static void
send_copy(const struct packet *packet)
{
	struct packet *sent = &way[trial.way_count];

	if (chance(trial.loss) || trial.way_count == WAY_MAX)
		return;
	trial.way_count++;
	*sent = *packet;
	sent->due_ns = trial.stand.now_ns + below(chance(20) ? 600 : 60);
	if (chance(trial.late))
		sent->due_ns += below(20000);
}

/* Bytes from @p offset on, in some ranges; returns where the next packet begins. */
static uint64_t
send_packet(uint64_t offset)
{
	static const uint32_t odd_flags[] = { LULL_FRAME_DAMAGED, LULL_FRAME_GONE,
					      LULL_FRAME_RESENT };
	struct packet packet = { .fragment = { .key = trial.key,
					       .packet = trial.packet++,
					       .device_time = trial.session + trial.key,
					       .flags = LULL_FRAME_TIMED } };
	uint32_t ranges = (uint32_t)below(FRAGMENT_RANGES) + 1;

	if (offset == 0 && chance(50))
		packet.fragment.flags |= LULL_FRAME_START;
	if (chance(3))
		packet.fragment.flags |= odd_flags[below(COUNT(odd_flags))];
	for (uint32_t i = 0; i < ranges && offset < model.bytes; i++) {
		uint64_t wish = 1 + below(trial.size);
		uint64_t bytes = LULL_MIN(wish, model.bytes - offset);
		uint64_t back = chance(5) ? below(LULL_MIN(offset, 20) + 1) : 0; /* overlap */

		packet.fragment.ranges[i].offset = offset - back;
		packet.fragment.ranges[i].bytes = (uint32_t)(bytes + back);
		for (uint64_t at = 0; at < bytes + back; at++)
			packet.data[i][at] = (uint8_t)lull_prng_u64(&trial.prng);
		packet.fragment.range_count++;
		offset += bytes;
	}
	if (offset == model.bytes)
		packet.fragment.flags |= LULL_FRAME_END;
	if (chance(1))
		packet.fragment.ranges[0].offset += model.bytes; /* malformed */
	send_copy(&packet);
	if (chance(trial.twice))
		send_copy(&packet);
	return offset;
}

static void
send_frame(void)
{
	struct packet trailer = { .fragment = { .key = trial.key, .flags = LULL_FRAME_END } };
	uint64_t back;

	for (uint64_t offset = 0; offset < model.bytes;) {
		offset = send_packet(offset);
		pass_until(trial.stand.now_ns + below(40));
	}
	trailer.fragment.packet = trial.packet++;
	if (chance(30))
		send_copy(&trailer);
	pass_until(trial.stand.now_ns + below(800));
	if (!chance(3)) {
		trial.key += trial.step;
		return;
	}
	if (chance(50))
		trial.session += below(2) == 0 ? 1 : 1000000;
	if (chance(30)) {
		lull_assembler_quiet(trial.stand.assembler);
		model.quiet = true;
	}
	switch (below(4)) { /* begin anew */
	case 0:
		back = below(20) * trial.step;
		trial.key -= LULL_MIN(trial.key, back);
		break;
	case 1:
		trial.key = below(100);
		break;
	case 2:
		trial.key += below(3000 * trial.step);
		break;
	default:
		trial.key = lull_prng_u64(&trial.prng) >> below(64);
		break;
	}
}

/* ---- trials ---- */

static void
run_seed(uint64_t seed)
{
	struct lull_assembler_config config = { .buffer_bytes = STAND_BYTES };
	uint32_t buffers;

	memset(&trial, 0, sizeof(trial));
	lull_prng_init(&trial.prng, seed, 0);
	config.geometry = stand_picture(1 + (uint32_t)below(30), 1 + (uint32_t)below(14));
	config.geometry.row_bytes = config.geometry.width + (uint32_t)(chance(40) ? below(6) : 0);
	config.open_max = 1 + (uint32_t)below(5);
	config.spans_max = 16;
	config.deadline_ns = chance(60) ? 200 + below(4000) : 0;
	config.silence_ns = chance(40) ? 100 + below(1000) : 0;
	config.order = (enum lull_frame_order)below(2);
	config.policy = (enum lull_frame_policy)below(3);
	buffers = 2 + (uint32_t)below(STAND_BUFFERS - 2);
	trial.step = chance(50) ? 1 : 1 + below(3000);
	trial.key = chance(50) ? below(1000) : lull_prng_u64(&trial.prng) >> 1;
	trial.loss = (uint32_t)below(2) * (uint32_t)below(40);
	trial.twice = (uint32_t)below(2) * (uint32_t)below(40);
	trial.late = (uint32_t)below(2) * (uint32_t)below(10);
	trial.size = chance(50) ? 24 : 2 + (uint32_t)below(4);
	stand_init(&trial.stand, &config, buffers);
	model_init(&model, &config, buffers);
	for (uint32_t frame = 0; frame < FRAMES; frame++)
		send_frame();
	pass_until(trial.stand.now_ns + 30000);
	lull_assembler_flush(trial.stand.assembler, trial.stand.now_ns);
	model_flush(&model, trial.stand.now_ns);
	check_counters();
	fetch();
	restarts += model.counters.restarts;
	replaced += model.counters.frames_replaced;
	dropped += model.counters.frames_dropped;
	stops += model.counters.stopped;
	stand_end(&trial.stand);
}

TEST(add__like_the_model)
{
	const char *only = getenv("LULL_SEED");
	uint64_t first = only != NULL ? strtoull(only, NULL, 0) : 1;

	for (uint64_t seed = first; seed < first + (only != NULL ? 1 : SEEDS); seed++) {
		print_message("seed %llu\r", (unsigned long long)seed);
		run_seed(seed);
	}
	print_message("restarts %llu, full %llu, replaced %llu, dropped %llu, stopped %llu\n",
		      (unsigned long long)restarts, (unsigned long long)fulls,
		      (unsigned long long)replaced, (unsigned long long)dropped,
		      (unsigned long long)stops);
	/* a trial that does not meet all of it proves little */
	for (uint32_t i = 0; only == NULL && i < LULL_FRAME_REASON_COUNT; i++)
		assert_in_range(outcomes[i], 100, UINT64_MAX);
	if (only == NULL) {
		assert_in_range(restarts, 100, UINT64_MAX);
		assert_in_range(fulls, 100, UINT64_MAX);
		assert_in_range(replaced, 100, UINT64_MAX);
		assert_in_range(dropped, 100, UINT64_MAX);
		assert_in_range(stops, 100, UINT64_MAX);
	}
}
