/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/result.h"
#include "gen.h"

/* Packets per second between two times; 0 when there is no time between them. */
static double
result_rate(uint64_t pkts, uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns > begin_ns ?
		       (double)pkts * (double)LULL_NS_PER_S / (double)(end_ns - begin_ns) :
		       0;
}

static void
result_counters(const struct gen *gen, json_t *object)
{
	uint64_t lost = lull_traffic_lost(gen->state), expected;

	lull_result_put_table(object, lull_traffic_counter_table,
			      lull_traffic_counters(gen->state));
	/* the frames of a replay cannot be judged, and a source alone judges nothing */
	if (gen->replay == NULL && !gen->settings.tx_only)
		lull_result_put_table(object, lull_tally_counter_table,
				      lull_traffic_tally(gen->state));
	else
		lull_result_put_count(object, "received", lull_traffic_received(gen->state));
	expected = gen->settings.rx_only ? lull_traffic_received(gen->state) + lost :
					   lull_traffic_counters(gen->state)->offered;
	lull_result_put_count(object, "lost", lost);
	lull_result_put_real(object, "loss_ppm",
			     expected > 0 ? (double)lost * LULL_PPM / (double)expected : 0);
}

static void
result_rates(const struct gen *gen, json_t *object)
{
	const struct lull_traffic_counters *counters = lull_traffic_counters(gen->state);
	struct lull_traffic_times times;
	uint64_t received = lull_traffic_received(gen->state);

	lull_traffic_times(gen->state, &times);
	lull_result_put_real(object, "sending_s",
			     times.last_sent_ns > times.begin_ns ?
				     (double)(times.last_sent_ns - times.begin_ns) / 1e9 :
				     0);
	lull_result_put_real(object, "offered_per_s",
			     result_rate(counters->offered, times.begin_ns, times.last_sent_ns));
	lull_result_put_real(object, "sent_per_s",
			     result_rate(counters->sent, times.begin_ns, times.last_sent_ns));
	/* n packets make n - 1 gaps */
	lull_result_put_real(object, "received_per_s",
			     result_rate(received > 0 ? received - 1 : 0, times.first_received_ns,
					 times.last_received_ns));
}

static json_t *
result_instrument(const struct gen *gen)
{
	const struct lull_live_loop *item = &gen->loops.items[0];
	int cpu = lull_loop_cpu(item->loop);
	json_t *object = json_object();

	json_object_set_new(
		object, "sink_gap_ns",
		lull_result_histogram(lull_traffic_histogram(gen->state, LULL_TRAFFIC_GAP), false));
	json_object_set_new(object, "late_ns",
			    lull_result_histogram(
				    lull_traffic_histogram(gen->state, LULL_TRAFFIC_LATE), false));
	lull_result_put_count(object, "cpu", (uint64_t)cpu);
	lull_result_put_count(object, "steal_ns", lull_steal_ns(cpu) - item->begin_steal_ns);
	return object;
}

static json_t *
result_latency(const struct gen *gen)
{
	json_t *object;

	/* a replay carries no stamps, and a source alone sees none */
	if (gen->replay != NULL || gen->settings.tx_only)
		return json_null();
	object = lull_result_histogram(lull_traffic_histogram(gen->state, LULL_TRAFFIC_LATENCY),
				       true);
	/* The minimum is known exactly. */
	lull_result_put_count(object, "min", lull_traffic_latency_min_ns(gen->state));
	return object;
}

void
gen_result(void *state, json_t *result)
{
	const struct gen *gen = state;

	json_object_set_new(result, "tx",
			    gen->settings.rx_only ? json_null() :
						    lull_live_port_result(gen_tx_port(gen)));
	json_object_set_new(result, "rx",
			    gen->settings.tx_only ? json_null() :
						    lull_live_port_result(gen_rx_port(gen)));
	result_counters(gen, result);
	result_rates(gen, result);
	json_object_set_new(result, "latency_ns", result_latency(gen));
	json_object_set_new(result, "instrument", result_instrument(gen));
}
