/* SPDX-License-Identifier: BSD-3-Clause */
/* The state machine of the bundle with the securities that have secrets. */
#include <stdlib.h>
#include <string.h>

#include <lull/bundle.h>

#include "case.h"
#include "base/prng.h"
#include "channel/seal.h"

#define MESSAGES 40
#define MESSAGE_BYTES_MAX 30000
#define PACKET_BYTES 1500
#define STEP_NS 20000

struct node {
	struct lull_bundle *bundle;
	struct channel_keys keys;
	uint8_t number;
	bool up;
	uint32_t peer, received, sent;
};
struct world {
	struct node nodes[2];
	struct lull_prng prng;
	uint64_t now_ns;
	uint32_t damage; /* one packet of so many; 0: none */
	uint32_t damaged;
	bool readable; /* a message was seen on the wire */
	uint8_t buffers[MESSAGES][MESSAGE_BYTES_MAX];
};

static uint32_t
message_bytes(uint32_t i)
{
	return i * i * 17 % MESSAGE_BYTES_MAX;
}

static void
node_init(struct node *node, const struct lull_bundle_security *security, uint8_t number,
	  uint8_t secret)
{
	struct lull_bundle_config config = {
		.name = { (char)('a' + number) },
		.node_id = 1000u + number,
		.security = security,
		.security_arg = &node->keys,
		.peers_max = 2,
	};
	struct lull_bundle_rail rail = {
		.kind = 1,
		.address = { .len_bytes = 1, .bytes = { number } },
		.packet_bytes = PACKET_BYTES,
		.ring_pkts = 256,
	};
	uint8_t key[CHANNEL_KEY_BYTES];
	size_t size = (lull_bundle_size(&config) + 63) / 64 * 64;

	memset(key, secret, sizeof(key));
	memset(node, 0, sizeof(*node));
	channel_keys_set(&node->keys, key);
	node->number = number;
	node->bundle = aligned_alloc(LULL_CACHE_LINE, size);
	assert_non_null(node->bundle);
	memset(node->bundle, 0xee, size); /* it need not be zero */
	assert_int_equal(lull_bundle_init(node->bundle, &config, 0), 0);
	assert_int_equal(lull_bundle_rail_add(node->bundle, 0, &rail), 0);
}

static struct world *
world_make(const struct lull_bundle_security *security, uint8_t first, uint8_t second)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	lull_prng_init(&world->prng, 5, 0);
	node_init(&world->nodes[0], security, 0, first);
	node_init(&world->nodes[1], security, 1, second);
	return world;
}

static void
world_free(struct world *world)
{
	for (int i = 0; i < 2; i++) {
		lull_bundle_forget(world->nodes[i].bundle);
		free(world->nodes[i].bundle);
	}
	free(world);
}

static void
node_events(struct world *world, struct node *node)
{
	struct lull_bundle_event event;

	while (lull_bundle_next(node->bundle, &event)) {
		if (event.type == LULL_BUNDLE_UP) {
			node->up = true;
			node->peer = event.peer;
		} else if (event.type == LULL_BUNDLE_DOWN) {
			node->up = false;
		} else if (event.type == LULL_BUNDLE_HEAD) {
			assert_true(event.tag < MESSAGES);
			assert_int_equal(lull_bundle_accept(node->bundle, world->now_ns, event.peer,
							    event.handle, world->buffers[event.tag],
							    MESSAGE_BYTES_MAX, NULL),
					 0);
		} else if (event.type == LULL_BUNDLE_RECEIVED) {
			assert_int_equal(event.error, 0);
			node->received++;
		} else {
			assert_int_equal(event.error, 0);
			node->sent++;
		}
	}
}

static void
carry(struct world *world, struct node *from, struct node *to)
{
	const struct lull_bundle_address address = { .len_bytes = 1, .bytes = { from->number } };
	uint8_t bytes[PACKET_BYTES];
	struct lull_bundle_packet packet = { .bytes = bytes, .room_bytes = sizeof(bytes) };

	for (int i = 0; i < 8 && lull_bundle_tx(from->bundle, world->now_ns, 0, &packet, 1) == 1;
	     i++) {
		static const uint8_t words[] = "what the message says";

		world->readable |= memmem(bytes, packet.len_bytes, words, sizeof(words)) != NULL;
		if (world->damage > 0 && lull_prng_below(&world->prng, world->damage) == 0) {
			bytes[lull_prng_below(&world->prng, packet.len_bytes)] ^= 0x04;
			world->damaged++;
		}
		lull_bundle_rx(to->bundle, world->now_ns, 0, bytes, packet.len_bytes, &address);
	}
}

/* So many steps, or until both counts are reached. */
static void
run(struct world *world, uint32_t steps, uint32_t received, uint32_t sent)
{
	struct node *nodes = world->nodes;

	for (; steps > 0 && (nodes[1].received < received || nodes[0].sent < sent); steps--) {
		world->now_ns += STEP_NS;
		for (int i = 0; i < 2; i++) {
			lull_bundle_look(nodes[i].bundle, world->now_ns, 0);
			carry(world, &nodes[1 - i], &nodes[i]);
			lull_bundle_run(nodes[i].bundle, world->now_ns);
			node_events(world, &nodes[i]);
		}
	}
}

static void
connect_nodes(struct world *world)
{
	struct lull_bundle_target target = { .name = "b" };

	assert_true(lull_bundle_connect(world->nodes[0].bundle, world->now_ns, &target,
					LULL_BUNDLE_NEVER) >= 0);
	run(world, 5000, 1, 1);
}

static void
send_messages(struct world *world)
{
	static uint8_t text[MESSAGE_BYTES_MAX];

	for (uint32_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t) "what the message says"[i % 22];
	memset(world->buffers, 0, sizeof(world->buffers));
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct lull_bundle_message message = { .data = text,
						       .len_bytes = message_bytes(i),
						       .tag = i };

		assert_int_equal(lull_bundle_send(world->nodes[0].bundle, world->now_ns,
						  world->nodes[0].peer, &message),
				 0);
	}
	run(world, 200000, MESSAGES, MESSAGES);
	assert_int_equal(world->nodes[1].received, MESSAGES);
	assert_int_equal(world->nodes[0].sent, MESSAGES);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		assert_memory_equal(world->buffers[i], text, message_bytes(i));
		for (uint32_t j = message_bytes(i); j < MESSAGE_BYTES_MAX; j++)
			assert_int_equal(world->buffers[i][j], 0);
	}
}

static const struct lull_bundle_security *const both[] = {
	&lull_channel_sealed_security,
	&lull_channel_signed_security,
};

TEST(bundle__brings_messages_over_with_each_security)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		struct world *world = world_make(both[i], 1, 1);

		connect_nodes(world);
		assert_true(world->nodes[0].up && world->nodes[1].up);
		send_messages(world);
		assert_int_equal(world->readable, i == 1);
		assert_true(lull_bundle_counters(world->nodes[1].bundle)->forged == 0);
		world_free(world);
	}
}

TEST(bundle__takes_nothing_that_was_damaged)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		struct world *world = world_make(both[i], 1, 1);

		connect_nodes(world);
		world->damage = 20;
		send_messages(world);
		assert_true(world->damaged > 5);
		assert_true(lull_bundle_counters(world->nodes[1].bundle)->forged > 0);
		world_free(world);
	}
}

TEST(bundle__does_not_know_who_has_another_key)
{
	for (size_t i = 0; i < COUNT(both); i++) {
		struct world *world = world_make(both[i], 1, 2);

		connect_nodes(world);
		assert_false(world->nodes[0].up || world->nodes[1].up);
		assert_true(lull_bundle_counters(world->nodes[1].bundle)->hellos_refused > 0);
		world_free(world);
	}
}

/* A key is changed: each node has both, in another order. */
TEST(bundle__connects_while_a_key_is_changed)
{
	struct world *world = world_make(both[0], 1, 2);
	struct channel_keys *keys[] = { &world->nodes[0].keys, &world->nodes[1].keys };

	keys[0]->keys[keys[0]->count++] = keys[1]->keys[0];
	keys[1]->keys[keys[1]->count++] = keys[0]->keys[0];
	connect_nodes(world);
	assert_true(world->nodes[0].up && world->nodes[1].up);
	send_messages(world);
	world_free(world);
}

/* Both ask at once, so keys of a handshake are given up; who begins anew gets new ones. */
TEST(bundle__connects_from_both_sides_and_anew)
{
	struct world *world = world_make(both[0], 1, 1);
	struct lull_bundle_target target = { .name = "a" };

	assert_true(lull_bundle_connect(world->nodes[1].bundle, 0, &target, LULL_BUNDLE_NEVER) >=
		    0);
	connect_nodes(world);
	assert_true(world->nodes[0].up && world->nodes[1].up);
	send_messages(world);
	for (int again = 0; again < 3; again++) {
		lull_bundle_forget(world->nodes[0].bundle);
		free(world->nodes[0].bundle);
		node_init(&world->nodes[0], both[0], 0, 1);
		world->nodes[1].received = world->nodes[1].sent = 0;
		connect_nodes(world);
		assert_true(world->nodes[0].up && world->nodes[1].up);
		send_messages(world);
	}
	world_free(world);
}
