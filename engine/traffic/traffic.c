/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <lull/engine.h>
#include <lull/generator.h>

#include "base/range.h"
#include "traffic.h"

/* A first segment this long holds every header lull_probe_read() may look at. */
#define HEADERS_BYTES_MOST 128

#define COUNTER(member, unit_text, help_text)                                                      \
	LULL_COUNTER_ROW(struct lull_traffic_counters, member, unit_text, help_text)

const struct lull_counter_info lull_traffic_counter_table[] = {
	COUNTER(offered, "packets", "packets due"),
	COUNTER(sent, "packets", "packets accepted by the driver"),
	COUNTER(sent_bytes, "bytes", "bytes accepted by the driver"),
	COUNTER(rejected, "packets", "packets refused by the driver: the receiver's ring was full"),
	COUNTER(no_buffer, "packets", "packets not sent because the generator's pool was empty"),
	COUNTER(retried, "packets", "refused packets that a replay at full speed sent again"),
	COUNTER(rx_pkts, "packets", "frames received, with or without a probe"),
	COUNTER(rx_bytes, "bytes", "bytes received, with or without a probe"),
	COUNTER(truncated, "packets", "captured frames sent shorter than they were on the wire"),
	COUNTER(skipped, "packets", "captured frames not sent: too long or too short"),
	COUNTER(other_run, "packets", "probes of another generator or of an earlier run"),
	{ .name = NULL },
};

int
lull_traffic_config_check(const struct lull_traffic_config *config, struct lull_range *error)
{
	const struct lull_range ranges[] = {
		{ "source", config->source || config->sink, 1, 1 },
		{ "burst_pkts", config->burst_pkts, 1, LULL_BURST_MAX },
		{ "flow_count", config->source ? config->flow_count : 1, 1,
		  LULL_TRAFFIC_FLOWS_MAX },
	};

	if (LULL_RANGES_CHECK(ranges, error) != 0)
		return -EINVAL;
	if (!config->source)
		return 0;
	return config->replay != NULL ? 0 : lull_arrival_config_check(&config->arrival, error);
}

static void
pool_clear(struct rte_mempool *pool, void *arg, void *object, unsigned int index)
{
	struct rte_mbuf *pkt = object;

	(void)pool;
	(void)arg;
	(void)index;
	memset(pkt->buf_addr, 0, pkt->buf_len);
}

struct rte_mempool *
lull_traffic_pool_create(const char *name, uint32_t mbuf_count,
			 const struct lull_arrival_config *arrival,
			 const struct lull_replay *replay, struct lull_error *error)
{
	uint16_t len_bytes = LULL_TRAFFIC_HEADER_BYTES;
	struct rte_mempool *pool;
	uint32_t i;

	for (i = 0; replay == NULL && i < arrival->size_count; i++)
		len_bytes = LULL_MAX(len_bytes, arrival->size_bytes[i]);
	if (replay != NULL)
		len_bytes = LULL_MAX(len_bytes, lull_replay_info(replay)->frame_max_bytes);
	pool = lull_pool_create(name, mbuf_count, len_bytes, error);
	/* probes write only headers: the rest of every buffer is zero from here on */
	if (pool != NULL)
		rte_mempool_obj_iter(pool, pool_clear, NULL);
	return pool;
}

/* ---- window ---- */

static void
traffic_clear(struct lull_traffic *traffic, uint64_t now_ns)
{
	uint64_t *counter = (uint64_t *)&traffic->counters;
	size_t i;

	static_assert(sizeof(traffic->counters) % sizeof(*counter) == 0, "only counters");
	for (i = 0; i < sizeof(traffic->counters) / sizeof(*counter); i++)
		__atomic_store_n(&counter[i], 0, __ATOMIC_RELAXED);
	lull_traffic_time_set(&traffic->times.begin_ns, now_ns);
	lull_traffic_time_set(&traffic->times.first_sent_ns, 0);
	lull_traffic_time_set(&traffic->times.last_sent_ns, 0);
	lull_traffic_time_set(&traffic->times.first_received_ns, 0);
	lull_traffic_time_set(&traffic->times.last_received_ns, 0);
	lull_histogram_clear(&traffic->gap);
	lull_histogram_clear(&traffic->late);
}

static void
traffic_mark(void *state, uint64_t now_ns)
{
	struct lull_traffic *traffic = state;
	uint16_t i;

	traffic_clear(traffic, now_ns);
	lull_tally_clear(&traffic->tally);
	if (!traffic->config.source)
		return;
	for (i = 0; i < LULL_TALLY_STREAMS; i++) {
		lull_tally_begin(&traffic->tally, i, traffic->config.run, traffic->seq[i]);
		__atomic_store_n(&traffic->next[i], traffic->seq[i], __ATOMIC_RELAXED);
		__atomic_store_n(&traffic->seen[i], traffic->seq[i], __ATOMIC_RELAXED);
	}
}

static int
traffic_init(void *state, const void *config, uint64_t now_ns)
{
	struct lull_traffic *traffic = state;
	int rc;

	rc = lull_traffic_config_check(config, NULL);
	if (rc != 0)
		return rc;
	traffic->config = *(const struct lull_traffic_config *)config;
	lull_tally_init(&traffic->tally);
	traffic->silent = !traffic->config.source;
	traffic->empty_ns = now_ns;
	if (traffic->config.source && traffic->config.replay == NULL)
		lull_traffic_source_init(traffic);
	traffic_mark(traffic, now_ns);
	return 0;
}

/* Departures count from the first iteration: setting up a loop takes its time. */
static void
traffic_start(struct lull_traffic *traffic, uint64_t now_ns)
{
	traffic->started = true;
	traffic->empty_ns = now_ns;
	lull_traffic_time_set(&traffic->times.begin_ns, now_ns);
	if (traffic->config.replay != NULL)
		lull_replay_begin(&traffic->cursor, traffic->config.replay, now_ns);
	else if (traffic->config.source)
		lull_arrival_init(&traffic->arrival, &traffic->config.arrival, now_ns);
}

static void
traffic_command(void *state, const void *data, size_t size, uint64_t now_ns)
{
	const struct lull_traffic_command *command = data;
	struct lull_traffic *traffic = state;

	if (size != sizeof(*command) || !traffic->config.source)
		return;
	if (!traffic->started)
		traffic_start(traffic, now_ns);
	if (lull_arrival_config_check(&command->arrival, NULL) == 0)
		lull_traffic_source_change(traffic, &command->arrival, now_ns);
}

/* ---- sink ---- */

/* A source knows its own run; a sink alone joins whatever run comes. */
static void
sink_probe(struct lull_traffic *traffic, const struct lull_probe *probe, uint32_t len_bytes,
	   uint64_t now_ns)
{
	uint32_t *seen;

	if (traffic->config.source) {
		if (probe->run != traffic->config.run) {
			LULL_COUNTER_ADD(traffic->counters.other_run, 1);
			return;
		}
		seen = &traffic->seen[probe->stream % LULL_TALLY_STREAMS];
		if ((int32_t)(probe->seq - *seen) >= 0)
			__atomic_store_n(seen, probe->seq + 1, __ATOMIC_RELAXED);
	}
	lull_tally_add(&traffic->tally, probe, len_bytes, now_ns);
}

static void
sink_packet(struct lull_traffic *traffic, const struct rte_mbuf *pkt, uint64_t now_ns)
{
	uint32_t len_bytes = LULL_MIN(pkt->pkt_len, UINT16_MAX);
	struct lull_probe probe;

	if (pkt->data_len < len_bytes && pkt->data_len < HEADERS_BYTES_MOST)
		len_bytes = pkt->data_len;
	if (lull_probe_read(rte_pktmbuf_mtod(pkt, const uint8_t *), (uint16_t)len_bytes, &probe))
		sink_probe(traffic, &probe, pkt->pkt_len, now_ns);
	else
		lull_tally_add(&traffic->tally, NULL, pkt->pkt_len, now_ns);
}

static void
traffic_burst(void *state, uint32_t queue_index, struct rte_mbuf **pkts, uint16_t count,
	      uint64_t now_ns)
{
	struct lull_traffic *traffic = state;
	uint64_t bytes = 0, judged, held_ns;
	uint16_t i;

	(void)queue_index;
	(void)now_ns;
	/* not the iteration's clock: a packet may have come after that was read */
	held_ns = lull_clock_ns();
	judged = lull_tally_counters(&traffic->tally)->received;
	for (i = 0; i < count; i++) {
		bytes += pkts[i]->pkt_len;
		if (traffic->config.replay == NULL)
			sink_packet(traffic, pkts[i], held_ns);
	}
	LULL_COUNTER_ADD(traffic->counters.rx_pkts, count);
	LULL_COUNTER_ADD(traffic->counters.rx_bytes, bytes);
	lull_traffic_time(&traffic->times.first_received_ns, &traffic->times.last_received_ns,
			  held_ns);
	judged = lull_tally_counters(&traffic->tally)->received - judged;
	if (judged > 0)
		lull_histogram_add(&traffic->gap, held_ns - traffic->empty_ns, judged);
	traffic->full |= count >= traffic->config.burst_pkts;
	rte_pktmbuf_free_bulk(pkts, count);
}

static uint64_t
traffic_iterate(void *state, uint64_t now_ns)
{
	struct lull_traffic *traffic = state;
	uint64_t next_ns;

	if (!traffic->started)
		traffic_start(traffic, now_ns);
	if (!traffic->full)
		traffic->empty_ns = now_ns;
	if (traffic->config.source)
		lull_traffic_source_send(traffic, now_ns);
	traffic->full = false;
	if (!traffic->config.source)
		return 0;
	next_ns = lull_traffic_source_next_ns(traffic);
	/* release: who sees the end sees every counter of it */
	__atomic_store_n(&traffic->silent, next_ns == UINT64_MAX, __ATOMIC_RELEASE);
	__atomic_store_n(&traffic->done, lull_traffic_source_done(traffic), __ATOMIC_RELEASE);
	if (next_ns == UINT64_MAX)
		return 0;
	return LULL_MAX(next_ns, now_ns);
}

const struct lull_stage lull_stage_traffic = {
	.name = "traffic",
	.summary = "send numbered packets with time stamps and check the packets that come back",
	.state_size = sizeof(struct lull_traffic),
	.init = traffic_init,
	.burst = traffic_burst,
	.iterate = traffic_iterate,
	.mark = traffic_mark,
	.command = traffic_command,
	.counters = lull_traffic_counter_table,
	.counters_offset = offsetof(struct lull_traffic, counters),
};

/* ---- readers ---- */

const struct lull_histogram *
lull_traffic_histogram(const void *state, enum lull_traffic_histogram which)
{
	const struct lull_traffic *traffic = state;

	switch (which) {
	case LULL_TRAFFIC_GAP:
		return &traffic->gap;
	case LULL_TRAFFIC_LATE:
		return &traffic->late;
	case LULL_TRAFFIC_LATENCY:
		break;
	}
	return lull_tally_latency(&traffic->tally);
}

const struct lull_traffic_counters *
lull_traffic_counters(const void *state)
{
	return &((const struct lull_traffic *)state)->counters;
}

const struct lull_tally_counters *
lull_traffic_tally(const void *state)
{
	return lull_tally_counters(&((const struct lull_traffic *)state)->tally);
}

uint64_t
lull_traffic_received(const void *state)
{
	const struct lull_traffic *traffic = state;

	if (traffic->config.replay != NULL)
		return LULL_COUNTER_READ(traffic->counters.rx_pkts);
	return LULL_COUNTER_READ(lull_tally_counters(&traffic->tally)->received);
}

uint64_t
lull_traffic_lost(const void *state)
{
	const struct lull_traffic *traffic = state;
	uint64_t received = lull_traffic_received(state);
	uint64_t offered = LULL_COUNTER_READ(traffic->counters.offered);

	if (!traffic->config.source)
		return LULL_COUNTER_READ(lull_tally_counters(&traffic->tally)->gaps);
	if (!traffic->config.sink)
		return LULL_COUNTER_READ(traffic->counters.rejected) +
		       LULL_COUNTER_READ(traffic->counters.no_buffer);
	return offered > received ? offered - received : 0;
}

uint64_t
lull_traffic_latency_min_ns(const void *state)
{
	return lull_tally_latency_min_ns(&((const struct lull_traffic *)state)->tally);
}

uint64_t
lull_traffic_in_flight(const void *state)
{
	const struct lull_traffic *traffic = state;
	uint64_t in_flight = 0;
	uint32_t next, seen, i;

	if (!traffic->config.source || !traffic->config.sink || traffic->config.replay != NULL)
		return 0;
	for (i = 0; i < LULL_TALLY_STREAMS; i++) {
		/* seen first: it never overtakes next */
		seen = __atomic_load_n(&traffic->seen[i], __ATOMIC_ACQUIRE);
		next = __atomic_load_n(&traffic->next[i], __ATOMIC_RELAXED);
		if ((int32_t)(next - seen) > 0)
			in_flight += next - seen;
	}
	return in_flight;
}

bool
lull_traffic_silent(const void *state)
{
	return __atomic_load_n(&((const struct lull_traffic *)state)->silent, __ATOMIC_ACQUIRE);
}

bool
lull_traffic_done(const void *state)
{
	return __atomic_load_n(&((const struct lull_traffic *)state)->done, __ATOMIC_ACQUIRE);
}

void
lull_traffic_times(const void *state, struct lull_traffic_times *times)
{
	const struct lull_traffic_times *now = &((const struct lull_traffic *)state)->times;

	times->begin_ns = LULL_COUNTER_READ(now->begin_ns);
	times->first_sent_ns = LULL_COUNTER_READ(now->first_sent_ns);
	times->last_sent_ns = LULL_COUNTER_READ(now->last_sent_ns);
	times->first_received_ns = LULL_COUNTER_READ(now->first_received_ns);
	times->last_received_ns = LULL_COUNTER_READ(now->last_received_ns);
}

struct report {
	void (*put)(void *arg, const char *key, uint64_t value);
	void *arg;
};

static void
report_table(const struct report *report, const struct lull_counter_info *table,
	     const void *counters)
{
	const uint64_t *counter;

	for (; table->name != NULL; table++) {
		counter = (const void *)((const char *)counters + table->offset);
		report->put(report->arg, table->name, LULL_COUNTER_READ(*counter));
	}
}

static void
report_latency(const struct report *report, const struct lull_traffic *traffic)
{
	const struct lull_histogram *latency = lull_tally_latency(&traffic->tally);
	uint64_t count = LULL_COUNTER_READ(latency->count);

	report->put(report->arg, "latency_count", count);
	report->put(report->arg, "latency_min_ns", lull_tally_latency_min_ns(&traffic->tally));
	report->put(report->arg, "latency_mean_ns",
		    count > 0 ? LULL_COUNTER_READ(latency->sum) / count : 0);
	report->put(report->arg, "latency_p50_ns", lull_histogram_quantile(latency, 500000));
	report->put(report->arg, "latency_p99_ns", lull_histogram_quantile(latency, 990000));
	report->put(report->arg, "latency_p999_ns", lull_histogram_quantile(latency, 999000));
	report->put(report->arg, "latency_max_ns", LULL_COUNTER_READ(latency->max));
}

static void
report_instrument(const struct report *report, const struct lull_traffic *traffic)
{
	report->put(report->arg, "sink_gap_p50_ns", lull_histogram_quantile(&traffic->gap, 500000));
	report->put(report->arg, "sink_gap_p99_ns", lull_histogram_quantile(&traffic->gap, 990000));
	report->put(report->arg, "sink_gap_p995_ns",
		    lull_histogram_quantile(&traffic->gap, 995000));
	report->put(report->arg, "sink_gap_max_ns", LULL_COUNTER_READ(traffic->gap.max));
	report->put(report->arg, "late_p50_ns", lull_histogram_quantile(&traffic->late, 500000));
	report->put(report->arg, "late_p99_ns", lull_histogram_quantile(&traffic->late, 990000));
	report->put(report->arg, "late_max_ns", LULL_COUNTER_READ(traffic->late.max));
}

void
lull_traffic_report(const void *state, void (*put)(void *arg, const char *key, uint64_t value),
		    void *arg)
{
	const struct lull_traffic *traffic = state;
	const struct report report = { .put = put, .arg = arg };
	uint64_t in_flight = lull_traffic_in_flight(state);

	/* first: the figures of a source that is silent stand still, but for what comes back */
	put(arg, "silent", lull_traffic_silent(state));
	report_table(&report, lull_traffic_counter_table, &traffic->counters);
	/* frames of a replay carry nothing that could be judged */
	if (traffic->config.replay != NULL)
		put(arg, "received", lull_traffic_received(state));
	else
		report_table(&report, lull_tally_counter_table,
			     lull_tally_counters(&traffic->tally));
	put(arg, "lost", lull_traffic_lost(state));
	put(arg, "in_flight", in_flight);
	report_latency(&report, traffic);
	report_instrument(&report, traffic);
}
