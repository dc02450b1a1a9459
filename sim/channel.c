/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "channel_config.h"
#include "channel_world.h"

#define STEP_NS LULL_NS_PER_MS
#define CLOSE_NS (10 * LULL_NS_PER_S) /* in which all connections have ended */
#define LINGER_NS LULL_NS_PER_S
#define PROGRESS_STEPS 16

static int
world_create(struct lull_sim_channel *world)
{
	struct lull_sim_node nodes[LULL_SIM_CHANNEL_NODES_MAX + 2];
	uint32_t count = world->config.node_count;
	int rc;

	for (uint32_t i = 0; i < count; i++) {
		world->nodes[i].world = world;
		world->nodes[i].number = i;
		nodes[i] = channel_node_table(&world->nodes[i]);
	}
	nodes[count] = channel_wire_switch(world);
	nodes[count + 1] = channel_wire_attacker(world);
	rc = channel_wire_create(world, nodes);
	channel_vault_use(world);
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = channel_node_start(&world->nodes[i], 0);
	return rc;
}

int
lull_sim_channel_create(const struct lull_sim_channel_config *config, struct lull_sim_channel **out)
{
	struct lull_sim_channel *world;
	struct lull_prng prng;
	int rc;

	if (!channel_config_valid(config))
		return -EINVAL;
	world = calloc(1, sizeof(*world));
	if (world == NULL)
		return -ENOMEM;
	world->config = *config;
	lull_prng_init(&prng, config->seed, 0x776f726c);
	world->id_mask = lull_prng_u64(&prng) | 1ULL << 63;
	world->secret = lull_prng_u64(&prng);
	world->marked_ns = LULL_SIM_NEVER;
	rc = world_create(world);
	if (rc != 0) {
		lull_sim_channel_free(world);
		return rc;
	}
	*out = world;
	return 0;
}

void
lull_sim_channel_free(struct lull_sim_channel *world)
{
	if (world == NULL)
		return;
	for (uint32_t i = 0; i < LULL_SIM_CHANNEL_NODES_MAX; i++) {
		channel_app_end(&world->nodes[i]);
		free(world->nodes[i].memory);
		free(world->nodes[i].messages);
		free(world->nodes[i].heads);
		free(world->nodes[i].idle_memory);
	}
	channel_wire_free(world);
	channel_vault_free(world);
	free(world);
}

const char *
lull_sim_channel_failure(const struct lull_sim_channel *world)
{
	return world->failure;
}

/* ---- faults ---- */

static void
world_fault_wire(struct lull_sim_channel *world, const struct lull_sim_channel_fault *fault,
		 uint32_t node, uint32_t rail)
{
	uint32_t number = world->port_first[node] + rail;
	struct channel_port *port = &world->ports[number];
	const struct lull_sim_channel_rail *config = &world->config.nodes[node].rails[rail];

	switch (fault->type) {
	case LULL_SIM_CHANNEL_SILENT:
		port->up.silent = port->down.silent = true;
		break;
	case LULL_SIM_CHANNEL_SILENT_UP:
		port->up.silent = true;
		break;
	case LULL_SIM_CHANNEL_SILENT_DOWN:
		port->down.silent = true;
		break;
	case LULL_SIM_CHANNEL_RETURN:
		port->up.silent = port->down.silent = false;
		break;
	case LULL_SIM_CHANNEL_RATE:
		port->up.rate_bps = port->down.rate_bps =
			channel_wire_rate(fault->value, config->packet_bytes);
		break;
	case LULL_SIM_CHANNEL_LOSS:
		port->down.loss_ppm = (uint32_t)fault->value;
		port->down.fade_ppm = port->down.fade_pkts = 0;
		break;
	case LULL_SIM_CHANNEL_MTU:
		port->down.mtu_bytes =
			fault->value > 0 ? (uint32_t)fault->value + CHANNEL_FRAME_BYTES : 0;
		break;
	default:
		return;
	}
	channel_wire_change(world, number);
}

static void
world_fault_rail(struct lull_sim_channel *world, const struct lull_sim_channel_fault *fault,
		 struct channel_node *node, uint32_t rail)
{
	uint64_t now_ns = lull_sim_net_now(world->net);

	if (!node->alive)
		return;
	switch (fault->type) {
	case LULL_SIM_CHANNEL_REMOVE:
		channel_node_rail_remove(node, now_ns, rail);
		break;
	case LULL_SIM_CHANNEL_ADD:
		if (node->number_of[rail] == LULL_SIM_CHANNEL_ANY)
			channel_node_rail_add(node, now_ns, rail);
		break;
	default:
		break;
	}
}

static void
world_fault_node(struct lull_sim_channel *world, const struct lull_sim_channel_fault *fault,
		 struct channel_node *node)
{
	uint64_t now_ns = lull_sim_net_now(world->net);

	if (fault->type == LULL_SIM_CHANNEL_START && !node->alive &&
	    channel_node_start(node, now_ns) != 0)
		channel_fail(world, node->number, "does not start");
	if (!node->alive)
		return;
	switch (fault->type) {
	case LULL_SIM_CHANNEL_KILL:
		channel_node_kill(node);
		break;
	case LULL_SIM_CHANNEL_STOP:
		node->ready_ns = LULL_MAX(node->ready_ns, now_ns) + fault->value;
		break;
	case LULL_SIM_CHANNEL_REST:
		channel_rest_set(node, now_ns, fault->value);
		break;
	case LULL_SIM_CHANNEL_DISCONNECT:
		channel_peers_disconnect(node, now_ns, (uint32_t)fault->value,
					 lull_prng_below(&node->prng, LINGER_NS / 10));
		break;
	default:
		break;
	}
}

static bool
fault_of_rails(enum lull_sim_channel_fault_type type)
{
	return type <= LULL_SIM_CHANNEL_ADD;
}

static void
world_fault(struct lull_sim_channel *world, const struct lull_sim_channel_fault *fault)
{
	for (uint32_t n = 0; n < world->config.node_count; n++) {
		if (fault->node != LULL_SIM_CHANNEL_ANY && fault->node != n)
			continue;
		if (!fault_of_rails(fault->type))
			world_fault_node(world, fault, &world->nodes[n]);
		for (uint32_t r = 0;
		     fault_of_rails(fault->type) && r < world->config.nodes[n].rail_count; r++)
			if (fault->rail == LULL_SIM_CHANNEL_ANY || fault->rail == r) {
				world_fault_wire(world, fault, n, r);
				world_fault_rail(world, fault, &world->nodes[n], r);
			}
		lull_sim_net_wake(world->net, n, lull_sim_net_now(world->net));
	}
}

/* ---- the run ---- */

/* What others have acknowledged to a node. */
static uint64_t
world_delivered(const struct lull_sim_channel *world, uint32_t node)
{
	struct lull_bundle_path_look look;
	uint64_t bytes = 0;

	for (uint32_t p = 0; world->nodes[node].alive && p < CHANNEL_PEERS_MAX; p++)
		for (uint32_t i = 0;
		     world->nodes[node].peers[p].up &&
		     lull_bundle_path_look(world->nodes[node].bundle, p, i, &look) == 0;
		     i++)
			bytes += look.counters.delivered_bytes;
	return bytes;
}

/*
 * Jobs that send all the time have long messages under way at both ends of the measurement: what
 * counts is what was acknowledged. RANDOM and PING count messages (app).
 */
static void
world_sample(struct lull_sim_channel *world, uint64_t now_ns)
{
	uint64_t bin = now_ns / LULL_NS_PER_MS, bytes = 0;
	bool counts = now_ns >= world->config.warmup_ns;

	if (world->config.job.type == LULL_SIM_CHANNEL_RANDOM ||
	    world->config.job.type == LULL_SIM_CHANNEL_PING)
		return;
	for (uint32_t n = 0; n < world->config.node_count; n++) {
		uint64_t now_bytes = world_delivered(world, n), more;

		more = now_bytes - LULL_MIN(world->nodes[n].delivered_bytes, now_bytes);
		world->nodes[n].delivered_bytes = now_bytes;
		bytes += more;
		world->result.from_bytes[n] += counts ? more : 0;
		world->result.received_bytes += counts ? more : 0;
	}
	if (bin < LULL_SIM_CHANNEL_BINS)
		world->result.curve_bytes[bin] = bytes;
}

/* Up to end_ns, with the faults that come before. */
static void
world_advance(struct lull_sim_channel *world, uint64_t end_ns)
{
	while (!channel_failed(world) && world->fault_next < world->config.fault_count &&
	       world->config.faults[world->fault_next].at_ns <= end_ns) {
		const struct lull_sim_channel_fault *fault =
			&world->config.faults[world->fault_next++];

		lull_sim_net_run(world->net, fault->at_ns);
		world_fault(world, fault);
	}
	if (!channel_failed(world))
		lull_sim_net_run(world->net, end_ns);
}

static void
world_wake(struct lull_sim_channel *world)
{
	for (uint32_t i = 0; i < world->config.node_count; i++)
		lull_sim_net_wake(world->net, i, lull_sim_net_now(world->net));
}

static bool
world_idle(const struct lull_sim_channel *world)
{
	for (uint32_t i = 0; i < world->config.node_count; i++)
		if (world->nodes[i].alive && !channel_peers_idle(&world->nodes[i]))
			return false;
	return true;
}

static bool
world_alone(const struct lull_sim_channel *world)
{
	for (uint32_t i = 0; i < world->config.node_count; i++)
		if (world->nodes[i].alive && !channel_peers_alone(&world->nodes[i]))
			return false;
	return true;
}

/* Run in steps until @p done says so; false: it did not in time. */
static bool
world_until(struct lull_sim_channel *world, uint64_t limit_ns,
	    bool (*done)(const struct lull_sim_channel *world))
{
	uint64_t end_ns = lull_sim_net_now(world->net) + limit_ns;

	while (!channel_failed(world) && !done(world)) {
		uint64_t now_ns = lull_sim_net_now(world->net);

		if (now_ns >= end_ns)
			return false;
		world_advance(world, now_ns + STEP_NS);
	}
	return true;
}

static void
world_calm(struct lull_sim_channel *world)
{
	world->calm = true;
	world_wake(world);
	if (!world_until(world, world->config.bound_ns, world_idle)) {
		for (uint32_t i = 0; i < world->config.node_count; i++)
			for (uint32_t n = 0; n < world->config.node_count; n++)
				if (i != n && channel_peers_meet(&world->nodes[i], n) &&
				    world->nodes[i].peer_of[n] == LULL_SIM_CHANNEL_ANY)
					channel_fail(world, i,
						     "not connected to node %" PRIu32
						     " though nothing stands between them",
						     n);
		channel_ledger_end(world);
		channel_fail(world, 0, "operations did not end in time");
	}
	if (!channel_failed(world))
		channel_ledger_end(world);
}

static void
world_close(struct lull_sim_channel *world)
{
	uint32_t count = world->config.node_count;

	world->closing = true;
	for (uint32_t i = 0; i < count && !channel_failed(world); i++)
		for (uint32_t n = 0; n < count && world->nodes[i].alive; n++)
			if (n != i)
				channel_peers_disconnect(&world->nodes[i],
							 lull_sim_net_now(world->net), n,
							 LINGER_NS);
	world_wake(world);
	if (!world_until(world, CLOSE_NS, world_alone))
		for (uint32_t i = 0; i < count; i++)
			if (world->nodes[i].alive && !channel_peers_alone(&world->nodes[i]))
				channel_fail(world, i, "a connection did not end in time");
}

int
lull_sim_channel_run(struct lull_sim_channel *world,
		     bool (*progress)(void *arg, uint64_t done_ns, uint64_t total_ns), void *arg)
{
	uint64_t end_ns = world->config.calm_ns, now_ns;

	channel_vault_use(world);
	for (uint32_t step = 0; !channel_failed(world); step++) {
		now_ns = lull_sim_net_now(world->net);
		if (now_ns >= end_ns)
			break;
		if (progress != NULL && step % PROGRESS_STEPS == 0 &&
		    !progress(arg, now_ns, end_ns))
			return -EINTR;
		channel_result_mark(world, now_ns);
		world_advance(world, LULL_MIN(now_ns + STEP_NS, end_ns));
		world_sample(world, now_ns);
		if (world->config.age_ns > 0)
			channel_ledger_age(world, now_ns);
	}
	if (!channel_failed(world)) {
		channel_result_note(world);
		world_calm(world);
	}
	if (!channel_failed(world))
		world_close(world);
	if (!channel_failed(world))
		channel_result_wires(world);
	return channel_failed(world) ? -EPROTO : 0;
}
