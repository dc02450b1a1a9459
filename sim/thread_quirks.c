/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread_quirks.h"

uint64_t
lull_sim_thread_lost_told(struct lull_sim_thread *thread, uint64_t lost)
{
	uint64_t lag_ns = thread->quirks->lag_ns;

	if (lag_ns == 0)
		return lost;
	if (thread->now_ns >= thread->told_ns) {
		thread->told_ns = thread->now_ns - thread->now_ns % lag_ns + lag_ns;
		thread->lost_told = lost;
	}
	return thread->lost_told;
}

uint64_t
lull_sim_thread_exit_ns(const struct lull_sim_thread *thread, uint64_t idle_ns)
{
	return lull_sim_curve_at(&thread->quirks->exit, idle_ns);
}

uint64_t
lull_sim_thread_event_late(struct lull_sim_thread *thread, enum lull_idle_state idle_state,
			   uint64_t packet_ns)
{
	const struct lull_sim_machine *machine = thread->machine;
	bool interrupt = idle_state == LULL_IDLE_INTERRUPT;
	const struct lull_sim_curve *curve = interrupt ? &machine->interrupt : &machine->monitor;
	uint64_t late_ns = machine->event_ns, soonest_ns;

	if (curve->count > 0)
		late_ns = lull_sim_sampler_draw(interrupt ? &thread->interrupt : &thread->monitor);
	soonest_ns = thread->interrupt_ns + thread->quirks->gap_ns;
	if (interrupt && thread->interrupt_ns > 0 && packet_ns + late_ns < soonest_ns)
		late_ns = soonest_ns - packet_ns;
	return late_ns;
}

void
lull_sim_thread_interrupted(struct lull_sim_thread *thread, enum lull_idle_state idle_state,
			    uint64_t word_ns)
{
	if (idle_state == LULL_IDLE_INTERRUPT)
		thread->interrupt_ns = word_ns;
}
