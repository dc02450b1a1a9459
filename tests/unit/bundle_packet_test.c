/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "case.h"
#include "base/prng.h"
#include "bundle/packet.h"

static const struct bundle_header plain = {
	.version = BUNDLE_VERSION,
	.type = BUNDLE_DATA,
	.flags = BUNDLE_FLAG_HEAD | BUNDLE_FLAG_NOW,
	.path = 0x3c,
	.rest = 0x5a,
	.to = 0x01020304,
	.psn = 0x11121314,
	.sent = 0x21222324,
	.msg = 0x31323334,
	.off = 0x41424344,
	.grant = 0x51525354,
};

static void
assert_header_equal(const struct bundle_header *a, const struct bundle_header *b)
{
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->path, b->path);
	assert_int_equal(a->rest, b->rest);
	assert_int_equal(a->to, b->to);
	assert_int_equal(a->psn, b->psn);
	assert_int_equal(a->sent, b->sent);
	assert_int_equal(a->msg, b->msg);
	assert_int_equal(a->off, b->off);
	assert_int_equal(a->grant, b->grant);
}

/* ---- header ---- */

TEST(header__stands_byte_by_byte_as_written)
{
	static const uint8_t expected[BUNDLE_HEADER_BYTES] = {
		0x15, 0x06, 0x3c, 0x5a, 0x04, 0x03, 0x02, 0x01, 0x14, 0x13, 0x12, 0x11, 0x24, 0x23,
		0x22, 0x21, 0x34, 0x33, 0x32, 0x31, 0x44, 0x43, 0x42, 0x41, 0x54, 0x53, 0x52, 0x51,
	};
	uint8_t packet[BUNDLE_HEADER_BYTES + 1];
	struct bundle_header read;

	packet[BUNDLE_HEADER_BYTES] = 0xee;
	bundle_header_write(&plain, packet);
	assert_memory_equal(packet, expected, sizeof(expected));
	assert_int_equal(packet[BUNDLE_HEADER_BYTES], 0xee);
	assert_true(bundle_header_read(&read, packet, BUNDLE_HEADER_BYTES));
	assert_header_equal(&read, &plain);
}

TEST(header__comes_back_with_every_value_of_its_fields)
{
	uint8_t packet[BUNDLE_HEADER_BYTES];
	struct lull_prng prng;

	lull_prng_init(&prng, 1, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t draw = lull_prng_u64(&prng);
		uint32_t edge = i % 3 == 0 ? UINT32_MAX : (uint32_t)lull_prng_u64(&prng);
		struct bundle_header read, header = {
			.version = BUNDLE_VERSION,
			.type = (uint8_t)(1 + i % 9),
			.flags = (uint8_t)(draw & BUNDLE_FLAGS_KNOWN),
			.path = (uint8_t)(draw >> 8),
			.rest = (uint8_t)(draw >> 16),
			.to = edge,
			.psn = (uint32_t)(draw >> 32),
			.sent = ~edge,
			.msg = (uint32_t)lull_prng_u64(&prng),
			.off = edge ^ 0xffff,
			.grant = (uint32_t)lull_prng_u64(&prng),
		};

		bundle_header_write(&header, packet);
		assert_true(bundle_header_read(&read, packet, sizeof(packet)));
		assert_header_equal(&read, &header);
	}
}

TEST(header_read__refuses_what_is_short)
{
	uint8_t packet[BUNDLE_HEADER_BYTES];
	struct bundle_header read;

	bundle_header_write(&plain, packet);
	for (uint32_t len = 0; len < BUNDLE_HEADER_BYTES; len++) {
		assert_false(bundle_header_read(&read, packet, len));
		assert_false(bundle_header_foreign(packet, len));
	}
}

TEST(header_read__takes_version_types_and_flags_that_exist)
{
	for (uint32_t first = 0; first < 256; first++) {
		for (uint32_t flags = 0; flags < 256; flags++) {
			uint8_t packet[BUNDLE_HEADER_BYTES] = { (uint8_t)first, (uint8_t)flags };
			uint32_t type = first & 15;
			struct bundle_header read;

			assert_int_equal(bundle_header_read(&read, packet, sizeof(packet)),
					 first >> 4 == 1 && type >= 1 && type <= 9 && flags < 32);
			assert_int_equal(bundle_header_foreign(packet, sizeof(packet)),
					 first >> 4 != 1);
		}
	}
}

/* ---- rest ---- */

TEST(rest__decodes_to_the_formula_rounded_up)
{
	assert_true(bundle_rest_decode(0) == 0);
	assert_true(bundle_rest_decode(1) == 1000);
	for (uint32_t n = 1; n < 256; n++) {
		long double exact = 1000.0L * exp2l((n - 1) / 8.0L);
		long double got = (long double)bundle_rest_decode((uint8_t)n);

		/* Whole powers are exact; the others are no whole numbers, so no rounding helps. */
		assert_true(got - exact > -1e-6L && got - exact < 1.0L);
		if (n % 8 == 1)
			assert_true(bundle_rest_decode((uint8_t)n) == 1000ULL << (n - 1) / 8);
	}
	assert_true(bundle_rest_decode(2) == 1091);
	assert_true(bundle_rest_decode(5) == 1415);
	assert_true(bundle_rest_decode(80) == 939013);
	assert_true(bundle_rest_decode(255) == 3611622602839);
}

TEST(rest__encodes_to_the_least_that_is_long_enough)
{
	assert_int_equal(bundle_rest_encode(0), 0);
	assert_int_equal(bundle_rest_encode(1), 1);
	assert_int_equal(bundle_rest_encode(1000), 1);
	assert_int_equal(bundle_rest_encode(1001), 2);
	for (uint32_t n = 1; n < 256; n++) {
		uint64_t rest = bundle_rest_decode((uint8_t)n);

		assert_int_equal(bundle_rest_encode(rest), n);
		assert_int_equal(bundle_rest_encode(rest + 1), n < 255 ? n + 1 : 255);
		assert_true(rest > bundle_rest_decode((uint8_t)(n - 1)));
	}
	assert_int_equal(bundle_rest_encode(UINT64_MAX), 255);
}

/* ---- psn ---- */

TEST(psn_expand__takes_the_nearest_of_all_that_end_so)
{
	static const uint64_t largest[] = {
		0,
		1,
		2,
		1000,
		(1ULL << 31) - 1,
		1ULL << 31,
		(1ULL << 31) + 1,
		UINT32_MAX - 1ULL,
		UINT32_MAX,
		1ULL << 32,
		(1ULL << 32) + 1,
		(3ULL << 31) + 7,
		5ULL << 32,
		UINT64_MAX - (1ULL << 32),
		UINT64_MAX - 1,
		UINT64_MAX,
	};
	static const int64_t steps[] = {
		0, 1, -1, 2, -2, 128, -128, 1023, -1024, INT32_MAX, -INT32_MAX,
	};

	for (uint32_t i = 0; i < COUNT(largest); i++) {
		for (uint32_t j = 0; j < COUNT(steps); j++) {
			uint64_t psn = largest[i] + (uint64_t)steps[j];
			uint64_t got = bundle_psn_expand(largest[i], (uint32_t)psn);
			bool below = steps[j] <= 0 && largest[i] <= (uint64_t)-steps[j];
			bool above = steps[j] > 0 && psn < largest[i];

			assert_true((uint32_t)got == (uint32_t)psn);
			if (below)
				assert_true(got == psn + (1ULL << 32) && got >= 1);
			else if (above)
				assert_true(got == psn - (1ULL << 32));
			else
				assert_true(got == psn);
		}
	}
	assert_true(bundle_psn_expand(0, 0) == 1ULL << 32);
	assert_true(bundle_psn_expand(0, 1) == 1);
	assert_true(bundle_psn_expand(0, UINT32_MAX) == UINT32_MAX);
	assert_true(bundle_psn_expand(UINT32_MAX, 0) == 1ULL << 32);
	assert_true(bundle_psn_expand(1ULL << 32, UINT32_MAX) == UINT32_MAX);
}

TEST(psn_expand__follows_a_path_through_the_wrap)
{
	uint64_t largest = UINT32_MAX - 3000ULL;
	struct lull_prng prng;

	lull_prng_init(&prng, 2, 0);
	for (uint32_t i = 0; i < 10000; i++) {
		uint64_t psn = largest + lull_prng_below(&prng, 2048) - 1024;

		assert_true(bundle_psn_expand(largest, (uint32_t)psn) == psn);
		largest++;
	}
}

/* ---- head ---- */

TEST(head__stands_byte_by_byte_as_written)
{
	struct bundle_head head = {
		.len_bytes = 0x0706050403,
		.tag = 0x1122334455667788,
		.user = 0x99aabbccddeeff00,
		.eager_pieces = 0x0c0b0a,
		.from = 0x1234,
		.to = 0x5678,
		.matched = true,
	};
	static const uint8_t expected[BUNDLE_HEAD_BYTES] = {
		0x03, 0x04, 0x05, 0x06, 0x07, 0x0a, 0x0b, 0x0c, 0x88, 0x77, 0x66,
		0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0xff, 0xee, 0xdd, 0xcc, 0xbb,
		0xaa, 0x99, 0x34, 0x12, 0x78, 0x56, 0x01, 0x00, 0x00, 0x00,
	};
	uint8_t at[BUNDLE_HEAD_BYTES];
	struct bundle_head read;

	bundle_head_write(&head, at);
	assert_memory_equal(at, expected, sizeof(expected));
	assert_true(bundle_head_read(&read, at, sizeof(at)));
	assert_true(read.len_bytes == head.len_bytes && read.tag == head.tag);
	assert_true(read.user == head.user && read.eager_pieces == head.eager_pieces);
	assert_true(read.from == head.from && read.to == head.to && read.matched);
}

TEST(head_read__refuses_what_is_out_of_range)
{
	struct bundle_head head = { .len_bytes = LULL_BUNDLE_MESSAGE_BYTES_MAX,
				    .tag = UINT64_MAX,
				    .user = UINT64_MAX,
				    .eager_pieces = (1u << 24) - 1,
				    .from = UINT16_MAX,
				    .to = UINT16_MAX };
	uint8_t at[BUNDLE_HEAD_BYTES + 1] = { 0 };
	struct bundle_head read;

	bundle_head_write(&head, at);
	assert_true(bundle_head_read(&read, at, BUNDLE_HEAD_BYTES + 1)); /* payload follows */
	assert_true(read.len_bytes == LULL_BUNDLE_MESSAGE_BYTES_MAX);
	assert_true(read.eager_pieces == (1u << 24) - 1);
	for (uint32_t len = 0; len < BUNDLE_HEAD_BYTES; len++)
		assert_false(bundle_head_read(&read, at, len));
	at[0] = 1; /* one byte longer than a message may be */
	assert_false(bundle_head_read(&read, at, BUNDLE_HEAD_BYTES));
	at[0] = 0;
	for (uint32_t i = 29; i < 32; i++) {
		at[i] = 1;
		assert_false(bundle_head_read(&read, at, BUNDLE_HEAD_BYTES));
		at[i] = 0;
	}
	for (uint32_t matched = 0; matched < 256; matched++) {
		at[28] = (uint8_t)matched;
		assert_int_equal(bundle_head_read(&read, at, BUNDLE_HEAD_BYTES), matched <= 1);
		assert_int_equal(read.matched, matched == 1);
	}
}

/* ---- acknowledgements ---- */

static const struct bundle_block some_block = {
	.path = 0xa1,
	.state = LULL_BUNDLE_PATH_UP,
	.wait = 0x0102,
	.hold = 0x0304,
	.duplicates = 0x0506,
	.psn = 0x0708090a,
	.sent = 0x0b0c0d0e,
	.received = 0x0f101112,
	.bits = { 0x131415161718191b, 0x1b1c1d1e1f202122 },
	.credit = 0x2324,
	.credit_echo = 0x2526,
};

static void
assert_block_equal(const struct bundle_block *a, const struct bundle_block *b)
{
	assert_int_equal(a->path, b->path);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->wait, b->wait);
	assert_int_equal(a->hold, b->hold);
	assert_int_equal(a->duplicates, b->duplicates);
	assert_int_equal(a->psn, b->psn);
	assert_int_equal(a->sent, b->sent);
	assert_int_equal(a->received, b->received);
	assert_memory_equal(a->bits, b->bits, sizeof(a->bits));
	assert_int_equal(a->credit, b->credit);
	assert_int_equal(a->credit_echo, b->credit_echo);
}

TEST(block__stands_byte_by_byte_as_written)
{
	static const uint8_t expected[BUNDLE_BLOCK_BYTES] = {
		0xa1, 0x03, 0x02, 0x01, 0x04, 0x03, 0x06, 0x05, 0x0a, 0x09, 0x08, 0x07, 0x0e, 0x0d,
		0x0c, 0x0b, 0x12, 0x11, 0x10, 0x0f, 0x1b, 0x19, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13,
		0x22, 0x21, 0x20, 0x1f, 0x1e, 0x1d, 0x1c, 0x1b, 0x24, 0x23, 0x26, 0x25,
	};
	uint8_t at[BUNDLE_BLOCK_BYTES];
	struct bundle_block read;

	bundle_block_write(&some_block, at);
	assert_memory_equal(at, expected, sizeof(expected));
	assert_true(bundle_block_read(&read, at, sizeof(at)));
	assert_block_equal(&read, &some_block);
}

TEST(block_read__refuses_what_is_out_of_range)
{
	uint8_t at[BUNDLE_BLOCK_BYTES];
	struct bundle_block read;

	bundle_block_write(&some_block, at);
	for (uint32_t len = 0; len < BUNDLE_BLOCK_BYTES; len++)
		assert_false(bundle_block_read(&read, at, len));
	for (uint32_t state = 0; state < 256; state++) {
		at[1] = (uint8_t)state;
		assert_int_equal(bundle_block_read(&read, at, sizeof(at)),
				 state <= LULL_BUNDLE_PATH_DOWN);
	}
	at[1] = LULL_BUNDLE_PATH_NONE;
	at[20] &= 0xfe;
	assert_false(bundle_block_read(&read, at, sizeof(at)));
}

TEST(block_reaches_below__asks_for_each_bit)
{
	for (uint64_t psn = 1; psn < 140; psn++) {
		for (uint32_t bit = 0; bit < 128; bit++) {
			struct bundle_block block = { .psn = (uint32_t)psn, .bits = { 1 } };

			block.bits[bit / 64] |= 1ULL << bit % 64;
			assert_int_equal(bundle_block_reaches_below(&block, psn), bit >= psn);
			/* After the wrap of what stands in the packet, all numbers exist. */
			assert_false(bundle_block_reaches_below(&block, psn + (1ULL << 32)));
		}
	}
}

static void
fill_ack(struct bundle_ack *ack, uint32_t blocks, uint32_t records)
{
	memset(ack, 0, sizeof(*ack));
	ack->block_count = blocks;
	ack->record_count = records;
	for (uint32_t i = 0; i < blocks; i++) {
		ack->blocks[i] = some_block;
		ack->blocks[i].path = (uint8_t)(i * 17);
		ack->blocks[i].psn = UINT32_MAX - i;
	}
	for (uint32_t i = 0; i < records; i++) {
		ack->records[i].kind = (uint8_t)(BUNDLE_RECORD_GRANT + i % 2);
		ack->records[i].reason = i % 4 == 1 ? BUNDLE_REASON_REFUSED : BUNDLE_REASON_NONE;
		ack->records[i].msg = UINT32_MAX - i;
		ack->records[i].end = 0x80000000 + i;
	}
}

static void
assert_ack_equal(const struct bundle_ack *read, const struct bundle_ack *ack)
{
	for (uint32_t i = 0; i < read->block_count; i++)
		assert_block_equal(&read->blocks[i], &ack->blocks[i]);
	for (uint32_t i = 0; i < read->record_count; i++) {
		assert_int_equal(read->records[i].kind, ack->records[i].kind);
		assert_int_equal(read->records[i].reason, ack->records[i].reason);
		assert_int_equal(read->records[i].msg, ack->records[i].msg);
		assert_int_equal(read->records[i].end, ack->records[i].end);
	}
}

TEST(ack__comes_back_with_any_counts_and_any_room)
{
	uint8_t at[2048];
	struct bundle_ack ack, read;

	for (uint32_t blocks = 0; blocks <= LULL_BUNDLE_PATHS_MAX; blocks++) {
		for (uint32_t records = 0; records <= BUNDLE_RECORDS_MAX; records += 4) {
			uint32_t whole = 8 + 40 * blocks + 12 * records;

			fill_ack(&ack, blocks, records);
			for (uint32_t room = 8; room <= whole + 13; room++) {
				uint32_t len;

				memset(at, 0xee, sizeof(at));
				len = bundle_ack_write(&ack, at, room);
				assert_true(len <= room && (room < whole || len == whole));
				assert_int_equal(at[len], 0xee);
				assert_true(bundle_ack_read(&read, at, len));
				assert_int_equal(read.block_count,
						 LULL_MIN((room - 8) / 40, blocks));
				assert_int_equal(
					read.record_count,
					LULL_MIN((room - 8 - 40 * read.block_count) / 12, records));
				assert_ack_equal(&read, &ack);
			}
		}
	}
}

TEST(ack_write__is_two_counts_then_blocks_then_records)
{
	static const uint8_t record[] = { 2, 1, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5 };
	uint8_t at[8 + 40 + 12], block[40];
	struct bundle_ack ack = {
		.block_count = 1,
		.record_count = 1,
		.blocks = { some_block },
		.records = { { BUNDLE_RECORD_DONE, BUNDLE_REASON_REFUSED, 0x01020304,
			       0x05060708 } },
	};

	assert_int_equal(bundle_ack_write(&ack, at, sizeof(at)), sizeof(at));
	assert_memory_equal(at, ((const uint8_t[]){ 1, 1, 0, 0, 0, 0, 0, 0 }), 8);
	bundle_block_write(&some_block, block);
	assert_memory_equal(at + 8, block, 40);
	assert_memory_equal(at + 48, record, sizeof(record));
}

TEST(ack_read__refuses_what_is_out_of_range)
{
	uint8_t at[2048] = { 0 };
	struct bundle_ack ack, read;
	uint32_t len;

	fill_ack(&ack, 2, 3);
	len = bundle_ack_write(&ack, at, sizeof(at));
	for (uint32_t other = 0; other < sizeof(at); other++)
		assert_int_equal(bundle_ack_read(&read, at, other), other == len);
	for (uint32_t i = 2; i < 8; i++) {
		at[i] = 1;
		assert_false(bundle_ack_read(&read, at, len));
		at[i] = 0;
	}
	at[8 + 1] = LULL_BUNDLE_PATH_DOWN + 1;
	assert_false(bundle_ack_read(&read, at, len));
	at[8 + 1] = LULL_BUNDLE_PATH_UP;
	assert_true(bundle_ack_read(&read, at, len));
	/* More than fit into the struct, although the length is right. */
	memset(at, 0, sizeof(at));
	at[0] = LULL_BUNDLE_PATHS_MAX + 1;
	for (uint32_t i = 0; i < at[0]; i++)
		bundle_block_write(&some_block, at + 8 + 40 * i);
	assert_false(bundle_ack_read(&read, at, 8 + 40 * (LULL_BUNDLE_PATHS_MAX + 1)));
	fill_ack(&ack, 0, BUNDLE_RECORDS_MAX);
	len = bundle_ack_write(&ack, at, sizeof(at));
	memcpy(at + len, at + 8, 12);
	at[1]++;
	assert_false(bundle_ack_read(&read, at, len + 12));
}

TEST(ack_read__judges_each_member_of_a_record)
{
	struct bundle_ack read;

	for (uint32_t kind = 0; kind < 256; kind++) {
		for (uint32_t reason = 0; reason < 4; reason++) {
			for (uint32_t end = 0; end < 2; end++) {
				uint8_t at[20] = { 0, 1 };
				bool right = kind == 1 ? reason == 0 :
					     kind == 2 ? reason <= BUNDLE_REASON_MAX :
							 false;

				at[8] = (uint8_t)kind;
				at[9] = (uint8_t)reason;
				at[16] = (uint8_t)end;
				assert_int_equal(bundle_ack_read(&read, at, sizeof(at)), right);
				at[10] = 1;
				assert_false(bundle_ack_read(&read, at, sizeof(at)));
			}
		}
	}
}
