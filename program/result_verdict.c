/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/rest.h>

#include "host/explain.h"
#include "result.h"

/* Only what is changed stands in an object. */
static json_t *
verdict_remedy(const struct lull_remedy *remedy)
{
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "ring", remedy->ring_pkts },
		{ "pps_max", remedy->pps_max },
		{ "max_latency_ns", remedy->latency_ns },
		{ "max_rest_ns", remedy->rest_ns_max },
	};
	json_t *object = json_object();
	char text[160];

	lull_result_put_text(object, "text", lull_remedy_explain(remedy, text, sizeof(text)));
	json_object_set_new(object, "fits", json_boolean(remedy->fits));
	json_object_set_new(object, "measured", json_boolean(remedy->measured));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].value > 0)
			lull_result_put_count(object, counts[i].key, counts[i].value);
	if ((remedy->changes & LULL_REMEDY_LOSS) != 0)
		lull_result_put_text(object, "loss", "tolerate");
	lull_result_put_count(object, "rest_ns", remedy->rest_ns);
	lull_result_put_real(object, "cpu_pct", (double)remedy->cpu_ppm / 10000);
	return object;
}

static json_t *
verdict_remedies(const struct lull_verdict *verdict)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < verdict->remedy_count; i++)
		json_array_append_new(list, verdict_remedy(&verdict->remedies[i]));
	return list;
}

json_t *
lull_result_verdict(const struct lull_verdict *verdict, const struct lull_idle_limits *limits)
{
	const struct {
		const char *key;
		uint64_t ppm;
	} shares[] = {
		{ "predicted_cpu_pct", verdict->predicted_cpu_ppm },
		{ "load_pct", verdict->load_ppm },
		{ "resting_pct", verdict->resting_ppm },
		{ "late_pct", verdict->late_ppm },
		{ "stall_pct", verdict->stall_ppm },
	};
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "rest_ns", verdict->rest_ns },
		{ "latency_bound_ns", verdict->latency_bound_ns },
		{ "ring_bound_ns", verdict->ring_bound_ns },
		{ "break_even_ns", verdict->break_even_ns },
		{ "predicted_ns", verdict->predicted_ns },
		{ "overshoot_p50_ns", verdict->overshoot_p50_ns },
		{ "overshoot_p99_ns", verdict->overshoot_p99_ns },
		{ "overshoot_p9999_ns", verdict->overshoot_p9999_ns },
		{ "cost_ns", verdict->cost_ns },
		{ "arrival_pps", verdict->arrival_pps },
		{ "pps_max", verdict->pps_max },
		{ "stall_rate", verdict->stall_rate },
		{ "stall_ns", verdict->stall_ns },
	};
	json_t *object = json_object();
	char text[256];

	lull_result_put_text(object, "state", lull_verdict_state_name(verdict->state));
	lull_result_put_text(object, "binding", lull_bound_name(verdict->binding));
	lull_result_put_text(object, "idle_state", lull_idle_state_name(verdict->idle_state));
	lull_result_put_text(object, "envelope", lull_envelope_name(verdict->envelope));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		lull_result_put_count(object, counts[i].key, counts[i].value);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		lull_result_put_real(object, shares[i].key, (double)shares[i].ppm / 10000);
	json_object_set_new(object, "remedies", verdict_remedies(verdict));
	lull_result_put_text(object, "text",
			     lull_verdict_explain(verdict, limits, text, sizeof(text)));
	return object;
}
