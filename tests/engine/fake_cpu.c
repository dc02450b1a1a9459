/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* power intrinsics */
#include "fake_cpu.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_cycles.h>
#include <rte_power_intrinsics.h>

#include <lull/base.h>

struct fake_cpu fake_cpu;
static uint32_t woken; /* counts wake-ups */

void
fake_cpu_anew(void)
{
	memset(&fake_cpu, 0, sizeof(fake_cpu));
	fake_cpu.pause = fake_cpu.monitor = fake_cpu.multi = true;
	fake_cpu.limit_ns = 50 * LULL_NS_PER_US;
}

void __wrap_rte_cpu_get_intrinsics_support(struct rte_cpu_intrinsics *intrinsics);
void
__wrap_rte_cpu_get_intrinsics_support(struct rte_cpu_intrinsics *intrinsics)
{
	memset(intrinsics, 0, sizeof(*intrinsics));
	intrinsics->power_pause = FAKE_GET(fake_cpu, pause);
	intrinsics->power_monitor = FAKE_GET(fake_cpu, monitor);
	intrinsics->power_monitor_multi = FAKE_GET(fake_cpu, multi);
}

/* ---- waits ---- */

/* Until when this wait may last. */
static uint64_t
wait_end_tsc(uint64_t end_tsc)
{
	uint64_t limit_ns = FAKE_GET(fake_cpu, limit_ns);
	uint64_t limit_tsc =
		rte_get_tsc_cycles() + limit_ns * (rte_get_tsc_hz() / 1000000) / LULL_NS_PER_US;

	return limit_ns != 0 && limit_tsc < end_tsc ? limit_tsc : end_tsc;
}

static int
wait_refused(uint32_t *calls)
{
	uint32_t call = __atomic_add_fetch(calls, 1, __ATOMIC_SEQ_CST);

	return call > FAKE_GET(fake_cpu, refuses_after) ? FAKE_GET(fake_cpu, refuses) : 0;
}

static uint64_t
wait_value(const struct rte_power_monitor_cond *condition)
{
	switch (condition->size) {
	case 1:
		return *(const volatile uint8_t *)condition->addr;
	case 2:
		return *(const volatile uint16_t *)condition->addr;
	case 4:
		return *(const volatile uint32_t *)condition->addr;
	default:
		return *(const volatile uint64_t *)condition->addr;
	}
}

static bool
wait_met(const struct rte_power_monitor_cond *conditions, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (conditions[i].fn(wait_value(&conditions[i]), conditions[i].opaque) != 0)
			return true;
	}
	return false;
}

static void
wait_for_write(const struct rte_power_monitor_cond *conditions, uint32_t count, uint64_t end_tsc)
{
	uint32_t seen = __atomic_load_n(&woken, __ATOMIC_SEQ_CST);

	__atomic_store_n(&fake_cpu.addresses, count, __ATOMIC_SEQ_CST);
	if (fake_cpu.before != NULL)
		fake_cpu.before();
	if (FAKE_GET(fake_cpu, spurious) > 0) {
		__atomic_fetch_sub(&fake_cpu.spurious, 1, __ATOMIC_SEQ_CST);
		return;
	}
	end_tsc = wait_end_tsc(end_tsc);
	while (!wait_met(conditions, count) && rte_get_tsc_cycles() < end_tsc &&
	       __atomic_load_n(&woken, __ATOMIC_SEQ_CST) == seen)
		sched_yield();
}

int __wrap_rte_power_pause(uint64_t tsc);
int
__wrap_rte_power_pause(uint64_t tsc)
{
	int rc = wait_refused(&fake_cpu.pauses);

	if (rc != 0)
		return rc;
	tsc = wait_end_tsc(tsc);
	while (rte_get_tsc_cycles() < tsc)
		;
	return 0;
}

int __wrap_rte_power_monitor(const struct rte_power_monitor_cond *condition, uint64_t tsc);
int
__wrap_rte_power_monitor(const struct rte_power_monitor_cond *condition, uint64_t tsc)
{
	int rc = wait_refused(&fake_cpu.waits);

	if (rc == 0)
		wait_for_write(condition, 1, tsc);
	return rc;
}

int __wrap_rte_power_monitor_multi(const struct rte_power_monitor_cond *conditions, uint32_t count,
				   uint64_t tsc);
int
__wrap_rte_power_monitor_multi(const struct rte_power_monitor_cond *conditions, uint32_t count,
			       uint64_t tsc)
{
	int rc = wait_refused(&fake_cpu.waits);

	if (rc == 0)
		wait_for_write(conditions, count, tsc);
	return rc;
}

int __wrap_rte_power_monitor_wakeup(unsigned int lcore_id);
int
__wrap_rte_power_monitor_wakeup(unsigned int lcore_id)
{
	__atomic_store_n(&fake_cpu.lcore_id, lcore_id, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&fake_cpu.wakeups, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&woken, 1, __ATOMIC_SEQ_CST);
	return 0;
}
