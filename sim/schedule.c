/* SPDX-License-Identifier: BSD-3-Clause */
#include "schedule.h"

#include <string.h>

#include "base/assert.h"

#define NOBODY UINT32_MAX

void
lull_sim_schedule_begin(struct lull_sim_schedule *schedule, struct lull_sim_thread *threads,
			uint32_t count)
{
	memset(schedule, 0, sizeof(*schedule));
	schedule->threads = threads;
	schedule->thread_count = count;
	for (uint32_t i = 0; i < count; i++)
		lull_sim_queue_push(&schedule->queue,
				    (struct lull_sim_event){ threads[i].now_ns, i });
}

/* ---- a shared core ---- */

static void
schedule_wait(struct lull_sim_cpu *cpu, uint32_t number)
{
	LULL_ASSERT(cpu->waiting_count < LULL_SIM_CPU_THREADS_MAX);
	cpu->waiting[cpu->waiting_count++] = number;
}

/* Does a go before b? Who is of the real-time class, then who had less. */
static bool
schedule_before(const struct lull_sim_thread *a, const struct lull_sim_thread *b)
{
	if (a->watch.realtime != b->watch.realtime)
		return a->watch.realtime;
	return a->vruntime_ns < b->vruntime_ns;
}

/* Of those that wait, the one that goes first. */
static uint32_t
schedule_pick(const struct lull_sim_schedule *schedule, struct lull_sim_cpu *cpu)
{
	uint32_t best = 0, number;

	for (uint32_t i = 1; i < cpu->waiting_count; i++)
		if (schedule_before(&schedule->threads[cpu->waiting[i]],
				    &schedule->threads[cpu->waiting[best]]))
			best = i;
	number = cpu->waiting[best];
	cpu->waiting[best] = cpu->waiting[--cpu->waiting_count];
	return number;
}

static void
schedule_switch(struct lull_sim_thread *thread, uint32_t number, uint64_t now_ns)
{
	struct lull_sim_cpu *cpu = thread->cpu;

	thread->now_ns = LULL_MAX(thread->now_ns, now_ns) + thread->machine->switch_ns;
	cpu->running = number;
	cpu->slice_ns = thread->now_ns + LULL_SIM_SLICE_NS;
}

/* A thread wants its core. False: it waits. */
static bool
schedule_enter(struct lull_sim_schedule *schedule, uint32_t number)
{
	struct lull_sim_thread *thread = &schedule->threads[number];
	struct lull_sim_cpu *cpu = thread->cpu;
	struct lull_sim_thread *other;

	if (cpu->running == number)
		return true;
	other = cpu->running == NOBODY ? NULL : &schedule->threads[cpu->running];
	if (other != NULL && other->watch.realtime) {
		schedule_wait(cpu, number); /* until it rests, whoever I am */
		return false;
	}
	if (other != NULL && !thread->watch.realtime) {
		/* Who slept long is owed a slice, no more. */
		if (thread->vruntime_ns + LULL_SIM_SLICE_NS < other->vruntime_ns)
			thread->vruntime_ns = other->vruntime_ns - LULL_SIM_SLICE_NS;
		if (thread->vruntime_ns + LULL_SIM_GRANULE_NS > other->vruntime_ns) {
			schedule_wait(cpu, number);
			return false;
		}
	}
	schedule_switch(thread, number, thread->now_ns);
	return true;
}

/* After its turn: does it keep the core? Hands it on if not. */
static void
schedule_leave(struct lull_sim_schedule *schedule, struct lull_sim_thread *thread)
{
	struct lull_sim_cpu *cpu = thread->cpu;
	bool rests = thread->left_ns != 0;
	uint32_t next;

	if (!rests &&
	    (thread->watch.realtime || thread->now_ns < cpu->slice_ns || cpu->waiting_count == 0))
		return;
	if (cpu->waiting_count == 0) {
		cpu->running = NOBODY;
		return;
	}
	next = schedule_pick(schedule, cpu);
	schedule_switch(&schedule->threads[next], next, rests ? thread->left_ns : thread->now_ns);
	lull_sim_queue_push(&schedule->queue,
			    (struct lull_sim_event){ schedule->threads[next].now_ns, next });
}

/* ---- iterations ---- */

/* One thread on its core: iteration after iteration until it is another's time. */
static int
schedule_alone(struct lull_sim_thread *thread, uint64_t until_ns)
{
	int rc = 0;

	while (rc == 0 && thread->now_ns < until_ns)
		rc = lull_sim_thread_iterate(thread);
	return rc;
}

static int
schedule_shared(struct lull_sim_schedule *schedule, uint32_t number)
{
	struct lull_sim_thread *thread = &schedule->threads[number];
	uint64_t wanted_ns = thread->now_ns;
	int rc;

	if (!schedule_enter(schedule, number))
		return 0;
	if (thread->now_ns == wanted_ns) {
		rc = lull_sim_thread_iterate(thread);
		if (rc != 0)
			return rc;
		schedule_leave(schedule, thread);
	}
	lull_sim_queue_push(&schedule->queue, (struct lull_sim_event){ thread->now_ns, number });
	return 0;
}

int
lull_sim_schedule_run(struct lull_sim_schedule *schedule, uint64_t end_ns)
{
	struct lull_sim_queue *queue = &schedule->queue;
	struct lull_sim_event event;
	struct lull_sim_thread *thread;
	uint64_t until_ns;
	int rc;

	while (queue->count > 0 && queue->events[0].at_ns < end_ns) {
		event = lull_sim_queue_pop(queue);
		thread = &schedule->threads[event.number];
		if (thread->cpu->thread_count > 1) {
			rc = schedule_shared(schedule, event.number);
			if (rc != 0)
				return rc;
			continue;
		}
		until_ns = queue->count > 0 ? LULL_MIN(end_ns, queue->events[0].at_ns + 1) : end_ns;
		rc = schedule_alone(thread, until_ns);
		if (rc != 0)
			return rc;
		lull_sim_queue_push(queue, (struct lull_sim_event){ thread->now_ns, event.number });
	}
	return 0;
}
