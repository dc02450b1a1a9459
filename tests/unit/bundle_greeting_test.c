/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "bundle/packet.h"

/* A copy of exactly so many bytes, so that the sanitizer sees any step behind them. */
static uint8_t *
exactly(const uint8_t *bytes, uint32_t count)
{
	uint8_t *copy = malloc(count + (count == 0));

	assert_non_null(copy);
	memcpy(copy, bytes, count);
	return copy;
}

static bool
greeting_reads(struct bundle_greeting *read, const uint8_t *at, uint32_t len)
{
	uint8_t *copy = exactly(at, len);
	bool right = bundle_greeting_read(read, copy, len);

	free(copy);
	return right;
}

static bool
probe_reads(struct bundle_probe *read, const uint8_t *at, uint32_t len)
{
	uint8_t *copy = exactly(at, len);
	bool right = bundle_probe_read(read, copy, len);

	free(copy);
	return right;
}

static void
fill_rails(struct bundle_rail_table *table, uint32_t count, uint8_t address_bytes)
{
	memset(table, 0, sizeof(*table));
	table->count = count;
	for (uint32_t i = 0; i < count; i++) {
		struct bundle_rail_info *rail = &table->rails[i];

		rail->number = (uint8_t)(15 - i);
		rail->kind = (uint8_t)(i * 16);
		rail->packet_bytes = i % 2 == 0 ? 65535 : 600;
		rail->ring_pkts = i % 2 == 0 ? UINT32_MAX : 16;
		rail->address.len_bytes = address_bytes;
		memset(rail->address.bytes, 0x40 + (int)i, address_bytes);
	}
}

static void
assert_rails_equal(const struct bundle_rail_table *a, const struct bundle_rail_table *b)
{
	assert_int_equal(a->count, b->count);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct bundle_rail_info *left = &a->rails[i], *right = &b->rails[i];

		assert_int_equal(left->number, right->number);
		assert_int_equal(left->kind, right->kind);
		assert_int_equal(left->packet_bytes, right->packet_bytes);
		assert_int_equal(left->ring_pkts, right->ring_pkts);
		assert_int_equal(left->address.len_bytes, right->address.len_bytes);
		assert_memory_equal(left->address.bytes, right->address.bytes,
				    sizeof(left->address.bytes));
	}
}

/* ---- greeting ---- */

static struct bundle_greeting
some_greeting(void)
{
	struct bundle_greeting greeting = {
		.version_min = 1,
		.version_max = 2,
		.name = "alpha",
		.target = "beta-2",
		.node_id = 0x1122334455667788,
		.index = 0xfffff123,
		.piece_bytes = 1456,
		.piece_room = 65528,
		.messages_max = 256,
		.grant_pieces = 65535,
		.credit_pkts = 1,
	};

	fill_rails(&greeting.rails, 3, 6);
	return greeting;
}

TEST(greeting__stands_byte_by_byte_as_written)
{
	static const uint8_t
		expected[] = {
			1,    2,    5,    1,    1,    0,    0,    0,
			0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* node id */
			0x23, 0xf1, 0xff, 0xff, 0xb0, 0x05, 0,    0,
			0xf8, 0xff, 0,    0,    0,    1,    0,    0, /* messages */
			0xff, 0xff, 0,    0,    1,    0,    0,    0,
			'a',  'l',  'p',  'h',  'a',  'b', /* names */
			15,   0,    2,    0,    0xff, 0xff, 0,    0,
			0xff, 0xff, 0xff, 0xff, 0x40, 0x40,
		};
	struct bundle_greeting greeting = some_greeting(), read;
	uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX];

	strcpy(greeting.target, "b");
	fill_rails(&greeting.rails, 1, 2);
	assert_int_equal(bundle_greeting_write(&greeting, at), sizeof(expected));
	assert_memory_equal(at, expected, sizeof(expected));
	assert_true(greeting_reads(&read, at, sizeof(expected)));
}

TEST(greeting__comes_back_whatever_the_lengths)
{
	struct bundle_greeting greeting = some_greeting(), read;
	uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX];

	for (uint32_t name = 1; name < LULL_BUNDLE_NAME_SIZE; name += 5) {
		for (uint32_t rails = 0; rails <= LULL_BUNDLE_RAILS_MAX; rails++) {
			uint32_t len;

			memset(greeting.name, 0, sizeof(greeting.name));
			memset(greeting.name, '!', name);
			memset(greeting.target, 0, sizeof(greeting.target));
			memset(greeting.target, '~', 31 - name);
			fill_rails(&greeting.rails, rails, (uint8_t)(rails * 20 / 16));
			len = bundle_greeting_write(&greeting, at);
			assert_true(greeting_reads(&read, at, len));
			assert_string_equal(read.name, greeting.name);
			assert_string_equal(read.target, greeting.target);
			assert_true(read.node_id == greeting.node_id);
			assert_int_equal(read.index, greeting.index);
			assert_int_equal(read.piece_bytes, greeting.piece_bytes);
			assert_int_equal(read.piece_room, greeting.piece_room);
			assert_int_equal(read.messages_max, greeting.messages_max);
			assert_int_equal(read.grant_pieces, greeting.grant_pieces);
			assert_int_equal(read.credit_pkts, greeting.credit_pkts);
			assert_rails_equal(&read.rails, &greeting.rails);
			for (uint32_t other = 0; other < len; other++)
				assert_false(greeting_reads(&read, at, other));
			at[len] = 0;
			assert_false(greeting_reads(&read, at, len + 1));
		}
	}
}

TEST(greeting_write__the_longest_has_room)
{
	struct bundle_greeting greeting = some_greeting(), read;
	uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX];
	uint32_t len;

	memset(greeting.name, 'n', LULL_BUNDLE_NAME_SIZE - 1);
	memset(greeting.target, 't', LULL_BUNDLE_NAME_SIZE - 1);
	fill_rails(&greeting.rails, LULL_BUNDLE_RAILS_MAX, LULL_BUNDLE_ADDRESS_SIZE);
	len = bundle_greeting_write(&greeting, at);
	assert_int_equal(len, BUNDLE_GREETING_BYTES_MAX);
	assert_true(greeting_reads(&read, at, len));
}

/* Set a number in the bytes of a greeting: is it taken? */
static bool
takes(uint32_t at_byte, uint32_t bytes, uint64_t value)
{
	struct bundle_greeting greeting = some_greeting(), read;
	uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX];
	uint32_t len = bundle_greeting_write(&greeting, at);

	for (uint32_t i = 0; i < bytes; i++)
		at[at_byte + i] = (uint8_t)(value >> 8 * i);
	return greeting_reads(&read, at, len);
}

TEST(greeting_read__each_member_has_its_range)
{
	for (uint32_t version = 0; version < 256; version++) {
		assert_int_equal(takes(0, 1, version), version == 1 || version == 2);
		assert_int_equal(takes(1, 1, version), version >= 1 && version <= 15);
	}
	for (uint32_t at = 5; at < 8; at++)
		assert_false(takes(at, 1, 1));
	assert_false(takes(8, 8, 0));
	assert_true(takes(8, 8, UINT64_MAX));
	assert_true(takes(16, 4, 0) && takes(16, 4, UINT32_MAX));
	for (uint32_t at = 20; at <= 24; at += 4) {
		assert_true(takes(at, 4, 512) && takes(at, 4, 65528) && takes(at, 4, 1464));
		assert_false(takes(at, 4, 504) || takes(at, 4, 65536) || takes(at, 4, 1460));
		assert_false(takes(at, 4, 0) || takes(at, 4, 0xfffffff8));
	}
	assert_true(takes(28, 4, 16) && takes(28, 4, 4096));
	assert_false(takes(28, 4, 8) || takes(28, 4, 8192) || takes(28, 4, 48) || takes(28, 4, 0));
	assert_true(takes(32, 4, 0));
	assert_false(takes(32, 4, 65536));
	assert_true(takes(36, 4, 65535));
	assert_false(takes(36, 4, 0) || takes(36, 4, 65536));
}

TEST(greeting_read__names_are_printable_and_without_blanks)
{
	/* The name has bytes 40 to 44, the target 45 to 50. */
	for (uint32_t byte = 0; byte < 256; byte++) {
		assert_int_equal(takes(42, 1, byte), byte > ' ' && byte < 127);
		assert_int_equal(takes(47, 1, byte), byte > ' ' && byte < 127);
	}
	assert_false(takes(2, 1, 0));  /* nobody's name; what follows is moved as well */
	assert_false(takes(2, 1, 32)); /* no zero would end it */
	assert_false(takes(3, 1, 255));
}

TEST(greeting_read__a_target_may_be_empty_a_name_may_not)
{
	struct bundle_greeting greeting = some_greeting(), read;
	uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX];
	uint32_t len;

	greeting.target[0] = '\0';
	greeting.rails.count = 0;
	len = bundle_greeting_write(&greeting, at);
	assert_int_equal(len, 45);
	assert_true(greeting_reads(&read, at, len));
	assert_string_equal(read.target, "");
	at[2] = 0;
	assert_false(greeting_reads(&read, at, 40));
	at[2] = 1;
	assert_true(greeting_reads(&read, at, 41));
}

/* The first rail begins behind the names: number, kind, len, 0, mtu, ring. */
TEST(greeting_read__rails_have_their_ranges)
{
	const uint32_t rail = 40 + 5 + 6;

	assert_true(takes(rail, 1, 0));
	assert_false(takes(rail, 1, 16));
	assert_false(takes(rail, 1, 14)); /* the second has it */
	assert_true(takes(rail + 1, 1, 255));
	assert_false(takes(rail + 2, 1, 21));
	assert_false(takes(rail + 2, 1, 255));
	assert_false(takes(rail + 3, 1, 1));
	assert_true(takes(rail + 4, 4, 600) && takes(rail + 4, 4, 65535));
	assert_false(takes(rail + 4, 4, 599) || takes(rail + 4, 4, 65536));
	assert_true(takes(rail + 8, 4, 16) && takes(rail + 8, 4, UINT32_MAX));
	assert_false(takes(rail + 8, 4, 15) || takes(rail + 8, 4, 0));
	assert_false(takes(4, 1, 2) || takes(4, 1, 4) || takes(4, 1, 17) || takes(4, 1, 255));
}

/* A name of 32 bytes, all of them there: no zero would end it in the struct. */
TEST(greeting_read__refuses_names_that_do_not_fit)
{
	for (uint32_t which = 2; which <= 3; which++) {
		struct bundle_greeting greeting = some_greeting(), read;
		uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX];
		char *name = which == 2 ? greeting.name : greeting.target;
		uint32_t len, end;

		greeting.rails.count = 0;
		memset(name, 'n', LULL_BUNDLE_NAME_SIZE - 1);
		len = bundle_greeting_write(&greeting, at);
		end = which == 2 ? 40 + 31 : len;
		assert_true(greeting_reads(&read, at, len));
		memmove(at + end + 1, at + end, len - end);
		at[end] = 'n';
		at[which]++;
		assert_false(greeting_reads(&read, at, len + 1));
	}
}

/* More than the table has room for, all of them there and each right for itself. */
TEST(rails__more_than_sixteen_are_refused)
{
	struct bundle_probe probe = { .kind = BUNDLE_PROBE_ASK }, read;
	struct bundle_greeting greeting = some_greeting(), greeting_read;
	uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX] = { 0 };
	uint32_t len;

	fill_rails(&probe.rails, LULL_BUNDLE_RAILS_MAX, 20);
	len = bundle_probe_write(&probe, at, sizeof(at), 0);
	memcpy(at + len, at + len - 32, 32);
	at[1]++;
	assert_false(probe_reads(&read, at, len + 32));
	greeting.rails = probe.rails;
	len = bundle_greeting_write(&greeting, at);
	memcpy(at + len, at + len - 32, 32);
	at[4]++;
	assert_false(greeting_reads(&greeting_read, at, len + 32));
}

TEST(rails__may_have_no_address)
{
	struct bundle_probe probe = { .kind = BUNDLE_PROBE_ASK }, read;
	uint8_t at[BUNDLE_PAYLOAD_BYTES_MAX];
	uint32_t len;

	fill_rails(&probe.rails, 2, 0);
	len = bundle_probe_write(&probe, at, sizeof(at), 0);
	assert_int_equal(len, 16 + 2 * 12);
	memset(&read, 0xee, sizeof(read));
	assert_true(probe_reads(&read, at, len));
	assert_rails_equal(&read.rails, &probe.rails);
}

/* ---- probe and close ---- */

TEST(probe__comes_back_with_any_padding)
{
	uint8_t at[2000];
	struct bundle_probe probe = { .challenge = 0x0102030405060708, .table = 0xfedc }, read;

	for (uint32_t rails = 0; rails <= LULL_BUNDLE_RAILS_MAX; rails++) {
		uint32_t needed = 16 + rails * (12 + 20);

		fill_rails(&probe.rails, rails, 20);
		for (uint32_t pad = 0; pad < 1500; pad += 31) {
			uint32_t len = LULL_MAX(needed, pad);

			probe.kind = pad % 2 == 0 ? BUNDLE_PROBE_ASK : BUNDLE_PROBE_REPLY;
			memset(at, 0xee, sizeof(at));
			assert_int_equal(bundle_probe_write(&probe, at, len - 1, pad), 0);
			assert_int_equal(bundle_probe_write(&probe, at, len, pad), len);
			assert_int_equal(at[len], 0xee);
			assert_true(probe_reads(&read, at, len));
			assert_int_equal(read.kind, probe.kind);
			assert_true(read.challenge == probe.challenge);
			assert_int_equal(read.table, probe.table);
			assert_rails_equal(&read.rails, &probe.rails);
			assert_false(probe_reads(&read, at, len - 1));
			at[len] = 0;
			assert_false(probe_reads(&read, at, len + 1));
		}
	}
}

TEST(probe__stands_byte_by_byte_as_written)
{
	static const uint8_t expected[] = {
		2,    1,    0,    0,    3,    0,    0, 0,
		8,    7,    6,    5,    4,    3,    2, 1, /* challenge */
		15,   0,    1,    0,    0xff, 0xff, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0x40, 0,    0, 0,
	};
	struct bundle_probe probe = { .kind = BUNDLE_PROBE_REPLY, .challenge = 0x0102030405060708 };
	uint8_t at[64];

	fill_rails(&probe.rails, 1, 1);
	assert_int_equal(bundle_probe_write(&probe, at, sizeof(at), 32), 32);
	assert_memory_equal(at, expected, sizeof(expected));
}

TEST(probe_read__refuses_what_is_out_of_range)
{
	struct bundle_probe probe = { .kind = BUNDLE_PROBE_ASK }, read;
	uint8_t at[1500];
	uint32_t len;

	fill_rails(&probe.rails, 2, 6);
	len = bundle_probe_write(&probe, at, sizeof(at), 1400);
	for (uint32_t kind = 0; kind < 256; kind++) {
		at[0] = (uint8_t)kind;
		assert_int_equal(probe_reads(&read, at, len), kind == 1 || kind == 2);
	}
	at[0] = BUNDLE_PROBE_ASK;
	for (uint32_t i = 4; i < 8; i++) {
		at[i]++;
		assert_false(probe_reads(&read, at, len));
		at[i]--;
	}
	for (uint32_t other = 0; other < len; other++)
		assert_false(probe_reads(&read, at, other));
	at[len - 1] = 1; /* padding is zeros */
	assert_false(probe_reads(&read, at, len));
	at[len - 1] = 0;
	at[52] = 1;
	assert_false(probe_reads(&read, at, len));
	at[52] = 0;
	at[16] = at[34]; /* two rails of one number */
	assert_false(probe_reads(&read, at, len));
	at[16] = 0;
	assert_true(probe_reads(&read, at, len));
	at[1] = 17;
	assert_false(probe_reads(&read, at, len));
}

TEST(close__takes_two_bytes_and_zeros)
{
	for (uint32_t reason = 0; reason < 4; reason++) {
		for (uint32_t reply = 0; reply < 4; reply++) {
			struct bundle_close close = { (uint8_t)(reason & 1), (reply & 1) != 0 };
			struct bundle_close read;
			uint8_t at[9];

			memset(at, 0xee, sizeof(at));
			assert_int_equal(bundle_close_write(&close, at), 8);
			assert_int_equal(at[8], 0xee);
			assert_int_equal(at[0], close.reason);
			assert_int_equal(at[1], close.reply);
			at[0] = (uint8_t)reason;
			at[1] = (uint8_t)reply;
			for (uint32_t len = 0; len <= 9; len++)
				assert_int_equal(bundle_close_read(&read, at, len),
						 len == 8 && reason < 2 && reply < 2);
			if (reason < 2 && reply < 2) {
				assert_true(bundle_close_read(&read, at, 8));
				assert_int_equal(read.reason, reason);
				assert_int_equal(read.reply, reply);
			}
			for (uint32_t i = 2; i < 8; i++) {
				at[i] = 0x80;
				assert_false(bundle_close_read(&read, at, 8));
				at[i] = 0;
			}
		}
	}
}
