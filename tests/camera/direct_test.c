/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving on the thread that gets the images, and callbacks that do what they may not. */
#include "stand.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <lull/rest.h>

#define SHORT_NS (30 * LULL_NS_PER_MS)

struct direct {
	struct lull_receiver_config config;
	struct lull_receiver *receiver;
	struct sender sender;
	uint16_t port;
	int fd;

	/* what the callback saw */
	pthread_t thread;
	uint32_t calls;
	int got, closed;
};

/* Does what it may not, and puts down on which thread. */
static void
direct_rows(void *arg, uint32_t stream, uint64_t key, const uint8_t *data, uint32_t first_row,
	    uint32_t row_count)
{
	struct lull_camera_image *image;
	struct direct *direct = arg;

	(void)key;
	(void)data;
	(void)first_row;
	(void)row_count;
	direct->thread = pthread_self();
	direct->calls++;
	direct->closed = lull_receiver_close(direct->receiver);
	if (direct->config.direct)
		direct->got = lull_receiver_get(direct->receiver, stream, &image, 0);
}

static void
direct_open(struct direct *direct, const char *backend)
{
	struct lull_camera_stream stream;

	direct->config.backend = backend;
	direct->config.unchecked = true;
	sender_init(&direct->sender, "gvsp", LULL_PIXEL_MONO8, 1000, 100);
	direct->port = stand_free_port();
	direct->fd = stand_socket("127.0.0.1", "127.0.0.1", direct->port);
	stream = stand_stream(&direct->sender, direct->port);
	stream.deadline_ns = STAND_WAIT_NS;
	stream.rows = direct_rows;
	stream.rows_arg = direct;
	direct->receiver = stand_open(&direct->config);
	stand_add(direct->receiver, &stream);
	stand_start(direct->receiver);
}

static void
direct_close(struct direct *direct)
{
	assert_int_equal(lull_receiver_close(direct->receiver), 0);
	close(direct->fd);
	sender_free(&direct->sender);
}

static uint64_t
cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * LULL_NS_PER_S + (uint64_t)used.tv_nsec;
}

static void
receives(const char *backend)
{
	struct direct direct = { .config = { .direct = true } };
	struct lull_camera_image *image;

	direct_open(&direct, backend);
	for (uint64_t number = 1; number <= 5; number++) {
		stand_send(direct.fd, &direct.sender, number, NULL);
		/* Nobody else receives: what was sent waits for the call. */
		assert_int_equal(stand_counters(direct.receiver, 0).given, number - 1);
		image = stand_get(direct.receiver, number % 2 == 0 ? 0 : LULL_CAMERA_ANY);
		stand_check_pixels(image, number);
		assert_int_equal(lull_receiver_put(direct.receiver, image), 0);
	}
	assert_true(direct.calls > 0);
	assert_true(pthread_equal(direct.thread, pthread_self()));
	assert_int_equal(direct.got, -EDEADLK);
	assert_int_equal(direct.closed, -EDEADLK);
	direct_close(&direct);
}

TEST(direct__receives_on_the_thread_that_gets)
{
	receives("kernel:lo");
	receives("kernel-busy:lo");
}

/* It waits as long as it was told to, and leaves the CPU to others meanwhile. */
TEST(direct__waits_as_told)
{
	struct direct direct = { .config = { .direct = true } };
	struct lull_camera_image *image;
	uint64_t begin_ns, used_ns;

	direct_open(&direct, "kernel:lo");
	begin_ns = lull_clock_ns();
	assert_int_equal(lull_receiver_get(direct.receiver, 0, &image, 0), 0);
	assert_null(image);
	used_ns = cpu_ns();
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(lull_receiver_get(direct.receiver, 0, &image, SHORT_NS), 0);
		assert_null(image);
	}
	assert_true(lull_clock_ns() - begin_ns >= 3 * SHORT_NS);
	assert_true(cpu_ns() - used_ns < SHORT_NS);
	direct_close(&direct);
}

/* An image of another stream is no reason not to rest. */
TEST(direct__rests_while_others_have_images)
{
	struct direct direct = {
		.config = { .direct = true, .backend = "kernel:lo", .unchecked = true }
	};
	struct lull_camera_stream streams[2];
	struct lull_camera_image *image;
	uint64_t used_ns;

	sender_init(&direct.sender, "gvsp", LULL_PIXEL_MONO8, 100, 50);
	direct.receiver = stand_open(&direct.config);
	for (uint32_t i = 0; i < 2; i++) {
		direct.port = stand_free_port();
		streams[i] = stand_stream(&direct.sender, direct.port);
		stand_add(direct.receiver, &streams[i]);
	}
	stand_start(direct.receiver);
	direct.fd = stand_socket("127.0.0.1", "127.0.0.1", direct.port);
	stand_send(direct.fd, &direct.sender, 1, NULL);
	used_ns = cpu_ns();
	assert_int_equal(lull_receiver_get(direct.receiver, 0, &image, 3 * SHORT_NS), 0);
	assert_null(image);
	assert_true(cpu_ns() - used_ns < SHORT_NS);
	image = stand_get(direct.receiver, LULL_CAMERA_ANY);
	assert_int_equal(image->stream, 1);
	lull_receiver_put(direct.receiver, image);
	direct_close(&direct);
}

/* An application that is late is told so: the latency has its delay in it. */
TEST(direct__tells_what_a_slow_application_costs)
{
	struct direct direct = { .config = { .direct = true } };
	struct lull_camera_image *first, *second;
	struct lull_receiver_totals totals;

	direct_open(&direct, "kernel:lo");
	stand_send(direct.fd, &direct.sender, 1, NULL);
	first = stand_get(direct.receiver, 0);
	stand_send(direct.fd, &direct.sender, 2, NULL);
	usleep(SHORT_NS / LULL_NS_PER_US);
	second = stand_get(direct.receiver, 0);
	assert_int_equal(second->frame.reason, LULL_FRAME_COMPLETE);
	assert_true(second->latency_ns >= SHORT_NS);
	assert_true(first->latency_ns < second->latency_ns);
	lull_receiver_totals(direct.receiver, &totals);
	assert_true(totals.gaps_late >= 1);
	lull_receiver_put(direct.receiver, first);
	lull_receiver_put(direct.receiver, second);
	direct_close(&direct);
}

/* ---- who may not ---- */

static void *
other_thread(void *arg)
{
	struct lull_camera_image *image;
	struct direct *direct = arg;

	direct->got = lull_receiver_get(direct->receiver, 0, &image, STAND_WAIT_NS);
	direct->closed = lull_receiver_close(direct->receiver);
	return NULL;
}

TEST(direct__is_for_one_thread)
{
	struct direct direct = { .config = { .direct = true } };
	struct lull_receiver_config both = { .backend = "kernel:lo",
					     .direct = true,
					     .own_loop = true };
	struct lull_receiver *receiver;
	struct lull_error error;
	pthread_t thread;

	direct_open(&direct, "kernel:lo");
	assert_int_equal(lull_receiver_fd(direct.receiver), -ENOTSUP);
	assert_int_equal(pthread_create(&thread, NULL, other_thread, &direct), 0);
	pthread_join(thread, NULL);
	assert_int_equal(direct.got, -EPERM);
	assert_int_equal(direct.closed, -EPERM);
	direct_close(&direct);
	assert_int_equal(lull_receiver_open(&both, &receiver, &error), -EINVAL);
	assert_non_null(strstr(error.text, "direct and own_loop"));
}

/* From a callback of each kind of receiver: refused, and nothing was done. */
TEST(close__is_refused_in_a_callback)
{
	struct direct direct = { .config = { .own_loop = false } };
	struct lull_camera_image *image;
	uint64_t rest_ns;

	direct_open(&direct, "kernel:lo");
	stand_send(direct.fd, &direct.sender, 1, NULL);
	image = stand_get(direct.receiver, 0);
	assert_int_equal(direct.closed, -EDEADLK);
	assert_false(pthread_equal(direct.thread, pthread_self()));
	lull_receiver_put(direct.receiver, image);
	direct_close(&direct);

	direct = (struct direct){ .config = { .own_loop = true } };
	direct_open(&direct, "kernel:lo");
	stand_send(direct.fd, &direct.sender, 1, NULL);
	while (stand_counters(direct.receiver, 0).given == 0)
		lull_receiver_poll(direct.receiver, lull_clock_ns(), &rest_ns);
	assert_int_equal(direct.closed, -EDEADLK);
	direct_close(&direct);
}

/* ---- wake ---- */

static struct lull_receiver *waking;

static void
wake_by_signal(int number)
{
	(void)number;
	lull_receiver_wake(waking);
}

/* A rest of up to a second in the kernel ends at once, and so does one that is about to begin. */
TEST(wake__ends_a_direct_get)
{
	const struct itimerval soon = { .it_value = { .tv_usec = SHORT_NS / LULL_NS_PER_US } };
	struct sigaction before, action = { .sa_handler = wake_by_signal };
	struct direct direct = { .config = { .direct = true } };
	struct lull_camera_image *image;

	direct_open(&direct, "kernel:lo");
	waking = direct.receiver;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(lull_receiver_get(direct.receiver, 0, &image, UINT64_MAX), 0);
	assert_null(image);
	sigaction(SIGALRM, &before, NULL);
	lull_receiver_wake(direct.receiver);
	assert_int_equal(lull_receiver_get(direct.receiver, 0, &image, UINT64_MAX), 0);
	assert_null(image);
	/* not lost by a call that returned an image */
	stand_send(direct.fd, &direct.sender, 1, NULL);
	lull_receiver_wake(direct.receiver);
	while (image == NULL)
		assert_int_equal(lull_receiver_get(direct.receiver, 0, &image, STAND_WAIT_NS), 0);
	lull_receiver_put(direct.receiver, image);
	direct_close(&direct);
}

/* ---- the end, and the CPU ---- */

TEST(direct__reads_a_capture_to_its_end)
{
	struct direct direct = { .config = { .direct = true } };
	struct lull_camera_image *image;
	struct recording recording;
	struct lull_camera_stream stream;
	char backend[96];

	recording_open(&recording);
	sender_init(&direct.sender, "gvsp", LULL_PIXEL_MONO8, 200, 100);
	for (uint64_t number = 1; number <= 20; number++)
		recording_frame(&recording, &direct.sender, 5004, number, NULL);
	recording_close(&recording);
	snprintf(backend, sizeof(backend), "pcap:%s", recording.path);
	direct.config.backend = backend;
	stream = stand_stream(&direct.sender, 5004);
	stream.buffers = 4;
	direct.receiver = stand_open(&direct.config);
	stand_add(direct.receiver, &stream);
	stand_start(direct.receiver);
	for (uint64_t number = 1; number <= 20; number++) {
		image = stand_get(direct.receiver, 0);
		stand_check_pixels(image, number);
		lull_receiver_put(direct.receiver, image);
	}
	assert_int_equal(lull_receiver_get(direct.receiver, 0, &image, STAND_WAIT_NS), -ENODEV);
	assert_int_equal(lull_receiver_close(direct.receiver), 0);
	recording_remove(&recording);
	sender_free(&direct.sender);
}

TEST(direct__moves_its_thread_and_moves_it_back)
{
	struct direct direct = { .config = { .direct = true } };
	cpu_set_t before, within, after;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	while (!CPU_ISSET((unsigned int)cpu, &before))
		cpu++;
	direct.config.cpu = cpu + 1;
	direct_open(&direct, "kernel:lo");
	assert_int_equal(sched_getaffinity(0, sizeof(within), &within), 0);
	assert_int_equal(CPU_COUNT(&within), 1);
	assert_true(CPU_ISSET((unsigned int)cpu, &within));
	direct_close(&direct);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}
