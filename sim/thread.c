/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread.h"

#include <string.h>

#include "thread_quirks.h"

#define HOUSEKEEPING_NS (10 * LULL_NS_PER_MS) /* as in engine/loop/loop.c */
#define GROUP_PKTS 8 /* as LULL_PORT_GROUP_PKTS: a burst that is nearly full leaves some */
#define COUNT_NS 10  /* to ask how many are left: reads the descriptor that was looked at last */

uint64_t
lull_sim_thread_offered(const struct lull_sim_thread *thread)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < thread->ring_count; i++)
		sum += thread->rings[i].offered;
	return sum;
}

uint64_t
lull_sim_thread_lost(const struct lull_sim_thread *thread)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < thread->ring_count; i++)
		sum += thread->rings[i].lost;
	return sum;
}

void
lull_sim_thread_mark(struct lull_sim_thread *thread)
{
	struct lull_sim_stats *stats = &thread->stats;

	memset(stats, 0, sizeof(*stats));
	stats->begin_ns = thread->now_ns;
	stats->offered = lull_sim_thread_offered(thread);
	stats->lost = lull_sim_thread_lost(thread);
	stats->leaves = thread->watch.leave_count;
	stats->competitor_ns = thread->cpu->competitor.got_ns;
	stats->counters = *lull_idle_counters(thread->idle);
	if (thread->share != NULL)
		stats->share = thread->share->counters;
	lull_idle_mark(thread->idle);
}

/* Every 10 ms: the loss audit, and what the governor promises. */
static void
thread_housekeeping(struct lull_sim_thread *thread)
{
	uint64_t lost = lull_sim_thread_lost_told(thread, lull_sim_thread_lost(thread));
	struct lull_verdict verdict;

	thread->housekeeping_ns = thread->now_ns + HOUSEKEEPING_NS;
	lull_idle_miss(thread->idle, thread->now_ns, lost - thread->lost_seen);
	thread->lost_seen = lost;
	lull_idle_verdict(thread->idle, &verdict);
	thread->stats.samples++;
	if (verdict.state == LULL_VERDICT_FEASIBLE)
		thread->stats.samples_feasible++;
}

/* It ran for so long. */
static void
thread_use(struct lull_sim_thread *thread, uint64_t ns)
{
	thread->stats.cpu_ns += ns;
	thread->stats.active_ns += ns;
	thread->vruntime_ns += ns;
	thread->used_ns += ns;
	/* Whom a real-time class lets run owes nothing to the fair scheduler. */
	if (!thread->watch.realtime)
		lull_sim_competitor_charge(&thread->cpu->competitor, ns);
}

/* ---- packets ---- */

/* The ring in front of the link is full: poll it until there is room. */
static uint64_t
thread_wait_for_link(struct lull_sim_thread *thread, uint64_t now_ns)
{
	uint64_t free_ps = thread->out_link->free_ps;
	uint64_t now_ps = now_ns * LULL_SIM_PS_PER_NS;

	if (free_ps <= now_ps + thread->out_room_ps)
		return now_ns;
	return (free_ps - thread->out_room_ps + LULL_SIM_PS_PER_NS - 1) / LULL_SIM_PS_PER_NS;
}

static int
thread_send(struct lull_sim_thread *thread, uint64_t now_ns, uint32_t bytes)
{
	return lull_sim_ring_send(thread->out, lull_sim_link_pass(thread->out_link, now_ns, bytes),
				  bytes);
}

static void
thread_measure(struct lull_sim_thread *thread, const struct lull_sim_pkt *pkt, uint64_t done_ns)
{
	struct lull_sim_stats *stats = &thread->stats;

	lull_histogram_add(&stats->latency, done_ns - pkt->arrive_ns, 1);
	lull_histogram_add(&stats->added, done_ns > pkt->ideal_ns ? done_ns - pkt->ideal_ns : 0, 1);
	stats->bytes += pkt->bytes;
	if (thread->wants_sizes) {
		thread->bytes += pkt->bytes;
		thread->bytes_squared += (uint64_t)pkt->bytes * pkt->bytes;
	}
}

/* What the driver hands out of what is there. */
static uint64_t
thread_burst_pkts(const struct lull_sim_thread *thread, const struct lull_sim_ring *ring)
{
	uint64_t count = LULL_MIN(lull_sim_ring_count(ring), (uint64_t)thread->burst_pkts);

	if (thread->round_pkts > 1 && count > thread->round_pkts)
		count -= (ring->head + count) % thread->round_pkts;
	return count;
}

/*
 * Ask how many are left after a short burst, before it is processed; *now_ns moves to the answer.
 * As the engine does: not where some queue is known not to be empty.
 */
static int
thread_ask(struct lull_sim_thread *thread, struct lull_sim_ring *ring, uint32_t index,
	   uint64_t count, uint64_t *now_ns)
{
	int rc = 0;

	if (!thread->asks || count == 0)
		return 0;
	thread->asks = count + GROUP_PKTS <= thread->burst_pkts;
	if (thread->asks) {
		*now_ns = lull_sim_cpu_work(thread->cpu, *now_ns, COUNT_NS);
		rc = lull_sim_feed_fill(ring->feed, ring, *now_ns);
		thread->asks = lull_sim_ring_count(ring) == count;
	}
	thread->emptied |= (uint64_t)thread->asks << index;
	return rc;
}

/* Receive, process and send a burst of one ring, the iteration's queue @p index; *now_ns moves. */
static int
thread_burst(struct lull_sim_thread *thread, struct lull_sim_ring *ring, uint32_t index,
	     uint64_t *now_ns)
{
	uint64_t count, done_ns, i;
	int rc;

	rc = lull_sim_feed_fill(ring->feed, ring, *now_ns);
	if (rc != 0)
		return rc;
	count = thread_burst_pkts(thread, ring);
	rc = thread_ask(thread, ring, index, count, now_ns);
	if (rc != 0)
		return rc;
	done_ns = lull_sim_cpu_work(thread->cpu, *now_ns,
				    lull_sim_quirks_burst_ns(thread->quirks, *now_ns, thread->cold,
							     thread->burst_ns[count]));
	if (thread->out != NULL && count > 0)
		done_ns = thread_wait_for_link(thread, done_ns);
	for (i = 0; i < count; i++) {
		const struct lull_sim_pkt *pkt = &ring->pkts[(ring->head + i) & ring->mask];

		thread_measure(thread, pkt, done_ns);
		if (thread->out != NULL) {
			rc = thread_send(thread, done_ns, pkt->bytes);
			if (rc != 0)
				return rc;
		}
	}
	ring->head += count;
	thread->stats.delivered += count;
	thread->size_pkts += thread->wants_sizes ? count : 0;
	thread->queue_pkts[index] = (uint16_t)count;
	*now_ns = done_ns;
	return 0;
}

/* ---- rests ---- */

/* What a core does that nobody runs on. */
static void
thread_idle_core(struct lull_sim_thread *thread, uint64_t idle_ns)
{
	const struct lull_sim_machine *machine = thread->machine;
	uint32_t i = machine->cstate_count;

	while (i > 0 && machine->cstates[i - 1].least_ns > idle_ns)
		i--;
	if (i > 0)
		thread->stats.cstate_ns[i - 1] += idle_ns;
	else
		thread->stats.active_ns += idle_ns;
}

/* Due at @p due_ns, and usually late by so much: when does it run? */
static uint64_t
thread_wake_end(struct lull_sim_thread *thread, uint64_t due_ns, uint64_t usual_ns)
{
	struct lull_sim_cpu *cpu = thread->cpu;
	struct lull_sim_competitor *competitor = &cpu->competitor;
	uint64_t end_ns = due_ns + usual_ns, free_ns;

	if (!lull_sim_competitor_present(competitor))
		return end_ns;
	lull_sim_cpu_lend(cpu, due_ns);
	if (lull_sim_competitor_wants(competitor, due_ns)) {
		/* It may come to its end by itself; a busy loop does not. */
		free_ns = competitor->rest_ns > 0 ? end_ns + competitor->left_ns : UINT64_MAX;
		if (thread->watch.realtime)
			end_ns += lull_sim_sampler_draw(&thread->beside_fifo);
		else
			end_ns += lull_sim_sampler_draw(&thread->beside_fair) +
				  lull_sim_competitor_debt(competitor);
		end_ns = LULL_MIN(end_ns, free_ns);
		thread->stats.waited_ns += end_ns - due_ns - usual_ns;
	}
	lull_sim_cpu_lend(cpu, end_ns);
	competitor->slice_ns = end_ns + LULL_SIM_FAIR_SLICE_NS;
	return end_ns;
}

/*
 * It leaves the core, and the competitor has what is left of the rest: the price of the sleep is
 * the thread's, before and after, and changing there and back is nobody's. Of a rest that is
 * shorter than this nothing is left.
 */
static void
thread_leave_core(struct lull_sim_thread *thread, uint64_t now_ns)
{
	struct lull_sim_competitor *competitor = &thread->cpu->competitor;

	lull_sim_competitor_skip(competitor,
				 now_ns + thread->machine->rest_ns + 2 * competitor->switch_ns);
}

static uint64_t
thread_sleep_end(struct lull_sim_thread *thread, uint64_t begin_ns, uint64_t limit_ns)
{
	uint64_t usual_ns = lull_sim_sampler_draw(&thread->sampler), end_ns;

	usual_ns += lull_sim_thread_exit_ns(thread, limit_ns);
	thread_leave_core(thread, begin_ns);
	end_ns = thread_wake_end(thread, begin_ns + limit_ns, usual_ns);
	if (thread->late_ppm > 0 && lull_prng_below(&thread->fault, LULL_PPM) < thread->late_ppm)
		end_ns += thread->late_ns;
	return lull_sim_cpu_wake(thread->cpu, end_ns);
}

/* When the next packet comes to any ring, at most @p limit_ns; @p begin_ns: one is there. */
static int
thread_next_packet(struct lull_sim_thread *thread, uint64_t begin_ns, uint64_t limit_ns,
		   uint64_t *first_ns)
{
	uint64_t next_ns;
	int rc;

	*first_ns = limit_ns;
	for (uint32_t i = 0; i < thread->ring_count; i++) {
		struct lull_sim_ring *ring = &thread->rings[i];

		if (lull_sim_ring_count(ring) > 0) {
			*first_ns = begin_ns;
			return 0;
		}
		rc = lull_sim_feed_next(ring->feed, ring, *first_ns, &next_ns);
		if (rc != 0)
			return rc;
		*first_ns = LULL_MIN(*first_ns, next_ns);
	}
	*first_ns = LULL_MAX(*first_ns, begin_ns);
	return 0;
}

/* A rest that the next packet ends, or its limit where that comes before the packet's word. */
static int
thread_event_end(struct lull_sim_thread *thread, struct lull_wake *wake)
{
	uint64_t limit_ns = wake->begin_ns + wake->rest.limit_ns, first_ns, late_ns;
	int rc = thread_next_packet(thread, wake->begin_ns, limit_ns, &first_ns);

	if (rc != 0)
		return rc;
	wake->reason = LULL_WAKE_PACKET;
	wake->end_ns = wake->begin_ns;
	if (first_ns == wake->begin_ns) /* it looks again before it rests */
		return 0;
	late_ns = lull_sim_thread_event_late(thread, wake->rest.idle_state, first_ns);
	if (first_ns + late_ns > limit_ns) {
		wake->reason = LULL_WAKE_TIMER;
		wake->end_ns = thread_sleep_end(thread, wake->begin_ns, wake->rest.limit_ns);
		return 0;
	}
	lull_sim_thread_interrupted(thread, wake->rest.idle_state, first_ns + late_ns);
	late_ns += lull_sim_thread_exit_ns(thread, first_ns - wake->begin_ns);
	thread_leave_core(thread, wake->begin_ns);
	wake->end_ns = thread_wake_end(thread, first_ns, late_ns);
	wake->end_ns = lull_sim_cpu_wake(thread->cpu, wake->end_ns);
	return 0;
}

/* The thread watches its rings itself, and sees when the word of a packet comes. */
static int
thread_event_watch(struct lull_sim_thread *thread, struct lull_wake *wake)
{
	uint64_t rest_ns = wake->rest.limit_ns, end_ns = wake->begin_ns + rest_ns, first_ns;
	uint64_t word_ns;
	int rc = thread_next_packet(thread, wake->begin_ns, end_ns, &first_ns);

	if (rc != 0)
		return rc;
	wake->reason = first_ns < end_ns ? LULL_WAKE_PACKET : LULL_WAKE_TIMER;
	if (first_ns == wake->begin_ns) {
		end_ns = first_ns;
	} else if (first_ns < end_ns) {
		word_ns = first_ns +
			  lull_sim_thread_event_late(thread, wake->rest.idle_state, first_ns);
		wake->packet_ns = first_ns;
		end_ns = LULL_MIN(word_ns, first_ns + rest_ns);
		if (word_ns > end_ns)
			wake->reason = LULL_WAKE_TIMER;
		else
			lull_sim_thread_interrupted(thread, wake->rest.idle_state, word_ns);
	}
	wake->end_ns = lull_sim_cpu_work(thread->cpu, wake->begin_ns, end_ns - wake->begin_ns);
	thread->stats.stolen_ns += wake->end_ns - end_ns;
	thread_use(thread, end_ns - wake->begin_ns);
	return 0;
}

/* It gives the core away. */
static int
thread_rest_away(struct lull_sim_thread *thread, struct lull_wake *wake)
{
	uint64_t real_ns;
	int rc = 0;

	thread->left_ns = wake->begin_ns;
	if (wake->rest.idle_state == LULL_IDLE_SLEEP)
		wake->end_ns = thread_sleep_end(thread, wake->begin_ns, wake->rest.limit_ns);
	else
		rc = thread_event_end(thread, wake);
	real_ns = wake->end_ns - wake->begin_ns;
	wake->cpu_ns = LULL_MIN(thread->machine->rest_ns, real_ns);
	thread_use(thread, wake->cpu_ns);
	thread_idle_core(thread, real_ns - wake->cpu_ns);
	return rc;
}

static int
thread_rest(struct lull_sim_thread *thread, const struct lull_rest *rest, uint64_t now_ns)
{
	struct lull_wake wake = { .rest = *rest, .begin_ns = now_ns };
	int rc = 0;

	if (rest->idle_state == LULL_IDLE_PAUSE) {
		wake.end_ns = lull_sim_cpu_work(thread->cpu, now_ns, rest->limit_ns);
		thread->stats.stolen_ns += wake.end_ns - now_ns - rest->limit_ns;
		thread_use(thread, rest->limit_ns);
	} else if (rest->watch) {
		rc = thread_event_watch(thread, &wake);
	} else {
		rc = thread_rest_away(thread, &wake);
	}
	if (rc != 0)
		return rc;
	lull_idle_wake(thread->idle, &wake);
	thread->now_ns = wake.end_ns;
	return 0;
}

/* ---- beside a competitor ---- */

/* An ordinary thread that did not rest: the competitor may have the core for a while. */
static void
thread_share(struct lull_sim_thread *thread)
{
	struct lull_sim_cpu *cpu = thread->cpu;
	struct lull_sim_competitor *competitor = &cpu->competitor;
	uint64_t ns;

	lull_sim_competitor_skip(competitor, thread->now_ns);
	if (thread->watch.realtime)
		return;
	ns = lull_sim_competitor_iterate(competitor, thread->now_ns);
	if (ns == 0)
		return;
	lull_sim_cpu_lend(cpu, thread->now_ns + ns);
	ns += 2 * competitor->switch_ns;
	thread->stats.waited_ns += ns;
	thread->now_ns += ns;
	lull_sim_competitor_skip(competitor, thread->now_ns);
	competitor->slice_ns = thread->now_ns + LULL_SIM_FAIR_SLICE_NS +
			       lull_prng_below(&competitor->prng, LULL_SIM_FAIR_TICK_NS);
}

/* Its iteration and its rest are over: who has the core, and by which class? */
static void
thread_settle(struct lull_sim_thread *thread, uint64_t begin_ns)
{
	struct lull_sim_competitor *competitor = &thread->cpu->competitor;
	bool rested = thread->left_ns != 0;
	bool realtime = thread->watch.realtime;

	if (realtime)
		thread->stats.realtime_ns += thread->now_ns - begin_ns;
	if (lull_sim_watch_iteration(&thread->watch, rested, thread->now_ns, thread->used_ns))
		competitor->lead_ns = 0; /* begins as one who is owed nothing */
	if (thread->watch.realtime != realtime)
		lull_idle_forget(thread->idle);
	if (lull_sim_competitor_present(competitor) && !rested)
		thread_share(thread);
}

/* ---- iterations ---- */

static int
thread_receive(struct lull_sim_thread *thread, uint64_t *now_ns)
{
	uint32_t index;
	int rc = 0;

	if (thread->share == NULL) {
		for (uint32_t i = 0; rc == 0 && i < thread->ring_count; i++)
			rc = thread_burst(thread, &thread->rings[i], i, now_ns);
		return rc;
	}
	thread->queue_pkts[0] = 0;
	if (lull_idle_take(thread->idle, thread->now_ns, &index))
		rc = thread_burst(thread, &thread->shared[index], 0, now_ns);
	return rc;
}

/* Look at the rings; now_ns moves to the end of it. */
static int
thread_poll(struct lull_sim_thread *thread)
{
	uint64_t stolen_before_ns = thread->cpu->stolen_ns;
	uint64_t now_ns, stolen_ns;
	int rc;

	thread->begin_ns = thread->now_ns;
	thread->cold = thread->left_ns != 0;
	thread->left_ns = 0;
	if (thread->now_ns >= thread->housekeeping_ns)
		thread_housekeeping(thread);
	thread->size_pkts = thread->bytes = thread->bytes_squared = 0;
	thread->asks = thread->counts_left;
	thread->emptied = 0;
	now_ns = lull_sim_cpu_work(thread->cpu, thread->now_ns, thread->machine->iteration_ns);
	rc = thread_receive(thread, &now_ns);
	if (rc != 0)
		return rc;
	stolen_ns = thread->cpu->stolen_ns - stolen_before_ns;
	thread->stats.stolen_ns += stolen_ns;
	thread_use(thread, now_ns - thread->now_ns - stolen_ns);
	thread->now_ns = now_ns;
	return 0;
}

/* Plan and rest, as of the begin of the iteration. */
static int
thread_plan(struct lull_sim_thread *thread)
{
	const struct lull_iteration iteration = {
		.now_ns = thread->begin_ns,
		.queue_pkts = thread->queue_pkts,
		.queue_count = thread->share != NULL ? 1 : thread->ring_count,
		.size_pkts = thread->size_pkts,
		.bytes = thread->bytes,
		.bytes_squared = thread->bytes_squared,
		.emptied = thread->emptied,
	};
	struct lull_rest rest = lull_idle_plan(thread->idle, &iteration);
	int rc = 0;

	if (rest.idle_state != LULL_IDLE_NONE)
		rc = thread_rest(thread, &rest, thread->now_ns);
	thread_settle(thread, thread->begin_ns);
	return rc;
}

int
lull_sim_thread_iterate(struct lull_sim_thread *thread)
{
	bool plans = thread->share == NULL || thread->polled;
	int rc = thread->polled ? 0 : thread_poll(thread);

	thread->polled = !plans;
	return rc == 0 && plans ? thread_plan(thread) : rc;
}
