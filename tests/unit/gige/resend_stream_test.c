/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets of a frame are asked for, and when: fragments and time go in, requests come out. */
#include <stdlib.h>

#include "case.h"
#include "gige/resend_stream.h"

#define DATA 1000 /* bytes of a packet */
#define PACKETS 200
#define HEADERS 36 /* IP, UDP and GVSP */
#define WIDE 12    /* more with 64 bit ids */
#define KEY 0x10005
#define FRAMES 4
#define ASKED_MAX 256
#define TAIL_NS (4 * LULL_NS_PER_MS)

struct stand {
	struct lull_assembler *assembler;
	struct lull_resend_stream resend;
	uint64_t now_ns, due_ns;
	uint32_t flags; /* of every fragment */
	uint32_t count;
	struct lull_gvcp_resend asked[ASKED_MAX];
};

static uint8_t buffers[FRAMES][DATA * PACKETS];
static const uint8_t data[DATA];

static bool
stand_ask(void *arg, const struct lull_gvcp_resend *request)
{
	struct stand *stand = arg;

	assert_true(stand->count < ASKED_MAX);
	stand->asked[stand->count++] = *request;
	return true;
}

static int
stand_open(void **state)
{
	const struct lull_assembler_config config = {
		.buffer_bytes = sizeof(buffers[0]),
		.geometry = { .width = DATA, .height = PACKETS, .pixel = LULL_PIXEL_MONO8 },
	};
	size_t size = (lull_assembler_size(&config) + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE *
		      LULL_CACHE_LINE;
	void *memory = aligned_alloc(LULL_CACHE_LINE, size);
	struct stand *stand = calloc(1, sizeof(*stand));

	if (memory == NULL || stand == NULL ||
	    lull_assembler_init(memory, &config, &stand->assembler) != 0)
		return -1;
	for (uint32_t i = 0; i < FRAMES; i++)
		lull_assembler_supply(stand->assembler, buffers[i], NULL);
	lull_resend_stream_init(&stand->resend, LULL_PPM);
	stand->resend.packet_bytes = DATA + HEADERS;
	stand->resend.frame_bytes = sizeof(buffers[0]);
	stand->resend.tail_ns = TAIL_NS;
	stand->now_ns = LULL_NS_PER_S;
	*state = stand;
	return 0;
}

static int
stand_close(void **state)
{
	struct stand *stand = *state;

	free(stand->assembler);
	free(stand);
	return 0;
}

static void
stand_iterate(struct stand *stand, uint64_t after_ns)
{
	stand->now_ns += after_ns;
	stand->due_ns = lull_resend_stream_iterate(&stand->resend, stand->now_ns, stand->assembler,
						   stand_ask, stand);
	assert_true(stand->due_ns > stand->now_ns);
}

/* Packet 1.. of the picture; 0 is the leader, PACKETS + 1 the trailer. */
static void
stand_packet(struct stand *stand, uint64_t key, uint32_t packet, uint32_t flags)
{
	struct lull_frame_fragment fragment = { .key = key,
						.packet = packet,
						.flags = stand->flags | flags };

	if (packet == 0)
		fragment.flags |= LULL_FRAME_START;
	else if (packet > PACKETS)
		fragment.flags |= LULL_FRAME_END;
	else if ((flags & LULL_FRAME_GONE) == 0)
		fragment.ranges[fragment.range_count++] = (struct lull_frame_range){
			.offset = (packet - 1) * DATA,
			.data = data,
			.bytes = DATA,
		};
	lull_assembler_add(stand->assembler, stand->now_ns, &fragment);
	lull_resend_stream_fragment(&stand->resend, stand->now_ns, &fragment);
}

/* Packets @p first to @p last but @p lost. */
static void
stand_packets(struct stand *stand, uint64_t key, uint32_t first, uint32_t last, uint32_t lost)
{
	for (uint32_t packet = first; packet <= last; packet++)
		if (packet != lost)
			stand_packet(stand, key, packet, 0);
}

/* Go from due time to due time for @p span_ns. */
static void
stand_run(struct stand *stand, uint64_t span_ns)
{
	uint64_t end_ns = stand->now_ns + span_ns;

	stand_iterate(stand, 0);
	while (stand->due_ns <= end_ns)
		stand_iterate(stand, stand->due_ns - stand->now_ns);
	stand->now_ns = end_ns;
}

static void
assert_asked(const struct stand *stand, uint32_t index, uint64_t block, uint32_t first,
	     uint32_t last)
{
	assert_true(index < stand->count);
	assert_int_equal(stand->asked[index].block, block);
	assert_int_equal(stand->asked[index].first, first);
	assert_int_equal(stand->asked[index].last, last);
}

TEST_WITH(iteration__asks_for_a_hole_by_packet_number, stand_open, stand_close)
{
	struct stand *stand = *state;

	stand_packets(stand, KEY, 0, 50, 7);
	stand_iterate(stand, 0);
	assert_int_equal(stand->count, 0); /* it may have been overtaken */
	stand_iterate(stand, stand->due_ns - stand->now_ns);
	assert_int_equal(stand->count, 1);
	assert_asked(stand, 0, KEY & 0xffff, 7, 7);
	assert_false(stand->asked[0].extended);
}

TEST_WITH(iteration__wide_ids, stand_open, stand_close)
{
	struct stand *stand = *state;

	stand->flags = LULL_FRAME_WIDE;
	stand->resend.packet_bytes = DATA + HEADERS + WIDE;
	stand_packets(stand, 0x123456789abcdef, 0, 50, 7);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 1);
	assert_asked(stand, 0, 0x123456789abcdef, 7, 7);
	assert_true(stand->asked[0].extended);
}

/* A pause in mid-frame need not be its end: one packet tells, and then the next one. */
TEST_WITH(iteration__tail_after_silence, stand_open, stand_close)
{
	struct stand *stand = *state;

	stand_packets(stand, KEY, 0, 50, 0);
	stand_run(stand, TAIL_NS - 1);
	assert_int_equal(stand->count, 0);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 1);
	assert_asked(stand, 0, KEY & 0xffff, 51, 51);
	stand_packet(stand, KEY, 51, LULL_FRAME_RESENT);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 2);
	assert_asked(stand, 1, KEY & 0xffff, 52, 52);
}

TEST_WITH(iteration__tail_after_the_next_frame_began, stand_open, stand_close)
{
	struct stand *stand = *state;

	stand_packets(stand, KEY, 0, PACKETS - 2, 0);
	stand_packets(stand, KEY + 1, 0, 3, 0);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 1);
	assert_asked(stand, 0, KEY & 0xffff, PACKETS - 1, PACKETS);
}

/* What comes late of an old frame says nothing of where the sender is. */
TEST_WITH(iteration__late_packet_of_an_old_frame, stand_open, stand_close)
{
	struct stand *stand = *state;
	struct lull_frame frame;

	stand_packets(stand, KEY, 1, PACKETS + 1, 0);
	assert_true(lull_assembler_next(stand->assembler, stand->now_ns, &frame));
	stand_packets(stand, KEY + 1, 0, 50, 0);
	stand_packet(stand, KEY, 0, 0);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 0);
}

TEST_WITH(iteration__what_is_gone_is_not_asked_for_again, stand_open, stand_close)
{
	struct stand *stand = *state;

	stand_packets(stand, KEY, 0, PACKETS + 1, 7);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 1);
	stand_packet(stand, KEY, 7, LULL_FRAME_GONE);
	stand_run(stand, LULL_NS_PER_S);
	assert_int_equal(stand->count, 1);
}

/* Without an answer: again after a time, and not for ever. */
TEST_WITH(iteration__silent_camera, stand_open, stand_close)
{
	struct stand *stand = *state;

	stand_packets(stand, KEY, 0, PACKETS + 1, 7);
	stand_run(stand, LULL_NS_PER_S);
	assert_int_equal(stand->count, 3);
	assert_int_equal(stand->due_ns, UINT64_MAX);
}

/* A hundredth of the frame may be asked for, but 16 packets in any case. */
TEST_WITH(iteration__budget, stand_open, stand_close)
{
	struct stand *stand = *state;
	uint32_t packets = 0;

	stand->resend.decide.config.budget_ppm = LULL_PPM / 100;
	for (uint32_t packet = 0; packet <= PACKETS + 1; packet++)
		if (packet == 0 || packet % 4 != 0)
			stand_packet(stand, KEY, packet, 0);
	stand_run(stand, LULL_NS_PER_S);
	for (uint32_t i = 0; i < stand->count; i++)
		packets += stand->asked[i].last - stand->asked[i].first + 1;
	assert_int_equal(packets, 16);
}

/* Every second packet is overtaken, two are lost: those that come leave room for them. */
TEST_WITH(iteration__many_reordered, stand_open, stand_close)
{
	struct stand *stand = *state;

	for (uint32_t packet = 1; packet < PACKETS; packet += 2) {
		stand_packet(stand, KEY, packet + 1, 0);
		stand_iterate(stand, LULL_NS_PER_US);
		if (packet != 7 && packet != 191)
			stand_packet(stand, KEY, packet, 0);
		stand_iterate(stand, LULL_NS_PER_US);
	}
	stand_packet(stand, KEY, PACKETS + 1, 0);
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 2);
	assert_asked(stand, 0, KEY & 0xffff, 7, 7);
	assert_asked(stand, 1, KEY & 0xffff, 191, 191);
}

/* Fragments of frames long over do not displace what is known of an open one. */
TEST_WITH(fragment__strays, stand_open, stand_close)
{
	struct stand *stand = *state;

	stand_packets(stand, KEY, 0, PACKETS + 1, 7);
	stand->now_ns += LULL_NS_PER_US;
	for (uint32_t i = 0; i < 3 * LULL_RESEND_FRAMES; i++) {
		stand_packet(stand, KEY - 100 - i, 3, LULL_FRAME_RESENT);
		stand_iterate(stand, 0);
	}
	stand_run(stand, 2 * LULL_NS_PER_MS);
	assert_int_equal(stand->count, 1);
	assert_asked(stand, 0, KEY & 0xffff, 7, 7);
}
