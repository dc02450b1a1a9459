/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has entered, and into which class. Loops pay nothing for it: the watch reads the counters
 * they keep anyway, and what it finds it does to them by their number.
 */
#include "sched_class.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sched_watch.h"

#define RESET_ON_FORK 1 /* SCHED_FLAG_RESET_ON_FORK: children are ordinary */
#define LATENCY_NS (200 * LULL_NS_PER_US)
#define PERIOD_NS_MIN (100 * LULL_NS_PER_US)
/* Looks that are due within so long are made now. */
#define TOGETHER_NS (LULL_NS_PER_MS / 2)
#define NOBODY_NS LULL_NS_PER_S
/* A change of the budget by less than an eighth is not worth a system call. */
#define BUDGET_STEP 8

static struct {
	pthread_once_t once;
	/* Who enters, leaves or changes: starting and ending the watch is part of it. */
	pthread_mutex_t life;
	/* The list and its members; also taken by the watch, never for long. */
	pthread_mutex_t lock;
	const struct sched_calls *calls;
	struct lull_rest_thread *first;
	uint32_t watch_priority; /* 0: it does not run */
} class = { .once = PTHREAD_ONCE_INIT, .calls = &sched_calls_real };

/* ---- locks ---- */

static void
class_init_locks(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	/* A program may exit out of a signal handler that found the lock taken by its own thread. */
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&class.life, &attr);
	pthread_mutex_init(&class.lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

/* The child has neither the watch nor the loops; it may begin anew. */
static void
class_forked(void)
{
	class_init_locks();
	for (struct lull_rest_thread *thread = class.first; thread != NULL; thread = thread->next)
		thread->entered = false;
	class.first = NULL;
	class.watch_priority = 0;
	sched_watch_forked();
}

static void
class_init(void)
{
	class_init_locks();
	pthread_atfork(NULL, NULL, class_forked);
}

static bool
class_lock(pthread_mutex_t *mutex)
{
	pthread_once(&class.once, class_init);
	return pthread_mutex_lock(mutex) == 0;
}

/* ---- the watch: under the lock `life` ---- */

static bool
thread_wants(const struct lull_rest_thread *thread)
{
	return !thread->lost && thread->refused == 0 && thread->config.policy != LULL_SCHED_OTHER;
}

static bool
thread_ranked(const struct sched_attributes *attributes)
{
	return attributes->policy == SCHED_FIFO || attributes->policy == SCHED_RR;
}

/* As high as it may stand; below 2 there is no room for loops under it. */
static int
class_start_watch(const struct sched_attributes *original)
{
	int limit = class.calls->priority_limit();
	int tries[] = { SCHED_WATCH_PRIORITY, LULL_MIN(limit, SCHED_WATCH_PRIORITY - 1),
			thread_ranked(original) ?
				(int)LULL_MIN(original->priority, (uint32_t)SCHED_WATCH_PRIORITY) :
				0 };
	int rc = -EPERM;

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]) && rc == -EPERM; i++) {
		if (tries[i] < 2)
			continue;
		rc = class.calls->watch_start(tries[i]);
		if (rc == 0)
			class.watch_priority = (uint32_t)tries[i];
	}
	return rc;
}

static void
class_settle_watch(void)
{
	const struct lull_rest_thread *thread = class.first;

	if (class.watch_priority == 0)
		return;
	while (thread != NULL && !thread_wants(thread))
		thread = thread->next;
	if (thread != NULL) {
		class.calls->watch_kick();
		return;
	}
	class.calls->watch_stop();
	class.watch_priority = 0;
}

/* ---- one thread ---- */

static void
thread_figures(const struct lull_rest_thread *thread, uint64_t now_ns,
	       struct sched_figures *figures)
{
	figures->now_ns = now_ns;
	figures->rests = 0;
	for (size_t i = 0; i < 2; i++)
		if (thread->rests[i] != NULL)
			figures->rests += LULL_COUNTER_READ(*thread->rests[i]);
	figures->cpu_ns = class.calls->cpu_ns(thread->tid);
	figures->wait_ns = class.calls->wait_ns(thread->tid);
}

/*
 * A number that has come to another thread would show less time than the thread had; numbers of
 * other processes show none.
 */
static bool
thread_alive(struct lull_rest_thread *thread)
{
	uint64_t cpu_ns = class.calls->cpu_ns(thread->tid);

	if (cpu_ns == 0 || cpu_ns < thread->rule.seen.cpu_ns)
		thread->lost = true;
	return !thread->lost;
}

static uint64_t
thread_latency_ns(const struct lull_rest_thread *thread)
{
	return thread->config.latency_ns > 0 ? thread->config.latency_ns : LATENCY_NS;
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
	return LULL_MIN(priority, class.watch_priority - 1);
}

static int
thread_set(struct lull_rest_thread *thread, const struct sched_attributes *attributes)
{
	int rc = class.calls->set(thread->tid, attributes);

	if (rc == 0)
		thread->touched = true;
	return rc;
}

static int
thread_put_inside(struct lull_rest_thread *thread)
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
static int
thread_put_back(struct lull_rest_thread *thread, struct sched_attributes attributes)
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
	bool fair = !thread_ranked(&thread->original) && thread->original.policy != SCHED_DEADLINE;

	return thread_put_back(thread, fair ? thread->original : ordinary);
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
static void
thread_begin(struct lull_rest_thread *thread, int watch_rc)
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
		rc = thread_put_inside(thread);
	if (rc != 0) {
		thread_refuse(thread, rc,
			      watch_rc != 0 || thread->config.policy != LULL_SCHED_DEADLINE);
		return;
	}
	if (thread_ranked(&thread->original)) {
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

	if (!thread_alive(thread))
		return;
	rc = thread->rule.inside ? thread_put_inside(thread) : thread_put_outside(thread);
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
	if (thread_put_inside(thread) != 0)
		thread->budget_ppm = set_ppm; /* no room for more: tried again with the next */
}

static void
thread_look(struct lull_rest_thread *thread, uint64_t now_ns)
{
	bool was_inside = thread->rule.inside;
	struct sched_figures figures;

	thread_figures(thread, now_ns, &figures);
	if (figures.cpu_ns == 0 || figures.cpu_ns < thread->rule.seen.cpu_ns) {
		thread->lost = true;
		return;
	}
	if (sched_rule_look(&thread->rule, &figures) != was_inside) {
		thread->forced += was_inside;
		thread_move(thread);
	}
	if (was_inside && thread->rule.inside && thread->config.policy == LULL_SCHED_DEADLINE)
		thread_follow_budget(thread);
	thread->due_ns = now_ns + sched_rule_look_in_ns(&thread->rule);
}

uint64_t
sched_class_look(uint64_t now_ns)
{
	uint64_t next_ns = now_ns + NOBODY_NS;

	if (!class_lock(&class.lock))
		return NOBODY_NS;
	for (struct lull_rest_thread *thread = class.first; thread != NULL; thread = thread->next) {
		if (!thread_wants(thread))
			continue;
		if (thread->due_ns <= now_ns + TOGETHER_NS)
			thread_look(thread, now_ns);
		if (thread_wants(thread))
			next_ns = LULL_MIN(next_ns, thread->due_ns);
	}
	pthread_mutex_unlock(&class.lock);
	return LULL_MAX(next_ns, now_ns + TOGETHER_NS) - now_ns;
}

/* ---- enter, leave, change ---- */

int
lull_rest_thread_create(const struct lull_idle *idle, const struct lull_rest_thread_config *config,
			struct lull_rest_thread **out)
{
	struct lull_rest_thread *thread;

	if ((idle == NULL) == (config->rests == NULL) || config->policy >= LULL_SCHED_POLICY_COUNT)
		return -EINVAL;
	thread = calloc(1, sizeof(*thread));
	if (thread == NULL)
		return -ENOMEM;
	thread->config = *config;
	thread->rests[0] = config->rests;
	if (idle != NULL) {
		const struct lull_idle_counters *counters = lull_idle_counters(idle);

		thread->rests[0] = &counters->rests[LULL_REST_SLEEP];
		thread->rests[1] = &counters->rests[LULL_REST_INTERRUPT];
	}
	*out = thread;
	return 0;
}

static int
class_ready_watch(const struct lull_rest_thread *thread,
		  const struct lull_rest_thread_config *config)
{
	if (config->policy == LULL_SCHED_OTHER || class.watch_priority > 0)
		return 0;
	return class_start_watch(&thread->original);
}

static int
class_enter(struct lull_rest_thread *thread, int tid)
{
	int watch_rc, rc;

	if (thread->entered)
		return -EALREADY;
	thread->original = (struct sched_attributes){ .size = sizeof(thread->original) };
	rc = class.calls->get(tid, &thread->original);
	if (rc != 0)
		return rc;
	thread->original.size = sizeof(thread->original);
	watch_rc = class_ready_watch(thread, &thread->config);
	if (!class_lock(&class.lock))
		return -EDEADLK;
	thread->tid = tid;
	thread->lost = thread->touched = false;
	thread->wait_ns = 0;
	thread->wait_begin_ns = class.calls->wait_ns(tid);
	thread->entered = true;
	thread_begin(thread, watch_rc);
	thread->next = class.first;
	class.first = thread;
	pthread_mutex_unlock(&class.lock);
	class_settle_watch();
	return 0;
}

int
lull_rest_thread_enter(struct lull_rest_thread *thread, int tid)
{
	int rc = -EDEADLK;

	if (!class_lock(&class.life))
		return rc;
	rc = class_enter(thread, tid == 0 ? gettid() : tid);
	pthread_mutex_unlock(&class.life);
	return rc;
}

static uint64_t
thread_wait_ns(const struct lull_rest_thread *thread)
{
	uint64_t wait_ns = class.calls->wait_ns(thread->tid);

	return wait_ns > thread->wait_begin_ns ? wait_ns - thread->wait_begin_ns : 0;
}

static uint32_t
thread_class(const struct lull_rest_thread *thread)
{
	struct sched_attributes attributes = { .size = sizeof(attributes) };

	return class.calls->get(thread->tid, &attributes) == 0 ? attributes.policy : SCHED_OTHER;
}

static void
class_leave(struct lull_rest_thread *thread)
{
	struct lull_rest_thread **place = &class.first;

	while (*place != NULL && *place != thread)
		place = &(*place)->next;
	if (*place == NULL)
		return;
	*place = thread->next;
	thread->entered = false;
	if (!thread_alive(thread))
		return;
	thread->wait_ns = thread_wait_ns(thread);
	thread->class_policy = thread_class(thread);
	if (thread->touched)
		thread_put_back(thread, thread->original);
}

void
lull_rest_thread_leave(struct lull_rest_thread *thread)
{
	if (!class_lock(&class.life))
		return;
	if (class_lock(&class.lock)) {
		class_leave(thread);
		pthread_mutex_unlock(&class.lock);
		class_settle_watch();
	}
	pthread_mutex_unlock(&class.life);
}

/* The same class with another objective, or another class. */
static void
class_change(struct lull_rest_thread *thread, const struct lull_rest_thread_config *config,
	     int watch_rc)
{
	bool same = config->policy == thread->config.policy && thread->refused == 0;
	bool alive = thread->entered && thread_alive(thread);
	const uint64_t *rests = thread->config.rests;

	if (alive && !same && thread->touched) {
		if (thread->rule.inside)
			LULL_COUNTER_ADD(thread->changes, 1);
		thread_put_back(thread, thread->original);
		thread->touched = false;
	}
	thread->config = *config;
	thread->config.rests = rests;
	if (!alive)
		return;
	if (!same)
		thread_begin(thread, watch_rc);
	else if (thread_wants(thread) && thread->rule.inside)
		thread_put_inside(thread);
}

void
lull_rest_thread_change(struct lull_rest_thread *thread,
			const struct lull_rest_thread_config *config)
{
	int watch_rc = 0;

	if (config->policy >= LULL_SCHED_POLICY_COUNT || !class_lock(&class.life))
		return;
	if (thread->entered)
		watch_rc = class_ready_watch(thread, config);
	if (class_lock(&class.lock)) {
		class_change(thread, config, watch_rc);
		pthread_mutex_unlock(&class.lock);
		class_settle_watch();
	}
	pthread_mutex_unlock(&class.life);
}

void
lull_rest_thread_destroy(struct lull_rest_thread *thread)
{
	if (thread == NULL)
		return;
	lull_rest_thread_leave(thread);
	free(thread);
}

/* ---- read ---- */

void
sched_class_copy(const struct lull_rest_thread *thread, struct lull_rest_thread *copy,
		 uint32_t *class_policy)
{
	bool locked = class_lock(&class.lock);

	*copy = *thread;
	*class_policy = thread->class_policy;
	if (thread->entered && !thread->lost) {
		*class_policy = thread_class(thread);
		copy->wait_ns = thread_wait_ns(thread);
	}
	if (locked)
		pthread_mutex_unlock(&class.lock);
}

void
lull_rest_thread_info(const struct lull_rest_thread *thread, struct lull_rest_thread_info *info)
{
	struct lull_rest_thread copy;
	uint32_t class_policy;

	sched_class_copy(thread, &copy, &class_policy);
	*info = (struct lull_rest_thread_info){
		.policy = copy.config.policy,
		.class_name = sched_class_name(class_policy),
		.priority = class_policy == SCHED_FIFO ? copy.priority : 0,
		.refused = copy.refused,
		.changes = copy.changes,
		.forced = copy.forced,
		.run_wait_ns = copy.wait_ns,
	};
}

void
sched_class_use(const struct sched_calls *calls)
{
	class.calls = calls != NULL ? calls : &sched_calls_real;
}
