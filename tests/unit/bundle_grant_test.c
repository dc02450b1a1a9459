/* SPDX-License-Identifier: BSD-3-Clause */
/* A long message goes on when its receiver is heard again, whatever was lost meanwhile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lull/bundle.h>

#include "case.h"
#include "base/prng.h"

#define PACKET_BYTES 1472
#define LINK_PKTS 512
#define STEP_NS (20 * LULL_NS_PER_US)
#define MESSAGE_BYTES (6500u << 10)    /* more pieces than may be open: two grants */
#define DEAF_NS (200 * LULL_NS_PER_MS) /* a record is said for less */
#define LIMIT_NS (20 * LULL_NS_PER_S)

/* One direction of a wire: what leaves in a step arrives in the next, unless it is cut. */
struct link {
	uint8_t bytes[LINK_PKTS][PACKET_BYTES];
	uint32_t len_bytes[LINK_PKTS], count;
	bool cut;
};

struct node {
	struct lull_bundle *bundle;
	struct lull_bundle_open open;
	struct lull_prng prng;
	struct link link; /* away from it */
	uint32_t peer;
	int received_error;
	bool up, sent, received;
	bool away; /* it takes no events */
};

struct pair {
	struct node nodes[2];
	uint8_t *from, *to;
	uint64_t room_bytes; /* of the receiver's buffer */
	bool slow; /* the receiver takes no events until the sender has heard of the end */
	uint64_t now_ns;
};

static void
draw(void *arg, uint8_t *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)lull_prng_u64(arg);
}

static struct lull_bundle_address
address_of(uint32_t node)
{
	return (struct lull_bundle_address){ .len_bytes = 1, .bytes = { (uint8_t)(node + 1) } };
}

static void
node_open(struct pair *pair, uint32_t number)
{
	struct node *node = &pair->nodes[number];
	struct lull_bundle_config config = { .name = "a",
					     .node_id = number + 1,
					     .security = &lull_bundle_open_security,
					     .security_arg = &node->open,
					     .peers_max = 2,
					     .idle_probe_ns = LULL_NS_PER_S };
	struct lull_bundle_rail rail = { .address = address_of(number),
					 .packet_bytes = PACKET_BYTES,
					 .ring_pkts = LINK_PKTS };

	config.name[0] = (char)('a' + number);
	lull_prng_init(&node->prng, number, 0);
	node->open = (struct lull_bundle_open){ .random = draw, .arg = &node->prng };
	node->bundle =
		aligned_alloc(LULL_CACHE_LINE, (lull_bundle_size(&config) + LULL_CACHE_LINE - 1) /
						       LULL_CACHE_LINE * LULL_CACHE_LINE);
	assert_non_null(node->bundle);
	assert_int_equal(lull_bundle_init(node->bundle, &config, pair->now_ns), 0);
	assert_int_equal(lull_bundle_rail_add(node->bundle, pair->now_ns, &rail), 0);
}

static void
node_events(struct pair *pair, struct node *node)
{
	struct lull_bundle_event event;

	while (!node->away && lull_bundle_next(node->bundle, &event)) {
		if (event.type == LULL_BUNDLE_UP) {
			node->peer = event.peer;
			node->up = true;
		} else if (event.type == LULL_BUNDLE_HEAD) {
			node->away = pair->slow;
			assert_int_equal(lull_bundle_accept(node->bundle, pair->now_ns, event.peer,
							    event.handle, pair->to,
							    pair->room_bytes, NULL),
					 0);
		} else {
			if (event.type == LULL_BUNDLE_RECEIVED)
				node->received_error = event.error;
			else
				assert_int_equal(event.error, 0);
			node->sent |= event.type == LULL_BUNDLE_SENT;
			node->received |= event.type == LULL_BUNDLE_RECEIVED;
		}
	}
}

static void
pair_step(struct pair *pair)
{
	pair->now_ns += STEP_NS;
	for (uint32_t i = 0; i < 2; i++) {
		struct node *node = &pair->nodes[i];
		struct link *link = &pair->nodes[1 - i].link;
		struct lull_bundle_address from = address_of(1 - i);

		lull_bundle_look(node->bundle, pair->now_ns, 0);
		for (uint32_t j = 0; j < link->count && !link->cut; j++)
			lull_bundle_rx(node->bundle, pair->now_ns, 0, link->bytes[j],
				       link->len_bytes[j], &from);
		link->count = 0;
		lull_bundle_run(node->bundle, pair->now_ns);
		node_events(pair, node);
	}
	for (uint32_t i = 0; i < 2; i++) {
		struct link *link = &pair->nodes[i].link;
		struct lull_bundle_packet packet = { .room_bytes = PACKET_BYTES };

		/* A step has room for 2 packets: as a rail of 1.2 Gbit/s. */
		while (link->count < 2) {
			packet.bytes = link->bytes[link->count];
			if (lull_bundle_tx(pair->nodes[i].bundle, pair->now_ns, 0, &packet, 1) == 0)
				break;
			link->len_bytes[link->count++] = packet.len_bytes;
		}
	}
}

static struct pair *
pair_open(void)
{
	struct lull_bundle_target target = { .name = "b" };
	struct pair *pair = calloc(1, sizeof(*pair));
	int peer;

	assert_non_null(pair);
	pair->from = malloc(MESSAGE_BYTES);
	pair->to = calloc(1, MESSAGE_BYTES);
	assert_non_null(pair->from);
	assert_non_null(pair->to);
	pair->now_ns = LULL_NS_PER_S;
	for (uint32_t i = 0; i < 2; i++)
		node_open(pair, i);
	draw(&pair->nodes[0].prng, pair->from, MESSAGE_BYTES);
	peer = lull_bundle_connect(pair->nodes[0].bundle, pair->now_ns, &target, LULL_NS_PER_S);
	assert_true(peer >= 0);
	for (uint32_t i = 0; i < 10000 && !(pair->nodes[0].up && pair->nodes[1].up); i++)
		pair_step(pair);
	assert_true(pair->nodes[0].up && pair->nodes[1].up);
	for (uint32_t i = 0; i < 100; i++)
		pair_step(pair);
	return pair;
}

static void
pair_close(struct pair *pair)
{
	for (uint32_t i = 0; i < 2; i++) {
		lull_bundle_forget(pair->nodes[i].bundle);
		free(pair->nodes[i].bundle);
	}
	free(pair->from);
	free(pair->to);
	free(pair);
}

/* Sends a message; after so many steps one side is not heard for DEAF_NS. */
static void
send_cut(uint32_t steps, uint32_t mute, uint64_t room_bytes, bool slow)
{
	struct lull_bundle_message message = { .len_bytes = MESSAGE_BYTES };
	struct pair *pair = pair_open();
	uint64_t begin_ns = pair->now_ns;

	message.data = pair->from;
	pair->room_bytes = room_bytes;
	pair->slow = slow;
	assert_int_equal(lull_bundle_send(pair->nodes[0].bundle, pair->now_ns, pair->nodes[0].peer,
					  &message),
			 0);
	for (uint32_t i = 0; i < steps; i++)
		pair_step(pair);
	pair->nodes[mute].link.cut = true;
	for (uint32_t i = 0; i < DEAF_NS / STEP_NS; i++)
		pair_step(pair);
	pair->nodes[mute].link.cut = false;
	while (!(pair->nodes[0].sent && pair->nodes[1].received)) {
		pair_step(pair);
		if (pair->nodes[0].sent)
			pair->nodes[1].away = false;
		if (pair->now_ns - begin_ns > LIMIT_NS)
			fail_msg("stuck, cut after %u steps, node %u not heard", steps, mute);
	}
	assert_int_equal(pair->nodes[1].received_error, room_bytes < MESSAGE_BYTES ? -EMSGSIZE : 0);
	assert_memory_equal(pair->from, pair->to, room_bytes);
	pair_close(pair);
}

TEST(grant__is_asked_for_again_when_it_was_lost)
{
	for (uint32_t steps = 0; steps < 600; steps += 4)
		send_cut(steps, 1, MESSAGE_BYTES, false);
}

/* Nothing more is needed then, and that is all the sender has to hear. */
TEST(grant__end_is_said_again_where_the_buffer_was_short)
{
	for (uint32_t steps = 0; steps < 600; steps += 4)
		send_cut(steps, 1, MESSAGE_BYTES / 3, steps % 8 == 0);
}

TEST(grant__comes_after_pieces_that_were_lost)
{
	for (uint32_t steps = 0; steps < 3000; steps += 89)
		send_cut(steps, 0, MESSAGE_BYTES, false);
}
