/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Rx callback: find out when a thread has been round all its queues, and let it rest if none of
 * them had anything. The round ends with the poll of its last queue, so nothing is in hand then and
 * the next poll belongs to the time after the rest.
 *
 * The clock costs more than an empty poll, so it is read only around a rest: rounds after a rest
 * are timed until the rings have run short, others are counted and reported in one go.
 */
#include "plugin.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define EMPTY_NEED_IDLE 64 /* empty rounds between clock readings while the policy wants no rest */
#define LOOK_ROUNDS 1024   /* rounds between clock readings when nothing else asks for one */
#define SATURATED_ROUNDS 1024 /* full rounds after which what is in the rings met no rest */
#define BUSY_PATIENCE 1024    /* polls of members seen already, with packets */
#define SAMPLE_ROUNDS_MAX 64
#define REPORT_NS LULL_NS_PER_MS         /* between reports while only measuring */
#define ABSENT_NS (100 * LULL_NS_PER_MS) /* no program that polls takes so long for a round */

#define UNLIKELY(condition) __builtin_expect(condition, 0)

/* Initial-exec: one instruction instead of a call per poll. */
static __thread struct plugin_poller *self __attribute__((tls_model("initial-exec")));

/* ---- what idle.c is told ---- */

static void
poller_wake(struct plugin_poller *poller, struct lull_wake wake)
{
	wake.begin_ns -= poller->lost_ns;
	wake.end_ns -= poller->lost_ns;
	poller->told_ns = wake.end_ns;
	lull_idle_wake(poller->idle, &wake);
}

static void
poller_polled(struct plugin_poller *poller, uint64_t now_ns, uint64_t turns, uint64_t turns_empty,
	      uint64_t pkts)
{
	poller->told_ns = now_ns;
	lull_idle_polled(poller->idle, now_ns, turns, turns_empty, pkts);
}

/* The rounds that were only counted. */
static void
poller_report(struct plugin_poller *poller, uint64_t wall_ns)
{
	uint64_t now_ns = LULL_MAX(wall_ns - poller->lost_ns, poller->told_ns);
	uint64_t empty_ns = poller->turns_empty * poller->sample_x256 / 256;

	if (poller->turns == 0)
		return;
	if (empty_ns > 0 && poller->turns_empty < poller->turns) {
		empty_ns = LULL_MIN(empty_ns, now_ns - poller->told_ns);
		poller_polled(poller, poller->told_ns + empty_ns, poller->turns_empty,
			      poller->turns_empty, 0);
		poller->turns -= poller->turns_empty;
		poller->turns_empty = 0;
	}
	poller_polled(poller, now_ns, poller->turns, poller->turns_empty, poller->pkts);
	poller->turns = 0;
	poller->turns_empty = 0;
	poller->pkts = 0;
}

/* ---- rests ---- */

/*
 * The program may cancel its threads and knows that receiving is no place where this can happen; so
 * the sleep must not be one either.
 */
static void
poller_rest(struct plugin_poller *poller, const struct lull_rest *rest)
{
	struct lull_wake wake;
	int cancel;

	if (!poller->prepared) {
		lull_rest_thread_init();
		poller->prepared = true;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	lull_rest_run(poller->ways[rest->depth], NULL, rest, &wake);
	pthread_setcancelstate(cancel, NULL);
	poller->round_begin_ns = wake.end_ns;
	poller->full_rounds = 0;
	poller_wake(poller, wake);
}

/* As if it had rested: packets that come before until_ns count as having waited. */
static void
shadow_begin(struct plugin_poller *poller, const struct lull_rest *rest, uint64_t now_ns)
{
	poller->shadow.resting = true;
	poller->shadow.rest = *rest;
	poller->shadow.begin_ns = now_ns;
	poller->shadow.until_ns = now_ns + rest->limit_ns;
	if (rest->depth >= LULL_REST_SLEEP)
		poller->shadow.until_ns += plugin_attach_late_ns();
}

static void
shadow_end(struct plugin_poller *poller)
{
	struct lull_wake wake = {
		.rest = poller->shadow.rest,
		.begin_ns = poller->shadow.begin_ns,
		.end_ns = poller->shadow.until_ns,
	};

	if (wake.rest.depth >= LULL_REST_SLEEP)
		wake.cpu_ns = plugin_attach_cost_ns();
	poller->shadow.resting = false;
	poller->full_rounds = 0;
	poller_wake(poller, wake);
	poller->round_begin_ns = poller->shadow.until_ns;
}

/* ---- timed rounds ---- */

/* Packets by queue are counted in timed rounds only: nobody asks in the others. */
static void
poller_clear(struct plugin_poller *poller)
{
	memset(poller->queue_pkts, 0, sizeof(poller->queue_pkts));
}

static bool
poller_drained(const struct plugin_poller *poller)
{
	uint32_t count = LULL_MIN(poller->member_count, (uint32_t)LULL_IDLE_QUEUES_MAX), i;

	for (i = 0; i < count; i++)
		if (poller->queue_pkts[i] >= poller->burst_pkts)
			return false;
	return true;
}

static bool
poller_may_rest(const struct plugin_poller *poller, const struct lull_rest *rest)
{
	return poller->round_pkts == 0 && rest->depth != LULL_REST_NONE && !poller->crowded &&
	       poller->mode >= PLUGIN_SHADOW && plugin_poller_unseen(poller) == NULL;
}

/* When the thread must poll again, by its own word; 0: whenever. */
static uint64_t
poller_deadline(const struct plugin_poller *poller, uint64_t now_ns)
{
	uint64_t due_ns;

	if (lull_queue_sources_ask(&due_ns) > 0)
		return now_ns;
	return due_ns != 0 ? LULL_MAX(due_ns - poller->lost_ns, now_ns) : 0;
}

/* The program did something else for long: what its packets waited for was not us. */
static void
poller_absent(struct plugin_poller *poller, uint64_t now_ns)
{
	poller_polled(poller, now_ns - poller->lost_ns, 1, 0, poller->round_pkts);
	poller->timed = false;
	poller->empty_run = 0;
	poller->empty_need = 1;
}

/* A round that began at round_begin_ns has ended. */
static void
poller_timed_round(struct plugin_poller *poller)
{
	struct lull_turn turn = {
		.queue_pkts = poller->queue_pkts,
		.queue_count = LULL_MIN(poller->member_count, (uint32_t)LULL_IDLE_QUEUES_MAX),
		.size_pkts = poller->size_pkts,
		.bytes = poller->bytes,
		.bytes_squared = poller->bytes_squared,
	};
	uint64_t now_ns = lull_clock_ns();
	struct lull_rest rest;

	if (now_ns - poller->round_begin_ns > ABSENT_NS && !poller->shadow.resting) {
		poller_absent(poller, now_ns);
		return;
	}
	if (poller->shadow.resting) {
		if (now_ns < poller->shadow.until_ns)
			return; /* what came stays in queue_pkts, as it would in the ring */
		shadow_end(poller);
	}
	turn.now_ns = poller->round_begin_ns - poller->lost_ns;
	turn.deadline_ns = poller_deadline(poller, turn.now_ns);
	rest = lull_idle_plan(poller->idle, &turn);
	poller->size_pkts = poller->bytes = poller->bytes_squared = 0;
	plugin_chores(poller, now_ns);
	poller->rest_ns = poller->round_pkts == 0 ? rest.limit_ns : 0;
	if (poller_may_rest(poller, &rest)) {
		if (poller->mode == PLUGIN_ON)
			poller_rest(poller, &rest);
		else
			shadow_begin(poller, &rest, now_ns);
		return;
	}
	poller_polled(poller, now_ns - poller->lost_ns, 0, 0, 0);
	poller->round_begin_ns = now_ns;
	poller->empty_run = 0;
	if (poller->round_pkts > 0) {
		poller->timed = !poller_drained(poller) && ++poller->full_rounds < SATURATED_ROUNDS;
		poller->empty_need = 1;
	} else {
		poller->timed = false;
		poller->empty_need = EMPTY_NEED_IDLE;
	}
}

/* ---- counted rounds ---- */

/* What others took of this thread's CPU; also what the program itself slept. */
static void
poller_lost(struct plugin_poller *poller, uint64_t now_ns)
{
	struct timespec cpu;
	uint64_t cpu_ns, wall_span_ns, cpu_span_ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	cpu_ns = (uint64_t)cpu.tv_sec * LULL_NS_PER_S + (uint64_t)cpu.tv_nsec;
	wall_span_ns = now_ns - poller->wall_seen_ns;
	cpu_span_ns = cpu_ns - poller->cpu_seen_ns;
	if (poller->wall_seen_ns != 0 && wall_span_ns > cpu_span_ns)
		poller->lost_ns += wall_span_ns - cpu_span_ns;
	poller->wall_seen_ns = now_ns;
	poller->cpu_seen_ns = cpu_ns;
}

static void
poller_look(struct plugin_poller *poller, uint64_t now_ns)
{
	poller->look_in = LOOK_ROUNDS;
	poller->empty_run = 0;
	if (poller->mode <= PLUGIN_PASSIVE) {
		if (now_ns < poller->report_ns)
			return;
		poller->report_ns = now_ns + REPORT_NS;
		poller_lost(poller, now_ns);
	}
	poller_report(poller, now_ns);
	plugin_chores(poller, now_ns);
}

/*
 * A run of empty rounds right after a look tells how long one takes, which is what parts busy from
 * empty time. One during which the thread lost its CPU does not.
 */
static void
poller_sample_end(struct plugin_poller *poller)
{
	uint64_t span_ns = lull_clock_ns() - poller->round_begin_ns;
	uint64_t round_x256;

	span_ns = span_ns > poller->clock_ns ? span_ns - poller->clock_ns : 1;
	round_x256 = span_ns * 256 / poller->empty_run;
	poller->sampling = false;
	if (poller->sample_x256 == 0)
		poller->sample_x256 = round_x256;
	else if (round_x256 <= 2 * poller->sample_x256)
		poller->sample_x256 = (7 * poller->sample_x256 + round_x256) / 8;
	else
		poller->sample_x256 += poller->sample_x256 / 8 + 1;
	poller->sample_rounds = LULL_MIN(2 * poller->sample_rounds, (uint32_t)SAMPLE_ROUNDS_MAX);
}

static void
poller_sample(struct plugin_poller *poller)
{
	poller->sampling = false;
	poller->look_in = LOOK_ROUNDS;
	if (poller->empty_run < poller->sample_rounds)
		poller->sample_rounds = LULL_MAX(poller->sample_rounds / 2, 1u);
	else
		poller_sample_end(poller);
}

/* Long enough without a packet: from the next round on it is known when it began. */
static void
poller_begin_timed(struct plugin_poller *poller)
{
	poller->round_begin_ns = lull_clock_ns();
	poller_look(poller, poller->round_begin_ns);
	poller->timed = poller->mode >= PLUGIN_SHADOW;
	poller->full_rounds = 0;
	poller->sampling = false;
	poller_clear(poller);
}

static void
poller_look_now(struct plugin_poller *poller)
{
	poller->round_begin_ns = lull_clock_ns();
	poller_look(poller, poller->round_begin_ns);
	poller->sampling = poller->mode > PLUGIN_OFF;
	if (poller->sampling)
		poller->look_in = poller->sample_rounds;
}

/* Returns true when it is time to look at the clock. */
static inline bool
poller_count_round(struct plugin_poller *poller)
{
	poller->turns++;
	poller->look_in--;
	if (poller->round_pkts > 0) {
		poller->pkts += poller->round_pkts;
		poller->round_pkts = 0;
		poller->empty_run = 0;
	} else {
		poller->turns_empty++;
		poller->empty_run++;
	}
	return poller->empty_run >= poller->empty_need || poller->look_in == 0;
}

static void
poller_clock(struct plugin_poller *poller)
{
	bool sampled = poller->sampling && poller->look_in == 0;

	if (sampled)
		poller_sample(poller);
	if (poller->empty_run >= poller->empty_need)
		poller_begin_timed(poller);
	else if (!sampled)
		poller_look_now(poller);
}

/* ---- rounds ---- */

static inline void
poller_next_round(struct plugin_poller *poller)
{
	poller->round++;
	poller->seen = 0;
	poller->again = 0;
}

static void
poller_round(struct plugin_poller *poller)
{
	if (__atomic_load_n(&poller->ordered, __ATOMIC_RELAXED))
		plugin_obey(poller, lull_clock_ns());
	poller_next_round(poller);
	if (!poller->timed) {
		if (poller_count_round(poller))
			poller_clock(poller);
		return;
	}
	poller_timed_round(poller);
	if (poller->round_pkts > 0 && !poller->shadow.resting) {
		poller->round_pkts = 0;
		if (poller->timed)
			poller_clear(poller);
	}
}

/* A member was polled again before the others had their turn. Are those gone? */
static bool
poller_again(struct plugin_poller *poller)
{
	uint32_t patience = poller->patience;

	if (poller->round_pkts > 0)
		patience = LULL_MAX(patience, (uint32_t)BUSY_PATIENCE);
	if (++poller->again < patience)
		return false;
	plugin_queue_drop_missing(poller);
	return true;
}

static void
poller_count(struct plugin_poller *poller, uint16_t place, uint16_t count, uint16_t count_max)
{
	poller->round_pkts += count;
	if (poller->timed) {
		uint32_t pkts = poller->queue_pkts[place] + (uint32_t)count;

		poller->queue_pkts[place] = (uint16_t)LULL_MIN(pkts, (uint32_t)UINT16_MAX);
	}
	/* Full, though smaller than usual: more may be waiting. */
	if (count == count_max && count < poller->burst_pkts) {
		poller->burst_pkts = count;
		plugin_poller_change(poller);
	}
}

/* For a governor that wants them. Out of line: the others' path stays as it is. */
static __attribute__((noinline, cold)) void
poller_sizes(struct plugin_poller *poller, struct rte_mbuf *const *pkts, uint16_t count)
{
	poller->size_pkts += count;
	for (uint16_t i = 0; i < count; i++) {
		poller->bytes += pkts[i]->pkt_len;
		poller->bytes_squared += (uint64_t)pkts[i]->pkt_len * pkts[i]->pkt_len;
	}
}

/* Returns the thread's poller, NULL when it cannot have one. */
static struct plugin_poller *
poller_visit(struct plugin_queue *queue, uint16_t count_max)
{
	if (self == NULL)
		self = plugin_poller_take();
	if (self != NULL)
		plugin_queue_visit(queue, self, count_max);
	return self;
}

/* A poll of any kind. */
static __attribute__((noinline)) uint16_t
poller_seen(struct plugin_queue *queue, struct rte_mbuf *const *pkts, uint16_t count,
	    uint16_t count_max)
{
	struct plugin_poller *poller = self;

	if (poller == NULL || __atomic_load_n(&queue->poller, __ATOMIC_RELAXED) != poller) {
		poller = poller_visit(queue, count_max);
		if (poller == NULL || queue->member != poller)
			return count;
	}
	if (count > 0) {
		poller_count(poller, queue->index, count, count_max);
		if (poller->sized)
			poller_sizes(poller, pkts, count);
	}
	if (queue->round != poller->round) {
		queue->round = poller->round;
		if (++poller->seen < poller->member_count)
			return count;
	} else if (!poller_again(poller)) {
		return count;
	}
	poller_round(poller);
	return count;
}

static __attribute__((noinline, cold)) uint16_t
poller_seen_clock(struct plugin_poller *poller, uint16_t count)
{
	poller_clock(poller);
	return count;
}

/*
 * Most polls of a thread that is busy, or told not to rest, are merely counted, and that in one
 * cache line and without a call: saturated, testpmd on null ports has 600 ns for a burst.
 */
uint16_t
plugin_seen(uint16_t port_id, uint16_t queue_id, struct rte_mbuf **pkts, uint16_t count,
	    uint16_t count_max, void *arg)
{
	struct plugin_queue *queue = arg;
	struct plugin_poller *poller = self;

	(void)port_id;
	(void)queue_id;
	if (UNLIKELY(poller == NULL ||
		     __atomic_load_n(&queue->poller, __ATOMIC_RELAXED) != poller ||
		     __atomic_load_n(&poller->heed, __ATOMIC_RELAXED) != 0 ||
		     (count < poller->burst_pkts && count == count_max)))
		return poller_seen(queue, pkts, count, count_max);
	/* The only member has its turn each time, whatever its round. */
	if (poller->member_count > 1) {
		if (UNLIKELY(queue->round == poller->round))
			return poller_seen(queue, pkts, count, count_max);
		queue->round = poller->round;
		poller->round_pkts += count;
		if (++poller->seen < poller->member_count)
			return count;
		poller_next_round(poller);
	} else {
		poller->round_pkts += count;
	}
	if (UNLIKELY(poller_count_round(poller)))
		return poller_seen_clock(poller, count);
	return count;
}
