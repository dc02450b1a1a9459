/* SPDX-License-Identifier: BSD-3-Clause */
/* What a poller does besides polling: orders, limits, the loss audit, the snapshot. */
#include "plugin.h"

#include <sched.h>
#include <string.h>

#include <rte_ethdev.h>

#include "host/loop.h"
#include "host/sched_class.h"

#define HOUSEKEEPING_NS (10 * LULL_NS_PER_MS)
#define ABSENT_NS (100 * LULL_NS_PER_MS)  /* so long without housekeeping: it polled nothing */
#define ASK_COST_SHARE 1000               /* of the CPU of a thread that polls */
#define ASK_COST_NS (20 * LULL_NS_PER_US) /* so long may packets wait for it once a second */

/* ---- limits ---- */

static struct lull_idle_limits
change_limits(const struct plugin_poller *poller)
{
	struct lull_ring_facts rings = poller->rings;
	struct lull_idle_limits limits;

	if (poller->settings.ring_pkts > 0)
		rings.ring_pkts = poller->settings.ring_pkts;
	limits = lull_resting_limits(&poller->settings.resting, &rings);
	limits.burst_pkts = poller->burst_pkts;
	limits.idle_states = PLUGIN_IDLE_STATES;
	/* There is nobody to refuse it to: queues come and go. */
	if (limits.envelope == LULL_ENVELOPE_LINK && limits.pps_max == 0)
		limits.envelope = LULL_ENVELOPE_LEARNED;
	return limits;
}

static bool
change_same(const struct lull_idle_limits *a, const struct lull_idle_limits *b)
{
	return a->latency_ns == b->latency_ns && a->percentile_ppm == b->percentile_ppm &&
	       a->loss == b->loss && a->rest_ns_max == b->rest_ns_max && a->rest_ns == b->rest_ns &&
	       a->ring_pkts == b->ring_pkts && a->held_pkts == b->held_pkts &&
	       a->envelope == b->envelope && a->pps_max == b->pps_max &&
	       a->burst_pkts == b->burst_pkts && a->short_leaves == b->short_leaves &&
	       a->loss_lag_ns == b->loss_lag_ns && a->kalman.step_ns == b->kalman.step_ns &&
	       a->kalman.window_ns == b->kalman.window_ns &&
	       a->kalman.tolerance_ppm == b->kalman.tolerance_ppm &&
	       a->kalman.row_bytes == b->kalman.row_bytes && a->kalman.layout == b->kalman.layout;
}

/* Only who rests may have a class of ours, and only if the program was to be asked for it. */
static void
change_class(struct plugin_poller *poller, const struct lull_idle_limits *limits)
{
	static bool said; /* once is enough: what one may not have the others may not either */
	struct lull_rest_thread_info info;
	char text[LULL_ERROR_SIZE];
	struct lull_rest_thread_config config = {
		.policy = (enum lull_sched_policy)poller->settings.resting.sched_policy,
		.latency_ns = poller->settings.resting.max_latency_ns,
		.cpu_latency_ns = poller->settings.resting.cpu_latency_ns,
		.ring_ns = lull_limits_ring_ns(limits),
	};

	if (poller->settings.mode != PLUGIN_ON) {
		config.policy = LULL_SCHED_OTHER;
		config.cpu_latency_ns = 0;
	}
	/* What nobody asked for does not change. */
	if (config.cpu_latency_ns != LULL_CPU_LATENCY_AUTO)
		config.ring_ns = 0;
	if (config.policy == poller->class_config.policy &&
	    config.latency_ns == poller->class_config.latency_ns &&
	    config.cpu_latency_ns == poller->class_config.cpu_latency_ns &&
	    config.ring_ns == poller->class_config.ring_ns)
		return;
	poller->class_config = config;
	lull_rest_thread_change(poller->class, &config);
	lull_rest_thread_info(poller->class, &info);
	if (info.refused != 0 && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		plugin_say("%s (thread %s) %s", poller->name, poller->thread,
			   lull_rest_thread_explain(poller->class, text, sizeof(text)));
}

/* A change makes the governor begin anew, so what stays the same is no change. */
void
plugin_poller_change(struct plugin_poller *poller)
{
	const struct lull_idle_governor *governor = plugin_settings_governor(&poller->settings);
	struct lull_idle_limits limits = change_limits(poller);

	change_class(poller, &limits);
	__atomic_store_n(&poller->unseen, poller->settings.unseen, __ATOMIC_RELAXED);
	if (governor == poller->governor && poller->mode == poller->settings.mode &&
	    change_same(&limits, &poller->limits))
		return;
	__atomic_store_n(&poller->mode, poller->settings.mode, __ATOMIC_RELAXED);
	poller->governor = governor;
	poller->limits = limits;
	lull_idle_change(poller->idle, governor, &limits);
	poller->sized = poller->mode >= PLUGIN_SHADOW && lull_idle_wants_sizes(poller->idle);
	poller->size_pkts = poller->bytes = poller->bytes_squared = 0;
	poller->shadow.resting = false;
	poller->timed = false;
	poller->sampling = false;
	poller->empty_run = 0;
	poller->empty_need = poller->mode >= PLUGIN_SHADOW ? 1 : UINT32_MAX;
	poller->clock_countdown = 1;
	poller->wall_seen_ns = 0;
}

/* ---- orders ---- */

void
plugin_apply(struct plugin_poller *poller, uint64_t now_ns)
{
	uint32_t window;

	if (pthread_mutex_trylock(&poller->orders_lock) != 0)
		return; /* they are still being written: the next iteration looks again */
	__atomic_store_n(&poller->ordered, false, __ATOMIC_RELAXED);
	poller->settings = poller->ordered_settings;
	window = poller->ordered_window;
	pthread_mutex_unlock(&poller->orders_lock);
	plugin_poller_change(poller);
	if (window != poller->window) {
		poller->window = window;
		poller->window_begin_ns = now_ns;
		lull_idle_mark(poller->idle);
	}
	plugin_publish(poller, now_ns);
}

/* ---- housekeeping ---- */

void
plugin_publish(struct plugin_poller *poller, uint64_t now_ns)
{
	struct lull_loop_snapshot snapshot;

	memset(&snapshot, 0, sizeof(snapshot));
	snapshot.now_ns = now_ns;
	snapshot.window_begin_ns = poller->window_begin_ns;
	snapshot.window = poller->window;
	snapshot.governor = poller->governor;
	snapshot.limits = *lull_idle_limits(poller->idle);
	lull_idle_verdict(poller->idle, &snapshot.verdict);
	if (poller->mode <= PLUGIN_PASSIVE || plugin_poller_unseen(poller) != NULL)
		snapshot.verdict.state = LULL_VERDICT_NONE;
	lull_snapshot_write(&poller->snapshot, &snapshot, poller->idle);
	__atomic_store_n(&poller->cpu, sched_getcpu(), __ATOMIC_RELAXED);
	__atomic_store_n(&poller->published_ns, now_ns, __ATOMIC_RELAXED);
}

/* Ports belong to the process, and so does what they count and who is charged with it. */
static struct lull_port_readings audit_readings[PLUGIN_PORTS_MAX];
static struct lull_loss_claim audit_claims[PLUGIN_PORTS_MAX];
static bool audit_restarted[PLUGIN_PORTS_MAX]; /* atomic */

void
plugin_audit_init(void)
{
	for (uint32_t i = 0; i < PLUGIN_PORTS_MAX; i++)
		lull_port_readings_init(&audit_readings[i]);
}

void
plugin_audit_restart(uint16_t port_id)
{
	__atomic_store_n(&audit_restarted[port_id], true, __ATOMIC_RELAXED);
}

static int
audit_count(uint16_t port_id, struct lull_port_counts *counts)
{
	struct rte_eth_stats stats;
	int rc = rte_eth_stats_get(port_id, &stats);

	counts->missed = stats.imissed;
	counts->nombuf = stats.rx_nombuf;
	counts->errors = stats.ierrors;
	return rc;
}

/*
 * Asking takes the place of a rest: where a thread would rest that long no packet waits longer for
 * it. A busy thread asks once a second, to be seen in telemetry, and only a quick driver. The slow
 * ones are not asked while packets might come, but for the first time after the port has started:
 * what is lost can only be told from what was lost before.
 */
static bool
audit_may_ask(const struct plugin_poller *poller, const struct lull_port_reading *last,
	      uint64_t now_ns)
{
	if (poller->mode == PLUGIN_OFF)
		return false;
	return last->cost_ns <= poller->rest_ns ||
	       (last->cost_ns <= ASK_COST_NS && now_ns - last->end_ns >= LULL_NS_PER_S);
}

/* One thread at a time asks a port, as ethdev wants it; others see what it published. */
static void
audit_ask(struct plugin_poller *poller, uint16_t port_id)
{
	static const struct lull_port_asker asker = { .count = audit_count };
	struct lull_port_readings *readings = &audit_readings[port_id];
	uint64_t now_ns = lull_clock_ns();
	struct lull_port_reading last;

	if (!lull_port_readings_due(readings, now_ns) ||
	    pthread_mutex_trylock(&readings->lock) != 0)
		return;
	if (__atomic_exchange_n(&audit_restarted[port_id], false, __ATOMIC_RELAXED))
		lull_port_readings_begin(readings);
	lull_port_readings_read(readings, &last);
	if (audit_may_ask(poller, &last, now_ns))
		lull_port_readings_ask(readings, &asker, port_id, ASK_COST_SHARE);
	pthread_mutex_unlock(&readings->lock);
}

void
plugin_audit_port(struct plugin_poller *poller, uint16_t port_id)
{
	static_assert(PLUGIN_PORTS_MAX <= 32, "a bit for each port");
	poller->ports |= 1u << port_id;
	audit_ask(poller, port_id);
}

static void
audit_enter(struct plugin_poller *poller, uint16_t port_id)
{
	struct lull_loss_audit *audit = &poller->audits[port_id];
	struct lull_port_reading reading;
	struct lull_loss_reading lost;
	bool suspect;

	if (!lull_port_readings_try(&audit_readings[port_id], &reading))
		return;
	lost = lull_port_reading_loss(&reading);
	if (reading.end_ns == 0 || !lull_loss_audit_due(audit, &lost))
		return;
	/* Who only reckons with rests loses nothing by them. */
	suspect = poller->mode == PLUGIN_ON &&
		  lull_idle_suspects(poller->idle, audit->begin_ns - poller->stolen_ns,
				     reading.end_ns - poller->stolen_ns);
	lull_loss_audit_enter(audit, &audit_claims[port_id], &lost, suspect, &poller->charge);
}

/* When it is known what the last rest may have lost. */
static void
audit_tell(struct plugin_poller *poller, uint64_t now_ns)
{
	for (uint32_t ports = poller->ports; ports != 0; ports &= ports - 1)
		audit_enter(poller, (uint16_t)__builtin_ctz(ports));
	lull_idle_charge(poller->idle, now_ns - poller->stolen_ns, &poller->charge);
	poller->charge = (struct lull_loss_charge){ 0, 0 };
}

void
plugin_audit_end(struct plugin_poller *poller)
{
	audit_tell(poller, lull_clock_ns());
	for (uint32_t i = 0; i < PLUGIN_PORTS_MAX; i++)
		lull_loss_audit_end(&poller->audits[i], &audit_claims[i], &poller->charge);
	lull_idle_charge(poller->idle, poller->accounted_ns, &poller->charge);
}

void
plugin_housekeeping(struct plugin_poller *poller, uint64_t now_ns)
{
	if (now_ns < poller->housekeeping_ns || lull_idle_undecided(poller->idle))
		return;
	poller->housekeeping_ns = now_ns + HOUSEKEEPING_NS;
	sched_class_follow(poller->class);
	if (lull_rest_thread_changes(poller->class) != poller->class_changes) {
		poller->class_changes = lull_rest_thread_changes(poller->class);
		lull_idle_forget(poller->idle);
	}
	audit_tell(poller, now_ns);
	plugin_attach_notice();
	if (now_ns - poller->polled_ns > ABSENT_NS)
		plugin_queue_doubt(poller);
	poller->polled_ns = now_ns;
	plugin_queue_recall(poller);
	plugin_publish(poller, now_ns);
}
