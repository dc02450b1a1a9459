/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of loopback; the test is the camera. */
#include "stand.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <lull/rest.h>

#define FRAMES 20

struct world {
	struct lull_receiver *receiver;
	struct sender sender;
	uint16_t port;
	int fd;
};

static void
world_open(struct world *world, const char *backend, const char *source, uint64_t deadline_ns)
{
	struct lull_receiver_config config = { .backend = backend, .unchecked = true };
	struct lull_camera_stream stream;

	sender_init(&world->sender, "gvsp", LULL_PIXEL_BAYER_RG12P, 320, 100);
	world->port = stand_free_port();
	world->fd = stand_socket("127.0.0.1", "127.0.0.1", world->port);
	stream = stand_stream(&world->sender, world->port);
	stream.source = source;
	stream.deadline_ns = deadline_ns;
	world->receiver = stand_open(&config);
	stand_add(world->receiver, &stream);
}

static void
world_close(struct world *world)
{
	assert_int_equal(lull_receiver_close(world->receiver), 0);
	close(world->fd);
	sender_free(&world->sender);
}

/* Complete frames, with stamps of the kernel's that lie within the test. */
static void
stream_whole(const char *backend)
{
	struct lull_receiver_totals totals;
	struct timespec begin, end;
	struct world world;

	world_open(&world, backend, "127.0.0.1", STAND_WAIT_NS);
	stand_start(world.receiver);
	for (uint64_t number = 1; number <= FRAMES; number++) {
		struct lull_camera_image *image;

		clock_gettime(CLOCK_REALTIME, &begin);
		stand_send(world.fd, &world.sender, number, NULL);
		image = stand_get(world.receiver, 0);
		clock_gettime(CLOCK_REALTIME, &end);
		assert_int_equal(image->frame.reason, LULL_FRAME_COMPLETE);
		stand_check_pixels(image, number);
		assert_int_equal(image->packet_clock, LULL_CAMERA_CLOCK_KERNEL);
		assert_in_range(image->frame.stamps.first_ns,
				(uint64_t)begin.tv_sec * LULL_NS_PER_S,
				(uint64_t)(end.tv_sec + 1) * LULL_NS_PER_S);
		assert_true(image->frame.stamps.last_ns >= image->frame.stamps.first_ns);
		lull_receiver_put(world.receiver, image);
	}
	/* the last trailer comes behind a complete frame */
	stand_wait_pkts(world.receiver, 0, FRAMES * world.sender.plan.count);
	lull_receiver_totals(world.receiver, &totals);
	assert_int_equal(totals.pkts, FRAMES * world.sender.plan.count);
	assert_int_equal(totals.missed, 0);
	assert_true(totals.wall_ns > 0);
	world_close(&world);
}

TEST(kernel__receives_whole_frames)
{
	stream_whole("kernel:lo");
	stream_whole("kernel:any");
}

/* It stops for want of buffers, says so, and goes on when told; not because images come back. */
TEST(fail_stop__goes_on_when_told)
{
	struct lull_receiver_config config = { .backend = "kernel:lo", .unchecked = true };
	struct lull_camera_image *images[2], *none;
	struct lull_camera_stream stream;
	struct world world;
	uint64_t number;

	sender_init(&world.sender, "gvsp", LULL_PIXEL_MONO8, 320, 100);
	world.port = stand_free_port();
	world.fd = stand_socket("127.0.0.1", "127.0.0.1", world.port);
	stream = stand_stream(&world.sender, world.port);
	stream.policy = LULL_FRAME_FAIL_STOP;
	stream.buffers = 2;
	world.receiver = stand_open(&config);
	stand_add(world.receiver, &stream);
	stand_start(world.receiver);
	for (number = 1; number <= 3; number++)
		stand_send(world.fd, &world.sender, number, NULL);
	for (uint32_t i = 0; i < 2; i++)
		images[i] = stand_get(world.receiver, 0);
	assert_int_equal(lull_receiver_get(world.receiver, 0, &none, UINT64_MAX), -ENOBUFS);
	assert_int_equal(lull_receiver_get(world.receiver, LULL_CAMERA_ANY, &none, UINT64_MAX),
			 -ENOBUFS);
	for (uint32_t i = 0; i < 2; i++)
		lull_receiver_put(world.receiver, images[i]);
	stand_send(world.fd, &world.sender, 4, NULL);
	stand_wait_pkts(world.receiver, 0, 4ull * world.sender.plan.count);
	assert_int_equal(lull_receiver_get(world.receiver, 0, &none, UINT64_MAX), -ENOBUFS);
	assert_int_equal(lull_receiver_resume(world.receiver, 1), -EINVAL);
	assert_int_equal(lull_receiver_resume(world.receiver, 0), 0);
	stand_send(world.fd, &world.sender, 5, NULL);
	for (none = NULL; none == NULL;)
		(void)lull_receiver_get(world.receiver, 0, &none, LULL_NS_PER_MS);
	stand_check_pixels(none, 5);
	lull_receiver_put(world.receiver, none);
	world_close(&world);
}

TEST(kernel_busy__receives_whole_frames)
{
	stream_whole("kernel-busy:lo");
}

static bool
lost_some(uint32_t index)
{
	return index % 5 == 2;
}

/* A frame with holes leaves on its own, without any packet after it. */
TEST(kernel__gives_incomplete_frames_in_time)
{
	struct lull_camera_image *image;
	struct world world;
	uint64_t begin_ns;

	world_open(&world, "kernel:lo", NULL, 0);
	stand_start(world.receiver);
	stand_send(world.fd, &world.sender, 1, lost_some);
	begin_ns = lull_clock_ns();
	image = stand_get(world.receiver, 0);
	assert_true(lull_clock_ns() - begin_ns > 5 * LULL_NS_PER_MS);
	assert_int_equal(image->frame.reason, LULL_FRAME_DEADLINE);
	assert_true(image->frame.missing_count > 2);
	for (uint32_t i = 0; i < image->frame.missing_count; i++)
		assert_int_equal(image->frame.missing[i].offset % world.sender.plan.data_bytes, 0);
	stand_check_pixels(image, 1);
	lull_receiver_put(world.receiver, image);
	world_close(&world);
}

TEST(kernel__counts_duplicates_once)
{
	struct lull_camera_image *image;
	struct lull_packet_frame frame;
	struct world world;
	size_t size;

	world_open(&world, "kernel:lo", NULL, STAND_WAIT_NS);
	stand_start(world.receiver);
	frame = sender_frame(&world.sender, 1);
	for (uint32_t i = 0; i + 1 < world.sender.plan.count; i++) {
		size = sender_packet(&world.sender, &frame, i);
		for (uint32_t twice = 0; twice < 2; twice++)
			assert_int_equal(send(world.fd, world.sender.packet, size, 0), size);
	}
	size = sender_packet(&world.sender, &frame, world.sender.plan.count - 1);
	assert_int_equal(send(world.fd, world.sender.packet, size, 0), size);
	image = stand_get(world.receiver, 0);
	assert_int_equal(image->frame.bytes_there, image->frame.bytes);
	/* the copy of the packet that made it complete came late */
	stand_wait_pkts(world.receiver, 0, 2 * world.sender.plan.count - 1);
	assert_int_equal(stand_assembler(world.receiver, 0).duplicates,
			 world.sender.plan.count - 2);
	lull_receiver_put(world.receiver, image);
	world_close(&world);
}

TEST(kernel__drops_other_sources)
{
	struct lull_camera_image *image;
	struct world world;
	int stranger;

	world_open(&world, "kernel:lo", "127.0.0.1", STAND_WAIT_NS);
	stand_start(world.receiver);
	stranger = stand_socket("127.0.0.2", "127.0.0.1", world.port);
	stand_send(stranger, &world.sender, 5, NULL);
	stand_send(world.fd, &world.sender, 6, NULL);
	image = stand_get(world.receiver, 0);
	stand_check_pixels(image, 6);
	assert_int_equal(stand_counters(world.receiver, 0).source_mismatch,
			 world.sender.plan.count);
	lull_receiver_put(world.receiver, image);
	close(stranger);
	world_close(&world);
}

struct flood {
	int fd;
	bool stop;
	uint64_t sent;
};

static void *
flood_run(void *arg)
{
	struct flood *flood = arg;
	uint8_t packet[900];

	for (size_t i = 0; i < sizeof(packet); i++)
		packet[i] = (uint8_t)(i * 37);
	while (!__atomic_load_n(&flood->stop, __ATOMIC_RELAXED)) {
		packet[flood->sent % 64] ^= (uint8_t)flood->sent;
		send(flood->fd, packet, 1 + flood->sent * 7 % sizeof(packet), 0);
		__atomic_fetch_add(&flood->sent, 1, __ATOMIC_RELAXED);
		if (flood->sent % 64 == 0)
			usleep(50);
	}
	return NULL;
}

/* Rubbish for one camera does not touch the other. */
TEST(kernel__a_flood_leaves_others_alone)
{
	struct flood flood = { .fd = -1 };
	struct lull_camera_stream second;
	struct world world;
	pthread_t thread;
	uint16_t port;

	world_open(&world, "kernel:lo", NULL, STAND_WAIT_NS);
	port = stand_free_port();
	second = stand_stream(&world.sender, port);
	second.deadline_ns = STAND_WAIT_NS;
	stand_add(world.receiver, &second);
	stand_start(world.receiver);
	flood.fd = stand_socket("127.0.0.1", "127.0.0.1", port);
	assert_int_equal(pthread_create(&thread, NULL, flood_run, &flood), 0);
	stand_wait_pkts(world.receiver, 1, 1000);
	for (uint64_t number = 1; number <= FRAMES; number++) {
		struct lull_camera_image *image;

		stand_send(world.fd, &world.sender, number, NULL);
		image = stand_get(world.receiver, 0);
		assert_int_equal(image->frame.reason, LULL_FRAME_COMPLETE);
		stand_check_pixels(image, number);
		lull_receiver_put(world.receiver, image);
	}
	__atomic_store_n(&flood.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(stand_counters(world.receiver, 1).pkts > 1000);
	assert_int_equal(stand_counters(world.receiver, 1).given, 0);
	close(flood.fd);
	world_close(&world);
}

TEST(kernel__takes_ipv6)
{
	struct lull_receiver_config config = { .backend = "kernel:lo", .unchecked = true };
	struct lull_camera_stream stream;
	struct lull_camera_image *image;
	struct lull_receiver *receiver;
	struct sender sender;
	uint16_t port = stand_free_port();
	int fd;

	if (access("/proc/net/if_inet6", R_OK) != 0) {
		print_message("skipped: needs IPv6\n");
		skip();
	}
	sender_init(&sender, "rfc4175", LULL_PIXEL_UYVY8, 320, 40);
	stream = stand_stream(&sender, port);
	stream.address = "::1";
	stream.source = "::1";
	receiver = stand_open(&config);
	stand_add(receiver, &stream);
	stand_start(receiver);
	fd = stand_socket("::1", "::1", port);
	stand_send(fd, &sender, 1, NULL);
	image = stand_get(receiver, 0);
	stand_check_pixels(image, 1);
	lull_receiver_put(receiver, image);
	close(fd);
	assert_int_equal(lull_receiver_close(receiver), 0);
	sender_free(&sender);
}

/* The application's own loop; nothing moves but when it polls. */
TEST(own_loop__receives_when_polled)
{
	struct lull_receiver_config config = { .backend = "kernel:lo",
					       .own_loop = true,
					       .unchecked = true };
	struct lull_camera_image *image = NULL;
	struct lull_camera_stream stream;
	struct lull_receiver *receiver;
	uint64_t rest_ns, begin_ns = lull_clock_ns();
	struct pollfd readable;
	struct sender sender;
	uint16_t port = stand_free_port();
	int fd = stand_socket("127.0.0.1", "127.0.0.1", port);

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 100, 50);
	stream = stand_stream(&sender, port);
	receiver = stand_open(&config);
	stand_add(receiver, &stream);
	stand_start(receiver);
	readable = (struct pollfd){ .fd = lull_receiver_fd(receiver), .events = POLLIN };
	stand_send(fd, &sender, 1, NULL);
	assert_int_equal(poll(&readable, 1, 10), 0);
	assert_int_equal(lull_receiver_get(receiver, 0, &image, 0), 0);
	assert_null(image);
	while (poll(&readable, 1, 0) == 0) {
		assert_true(lull_clock_ns() - begin_ns < STAND_WAIT_NS);
		lull_receiver_poll(receiver, lull_clock_ns(), &rest_ns);
	}
	assert_int_equal(rest_ns, UINT64_MAX);
	image = stand_get(receiver, 0);
	assert_int_equal(poll(&readable, 1, 0), 0);
	stand_check_pixels(image, 1);
	lull_receiver_put(receiver, image);
	/* an open frame has a deadline */
	stand_send(fd, &sender, 2, lost_some);
	do
		lull_receiver_poll(receiver, lull_clock_ns(), &rest_ns);
	while (rest_ns == UINT64_MAX && lull_clock_ns() - begin_ns < STAND_WAIT_NS);
	assert_true(rest_ns != UINT64_MAX);
	close(fd);
	assert_int_equal(lull_receiver_close(receiver), 0);
	sender_free(&sender);
}

static bool
lost_end(uint32_t index)
{
	return index >= 20;
}

static bool
lost_begin(uint32_t index)
{
	return index < 20;
}

/* What waits in the queue was not late: a thread that was held up gives no frame up for it. */
TEST(own_loop__sees_no_silence_while_packets_wait)
{
	struct lull_receiver_config config = { .backend = "kernel-busy:lo",
					       .own_loop = true,
					       .unchecked = true };
	uint64_t rest_ns, later_ns = lull_clock_ns() + 10 * LULL_NS_PER_S, polls = 0;
	struct lull_camera_image *image = NULL;
	struct sender senders[2];
	struct lull_receiver *receiver = stand_open(&config);
	int fds[2];

	for (uint32_t i = 0; i < 2; i++) {
		uint16_t port = stand_free_port();
		struct lull_camera_stream stream;

		sender_init(&senders[i], "gvsp", LULL_PIXEL_MONO8, 1000, 200);
		fds[i] = stand_socket("127.0.0.1", "127.0.0.1", port);
		stream = stand_stream(&senders[i], port);
		stand_add(receiver, &stream);
	}
	stand_start(receiver);
	for (uint32_t i = 0; i < 2; i++) /* begun, whichever is asked first later on */
		stand_send(fds[i], &senders[i], 1, lost_end);
	while (stand_counters(receiver, 0).pkts + stand_counters(receiver, 1).pkts < 40)
		lull_receiver_poll(receiver, lull_clock_ns(), &rest_ns);
	for (uint32_t i = 0; i < 2; i++)
		stand_send(fds[i], &senders[i], 1, lost_begin);
	for (uint32_t frames = 0; frames < 2;) {
		lull_receiver_poll(receiver, later_ns, &rest_ns);
		assert_true(++polls < 1000000);
		if (lull_receiver_get(receiver, LULL_CAMERA_ANY, &image, 0) != 0 || image == NULL)
			continue;
		assert_int_equal(image->frame.reason, LULL_FRAME_COMPLETE);
		lull_receiver_put(receiver, image);
		frames++;
	}
	assert_int_equal(lull_receiver_close(receiver), 0);
	for (uint32_t i = 0; i < 2; i++) {
		close(fds[i]);
		sender_free(&senders[i]);
	}
}

static void *
wake_run(void *arg)
{
	usleep(20000);
	lull_receiver_wake(arg);
	return NULL;
}

TEST(wake__ends_a_get)
{
	struct lull_camera_image *image;
	struct world world;
	pthread_t thread;

	world_open(&world, "kernel:lo", NULL, STAND_WAIT_NS);
	stand_start(world.receiver);
	assert_int_equal(pthread_create(&thread, NULL, wake_run, world.receiver), 0);
	assert_int_equal(lull_receiver_get(world.receiver, 0, &image, UINT64_MAX), 0);
	assert_null(image);
	pthread_join(thread, NULL);
	/* one that came before is not lost */
	lull_receiver_wake(world.receiver);
	assert_int_equal(lull_receiver_get(world.receiver, 0, &image, UINT64_MAX), 0);
	assert_null(image);
	/* and it is used up */
	assert_int_equal(lull_receiver_get(world.receiver, 0, &image, LULL_NS_PER_MS), 0);
	world_close(&world);
}

TEST(change__takes_another_governor)
{
	struct lull_idle_limits limits = { .rest_ns = 20 * LULL_NS_PER_US };
	struct lull_camera_image *image;
	struct world world;

	world_open(&world, "kernel-busy:lo", NULL, STAND_WAIT_NS);
	stand_start(world.receiver);
	assert_int_equal(lull_receiver_change(world.receiver, "lazy", NULL), -EINVAL);
	assert_int_equal(lull_receiver_change(world.receiver, "fixed", &limits), 0);
	stand_send(world.fd, &world.sender, 1, NULL);
	image = stand_get(world.receiver, 0);
	stand_check_pixels(image, 1);
	lull_receiver_put(world.receiver, image);
	world_close(&world);
	world_open(&world, "kernel:lo", NULL, STAND_WAIT_NS);
	assert_int_equal(lull_receiver_change(world.receiver, "fixed", NULL), -ENOTSUP);
	world_close(&world);
}

/* A picture that the receive buffer cannot hold is found before it is lost. */
TEST(start__refuses_what_cannot_work)
{
	struct lull_receiver_config config = { .backend = "kernel:lo", .socket_bytes = 65536 };
	struct lull_error error = { "" };
	struct lull_finding findings[16];
	struct lull_camera_stream stream;
	struct lull_receiver *receiver;
	struct sender sender;
	bool found = false;
	uint32_t count;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 1920, 1280);
	stream = stand_stream(&sender, stand_free_port());
	receiver = stand_open(&config);
	stand_add(receiver, &stream);
	count = lull_receiver_check(receiver, findings, COUNT(findings));
	assert_true(count > 0 && count <= COUNT(findings));
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(findings[i].grade == 0, findings[i].remedy[0] == '\0');
		found |= findings[i].grade == 2 &&
			 strcmp(findings[i].subject, "receive buffer") == 0;
	}
	assert_true(found);
	assert_int_equal(lull_receiver_start(receiver, &error), -EPERM);
	assert_non_null(strstr(error.text, "rmem_max"));
	assert_int_equal(lull_receiver_close(receiver), 0);
	sender_free(&sender);
}
