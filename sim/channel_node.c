/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of a node: look at the rails, take what is there, let the bundle and the application
 * work, send, rest.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel_world.h"

#define NEVER LULL_BUNDLE_NEVER
#define TX_BURSTS 8
#define GUARD 0xa7
#define LOOK_TURNS 16 /* between looks at all paths */

/* ---- begin and end ---- */

static void
node_open_random(void *arg, uint8_t *bytes, uint32_t count)
{
	struct channel_node *node = arg;

	for (uint32_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)lull_prng_u64(&node->secrets);
}

static struct lull_bundle_config
node_config(struct channel_node *node)
{
	struct lull_bundle_config config = node->world->config.bundle;

	snprintf(config.name, sizeof(config.name), "node%02" PRIu32, node->number);
	config.node_id = node->node_id;
	if (node->world->config.keyed) {
		config.security = &channel_vault_security;
		config.security_arg = node;
	} else {
		node->open = (struct lull_bundle_open){ node_open_random, node };
		config.security = &lull_bundle_open_security;
		config.security_arg = &node->open;
	}
	return config;
}

int
channel_node_rail_add(struct channel_node *node, uint64_t now_ns, uint32_t rail)
{
	const struct lull_sim_channel_rail *config =
		&node->world->config.nodes[node->number].rails[rail];
	const struct lull_bundle_rail add = {
		.kind = config->kind,
		.address = channel_wire_address(node->number, rail),
		.packet_bytes = config->packet_bytes,
		.ring_pkts = node->world->config.told_ring_pkts > 0 ?
				     node->world->config.told_ring_pkts :
				     config->ring_pkts,
		.rate_bps = config->rate_bps,
	};
	int number = lull_bundle_rail_add(node->bundle, now_ns, &add);

	if (number < 0 || number >= LULL_BUNDLE_RAILS_MAX) {
		channel_fail(node->world, node->number, "rail %" PRIu32 " is refused: %d", rail,
			     number);
		return -EINVAL;
	}
	node->number_of[rail] = (uint32_t)number;
	node->rail_of[number] = rail;
	return 0;
}

void
channel_node_rail_remove(struct channel_node *node, uint64_t now_ns, uint32_t rail)
{
	int rc;

	if (node->number_of[rail] == LULL_SIM_CHANNEL_ANY)
		return;
	rc = lull_bundle_rail_remove(node->bundle, now_ns, node->number_of[rail]);
	if (rc != 0)
		channel_fail(node->world, node->number, "rail %" PRIu32 " does not go: %d", rail,
			     rc);
	node->number_of[rail] = LULL_SIM_CHANNEL_ANY;
}

static void
node_flush(struct channel_node *node)
{
	struct lull_sim_channel *world = node->world;
	struct lull_bundle_address from;
	uint8_t *packet;

	for (uint32_t r = 0; r < world->config.nodes[node->number].rail_count; r++) {
		uint32_t port = world->port_first[node->number] + r;

		while (channel_wire_fetch(world, port, &packet, &from) > 0)
			;
		node->drops_excused[r] =
			lull_sim_net_counters(world->net, channel_wire_down(port))->ring_drops;
	}
}

static uint64_t
node_stall_gap(struct channel_node *node)
{
	uint64_t every_ns = node->world->config.machine->stall_every_ns;

	return every_ns == 0 ? NEVER : 1 + lull_prng_below(&node->prng, 2 * every_ns);
}

int
channel_node_start(struct channel_node *node, uint64_t now_ns)
{
	struct lull_sim_channel *world = node->world;
	struct lull_bundle_config config;
	struct lull_range wrong;
	size_t room;

	node->life++;
	node->node_id = ((uint64_t)node->life << 8 | node->number) ^ world->id_mask;
	lull_prng_init(&node->prng, world->config.seed,
		       0x1000000 + node->life * 256ULL + node->number);
	lull_prng_init(&node->secrets, world->config.seed,
		       0x2000000 + node->life * 256ULL + node->number);
	config = node_config(node);
	if (lull_bundle_config_check(&config, &wrong) != 0)
		return -EINVAL;
	node->size = lull_bundle_size(&config);
	room = (node->size + CHANNEL_GUARD_BYTES + LULL_CACHE_LINE - 1) &
	       ~(size_t)(LULL_CACHE_LINE - 1);
	free(node->memory);
	node->memory = aligned_alloc(LULL_CACHE_LINE, room);
	if (node->memory == NULL)
		return -ENOMEM;
	memset(node->memory, GUARD, room); /* it need not be zero */
	node->bundle = (struct lull_bundle *)(void *)node->memory;
	if (lull_bundle_init(node->bundle, &config, now_ns) != 0)
		return -EINVAL;
	node_flush(node);
	node->alive = true;
	node->steal_ns = now_ns + node_stall_gap(node);
	if (node->steal_ns < now_ns)
		node->steal_ns = NEVER;
	node->wire_tx_pkts = node->wire_tx_bytes = node->wire_rx_pkts = 0;
	for (uint32_t r = 0; r < world->config.nodes[node->number].rail_count; r++)
		if (channel_node_rail_add(node, now_ns, r) != 0)
			return -EINVAL;
	channel_app_begin(node, now_ns);
	return channel_rest_begin(node, now_ns);
}

void
channel_node_kill(struct channel_node *node)
{
	node->alive = false;
	channel_app_end(node);
}

/* ---- what a loop may ask of its bundle ---- */

static void
node_check_paths(struct channel_node *node, uint32_t peer)
{
	struct lull_bundle_path_look look;

	for (uint32_t i = 0; lull_bundle_path_look(node->bundle, peer, i, &look) == 0; i++) {
		const struct lull_bundle_path_counters *c = &look.counters;

		/* those without data that are under way are not told */
		if (c->tx_pkts < c->acked_pkts + c->lost_pkts + look.under_way_pkts)
			channel_fail(node->world, node->number,
				     "path %" PRIu32 " of peer %" PRIu32 ": %" PRIu64
				     " packets are less than %" PRIu64 " acknowledged + %" PRIu64
				     " lost + %" PRIu32 " under way",
				     i, peer, c->tx_pkts, c->acked_pkts, c->lost_pkts,
				     look.under_way_pkts);
		if (c->delivered_bytes > c->offered_bytes || c->late_pkts > c->lost_pkts)
			channel_fail(node->world, node->number,
				     "path %" PRIu32 " of peer %" PRIu32
				     ": more delivered than offered, or more late than lost",
				     i, peer);
	}
}

static void
node_check_rings(struct channel_node *node)
{
	struct lull_sim_channel *world = node->world;

	for (uint32_t r = 0; r < world->config.nodes[node->number].rail_count; r++) {
		uint32_t port = world->port_first[node->number] + r;

		if (lull_sim_net_counters(world->net, channel_wire_down(port))->ring_drops >
		    node->drops_excused[r])
			channel_fail(world, node->number, "the ring of rail %" PRIu32 " overflows",
				     r);
	}
}

void
channel_node_check(struct channel_node *node, uint64_t now_ns)
{
	const struct lull_bundle_counters *counters = lull_bundle_counters(node->bundle);

	(void)now_ns;
	for (uint32_t i = 0; i < CHANNEL_GUARD_BYTES; i++)
		if (node->memory[node->size + i] != GUARD)
			channel_fail(node->world, node->number,
				     "memory behind the bundle was written");
	if (counters->tx_pkts != node->wire_tx_pkts || counters->tx_bytes != node->wire_tx_bytes ||
	    counters->rx_pkts != node->wire_rx_pkts)
		channel_fail(node->world, node->number,
			     "%" PRIu64 " packets of %" PRIu64 " bytes sent and %" PRIu64
			     " received, the wires say %" PRIu64 ", %" PRIu64 " and %" PRIu64,
			     counters->tx_pkts, counters->tx_bytes, counters->rx_pkts,
			     node->wire_tx_pkts, node->wire_tx_bytes, node->wire_rx_pkts);
	if (node->turns % LOOK_TURNS != 0 && !node->world->closing)
		return;
	for (uint32_t i = 0; i < CHANNEL_PEERS_MAX; i++)
		if (node->peers[i].up)
			node_check_paths(node, i);
	if (!node->world->config.may_overflow)
		node_check_rings(node);
}

/* ---- a turn ---- */

static void
node_moved(struct channel_moved *moved, uint64_t len_bytes)
{
	moved->pkts++;
	moved->bytes += len_bytes + CHANNEL_FRAME_BYTES;
	moved->bytes_squared +=
		(len_bytes + CHANNEL_FRAME_BYTES) * (len_bytes + CHANNEL_FRAME_BYTES);
}

static void
node_receive(struct channel_node *node, uint64_t now_ns, struct channel_moved *moved)
{
	struct lull_sim_channel *world = node->world;
	uint32_t len_bytes, left;

	channel_rest_look(node, now_ns);
	for (uint32_t r = 0; r < world->config.nodes[node->number].rail_count; r++) {
		struct lull_bundle_address from;
		uint8_t *packet;

		for (left = CHANNEL_RX_BURST_PKTS; left > 0; left--) {
			len_bytes = channel_wire_fetch(world, world->port_first[node->number] + r,
						       &packet, &from);
			if (len_bytes == 0)
				break;
			if (node->number_of[r] == LULL_SIM_CHANNEL_ANY)
				continue;
			lull_bundle_rx(node->bundle, now_ns, node->number_of[r], packet, len_bytes,
				       &from);
			node->wire_rx_pkts++;
			node_moved(moved, len_bytes);
		}
		moved->more = moved->more || left == 0;
	}
}

static uint32_t
node_send_burst(struct channel_node *node, uint64_t now_ns, uint32_t rail,
		struct channel_moved *moved)
{
	struct lull_sim_channel *world = node->world;
	uint32_t room = world->config.nodes[node->number].rails[rail].packet_bytes, count;
	uint32_t stride = world->frame_bytes_max + 8;
	struct lull_bundle_packet packets[CHANNEL_BURST_PKTS];

	for (uint32_t i = 0; i < CHANNEL_BURST_PKTS; i++) {
		packets[i] = (struct lull_bundle_packet){
			.bytes = world->tx_bytes + i * stride + CHANNEL_FRAME_BYTES,
			.room_bytes = room,
		};
		packets[i].bytes[room] = GUARD;
	}
	count = lull_bundle_tx(node->bundle, now_ns, node->number_of[rail], packets,
			       CHANNEL_BURST_PKTS);
	for (uint32_t i = 0; i < count; i++) {
		if (packets[i].len_bytes == 0 || packets[i].len_bytes > room ||
		    packets[i].bytes[room] != GUARD ||
		    (packets[i].to.len_bytes != 0 && packets[i].to.len_bytes != 6)) {
			channel_fail(world, node->number,
				     "a packet of %" PRIu32 " bytes in room for %" PRIu32
				     ", or without an address",
				     packets[i].len_bytes, room);
			return 0;
		}
		channel_wire_send(world, world->port_first[node->number] + rail,
				  packets[i].bytes - CHANNEL_FRAME_BYTES, packets[i].len_bytes,
				  &packets[i].to);
		node->wire_tx_pkts++;
		node->wire_tx_bytes += packets[i].len_bytes;
		node_moved(moved, packets[i].len_bytes);
	}
	return count;
}

static void
node_send(struct channel_node *node, uint64_t now_ns, struct channel_moved *moved)
{
	uint32_t left;

	for (uint32_t r = 0; r < node->world->config.nodes[node->number].rail_count; r++) {
		if (node->number_of[r] == LULL_SIM_CHANNEL_ANY)
			continue;
		for (left = TX_BURSTS; left > 0; left--)
			if (node_send_burst(node, now_ns, r, moved) < CHANNEL_BURST_PKTS)
				break;
		moved->more = moved->more || left == 0;
	}
}

static uint64_t
node_run(void *arg, uint64_t now_ns)
{
	struct channel_node *node = arg;
	struct lull_sim_channel *world = node->world;
	struct channel_moved moved = { 0 };
	uint64_t app_ns;

	if (!node->alive || channel_failed(world))
		return NEVER;
	if (now_ns < channel_rest_until(node))
		return channel_rest_until(node);
	if (now_ns >= node->steal_ns) { /* others have the core first */
		const struct lull_sim_machine *machine = world->config.machine;
		uint64_t span_ns =
			LULL_MAX(machine->stall_ns_max, machine->stall_ns) - machine->stall_ns;

		node->ready_ns =
			now_ns + 1 + machine->stall_ns + lull_prng_below(&node->prng, span_ns + 1);
		node->steal_ns = node->ready_ns + node_stall_gap(node);
		return node->ready_ns;
	}
	node->turns++;
	channel_rest_end(node, now_ns);
	node_receive(node, now_ns, &moved);
	lull_bundle_run(node->bundle, now_ns);
	channel_app_events(node, now_ns);
	app_ns = channel_app_run(node, now_ns);
	channel_app_events(node, now_ns);
	node_send(node, now_ns, &moved);
	channel_node_check(node, now_ns);
	channel_digest(world, now_ns + node->number,
		       node->wire_tx_bytes ^ node->wire_rx_pkts << 40);
	return channel_rest_plan(node, now_ns, &moved, app_ns);
}

static uint64_t
node_arrive(void *arg, uint64_t now_ns, uint32_t path)
{
	const struct channel_node *node = arg;

	(void)path;
	return node->alive ? channel_rest_arrive(node, now_ns) : NEVER;
}

static void
node_given(void *arg, uint64_t now_ns, uint32_t path, uint8_t *bytes, uint32_t len_bytes)
{
	(void)arg, (void)now_ns, (void)path, (void)bytes, (void)len_bytes;
}

struct lull_sim_node
channel_node_table(struct channel_node *node)
{
	return (struct lull_sim_node){ node, node_given, node_run, 0, node_arrive };
}
