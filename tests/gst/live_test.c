/* SPDX-License-Identifier: BSD-3-Clause */
/* The element on sockets of loopback; the test is the camera. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "line.h"

#define WIDTH 64
#define HEIGHT 48
#define PERIOD_US 2000

struct stage {
	struct sender sender;
	struct line line;
	uint16_t port;
	int fd;
	pthread_t thread;
	atomic_bool stop;
};

/* The deadline is long: what is sent is whole, however slow the machine. */
static void
stage_open(struct stage *stage, const char *backend, const char *more)
{
	gchar *words = g_strdup_printf("deadline=20s%s", more);

	sender_init(&stage->sender, "gvsp", LULL_PIXEL_RGB8, WIDTH, HEIGHT);
	stage->port = stand_free_port();
	stage->fd = stand_socket("127.0.0.1", "127.0.0.1", stage->port);
	line_open_stream(&stage->line, backend, &stage->sender, stage->port, words, NULL);
	g_free(words);
}

static void
stage_close(struct stage *stage)
{
	line_drop(&stage->line);
	line_close(&stage->line);
	sender_free(&stage->sender);
	close(stage->fd);
}

/* Pictures all the time; while nobody listens sending fails, which is no matter. */
static void *
stage_run(void *arg)
{
	struct stage *stage = arg;

	for (uint64_t number = 1; !atomic_load(&stage->stop); number++) {
		struct lull_packet_frame frame = sender_frame(&stage->sender, number);

		for (uint32_t i = 0; i < stage->sender.plan.count; i++)
			(void)!write(stage->fd, stage->sender.packet,
				     sender_packet(&stage->sender, &frame, i));
		usleep(PERIOD_US);
	}
	return NULL;
}

static void
stage_begin(struct stage *stage)
{
	atomic_store(&stage->stop, false);
	assert_int_equal(pthread_create(&stage->thread, NULL, stage_run, stage), 0);
}

static void
stage_end(struct stage *stage)
{
	atomic_store(&stage->stop, true);
	pthread_join(stage->thread, NULL);
}

static void
wait_figure(struct line *line, const char *part, const char *name, uint64_t least)
{
	gint64 end_us = g_get_monotonic_time() + (gint64)(LINE_WAIT_NS / 1000);

	while (line_figure(line, part, name) < least) {
		if (g_get_monotonic_time() > end_us)
			fail_msg("%s stays below %llu", name, (unsigned long long)least);
		usleep(1000);
	}
}

/* ---- tests ---- */

TEST(states__round_and_round)
{
	static const struct {
		const char *backend;
		guint rounds;
	} ways[] = { { "kernel:lo", 20 }, { "kernel-busy:lo", 5 }, { "dpdk:af_packet=lo", 5 } };
	guint count = geteuid() == 0 ? COUNT(ways) : 2; /* the last one needs root */
	static struct stage stage;

	for (guint way = 0; way < count; way++) {
		stage_open(&stage, ways[way].backend, "");
		stage.line.drop = true;
		stage_begin(&stage);
		for (guint round = 0; round < ways[way].rounds; round++) {
			line_set(&stage.line, GST_STATE_PLAYING);
			line_wait(&stage.line, stage.line.count + 2);
			line_set(&stage.line, GST_STATE_PAUSED);
			line_set(&stage.line, GST_STATE_PLAYING);
			line_wait(&stage.line, stage.line.count + 2);
			line_set(&stage.line, round % 2 == 0 ? GST_STATE_NULL : GST_STATE_READY);
		}
		stage_end(&stage);
		stage_close(&stage);
	}
}

/* Pictures of a pause are not shown after it. */
TEST(pause__skips_what_came)
{
	static struct stage stage;
	uint64_t bytes;

	stage_open(&stage, "kernel:lo", "");
	bytes = stage.sender.picture_bytes;
	line_set(&stage.line, GST_STATE_PAUSED);
	for (uint64_t number = 1; number <= 3; number++)
		stand_send(stage.fd, &stage.sender, number, NULL);
	wait_figure(&stage.line, NULL, "frames", 3);
	line_set(&stage.line, GST_STATE_PLAYING);
	stand_send(stage.fd, &stage.sender, 4, NULL);
	stand_send(stage.fd, &stage.sender, 5, NULL);
	line_wait(&stage.line, 2);
	line_check_bytes(stage.line.buffers[0], 4, bytes);
	line_check_bytes(stage.line.buffers[1], 5, bytes);
	assert_true(GST_BUFFER_FLAG_IS_SET(stage.line.buffers[0], GST_BUFFER_FLAG_DISCONT));
	assert_false(GST_BUFFER_FLAG_IS_SET(stage.line.buffers[1], GST_BUFFER_FLAG_DISCONT));
	stage_close(&stage);
}

static GstClockTime
running_time(struct stage *stage)
{
	GstClock *clock = gst_element_get_clock(stage->line.pipeline);
	GstClockTime now = gst_clock_get_time(clock);

	gst_object_unref(clock);
	return now - gst_element_get_base_time(stage->line.pipeline);
}

/* Stamps lie between sending and receiving, for both. */
TEST(times__of_arrival)
{
	static const char *const backends[] = { "kernel:lo", "kernel-busy:lo" };
	static struct stage stage;

	for (guint way = 0; way < COUNT(backends); way++) {
		stage_open(&stage, backends[way], "");
		line_set(&stage.line, GST_STATE_PLAYING);
		for (guint i = 0; i < 10; i++) {
			GstClockTime before = running_time(&stage), pts;

			stand_send(stage.fd, &stage.sender, i + 1, NULL);
			line_wait(&stage.line, i + 1);
			pts = GST_BUFFER_PTS(stage.line.buffers[i]);
			/* the clocks are read one after the other, and one of them is adjusted */
			if (pts + GST_MSECOND < before || pts > running_time(&stage) + GST_MSECOND)
				fail_msg("%llu is not in %llu..%llu", (unsigned long long)pts,
					 (unsigned long long)before,
					 (unsigned long long)running_time(&stage));
		}
		stage_close(&stage);
	}
}

TEST(latency__is_the_deadline)
{
	GstQuery *query = gst_query_new_latency();
	static struct stage stage;
	GstClockTime least;
	gboolean live;

	stage_open(&stage, "kernel:lo", ",deadline=7ms");
	line_set(&stage.line, GST_STATE_PLAYING);
	assert_true(gst_element_query(stage.line.source, query));
	gst_query_parse_latency(query, &live, &least, NULL);
	assert_true(live);
	assert_int_equal(least, 7 * GST_MSECOND);
	gst_query_unref(query);
	stage_close(&stage);
}

TEST(policy__fail_stop_is_an_error)
{
	static struct stage stage;
	char *said;

	stage_open(&stage, "kernel:lo", ",buffers=3,policy=fail-stop");
	line_hold(&stage.line, true);
	line_set(&stage.line, GST_STATE_PLAYING);
	stage_begin(&stage);
	wait_figure(&stage.line, "assembler", "stopped", 1);
	line_hold(&stage.line, false);
	said = line_error(&stage.line);
	assert_non_null(strstr(said, "buffers"));
	g_free(said);
	stage_end(&stage);
	stage_close(&stage);
}

/* A sink that stands still keeps what it has; what came meanwhile is lost and counted. */
TEST(sink__stands_still)
{
	static struct stage stage;
	guint before;

	stage_open(&stage, "kernel:lo", ",buffers=4,policy=newest");
	line_hold(&stage.line, true);
	line_set(&stage.line, GST_STATE_PLAYING);
	stage_begin(&stage);
	wait_figure(&stage.line, NULL, "lost", 5);
	before = stage.line.count;
	line_hold(&stage.line, false);
	line_wait(&stage.line, before + 10);
	stage_end(&stage);
	stage_close(&stage);
}

TEST_GROUP(line_init, NULL);
