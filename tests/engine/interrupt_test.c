/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rest by Rx interrupt, on virtio-user with vhost as its device: the one pair of virtual drivers
 * that has interrupts. A wake-up lost between arming and sleeping would cost the whole limit.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "idle/governor.h"
#include "engine/loop/rest_device.h"
#include "stand.h"

#define PINGS 20000
#define LIMIT_NS LULL_NS_PER_S
#define SKIP 77

static char socket_path[64];
static struct lull_port vhost, virtio;

/* ---- a governor that always waits for an interrupt ---- */

static void
await_init(void *state, const struct lull_idle_view *view)
{
	(void)state;
	(void)view;
}

static struct lull_rest
await_plan(void *state, const struct lull_idle_iteration *iteration)
{
	(void)state;
	return iteration->pkt_count > 0 ? lull_rest_none() :
					  (struct lull_rest){ .idle_state = LULL_IDLE_INTERRUPT,
							      .limit_ns = LIMIT_NS };
}

static const struct lull_idle_governor await = {
	.name = "await",
	.summary = "wait for an interrupt after every empty iteration",
	.init = await_init,
	.plan = await_plan,
	.wake = lull_governor_wake_none,
	.miss = lull_governor_miss_none,
	.verdict = lull_governor_verdict_none,
};

/* ---- the loop under test, at the virtio end ---- */

struct watch {
	uint64_t rests, kicks, timeouts;
	uint64_t missed; /* a rest timed out and the next iteration found packets */
	bool timed_out;
};

static void
watch(void *arg, const struct lull_iteration *iteration, const struct lull_rest *rest,
      const struct lull_wake *wake)
{
	struct watch *watch = arg;

	(void)rest;
	if (wake == NULL) {
		if (watch->timed_out && iteration->queue_pkts[0] > 0)
			LULL_COUNTER_ADD(watch->missed, 1);
		watch->timed_out = false;
		return;
	}
	watch->timed_out = wake->reason == LULL_WAKE_TIMER;
	if (wake->reason == LULL_WAKE_TIMER)
		LULL_COUNTER_ADD(watch->timeouts, 1);
	if (wake->reason == LULL_WAKE_KICK)
		LULL_COUNTER_ADD(watch->kicks, 1);
	LULL_COUNTER_ADD(watch->rests, 1);
}

static struct lull_loop *
run_loop(struct watch *seen, struct lull_forward_config *forward)
{
	struct lull_loop_config config = stand_loop("fwd0", 1, &virtio, forward);

	memset(seen, 0, sizeof(*seen));
	config.governor = &await;
	config.limits.rest_ns_max = LIMIT_NS;
	config.trace = watch;
	config.trace_arg = seen;
	return stand_run(&config);
}

/* ---- tests ---- */

TEST(interrupt__is_on_offer)
{
	struct lull_forward_config forward;
	struct watch seen;
	struct lull_loop *loop = run_loop(&seen, &forward);

	assert_true(virtio.interrupt);
	assert_int_equal(lull_loop_idle_state_probe(loop, LULL_IDLE_INTERRUPT), 0);
	assert_int_equal(lull_loop_idle_state_probe(loop, LULL_IDLE_SLEEP), 0);
	lull_loop_destroy(loop);
	/* And again: nothing of the first loop is left in the driver. */
	loop = run_loop(&seen, &forward);
	assert_int_equal(lull_loop_idle_state_probe(loop, LULL_IDLE_INTERRUPT), 0);
	lull_loop_destroy(loop);
}

/*
 * What the recheck receives is the next iteration's, not lost: no thread, every step by hand. This
 * case stands before those with traffic, which may leave an interrupt pending.
 */
TEST(recheck__keeps_what_it_received)
{
	const struct lull_loop_queue queue = { virtio.port_id, 0 };
	struct rte_mbuf *pkt = stand_frame(stand_pool(), 1);
	static struct lull_rest_device device;
	uint64_t begin_ns = lull_clock_ns();

	lull_rest_device_init(&device, &queue, 1, 32);
	assert_int_equal(lull_rest_interrupt.probe(&device), 0);
	STAND_WAIT(rte_eth_tx_burst(vhost.port_id, 0, &pkt, 1) == 1);
	/* The packet came before the rest; without the recheck this would take a minute. */
	assert_int_equal(lull_rest_interrupt.run(&device, 60 * LULL_NS_PER_S), LULL_WAKE_PACKET);
	assert_true(lull_clock_ns() - begin_ns < 59 * LULL_NS_PER_S);
	assert_int_equal(device.stash_count, 1);
	assert_int_equal(stand_take(device.stash[0], false), 1);
	device.stash_count = 0;
	/* And with nothing there it does wait. */
	assert_int_equal(lull_rest_interrupt.run(&device, LULL_NS_PER_MS), LULL_WAKE_TIMER);
	lull_rest_device_kick(&device);
	assert_int_equal(lull_rest_interrupt.run(&device, 60 * LULL_NS_PER_S), LULL_WAKE_KICK);
	lull_rest_device_fini(&device);
}

/* One packet at a time, each sent when the last is back: the loop arms anew for every one. */
TEST(interrupt__no_wakeup_is_lost)
{
	struct lull_forward_config forward;
	struct watch seen;
	struct lull_loop *loop = run_loop(&seen, &forward);

	for (uint32_t i = 0; i < PINGS; i++) {
		struct rte_mbuf *pkt = stand_frame(stand_pool(), i);

		STAND_WAIT(rte_eth_tx_burst(vhost.port_id, 0, &pkt, 1) == 1);
		/* Every other packet a little later: into the gap, or into the sleep. */
		STAND_WAIT(rte_eth_rx_burst(vhost.port_id, 0, &pkt, 1) == 1);
		assert_int_equal(stand_take(pkt, false), i);
		for (volatile uint32_t spin = 0; spin < i % 997 * 10; spin++)
			;
	}
	lull_loop_stop(loop);
	print_message("   %d packets, %llu rests, %llu timed out\n", PINGS,
		      (unsigned long long)seen.rests, (unsigned long long)seen.timeouts);
	assert_true(seen.rests > PINGS / 10);
	assert_int_equal(seen.missed, 0);
	lull_loop_destroy(loop);
}

/* Commands end the rest: no packet comes and the limit is far away. */
TEST(interrupt__a_command_ends_the_rest)
{
	struct lull_loop_snapshot snapshot;
	struct lull_forward_config forward;
	struct watch seen;
	struct lull_loop *loop = run_loop(&seen, &forward);

	for (uint32_t i = 1; i <= 100; i++) {
		assert_int_equal(lull_loop_post_mark(loop, i), 0);
		STAND_WAIT((lull_loop_snapshot(loop, &snapshot), snapshot.window == i));
	}
	lull_loop_stop(loop);
	/* 100 commands in at most a few timeouts, where each would have cost one. */
	assert_true(seen.timeouts < 20);
	assert_true(seen.kicks > 50);
	lull_loop_destroy(loop);
}

static void *
send_later(void *arg)
{
	struct rte_mbuf *pkt = arg;

	usleep(3000);
	while (rte_eth_tx_burst(vhost.port_id, 0, &pkt, 1) == 0)
		;
	return NULL;
}

/* The thread keeps the core, sees the packet and waits for its interrupt: so late it was. */
TEST(watch__tells_when_the_packet_came)
{
	const struct lull_loop_queue queue = { virtio.port_id, 0 };
	const struct lull_rest rest = { .idle_state = LULL_IDLE_INTERRUPT,
					.limit_ns = LULL_NS_PER_S,
					.watch = true };
	struct rte_mbuf *pkt = stand_frame(stand_pool(), 1);
	static struct lull_rest_device device;
	struct lull_wake wake;
	pthread_t sender;

	lull_rest_device_init(&device, &queue, 1, 32);
	assert_int_equal(lull_rest_interrupt.probe(&device), 0);
	/* One that is there already tells nothing. */
	STAND_WAIT(rte_eth_tx_burst(vhost.port_id, 0, &pkt, 1) == 1);
	lull_rest_run(&lull_rest_interrupt, &device, &rest, &wake);
	assert_int_equal(wake.reason, LULL_WAKE_PACKET);
	assert_int_equal(wake.packet_ns, 0);
	assert_int_equal(device.stash_count, 1);
	assert_int_equal(stand_take(device.stash[0], false), 1);
	device.stash_count = 0;

	pkt = stand_frame(stand_pool(), 2);
	assert_int_equal(pthread_create(&sender, NULL, send_later, pkt), 0);
	lull_rest_run(&lull_rest_interrupt, &device, &rest, &wake);
	assert_int_equal(pthread_join(sender, NULL), 0);
	assert_int_equal(wake.reason, LULL_WAKE_PACKET);
	assert_in_range(wake.packet_ns, wake.begin_ns + 1000000, wake.end_ns);
	print_message("   its interrupt was seen after %llu ns\n",
		      (unsigned long long)(wake.end_ns - wake.packet_ns));
	assert_int_equal(device.stash_count, 1);
	assert_int_equal(stand_take(device.stash[0], false), 2);
	device.stash_count = 0;

	/* Nobody comes. */
	wake.rest.limit_ns = LULL_NS_PER_MS;
	lull_rest_run(&lull_rest_interrupt, &device, &wake.rest, &wake);
	assert_int_equal(wake.reason, LULL_WAKE_TIMER);
	assert_int_equal(wake.packet_ns, 0);
	lull_rest_device_fini(&device);
}

/* An interrupt that nobody waited for, at the time it comes: before the watch, or during it. */
static int stale_fd;

static void *
send_after_stale(void *arg)
{
	usleep(3000);
	if (stale_fd >= 0)
		eventfd_write(stale_fd, 1);
	usleep(3000);
	return send_later(arg);
}

/* What a watch of half a second makes of a packet whose own interrupt never comes. */
static void
watch_withheld(struct lull_rest_device *device, struct lull_wake *wake, uint64_t number)
{
	const struct lull_rest rest = { .idle_state = LULL_IDLE_INTERRUPT,
					.limit_ns = 500 * LULL_NS_PER_MS,
					.watch = true };
	struct rte_mbuf *pkt = stand_frame(stand_pool(), number);
	pthread_t sender;

	assert_int_equal(pthread_create(&sender, NULL, send_after_stale, pkt), 0);
	lull_rest_run(&lull_rest_interrupt, device, &rest, wake);
	assert_int_equal(pthread_join(sender, NULL), 0);
	if (device->stash_count == 0)
		assert_true(lull_rest_device_recheck(device));
	assert_int_equal(device->stash_count, 1);
	assert_int_equal(stand_take(device->stash[0], false), number);
	device->stash_count = 0;
}

/* A stale interrupt is none of the packet that is seen next, however late that packet's own is. */
TEST(watch__takes_no_stale_interrupt_for_the_packet)
{
	const struct lull_loop_queue queue = { virtio.port_id, 0 };
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int own_fd = rte_eth_dev_rx_intr_ctl_q_get_fd(virtio.port_id, 0);
	static struct lull_rest_device device;
	struct lull_wake wake;
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	lull_rest_device_init(&device, &queue, 1, 32);
	assert_int_equal(lull_rest_interrupt.probe(&device), 0);
	assert_int_equal(epoll_ctl(device.epoll_fd, EPOLL_CTL_ADD, fd, &event), 0);
	assert_int_equal(epoll_ctl(device.epoll_fd, EPOLL_CTL_DEL, own_fd, NULL), 0);

	eventfd_write(fd, 1);
	stale_fd = -1;
	watch_withheld(&device, &wake, 1);
	assert_int_equal(wake.reason, LULL_WAKE_TIMER);
	assert_true(wake.packet_ns != 0);
	assert_true(wake.end_ns - wake.packet_ns >= 500 * LULL_NS_PER_MS);

	/* one that comes while it looks: nobody knows of which packet the next is */
	stale_fd = fd;
	watch_withheld(&device, &wake, 2);
	assert_int_equal(wake.packet_ns, 0);
	lull_rest_device_fini(&device);
	close(fd);
}

/* ---- vhost first, then virtio-user connects to it ---- */

static int
setup(void **state)
{
	const struct lull_port_config config = {
		.queues = 1, .ring_pkts = 256, .burst_pkts = 32, .interrupt = true
	};
	struct lull_error error = { "" };
	char vdev[128], args[128];
	const char *const vdevs[] = { vdev, NULL };
	uint16_t port_id;

	(void)state;
	snprintf(socket_path, sizeof(socket_path), "/tmp/lull-interrupt-test-%d.sock", getpid());
	snprintf(vdev, sizeof(vdev), "net_vhost0,iface=%s", socket_path);
	snprintf(args, sizeof(args), "path=%s", socket_path);
	if (stand_start(vdevs) != 0)
		return -1;
	if (lull_port_open(0, &config, &vhost, &error) != 0 ||
	    rte_eal_hotplug_add("vdev", "net_virtio_user0", args) != 0 ||
	    rte_eth_dev_get_port_by_name("net_virtio_user0", &port_id) != 0 ||
	    lull_port_open(port_id, &config, &virtio, &error) != 0) {
		print_message("skipped: needs virtio-user over vhost: %s\n", error.text);
		exit(SKIP);
	}
	STAND_WAIT(lull_port_link_up(&vhost) && lull_port_link_up(&virtio));
	return 0;
}

static int
teardown(void **state)
{
	unlink(socket_path);
	return stand_stop(state);
}

TEST_GROUP(setup, teardown);
