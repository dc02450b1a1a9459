/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Rx callback: find out when a thread has polled all its queues, and let it rest if none of
 * them had anything. The iteration ends with the poll of its last queue, so nothing is in hand then
 * and the next poll belongs to the time after the rest.
 *
 * The clock costs more than an empty poll, so it is read only around a rest: iterations after a
 * rest are timed until the rings have run short, others are counted and reported in one go.
 */
#include "plugin.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define EMPTY_NEED_IDLE                                                                            \
	64 /* empty iterations between clock readings while the policy wants no rest */
#define CLOCK_ITERATIONS 1024 /* iterations between clock readings when nothing else asks for one */
#define SATURATED_ITERATIONS 1024 /* full iterations after which what is in the rings met no rest */
#define ABSENCE_POLLS_BUSY 1024   /* polls of members seen already, with packets */
#define SAMPLE_ITERATIONS_MAX 64
#define REPORT_NS LULL_NS_PER_MS         /* between reports while only measuring */
#define ABSENT_NS (100 * LULL_NS_PER_MS) /* no program that polls takes so long for an iteration */

#define UNLIKELY(condition) __builtin_expect(condition, 0)

/* Initial-exec: one instruction instead of a call per poll. */
static __thread struct plugin_poller *self __attribute__((tls_model("initial-exec")));

/* ---- what idle.c is told ---- */

static void
poller_wake(struct plugin_poller *poller, struct lull_wake wake)
{
	wake.begin_ns -= poller->stolen_ns;
	wake.end_ns -= poller->stolen_ns;
	poller->accounted_ns = wake.end_ns;
	lull_idle_wake(poller->idle, &wake);
}

static void
poller_polled(struct plugin_poller *poller, uint64_t now_ns, uint64_t iterations,
	      uint64_t iterations_empty, uint64_t pkts)
{
	poller->accounted_ns = now_ns;
	lull_idle_polled(poller->idle, now_ns, iterations, iterations_empty, pkts);
}

/* The iterations that were only counted. */
static void
poller_report(struct plugin_poller *poller, uint64_t wall_ns)
{
	uint64_t now_ns = LULL_MAX(wall_ns - poller->stolen_ns, poller->accounted_ns);
	uint64_t empty_ns = poller->iterations_empty * poller->sample_x256 / 256;

	if (poller->iterations == 0)
		return;
	if (empty_ns > 0 && poller->iterations_empty < poller->iterations) {
		empty_ns = LULL_MIN(empty_ns, now_ns - poller->accounted_ns);
		poller_polled(poller, poller->accounted_ns + empty_ns, poller->iterations_empty,
			      poller->iterations_empty, 0);
		poller->iterations -= poller->iterations_empty;
		poller->iterations_empty = 0;
	}
	poller_polled(poller, now_ns, poller->iterations, poller->iterations_empty, poller->pkts);
	poller->iterations = 0;
	poller->iterations_empty = 0;
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
	lull_rest_run(poller->ways[rest->idle_state], NULL, rest, &wake);
	pthread_setcancelstate(cancel, NULL);
	poller->iteration_begin_ns = wake.end_ns;
	poller->full_iterations = 0;
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
	if (rest->idle_state >= LULL_IDLE_SLEEP)
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

	if (wake.rest.idle_state >= LULL_IDLE_SLEEP)
		wake.cpu_ns = plugin_attach_cost_ns();
	poller->shadow.resting = false;
	poller->full_iterations = 0;
	poller_wake(poller, wake);
	poller->iteration_begin_ns = poller->shadow.until_ns;
}

/* ---- timed iterations ---- */

/* Packets by queue are counted in timed iterations only: nobody asks in the others. */
static void
poller_clear(struct plugin_poller *poller)
{
	memset(poller->queue_pkts, 0, sizeof(poller->queue_pkts));
}

static bool
poller_drained(const struct plugin_poller *poller)
{
	uint32_t count = LULL_MIN(poller->member_count, (uint32_t)LULL_IDLE_QUEUES_MAX), i;
	uint32_t left_pkts = poller->limits.short_leaves ? 1 : poller->burst_pkts;

	for (i = 0; i < count; i++)
		if (poller->queue_pkts[i] >= left_pkts)
			return false;
	return true;
}

static bool
poller_may_rest(const struct plugin_poller *poller, const struct lull_rest *rest)
{
	return poller->iteration_pkts == 0 && rest->idle_state != LULL_IDLE_NONE &&
	       !poller->crowded && poller->mode >= PLUGIN_SHADOW &&
	       plugin_poller_unseen(poller) == NULL;
}

/* When the thread must poll again, by its own word, for a rest that begins now; 0: whenever. */
static uint64_t
poller_deadline(uint64_t begin_ns, uint64_t now_ns)
{
	uint64_t due_ns;

	if (lull_queue_sources_ask(&due_ns) > 0)
		return begin_ns;
	if (due_ns == 0)
		return 0;
	return begin_ns + (due_ns > now_ns ? due_ns - now_ns : 0);
}

/* The program did something else for long: what its packets waited for was not us. */
static void
poller_absent(struct plugin_poller *poller, uint64_t now_ns)
{
	poller_polled(poller, now_ns - poller->stolen_ns, 1, 0, poller->iteration_pkts);
	poller->timed = false;
	poller->empty_run = 0;
	poller->empty_need = 1;
}

/* An iteration that began at iteration_begin_ns has ended. */
static void
poller_timed_iteration(struct plugin_poller *poller)
{
	struct lull_iteration iteration = {
		.queue_pkts = poller->queue_pkts,
		.queue_count = LULL_MIN(poller->member_count, (uint32_t)LULL_IDLE_QUEUES_MAX),
		.size_pkts = poller->size_pkts,
		.bytes = poller->bytes,
		.bytes_squared = poller->bytes_squared,
	};
	uint64_t now_ns = lull_clock_ns();
	struct lull_rest rest;
	bool may_rest;

	if (now_ns - poller->iteration_begin_ns > ABSENT_NS && !poller->shadow.resting) {
		poller_absent(poller, now_ns);
		return;
	}
	if (poller->shadow.resting) {
		if (now_ns < poller->shadow.until_ns)
			return; /* what came stays in queue_pkts, as it would in the ring */
		shadow_end(poller);
	}
	iteration.now_ns = poller->iteration_begin_ns - poller->stolen_ns;
	iteration.deadline_ns = poller_deadline(iteration.now_ns, now_ns);
	rest = lull_idle_plan(poller->idle, &iteration);
	poller->size_pkts = poller->bytes = poller->bytes_squared = 0;
	plugin_housekeeping(poller, now_ns);
	may_rest = poller_may_rest(poller, &rest);
	poller->rest_ns = may_rest ? rest.limit_ns : 0;
	if (may_rest) {
		if (poller->mode == PLUGIN_ON)
			poller_rest(poller, &rest);
		else
			shadow_begin(poller, &rest, now_ns);
		return;
	}
	poller_polled(poller, now_ns - poller->stolen_ns, 0, 0, 0);
	poller->iteration_begin_ns = now_ns;
	poller->empty_run = 0;
	if (poller->iteration_pkts > 0) {
		poller->timed =
			!poller_drained(poller) && ++poller->full_iterations < SATURATED_ITERATIONS;
		poller->empty_need = 1;
	} else {
		poller->timed = false;
		poller->empty_need = EMPTY_NEED_IDLE;
	}
}

/* ---- counted iterations ---- */

/* What others took of this thread's CPU; also what the program itself slept. */
static void
poller_stolen(struct plugin_poller *poller, uint64_t now_ns)
{
	struct timespec cpu;
	uint64_t cpu_ns, wall_span_ns, cpu_span_ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	cpu_ns = (uint64_t)cpu.tv_sec * LULL_NS_PER_S + (uint64_t)cpu.tv_nsec;
	wall_span_ns = now_ns - poller->wall_seen_ns;
	cpu_span_ns = cpu_ns - poller->cpu_seen_ns;
	if (poller->wall_seen_ns != 0 && wall_span_ns > cpu_span_ns)
		poller->stolen_ns += wall_span_ns - cpu_span_ns;
	poller->wall_seen_ns = now_ns;
	poller->cpu_seen_ns = cpu_ns;
}

static void
poller_read_clock(struct plugin_poller *poller, uint64_t now_ns)
{
	poller->clock_countdown = CLOCK_ITERATIONS;
	poller->empty_run = 0;
	if (poller->mode <= PLUGIN_PASSIVE) {
		if (now_ns < poller->report_ns)
			return;
		poller->report_ns = now_ns + REPORT_NS;
		poller_stolen(poller, now_ns);
	}
	poller_report(poller, now_ns);
	plugin_housekeeping(poller, now_ns);
}

/*
 * A run of empty iterations right after a look tells how long one takes, which is what parts busy
 * from empty time. One during which the thread lost its CPU does not.
 */
static void
poller_sample_end(struct plugin_poller *poller)
{
	uint64_t span_ns = lull_clock_ns() - poller->iteration_begin_ns;
	uint64_t iteration_x256;

	span_ns = span_ns > poller->clock_ns ? span_ns - poller->clock_ns : 1;
	iteration_x256 = span_ns * 256 / poller->empty_run;
	poller->sampling = false;
	if (poller->sample_x256 == 0)
		poller->sample_x256 = iteration_x256;
	else if (iteration_x256 <= 2 * poller->sample_x256)
		poller->sample_x256 = (7 * poller->sample_x256 + iteration_x256) / 8;
	else
		poller->sample_x256 += poller->sample_x256 / 8 + 1;
	poller->sample_iterations =
		LULL_MIN(2 * poller->sample_iterations, (uint32_t)SAMPLE_ITERATIONS_MAX);
}

static void
poller_sample(struct plugin_poller *poller)
{
	poller->sampling = false;
	poller->clock_countdown = CLOCK_ITERATIONS;
	if (poller->empty_run < poller->sample_iterations)
		poller->sample_iterations = LULL_MAX(poller->sample_iterations / 2, 1u);
	else
		poller_sample_end(poller);
}

/* Long enough without a packet: from the next iteration on it is known when it began. */
static void
poller_begin_timed(struct plugin_poller *poller)
{
	poller->iteration_begin_ns = lull_clock_ns();
	poller_read_clock(poller, poller->iteration_begin_ns);
	poller->timed = poller->mode >= PLUGIN_SHADOW;
	poller->full_iterations = 0;
	poller->sampling = false;
	poller_clear(poller);
}

static void
poller_read_clock_now(struct plugin_poller *poller)
{
	poller->iteration_begin_ns = lull_clock_ns();
	poller_read_clock(poller, poller->iteration_begin_ns);
	poller->sampling = poller->mode > PLUGIN_OFF;
	if (poller->sampling)
		poller->clock_countdown = poller->sample_iterations;
}

/* Returns true when it is time to look at the clock. */
static inline bool
poller_count_iteration(struct plugin_poller *poller)
{
	poller->iterations++;
	poller->clock_countdown--;
	if (poller->iteration_pkts > 0) {
		poller->pkts += poller->iteration_pkts;
		poller->iteration_pkts = 0;
		poller->empty_run = 0;
	} else {
		poller->iterations_empty++;
		poller->empty_run++;
	}
	return poller->empty_run >= poller->empty_need || poller->clock_countdown == 0;
}

static void
poller_clock(struct plugin_poller *poller)
{
	bool sampled = poller->sampling && poller->clock_countdown == 0;

	if (sampled)
		poller_sample(poller);
	if (poller->empty_run >= poller->empty_need)
		poller_begin_timed(poller);
	else if (!sampled)
		poller_read_clock_now(poller);
}

/* ---- iterations ---- */

static inline void
poller_next_iteration(struct plugin_poller *poller)
{
	poller->iteration++;
	poller->seen = 0;
	poller->again = 0;
}

static void
poller_iteration(struct plugin_poller *poller)
{
	if (__atomic_load_n(&poller->ordered, __ATOMIC_RELAXED))
		plugin_apply(poller, lull_clock_ns());
	poller_next_iteration(poller);
	if (!poller->timed) {
		if (poller_count_iteration(poller))
			poller_clock(poller);
		return;
	}
	poller_timed_iteration(poller);
	if (poller->iteration_pkts > 0 && !poller->shadow.resting) {
		poller->iteration_pkts = 0;
		if (poller->timed)
			poller_clear(poller);
	}
}

/* A member was polled again before the others had their turn. Are those gone? */
static bool
poller_again(struct plugin_poller *poller)
{
	uint32_t absence_polls = poller->absence_polls;

	if (poller->iteration_pkts > 0)
		absence_polls = LULL_MAX(absence_polls, (uint32_t)ABSENCE_POLLS_BUSY);
	if (++poller->again < absence_polls)
		return false;
	plugin_queue_drop_missing(poller);
	return true;
}

static void
poller_count(struct plugin_poller *poller, uint16_t place, uint16_t count, uint16_t count_max)
{
	poller->iteration_pkts += count;
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
	if (queue->iteration != poller->iteration) {
		queue->iteration = poller->iteration;
		if (++poller->seen < poller->member_count)
			return count;
	} else if (!poller_again(poller)) {
		return count;
	}
	poller_iteration(poller);
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
		     __atomic_load_n(&poller->attention, __ATOMIC_RELAXED) != 0 ||
		     (count < poller->burst_pkts && count == count_max)))
		return poller_seen(queue, pkts, count, count_max);
	/* The only member has its turn each time, whatever its iteration. */
	if (poller->member_count > 1) {
		if (UNLIKELY(queue->iteration == poller->iteration))
			return poller_seen(queue, pkts, count, count_max);
		queue->iteration = poller->iteration;
		poller->iteration_pkts += count;
		if (++poller->seen < poller->member_count)
			return count;
		poller_next_iteration(poller);
	} else {
		poller->iteration_pkts += count;
	}
	if (UNLIKELY(poller_count_iteration(poller)))
		return poller_seen_clock(poller, count);
	return count;
}
