/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a result that is about the channel. */
#include "link.h"
#include "program/result.h"

/* Counters of @p now less those of @p begin. */
static struct lull_bundle_path_counters
result_since(const struct lull_bundle_path_look *now, const struct lull_bundle_path_look *begin)
{
	struct lull_bundle_path_counters counters = now->counters;
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
result_path(const struct lull_bundle_path_look *look, const struct lull_bundle_path_look *begin)
{
	const struct lull_bundle_path_counters counters = result_since(look, begin);
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
lull_link_peer_result(const struct lull_link *link, uint32_t peer,
		      const struct lull_bundle_path_look *begin)
{
	json_t *object = json_object(), *paths = json_array();
	struct lull_bundle_path_look path;
	struct lull_bundle_peer_look look;

	if (lull_channel_peer_look(link->channel, peer, &look) != 0)
		look = (struct lull_bundle_peer_look){ .path_count = 0 };
	lull_result_put_text(object, "name", look.name);
	lull_result_put_count(object, "piece_bytes", look.piece_bytes);
	lull_result_put_count(object, "rest_ns_max", look.rest_ns_max);
	for (uint32_t i = 0; i < LULL_MIN(look.path_count, LULL_BUNDLE_PATHS_MAX); i++)
		if (lull_channel_path_look(link->channel, peer, i, &path) == 0)
			json_array_append_new(paths,
					      result_path(&path, begin != NULL ? &begin[i] : NULL));
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
