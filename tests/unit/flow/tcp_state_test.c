/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <lull/flow.h>

#include "case.h"

#define FIN 1
#define SYN 2
#define RST 4
#define PSH 8
#define ACK 16

struct example {
	uint8_t flags[2];
	uint8_t packets[2];
	uint8_t payload[2];
	const char *state;
};

/* Side 0 is the one that asks. */
static const struct example examples[] = {
	{ { SYN }, { 3, 0 }, { 0 }, "attempt" },
	{ { SYN | RST }, { 2, 0 }, { 0 }, "attempt" },
	{ { SYN | ACK }, { 1, 0 }, { 0 }, "attempt" },
	{ { SYN, RST | ACK }, { 1, 1 }, { 0 }, "refused" },
	{ { SYN | ACK, RST }, { 2, 1 }, { 9, 0 }, "refused" },
	{ { SYN | ACK, SYN | ACK }, { 2, 1 }, { 0 }, "established" },
	{ { SYN | ACK | PSH, SYN | ACK | PSH }, { 9, 9 }, { 99, 99 }, "established" },
	{ { ACK, ACK }, { 1, 1 }, { 9, 9 }, "midstream" },
	{ { ACK, 0 }, { 1, 0 }, { 9, 0 }, "midstream" },
	{ { 0, 0 }, { 1, 0 }, { 0 }, "midstream" },
	{ { SYN | ACK, ACK }, { 2, 1 }, { 0 }, "midstream" },
	{ { SYN | ACK | FIN, SYN | ACK }, { 4, 2 }, { 9, 9 }, "closing" },
	{ { ACK, ACK | FIN }, { 1, 1 }, { 0 }, "closing" },
	{ { SYN | FIN }, { 1, 0 }, { 0 }, "closing" },
	{ { SYN | ACK | FIN, SYN | ACK | FIN }, { 4, 3 }, { 9, 9 }, "closed" },
	{ { ACK | FIN, ACK | FIN }, { 1, 1 }, { 0 }, "closed" },
	{ { SYN | ACK, SYN | ACK | RST }, { 3, 2 }, { 9, 9 }, "reset" },
	{ { SYN | ACK | FIN, SYN | ACK | FIN | RST }, { 4, 4 }, { 9, 9 }, "reset" },
	{ { SYN | FIN, RST }, { 2, 1 }, { 0 }, "reset" },
	{ { SYN | ACK, RST | ACK }, { 2, 2 }, { 9, 9 }, "reset" },
	{ { ACK, RST }, { 1, 1 }, { 0 }, "reset" },
};
#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

static struct lull_flow_record
record_of(const struct example *example, uint32_t turned, uint8_t proto)
{
	struct lull_flow_record record;

	memset(&record, 0, sizeof(record));
	record.key.proto = proto;
	for (uint32_t side = 0; side < 2; side++) {
		record.tcp_flags[side ^ turned] = example->flags[side];
		record.packets[side ^ turned] = example->packets[side];
		record.payload_total[side ^ turned] = example->payload[side];
	}
	return record;
}

TEST(tcp_state__of_examples)
{
	for (uint32_t i = 0; i < 2 * EXAMPLES; i++) {
		const struct example *example = &examples[i / 2];
		struct lull_flow_record record = record_of(example, i % 2, LULL_FLOW_PROTO_TCP);
		const char *name = lull_flow_tcp_state_name(lull_flow_tcp_state(&record));

		if (strcmp(name, example->state) != 0)
			fail_msg("example %u, turned %u: %s, not %s", i / 2, i % 2, name,
				 example->state);
	}
}

TEST(tcp_state__is_none_for_other_protocols)
{
	struct lull_flow_record record = record_of(&examples[0], 0, LULL_FLOW_PROTO_UDP);

	assert_int_equal(lull_flow_tcp_state(&record), LULL_FLOW_TCP_NONE);
	assert_string_equal(lull_flow_tcp_state_name(LULL_FLOW_TCP_NONE), "");
}

/* Neither endpoint's place in the key, nor any flag but FIN, SYN and RST makes a difference. */
TEST(tcp_state__depends_on_three_flags_alone)
{
	for (uint32_t i = 0; i < 64 * 64; i++) {
		struct example example = { .packets = { 1, 1 } };
		struct lull_flow_record plain, turned, more;

		example.flags[0] = (uint8_t)(i % 64);
		example.flags[1] = (uint8_t)(i / 64);
		plain = record_of(&example, 0, LULL_FLOW_PROTO_TCP);
		turned = record_of(&example, 1, LULL_FLOW_PROTO_TCP);
		example.flags[0] |= 0xf8;
		example.flags[1] |= 0xf8;
		more = record_of(&example, 0, LULL_FLOW_PROTO_TCP);
		assert_int_equal(lull_flow_tcp_state(&plain), lull_flow_tcp_state(&turned));
		assert_int_equal(lull_flow_tcp_state(&plain), lull_flow_tcp_state(&more));
	}
}
