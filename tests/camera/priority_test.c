/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receiving thread of a real-time class, an ordinary application that is preempted while it holds
 * the lock between them, and a spinning thread of a middle priority: all on one CPU.
 */
#include "stand.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <lull/rest.h>

#include "camera/receiver.h"

#define SKIP 77                        /* meson's word */
#define SPIN_NS (400 * LULL_NS_PER_MS) /* less than what throttles real-time threads */
#define HELD_NS (5 * LULL_NS_PER_MS)   /* of CPU time, with the lock */

enum { PRIORITY_MIDDLE = 1, PRIORITY_RECEIVER = 3, PRIORITY_TEST = 5 };

struct place {
	struct lull_receiver *receiver;
	int cpu;
	sem_t locked, spinning, go;
	uint64_t waited_ns;
};

static uint64_t
cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * LULL_NS_PER_S + (uint64_t)used.tv_nsec;
}

/* As in lull_receiver_put(), which an interrupt stops at the worst place. */
static void *
application_run(void *arg)
{
	struct place *place = arg;
	uint64_t begin_ns;

	pthread_mutex_lock(&place->receiver->lock);
	sem_post(&place->locked);
	sem_wait(&place->go);
	begin_ns = cpu_ns();
	while (cpu_ns() - begin_ns < HELD_NS)
		;
	pthread_mutex_unlock(&place->receiver->lock);
	return NULL;
}

static void *
middle_run(void *arg)
{
	struct place *place = arg;
	uint64_t begin_ns = lull_clock_ns();

	sem_post(&place->spinning);
	while (lull_clock_ns() - begin_ns < SPIN_NS)
		;
	return NULL;
}

static void *
receiving_run(void *arg)
{
	struct place *place = arg;
	uint64_t begin_ns = lull_clock_ns(), rest_ns;

	while (stand_counters(place->receiver, 0).given == 0)
		lull_receiver_poll(place->receiver, lull_clock_ns(), &rest_ns);
	place->waited_ns = lull_clock_ns() - begin_ns;
	return NULL;
}

/* On the CPU of the place; priority 0: an ordinary thread. */
static pthread_t
place_thread(struct place *place, void *(*run)(void *arg), int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((unsigned int)place->cpu, &cpus);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(cpus), &cpus);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, priority > 0 ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &param);
	assert_int_equal(pthread_create(&thread, &attr, run, place), 0);
	pthread_attr_destroy(&attr);
	return thread;
}

static int
last_cpu(void)
{
	cpu_set_t allowed;
	int last = -1;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((unsigned int)cpu, &allowed))
			last = cpu;
	return last;
}

static void
become(int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	assert_int_equal(sched_setscheduler(0, policy, &param), 0);
}

static int
may_have_class(void **state)
{
	const struct sched_param real_time = { .sched_priority = PRIORITY_TEST },
				 ordinary = { .sched_priority = 0 };

	(void)state;
	if (sched_setscheduler(0, SCHED_FIFO, &real_time) != 0) {
		puts("skipped: needs the right to a real-time class");
		exit(SKIP);
	}
	return sched_setscheduler(0, SCHED_OTHER, &ordinary);
}
TEST_GROUP(may_have_class, NULL);

/* It goes on when the application has let go, and not when the middle one has had enough. */
TEST(lock__lends_the_receivers_priority)
{
	struct lull_receiver_config config = { .backend = "kernel-busy:lo",
					       .own_loop = true,
					       .unchecked = true };
	struct place place = { .cpu = last_cpu() };
	uint16_t port = stand_free_port();
	int fd = stand_socket("127.0.0.1", "127.0.0.1", port);
	struct lull_camera_stream stream;
	pthread_t application, middle, receiving;
	struct sender sender;

	become(SCHED_FIFO, PRIORITY_TEST);
	sem_init(&place.locked, 0, 0);
	sem_init(&place.spinning, 0, 0);
	sem_init(&place.go, 0, 0);
	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 100, 50);
	stream = stand_stream(&sender, port);
	stream.deadline_ns = STAND_WAIT_NS;
	place.receiver = stand_open(&config);
	stand_add(place.receiver, &stream);
	stand_start(place.receiver);
	stand_send(fd, &sender, 1, NULL);
	application = place_thread(&place, application_run, 0);
	sem_wait(&place.locked);
	middle = place_thread(&place, middle_run, PRIORITY_MIDDLE);
	sem_wait(&place.spinning);
	sem_post(&place.go);
	receiving = place_thread(&place, receiving_run, PRIORITY_RECEIVER);
	pthread_join(receiving, NULL);
	pthread_join(application, NULL);
	pthread_join(middle, NULL);
	become(SCHED_OTHER, 0);
	print_message("the receiving thread waited %.1f ms\n",
		      (double)place.waited_ns / LULL_NS_PER_MS);
	assert_true(place.waited_ns < SPIN_NS / 2);
	assert_int_equal(lull_receiver_close(place.receiver), 0);
	close(fd);
	sender_free(&sender);
}
