/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <string.h>

void
lull_sim_watch_init(struct lull_sim_watch *watch, bool wanted, uint64_t now_ns)
{
	memset(watch, 0, sizeof(*watch));
	watch->wanted = wanted;
	watch->realtime = wanted;
	watch->look_ns = now_ns + LULL_SIM_WATCH_NS;
	for (uint32_t i = 0; i < LULL_SIM_WATCH_WINDOW; i++)
		watch->at_ns[i] = now_ns;
}

/* Did it use too much of its core since the oldest look of the window? */
static bool
watch_busy(struct lull_sim_watch *watch, uint64_t now_ns, uint64_t cpu_ns)
{
	uint32_t place = (uint32_t)(watch->look_count++ % LULL_SIM_WATCH_WINDOW);
	uint64_t span_ns = now_ns - watch->at_ns[place];
	uint64_t used_ns = cpu_ns - watch->cpu_ns[place];

	watch->at_ns[place] = now_ns;
	watch->cpu_ns[place] = cpu_ns;
	if (watch->look_count < LULL_SIM_WATCH_WINDOW)
		return false;
	return used_ns * LULL_PPM > span_ns * LULL_SIM_WATCH_BUSY_PPM;
}

bool
lull_sim_watch_look(struct lull_sim_watch *watch, uint64_t now_ns, uint64_t cpu_ns)
{
	bool good = !watch_busy(watch, now_ns, cpu_ns) && watch->rested;

	watch->rested = false;
	watch->look_ns = now_ns + LULL_SIM_WATCH_NS;
	watch->calm_count = good ? watch->calm_count + 1 : 0;
	if (watch->realtime && !good) {
		watch->realtime = false;
		watch->leave_count++;
		return true;
	}
	if (watch->calm_count >= LULL_SIM_WATCH_CALM)
		watch->realtime = true;
	return false;
}
