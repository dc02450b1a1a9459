/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UMWAIT on the memory that the next received packet will change. Needs WAITPKG, and TSX to watch
 * more than one queue; a driver without it answers -ENOTSUP.
 *
 * How late such a rest ends cannot be measured: the core that would look on is the one that waits.
 * So nothing relies on it: a rest is no longer than what may pass unseen (core/idle/event_rest.h).
 */
#define ALLOW_EXPERIMENTAL_API /* power intrinsics, monitor addresses */
#include <errno.h>

#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <rte_power_intrinsics.h>

#include "rest_device.h"

static int
monitor_addresses(const struct lull_rest_device *device, struct rte_power_monitor_cond *conditions)
{
	for (uint32_t i = 0; i < device->queue_count; i++) {
		int rc = rte_eth_get_monitor_addr(device->queues[i].port_id,
						  device->queues[i].queue_id, &conditions[i]);

		if (rc != 0)
			return rc;
	}
	return 0;
}

static int
monitor_wait(const struct lull_rest_device *device, const struct rte_power_monitor_cond *conditions,
	     uint64_t end_tsc)
{
	if (device->queue_count == 1)
		return rte_power_monitor(conditions, end_tsc);
	return rte_power_monitor_multi(conditions, device->queue_count, end_tsc);
}

static int
monitor_probe(void *context)
{
	struct rte_power_monitor_cond conditions[LULL_IDLE_QUEUES_MAX];
	struct lull_rest_device *device = context;
	struct rte_cpu_intrinsics offers;

	int rc;

	rte_cpu_get_intrinsics_support(&offers);
	if (device->queue_count == 0 || !offers.power_monitor ||
	    (device->queue_count > 1 && !offers.power_monitor_multi))
		return -ENOTSUP;
	rc = monitor_addresses(device, conditions);
	/* Once, to the time that it is: what fails now would fail each time. */
	return rc != 0 ? rc : monitor_wait(device, conditions, rte_get_tsc_cycles());
}

/* Has the memory changed the way the driver waits for? */
static bool
monitor_met(const struct rte_power_monitor_cond *condition)
{
	uint64_t value;

	switch (condition->size) {
	case sizeof(uint8_t):
		value = *(const volatile uint8_t *)condition->addr;
		break;
	case sizeof(uint16_t):
		value = *(const volatile uint16_t *)condition->addr;
		break;
	case sizeof(uint32_t):
		value = *(const volatile uint32_t *)condition->addr;
		break;
	default:
		value = *(const volatile uint64_t *)condition->addr;
		break;
	}
	return condition->fn != NULL && condition->fn(value, condition->opaque) != 0;
}

static bool
monitor_any_met(const struct rte_power_monitor_cond *conditions, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (monitor_met(&conditions[i]))
			return true;
	}
	return false;
}

/* The kernel's limit, a spurious write or an abort ends a wait early, hence the loop. */
static enum lull_wake_reason
monitor_until(struct lull_rest_device *device, const struct rte_power_monitor_cond *conditions,
	      uint64_t end_tsc)
{
	while (!monitor_any_met(conditions, device->queue_count)) {
		if (__atomic_exchange_n(&device->kicked, false, __ATOMIC_SEQ_CST))
			return LULL_WAKE_KICK;
		if (rte_get_tsc_cycles() >= end_tsc)
			return LULL_WAKE_TIMER;
		if (monitor_wait(device, conditions, end_tsc) != 0)
			rte_pause();
	}
	return LULL_WAKE_PACKET;
}

static enum lull_wake_reason
monitor_run(void *context, uint64_t limit_ns)
{
	struct rte_power_monitor_cond conditions[LULL_IDLE_QUEUES_MAX];
	struct lull_rest_device *device = context;
	uint64_t end_tsc = lull_rest_end_tsc(limit_ns);

	__atomic_store_n(&device->monitor_lcore, rte_lcore_id() + 1, __ATOMIC_RELAXED);
	if (monitor_addresses(device, conditions) != 0)
		return LULL_WAKE_PACKET; /* poll */
	/* net_ring takes its reference value only now, after the loop's last poll. */
	if (lull_rest_device_recheck(device))
		return LULL_WAKE_PACKET;
	return monitor_until(device, conditions, end_tsc);
}

const struct lull_rest_way lull_rest_monitor = {
	.idle_state = LULL_IDLE_MONITOR,
	.summary = "the core waits for a write to the Rx ring (WAITPKG)",
	.probe = monitor_probe,
	.run = monitor_run,
	.lack = "the CPU has no WAITPKG, or no RTM for several queues, or the driver tells no "
		"address",
};
