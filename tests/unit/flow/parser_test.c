/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "case.h"
#include "base/prng.h"
#include "flow/parser.h"
#include "frame.h"

#define RAW 101
#define MORE 0x2000

static struct lull_flow_parser *parser;

static int
setup(void **state)
{
	struct lull_flow_parser_config config = { .fragment_bits = 4, .fragment_ns = 1000 };

	(void)state;
	parser = parser_new(&config);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(parser);
	return 0;
}

TEST(config_check__ranges)
{
	struct lull_flow_parser_config config = { .seed = 0 };
	struct lull_range error;
	uint64_t memory[2];
	struct lull_flow_parser *none = NULL;

	assert_int_equal(lull_flow_parser_config_check(&config, NULL), 0);
	config.fragment_bits = 3;
	assert_int_equal(lull_flow_parser_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "fragment_bits");
	assert_int_equal(lull_flow_parser_init(memory, &config, &none), -EINVAL);
	config.fragment_bits = 21;
	assert_int_equal(lull_flow_parser_config_check(&config, &error), -EINVAL);
	config.fragment_bits = 20;
	assert_int_equal(lull_flow_parser_config_check(&config, &error), 0);
	config.fragment_ns = 86401 * LULL_NS_PER_S;
	assert_int_equal(lull_flow_parser_config_check(&config, &error), -EINVAL);
	assert_string_equal(error.field, "fragment_ns");
}

TEST(cause_name__all)
{
	static const char *const names[] = { "ok", "not_ip", "link", "truncated", "malformed" };

	for (unsigned int cause = 0; cause < LULL_FLOW_CAUSE_COUNT; cause++)
		assert_string_equal(lull_flow_cause_name((enum lull_flow_cause)cause),
				    names[cause]);
	assert_string_equal(lull_flow_cause_name(LULL_FLOW_CAUSE_COUNT), "?");
}

TEST(parse__both_directions_alike)
{
	static const struct {
		uint32_t source, target;
		uint16_t source_port, target_port;
		uint8_t direction;
	} rows[] = {
		{ 0x0a000001, 0x0a000002, 80, 4000, 0 }, { 0x0a000002, 0x0a000001, 4000, 80, 1 },
		{ 0x0a000001, 0x0a000002, 4000, 80, 0 }, { 0xff000001, 0x0a000002, 1, 2, 1 },
		{ 0x0a000001, 0x0a000001, 80, 4000, 0 }, { 0x0a000001, 0x0a000001, 4000, 80, 1 },
		{ 0x0a000001, 0x0a000001, 80, 80, 0 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct frame frame = { .len = 0 }, back = { .len = 0 };
		struct lull_flow_packet packet, answer;

		put_ipv4_between(&frame, 17, 28, 0, rows[i].source, rows[i].target);
		put_udp(&frame, rows[i].source_port, rows[i].target_port, 0);
		put_ipv4_between(&back, 17, 28, 0, rows[i].target, rows[i].source);
		put_udp(&back, rows[i].target_port, rows[i].source_port, 0);
		assert_int_equal(parse(RAW, false, &frame, &packet), LULL_FLOW_OK);
		assert_int_equal(parse(RAW, false, &back, &answer), LULL_FLOW_OK);
		assert_true(lull_flow_key_same(&packet.key, &answer.key));
		assert_int_equal(packet.digest, answer.digest);
		assert_int_equal(packet.digest, lull_flow_digest(0, &packet.key));
		assert_int_equal(packet.direction, rows[i].direction);
	}
}

TEST_WITH(parse__causes_tell_capture_from_frame, setup, teardown)
{
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_ethernet(&frame, 0x0800);
	put_datagram(&frame);
	for (uint32_t len = 0; len < frame.len; len++) {
		struct frame small = frame;
		enum lull_flow_cause cut = parse_cut(parser, ETHERNET, &frame, len, 0, &packet);

		/* Ports end at byte 38; what follows is not needed for the key. */
		assert_int_equal(cut, len < 38 ? LULL_FLOW_TRUNCATED : LULL_FLOW_OK);
		if (cut == LULL_FLOW_OK)
			assert_int_equal(packet.flags, LULL_FLOW_CUT);
		small.len = len;
		assert_int_equal(parse_cut(parser, ETHERNET, &small, len, 0, &packet),
				 len < 38 ? LULL_FLOW_MALFORMED : LULL_FLOW_OK);
	}
}

/* 8 or more bytes of a datagram, behind @p fragment; the first piece has the ports. */
static struct frame
piece(uint16_t fragment, bool back)
{
	struct frame frame = { .len = 0 };

	put_ipv4_between(&frame, 17, 36, fragment, back ? 0x0a000001 : 0x0a000002,
			 back ? 0x0a000002 : 0x0a000001);
	if ((fragment & 0x1fff) == 0)
		put_udp(&frame, back ? 53 : 4000, back ? 4000 : 53, 100);
	else
		put_fill(&frame, 8);
	put_fill(&frame, 8);
	return frame;
}

TEST_WITH(parse__fragments_follow_their_first, setup, teardown)
{
	const struct lull_flow_parser_counters *counters = lull_flow_parser_counters(parser);
	struct frame first = piece(MORE, false), later = piece(2, false), back = piece(2, true);
	struct lull_flow_packet packet, rest;

	assert_int_equal(parse_cut(parser, RAW, &later, later.len, 0, &rest), LULL_FLOW_OK);
	assert_int_equal(rest.flags, LULL_FLOW_FRAGMENT | LULL_FLOW_LATER | LULL_FLOW_ORPHAN);
	assert_int_equal(rest.key.port[0] | rest.key.port[1], 0);
	assert_int_equal(parse_cut(parser, RAW, &first, first.len, 10, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.flags, LULL_FLOW_FRAGMENT);
	assert_int_equal(packet.payload_bytes, 8);
	assert_int_equal(parse_cut(parser, RAW, &later, later.len, 20, &rest), LULL_FLOW_OK);
	assert_int_equal(rest.flags, LULL_FLOW_FRAGMENT | LULL_FLOW_LATER);
	assert_true(lull_flow_key_same(&rest.key, &packet.key));
	assert_int_equal(rest.digest, packet.digest);
	assert_int_equal(rest.direction, packet.direction);
	assert_int_equal(rest.payload_offset, 20);
	assert_int_equal(rest.payload_bytes, 16);
	/* The way back has numbers of its own. */
	assert_int_equal(parse_cut(parser, RAW, &back, back.len, 20, &rest), LULL_FLOW_OK);
	assert_true((rest.flags & LULL_FLOW_ORPHAN) != 0);
	assert_int_equal(parse_cut(parser, RAW, &later, later.len, 1011, &rest), LULL_FLOW_OK);
	assert_true((rest.flags & LULL_FLOW_ORPHAN) != 0);
	assert_int_equal(counters->fragments, 5);
	assert_int_equal(counters->orphans, 3);
}

TEST_WITH(parse__fragments_of_the_way_back, setup, teardown)
{
	struct frame first = piece(MORE, true), later = piece(2, true), there = piece(MORE, false);
	struct lull_flow_packet packet, rest;

	assert_int_equal(parse_cut(parser, RAW, &there, there.len, 0, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.direction, 1);
	assert_int_equal(parse_cut(parser, RAW, &first, first.len, 0, &packet), LULL_FLOW_OK);
	assert_int_equal(parse_cut(parser, RAW, &later, later.len, 0, &rest), LULL_FLOW_OK);
	assert_int_equal(rest.direction, 0);
	assert_true(lull_flow_key_same(&rest.key, &packet.key));
}

/* Later pieces name the header that follows theirs, not the transport. */
TEST_WITH(parse__v6_fragments, setup, teardown)
{
	struct frame first = { .len = 0 }, later = { .len = 0 };
	struct lull_flow_packet packet, rest;

	put_ipv6(&first, 44, 8 + 8 + 8 + 8);
	put(&first, 0x3c00000100000007, 8); /* more, number 7, destination options follow */
	put(&first, 0x1100010400000000, 8);
	put_udp(&first, 4000, 53, 100);
	put_fill(&first, 8);
	put_ipv6(&later, 44, 8 + 16);
	put(&later, 0x3c00001800000007, 8);
	put_fill(&later, 16);
	assert_int_equal(parse_cut(parser, RAW, &first, first.len, 0, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.flags, LULL_FLOW_FRAGMENT);
	assert_int_equal(packet.key.proto, 17);
	assert_int_equal(parse_cut(parser, RAW, &later, later.len, 0, &rest), LULL_FLOW_OK);
	assert_int_equal(rest.flags, LULL_FLOW_FRAGMENT | LULL_FLOW_LATER);
	assert_true(lull_flow_key_same(&rest.key, &packet.key));
}

TEST_WITH(parse__icmp_error_goes_with_its_flow, setup, teardown)
{
	static const uint8_t errors[] = { 3, 4, 5, 11, 12 };
	struct frame datagram = { .len = 0 };
	struct lull_flow_packet packet, error;

	put_datagram(&datagram);
	parse_cut(parser, RAW, &datagram, datagram.len, 0, &packet);
	for (unsigned int i = 0; i < sizeof(errors); i++) {
		struct frame frame = { .len = 0 };

		put_ipv4_between(&frame, 1, 56, 0, 0xc0000201, 0x0a000002); /* of a router */
		put(&frame, (uint64_t)errors[i] << 56, 8);
		put_ipv4(&frame, 17, 400);
		put_udp(&frame, 4000, 53, 372); /* 8 bytes of it, as routers give */
		assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &error),
				 LULL_FLOW_OK);
		assert_int_equal(error.dispatch_hash, packet.digest);
		assert_int_equal(error.digest, lull_flow_digest(0, &error.key));
		assert_int_equal(error.key.proto, 1);
		assert_int_equal(error.key.addr[0][0], 0x0a);
		assert_int_equal(error.key.addr[1][0], 0xc0);
		assert_int_equal(error.key.port[0] | error.key.port[1], 0);
		frame.bytes[20] = 8; /* an echo request is about itself */
		assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &error),
				 LULL_FLOW_OK);
		assert_int_equal(error.dispatch_hash, lull_flow_digest(0, &error.key));
	}
	assert_int_equal(lull_flow_parser_counters(parser)->icmp_errors, sizeof(errors));
}

TEST_WITH(parse__icmp6_error_goes_with_its_flow, setup, teardown)
{
	struct frame datagram = { .len = 0 }, frame = { .len = 0 };
	struct lull_flow_packet packet, error;

	put_datagram6(&datagram);
	parse_cut(parser, RAW, &datagram, datagram.len, 0, &packet);
	put_ipv6(&frame, 58, 8 + 48);
	put(&frame, 1ULL << 56, 8);
	put_datagram6(&frame);
	frame.len -= 4;
	assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &error), LULL_FLOW_OK);
	assert_int_equal(error.dispatch_hash, packet.digest);
	assert_int_equal(error.digest, lull_flow_digest(0, &error.key));
	assert_int_equal(error.key.proto, 58);
	frame.bytes[40] = 135; /* neighbour solicitation */
	assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, 0, &error), LULL_FLOW_OK);
	assert_int_equal(error.dispatch_hash, error.digest);
}

TEST(parse__seed_and_stamp)
{
	struct lull_flow_parser_config config = { .seed = 7 };
	struct lull_flow_parser *seeded = parser_new(&config);
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_datagram(&frame);
	memset(&packet, 0xff, sizeof(packet));
	assert_int_equal(parse_cut(seeded, RAW, &frame, frame.len, 99, &packet), LULL_FLOW_OK);
	assert_int_equal(packet.digest, lull_flow_digest(7, &packet.key));
	assert_int_equal(packet.time_ns, 99);
	assert_int_equal(packet.clock_ns | packet.number | packet.seq | packet.bucket, 0);
	assert_int_equal(packet.mark_flags | packet.hint | packet.dispatcher, 0);
	assert_int_equal(lull_flow_parse(seeded, RAW, NULL, 0, 0, 5, &packet), LULL_FLOW_MALFORMED);
	free(seeded);
}

/*
 * Any packet cut anywhere, with bytes changed at random, read as any link type: nothing outside is
 * read (the sanitizer sees that) and offsets stay inside (parse_cut() asks).
 */
TEST(parse__random_damage)
{
	static const uint16_t links[] = { 0,   1,   9,   12,  50,  51,  101, 104,
					  105, 108, 113, 127, 228, 229, 276 };
	struct lull_flow_parser_config config = { .inner = true, .fragment_bits = 4 };
	struct lull_flow_parser *deep = parser_new(&config);
	const struct lull_flow_parser_counters *counters = lull_flow_parser_counters(deep);
	uint64_t sum = 0;
	struct lull_prng prng;

	print_message("seed 11\n");
	lull_prng_init(&prng, 11, 0);
	for (unsigned int round = 0; round < 60000; round++) {
		struct frame frame = { .len = 0 };
		struct lull_flow_packet packet;
		uint16_t link = round % 4 != 0 ? 1 : links[lull_prng_below(&prng, 15)];

		if (link == 1)
			put_ethernet(&frame, round % 8 < 4 ? 0x0800 : 0x86dd);
		if (round % 8 < 4)
			put_ipv4(&frame, (uint8_t)lull_prng_u64(&prng), 72);
		else
			put_ipv6(&frame, (uint8_t)lull_prng_below(&prng, 64), 52);
		put_udp(&frame, 2152, 4789, 32);
		put_fill(&frame, 44);
		for (uint64_t left = lull_prng_below(&prng, 6); left > 0; left--)
			frame.bytes[lull_prng_below(&prng, frame.len)] =
				(uint8_t)lull_prng_u64(&prng);
		parse_cut(deep, link, &frame, (uint32_t)lull_prng_below(&prng, frame.len + 1),
			  round, &packet);
	}
	for (unsigned int cause = 0; cause < LULL_FLOW_CAUSE_COUNT; cause++)
		sum += counters->causes[cause];
	assert_int_equal(sum, 60000);
	assert_true(counters->causes[LULL_FLOW_OK] > 1000);
	assert_true(counters->causes[LULL_FLOW_TRUNCATED] > 1000);
	assert_true(counters->causes[LULL_FLOW_MALFORMED] > 100);
	free(deep);
}

TEST_WITH(join__adds_counters_and_zeroes_them, setup, teardown)
{
	struct lull_flow_parser_config config = { .fragment_bits = 4 };
	struct lull_flow_parser *part = parser_new(&config);
	const struct lull_flow_parser_counters *counters = lull_flow_parser_counters(parser);
	struct frame frame = { .len = 0 };
	struct lull_flow_packet packet;

	put_datagram(&frame);
	for (int i = 0; i < 3; i++)
		parse_cut(i == 0 ? parser : part, RAW, &frame, frame.len, 0, &packet);
	parse_cut(part, RAW, &frame, 3, 0, &packet);
	lull_flow_parser_join(parser, part);
	assert_int_equal(counters->causes[LULL_FLOW_OK], 3);
	assert_int_equal(counters->causes[LULL_FLOW_TRUNCATED], 1);
	lull_flow_parser_join(parser, part);
	assert_int_equal(counters->causes[LULL_FLOW_OK], 3);
	free(part);
}
