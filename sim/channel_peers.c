/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is connected with whom, as an application sees it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "channel_world.h"

#define NEVER LULL_BUNDLE_NEVER
#define RECONNECT_NS (20 * LULL_NS_PER_MS)

/* Who all send to one has no business with each other. */
bool
channel_peers_meet(const struct channel_node *node, uint32_t other)
{
	return other != node->number && (node->world->config.job.type != LULL_SIM_CHANNEL_STREAM ||
					 other == 0 || node->number == 0);
}

bool
channel_peers_ask(const struct channel_node *node, uint32_t other)
{
	return channel_peers_meet(node, other) &&
	       (node->number < other || node->world->config.both_ask);
}

void
channel_peers_connect(struct channel_node *node, uint64_t now_ns, uint32_t other)
{
	const struct lull_sim_channel_config *config = &node->world->config;
	struct lull_bundle_target target = { 0 };
	int rc;

	if (!config->by_address || lull_prng_below(&node->prng, 2) == 0)
		snprintf(target.name, sizeof(target.name), "node%02" PRIu32, other);
	if (config->by_address) {
		target.address_count =
			LULL_MIN(config->nodes[other].rail_count, LULL_BUNDLE_TARGETS_MAX);
		for (uint32_t r = 0; r < target.address_count; r++) {
			target.addresses[r].kind = config->nodes[other].rails[r].kind;
			target.addresses[r].address = channel_wire_address(other, r);
		}
	}
	node->connect_ns[other] = NEVER;
	rc = lull_bundle_connect(node->bundle, now_ns, &target, NEVER);
	if (rc == -ENOBUFS || rc == -ENODEV) /* an old one is not gone yet, no rail is there */
		node->connect_ns[other] = now_ns + RECONNECT_NS;
	else if (rc < 0)
		channel_fail(node->world, node->number, "connect to node %" PRIu32 ": %d", other,
			     rc);
}

void
channel_peers_disconnect(struct channel_node *node, uint64_t now_ns, uint32_t other,
			 uint64_t linger_ns)
{
	uint32_t peer = node->peer_of[other];
	int rc;

	if (peer == LULL_SIM_CHANNEL_ANY || node->peers[peer].closing)
		return;
	node->peers[peer].closing = true;
	rc = lull_bundle_disconnect(node->bundle, now_ns, peer, linger_ns);
	if (rc != 0)
		channel_fail(node->world, node->number, "disconnect of node %" PRIu32 ": %d", other,
			     rc);
}

bool
channel_peers_alone(const struct channel_node *node)
{
	for (uint32_t i = 0; i < node->world->config.node_count; i++)
		if (node->peer_of[i] != LULL_SIM_CHANNEL_ANY)
			return false;
	return true;
}

bool
channel_peers_idle(const struct channel_node *node)
{
	const struct lull_sim_channel *world = node->world;

	if (node->head_count > 0)
		return false;
	for (uint32_t i = 0; i < world->config.node_count; i++) {
		uint32_t peer = node->peer_of[i];

		if (channel_peers_meet(node, i) &&
		    (peer == LULL_SIM_CHANNEL_ANY || node->peers[peer].sending > 0 ||
		     node->peers[peer].receiving > 0))
			return false;
	}
	return true;
}

void
channel_peers_up(struct channel_node *node, const struct lull_bundle_event *event)
{
	struct lull_sim_channel *world = node->world;
	struct lull_bundle_peer_look look;
	uint32_t other = LULL_SIM_CHANNEL_ANY;

	if (event->peer >= CHANNEL_PEERS_MAX || node->peers[event->peer].up ||
	    lull_bundle_peer_look(node->bundle, event->peer, &look) != 0) {
		channel_fail(world, node->number, "UP of peer %" PRIu32 ", which is up already",
			     event->peer);
		return;
	}
	for (uint32_t i = 0; i < world->config.node_count; i++) {
		char name[LULL_BUNDLE_NAME_SIZE];

		snprintf(name, sizeof(name), "node%02" PRIu32, i);
		if (strcmp(name, look.name) == 0)
			other = i;
	}
	if (other == LULL_SIM_CHANNEL_ANY || other == node->number ||
	    node->peer_of[other] != LULL_SIM_CHANNEL_ANY) {
		channel_fail(world, node->number, "UP of '%s': a stranger, or connected already",
			     look.name);
		return;
	}
	node->peer_of[other] = event->peer;
	node->connect_ns[other] = NEVER;
	node->peers[event->peer] = (struct channel_peer){
		.up = true,
		.node = other,
		.life = (uint32_t)((look.node_id ^ world->id_mask) >> 8),
		.session = ++node->sessions,
	};
	if (((look.node_id ^ world->id_mask) & 0xff) != other ||
	    node->peers[event->peer].life > world->nodes[other].life)
		channel_fail(world, node->number, "UP of '%s' with a node id that it never had",
			     look.name);
	if (world->closing) /* a question that was under way */
		channel_peers_disconnect(node, lull_sim_net_now(world->net), other, 0);
}

static void
peers_forget_heads(struct channel_node *node, uint32_t peer)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < node->head_count; i++)
		if (node->heads[i].peer != peer)
			node->heads[kept++] = node->heads[i];
	node->head_count = kept;
}

void
channel_peers_down(struct channel_node *node, uint64_t now_ns,
		   const struct lull_bundle_event *event)
{
	struct lull_sim_channel *world = node->world;
	struct channel_peer *peer = &node->peers[event->peer];

	if (event->peer >= CHANNEL_PEERS_MAX) {
		channel_fail(world, node->number, "DOWN of peer %" PRIu32, event->peer);
		return;
	}
	if (!peer->up) { /* one that never answered; nobody sets a limit here */
		/* an address may lead to another node where packets are damaged */
		if (event->error != -EISCONN && !world->config.may_fall && !world->closing)
			channel_fail(world, node->number, "DOWN of peer %" PRIu32 " before UP: %d",
				     event->peer, event->error);
		for (uint32_t i = 0; i < world->config.node_count; i++)
			if (channel_peers_ask(node, i) &&
			    node->peer_of[i] == LULL_SIM_CHANNEL_ANY &&
			    node->connect_ns[i] == NEVER)
				node->connect_ns[i] = now_ns + RECONNECT_NS;
		return;
	}
	if (peer->sending > 0 || peer->receiving > 0)
		channel_fail(world, node->number,
			     "DOWN of node %" PRIu32 " while %" PRIu32 " sends and %" PRIu32
			     " receives have not ended",
			     peer->node, peer->sending, peer->receiving);
	if (!world->closing) {
		world->result.falls++;
		node->falls[peer->node]++;
		if (!world->config.may_fall)
			channel_fail(world, node->number,
				     "the connection to node %" PRIu32 " ended with %d", peer->node,
				     event->error);
		if (channel_peers_ask(node, peer->node))
			node->connect_ns[peer->node] =
				now_ns + lull_prng_below(&node->prng, RECONNECT_NS);
	}
	peers_forget_heads(node, event->peer);
	node->peer_of[peer->node] = LULL_SIM_CHANNEL_ANY;
	*peer = (struct channel_peer){ 0 };
}
