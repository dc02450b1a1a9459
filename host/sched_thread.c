/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread: what the rule is told of it, and what is done to it then. */
#include <errno.h>
#include <sched.h>

#include "sched_class.h"

#define RESET_ON_FORK 1 /* SCHED_FLAG_RESET_ON_FORK: children are ordinary */
#define PERIOD_NS_MIN (100 * LULL_NS_PER_US)
/* A change of the budget by less than an eighth is not worth a system call. */
#define BUDGET_STEP 8

bool
sched_thread_wants(const struct lull_rest_thread *thread)
{
	return !thread->lost && thread->refused == 0 && thread->config.policy != LULL_SCHED_OTHER;
}

bool
sched_thread_ranked(const struct sched_attributes *attributes)
{
	return attributes->policy == SCHED_FIFO || attributes->policy == SCHED_RR;
}

static void
thread_figures(const struct lull_rest_thread *thread, uint64_t now_ns,
	       struct sched_figures *figures)
{
	figures->now_ns = now_ns;
	figures->rests = 0;
	for (size_t i = 0; i < 2; i++)
		if (thread->rests[i] != NULL)
			figures->rests += LULL_COUNTER_READ(*thread->rests[i]);
	figures->cpu_ns = thread->calls->cpu_ns(thread->tid);
	figures->wait_ns = thread->calls->wait_ns(thread->tid);
	figures->asleep = figures->rests == thread->rule.seen.rests && !thread->rule.inside &&
			  thread->calls->asleep(thread->tid);
}

/*
 * A number that has come to another thread would show less time than the thread had; numbers of
 * other processes show none.
 */
bool
sched_thread_alive(struct lull_rest_thread *thread)
{
	uint64_t cpu_ns = thread->calls->cpu_ns(thread->tid);

	if (cpu_ns == 0 || cpu_ns < thread->rule.seen.cpu_ns)
		thread->lost = true;
	return !thread->lost;
}

static uint64_t
thread_latency_ns(const struct lull_rest_thread *thread)
{
	return thread->config.latency_ns > 0 ? thread->config.latency_ns : SCHED_LATENCY_NS;
}

/* The shorter the objective, the higher; those of one CPU wait for each other. */
static uint32_t
thread_priority(const struct lull_rest_thread *thread)
{
	static const uint64_t below_ns[] = { LULL_NS_PER_MS, 500 * LULL_NS_PER_US,
					     200 * LULL_NS_PER_US, 100 * LULL_NS_PER_US,
					     50 * LULL_NS_PER_US };
	uint32_t priority = 1;

	while (priority <= 5 && thread_latency_ns(thread) <= below_ns[priority - 1])
		priority++;
	return LULL_MIN(priority, thread->priority_max);
}

static int
thread_set(struct lull_rest_thread *thread, const struct sched_attributes *attributes)
{
	int rc = thread->calls->set(thread->tid, attributes);

	if (rc == 0)
		thread->touched = true;
	return rc;
}

int
sched_thread_put_inside(struct lull_rest_thread *thread)
{
	struct sched_attributes attributes = { .size = sizeof(attributes), .flags = RESET_ON_FORK };

	if (thread->config.policy == LULL_SCHED_DEADLINE) {
		thread->budget_ppm = thread->rule.budget_ppm;
		attributes.policy = SCHED_DEADLINE;
		attributes.period_ns = LULL_MAX(thread_latency_ns(thread) / 2, PERIOD_NS_MIN);
		attributes.deadline_ns = attributes.period_ns;
		attributes.runtime_ns = attributes.period_ns * thread->budget_ppm / LULL_PPM;
	} else {
		thread->priority = thread_priority(thread);
		attributes.policy = SCHED_FIFO;
		attributes.priority = thread->priority;
	}
	return thread_set(thread, &attributes);
}

/* What resets on fork may not stop doing so without CAP_SYS_NICE. */
int
sched_thread_put_back(struct lull_rest_thread *thread, struct sched_attributes attributes)
{
	int rc = thread_set(thread, &attributes);

	if (rc != -EPERM || (attributes.flags & RESET_ON_FORK) != 0)
		return rc;
	attributes.flags |= RESET_ON_FORK;
	return thread_set(thread, &attributes);
}

/* The class it had, if that was an ordinary one. */
static int
thread_put_outside(struct lull_rest_thread *thread)
{
	static const struct sched_attributes ordinary = { .size = sizeof(ordinary),
							  .policy = SCHED_OTHER };
	bool fair = !sched_thread_ranked(&thread->original) &&
		    thread->original.policy != SCHED_DEADLINE;

	return sched_thread_put_back(thread, fair ? thread->original : ordinary);
}

static void
thread_refuse(struct lull_rest_thread *thread, int rc, bool no_rights)
{
	thread->refused = -rc;
	thread->no_rights = no_rights;
	thread->rule.inside = false;
}

/*
 * A new policy begins: outside, once it is clear that the class may be had. Who has a real-time
 * class already, by somebody else's doing, begins inside: perhaps it could not come back.
 */
void
sched_thread_begin(struct lull_rest_thread *thread, int watch_rc)
{
	struct sched_figures figures;
	int rc = watch_rc;

	thread_figures(thread, lull_clock_ns(), &figures);
	sched_rule_init(&thread->rule, thread->config.policy == LULL_SCHED_DEADLINE, &figures);
	thread->refused = 0;
	thread->due_ns = figures.now_ns + SCHED_LOOK_NS;
	if (thread->config.policy == LULL_SCHED_OTHER)
		return;
	if (rc == 0)
		rc = sched_thread_put_inside(thread);
	if (rc != 0) {
		thread_refuse(thread, rc,
			      watch_rc != 0 || thread->config.policy != LULL_SCHED_DEADLINE);
		return;
	}
	if (sched_thread_ranked(&thread->original)) {
		sched_rule_enter(&thread->rule, &figures);
		return;
	}
	rc = thread_put_outside(thread);
	if (rc != 0)
		thread_refuse(thread, rc, false);
}

static void
thread_move(struct lull_rest_thread *thread)
{
	int rc;

	if (!sched_thread_alive(thread))
		return;
	rc = thread->rule.inside ? sched_thread_put_inside(thread) : thread_put_outside(thread);
	if (rc == -ESRCH)
		thread->lost = true;
	else if (rc != 0)
		thread_refuse(thread, rc, thread->config.policy != LULL_SCHED_DEADLINE);
	else
		LULL_COUNTER_ADD(thread->changes, 1);
}

static void
thread_follow_budget(struct lull_rest_thread *thread)
{
	uint32_t now_ppm = thread->rule.budget_ppm, set_ppm = thread->budget_ppm;
	uint32_t differs_ppm = now_ppm > set_ppm ? now_ppm - set_ppm : set_ppm - now_ppm;

	if (differs_ppm <= set_ppm / BUDGET_STEP)
		return;
	if (sched_thread_put_inside(thread) != 0)
		thread->budget_ppm = set_ppm; /* no room for more: tried again with the next */
}

void
sched_thread_sample(struct lull_rest_thread *thread, uint64_t now_ns)
{
	bool was_inside = thread->rule.inside;
	struct sched_figures figures;

	thread_figures(thread, now_ns, &figures);
	if (figures.cpu_ns == 0 || figures.cpu_ns < thread->rule.seen.cpu_ns) {
		thread->lost = true;
		return;
	}
	if (sched_rule_sample(&thread->rule, &figures) != was_inside) {
		thread->forced += was_inside;
		thread_move(thread);
	}
	if (was_inside && thread->rule.inside && thread->config.policy == LULL_SCHED_DEADLINE)
		thread_follow_budget(thread);
	thread->due_ns = now_ns + sched_rule_next_ns(&thread->rule);
}

uint64_t
sched_thread_wait_ns(const struct lull_rest_thread *thread)
{
	uint64_t wait_ns = thread->calls->wait_ns(thread->tid);

	return wait_ns > thread->wait_begin_ns ? wait_ns - thread->wait_begin_ns : 0;
}

uint32_t
sched_thread_class(const struct lull_rest_thread *thread)
{
	struct sched_attributes attributes = { .size = sizeof(attributes) };

	return thread->calls->get(thread->tid, &attributes) == 0 ? attributes.policy : SCHED_OTHER;
}
