/* SPDX-License-Identifier: BSD-3-Clause */
#include "channel_config.h"

#include <string.h>

#define PACKET_BYTES 1500 /* of the usual Ethernet, from the bundle's header to its tag */
#define RING_PKTS 1024
#define QUEUE_BYTES 200000

static bool
rail_valid(const struct lull_sim_channel_rail *rail)
{
	return rail->packet_bytes >= LULL_BUNDLE_PACKET_BYTES_MIN &&
	       rail->packet_bytes <= LULL_SIM_NET_BYTES_MAX - 256 && rail->ring_pkts >= 16;
}

static bool
fault_valid(const struct lull_sim_channel_config *config,
	    const struct lull_sim_channel_fault *fault)
{
	if (fault->type > LULL_SIM_CHANNEL_DISCONNECT)
		return false;
	if (fault->node != LULL_SIM_CHANNEL_ANY && fault->node >= config->node_count)
		return false;
	if (fault->type == LULL_SIM_CHANNEL_DISCONNECT &&
	    (fault->value >= config->node_count || fault->node == LULL_SIM_CHANNEL_ANY))
		return false;
	if (fault->node != LULL_SIM_CHANNEL_ANY && fault->rail != LULL_SIM_CHANNEL_ANY &&
	    fault->type <= LULL_SIM_CHANNEL_ADD)
		return fault->rail < config->nodes[fault->node].rail_count;
	return true;
}

bool
channel_config_valid(const struct lull_sim_channel_config *config)
{
	if (config->node_count < 2 || config->node_count > LULL_SIM_CHANNEL_NODES_MAX ||
	    config->machine == NULL || config->job.under_way > LULL_SIM_CHANNEL_UNDER_WAY_MAX ||
	    config->job.message_bytes > LULL_SIM_CHANNEL_MESSAGE_MAX ||
	    config->fault_count > LULL_SIM_CHANNEL_FAULTS_MAX ||
	    config->warmup_ns > config->calm_ns ||
	    (config->governor != NULL && config->event_rests))
		return false;
	for (uint32_t i = 0; i < config->node_count; i++) {
		if (config->nodes[i].rail_count == 0 ||
		    config->nodes[i].rail_count > LULL_BUNDLE_RAILS_MAX)
			return false;
		for (uint32_t r = 0; r < config->nodes[i].rail_count; r++)
			if (!rail_valid(&config->nodes[i].rails[r]))
				return false;
	}
	for (uint32_t i = 0; i < config->fault_count; i++)
		if (!fault_valid(config, &config->faults[i]) ||
		    (i > 0 && config->faults[i].at_ns < config->faults[i - 1].at_ns))
			return false;
	return true;
}

void
lull_sim_channel_preset(struct lull_sim_channel_config *config, uint32_t nodes, uint32_t rails,
			uint64_t rate_bps)
{
	memset(config, 0, sizeof(*config));
	config->seed = 1;
	config->node_count = nodes;
	for (uint32_t i = 0; i < nodes; i++) {
		config->nodes[i].rail_count = rails;
		for (uint32_t r = 0; r < rails; r++)
			config->nodes[i].rails[r] = (struct lull_sim_channel_rail){
				.rate_bps = rate_bps,
				.packet_bytes = PACKET_BYTES,
				.ring_pkts = RING_PKTS,
				.kind = 1,
				.wire = { .queue_bytes = QUEUE_BYTES,
					  .delay_ns = 5 * LULL_NS_PER_US },
			};
	}
	config->machine = lull_sim_machine_find("metal");
	config->keyed = true;
	config->job.type = LULL_SIM_CHANNEL_STREAM;
	config->job.message_bytes = 1u << 20;
	config->warmup_ns = 200 * LULL_NS_PER_MS;
	config->calm_ns = LULL_NS_PER_S;
	config->bound_ns = 30 * LULL_NS_PER_S;
}
