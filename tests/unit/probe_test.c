/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "base/prng.h"
#include "traffic/probe.h"

static const struct lull_probe usual = {
	.run = 0x1234,
	.stream = 0x0506,
	.seq = 0x789abcde,
	.stamp_ns = 0x0123456789abcdef,
};

/* Insert a VLAN tag behind the addresses; returns the new length. */
static uint16_t
insert_tag(uint8_t *frame, uint16_t len_bytes, uint16_t type)
{
	const uint8_t tag[4] = { (uint8_t)(type >> 8), (uint8_t)type, 0x20, 0x64 };

	memmove(frame + 16, frame + 12, len_bytes - 12u);
	memcpy(frame + 12, tag, sizeof(tag));
	return (uint16_t)(len_bytes + sizeof(tag));
}

static void
assert_same_probe(const struct lull_probe *a, const struct lull_probe *b)
{
	assert_int_equal(a->run, b->run);
	assert_int_equal(a->stream, b->stream);
	assert_int_equal(a->seq, b->seq);
	assert_int_equal(a->stamp_ns, b->stamp_ns);
}

TEST(write__is_this_frame)
{
	static const uint8_t expected[LULL_PROBE_FRAME_MIN] = {
		/* Ethernet */
		0x02, 'l', 'u', 'l', 'l', 0x02, 0x02, 'l', 'u', 'l', 'l', 0x01, 0x08, 0x00,
		/* IPv4, checksum worked out apart */
		0x45, 0x00, 0x00, 0x2e, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xae, 0x97, 198, 18, 0,
		1, 198, 19, 0, 1,
		/* UDP from 49152 + 7 to 9, no checksum */
		0xc0, 0x07, 0x00, 0x09, 0x00, 0x1a, 0x00, 0x00,
		/* probe */
		'L', 'L', 0x12, 0x34, 0x05, 0x06, 0x78, 0x9a, 0xbc, 0xde, 0x01, 0x23, 0x45, 0x67,
		0x89, 0xab, 0xcd, 0xef
	};
	uint8_t frame[LULL_PROBE_FRAME_MIN];

	memset(frame, 0xff, sizeof(frame));
	lull_probe_write(frame, sizeof(frame), &usual, 7);
	assert_memory_equal(frame, expected, sizeof(expected));
}

/* A receiver adds up the header with its checksum and must get all ones. */
TEST(write__every_length_has_a_good_checksum_and_reads_back)
{
	static uint8_t frame[9600];

	for (uint16_t len = LULL_PROBE_FRAME_MIN; len <= sizeof(frame); len++) {
		struct lull_probe probe = { 0 };
		uint32_t sum = 0;

		frame[len - 1] = 0xff;
		lull_probe_write(frame, len, &usual, 0);
		for (int i = 14; i < 34; i += 2)
			sum += (uint32_t)frame[i] << 8 | frame[i + 1];
		while (sum > 0xffff)
			sum = (sum & 0xffff) + (sum >> 16);
		assert_int_equal(sum, 0xffff);
		assert_int_equal(frame[16] << 8 | frame[17], len - 14);
		assert_int_equal(frame[38] << 8 | frame[39], len - 34);
		if (len > LULL_PROBE_FRAME_MIN)
			assert_int_equal(frame[len - 1], 0);
		assert_true(lull_probe_read(frame, len, &probe));
		assert_same_probe(&probe, &usual);
	}
}

TEST(write__each_flow_has_its_own_port)
{
	static bool seen[65536];
	uint8_t frame[LULL_PROBE_FRAME_MIN];

	for (uint32_t flow = 0; flow < 65536; flow++) {
		uint32_t port;

		lull_probe_write(frame, sizeof(frame), &usual, (uint16_t)flow);
		port = (uint32_t)frame[34] << 8 | frame[35];
		assert_false(seen[port]);
		seen[port] = true;
	}
}

TEST(update__equals_writing_anew)
{
	const struct lull_probe next = { 0xffff, 15, 0xffffffff, UINT64_MAX - 1 };
	uint8_t updated[200], written[200];

	lull_probe_write(updated, sizeof(updated), &usual, 3);
	lull_probe_update(updated, &next);
	lull_probe_write(written, sizeof(written), &next, 3);
	assert_memory_equal(updated, written, sizeof(updated));
}

TEST(read__skips_vlan_tags)
{
	static const uint16_t types[] = { 0x8100, 0x88a8, 0x9100, 0x8100 };
	uint16_t len = LULL_PROBE_FRAME_MIN;
	struct lull_probe probe;
	uint8_t frame[100];

	lull_probe_write(frame, len, &usual, 0);
	for (uint32_t i = 0; i < 4; i++) {
		len = insert_tag(frame, len, types[i]);
		memset(&probe, 0, sizeof(probe));
		assert_true(lull_probe_read(frame, len, &probe));
		assert_same_probe(&probe, &usual);
	}
	len = insert_tag(frame, len, 0x8100);
	assert_false(lull_probe_read(frame, len, &probe));
}

TEST(read__skips_ipv4_options_and_padding)
{
	struct lull_probe probe = { 0 };
	uint8_t frame[120] = { 0 };

	lull_probe_write(frame, LULL_PROBE_FRAME_MIN, &usual, 0);
	memmove(frame + 42, frame + 34, 26);
	memset(frame + 34, 1, 8);
	frame[14] = 0x47;
	frame[17] += 8;
	assert_true(lull_probe_read(frame, sizeof(frame), &probe));
	assert_same_probe(&probe, &usual);
}

TEST(read__truncated_anywhere_is_none)
{
	uint8_t whole[120];
	uint16_t whole_len = 100;

	lull_probe_write(whole, whole_len, &usual, 0);
	whole_len = insert_tag(whole, whole_len, 0x8100);
	for (uint16_t len = 0; len < whole_len; len++) {
		/* Of its own so that the sanitizer sees a read behind it. */
		uint8_t *frame = malloc(len + 1u);
		struct lull_probe probe = { .seq = 42 };

		assert_non_null(frame);
		memcpy(frame + 1, whole, len);
		assert_false(lull_probe_read(frame + 1, len, &probe));
		assert_int_equal(probe.seq, 42);
		free(frame);
	}
}

TEST(read__foreign_frames_are_none)
{
	static const struct {
		uint32_t offset;
		uint8_t value;
	} spoilt[] = {
		{ 12, 0x86 }, /* not IPv4 by type */
		{ 14, 0x65 }, /* by version */
		{ 14, 0x44 }, /* header too short */
		{ 16, 0x01 }, /* longer than the frame */
		{ 17, 0x2d }, /* too short for a probe */
		{ 20, 0x20 }, /* first fragment */
		{ 21, 0x01 }, /* later fragment */
		{ 23, 6 },    /* TCP */
		{ 37, 10 },   /* another port */
		{ 39, 0x19 }, /* UDP too short for a probe */
		{ 42, 'l' },  /* no magic */
	};
	struct lull_probe probe;
	uint8_t frame[LULL_PROBE_FRAME_MIN];

	for (uint32_t i = 0; i < sizeof(spoilt) / sizeof(spoilt[0]); i++) {
		lull_probe_write(frame, sizeof(frame), &usual, 0);
		frame[spoilt[i].offset] = spoilt[i].value;
		assert_false(lull_probe_read(frame, sizeof(frame), &probe));
	}
}

TEST(read__random_bytes_never_hurt)
{
	struct lull_prng prng;
	struct lull_probe probe;

	lull_prng_init(&prng, 1, 0);
	for (uint32_t round = 0; round < 100000; round++) {
		uint8_t frame[100];

		lull_probe_write(frame, sizeof(frame), &usual, 0);
		for (uint32_t i = 0; i < 4; i++)
			frame[lull_prng_below(&prng, 62)] = (uint8_t)lull_prng_u64(&prng);
		lull_probe_read(frame, (uint16_t)lull_prng_below(&prng, sizeof(frame) + 1), &probe);
	}
}
