/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "frame.h"

#define RAW 101
#define MORE 0x2000
#define WAIT_NS 1000

static struct lull_flow_parser *parser;
static const struct lull_flow_parser_counters *counters;

static int
setup(void **state)
{
	struct lull_flow_parser_config config = { .fragment_bits = 8, .fragment_wait_ns = WAIT_NS };

	(void)state;
	parser = parser_new(&config);
	counters = lull_flow_parser_counters(parser);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	free(parser);
	return 0;
}

/* A piece of datagram @p number, of the flow with that port. */
static void
piece(uint16_t number, uint16_t fragment, uint64_t time_ns, struct lull_flow_packet *packet)
{
	struct frame frame = { .len = 0 };

	put_ipv4_between(&frame, 17, 36, fragment, 0x0a000002, 0x0a000001);
	frame.bytes[4] = (uint8_t)(number >> 8);
	frame.bytes[5] = (uint8_t)number;
	if ((fragment & 0x1fff) == 0)
		put_udp(&frame, (uint16_t)(1000 + number), 53, 100);
	else
		put_fill(&frame, 8);
	put_fill(&frame, 8);
	assert_int_equal(parse_cut(parser, RAW, &frame, frame.len, time_ns, packet), LULL_FLOW_OK);
}

/* A later piece that must wait. */
static void
early(uint16_t number, uint16_t fragment, uint64_t time_ns, struct lull_flow_packet *packet)
{
	piece(number, fragment, time_ns, packet);
	assert_true((packet->flags & LULL_FLOW_ORPHAN) != 0);
	assert_null(lull_flow_parser_hold(parser, packet, time_ns));
}

static struct lull_flow_packet *
released(uint64_t clock_ns, uint64_t expected_due_ns)
{
	uint64_t due_ns;
	struct lull_flow_packet *packet = lull_flow_parser_release(parser, clock_ns, &due_ns);

	if (packet != NULL)
		assert_int_equal(due_ns, expected_due_ns);
	return packet;
}

TEST_WITH(release__with_the_first_one_in_order, setup, teardown)
{
	struct lull_flow_packet a, b, other, first;

	early(1, MORE | 4, 10, &a);
	early(2, 2, 11, &other);
	early(1, 2, 12, &b);
	assert_null(released(500, 0));
	piece(1, MORE, 600, &first);
	assert_ptr_equal(released(600, 0), &a);
	assert_ptr_equal(released(600, 0), &b);
	assert_null(released(600, 0));
	assert_true(lull_flow_key_same(&a.key, &first.key));
	assert_int_equal(a.key.port[1], 1001);
	assert_int_equal(a.digest, first.digest);
	assert_int_equal(a.dispatch_hash, first.dispatch_hash);
	assert_int_equal(a.direction, first.direction);
	assert_int_equal(a.flags, LULL_FLOW_FRAGMENT | LULL_FLOW_LATER);
	assert_int_equal(a.time_ns, 10);
	assert_int_equal(counters->early, 2);
	assert_int_equal(counters->orphans, 0);
	assert_int_equal(lull_flow_parser_deadline_ns(parser), 11 + WAIT_NS);
	assert_ptr_equal(released(UINT64_MAX, 11 + WAIT_NS), &other);
}

TEST_WITH(release__up_to_its_clock, setup, teardown)
{
	struct lull_flow_packet a, b, first;

	early(1, 2, 10, &a);
	early(2, 2, 20, &b);
	assert_null(released(10 + WAIT_NS, 0));
	assert_ptr_equal(released(11 + WAIT_NS, 10 + WAIT_NS), &a);
	assert_null(released(11 + WAIT_NS, 0));
	assert_true((a.flags & LULL_FLOW_ORPHAN) != 0);
	assert_int_equal(a.key.port[0] | a.key.port[1], 0);
	/* Too late for that one. */
	piece(1, MORE, 12 + WAIT_NS, &first);
	assert_null(released(12 + WAIT_NS, 0));
	assert_ptr_equal(released(UINT64_MAX, 20 + WAIT_NS), &b);
	assert_null(released(UINT64_MAX, 0));
	assert_int_equal(lull_flow_parser_deadline_ns(parser), UINT64_MAX);
	assert_int_equal(counters->orphans, 2);
	assert_int_equal(counters->early, 0);
}

TEST_WITH(hold__room_for_so_many, setup, teardown)
{
	static struct lull_flow_packet packets[2 * LULL_FLOW_EARLY_MAX], first;
	uint32_t i;

	for (i = 0; i < LULL_FLOW_EARLY_MAX; i++)
		early((uint16_t)i, 2, i, &packets[i]);
	for (; i < LULL_FLOW_EARLY_MAX + 100; i++) {
		piece((uint16_t)i, 2, i, &packets[i]);
		assert_ptr_equal(lull_flow_parser_hold(parser, &packets[i], i),
				 &packets[i - LULL_FLOW_EARLY_MAX]);
	}
	assert_int_equal(counters->early_full, 100);
	/* From anywhere among them, and those behind move up. */
	for (i = 150; i < 200; i++) {
		piece((uint16_t)i, MORE, 400, &first);
		assert_ptr_equal(released(400, 0), &packets[i]);
		assert_int_equal(packets[i].key.port[1], 1000 + i);
	}
	for (i = 100; i < 150; i++)
		assert_ptr_equal(released(UINT64_MAX, i + WAIT_NS), &packets[i]);
	for (i = 200; i < LULL_FLOW_EARLY_MAX + 100; i++)
		assert_ptr_equal(released(UINT64_MAX, i + WAIT_NS), &packets[i]);
	assert_null(released(UINT64_MAX, 0));
	assert_int_equal(counters->early + counters->orphans, LULL_FLOW_EARLY_MAX + 100);
}

/* Who does not ask for those that are ready is not given more room. */
TEST_WITH(hold__ready_ones_take_room, setup, teardown)
{
	static struct lull_flow_packet packets[LULL_FLOW_EARLY_MAX + 1], first;

	for (uint32_t i = 0; i < LULL_FLOW_EARLY_MAX; i++)
		early(1, (uint16_t)(2 + i), i, &packets[i]);
	piece(1, MORE, 300, &first);
	piece(2, 2, 301, &packets[LULL_FLOW_EARLY_MAX]);
	assert_ptr_equal(lull_flow_parser_hold(parser, &packets[LULL_FLOW_EARLY_MAX], 301),
			 &packets[LULL_FLOW_EARLY_MAX]);
	for (uint32_t i = 0; i < LULL_FLOW_EARLY_MAX; i++)
		assert_ptr_equal(released(301, 0), &packets[i]);
	assert_null(released(301, 0));
}

TEST(hold__not_without_a_wait)
{
	struct lull_flow_parser_config config = { .fragment_bits = 4 };
	struct lull_flow_packet packet;

	parser = parser_new(&config);
	piece(1, 2, 0, &packet);
	assert_ptr_equal(lull_flow_parser_hold(parser, &packet, 0), &packet);
	assert_int_equal(lull_flow_parser_counters(parser)->orphans, 1);
	free(parser);
}

/* It counts as what it carries of the packet inside, and the tunnel's header does not. */
TEST(release__inside_a_tunnel)
{
	struct lull_flow_parser_config config = { .inner = true,
						  .fragment_bits = 4,
						  .fragment_wait_ns = WAIT_NS };
	struct frame first = { .len = 0 }, later = { .len = 0 };
	struct lull_flow_packet packet, rest;

	parser = parser_new(&config);
	put_ipv4_between(&later, 4, 20 + 16, 6, 1, 2); /* IP in IP */
	put_fill(&later, 16);
	put_ipv4_between(&first, 4, 20 + 48, MORE, 1, 2);
	put_ipv4(&first, 17, 64);
	put_udp(&first, 4000, 53, 44);
	put_fill(&first, 20);
	assert_int_equal(parse_cut(parser, RAW, &later, later.len, 0, &rest), LULL_FLOW_OK);
	assert_null(lull_flow_parser_hold(parser, &rest, 0));
	assert_int_equal(parse_cut(parser, RAW, &first, first.len, 1, &packet), LULL_FLOW_OK);
	assert_ptr_equal(released(1, 0), &rest);
	assert_true(lull_flow_key_same(&rest.key, &packet.key));
	assert_int_equal(packet.key.port[1], 4000);
	assert_int_equal(rest.flags, LULL_FLOW_FRAGMENT | LULL_FLOW_LATER | LULL_FLOW_TUNNEL);
	assert_int_equal(rest.ip_bytes, 16);
	assert_int_equal(rest.ip_offset, 20);
	assert_int_equal(rest.payload_bytes, 16);
	assert_int_equal(lull_flow_parser_counters(parser)->tunnels, 2);
	free(parser);
}
