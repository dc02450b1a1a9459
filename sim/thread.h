/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Thread: a polling loop in virtual time, iteration by iteration as engine/loop/loop.c has it.
 *
 * The idle object is the one that runs in live loops; this only supplies what
 * the iteration and the rest would have taken.
 */
#ifndef LULL_SIM_THREAD_H
#define LULL_SIM_THREAD_H

#include <lull/idle.h>

#include "idle/share.h"

#include "cpu.h"
#include "feed.h"
#include "machine.h"
#include "watch.h"

/** Since the mark. */
struct lull_sim_stats {
	uint64_t begin_ns;
	uint64_t cpu_ns;
	uint64_t stolen_ns;           /* while it was at work */
	uint64_t waited_ns;           /* while the competitor had the core */
	uint64_t competitor_ns;       /* it had before the mark */
	uint64_t realtime_ns, leaves; /* time in its real-time class, times it was taken out */
	uint64_t delivered, bytes;
	uint64_t samples, samples_feasible; /* at the verdict, every 10 ms */
	uint64_t active_ns, cstate_ns[LULL_SIM_CSTATES_MAX];
	uint64_t offered, lost; /* counters of the rings at the mark */
	struct lull_idle_counters counters;
	struct lull_share_counters share; /* at the mark */
	struct lull_histogram latency, added;
};

struct lull_sim_thread {
	uint64_t now_ns; /* when its next iteration begins */
	struct lull_idle *idle;
	void *idle_memory;
	const struct lull_sim_machine *machine;
	struct lull_sim_cpu *cpu;
	struct lull_sim_ideal ideal;
	uint32_t ring_count;
	struct lull_sim_ring *rings; /* of shared ones those whose losses it hears of */
	/*
	 * Shared rings: an iteration is two steps, so that others find the ring held in between.
	 */
	struct lull_share_member *share; /* NULL: its rings are its own */
	struct lull_sim_ring *shared;    /* all of them */
	bool polled;                     /* the first step is done */
	uint64_t begin_ns;               /* of it */
	uint32_t burst_pkts, round_pkts;
	bool wants_sizes;
	uint16_t queue_pkts[LULL_IDLE_QUEUES_MAX];
	uint64_t size_pkts, bytes, bytes_squared; /* of the iteration */
	uint64_t burst_ns[LULL_SIM_BURST_MAX + 1];
	uint64_t housekeeping_ns;
	uint64_t lost_seen;
	uint64_t vruntime_ns; /* for a shared core */
	uint64_t left_ns;     /* when it left the core to rest; 0: it did not */
	uint32_t late_ppm;
	uint64_t late_ns;
	struct lull_sim_ring *out; /* where it sends, NULL: packets end here */
	struct lull_sim_link *out_link;
	uint64_t out_room_ps; /* longest backlog of the link in front of it */
	struct lull_sim_sampler sampler;
	struct lull_sim_sampler interrupt, monitor;       /* from a packet to the thread it wakes */
	struct lull_sim_sampler beside_fifo, beside_fair; /* drawn from beside a competitor */
	struct lull_sim_watch watch;
	uint64_t used_ns; /* CPU time of its life */
	struct lull_prng fault;
	struct lull_sim_stats stats;
};

/**
 * One iteration and the rest after it, or with shared rings first the one and then the other; moves
 * now_ns on. 0 or -ENOMEM.
 */
int lull_sim_thread_iterate(struct lull_sim_thread *thread);
/** Measure from here. */
void lull_sim_thread_mark(struct lull_sim_thread *thread);
uint64_t lull_sim_thread_offered(const struct lull_sim_thread *thread);
uint64_t lull_sim_thread_lost(const struct lull_sim_thread *thread);

#endif
