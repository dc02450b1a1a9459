/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include <lull/rest.h>

#include "program/result.h"
#include "gen.h"

static const char *const end_names[] = {
	[GEN_END_SIGNAL] = "signal",
	[GEN_END_DURATION] = "duration",
	[GEN_END_COUNT] = "count",
	[GEN_END_REPLAY] = "replay",
};

/* Packets per second between two times; 0 when there is no time between them. */
static double
result_rate(uint64_t pkts, uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns > begin_ns ?
		       (double)pkts * (double)LULL_NS_PER_S / (double)(end_ns - begin_ns) :
		       0;
}

static void
result_put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

static void
result_put_real(json_t *object, const char *key, double value)
{
	json_object_set_new(object, key, lull_result_real(value));
}

static void
result_put_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, lull_result_text(value));
}

/* ---- settings ---- */

static json_t *
result_settings(struct gen *gen)
{
	static const char *const keys[] = { "traffic",   "traffic-size", "flows",    "seed",
					    "ring",      "burst",        "pcap",     "pcap-speed",
					    "pcap-loop", "count",        "duration", "drain",
					    "rx-only",   "tx-only" };
	char text[LULL_OPTION_VALUE_TEXT];
	json_t *object = json_object();
	size_t i;

	pthread_mutex_lock(&gen->lock);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		result_put_text(object, keys[i],
				lull_option_print(lull_options_find(gen_program.options, keys[i]),
						  &gen->settings, text, sizeof(text)));
	pthread_mutex_unlock(&gen->lock);
	return object;
}

static json_t *
result_port(const struct lull_port *port)
{
	json_t *object = json_object();

	result_put_text(object, "name", port->name);
	result_put_text(object, "driver", port->driver);
	result_put_count(object, "ring", port->ring_pkts);
	result_put_count(object, "missed", lull_port_missed(port));
	return object;
}

/* ---- histograms ---- */

static const struct {
	const char *key;
	uint32_t ppm;
} quantiles[] = {
	{ "p50", 500000 },  { "p90", 900000 },   { "p99", 990000 },    { "p995", 995000 },
	{ "p999", 999000 }, { "p9999", 999900 }, { "p99999", 999990 },
};

static json_t *
result_histogram(const struct lull_histogram *histogram, const uint64_t *min, bool bins)
{
	json_t *object = json_object(), *list;
	uint32_t i;

	result_put_count(object, "count", histogram->count);
	if (min != NULL)
		result_put_count(object, "min", *min);
	result_put_real(object, "mean",
			histogram->count > 0 ? (double)histogram->sum / (double)histogram->count :
					       0);
	for (i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++)
		result_put_count(object, quantiles[i].key,
				 lull_histogram_quantile(histogram, quantiles[i].ppm));
	result_put_count(object, "max", histogram->max);
	if (!bins)
		return object;
	list = json_array();
	for (i = 0; i < LULL_HISTOGRAM_BINS; i++) {
		if (histogram->bins[i] == 0)
			continue;
		json_array_append_new(list, lull_result_count(lull_histogram_low(i)));
		json_array_append_new(list, lull_result_count(histogram->bins[i]));
	}
	json_object_set_new(object, "bins", list);
	return object;
}

/* ---- figures ---- */

static void
result_table(json_t *object, const struct lull_counter_info *table, const void *counters)
{
	const uint64_t *counter;

	for (; table->name != NULL; table++) {
		counter = (const void *)((const char *)counters + table->offset);
		result_put_count(object, table->name, LULL_COUNTER_READ(*counter));
	}
}

static void
result_counters(const struct gen *gen, json_t *object)
{
	uint64_t lost = lull_traffic_lost(gen->state), expected;

	result_table(object, lull_traffic_counter_table, lull_traffic_counters(gen->state));
	/* the frames of a replay cannot be judged, and a source alone judges nothing */
	if (gen->replay == NULL && !gen->settings.tx_only)
		result_table(object, lull_tally_counter_table, lull_traffic_tally(gen->state));
	else
		result_put_count(object, "received", lull_traffic_received(gen->state));
	expected = gen->settings.rx_only ? lull_traffic_received(gen->state) + lost :
					   lull_traffic_counters(gen->state)->offered;
	result_put_count(object, "lost", lost);
	result_put_real(object, "loss_ppm",
			expected > 0 ? (double)lost * LULL_PPM / (double)expected : 0);
}

static void
result_rates(const struct gen *gen, json_t *object)
{
	const struct lull_traffic_counters *counters = lull_traffic_counters(gen->state);
	struct lull_traffic_times times;
	uint64_t received = lull_traffic_received(gen->state);

	lull_traffic_times(gen->state, &times);
	result_put_real(object, "sending_s",
			times.last_sent_ns > times.begin_ns ?
				(double)(times.last_sent_ns - times.begin_ns) / 1e9 :
				0);
	result_put_real(object, "offered_pps",
			result_rate(counters->offered, times.begin_ns, times.last_sent_ns));
	result_put_real(object, "sent_pps",
			result_rate(counters->sent, times.begin_ns, times.last_sent_ns));
	/* n packets make n - 1 gaps */
	result_put_real(object, "received_pps",
			result_rate(received > 0 ? received - 1 : 0, times.first_received_ns,
				    times.last_received_ns));
}

static json_t *
result_instrument(const struct gen *gen)
{
	int cpu = lull_loop_cpu(gen->loop);
	json_t *object = json_object();

	json_object_set_new(object, "sink_gap_ns",
			    result_histogram(lull_traffic_histogram(gen->state, LULL_TRAFFIC_GAP),
					     NULL, false));
	json_object_set_new(object, "late_ns",
			    result_histogram(lull_traffic_histogram(gen->state, LULL_TRAFFIC_LATE),
					     NULL, false));
	result_put_count(object, "cpu", (uint64_t)cpu);
	result_put_count(object, "steal_ns", lull_steal_ns(cpu) - gen->begin_steal_ns);
	return object;
}

static json_t *
result_latency(const struct gen *gen)
{
	const struct lull_histogram *latency =
		lull_traffic_histogram(gen->state, LULL_TRAFFIC_LATENCY);
	uint64_t min_ns = lull_traffic_latency_min_ns(gen->state);

	/* a replay carries no stamps, and a source alone sees none */
	if (gen->replay != NULL || gen->settings.tx_only)
		return json_null();
	return result_histogram(latency, &min_ns, true);
}

json_t *
gen_result(struct gen *gen)
{
	json_t *result = json_object();

	if (result == NULL)
		return NULL;
	result_put_text(result, "program", gen_program.name);
	result_put_text(result, "version", gen_program.version);
	result_put_text(result, "dpdk", lull_engine_dpdk_version());
	result_put_text(result, "end", end_names[gen->end]);
	json_object_set_new(result, "settings", result_settings(gen));
	json_object_set_new(result, "tx",
			    gen->settings.rx_only ? json_null() : result_port(gen_tx_port(gen)));
	json_object_set_new(result, "rx",
			    gen->settings.tx_only ? json_null() : result_port(gen_rx_port(gen)));
	result_counters(gen, result);
	result_rates(gen, result);
	json_object_set_new(result, "latency_ns", result_latency(gen));
	json_object_set_new(result, "instrument", result_instrument(gen));
	return result;
}
