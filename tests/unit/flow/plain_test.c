/* SPDX-License-Identifier: BSD-3-Clause */
#include "case.h"
#include "base/prng.h"
#include "flow/plain.h"
#include "frame.h"

/* Ethernet, up to one tag, IPv4 or IPv6, TCP or UDP; then a few bytes spoilt in every other one. */
static void
random_frame(struct lull_prng *prng, struct frame *frame)
{
	bool v6 = lull_prng_below(prng, 2) == 1, tcp = lull_prng_below(prng, 2) == 1;
	uint16_t bytes = (uint16_t)lull_prng_below(prng, 40);
	uint8_t proto = tcp ? LULL_FLOW_PROTO_TCP : LULL_FLOW_PROTO_UDP;
	uint16_t rest = (uint16_t)(bytes + (tcp ? 20 : 8));
	uint16_t type = v6 ? 0x86dd : 0x0800;
	bool tagged = lull_prng_below(prng, 2) == 1;

	frame->len = 0;
	put_ethernet(frame, tagged ? 0x8100 : type);
	if (tagged) {
		put(frame, lull_prng_u64(prng), 2);
		put(frame, type, 2);
	}
	if (v6) {
		put_ipv6(frame, proto, rest);
		frame->bytes[frame->len - 1] = (uint8_t)lull_prng_below(prng, 4);
	} else {
		put_ipv4_between(frame, proto, (uint16_t)(20 + rest), 0,
				 0x0a000000 + (uint32_t)lull_prng_below(prng, 3), 0x0a000001);
	}
	if (tcp)
		put_tcp(frame, (uint16_t)lull_prng_below(prng, 4), 2,
			(uint8_t)(5 + lull_prng_below(prng, 5)), (uint8_t)lull_prng_u64(prng));
	else
		put_udp(frame, (uint16_t)lull_prng_below(prng, 4), 2, bytes);
	put_fill(frame, bytes + (uint32_t)lull_prng_below(prng, 2) * 6);
	if (lull_prng_below(prng, 2) == 1)
		for (uint64_t left = lull_prng_below(prng, 4); left > 0; left--)
			frame->bytes[12 + lull_prng_below(prng, frame->len - 12)] =
				(uint8_t)lull_prng_u64(prng);
}

/* The long way looks into tunnels, and there are none: asking for them makes the parser take it. */
TEST(plain__says_what_the_long_way_says)
{
	struct lull_flow_parser_config config = { .inner = true, .seed = 3, .fragment_bits = 4 };
	struct lull_flow_parser *parser = parser_new(&config);
	unsigned int taken = 0, cut = 0;
	struct lull_prng prng;

	print_message("seed 13\n");
	lull_prng_init(&prng, 13, 0);
	for (unsigned int round = 0; round < 100000; round++) {
		struct lull_flow_packet packet, expected;
		struct frame frame;
		uint32_t captured;
		enum lull_flow_cause cause;
		uint8_t *data;

		random_frame(&prng, &frame);
		captured = frame.len;
		if (lull_prng_below(&prng, 4) == 0)
			captured = (uint32_t)lull_prng_below(&prng, frame.len);
		cause = parse_cut(parser, ETHERNET, &frame, captured, 0, &expected);
		memset(&packet, 0, sizeof(packet));
		data = malloc(captured + (captured == 0));
		assert_non_null(data);
		memcpy(data, frame.bytes, captured);
		if (lull_flow_plain(3, data, captured, frame.len, &packet)) {
			assert_int_equal(cause, LULL_FLOW_OK);
			assert_memory_equal(&packet, &expected, sizeof(packet));
			taken++;
			cut += (packet.flags & LULL_FLOW_CUT) != 0;
		}
		free(data);
	}
	print_message("%u taken, %u of them cut\n", taken, cut);
	assert_true(taken > 50000);
	assert_true(cut > 5000);
	free(parser);
}
