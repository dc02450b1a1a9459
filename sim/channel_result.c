/* SPDX-License-Identifier: BSD-3-Clause */
/* What came of a world: packets, paths, loops. */
#include "channel_world.h"

/* Since the start; what was sent again of the connections that are up. */
static struct lull_sim_channel_traffic
result_traffic(const struct lull_sim_channel *world)
{
	struct lull_sim_channel_traffic sum = { 0 };
	struct lull_bundle_path_look look;

	for (uint32_t path = 0; path < 2 * world->port_count; path++) {
		const struct lull_sim_path_counters *c = lull_sim_net_counters(world->net, path);

		sum.tx_pkts += path % 2 == 0 ? c->sent : 0; /* to the switch; from it again */
		sum.dropped_pkts += c->too_long + c->queue_drops + c->lost + c->ring_drops;
		sum.ring_pkts += c->ring_drops;
	}
	for (uint32_t n = 0; n < world->config.node_count; n++)
		for (uint32_t p = 0; world->nodes[n].alive && p < CHANNEL_PEERS_MAX; p++)
			for (uint32_t i = 0;
			     world->nodes[n].peers[p].up &&
			     lull_bundle_path_look(world->nodes[n].bundle, p, i, &look) == 0;
			     i++)
				sum.resent_pkts += look.counters.resent_pkts;
	return sum;
}

/* What the loops do, and what becomes of packets, counts from the first step behind the warm-up. */
void
channel_result_mark(struct lull_sim_channel *world, uint64_t now_ns)
{
	if (world->marked_ns != LULL_SIM_NEVER || now_ns < world->config.warmup_ns)
		return;
	world->marked_ns = now_ns;
	world->marked = result_traffic(world);
	for (uint32_t n = 0; n < world->config.node_count; n++)
		channel_rest_mark(&world->nodes[n], now_ns);
}

/* How paths look before they are closed, and what the loops did. */
void
channel_result_note(struct lull_sim_channel *world)
{
	struct lull_sim_channel_result *result = &world->result;

	result->traffic = result_traffic(world);
	result->traffic.tx_pkts -= world->marked.tx_pkts;
	result->traffic.dropped_pkts -= world->marked.dropped_pkts;
	result->traffic.ring_pkts -= world->marked.ring_pkts;
	result->traffic.resent_pkts -=
		LULL_MIN(world->marked.resent_pkts, result->traffic.resent_pkts);
	for (uint32_t n = 0; n < world->config.node_count; n++)
		for (uint32_t p = 0; world->nodes[n].alive && p < CHANNEL_PEERS_MAX; p++)
			for (uint32_t i = 0; world->nodes[n].peers[p].up &&
					     result->path_count < LULL_SIM_CHANNEL_PATHS_MAX;
			     i++) {
				struct lull_sim_channel_path *path =
					&result->paths[result->path_count];

				if (lull_bundle_path_look(world->nodes[n].bundle, p, i,
							  &path->look) != 0)
					break;
				path->node = n;
				path->peer = world->nodes[n].peers[p].node;
				result->path_count++;
			}
	for (uint32_t n = 0; n < world->config.node_count; n++) {
		result->turns += world->nodes[n].turns;
		result->rests += world->nodes[n].rests;
		result->rest_ns += world->nodes[n].rested_ns;
		channel_rest_sum(&world->nodes[n], lull_sim_net_now(world->net), &result->work[n]);
	}
}

void
channel_result_wires(struct lull_sim_channel *world)
{
	uint64_t left = lull_sim_net_under_way(world->net);

	for (uint32_t path = 0; path < 2 * world->port_count; path++) {
		const struct lull_sim_path_counters *c = lull_sim_net_counters(world->net, path);

		world->result.wire_pkts += c->sent;
		world->result.wire_lost += c->lost;
		world->result.queue_drops += c->queue_drops;
		world->result.ring_drops += c->ring_drops;
		left += c->too_long + c->queue_drops + c->pool_drops + c->lost + c->delivered +
			c->ring_drops - c->sent - c->duplicated;
		if (c->pool_drops > 0)
			channel_fail(world, LULL_SIM_CHANNEL_ANY, "too many packets under way");
	}
	if (left != 0)
		channel_fail(world, LULL_SIM_CHANNEL_ANY, "packets on wires do not add up");
}

static void
result_add_counters(struct lull_bundle_counters *sum, const struct lull_bundle_counters *more)
{
	uint64_t *to = (uint64_t *)(void *)sum;
	const uint64_t *from = (const uint64_t *)(const void *)more;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

void
lull_sim_channel_read(const struct lull_sim_channel *world, struct lull_sim_channel_result *result)
{
	const struct lull_sim_channel_config *config = &world->config;
	uint32_t to = config->node_count == 2 ? 1 : 0;

	*result = world->result;
	result->digest = world->digest;
	result->now_ns = lull_sim_net_now(world->net);
	result->measured_ns = config->calm_ns - LULL_MIN(config->warmup_ns, config->calm_ns);
	for (uint32_t r = 0; r < config->nodes[to].rail_count; r++)
		result->sum_bps += config->nodes[to].rails[r].rate_bps;
	for (uint32_t i = 0; i < config->node_count; i++)
		if (world->nodes[i].alive)
			result_add_counters(&result->counters,
					    lull_bundle_counters(world->nodes[i].bundle));
}

double
lull_sim_channel_jain(const struct lull_sim_channel_result *result, uint32_t first, uint32_t count)
{
	double sum = 0, squares = 0;

	for (uint32_t i = first; i < first + count; i++) {
		double got = (double)result->from_bytes[i];

		sum += got;
		squares += got * got;
	}
	return squares > 0 ? sum * sum / (count * squares) : 0;
}
