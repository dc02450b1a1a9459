/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <string.h>

void
lull_sim_watch_init(struct lull_sim_watch *watch, bool wanted, uint64_t now_ns)
{
	memset(watch, 0, sizeof(*watch));
	watch->wanted = wanted;
	watch->realtime = wanted;
	watch->sample_ns = now_ns + LULL_SIM_WATCH_NS;
	watch->seen_ns = watch->enter_ns = now_ns;
	for (uint32_t i = 0; i < LULL_SIM_WATCH_WINDOW; i++)
		watch->at_ns[i] = now_ns;
}

/* Did it use too much of its core since the oldest sample of the window? */
static bool
watch_busy(struct lull_sim_watch *watch, uint64_t now_ns, uint64_t cpu_ns)
{
	uint32_t place = (uint32_t)(watch->sample_count++ % LULL_SIM_WATCH_WINDOW);
	uint64_t span_ns = now_ns - watch->at_ns[place];
	uint64_t used_ns = cpu_ns - watch->cpu_ns[place];

	watch->at_ns[place] = now_ns;
	watch->cpu_ns[place] = cpu_ns;
	if (watch->sample_count < LULL_SIM_WATCH_WINDOW)
		return false;
	return used_ns * LULL_PPM > span_ns * LULL_SIM_WATCH_BUSY_PPM;
}

/* Out, and longer each time if it came back in vain. */
static void
watch_leave(struct lull_sim_watch *watch, uint64_t now_ns)
{
	watch->realtime = false;
	watch->leave_count++;
	watch->quiet_begin_ns = 0;
	if (watch->leave_count == 1 || now_ns - watch->enter_ns >= LULL_SIM_WATCH_STAY_NS)
		watch->quiet_ns = LULL_SIM_WATCH_QUIET_NS;
	else
		watch->quiet_ns = LULL_MIN(2 * watch->quiet_ns, LULL_SIM_WATCH_QUIET_NS_MAX);
}

static void
watch_consider(struct lull_sim_watch *watch, uint64_t now_ns, bool quiet)
{
	if (!quiet) {
		watch->quiet_begin_ns = 0;
		return;
	}
	if (watch->quiet_begin_ns == 0)
		watch->quiet_begin_ns = now_ns;
	if (now_ns - watch->quiet_begin_ns < watch->quiet_ns)
		return;
	watch->realtime = true;
	watch->enter_ns = now_ns;
}

bool
lull_sim_watch_sample(struct lull_sim_watch *watch, uint64_t now_ns, uint64_t cpu_ns)
{
	bool busy = watch_busy(watch, now_ns, cpu_ns), rested = watch->rested;
	bool half = (cpu_ns - watch->seen_cpu_ns) * LULL_PPM >
		    (now_ns - watch->seen_ns) * LULL_SIM_WATCH_QUIET_PPM;

	watch->rested = false;
	watch->seen_ns = now_ns;
	watch->seen_cpu_ns = cpu_ns;
	watch->sample_ns = now_ns + LULL_SIM_WATCH_NS;
	if (!watch->realtime) {
		watch_consider(watch, now_ns, rested && !half);
		return false;
	}
	if (busy || (!rested && half))
		watch_leave(watch, now_ns);
	return !watch->realtime;
}
