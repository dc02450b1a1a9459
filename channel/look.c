/* SPDX-License-Identifier: BSD-3-Clause */
/* Look: counters of the channel, its peers, paths and rails. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "state.h"

const char *
lull_channel_security_name(enum lull_channel_security security)
{
	switch (security) {
	case LULL_CHANNEL_SEALED:
		return "sealed";
	case LULL_CHANNEL_SIGNED:
		return "signed";
	case LULL_CHANNEL_OPEN:
		return "open";
	}
	return "?";
}

void
lull_channel_counters(struct lull_channel *channel, struct lull_bundle_counters *counters)
{
	channel_lock(channel);
	*counters = *lull_bundle_counters(channel->bundle);
	channel_unlock(channel);
}

int
lull_channel_peer_look(struct lull_channel *channel, uint32_t peer,
		       struct lull_bundle_peer_look *look)
{
	int rc;

	channel_lock(channel);
	rc = lull_bundle_peer_look(channel->bundle, peer, look);
	channel_unlock(channel);
	return rc;
}

int
lull_channel_path_look(struct lull_channel *channel, uint32_t peer, uint32_t index,
		       struct lull_bundle_path_look *look)
{
	int rc;

	channel_lock(channel);
	rc = lull_bundle_path_look(channel->bundle, peer, index, look);
	channel_unlock(channel);
	return rc;
}

int
lull_channel_rail_look(struct lull_channel *channel, uint32_t number,
		       struct lull_channel_rail_look *look)
{
	const struct channel_rail *rail = NULL;
	struct channel_rail_facts facts;

	*look = (struct lull_channel_rail_look){ .text = "" };
	pthread_mutex_lock(&channel->rails_lock);
	if (number < LULL_CHANNEL_RAILS_MAX)
		rail = channel->rails[number];
	if (rail != NULL) {
		rail->way->facts(rail->state, &facts);
		strcpy(look->text, rail->text);
		look->mtu_bytes = facts.mtu_bytes;
		look->mbps = facts.mbps;
		look->up = facts.up;
		look->rx_pkts = LULL_COUNTER_READ(rail->rx_pkts);
		look->tx_pkts = rail->way->sent(rail->state);
		look->missed_pkts = rail->way->missed(rail->state);
		look->neighbours = facts.neighbours;
		look->direct_rx_pkts = facts.direct_rx_pkts;
		look->direct_tx_pkts = facts.direct_tx_pkts;
	}
	pthread_mutex_unlock(&channel->rails_lock);
	return rail != NULL ? 0 : -ENODEV;
}

void
lull_channel_histogram(struct lull_channel *channel, bool longer, struct lull_histogram *histogram)
{
	channel_lock(channel);
	*histogram = channel->latency[longer];
	channel_unlock(channel);
}
