/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TPAUSE: the core waits in C0.2 until a time, or in C0.1 where the kernel forbids that
 * (umwait_control/enable_c02). It spares more power than PAUSE, and leaves more of the core to its
 * other thread.
 */
#define ALLOW_EXPERIMENTAL_API /* power intrinsics */
#include <errno.h>

#include <rte_cpuflags.h>
#include <rte_power_intrinsics.h>

#include "rest_device.h"

static int
tpause_probe(void *context)
{
	struct rte_cpu_intrinsics offers;

	(void)context;
	rte_cpu_get_intrinsics_support(&offers);
	return offers.power_pause ? rte_power_pause(rte_get_tsc_cycles()) : -ENOTSUP;
}

static enum lull_wake_reason
tpause_run(void *context, uint64_t limit_ns)
{
	uint64_t end_tsc = lull_rest_end_tsc(limit_ns);

	/* The kernel's limit ends it early, hence the loop. */
	do {
		if (rte_power_pause(end_tsc) != 0)
			return lull_rest_pause.run(context, limit_ns);
	} while (rte_get_tsc_cycles() < end_tsc);
	return LULL_WAKE_TIMER;
}

const struct lull_rest_way lull_rest_tpause = {
	.idle_state = LULL_IDLE_PAUSE,
	.summary = "the core waits in C0.2 until a time (TPAUSE); the thread keeps the core",
	.probe = tpause_probe,
	.run = tpause_run,
	.lack = "no TPAUSE: the CPU has no WAITPKG",
};
