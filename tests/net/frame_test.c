/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers that are written are those that are read; and the checksums are right. */
#include "net_stand.h"

#include <stdlib.h>

#include "net/claims.h"
#include "net/frame.h"
#include "net/walk.h"

#define PAYLOAD 33 /* odd: the last byte counts as half a word */

struct made {
	struct lull_net_outgoing packet;
	uint8_t payload[PAYLOAD];
	uint8_t frame[LULL_NET_HEAD_BYTES_MAX + PAYLOAD];
	uint32_t size;
};

static const uint8_t from[] = { 2, 0, 0, 0, 0, 1 }, to[] = { 2, 0, 0, 0, 0, 2 };

static void
make(struct made *made, const char *source, const char *destination, uint16_t ether_type)
{
	uint32_t head;

	memset(made, 0, sizeof(*made));
	for (uint32_t i = 0; i < PAYLOAD; i++)
		made->payload[i] = (uint8_t)(200 + 3 * i);
	made->packet = (struct lull_net_outgoing){
		.data = made->payload,
		.len_bytes = PAYLOAD,
		.ether_type = ether_type,
		.source_port = 4000,
		.port = 5004,
		.source = stand_ip(source),
		.destination = stand_ip(destination),
		.source_mac = from,
		.mac = to,
	};
	head = lull_net_frame_head(&made->packet);
	assert_in_range(head, 14, LULL_NET_HEAD_BYTES_MAX);
	lull_net_frame_write(made->frame, &made->packet, true);
	memcpy(made->frame + head, made->payload, PAYLOAD);
	made->size = head + PAYLOAD;
	assert_int_equal(lull_net_frame_mtu(&made->packet), made->size - 14);
}

/* RFC 1071, bit by bit: the sum of all words, those of a checksum too, is all ones. */
static uint32_t
sum_of(uint32_t sum, const uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

TEST(frame__is_read_as_it_was_written)
{
	static const char *const ends[][2] = { { "192.0.2.1", "239.1.2.3" },
					       { "2001:db8::1", "2001:db8::2" } };
	struct lull_net_walked walked;
	struct made made;

	for (uint32_t i = 0; i < 2; i++) {
		make(&made, ends[i][0], ends[i][1], 0);
		assert_int_equal(lull_net_walk(made.frame, made.size, &walked), LULL_NET_WALK_UDP);
		assert_int_equal(walked.port, 5004);
		assert_int_equal(walked.len_bytes, PAYLOAD);
		assert_memory_equal(walked.data, made.payload, PAYLOAD);
		assert_memory_equal(walked.mac, from, sizeof(from));
		assert_memory_equal(made.frame, to, sizeof(to));
		assert_true(lull_net_ip_same(&walked.source, &made.packet.source));
		assert_true(lull_net_ip_same(&walked.destination, &made.packet.destination));
	}
	make(&made, NULL, NULL, 0x99fe);
	assert_int_equal(lull_net_walk(made.frame, made.size, &walked), LULL_NET_WALK_ETHERNET);
	assert_int_equal(walked.ether_type, 0x99fe);
	assert_int_equal(walked.len_bytes, PAYLOAD);
}

TEST(frame__has_checksums_that_hold)
{
	struct made made;
	uint32_t sum;

	make(&made, "192.0.2.1", "192.0.2.2", 0);
	assert_int_equal(sum_of(0, made.frame + 14, 20), 0xffff);
	make(&made, "2001:db8::1", "2001:db8::2", 0);
	sum = sum_of(17 + 8 + PAYLOAD, made.frame + 14 + 8, 32);
	assert_int_equal(sum_of(sum, made.frame + 14 + 40, 8 + PAYLOAD), 0xffff);
}

/* Each length that contradicts another, and each cut, is named and never read past. */
TEST(walk__refuses_lengths_that_contradict)
{
	struct lull_net_walked walked;
	struct made made;

	make(&made, "192.0.2.1", "192.0.2.2", 0);
	for (uint32_t size = 0; size < made.size; size++) {
		uint8_t *cut = malloc(size + 1);

		memcpy(cut, made.frame, size);
		assert_int_equal(lull_net_walk(cut, size, &walked),
				 size < 14 + 20 + 8 ? LULL_NET_WALK_MALFORMED : LULL_NET_WALK_CUT);
		free(cut);
	}
	made.frame[14 + 20 + 4] = 1; /* UDP longer than IP */
	assert_int_equal(lull_net_walk(made.frame, made.size, &walked), LULL_NET_WALK_MALFORMED);
	make(&made, "192.0.2.1", "192.0.2.2", 0);
	made.frame[14 + 6] = 0x20; /* more fragments */
	assert_int_equal(lull_net_walk(made.frame, made.size, &walked), LULL_NET_WALK_FRAGMENT);
	make(&made, "192.0.2.1", "192.0.2.2", 0);
	made.frame[14 + 9] = 6;
	assert_int_equal(lull_net_walk(made.frame, made.size, &walked), LULL_NET_WALK_OTHER);
}

/* The first claim of a port counts; what nobody claims is for nobody. */
TEST(claims__find_the_first)
{
	static struct lull_net_claims claims;
	struct lull_net_claim claim = { .index = 3, .first = 3, .port = 5004 };
	struct lull_net_packet packet;
	struct made made;

	make(&made, "192.0.2.1", "192.0.2.2", 0);
	assert_int_equal(lull_net_claims_find(&claims, made.frame, made.size, 0, &packet),
			 LULL_NET_FOUND_NOBODY);
	lull_net_claims_add(&claims, &claim);
	assert_int_equal(lull_net_claims_find(&claims, made.frame, made.size, 0, &packet),
			 LULL_NET_FOUND_CLAIM);
	assert_int_equal(packet.first, 4);
	assert_int_equal(packet.len_bytes, PAYLOAD);
	assert_int_equal(lull_net_claims_find(&claims, made.frame, made.size - 1, 0, &packet),
			 LULL_NET_FOUND_CUT);
	make(&made, NULL, NULL, 0x99fe);
	assert_int_equal(lull_net_claims_find(&claims, made.frame, made.size, 0, &packet),
			 LULL_NET_FOUND_NOBODY);
	claim = (struct lull_net_claim){ .index = 5, .first = 4, .ethernet = true };
	claim.ether_type = 0x99fe;
	lull_net_claims_add(&claims, &claim);
	assert_int_equal(lull_net_claims_find(&claims, made.frame, made.size, 0, &packet),
			 LULL_NET_FOUND_CLAIM);
	assert_int_equal(packet.first, 5);
}

TEST(source__is_an_address_or_a_mac)
{
	struct lull_net_source source;

	assert_int_equal(lull_net_source_parse("02:00:00:00:00:01", &source), 0);
	assert_int_equal(source.kind, LULL_NET_SOURCE_MAC);
	assert_memory_equal(source.mac, from, sizeof(from));
	assert_int_equal(lull_net_source_parse("192.0.2.1", &source), 0);
	assert_int_equal(source.kind, LULL_NET_SOURCE_IP);
	assert_int_equal(lull_net_source_parse("", &source), 0);
	assert_int_equal(source.kind, LULL_NET_SOURCE_ANY);
	assert_int_equal(lull_net_source_parse("any", &source), 0);
	assert_int_equal(source.kind, LULL_NET_SOURCE_ANY);
	assert_true(lull_net_source_parse("192.0.2", &source) < 0);
}
