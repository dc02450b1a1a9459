/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Thread quirks: how a simulated thread meets what cores and NICs do besides (quirks.h).
 */
#ifndef LULL_SIM_THREAD_QUIRKS_H
#define LULL_SIM_THREAD_QUIRKS_H

#include "thread.h"

/** What the driver says was lost, of @p lost: it may be of a time ago. */
uint64_t lull_sim_thread_lost_told(struct lull_sim_thread *thread, uint64_t lost);
/** What waking takes besides after a rest of @p idle_ns: deep idle states take longer. */
uint64_t lull_sim_thread_exit_ns(const struct lull_sim_thread *thread, uint64_t idle_ns);
/** From a packet that comes at @p packet_ns to what it wakes. */
uint64_t lull_sim_thread_event_late(struct lull_sim_thread *thread, enum lull_idle_state idle_state,
				    uint64_t packet_ns);
/** The interrupt of a packet has come. */
void lull_sim_thread_interrupted(struct lull_sim_thread *thread, enum lull_idle_state idle_state,
				 uint64_t word_ns);

#endif
