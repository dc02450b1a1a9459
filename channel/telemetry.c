/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define TELEMETRY_PEERS 24 /* of a reply, which has 16 KiB */

/* Texts of a column. */
struct texts {
	char bytes[TELEMETRY_PEERS][LULL_CHANNEL_NAME_SIZE];
	const char *texts[TELEMETRY_PEERS];
};
_Static_assert(TELEMETRY_PEERS >= LULL_CHANNEL_RAILS_MAX, "all rails fit");
_Static_assert(TELEMETRY_PEERS >= LULL_BUNDLE_PATHS_MAX, "all paths fit");

/* A column of numbers: a member of each row. */
#define COLUMN(reply, name_text, rows, count, member)                                              \
	do {                                                                                       \
		uint64_t column_values[TELEMETRY_PEERS];                                           \
		for (uint32_t column_row = 0; column_row < (count); column_row++)                  \
			column_values[column_row] = (uint64_t)(rows)[column_row].member;           \
		lull_telemetry_put_counts(reply, name_text, column_values, count);                 \
	} while (0)

static pthread_mutex_t telemetry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lull_channel *telemetry_channel;

struct lull_loop *
channel_loop(struct lull_channel *channel)
{
	return channel->looped ? &channel->loop : NULL;
}

void
channel_telemetry(struct lull_channel *channel)
{
	pthread_mutex_lock(&telemetry_lock);
	telemetry_channel = channel;
	pthread_mutex_unlock(&telemetry_lock);
}

static void
texts_set(struct texts *texts, uint32_t row, const char *text)
{
	snprintf(texts->bytes[row], sizeof(texts->bytes[row]), "%.*s",
		 (int)sizeof(texts->bytes[row]) - 1, text);
	texts->texts[row] = texts->bytes[row];
}

/* ---- /lull/channel ---- */

static void
tell_settings(struct lull_channel *channel, struct lull_telemetry_reply *reply)
{
	lull_telemetry_put_text(reply, "name", channel->name);
	lull_telemetry_put_text(reply, "security",
				lull_channel_security_name(channel->config.security));
	lull_telemetry_put_count(reply, "endpoint", channel->config.endpoint);
	lull_telemetry_put_text(reply, "spread", lull_bundle_spread_name(channel->spread));
	lull_telemetry_put_text(reply, "control", lull_bundle_control_name(channel->control));
	lull_telemetry_put_text(reply, "governor", channel->governor);
	lull_telemetry_put_count(reply, "max_latency_ns", channel->max_latency_ns);
	lull_telemetry_put_count(reply, "own_loop", channel->config.own_loop);
	lull_telemetry_put_count(reply, "operations_max", channel->config.operations_max);
	lull_telemetry_put_count(reply, "memory_bytes", channel->memory_bytes);
}

static void
tell_latency(const struct lull_histogram *latency, const char *count, const char *p50,
	     const char *p99, struct lull_telemetry_reply *reply)
{
	lull_telemetry_put_count(reply, count, latency->count);
	lull_telemetry_put_count(reply, p50, lull_histogram_quantile(latency, 500000));
	lull_telemetry_put_count(reply, p99, lull_histogram_quantile(latency, 990000));
}

static void
tell_channel(struct lull_channel *channel, const char *params, struct lull_telemetry_reply *reply)
{
	const struct channel_counters *counters = &channel->counters;
	uint32_t peers = 0, rails = 0;

	(void)params;
	channel_lock(channel);
	for (uint32_t i = 0; i < channel->config.peers_max; i++)
		peers += channel->peers[i].up;
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++)
		rails += channel->rails[i] != NULL;
	tell_settings(channel, reply);
	lull_telemetry_put_count(reply, "peer_count", peers);
	lull_telemetry_put_count(reply, "rail_count", rails);
	lull_telemetry_put_count(reply, "operations", channel->operations.used);
	lull_telemetry_put_count(reply, "unexpected", lull_match_messages(channel->match));
	lull_telemetry_put_count(reply, "sends", counters->sends);
	lull_telemetry_put_count(reply, "send_bytes", counters->send_bytes);
	lull_telemetry_put_count(reply, "receives", counters->receives);
	lull_telemetry_put_count(reply, "receive_bytes", counters->receive_bytes);
	lull_telemetry_put_count(reply, "failures", counters->failures);
	lull_telemetry_put_count(reply, "rests", counters->rests);
	lull_telemetry_put_count(reply, "rest_ns", counters->rest_ns);
	tell_latency(&channel->latency[0], "short_count", "short_p50_ns", "short_p99_ns", reply);
	tell_latency(&channel->latency[1], "long_count", "long_p50_ns", "long_p99_ns", reply);
	lull_telemetry_put_table(reply, lull_bundle_counter_table,
				 lull_bundle_counters(channel->bundle));
	channel_unlock(channel);
}

/* ---- /lull/channel_rails ---- */

struct rail_row {
	uint32_t rail;
	struct lull_channel_rail_look look;
};

static void
tell_rails(struct lull_channel *channel, const char *params, struct lull_telemetry_reply *reply)
{
	struct rail_row rows[LULL_CHANNEL_RAILS_MAX];
	struct texts texts;
	uint32_t count = 0;

	(void)params;
	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		rows[count].rail = i;
		if (lull_channel_rail_look(channel, i, &rows[count].look) != 0)
			continue;
		texts_set(&texts, count, rows[count].look.text);
		count++;
	}
	COLUMN(reply, "rail", rows, count, rail);
	lull_telemetry_put_texts(reply, "text", texts.texts, count);
	COLUMN(reply, "mtu_bytes", rows, count, look.mtu_bytes);
	COLUMN(reply, "mbps", rows, count, look.mbps);
	COLUMN(reply, "up", rows, count, look.up);
	COLUMN(reply, "rx_pkts", rows, count, look.rx_pkts);
	COLUMN(reply, "tx_pkts", rows, count, look.tx_pkts);
	COLUMN(reply, "missed_pkts", rows, count, look.missed_pkts);
	COLUMN(reply, "neighbours", rows, count, look.neighbours);
	COLUMN(reply, "direct_rx_pkts", rows, count, look.direct_rx_pkts);
	COLUMN(reply, "direct_tx_pkts", rows, count, look.direct_tx_pkts);
}

/* ---- /lull/channel_peers ---- */

struct peer_row {
	uint32_t peer;
	struct lull_bundle_peer_look look;
};

static const char *
tell_waits(enum lull_bundle_wait waits)
{
	static const char *const names[] = {
		[LULL_BUNDLE_WAIT_NOTHING] = "nothing",
		[LULL_BUNDLE_WAIT_WINDOW] = "window",
		[LULL_BUNDLE_WAIT_CREDIT] = "credit",
		[LULL_BUNDLE_WAIT_PATH] = "path",
	};

	return names[waits];
}

static void
tell_peer_columns(const struct peer_row *rows, uint32_t count, struct lull_telemetry_reply *reply)
{
	COLUMN(reply, "up", rows, count, look.up);
	COLUMN(reply, "busy", rows, count, look.busy);
	COLUMN(reply, "since_ns", rows, count, look.since_ns);
	COLUMN(reply, "heard_ns", rows, count, look.heard_ns);
	COLUMN(reply, "piece_bytes", rows, count, look.piece_bytes);
	COLUMN(reply, "path_count", rows, count, look.path_count);
	COLUMN(reply, "rest_ns_max", rows, count, look.rest_ns_max);
	COLUMN(reply, "sent_messages", rows, count, look.sent_messages);
	COLUMN(reply, "sent_bytes", rows, count, look.sent_bytes);
	COLUMN(reply, "received_messages", rows, count, look.received_messages);
	COLUMN(reply, "received_bytes", rows, count, look.received_bytes);
	COLUMN(reply, "sending", rows, count, look.sending);
	COLUMN(reply, "receiving", rows, count, look.receiving);
	COLUMN(reply, "unexpected_pieces", rows, count, look.unexpected_pieces);
}

static void
tell_peers(struct lull_channel *channel, const char *params, struct lull_telemetry_reply *reply)
{
	uint64_t number = params != NULL ? strtoull(params, NULL, 10) : 0;
	struct peer_row rows[TELEMETRY_PEERS];
	struct texts names, waits;
	uint32_t count = 0;

	for (; number < channel->config.peers_max && count < TELEMETRY_PEERS; number++) {
		struct peer_row *row = &rows[count];

		row->peer = (uint32_t)number;
		if (lull_channel_peer_look(channel, row->peer, &row->look) != 0)
			continue;
		texts_set(&names, count, row->look.name);
		texts_set(&waits, count++, tell_waits(row->look.waits));
	}
	lull_telemetry_put_count(reply, "next", number < channel->config.peers_max ? number : 0);
	COLUMN(reply, "peer", rows, count, peer);
	lull_telemetry_put_texts(reply, "name", names.texts, count);
	tell_peer_columns(rows, count, reply);
	lull_telemetry_put_texts(reply, "waits", waits.texts, count);
}

/* ---- /lull/channel_paths ---- */

static void
tell_path_columns(const struct lull_bundle_path_look *rows, uint32_t count,
		  struct lull_telemetry_reply *reply)
{
	COLUMN(reply, "rail", rows, count, rail);
	COLUMN(reply, "remote_rail", rows, count, remote_rail);
	COLUMN(reply, "state_since_ns", rows, count, state_since_ns);
	COLUMN(reply, "base_rtt_ns", rows, count, base_rtt_ns);
	COLUMN(reply, "srtt_ns", rows, count, srtt_ns);
	COLUMN(reply, "rttvar_ns", rows, count, rttvar_ns);
	COLUMN(reply, "rate_bps", rows, count, rate_bps);
	COLUMN(reply, "window_pkts", rows, count, window_pkts);
	COLUMN(reply, "under_way_pkts", rows, count, under_way_pkts);
	COLUMN(reply, "credit_pkts", rows, count, credit_pkts);
	for (const struct lull_counter_info *info = lull_bundle_path_counter_table;
	     info->name != NULL; info++) {
		uint64_t values[LULL_BUNDLE_PATHS_MAX];

		for (uint32_t i = 0; i < count; i++)
			memcpy(&values[i], (const uint8_t *)&rows[i].counters + info->offset,
			       sizeof(values[i]));
		lull_telemetry_put_counts(reply, info->name, values, count);
	}
}

static void
tell_paths(struct lull_channel *channel, const char *params, struct lull_telemetry_reply *reply)
{
	struct lull_bundle_path_look rows[LULL_BUNDLE_PATHS_MAX];
	uint32_t peer = params != NULL ? (uint32_t)strtoul(params, NULL, 10) : UINT32_MAX;
	struct lull_bundle_peer_look look;
	struct texts states;
	uint32_t count = 0;

	if (lull_channel_peer_look(channel, peer, &look) != 0)
		return;
	for (uint32_t i = 0; i < LULL_MIN(look.path_count, (uint32_t)LULL_BUNDLE_PATHS_MAX); i++) {
		if (lull_channel_path_look(channel, peer, i, &rows[count]) != 0)
			continue;
		texts_set(&states, count, lull_bundle_path_state_name(rows[count].state));
		count++;
	}
	lull_telemetry_put_count(reply, "peer", peer);
	lull_telemetry_put_text(reply, "name", look.name);
	lull_telemetry_put_texts(reply, "state", states.texts, count);
	tell_path_columns(rows, count, reply);
}

/* ---- commands ---- */

static void
tell(void (*what)(struct lull_channel *channel, const char *params,
		  struct lull_telemetry_reply *reply),
     const char *params, struct lull_telemetry_reply *reply)
{
	pthread_mutex_lock(&telemetry_lock);
	if (telemetry_channel != NULL) {
		lull_telemetry_put_count(reply, "now_ns", lull_clock_ns());
		what(telemetry_channel, params, reply);
	}
	pthread_mutex_unlock(&telemetry_lock);
}

#define TELL(name)                                                                                 \
	static void name##_reply(void *arg, const char *params,                                    \
				 struct lull_telemetry_reply *reply)                               \
	{                                                                                          \
		(void)arg;                                                                         \
		tell(tell_##name, params, reply);                                                  \
	}
TELL(channel)
TELL(rails)
TELL(peers)
TELL(paths)

const struct lull_telemetry_command channel_commands[] = {
	{ "/lull/channel", "Settings and counters of the channel. No parameters", channel_reply },
	{ "/lull/channel_rails", "Its rails, a list per column. No parameters", rails_reply },
	{ "/lull/channel_peers",
	  "Its peers, a list per column. Parameter: number of the first; next: where to go on",
	  peers_reply },
	{ "/lull/channel_paths", "Paths to a peer, a list per column. Parameter: its number",
	  paths_reply },
	{ NULL, NULL, NULL },
};
