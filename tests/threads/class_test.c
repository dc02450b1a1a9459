/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host/sched_*.c under TSan: threads enter, leave and change while the watch looks at them and
 * others read. The watch is an ordinary thread here and the kernel a pretended one, so that
 * everybody may run it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lull/rest.h>

#include "case.h"
#include "sched_class.h"
#include "sched_watch.h"

#define LOOPS 4
#define ROUNDS 200

static int
pretend_get(int tid, struct sched_attributes *attributes)
{
	(void)tid;
	*attributes = (struct sched_attributes){ .size = sizeof(*attributes) };
	return 0;
}

static int
pretend_set(int tid, const struct sched_attributes *attributes)
{
	(void)tid;
	(void)attributes;
	return 0;
}

static int
pretend_start(int priority)
{
	(void)priority;
	return sched_watch_start(0);
}

struct loop {
	pthread_t thread;
	uint64_t rests;
	struct lull_rest_thread *class;
};

static struct loop loops[LOOPS];
static int stop;

/* ---- one CPU that all are bound to, with a limit on its C-states ---- */

static char folder[] = "/tmp/lull-threads-XXXXXX";
static char limit[256];
static int cpu;

static void
folder_make(void)
{
	char path[128];
	FILE *file;

	cpu = sched_getcpu();
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/cpu%d/power", folder, cpu);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(limit, sizeof(limit), "%s/pm_qos_resume_latency_us", path);
	file = fopen(limit, "we");
	assert_non_null(file);
	fputs("0\n", file);
	fclose(file);
	cpu_latency_use(folder);
}

static void
folder_remove(void)
{
	char path[128], value[8] = "";
	FILE *file = fopen(limit, "re");

	assert_non_null(file);
	assert_non_null(fgets(value, sizeof(value), file));
	fclose(file);
	cpu_latency_use(NULL);
	unlink(limit);
	snprintf(path, sizeof(path), "%s/cpu%d/power", folder, cpu);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/cpu%d", folder, cpu);
	rmdir(path);
	assert_int_equal(rmdir(folder), 0);
	/* all have left */
	assert_int_equal(atoi(value), 0);
	assert_int_equal(value[0], '0');
}

static void
bind_here(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static void *
loop_run(void *arg)
{
	struct loop *loop = arg;

	bind_here();
	for (int round = 0; round < ROUNDS; round++) {
		assert_int_equal(lull_rest_thread_enter(loop->class, 0), 0);
		sched_class_follow(loop->class);
		for (int i = 0; i < 20; i++) {
			usleep(100);
			LULL_COUNTER_ADD(loop->rests, 1);
		}
		lull_rest_thread_leave(loop->class);
	}
	return NULL;
}

static void *
others_run(void *arg)
{
	struct lull_rest_thread_info info;
	char text[256];

	(void)arg;
	for (uint32_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		const struct lull_rest_thread_config config = {
			.policy = (enum lull_sched_policy)(i / LOOPS % LULL_SCHED_POLICY_COUNT),
			.latency_ns = 100000 + i,
			.cpu_latency_ns = i % 7 * LULL_NS_PER_US, /* 0: none */
		};

		lull_rest_thread_change(loops[i % LOOPS].class, &config);
		lull_rest_thread_info(loops[i % LOOPS].class, &info);
		lull_rest_thread_explain(loops[i % LOOPS].class, text, sizeof(text));
		lull_rest_thread_explain_cpu(loops[i % LOOPS].class, text, sizeof(text));
		usleep(50);
	}
	return NULL;
}

TEST(class__is_changed_and_read_while_the_watch_looks)
{
	struct sched_calls calls = sched_calls_real;
	pthread_t others[2];

	calls.get = pretend_get;
	calls.set = pretend_set;
	calls.watch_start = pretend_start;
	sched_class_use(&calls);
	folder_make();
	for (int i = 0; i < LOOPS; i++) {
		const struct lull_rest_thread_config config = { .rests = &loops[i].rests };

		assert_int_equal(lull_rest_thread_create(NULL, &config, &loops[i].class), 0);
	}
	for (int i = 0; i < LOOPS; i++)
		assert_int_equal(pthread_create(&loops[i].thread, NULL, loop_run, &loops[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&others[i], NULL, others_run, NULL), 0);
	for (int i = 0; i < LOOPS; i++)
		pthread_join(loops[i].thread, NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(others[i], NULL);
	for (int i = 0; i < LOOPS; i++)
		lull_rest_thread_destroy(loops[i].class);
	sched_class_use(NULL);
	folder_remove();
}
