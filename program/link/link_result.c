/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a result that is about the channel. */
#include "link.h"
#include "program/result.h"

void
lull_link_look(struct lull_channel *channel, uint32_t peer, struct lull_link_look *look)
{
	struct lull_bundle_peer_look now;

	if (lull_channel_peer_look(channel, peer, &now) != 0)
		return;
	look->peer = now;
	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++)
		if (lull_channel_path_look(channel, peer, i, &look->paths[i]) != 0)
			look->paths[i] =
				(struct lull_bundle_path_look){ .state = LULL_BUNDLE_PATH_NONE };
}

struct lull_bundle_path_counters
lull_link_since(const struct lull_bundle_path_look *begin, const struct lull_bundle_path_look *end)
{
	struct lull_bundle_path_counters counters = end->counters;
	const struct lull_counter_info *row;

	if (begin == NULL || begin->state == LULL_BUNDLE_PATH_NONE)
		return counters;
	for (row = lull_bundle_path_counter_table; row->name != NULL; row++) {
		char *to = (char *)&counters + row->offset;
		const char *from = (const char *)&begin->counters + row->offset;

		*(uint64_t *)(void *)to -= *(const uint64_t *)(const void *)from;
	}
	return counters;
}

static json_t *
result_path(const struct lull_bundle_path_look *begin, const struct lull_bundle_path_look *look)
{
	const struct lull_bundle_path_counters counters = lull_link_since(begin, look);
	json_t *object = json_object();

	lull_result_put_count(object, "rail", look->rail);
	lull_result_put_count(object, "remote_rail", look->remote_rail);
	lull_result_put_text(object, "state", lull_bundle_path_state_name(look->state));
	lull_result_put_count(object, "base_rtt_ns", look->base_rtt_ns);
	lull_result_put_count(object, "srtt_ns", look->srtt_ns);
	lull_result_put_count(object, "rate_bps", look->rate_bps);
	lull_result_put_count(object, "window_pkts", look->window_pkts);
	lull_result_put_count(object, "credit_pkts", look->credit_pkts);
	lull_result_put_table(object, lull_bundle_path_counter_table, &counters);
	return object;
}

json_t *
lull_link_peer_result(const struct lull_link_look *begin, const struct lull_link_look *end)
{
	json_t *object = json_object(), *paths = json_array();

	lull_result_put_text(object, "name", end->peer.name);
	lull_result_put_count(object, "piece_bytes", end->peer.piece_bytes);
	lull_result_put_count(object, "rest_ns_max", end->peer.rest_ns_max);
	for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++)
		if (end->paths[i].state != LULL_BUNDLE_PATH_NONE)
			json_array_append_new(paths,
					      result_path(begin != NULL ? &begin->paths[i] : NULL,
							  &end->paths[i]));
	json_object_set_new(object, "paths", paths);
	return object;
}

static json_t *
result_rails(const struct lull_link *link)
{
	struct lull_channel_rail_look look;
	json_t *rails = json_array();

	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		json_t *object;

		if (lull_channel_rail_look(link->channel, i, &look) != 0)
			continue;
		object = json_object();
		lull_result_put_text(object, "rail", look.text);
		lull_result_put_count(object, "mtu_bytes", look.mtu_bytes);
		lull_result_put_count(object, "mbps", look.mbps);
		json_object_set_new(object, "up", json_boolean(look.up));
		lull_result_put_count(object, "rx_pkts", look.rx_pkts);
		lull_result_put_count(object, "tx_pkts", look.tx_pkts);
		lull_result_put_count(object, "missed_pkts", look.missed_pkts);
		lull_result_put_count(object, "neighbours", look.neighbours);
		lull_result_put_count(object, "direct_rx_pkts", look.direct_rx_pkts);
		lull_result_put_count(object, "direct_tx_pkts", look.direct_tx_pkts);
		json_array_append_new(rails, object);
	}
	return rails;
}

void
lull_link_result(const struct lull_link *link, json_t *result)
{
	struct lull_bundle_counters counters;
	json_t *object = json_object();

	lull_channel_counters(link->channel, &counters);
	lull_result_put_table(object, lull_bundle_counter_table, &counters);
	json_object_set_new(result, "counters", object);
	json_object_set_new(result, "rails", result_rails(link));
}
