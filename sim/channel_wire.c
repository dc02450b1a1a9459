/* SPDX-License-Identifier: BSD-3-Clause */
/* Rails, the switch between them, and an attacker who hears what the switch carries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel_world.h"
#include "link.h"

#define FRAME_TYPE_HIGH 0x88
#define FRAME_TYPE_LOW 0xb5
#define UP_QUEUE_NS (20 * LULL_NS_PER_MS) /* of a port that sends, before its own rate ... */
#define UP_QUEUE_BYTES_MIN 40000u
#define UP_QUEUE_BYTES_MAX 400000u /* ... and in bytes */
#define PACKETS_PER_PORT 2048u
#define PACKETS_MAX 200000u
#define FRAME_USUAL_BYTES 1514u
#define RECORD_EACH 8u

struct lull_bundle_address
channel_wire_address(uint32_t node, uint32_t rail)
{
	return (struct lull_bundle_address){ 6, { 2, 0, 0, 0, (uint8_t)node, (uint8_t)rail } };
}

uint64_t
channel_wire_rate(uint64_t rate_bps, uint32_t packet_bytes)
{
	uint64_t frame = packet_bytes + CHANNEL_FRAME_BYTES;

	return rate_bps / frame * (frame + LULL_SIM_WIRE_BYTES) +
	       rate_bps % frame * (frame + LULL_SIM_WIRE_BYTES) / frame;
}

void
channel_wire_change(struct lull_sim_channel *world, uint32_t port)
{
	const struct channel_port *change = &world->ports[port];

	if (lull_sim_net_change(world->net, channel_wire_up(port), &change->up) != 0 ||
	    lull_sim_net_change(world->net, channel_wire_down(port), &change->down) != 0)
		channel_fail(world, change->node, "a fault that no wire can have");
}

static void
wire_port(struct lull_sim_channel *world, uint32_t node, uint32_t rail)
{
	const struct lull_sim_channel_rail *config = &world->config.nodes[node].rails[rail];
	struct channel_port *port = &world->ports[world->port_count++];
	uint64_t up_bps = config->up_bps > 0 ? config->up_bps : config->rate_bps;

	port->node = node;
	port->rail = rail;
	port->up = (struct lull_sim_path_config){
		.from = node,
		.to = world->config.node_count,
		.rate_bps = channel_wire_rate(up_bps, config->packet_bytes),
		.queue_bytes = LULL_CLAMP(up_bps / 8 * UP_QUEUE_NS / LULL_NS_PER_S,
					  UP_QUEUE_BYTES_MIN, UP_QUEUE_BYTES_MAX),
	};
	port->down = config->wire;
	port->down.from = world->config.node_count;
	port->down.to = node;
	port->down.rate_bps = channel_wire_rate(config->rate_bps, config->packet_bytes);
	port->down.ring_pkts = config->ring_pkts;
	if (port->down.mtu_bytes > 0)
		port->down.mtu_bytes += CHANNEL_FRAME_BYTES;
}

int
channel_wire_create(struct lull_sim_channel *world, const struct lull_sim_node *nodes)
{
	const struct lull_sim_channel_config *config = &world->config;
	struct lull_sim_path_config *paths;
	struct lull_sim_net_config net = { .seed = config->seed, .nodes = nodes };
	int rc = -ENOMEM;

	for (uint32_t i = 0; i < config->node_count; i++)
		for (uint32_t r = 0; r < config->nodes[i].rail_count; r++)
			net.path_count += 2;
	world->ports = calloc(net.path_count / 2, sizeof(*world->ports));
	paths = calloc(net.path_count, sizeof(*paths));
	world->frame_bytes_max = FRAME_USUAL_BYTES;
	for (uint32_t i = 0; world->ports != NULL && i < config->node_count; i++) {
		world->port_first[i] = world->port_count;
		for (uint32_t r = 0; r < config->nodes[i].rail_count; r++) {
			world->frame_bytes_max = LULL_MAX(world->frame_bytes_max,
							  config->nodes[i].rails[r].packet_bytes +
								  CHANNEL_FRAME_BYTES);
			wire_port(world, i, r);
		}
	}
	world->tx_bytes = calloc(CHANNEL_BURST_PKTS, world->frame_bytes_max + 8);
	if (world->ports != NULL && paths != NULL && world->tx_bytes != NULL) {
		for (uint32_t p = 0; p < world->port_count; p++) {
			paths[channel_wire_up(p)] = world->ports[p].up;
			paths[channel_wire_down(p)] = world->ports[p].down;
		}
		net.node_count = config->node_count + (config->attack.gap_ns > 0 ? 2 : 1);
		net.paths = paths;
		net.packets_max = LULL_MIN(PACKETS_PER_PORT * net.path_count, PACKETS_MAX);
		net.packet_bytes_max = world->frame_bytes_max + 64;
		rc = lull_sim_net_create(&net, &world->net);
	}
	free(paths);
	return rc;
}

void
channel_wire_free(struct lull_sim_channel *world)
{
	lull_sim_net_destroy(world->net);
	free(world->ports);
	free(world->tx_bytes);
	for (uint32_t i = 0; i < CHANNEL_RECORDS; i++)
		free(world->records[i].bytes);
}

/* ---- a node's side ---- */

void
channel_wire_send(struct lull_sim_channel *world, uint32_t port, uint8_t *frame,
		  uint32_t packet_bytes, const struct lull_bundle_address *to)
{
	const struct channel_port *from = &world->ports[port];
	struct lull_bundle_address own = channel_wire_address(from->node, from->rail);

	if (to->len_bytes == 0)
		memset(frame, 0xff, 6);
	else
		memcpy(frame, to->bytes, 6);
	memcpy(frame + 6, own.bytes, 6);
	frame[12] = FRAME_TYPE_HIGH;
	frame[13] = FRAME_TYPE_LOW;
	lull_sim_net_send(world->net, channel_wire_up(port), frame,
			  CHANNEL_FRAME_BYTES + packet_bytes);
}

uint32_t
channel_wire_fetch(struct lull_sim_channel *world, uint32_t port, uint8_t **packet,
		   struct lull_bundle_address *from)
{
	uint8_t *frame;
	uint32_t len_bytes = lull_sim_net_fetch(world->net, channel_wire_down(port), &frame);

	if (len_bytes <= CHANNEL_FRAME_BYTES)
		return 0;
	*from = (struct lull_bundle_address){ .len_bytes = 6 };
	memcpy(from->bytes, frame + 6, 6);
	*packet = frame + CHANNEL_FRAME_BYTES;
	return len_bytes - CHANNEL_FRAME_BYTES;
}

/* ---- the switch ---- */

static void
wire_record(struct lull_sim_channel *world, uint32_t port, const uint8_t *frame, uint32_t len_bytes)
{
	struct channel_record *record;

	if (world->seen_frames++ % RECORD_EACH != 0)
		return;
	record = &world->records[lull_prng_below(&world->attack_prng, CHANNEL_RECORDS)];
	if (record->bytes == NULL)
		record->bytes = malloc(world->frame_bytes_max);
	if (record->bytes == NULL)
		return;
	memcpy(record->bytes, frame, len_bytes);
	record->port = port;
	record->len_bytes = len_bytes;
}

static uint32_t
wire_network(const struct lull_sim_channel *world, const struct channel_port *port)
{
	return world->config.nodes[port->node].rails[port->rail].network;
}

static void
wire_forward(struct lull_sim_channel *world, uint32_t in, uint32_t out, const uint8_t *frame,
	     uint32_t len_bytes)
{
	if (wire_network(world, &world->ports[in]) != wire_network(world, &world->ports[out]))
		return;
	if (world->config.attack.gap_ns > 0)
		wire_record(world, out, frame, len_bytes);
	lull_sim_net_send(world->net, channel_wire_down(out), frame, len_bytes);
}

static void
switch_receive(void *arg, uint64_t now_ns, uint32_t path, uint8_t *frame, uint32_t len_bytes)
{
	struct lull_sim_channel *world = arg;
	static const uint8_t everyone[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t ours[4] = { 2, 0, 0, 0 };
	uint32_t in = path / 2, node = frame[4], rail = frame[5];

	(void)now_ns;
	if (len_bytes <= CHANNEL_FRAME_BYTES)
		return;
	if (memcmp(frame, everyone, sizeof(everyone)) == 0) {
		for (uint32_t out = 0; out < world->port_count; out++)
			if (out != in)
				wire_forward(world, in, out, frame, len_bytes);
		return;
	}
	if (memcmp(frame, ours, sizeof(ours)) == 0 && node < world->config.node_count &&
	    rail < world->config.nodes[node].rail_count)
		wire_forward(world, in, world->port_first[node] + rail, frame, len_bytes);
}

static uint64_t
switch_run(void *arg, uint64_t now_ns)
{
	(void)arg, (void)now_ns;
	return LULL_SIM_NEVER;
}

struct lull_sim_node
channel_wire_switch(struct lull_sim_channel *world)
{
	return (struct lull_sim_node){ world, switch_receive, switch_run, 0, NULL };
}

/* ---- the attacker ---- */

enum wire_attack { ATTACK_REPLAY, ATTACK_FLIP, ATTACK_CUT, ATTACK_INVENT, ATTACK_COUNT };

static enum wire_attack
attack_draw(struct lull_sim_channel *world)
{
	const struct lull_sim_channel_attack *attack = &world->config.attack;
	const bool may[ATTACK_COUNT] = { attack->replays, attack->flips, attack->cuts,
					 attack->invents };
	uint32_t type = (uint32_t)lull_prng_below(&world->attack_prng, ATTACK_COUNT);

	for (uint32_t i = 0; i < ATTACK_COUNT && !may[type]; i++)
		type = (type + 1) % ATTACK_COUNT;
	return (enum wire_attack)type;
}

/* Random bytes behind what looks like the begin of a packet. */
static uint32_t
attack_invent(struct lull_sim_channel *world, uint8_t *frame)
{
	struct lull_prng *prng = &world->attack_prng;
	uint32_t len_bytes =
		CHANNEL_FRAME_BYTES + 1 +
		(uint32_t)lull_prng_below(prng, world->frame_bytes_max - CHANNEL_FRAME_BYTES - 1);

	for (uint32_t i = CHANNEL_FRAME_BYTES; i < len_bytes; i++)
		frame[i] = (uint8_t)lull_prng_u64(prng);
	if (lull_prng_below(prng, 4) > 0)
		frame[CHANNEL_FRAME_BYTES] = (uint8_t)(0x10 | lull_prng_below(prng, 11));
	if (lull_prng_below(prng, 2) > 0)
		frame[CHANNEL_FRAME_BYTES + 1] &= 0x3f;
	return len_bytes;
}

static uint32_t
attack_make(struct lull_sim_channel *world, const struct channel_record *record, uint8_t *frame)
{
	struct lull_prng *prng = &world->attack_prng;
	uint32_t len_bytes = record->len_bytes, bits;

	memcpy(frame, record->bytes, len_bytes);
	switch (attack_draw(world)) {
	case ATTACK_FLIP:
		bits = 1 + (uint32_t)lull_prng_below(prng, 3);
		for (uint32_t i = 0; i < bits; i++)
			frame[CHANNEL_FRAME_BYTES +
			      lull_prng_below(prng, len_bytes - CHANNEL_FRAME_BYTES)] ^=
				(uint8_t)(1u << lull_prng_below(prng, 8));
		break;
	case ATTACK_CUT:
		len_bytes = CHANNEL_FRAME_BYTES + 1 +
			    (uint32_t)lull_prng_below(prng, len_bytes - CHANNEL_FRAME_BYTES);
		break;
	case ATTACK_INVENT:
		len_bytes = attack_invent(world, frame);
		break;
	case ATTACK_REPLAY:
	case ATTACK_COUNT:
		break;
	}
	if (lull_prng_below(prng, 4) == 0) /* as if another had sent it */
		frame[10] = (uint8_t)lull_prng_below(prng, world->config.node_count);
	return len_bytes;
}

static void
attack_receive(void *arg, uint64_t now_ns, uint32_t path, uint8_t *frame, uint32_t len_bytes)
{
	(void)arg, (void)now_ns, (void)path, (void)frame, (void)len_bytes;
}

static uint64_t
attack_run(void *arg, uint64_t now_ns)
{
	struct lull_sim_channel *world = arg;
	struct lull_prng *prng = &world->attack_prng;
	const struct channel_record *record =
		&world->records[lull_prng_below(prng, CHANNEL_RECORDS)];
	uint8_t frame[LULL_SIM_NET_BYTES_MAX];
	uint32_t port, len_bytes;

	if (world->calm)
		return LULL_SIM_NEVER;
	if (record->bytes != NULL && record->len_bytes > CHANNEL_FRAME_BYTES) {
		port = lull_prng_below(prng, 5) > 0 ?
			       record->port :
			       (uint32_t)lull_prng_below(prng, world->port_count);
		len_bytes = attack_make(world, record, frame);
		lull_sim_net_send(world->net, channel_wire_down(port), frame, len_bytes);
		world->result.attacks++;
	}
	return now_ns + 1 + lull_prng_below(prng, 2 * world->config.attack.gap_ns);
}

struct lull_sim_node
channel_wire_attacker(struct lull_sim_channel *world)
{
	lull_prng_init(&world->attack_prng, world->config.seed, 0x61747461);
	return (struct lull_sim_node){ world, attack_receive, attack_run, 0, NULL };
}
