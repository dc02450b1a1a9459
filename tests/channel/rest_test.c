/* SPDX-License-Identifier: BSD-3-Clause */
/* Rests of callers: what ends them, whose they are, and when there are none. */
#include "stand.h"

#include <dirent.h>
#include <pthread.h>
#include <unistd.h>

#include <lull/rest.h>

#include "bundle/peer.h"
#include "channel/state.h"
#include "channel/turn.h"

#define PARTLY_NS LULL_NS_PER_MS
#define SHORT_NS (150 * LULL_NS_PER_MS)
#define LARGE 400000

static char context[8];

struct resting {
	struct lull_channel *channel;
	uint64_t changes, took_ns;
	int rc;
};

static void *
resting_run(void *arg)
{
	struct resting *resting = arg;
	uint64_t begin_ns = lull_clock_ns();

	resting->rc = lull_channel_rest(resting->channel, resting->changes, STAND_WAIT_NS);
	resting->took_ns = lull_clock_ns() - begin_ns;
	return NULL;
}

/* One thread hears the kick, and tells the others; the one that stands in takes it from nobody. */
static void
wake_all(const char *rail, bool stand_in)
{
	struct stand stand = { .own_loop = true,
			       .rail_count = 1,
			       .config = { .stand_in = stand_in } };
	struct resting resting[3];
	pthread_t threads[3];
	struct lull_channel *channel;

	stand.rails[0][0] = stand.rails[1][0] = rail;
	stand_open(&stand);
	channel = stand.channels[0];
	usleep(20000); /* what stands in is at rest by now */
	for (int i = 0; i < 3; i++) {
		resting[i] = (struct resting){ .channel = channel,
					       .changes = lull_channel_changes(channel) };
		assert_int_equal(pthread_create(&threads[i], NULL, resting_run, &resting[i]), 0);
	}
	usleep(50000);
	lull_channel_wake(channel);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(resting[i].rc, 0);
		assert_true(resting[i].took_ns < STAND_WAIT_NS / 2);
		/* What has changed already keeps nobody waiting. */
		assert_int_equal(lull_channel_rest(channel, resting[i].changes, STAND_WAIT_NS), 0);
	}
	assert_int_equal(lull_channel_rest(channel, lull_channel_changes(channel), 1000),
			 -ETIMEDOUT);
	stand_close(&stand);
}

TEST(rest__a_wake_ends_all)
{
	wake_all("kernel:lo,port=0", false);
}

TEST(rest__a_wake_ends_all_beside_the_stand_in)
{
	wake_all("kernel:lo,port=0", true);
}

TEST(rest__a_wake_ends_all_on_polled_rails)
{
	wake_all("kernel-busy:lo,port=0", true);
}

/* A message that nobody receives yet: who looks for it is not kept until its rest is over. */
TEST(rest__ends_when_a_message_comes)
{
	struct stand stand = { .own_loop = true, .rail_count = 1, .config = { .stand_in = true } };
	struct lull_channel_receive wanted = { .source = LULL_CHANNEL_ANY, .tag = 4 };
	struct lull_channel_completion found;
	struct resting resting;
	pthread_t thread;

	stand.rails[0][0] = stand.rails[1][0] = "kernel:lo,port=0";
	stand_open(&stand);
	resting = (struct resting){ .channel = stand.channels[1],
				    .changes = lull_channel_changes(stand.channels[1]) };
	assert_int_equal(pthread_create(&thread, NULL, resting_run, &resting), 0);
	usleep(20000);
	stand_send(&stand, 0, context, 1, 4, context);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(resting.rc, 0);
	assert_true(resting.took_ns < STAND_WAIT_NS / 2);
	assert_int_equal(lull_channel_peek(stand.channels[1], &wanted, &found), 0);
	stand_close(&stand);
}

/* How often the threads of this process that stand in went to sleep. */
static uint64_t
stand_in_sleeps(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	uint64_t sleeps = 0;

	assert_non_null(tasks);
	while ((task = readdir(tasks)) != NULL) {
		unsigned long long count;
		char path[300], line[128];
		bool named = false;
		FILE *status;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
		status = fopen(path, "r");
		while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
			named = named || strcmp(line, "Name:\tlull-stand-in\n") == 0;
			if (named && sscanf(line, "voluntary_ctxt_switches: %llu", &count) == 1)
				sleeps += count;
		}
		if (status != NULL)
			fclose(status);
	}
	closedir(tasks);
	return sleeps;
}

/* Its looks every 2 ms would cost as much as the rests of a caller that waits for nothing. */
TEST(rest__the_stand_in_sleeps_while_a_caller_waits)
{
	struct stand stand = { .own_loop = true, .rail_count = 1, .config = { .stand_in = true } };
	uint64_t begin_ns, sleeps;

	stand.rails[0][0] = stand.rails[1][0] = "kernel:lo,port=0";
	stand_open(&stand);
	begin_ns = lull_clock_ns();
	sleeps = stand_in_sleeps();
	while (lull_clock_ns() - begin_ns < 400 * LULL_NS_PER_MS)
		(void)lull_channel_rest(stand.channels[0], lull_channel_changes(stand.channels[0]),
					LULL_NS_PER_MS);
	sleeps = stand_in_sleeps() - sleeps;
	assert_true(sleeps < 120);
	/* It is there again once nobody waits. */
	stand_carry(&stand, 1, 400000, 1);
	stand_close(&stand);
}

/* How many rests a caller has, by the governor. */
static uint64_t
rests_by(const char *governor)
{
	struct stand stand = { .own_loop = true,
			       .rail_count = 1,
			       .config = { .governor = governor } };
	uint64_t end_ns, rests;

	stand.rails[0][0] = stand.rails[1][0] = "kernel-busy:lo,port=0";
	stand_open(&stand);
	for (end_ns = lull_clock_ns() + SHORT_NS; lull_clock_ns() < end_ns;)
		lull_channel_rest(stand.channels[0], lull_channel_changes(stand.channels[0]),
				  LULL_NS_PER_MS);
	rests = stand.channels[0]->counters.rests;
	stand_close(&stand);
	return rests;
}

TEST(rest__goes_by_the_governor)
{
	assert_true(rests_by("phase") > 10);
	assert_true(rests_by("fixed") > 10);
	assert_int_equal(rests_by("spin"), 0);
}

/* A message is partly here: the rest of it is looked for and not waited for. */
TEST(rest__not_while_a_message_is_partly_here)
{
	struct stand stand = { .own_loop = true, .rail_count = 1 };
	uint8_t *from = malloc(LARGE), *to = malloc(LARGE);
	uint64_t rests, due_ns = 0;

	assert_non_null(from);
	assert_non_null(to);
	stand.rails[0][0] = stand.rails[1][0] = "kernel:lo,port=0";
	stand_fill(from, LARGE, 1);
	stand_open(&stand);
	stand_recv(&stand, 1, 1, to, LARGE, to);
	stand_send(&stand, 0, from, LARGE, 1, from);
	while (!lull_bundle_partly(stand.channels[1]->bundle))
		lull_channel_poll(stand.channels[1]);
	rests = stand.channels[1]->counters.rests;
	stand.channels[1]->came_ns = lull_clock_ns();
	due_ns = channel_due_ns(stand.channels[1], stand.channels[1]->came_ns + 1);
	assert_int_equal(due_ns, stand.channels[1]->came_ns + 1);
	/* Its sender has fallen silent: packets end a rest. */
	assert_true(channel_due_ns(stand.channels[1], stand.channels[1]->came_ns + PARTLY_NS) >
		    stand.channels[1]->came_ns + PARTLY_NS);
	assert_int_equal(stand.channels[1]->counters.rests, rests);
	assert_int_equal(stand_done(&stand, 1).error, 0);
	assert_true(stand_holds(to, LARGE, 1));
	stand_close(&stand);
	free(from);
	free(to);
}
