/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules (each was someone's bug): an error while arming means "poll", not "sleep"; register
 * the files once; look at the queues again after arming; a second file ends the rest for commands.
 *
 * The files are watched edge triggered and never read: what the driver puts into them differs from
 * bus to bus, and an edge needs no reading.
 */
#define ALLOW_EXPERIMENTAL_API /* rte_eth_dev_conf_get */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_atomic.h>
#include <rte_ethdev.h>

#include "rest_device.h"

#define EVENTS_PER_LOOK 16

/* Disarm the first @p count queues. */
static void
interrupt_disarm(const struct lull_rest_device *device, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		rte_eth_dev_rx_intr_disable(device->queues[i].port_id, device->queues[i].queue_id);
}

/* All or none. */
static int
interrupt_arm(const struct lull_rest_device *device)
{
	for (uint32_t i = 0; i < device->queue_count; i++) {
		int rc = rte_eth_dev_rx_intr_enable(device->queues[i].port_id,
						    device->queues[i].queue_id);

		if (rc != 0) {
			interrupt_disarm(device, i);
			return rc;
		}
	}
	/* Armed before looked: drivers differ in whether they order it themselves. */
	rte_mb();
	return 0;
}

/* Ports opened without interrupts have no files; asking for them would log errors. */
static int
interrupt_configured(const struct lull_rest_device *device)
{
	for (uint32_t i = 0; i < device->queue_count; i++) {
		struct rte_eth_conf conf;
		int rc = rte_eth_dev_conf_get(device->queues[i].port_id, &conf);

		if (rc != 0)
			return rc;
		if (conf.intr_conf.rxq == 0)
			return -ENOTSUP;
	}
	return device->queue_count > 0 ? 0 : -ENOTSUP;
}

static int
interrupt_watch(struct lull_rest_device *device)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	device->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	device->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (device->epoll_fd < 0 || device->kick_fd < 0)
		return -errno;
	for (uint32_t i = 0; i < device->queue_count; i++) {
		int fd = rte_eth_dev_rx_intr_ctl_q_get_fd(device->queues[i].port_id,
							  device->queues[i].queue_id);

		if (fd < 0)
			return -ENOTSUP;
		/* Some drivers share one file between queues. */
		if (epoll_ctl(device->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

static int
interrupt_probe(void *context)
{
	struct lull_rest_device *device = context;
	int rc = interrupt_configured(device);

	if (rc != 0)
		return rc;
	rc = interrupt_arm(device);
	if (rc == 0)
		interrupt_disarm(device, device->queue_count);
	else if (rc != -EAGAIN) /* traffic at this very moment */
		return rc;
	if (device->epoll_fd >= 0)
		return 0;
	rc = interrupt_watch(device);
	if (rc != 0)
		lull_rest_device_fini(device);
	return rc;
}

/* Forget the interrupts that have come; true: there were some. */
static bool
interrupt_drain(const struct lull_rest_device *device)
{
	struct epoll_event events[EVENTS_PER_LOOK];
	int count = epoll_wait(device->epoll_fd, events, EVENTS_PER_LOOK, 0);
	bool some = count > 0;

	while (count == EVENTS_PER_LOOK)
		count = epoll_wait(device->epoll_fd, events, EVENTS_PER_LOOK, 0);
	return some;
}

/* Wait for either file; what has been seen is forgotten, so the next rest starts afresh. */
static enum lull_wake_reason
interrupt_wait(struct lull_rest_device *device, uint64_t limit_ns)
{
	struct pollfd files[2] = {
		{ .fd = device->epoll_fd, .events = POLLIN },
		{ .fd = device->kick_fd, .events = POLLIN },
	};
	struct timespec limit = {
		.tv_sec = (time_t)(limit_ns / LULL_NS_PER_S),
		.tv_nsec = (long)(limit_ns % LULL_NS_PER_S),
	};
	enum lull_wake_reason reason = LULL_WAKE_TIMER;
	int ready = ppoll(files, 2, &limit, NULL);
	eventfd_t kicks;

	if (ready < 0)
		return LULL_WAKE_KICK; /* a signal */
	if (files[1].revents != 0 && eventfd_read(device->kick_fd, &kicks) == 0)
		reason = LULL_WAKE_KICK;
	if (files[0].revents != 0) {
		interrupt_drain(device);
		reason = LULL_WAKE_PACKET;
	}
	return reason;
}

static enum lull_wake_reason
interrupt_run(void *context, uint64_t limit_ns)
{
	struct lull_rest_device *device = context;
	enum lull_wake_reason reason;

	if (interrupt_arm(device) != 0)
		return LULL_WAKE_PACKET; /* traffic is on its way: poll */
	if (lull_rest_device_recheck(device))
		reason = LULL_WAKE_PACKET;
	else
		reason = interrupt_wait(device, limit_ns);
	interrupt_disarm(device, device->queue_count);
	return reason;
}

/*
 * Look at the queues until a packet has come, which receives it into the stash. An interrupt that
 * comes before the packet is that of another one, which nobody waited for; as drivers mask an
 * interrupt that has come, the packet's own may not come any more, and nothing can be measured.
 * True: it has come already.
 */
static bool
interrupt_look(struct lull_rest_device *device, uint64_t end_ns, uint64_t *packet_ns)
{
	uint64_t looked_ns, look_ns = lull_clock_ns();

	do {
		bool come = interrupt_drain(device);

		looked_ns = look_ns;
		look_ns = lull_clock_ns();
		if (lull_rest_device_recheck(device)) {
			*packet_ns = looked_ns;
			return come;
		}
		if (come)
			return false;
	} while (look_ns < end_ns);
	return false;
}

/*
 * Look at the queues instead of sleeping, armed all the same: a packet came after the last look
 * that found none. What looking receives waits in the stash for its own interrupt. One that is
 * left from a packet before would be taken for it: it is forgotten first.
 */
static enum lull_wake_reason
interrupt_watch_queues(void *context, uint64_t limit_ns, uint64_t *packet_ns)
{
	struct lull_rest_device *device = context;
	enum lull_wake_reason reason = LULL_WAKE_TIMER;
	uint64_t end_ns = lull_clock_ns() + limit_ns;

	if (interrupt_arm(device) != 0)
		return LULL_WAKE_PACKET;
	interrupt_drain(device);
	/* Who came before it was armed may raise none. */
	if (lull_rest_device_recheck(device) || interrupt_look(device, end_ns, packet_ns))
		reason = LULL_WAKE_PACKET;
	else if (*packet_ns != 0)
		reason = interrupt_wait(device, limit_ns);
	interrupt_disarm(device, device->queue_count);
	return reason;
}

const struct lull_rest_way lull_rest_interrupt = {
	.idle_state = LULL_IDLE_INTERRUPT,
	.summary = "the thread sleeps until a packet raises an Rx interrupt",
	.probe = interrupt_probe,
	.run = interrupt_run,
	.watch = interrupt_watch_queues,
	.lack = "a port without Rx interrupts, or a driver that has none",
};
