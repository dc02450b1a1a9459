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

/* Looks that are due within so long are made now. */
#define TOGETHER_NS (LULL_NS_PER_MS / 2)
#define NOBODY_NS LULL_NS_PER_S

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
	/* A program may exit out of a signal handler that came while its thread had the lock. */
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

/*
 * To enter, to leave or to change. The program may cancel its threads: not here, where some calls
 * would be places for it.
 */
static bool
class_life_begin(int *cancel)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
	if (class_lock(&class.life))
		return true;
	pthread_setcancelstate(*cancel, NULL);
	return false;
}

static void
class_life_end(int cancel)
{
	pthread_mutex_unlock(&class.life);
	pthread_setcancelstate(cancel, NULL);
}

/* ---- the watch: under the lock `life` ---- */

/* As high as it may stand; below 2 there is no room for loops under it. */
static int
class_start_watch(const struct sched_attributes *original)
{
	int limit = class.calls->priority_limit();
	int tries[] = { SCHED_WATCH_PRIORITY, LULL_MIN(limit, SCHED_WATCH_PRIORITY - 1),
			sched_thread_ranked(original) ?
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

static uint32_t
class_priority_max(void)
{
	return class.watch_priority > 0 ? class.watch_priority - 1 : 0;
}

static void
class_settle_watch(void)
{
	const struct lull_rest_thread *thread = class.first;

	if (class.watch_priority == 0)
		return;
	while (thread != NULL && !sched_thread_wants(thread))
		thread = thread->next;
	if (thread != NULL) {
		class.calls->watch_kick();
		return;
	}
	class.calls->watch_stop();
	class.watch_priority = 0;
}

uint64_t
sched_class_sample(uint64_t now_ns)
{
	uint64_t next_ns = now_ns + NOBODY_NS;

	if (!class_lock(&class.lock))
		return NOBODY_NS;
	for (struct lull_rest_thread *thread = class.first; thread != NULL; thread = thread->next) {
		if (!sched_thread_wants(thread))
			continue;
		if (thread->due_ns <= now_ns + TOGETHER_NS)
			sched_thread_sample(thread, now_ns);
		if (sched_thread_wants(thread))
			next_ns = LULL_MIN(next_ns, thread->due_ns);
	}
	pthread_mutex_unlock(&class.lock);
	return LULL_MAX(next_ns, now_ns + TOGETHER_NS) - now_ns;
}

/* ---- C-states: under the lock `life` ---- */

int
sched_only_cpu(int tid)
{
	cpu_set_t cpus;
	int cpu = 0;

	if (sched_getaffinity(tid, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) != 1)
		return -1;
	while (!CPU_ISSET((unsigned int)cpu, &cpus))
		cpu++;
	return cpu;
}

static void
class_hold_cpu(struct lull_rest_thread *thread)
{
	const struct cpu_latency_wish wish = {
		.limit_ns = thread->config.cpu_latency_ns,
		.latency_ns = thread->config.latency_ns != 0 ? thread->config.latency_ns :
							       SCHED_LATENCY_NS,
		.ring_ns = thread->config.ring_ns,
	};

	if (thread->entered)
		cpu_latency_hold(thread->cpu_latency, sched_only_cpu(thread->tid), &wish);
}

void
sched_class_follow(struct lull_rest_thread *thread)
{
	int cpu, cancel;

	if (!__atomic_load_n(&thread->cpu_latency->wants, __ATOMIC_RELAXED))
		return;
	cpu = sched_getcpu();
	if (cpu == thread->cpu_latency->cpu_seen)
		return;
	thread->cpu_latency->cpu_seen = cpu;
	if (!class_life_begin(&cancel))
		return;
	if (thread->entered && sched_only_cpu(thread->tid) != thread->cpu_latency->cpu)
		class_hold_cpu(thread);
	class_life_end(cancel);
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
	thread->cpu_latency = calloc(1, sizeof(*thread->cpu_latency));
	if (thread->cpu_latency == NULL) {
		free(thread);
		return -ENOMEM;
	}
	thread->cpu_latency->cpu_seen = -1;
	thread->calls = class.calls;
	thread->config = *config;
	thread->rests[0] = config->rests;
	if (idle != NULL) {
		const struct lull_idle_counters *counters = lull_idle_counters(idle);

		thread->rests[0] = &counters->rests[LULL_IDLE_SLEEP];
		thread->rests[1] = &counters->rests[LULL_IDLE_INTERRUPT];
	}
	*out = thread;
	return 0;
}

static int
class_ready_watch(const struct sched_attributes *original,
		  const struct lull_rest_thread_config *config)
{
	if (config->policy == LULL_SCHED_OTHER || class.watch_priority > 0)
		return 0;
	return class_start_watch(original);
}

static int
class_enter(struct lull_rest_thread *thread, int tid)
{
	struct sched_attributes original = { .size = sizeof(original) };
	int watch_rc, rc;

	if (thread->entered)
		return -EALREADY;
	rc = class.calls->get(tid, &original);
	if (rc != 0)
		return rc;
	original.size = sizeof(original);
	watch_rc = class_ready_watch(&original, &thread->config);
	if (!class_lock(&class.lock))
		return -EDEADLK;
	thread->original = original;
	thread->tid = tid;
	thread->lost = thread->touched = false;
	thread->wait_ns = 0;
	thread->wait_begin_ns = class.calls->wait_ns(tid);
	thread->entered = true;
	thread->priority_max = class_priority_max();
	sched_thread_begin(thread, watch_rc);
	thread->next = class.first;
	class.first = thread;
	pthread_mutex_unlock(&class.lock);
	class_settle_watch();
	return 0;
}

int
lull_rest_thread_enter(struct lull_rest_thread *thread, int tid)
{
	int cancel, rc;

	if (!class_life_begin(&cancel))
		return -EDEADLK;
	rc = class_enter(thread, tid == 0 ? gettid() : tid);
	if (rc == 0)
		class_hold_cpu(thread);
	class_life_end(cancel);
	return rc;
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
	if (!sched_thread_alive(thread))
		return;
	thread->wait_ns = sched_thread_wait_ns(thread);
	thread->class_policy = sched_thread_class(thread);
	if (thread->touched)
		sched_thread_put_back(thread, thread->original);
}

void
lull_rest_thread_leave(struct lull_rest_thread *thread)
{
	int cancel;

	if (!class_life_begin(&cancel))
		return;
	cpu_latency_release(thread->cpu_latency);
	if (class_lock(&class.lock)) {
		class_leave(thread);
		pthread_mutex_unlock(&class.lock);
		class_settle_watch();
	}
	class_life_end(cancel);
}

/* The same class with another objective, or another class. */
static void
class_change(struct lull_rest_thread *thread, const struct lull_rest_thread_config *config,
	     int watch_rc)
{
	bool same = config->policy == thread->config.policy && thread->refused == 0;
	bool alive = thread->entered && sched_thread_alive(thread);
	const uint64_t *rests = thread->config.rests;

	if (alive && !same && thread->touched) {
		if (thread->rule.inside)
			LULL_COUNTER_ADD(thread->changes, 1);
		sched_thread_put_back(thread, thread->original);
		thread->touched = false;
	}
	thread->config = *config;
	thread->config.rests = rests;
	if (!alive)
		return;
	thread->priority_max = class_priority_max();
	if (!same)
		sched_thread_begin(thread, watch_rc);
	else if (sched_thread_wants(thread) && thread->rule.inside)
		sched_thread_put_inside(thread);
}

void
lull_rest_thread_change(struct lull_rest_thread *thread,
			const struct lull_rest_thread_config *config)
{
	int watch_rc = 0, cancel;

	if (config->policy >= LULL_SCHED_POLICY_COUNT || !class_life_begin(&cancel))
		return;
	if (thread->entered)
		watch_rc = class_ready_watch(&thread->original, config);
	if (class_lock(&class.lock)) {
		class_change(thread, config, watch_rc);
		pthread_mutex_unlock(&class.lock);
		class_settle_watch();
	}
	class_hold_cpu(thread);
	class_life_end(cancel);
}

void
lull_rest_thread_destroy(struct lull_rest_thread *thread)
{
	if (thread == NULL)
		return;
	lull_rest_thread_leave(thread);
	free(thread->cpu_latency);
	free(thread);
}

/* ---- read ---- */

void
sched_class_copy(const struct lull_rest_thread *thread, struct lull_rest_thread *copy,
		 uint32_t *class_policy)
{
	bool locked;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	locked = class_lock(&class.lock);
	*copy = *thread;
	*class_policy = thread->class_policy;
	if (thread->entered && !thread->lost) {
		*class_policy = sched_thread_class(thread);
		copy->wait_ns = sched_thread_wait_ns(thread);
	}
	if (locked)
		pthread_mutex_unlock(&class.lock);
	pthread_setcancelstate(cancel, NULL);
}

void
sched_class_config(const struct lull_rest_thread *thread, struct lull_rest_thread_config *config)
{
	struct lull_rest_thread copy;
	uint32_t class_policy;

	sched_class_copy(thread, &copy, &class_policy);
	*config = copy.config;
}

uint64_t
lull_rest_thread_changes(const struct lull_rest_thread *thread)
{
	return thread != NULL ? LULL_COUNTER_READ(thread->changes) : 0;
}

void
lull_rest_thread_info(const struct lull_rest_thread *thread, struct lull_rest_thread_info *info)
{
	struct lull_rest_thread copy;
	struct cpu_latency held;
	uint32_t class_policy;

	sched_class_copy(thread, &copy, &class_policy);
	cpu_latency_read(thread->cpu_latency, &held);
	*info = (struct lull_rest_thread_info){
		.policy = copy.config.policy,
		.class_name = sched_class_name(class_policy),
		.priority = class_policy == SCHED_FIFO ? copy.priority : 0,
		.refused = copy.refused,
		.changes = copy.changes,
		.forced = copy.forced,
		.run_wait_ns = copy.wait_ns,
		.cpu_latency_ns =
			held.status == CPU_LATENCY_HELD ? held.found_us * LULL_NS_PER_US : 0,
	};
}

void
sched_class_use(const struct sched_calls *calls)
{
	class.calls = calls != NULL ? calls : &sched_calls_real;
}
