/* SPDX-License-Identifier: BSD-3-Clause */
/* What a poller does besides polling: commands, limits, the loss audit, the snapshot. */
#include "plugin.h"

#include <string.h>

#include <rte_ethdev.h>

#define CHORES_NS (10 * LULL_NS_PER_MS)

/* ---- limits ---- */

static struct lull_idle_limits
change_limits(const struct lull_loop *poller, const struct plugin_settings *settings)
{
	struct lull_idle_limits limits = {
		.latency_ns = settings->max_latency_ns,
		.percentile_ppm = (uint32_t)(settings->percentile * 10000 + 0.5),
		.loss = settings->loss,
		.rest_ns_max = settings->max_rest_ns,
		.rest_ns = settings->rest_ns,
		.ring_pkts = settings->ring_pkts > 0 ? settings->ring_pkts : poller->ring_pkts,
		.held_pkts = poller->held_pkts,
		.burst_pkts = poller->burst_pkts,
		.depths = LULL_REST_BIT(LULL_REST_PAUSE) | LULL_REST_BIT(LULL_REST_SLEEP),
	};

	if (limits.held_pkts >= limits.ring_pkts)
		limits.held_pkts = limits.ring_pkts > 0 ? limits.ring_pkts - 1 : 0;
	if (settings->pps_max[0] > 0)
		limits.envelope = (enum lull_envelope)(settings->pps_max[0] - 1);
	else if (poller->link_pps > 0)
		limits.envelope = LULL_ENVELOPE_LINK;
	limits.pps_max =
		limits.envelope == LULL_ENVELOPE_STATED ? settings->pps_max[1] : poller->link_pps;
	if (limits.envelope == LULL_ENVELOPE_LINK && limits.pps_max == 0)
		limits.envelope = LULL_ENVELOPE_LEARNED;
	return limits;
}

void
plugin_poller_change(struct lull_loop *poller, const struct plugin_settings *settings)
{
	struct lull_idle_limits limits;

	poller->settings = *settings;
	poller->mode = settings->mode;
	poller->governor = plugin_settings_governor(settings);
	limits = change_limits(poller, settings);
	lull_idle_change(poller->idle, poller->governor, &limits);
	poller->empty_need = 1;
	poller->shadow.resting = false;
}

/* ---- chores ---- */

void
plugin_publish(struct lull_loop *poller, uint64_t now_ns)
{
	struct lull_loop_snapshot snapshot;

	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.now_ns = now_ns;
	snapshot.window_begin_ns = poller->window_begin_ns;
	snapshot.window = poller->window;
	snapshot.governor = poller->governor;
	snapshot.limits = *lull_idle_limits(poller->idle);
	lull_idle_verdict(poller->idle, &snapshot.verdict);
	lull_snapshot_write(&poller->snapshot, &snapshot);
}

/* Loss audit. The program polls these ports, so they run; one that does not answers an error. */
static void
poller_audit(struct lull_loop *poller, uint64_t now_ns)
{
	uint64_t risen = 0;
	uint32_t i;

	for (i = 0; i < poller->port_count; i++) {
		struct rte_eth_stats stats;
		uint64_t lost;

		if (!rte_eth_dev_is_valid_port(poller->port_ids[i]) ||
		    rte_eth_stats_get(poller->port_ids[i], &stats) != 0)
			continue;
		lost = stats.imissed + stats.rx_nombuf;
		/* The first reading is where counting begins; a smaller one is a reset. */
		if (poller->port_missed[i] != UINT64_MAX && lost > poller->port_missed[i])
			risen += lost - poller->port_missed[i];
		poller->port_missed[i] = lost;
	}
	LULL_COUNTER_ADD(poller->missed, risen);
	lull_idle_miss(poller->idle, now_ns, risen);
}

void
plugin_mailbox(struct lull_loop *poller, uint64_t now_ns)
{
	const struct lull_message *message = lull_mailbox_peek(&poller->mailbox);

	if (message == NULL)
		return;
	for (; message != NULL; message = lull_mailbox_peek(&poller->mailbox)) {
		if (message->kind == PLUGIN_MESSAGE_CHANGE) {
			plugin_poller_change(poller, (const void *)message->data);
		} else {
			memcpy(&poller->window, message->data, sizeof(poller->window));
			poller->window_begin_ns = now_ns;
			lull_idle_mark(poller->idle);
		}
		lull_mailbox_pop(&poller->mailbox);
	}
	plugin_publish(poller, now_ns);
}

void
plugin_chores(struct lull_loop *poller, uint64_t now_ns)
{
	plugin_mailbox(poller, now_ns);
	if (now_ns < poller->chores_ns)
		return;
	poller->chores_ns = now_ns + CHORES_NS;
	poller_audit(poller, now_ns);
	plugin_publish(poller, now_ns);
}
