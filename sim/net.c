/* SPDX-License-Identifier: BSD-3-Clause */
#include "net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "wire.h"

#define PACKETS_MAX 1000000u
#define NOBODY UINT32_MAX

struct net_packet {
	uint64_t at_ns, number; /* arrives then; equal times in the order of sending */
	uint32_t path, len_bytes;
	uint32_t next; /* free ones, and those of a ring */
};

/* Packets that wait, the first one first. */
struct net_ring {
	uint32_t first, last, held;
};

struct net_path {
	struct net_ring ring;
	struct lull_sim_wire wire;
	struct lull_sim_path_counters counters;
};

struct net_node {
	struct lull_sim_node node;
	uint64_t run_ns;
	struct net_ring ring;
};

struct lull_sim_net {
	uint64_t now_ns, number;
	uint32_t node_count, path_count, packets_max, packet_bytes_max;
	uint32_t free, under_way;
	uint32_t heap_count, *heap; /* packets by arrival */
	struct net_packet *packets;
	uint8_t *bytes;
	struct net_path *paths;
	struct net_node nodes[LULL_SIM_NET_NODES_MAX];
};

/* ---- packets by arrival ---- */

static bool
heap_before(const struct lull_sim_net *net, uint32_t a, uint32_t b)
{
	const struct net_packet *one = &net->packets[a], *other = &net->packets[b];

	return one->at_ns < other->at_ns ||
	       (one->at_ns == other->at_ns && one->number < other->number);
}

static void
heap_push(struct lull_sim_net *net, uint32_t slot)
{
	uint32_t i = net->heap_count++;

	for (; i > 0 && heap_before(net, slot, net->heap[(i - 1) / 2]); i = (i - 1) / 2)
		net->heap[i] = net->heap[(i - 1) / 2];
	net->heap[i] = slot;
}

static uint32_t
heap_pop(struct lull_sim_net *net)
{
	uint32_t first = net->heap[0], last = net->heap[--net->heap_count], i = 0;

	for (uint32_t child = 1; child < net->heap_count; child = 2 * i + 1) {
		if (child + 1 < net->heap_count &&
		    heap_before(net, net->heap[child + 1], net->heap[child]))
			child++;
		if (!heap_before(net, net->heap[child], last))
			break;
		net->heap[i] = net->heap[child];
		i = child;
	}
	net->heap[i] = last;
	return first;
}

static uint32_t
net_take(struct lull_sim_net *net)
{
	uint32_t slot = net->free;

	if (slot != NOBODY) {
		net->free = net->packets[slot].next;
		net->under_way++;
	}
	return slot;
}

static void
net_give_back(struct lull_sim_net *net, uint32_t slot)
{
	net->packets[slot].next = net->free;
	net->free = slot;
	net->under_way--;
}

static uint8_t *
net_bytes(const struct lull_sim_net *net, uint32_t slot)
{
	return net->bytes + (size_t)slot * net->packet_bytes_max;
}

/* ---- paths ---- */

static void
net_carry(struct lull_sim_net *net, uint32_t number, const uint8_t *bytes, uint32_t len_bytes,
	  uint64_t at_ns)
{
	struct net_path *path = &net->paths[number];
	uint32_t slot = net_take(net);

	if (slot == NOBODY) {
		path->counters.pool_drops++;
		return;
	}
	net->packets[slot] = (struct net_packet){
		.at_ns = at_ns,
		.number = net->number++,
		.path = number,
		.len_bytes = len_bytes,
	};
	memcpy(net_bytes(net, slot), bytes, len_bytes);
	heap_push(net, slot);
}

void
lull_sim_net_send(struct lull_sim_net *net, uint32_t number, const uint8_t *bytes,
		  uint32_t len_bytes)
{
	uint8_t damaged[LULL_SIM_NET_BYTES_MAX];
	struct net_path *path = &net->paths[number];
	struct lull_sim_fate fate;
	uint64_t at_ns;

	LULL_ASSERT(number < net->path_count);
	LULL_ASSERT(len_bytes > 0 && len_bytes <= net->packet_bytes_max);
	path->counters.sent++, path->counters.sent_bytes += len_bytes;
	fate = lull_sim_wire_draw(&path->wire, len_bytes);
	if (path->wire.config.mtu_bytes > 0 && len_bytes > path->wire.config.mtu_bytes) {
		path->counters.too_long++;
		return;
	}
	if (!lull_sim_wire_has_room(&path->wire, net->now_ns, len_bytes)) {
		path->counters.queue_drops++;
		return;
	}
	at_ns = lull_sim_wire_left_ns(&path->wire, net->now_ns, len_bytes, &fate);
	if (fate.lost) { /* behind the rate: it took its time there */
		path->counters.lost++;
		return;
	}
	at_ns = lull_sim_wire_arrival_ns(&path->wire, at_ns, &fate);
	if (fate.damaged) {
		memcpy(damaged, bytes, len_bytes);
		damaged[fate.bit / 8] ^= (uint8_t)(1u << fate.bit % 8);
		bytes = damaged;
	}
	path->counters.damaged += fate.damaged, path->counters.reordered += fate.reordered;
	path->counters.overtook += fate.overtakes;
	path->counters.duplicated += fate.duplicated;
	for (uint32_t i = 0; i <= fate.duplicated; i++)
		net_carry(net, number, bytes, len_bytes, at_ns);
}

/* ---- nodes ---- */

static void
node_give(struct lull_sim_net *net, struct net_node *node, uint32_t slot)
{
	const struct net_packet *pkt = &net->packets[slot];
	struct lull_sim_path_counters *counters = &net->paths[pkt->path].counters;

	counters->delivered++;
	counters->delivered_bytes += pkt->len_bytes;
	node->node.receive(node->node.arg, net->now_ns, pkt->path, net_bytes(net, slot),
			   pkt->len_bytes);
	net_give_back(net, slot);
}

/* False: the ring is full, and the packet gone. */
static bool
net_hold(struct lull_sim_net *net, struct net_ring *ring, uint32_t ring_pkts, uint32_t slot)
{
	if (ring->held >= ring_pkts) {
		net->paths[net->packets[slot].path].counters.ring_drops++;
		net_give_back(net, slot);
		return false;
	}
	if (ring->held == 0)
		ring->first = slot;
	else
		net->packets[ring->last].next = slot;
	ring->last = slot;
	ring->held++;
	return true;
}

static uint32_t
net_unhold(struct lull_sim_net *net, struct net_ring *ring)
{
	uint32_t slot = ring->first;

	ring->held--;
	ring->first = net->packets[slot].next;
	return slot;
}

static void
node_run(struct lull_sim_net *net, struct net_node *node)
{
	uint64_t next_ns;

	node->run_ns = LULL_SIM_NEVER;
	for (uint32_t left = node->ring.held; left > 0; left--)
		node_give(net, node, net_unhold(net, &node->ring));
	next_ns = node->node.run(node->node.arg, net->now_ns);
	LULL_ASSERT(next_ns > net->now_ns);
	node->run_ns = LULL_MIN(node->run_ns, next_ns);
}

uint32_t
lull_sim_net_fetch(struct lull_sim_net *net, uint32_t number, uint8_t **bytes)
{
	struct net_path *path = &net->paths[number];
	uint32_t slot, len_bytes;

	LULL_ASSERT(number < net->path_count);
	if (path->ring.held == 0)
		return 0;
	slot = net_unhold(net, &path->ring);
	len_bytes = net->packets[slot].len_bytes;
	path->counters.delivered++;
	path->counters.delivered_bytes += len_bytes;
	*bytes = net_bytes(net, slot);
	net_give_back(net, slot);
	return len_bytes;
}

static void
net_arrive(struct lull_sim_net *net)
{
	uint32_t slot = heap_pop(net), number = net->packets[slot].path;
	struct net_path *path = &net->paths[number];
	struct net_node *node = &net->nodes[path->wire.config.to];
	uint64_t run_ns;

	net->now_ns = net->packets[slot].at_ns;
	if (path->wire.config.ring_pkts > 0) {
		if (net_hold(net, &path->ring, path->wire.config.ring_pkts, slot)) {
			run_ns = node->node.arrive(node->node.arg, net->now_ns, number);
			node->run_ns = LULL_MIN(node->run_ns, run_ns);
		}
		return;
	}
	if (node->node.ring_pkts > 0) {
		net_hold(net, &node->ring, node->node.ring_pkts, slot);
	} else {
		node_give(net, node, slot);
		node_run(net, node);
	}
}

void
lull_sim_net_wake(struct lull_sim_net *net, uint32_t number, uint64_t at_ns)
{
	struct net_node *node = &net->nodes[number];

	LULL_ASSERT(number < net->node_count);
	node->run_ns = LULL_MIN(node->run_ns, LULL_MAX(at_ns, net->now_ns + 1));
}

void
lull_sim_net_run(struct lull_sim_net *net, uint64_t end_ns)
{
	for (;;) {
		uint64_t packet_ns =
			net->heap_count > 0 ? net->packets[net->heap[0]].at_ns : LULL_SIM_NEVER;
		struct net_node *node = &net->nodes[0];

		for (uint32_t i = 1; i < net->node_count; i++)
			if (net->nodes[i].run_ns < node->run_ns)
				node = &net->nodes[i];
		if (LULL_MIN(packet_ns, node->run_ns) >= end_ns)
			break;
		if (packet_ns <= node->run_ns) {
			net_arrive(net);
		} else {
			net->now_ns = node->run_ns;
			node_run(net, node);
		}
	}
	net->now_ns = LULL_MAX(net->now_ns, end_ns);
}

/* ---- settings ---- */

static bool
path_valid(const struct lull_sim_path_config *config, uint32_t node_count)
{
	return config->from < node_count && config->to < node_count && lull_sim_wire_valid(config);
}

static bool
net_valid(const struct lull_sim_net_config *config)
{
	if (config->node_count == 0 || config->node_count > LULL_SIM_NET_NODES_MAX ||
	    config->path_count == 0 || config->path_count > LULL_SIM_NET_PATHS_MAX ||
	    config->packets_max == 0 || config->packets_max > PACKETS_MAX ||
	    config->packet_bytes_max == 0 || config->packet_bytes_max > LULL_SIM_NET_BYTES_MAX)
		return false;
	for (uint32_t i = 0; i < config->node_count; i++)
		if (config->nodes[i].receive == NULL || config->nodes[i].run == NULL)
			return false;
	for (uint32_t i = 0; i < config->path_count; i++)
		if (!path_valid(&config->paths[i], config->node_count) ||
		    (config->paths[i].ring_pkts > 0 && !config->nodes[config->paths[i].to].arrive))
			return false;
	return true;
}

static void
net_fill(struct lull_sim_net *net, const struct lull_sim_net_config *config)
{
	net->node_count = config->node_count;
	net->path_count = config->path_count;
	net->packets_max = config->packets_max;
	net->packet_bytes_max = config->packet_bytes_max;
	for (uint32_t i = 0; i < config->packets_max; i++)
		net->packets[i].next = i + 1 < config->packets_max ? i + 1 : NOBODY;
	for (uint32_t i = 0; i < config->node_count; i++)
		net->nodes[i].node = config->nodes[i];
	for (uint32_t i = 0; i < config->path_count; i++) {
		net->paths[i].wire.config = config->paths[i];
		lull_prng_init(&net->paths[i].wire.prng, config->seed, i);
		lull_sim_link_init(&net->paths[i].wire.link, config->paths[i].rate_bps, 0, 0);
	}
}

int
lull_sim_net_create(const struct lull_sim_net_config *config, struct lull_sim_net **out)
{
	struct lull_sim_net *net;

	if (!net_valid(config))
		return -EINVAL;
	net = calloc(1, sizeof(*net));
	if (net == NULL)
		return -ENOMEM;
	net->heap = calloc(config->packets_max, sizeof(*net->heap));
	net->packets = calloc(config->packets_max, sizeof(*net->packets));
	net->bytes = calloc(config->packets_max, config->packet_bytes_max);
	net->paths = calloc(config->path_count, sizeof(*net->paths));
	if (net->heap == NULL || net->packets == NULL || net->bytes == NULL || net->paths == NULL) {
		lull_sim_net_destroy(net);
		return -ENOMEM;
	}
	net_fill(net, config);
	*out = net;
	return 0;
}

void
lull_sim_net_destroy(struct lull_sim_net *net)
{
	if (net == NULL)
		return;
	free(net->heap);
	free(net->packets);
	free(net->bytes);
	free(net->paths);
	free(net);
}

int
lull_sim_net_change(struct lull_sim_net *net, uint32_t number,
		    const struct lull_sim_path_config *config)
{
	struct net_path *path = &net->paths[number];
	uint64_t free_ps = path->wire.link.free_ps;

	LULL_ASSERT(number < net->path_count);
	if (!path_valid(config, net->node_count) || config->from != path->wire.config.from ||
	    config->to != path->wire.config.to ||
	    (config->ring_pkts > 0) != (path->wire.config.ring_pkts > 0))
		return -EINVAL;
	path->wire.config = *config;
	lull_sim_link_init(&path->wire.link, config->rate_bps, 0, 0);
	path->wire.link.free_ps = free_ps;
	return 0;
}

const struct lull_sim_path_counters *
lull_sim_net_counters(const struct lull_sim_net *net, uint32_t number)
{
	LULL_ASSERT(number < net->path_count);
	return &net->paths[number].counters;
}

uint32_t
lull_sim_net_under_way(const struct lull_sim_net *net)
{
	return net->under_way;
}

uint64_t
lull_sim_net_now(const struct lull_sim_net *net)
{
	return net->now_ns;
}
