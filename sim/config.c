/* SPDX-License-Identifier: BSD-3-Clause */
/* What a configuration of a simulation may say. */
#include <errno.h>

#include "base/range.h"
#include "idle/governor.h"
#include "sim.h"

#define CONFIG_BPS_MIN 1000000ULL
#define CONFIG_BPS_MAX 10000000000000ULL
#define CONFIG_FAULT_NS_MAX (10 * LULL_NS_PER_S)
#define CONFIG_TIME_NS_MAX (100000 * LULL_NS_PER_S)
#define CONFIG_PERIOD_NS_MAX (86400 * LULL_NS_PER_S) /* as core/traffic has it, also per packet: */
#define CONFIG_PKT_NS_MIN 5

int
lull_sim_config_check(const struct lull_sim_config *config, struct lull_range *error)
{
	bool relayed = config->path == LULL_SIM_SEND_RECEIVE;
	bool others = config->competitor_ppm > 0;
	const struct lull_idle_governor *governor = config->policy[LULL_SIM_SIDE_RECEIVE].governor;
	bool can_share = !relayed && governor != NULL && governor->shares_queues;
	uint32_t queues_max = relayed ? 1 : LULL_IDLE_QUEUES_MAX;
	uint32_t threads_max = relayed ? 1 : LULL_SIM_THREADS_MAX;
	uint64_t burst_ns = (uint64_t)config->line_pkts * CONFIG_PKT_NS_MIN;
	uint64_t line_every_ns_min =
		config->line_every_ns > 0 ? LULL_MAX(LULL_NS_PER_US, burst_ns) : 0;
	const struct lull_range ranges[] = {
		{ "burst", config->burst_pkts, 1, LULL_SIM_BURST_MAX },
		{ "ring", config->ring_pkts, 1, 1u << 20 },
		{ "held", config->held_pkts, 0, config->ring_pkts - 1 },
		/* at least one whole group in a burst */
		{ "round-bursts", config->round_pkts, 0, config->burst_pkts },
		{ "public-ring", config->public_pkts, relayed ? 1 : 0, 1u << 20 },
		{ "queues", config->queue_count, 1, queues_max },
		{ "threads", config->thread_count, config->share_queues ? config->queue_count : 1,
		  threads_max },
		{ "share-queues", config->share_queues, 0, can_share },
		/* a competitor is reckoned beside one thread, not among several */
		{ "cores", config->core_count, others ? config->thread_count : 1,
		  config->thread_count },
		{ "link", config->link_bps, config->link_bps == 0 ? 0 : CONFIG_BPS_MIN,
		  CONFIG_BPS_MAX },
		{ "shape", config->shape_bps, config->shape_bps == 0 ? 0 : CONFIG_BPS_MIN,
		  CONFIG_BPS_MAX },
		{ "late", config->late_ppm, 0, LULL_PPM },
		{ "late", config->late_ns, 0, CONFIG_FAULT_NS_MAX },
		{ "stall", config->stall_every_ns,
		  config->stall_ns > 0 || config->stall_ns_max > 0 ? LULL_NS_PER_US : 0,
		  CONFIG_TIME_NS_MAX },
		{ "stall", config->stall_ns, 0, CONFIG_FAULT_NS_MAX },
		{ "stall", config->stall_ns_max, 0, CONFIG_FAULT_NS_MAX },
		{ "competitor", config->competitor_ppm, 0, LULL_PPM },
		{ "competitor", config->competitor_run_ns, others ? LULL_NS_PER_US : 0,
		  CONFIG_FAULT_NS_MAX },
		{ "line-bursts", config->line_pkts, config->line_every_ns > 0 ? 1 : 0, 65535 },
		{ "line-bursts", config->line_every_ns, line_every_ns_min, CONFIG_PERIOD_NS_MAX },
		{ "duration", config->duration_ns, LULL_NS_PER_US, CONFIG_TIME_NS_MAX },
		{ "warmup", config->warmup_ns, 0, CONFIG_TIME_NS_MAX },
	};

	if (LULL_RANGES_CHECK(ranges, error) != 0)
		return -EINVAL;
	return config->trace.count > 0 ? 0 : lull_arrival_config_check(&config->arrival, error);
}
