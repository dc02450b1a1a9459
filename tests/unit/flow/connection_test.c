/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lull/flow.h>

#include "case.h"

#define IDLE_NS (30 * LULL_NS_PER_S)
#define CLOSED_NS (5 * LULL_NS_PER_S)
#define FIN 1
#define SYN 2
#define RST 4
#define ACK 16

static void *memory;
static struct lull_flow_connections *connections;
static const struct lull_flow_connections_counters *counters;

static void
stand_start(uint32_t bits)
{
	const struct lull_flow_connections_config config = { .bits = bits };

	memory = aligned_alloc(LULL_CACHE_LINE, lull_flow_connections_size(&config));
	assert_non_null(memory);
	memset(memory, 0xa5, lull_flow_connections_size(&config));
	assert_int_equal(lull_flow_connections_init(memory, &config, &connections), 0);
	counters = lull_flow_connections_counters(connections);
}

static void
stand_end(void)
{
	free(memory);
}

static struct lull_flow_packet
mark(uint32_t flow, unsigned int direction, unsigned int tcp_flags, uint64_t clock_ns)
{
	struct lull_flow_packet packet = {
		.key = { .port = { (uint16_t)flow, (uint16_t)(flow >> 16) },
			 .version = 4,
			 .proto = LULL_FLOW_PROTO_TCP },
		.clock_ns = clock_ns,
		.direction = (uint8_t)direction,
		.tcp_flags = (uint8_t)tcp_flags,
	};

	packet.digest = lull_flow_digest(0, &packet.key);
	lull_flow_connections_mark(connections, &packet);
	return packet;
}

/* A packet and what is to be told of it. */
struct step {
	uint64_t clock_ms;
	unsigned int direction, tcp_flags, number;
	bool closed;
};

static void
walk(const struct step *steps, size_t count)
{
	stand_start(0);
	for (size_t i = 0; i < count; i++) {
		struct lull_flow_packet packet = mark(7, steps[i].direction, steps[i].tcp_flags,
						      steps[i].clock_ms * LULL_NS_PER_MS);

		if (packet.connection != steps[i].number ||
		    ((packet.flags & LULL_FLOW_CLOSED) != 0) != steps[i].closed)
			fail_msg("step %zu: connection %u, closed %d", i, packet.connection,
				 (packet.flags & LULL_FLOW_CLOSED) != 0);
	}
	stand_end();
}

#define WALK(steps) walk(steps, sizeof(steps) / sizeof((steps)[0]))

TEST(mark__three_connections_on_one_pair_of_ports)
{
	static const struct step steps[] = {
		{ 0, 0, SYN, 0, false },          { 1, 1, SYN | ACK, 0, false },
		{ 2, 0, ACK, 0, false },          { 3, 0, FIN | ACK, 0, false },
		{ 4, 1, FIN | ACK, 0, true },     { 5, 0, ACK, 0, true },
		{ 6, 0, SYN, 1, false },          { 7, 1, SYN | ACK, 1, false },
		{ 8, 0, SYN, 1, false }, /* sent again */
		{ 9, 1, RST | ACK, 1, true },     { 10, 0, ACK, 1, true },
		{ 4000, 0, SYN, 2, false },       { 4001, 1, SYN | ACK, 2, false },
		{ 4002, 0, FIN | ACK, 2, false },
	};

	WALK(steps);
}

/* The last ACK, a FIN sent again, RSTs for data: part of what they are late for, up to 5 s. */
TEST(mark__late_packets_stay)
{
	static const struct step steps[] = {
		{ 0, 0, SYN, 0, false },         { 1, 0, FIN | ACK, 0, false },
		{ 2, 1, FIN | ACK, 0, true },    { 1000, 1, FIN | ACK, 0, true },
		{ 3000, 1, FIN | ACK, 0, true }, { 3001, 0, RST, 0, true },
		{ 5002, 0, ACK, 0, true },       { 5003, 0, ACK, 1, false },
		{ 5004, 0, ACK, 1, false },
	};

	WALK(steps);
}

TEST(mark__one_direction_alone)
{
	static const struct step asks[] = {
		{ 0, 0, SYN, 0, false }, { 1, 0, FIN | ACK, 0, false }, { 2, 0, ACK, 0, false },
		{ 3, 0, SYN, 1, false }, { 4, 0, RST, 1, true },        { 5, 0, SYN, 2, false },
	};
	static const struct step answers[] = {
		{ 0, 1, SYN | ACK, 0, false },
		{ 1, 1, FIN | ACK, 0, false },
		{ 2, 1, SYN | ACK, 1, false },
		{ 3, 1, ACK, 1, false },
	};

	WALK(asks);
	WALK(answers);
}

/* Who asked gave up; the answer was on its way. */
TEST(mark__answers_may_cross_an_rst)
{
	static const struct step steps[] = {
		{ 0, 0, SYN, 0, false },
		{ 1, 0, RST, 0, true },
		{ 2, 1, SYN | ACK, 0, true },
		{ 3, 0, RST, 0, true },
	};

	WALK(steps);
}

/* RST with SYN, and a FIN with it: noise begins nothing and ends once. */
TEST(mark__odd_flags)
{
	static const struct step steps[] = {
		{ 0, 0, SYN | RST, 0, true },  { 1, 0, SYN | RST, 0, true },
		{ 2, 0, SYN | FIN, 1, false }, { 3, 1, SYN | FIN, 2, false },
		{ 4, 0, FIN, 2, true },
	};

	WALK(steps);
}

/* Behind a silence that ends the record anyway nothing is remembered. */
TEST(mark__forgets_after_silence)
{
	static const struct step steps[] = {
		{ 0, 0, RST, 0, true },      { 1, 0, SYN, 1, false },
		{ 30001, 0, ACK, 1, false }, { 60002, 0, ACK, 0, false },
		{ 60003, 0, FIN, 0, false },
	};

	WALK(steps);
}

TEST(mark__others_are_left_alone)
{
	struct lull_flow_packet packet = { .key = { .proto = LULL_FLOW_PROTO_UDP },
					   .tcp_flags = 4 };

	stand_start(0);
	lull_flow_connections_mark(connections, &packet);
	assert_int_equal(packet.connection + packet.flags, 0);
	assert_int_equal(counters->connections, 0);
	stand_end();
}

/* Flows do not disturb each other while there is room, and the one silent for longest goes. */
TEST(mark__many_flows)
{
	uint32_t wrong = 0;

	stand_start(17);
	for (uint32_t flow = 0; flow < 2000; flow++)
		mark(flow, 0, RST, flow);
	for (uint32_t flow = 0; flow < 2000; flow++) {
		wrong += mark(flow, 0, SYN, LULL_NS_PER_S).connection != 1;
		wrong += mark(flow, 0, ACK, LULL_NS_PER_S).connection != 1;
	}
	assert_int_equal(counters->connections_forgotten, 0);
	assert_int_equal(wrong, 0);
	assert_int_equal(counters->connections, 2000);
	assert_int_equal(counters->closed, 2000);
	assert_int_equal(counters->followed, 2000);
	stand_end();
	stand_start(4);
	for (uint32_t flow = 0; flow < 100; flow++)
		mark(flow, 0, RST, flow);
	assert_int_equal(counters->connections_forgotten, 100 - 16);
	assert_int_equal(mark(99, 0, SYN, 100).connection, 1);
	assert_int_equal(mark(0, 0, SYN, 100).connection, 0);
	stand_end();
}

TEST(config_check__ranges)
{
	const struct lull_flow_connections_config low = { .bits = 3 }, high = { .bits = 25 };
	const struct lull_flow_connections_config brief = { .closed_ns = 1 };
	struct lull_range error;

	assert_int_equal(lull_flow_connections_config_check(&low, &error), -EINVAL);
	assert_string_equal(error.field, "connection_bits");
	assert_int_equal(lull_flow_connections_config_check(&high, NULL), -EINVAL);
	assert_int_equal(lull_flow_connections_config_check(&brief, &error), -EINVAL);
	assert_string_equal(error.field, "closed_ns");
}
