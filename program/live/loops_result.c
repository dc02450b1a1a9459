/* SPDX-License-Identifier: BSD-3-Clause */
#include "loops.h"
#include "program/result.h"

uint64_t
lull_live_loop_cpu_ns(const struct lull_live_loop *item)
{
	return lull_thread_cpu_ns(lull_loop_tid(item->loop)) - item->begin_cpu_ns;
}

/* CPU time and stolen time since the start: the loop has stopped, its thread is still there. */
static void
loop_put_cpu(json_t *object, const struct lull_live_loop *item, uint64_t end_ns)
{
	uint64_t cpu_ns = lull_live_loop_cpu_ns(item);
	int cpu = lull_loop_cpu(item->loop);

	lull_result_put_count(object, "cpu", (uint64_t)cpu);
	lull_result_put_count(object, "thread_cpu_ns", cpu_ns);
	lull_result_put_share(object, "cpu_pct", (double)cpu_ns, (double)(end_ns - item->begin_ns),
			      100);
	lull_result_put_count(object, "steal_ns", lull_steal_ns(cpu) - item->begin_steal_ns);
}

static void
loop_put_counters(json_t *object, const struct lull_loop *loop)
{
	const struct lull_idle_counters *counters = lull_loop_counters(loop);
	const void *stage_counters;
	const struct lull_counter_info *stage_table =
		lull_loop_stage_counters(loop, &stage_counters);
	uint64_t missed, nombuf;

	lull_result_put_table(object, lull_idle_counter_table, counters);
	lull_result_put_table(object, stage_table, stage_counters);
	lull_loop_missed(loop, &missed, &nombuf);
	lull_result_put_count(object, "rx_missed", missed);
	lull_result_put_count(object, "rx_nombuf", nombuf);
	lull_result_put_real(object, "empty_pct", lull_idle_empty_ppm(counters) / 1e4);
	lull_result_put_real(object, "usage_pct", lull_idle_usage_ppm(counters) / 1e4);
}

/* Of queues that its thread shares with others. */
static json_t *
loop_share(const struct lull_share_member *share)
{
	json_t *object = json_object();

	lull_result_put_table(object, lull_share_counter_table, &share->counters);
	json_object_set_new(object, "vacation_ns", lull_result_histogram(&share->vacations, false));
	return object;
}

json_t *
lull_live_loop_result(const struct lull_live_loop *item, uint64_t end_ns)
{
	const struct lull_loop *loop = item->loop;
	struct lull_rest_thread_info class;
	struct lull_loop_snapshot snapshot;
	json_t *object = json_object();

	lull_loop_snapshot(loop, &snapshot);
	lull_result_put_text(object, "name", lull_loop_name(loop));
	lull_result_put_text(object, "kind", lull_loop_kind(loop));
	lull_result_put_text(object, "governor", lull_idle_governor_name(snapshot.governor));
	lull_result_put_count(object, "window", snapshot.window);
	loop_put_cpu(object, item, end_ns);
	lull_loop_class(loop, &class);
	lull_result_put_class(object, &class);
	loop_put_counters(object, loop);
	json_object_set_new(object, "wait_ns",
			    lull_result_histogram(lull_loop_wait_histogram(loop), false));
	json_object_set_new(object, "real_rest_ns",
			    lull_result_histogram(lull_loop_rest_histogram(loop), false));
	if (item->share != NULL)
		json_object_set_new(object, "share", loop_share(item->share));
	json_object_set_new(object, "verdict",
			    lull_result_verdict(&snapshot.verdict, &snapshot.limits));
	return object;
}

json_t *
lull_live_loops_result(const struct lull_live_loops *loops, uint64_t end_ns)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < loops->count; i++)
		json_array_append_new(list, lull_live_loop_result(&loops->items[i], end_ns));
	return list;
}

json_t *
lull_live_port_result(const struct lull_port *port)
{
	json_t *object = json_object();

	lull_result_put_text(object, "name", port->name);
	lull_result_put_text(object, "driver", port->driver);
	lull_result_put_count(object, "queues", port->queues);
	if (port->spread != LULL_PORT_SPREAD_NONE)
		lull_result_put_text(object, "spread",
				     port->spread == LULL_PORT_SPREAD_SYMMETRIC ? "symmetric" :
										  "driver");
	lull_result_put_count(object, "ring", port->ring_pkts);
	lull_result_put_count(object, "link_mbps", port->link_mbps);
	json_object_set_new(object, "hardware", json_boolean(port->hardware));
	json_object_set_new(object, "interrupt", json_boolean(port->interrupt));
	if (port->rx_stamps)
		json_object_set_new(object, "rx_stamps", json_true());
	lull_result_put_count(object, "missed", lull_port_missed(port));
	return object;
}

/* ---- telemetry of traffic ---- */

void
lull_live_traffic(void *arg, const struct lull_loop *loop,
		  void (*put)(void *put_arg, const char *key, uint64_t value), void *put_arg)
{
	(void)arg;
	lull_traffic_report(lull_loop_stage_state(loop), put, put_arg);
}

const struct lull_histogram *
lull_live_latency(void *arg, const struct lull_loop *loop)
{
	(void)arg;
	return lull_traffic_histogram(lull_loop_stage_state(loop), LULL_TRAFFIC_LATENCY);
}
