/* SPDX-License-Identifier: BSD-3-Clause */
/* What identification promises whatever the packets: labels of captures are judged end to end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/pipeline.h>

#include "case.h"
#include "base/prng.h"
#include "engine/flow/identify.h"

#define SEED 20260522
#define IP_BYTES 20
#define UDP_BYTES 8

static struct lull_identify *identify;

static bool
built_without(void)
{
	if (lull_identify_version() != NULL)
		return false;
	print_message("built without nDPI\n");
	return true;
}

static void
create(uint32_t flows_max)
{
	struct lull_error error;

	if (lull_identify_create(flows_max, &identify, &error) != 0)
		fail_msg("%s", error.text);
}

static int
destroy(void **state)
{
	(void)state;
	lull_identify_destroy(identify);
	identify = NULL;
	return 0;
}

/* ---- packets ---- */

static struct lull_flow_packet
packet_of(uint8_t version, uint8_t proto)
{
	return (struct lull_flow_packet){
		.key = { .version = version, .proto = proto },
		.time_ns = LULL_NS_PER_S,
	};
}

/* A query for the address of "lull.example" over IPv4 and UDP. */
static uint32_t
dns_query(uint8_t *ip, uint16_t source_port)
{
	static const uint8_t query[] = { 0x12, 0x34, 1,   0,   0,   1,   0,   0, 0,   0,
					 0,    0,    4,   'l', 'u', 'l', 'l', 7, 'e', 'x',
					 'a',  'm',  'p', 'l', 'e', 0,   0,   1, 0,   1 };
	const uint32_t bytes = IP_BYTES + UDP_BYTES + sizeof(query);
	const uint8_t header[IP_BYTES] = {
		0x45, 0, 0, (uint8_t)bytes, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2
	};
	const uint8_t udp[UDP_BYTES] = { (uint8_t)(source_port >> 8),
					 (uint8_t)source_port,
					 0,
					 53,
					 0,
					 UDP_BYTES + sizeof(query),
					 0,
					 0 };

	memcpy(ip, header, sizeof(header));
	memcpy(ip + IP_BYTES, udp, sizeof(udp));
	memcpy(ip + IP_BYTES + UDP_BYTES, query, sizeof(query));
	return bytes;
}

static struct lull_flow_record
record_of(uint8_t proto, uint16_t port)
{
	return (struct lull_flow_record){
		.key = { .version = 4,
			 .proto = proto,
			 .addr = { { 192, 0, 2, 1 }, { 192, 0, 2, 2 } },
			 .port = { 40000, port } },
	};
}

static const char *
name_of(const struct lull_identify_flow *flow)
{
	static char text[64];

	return lull_identify_name(NULL, flow->app, flow->app_master, text, sizeof(text));
}

/* ---- cases ---- */

TEST_WITH(packet__finds_the_protocol_by_payload, NULL, destroy)
{
	struct lull_flow_packet packet = packet_of(4, LULL_FLOW_PROTO_UDP);
	struct lull_flow_record record = record_of(LULL_FLOW_PROTO_UDP, 53);
	struct lull_identify_flow flow = { .state = NULL };
	uint8_t ip[128];

	if (built_without())
		return;
	create(16);
	lull_identify_packet(identify, &flow, &packet, ip, dns_query(ip, 40000));
	lull_identify_end(identify, &flow, &record);
	assert_string_equal(name_of(&flow), "DNS");
	assert_int_equal(flow.confidence, 3);
	assert_true(flow.done);
	assert_null(flow.state);
	assert_int_equal(lull_identify_counters(identify)->states, 0);
}

TEST_WITH(packet__cut_short_is_not_shown_and_the_flow_guessed, NULL, destroy)
{
	struct lull_flow_packet packet = packet_of(4, LULL_FLOW_PROTO_UDP);
	struct lull_flow_record record = record_of(LULL_FLOW_PROTO_TCP, 80);
	struct lull_identify_flow flow = { .state = NULL };
	uint8_t ip[128];
	uint32_t bytes = dns_query(ip, 40000);

	if (built_without())
		return;
	create(16);
	lull_identify_packet(identify, &flow, &packet, ip, bytes - 1);
	packet.flags = LULL_FLOW_LATER;
	lull_identify_packet(identify, &flow, &packet, ip, bytes);
	assert_int_equal(lull_identify_counters(identify)->skipped, 2);
	assert_int_equal(lull_identify_counters(identify)->pkts, 0);
	lull_identify_end(identify, &flow, &record);
	assert_string_equal(name_of(&flow), "HTTP");
	assert_int_equal(flow.confidence, 1);
}

TEST_WITH(packet__takes_a_hint, NULL, destroy)
{
	struct lull_flow_packet packet = packet_of(4, LULL_FLOW_PROTO_UDP);
	struct lull_flow_record record = record_of(LULL_FLOW_PROTO_UDP, 53);
	struct lull_identify_flow flow = { .state = NULL };
	uint8_t ip[128];

	if (built_without())
		return;
	create(16);
	packet.hint = lull_identify_hint(&(struct lull_identify_flow){ .app = 7 });
	lull_identify_packet(identify, &flow, &packet, ip, dns_query(ip, 40000));
	assert_true(flow.done);
	assert_int_equal(flow.app, 7);
	assert_int_equal(flow.confidence, 0);
	lull_identify_end(identify, &flow, &record);
	assert_int_equal(flow.app, 7);
	assert_int_equal(lull_identify_counters(identify)->pkts, 0);
}

TEST_WITH(hint__carries_both_parts_of_a_label, NULL, destroy)
{
	struct lull_flow_packet packet = packet_of(4, LULL_FLOW_PROTO_UDP);
	uint8_t ip[128];

	if (built_without())
		return;
	create(1);
	assert_int_equal(lull_identify_hint(&(struct lull_identify_flow){ .app_master = 5 }), 0);
	/* More masters than hints know places for: those keep the protocol alone. */
	for (uint16_t master = 1; master <= 250; master++) {
		for (uint16_t app = 1; app < 260; app += 86) {
			const struct lull_identify_flow found = { .app = app,
								  .app_master = master };
			struct lull_identify_flow flow = { .state = NULL };

			packet.hint = lull_identify_hint(&found);
			lull_identify_packet(identify, &flow, &packet, ip, dns_query(ip, 40000));
			assert_int_equal(flow.app, app);
			assert_int_equal(flow.app_master, master < 128 ? master : 0);
		}
	}
}

TEST_WITH(packet__without_a_state_left_is_counted, NULL, destroy)
{
	struct lull_flow_packet packet = packet_of(4, LULL_FLOW_PROTO_UDP);
	struct lull_flow_record record = record_of(LULL_FLOW_PROTO_UDP, 53);
	struct lull_identify_flow flows[3] = { { .state = NULL } };
	/* Nothing that anybody speaks. */
	uint8_t ip[40] = { 0x45, 0, 0, sizeof(ip), 0, 1, 0, 0,   64,  17,  0,   0, 10,
			   0,    0, 1, 10,         0, 0, 2, 200, 200, 201, 201, 0, 20 };

	if (built_without())
		return;
	create(2);
	for (int i = 0; i < 3; i++)
		lull_identify_packet(identify, &flows[i], &packet, ip, sizeof(ip));
	assert_non_null(flows[1].state);
	assert_null(flows[2].state);
	assert_int_equal(lull_identify_counters(identify)->exhausted, 1);
	assert_int_equal(lull_identify_counters(identify)->states, 2);
	/* What one gives back, the next one gets. */
	lull_identify_end(identify, &flows[0], &record);
	flows[0] = (struct lull_identify_flow){ .state = NULL };
	lull_identify_packet(identify, &flows[0], &packet, ip, sizeof(ip));
	assert_non_null(flows[0].state);
	assert_int_equal(lull_identify_counters(identify)->exhausted, 1);
}

/* Headers that fit and anything behind them; a flow keeps to its protocol, as its key does. */
static uint32_t
random_packet(struct lull_prng *prng, uint64_t flow, struct lull_flow_packet *packet, uint8_t *ip)
{
	static const uint16_t ports[] = { 53, 80, 443, 5060, 1900, 123, 161, 500, 6881, 3478 };
	static const uint8_t protos[] = { 1, 6, 17, 58, 47, 132 };
	uint32_t bytes = 40 + (uint32_t)lull_prng_below(prng, 1400);
	bool is_4 = flow % 2 == 0;
	uint16_t port = ports[lull_prng_below(prng, sizeof(ports) / sizeof(ports[0]))];
	uint8_t proto = protos[flow % sizeof(protos)];
	uint32_t header = is_4 ? IP_BYTES : 40;

	for (uint32_t i = 0; i < bytes; i++)
		ip[i] = (uint8_t)lull_prng_u64(prng);
	*packet = packet_of(is_4 ? 4 : 6, proto);
	packet->time_ns = lull_prng_u64(prng) >> 2;
	ip[0] = is_4 ? (uint8_t)(0x40 | (ip[0] & 15)) : 0x60;
	ip[is_4 ? 2 : 4] = (uint8_t)((is_4 ? bytes : bytes - 40) >> 8);
	ip[is_4 ? 3 : 5] = (uint8_t)(is_4 ? bytes : bytes - 40);
	ip[is_4 ? 9 : 6] = proto;
	if (bytes >= header + 4) {
		ip[header + 2] = (uint8_t)(port >> 8);
		ip[header + 3] = (uint8_t)port;
	}
	return bytes;
}

TEST_WITH(packet__of_anything_is_survived, NULL, destroy)
{
	struct lull_flow_record record = record_of(LULL_FLOW_PROTO_UDP, 53);
	struct lull_identify_flow flows[64] = { { .state = NULL } };
	struct lull_prng prng;

	if (built_without())
		return;
	print_message("seed %d\n", SEED);
	lull_prng_init(&prng, SEED, 0);
	create(4);
	for (int i = 0; i < 20000; i++) {
		uint64_t index = lull_prng_below(&prng, 64);
		struct lull_identify_flow *flow = &flows[index];
		struct lull_flow_packet packet;
		uint8_t *ip = malloc(1500);
		uint32_t bytes = random_packet(&prng, index, &packet, ip);

		lull_identify_packet(identify, flow, &packet, ip, bytes);
		free(ip);
		if (lull_prng_below(&prng, 20) == 0) {
			lull_identify_end(identify, flow, &record);
			assert_null(flow->state);
			*flow = (struct lull_identify_flow){ .state = NULL };
		}
	}
	assert_true(lull_identify_counters(identify)->pkts > 1000);
	assert_true(lull_identify_counters(identify)->exhausted > 0);
	assert_true(lull_identify_counters(identify)->states <= 4);
}

TEST_WITH(create__tells_when_it_is_built_without, NULL, destroy)
{
	struct lull_error error = { "" };

	if (lull_identify_version() != NULL) {
		assert_string_equal(name_of(&(struct lull_identify_flow){ .app = 0 }), "");
		return;
	}
	assert_int_equal(lull_identify_create(1, &identify, &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "nDPI"));
}
