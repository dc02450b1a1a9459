/* SPDX-License-Identifier: BSD-3-Clause */
/* What the receiver counted, and the time that its thread took. */
#include <sched.h>
#include <unistd.h>

#include "receiver.h"

/* All CPUs that the thread may run on: without a pinned one, time is stolen from any of them. */
static uint64_t
thread_steal_ns(const struct lull_receiver *receiver)
{
	int pinned = atomic_load(&receiver->cpu);
	uint64_t sum_ns = 0;
	cpu_set_t allowed;

	if (pinned >= 0)
		return lull_steal_ns(pinned);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned int)cpu, &allowed))
			sum_ns += lull_steal_ns(cpu);
	return sum_ns;
}

void
camera_thread_begin(struct lull_receiver *receiver)
{
	int tid = (int)gettid();

	atomic_store(&receiver->cpu, receiver->config.cpu - 1);
	receiver->cpu_begin_ns = lull_thread_cpu_ns(tid);
	receiver->steal_begin_ns = thread_steal_ns(receiver);
	receiver->started_ns = lull_clock_ns();
	receiver->self = pthread_self();
	atomic_store(&receiver->tid, tid);
	if (receiver->backend->thread != NULL)
		receiver->backend->thread(receiver->backend_state, true);
}

void
camera_thread_end(struct lull_receiver *receiver)
{
	if (atomic_load(&receiver->ended_ns) != 0)
		return;
	if (receiver->backend->thread != NULL && !receiver->config.own_loop)
		receiver->backend->thread(receiver->backend_state, false);
	atomic_store(&receiver->cpu_end_ns, lull_thread_cpu_ns(atomic_load(&receiver->tid)));
	atomic_store(&receiver->steal_end_ns, thread_steal_ns(receiver));
	atomic_store(&receiver->ended_ns, lull_clock_ns());
}

static void
thread_totals(struct lull_receiver *receiver, struct lull_receiver_totals *totals)
{
	uint64_t end_ns = atomic_load(&receiver->ended_ns);
	int tid = atomic_load(&receiver->tid);
	uint64_t cpu_ns, steal_ns;

	if (tid == 0)
		return;
	cpu_ns = end_ns != 0 ? atomic_load(&receiver->cpu_end_ns) : lull_thread_cpu_ns(tid);
	steal_ns = end_ns != 0 ? atomic_load(&receiver->steal_end_ns) : thread_steal_ns(receiver);
	totals->wall_ns = (end_ns != 0 ? end_ns : lull_clock_ns()) - receiver->started_ns;
	totals->cpu_ns = cpu_ns > receiver->cpu_begin_ns ? cpu_ns - receiver->cpu_begin_ns : 0;
	totals->steal_ns =
		steal_ns > receiver->steal_begin_ns ? steal_ns - receiver->steal_begin_ns : 0;
}

void
lull_receiver_totals(struct lull_receiver *receiver, struct lull_receiver_totals *totals)
{
	struct lull_net_exceptions beside;
	struct lull_net_damaged damaged;

	camera_read_begin(receiver);
	beside = receiver->exceptions_end;
	damaged = receiver->damaged_end;
	*totals = (struct lull_receiver_totals){
		.pkts = LULL_COUNTER_READ(receiver->pkts),
		.bytes = LULL_COUNTER_READ(receiver->bytes),
		.unclaimed = LULL_COUNTER_READ(receiver->unclaimed),
		.missed = receiver->missed_end,
		.errors = LULL_COUNTER_READ(receiver->errors) + atomic_load(&receiver->foreign),
		.gaps_late = LULL_COUNTER_READ(receiver->gaps_late),
	};
	if (receiver->backend_state != NULL) {
		totals->missed = receiver->backend->missed(receiver->backend_state);
		if (receiver->backend->unclaimed != NULL)
			totals->unclaimed += receiver->backend->unclaimed(receiver->backend_state);
		if (receiver->backend->exceptions != NULL)
			receiver->backend->exceptions(receiver->backend_state, &beside);
		if (receiver->backend->damaged != NULL)
			receiver->backend->damaged(receiver->backend_state, &damaged);
	}
	pthread_mutex_unlock(&receiver->state_lock);
	totals->to_kernel = beside.to_kernel;
	totals->from_kernel = beside.from_kernel;
	totals->kernel_lost = beside.refused;
	totals->cut = damaged.cut;
	totals->wrong_sum = damaged.wrong;
	thread_totals(receiver, totals);
	atomic_fetch_sub(&receiver->readers, 1);
}
