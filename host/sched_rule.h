/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rule: when a resting thread may have a real-time class, and when it must leave it.
 *
 * A thread that rests most of the time is a textbook real-time task; one that does not starves
 * everything else on its CPU, the kernel's own threads too. So the class is lent: whoever looks at
 * the thread every few milliseconds tells the rule what it saw and gets an answer.
 *
 * Knows no clock and no system call: time and figures are handed in.
 * Threads: belongs to whoever samples. Memory: the caller's struct.
 */
#ifndef LULL_SCHED_RULE_H
#define LULL_SCHED_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

/* So often one looks at a thread in the class: two samples make less than 10 ms. */
#define SCHED_LOOK_NS (4 * LULL_NS_PER_MS)
/* And at one that does not rest and is therefore outside. */
#define SCHED_LOOK_SLOW_NS (50 * LULL_NS_PER_MS)
/* A thread that uses more than this share of so long a time leaves. */
#define SCHED_LEAVE_PPM 700000
#define SCHED_LEAVE_SPAN_NS (20 * LULL_NS_PER_MS)
/* One that wants more than this share and has not rested between two samples leaves, too. */
#define SCHED_RESTLESS_PPM 500000
/* To enter it must rest again and again for so long and use less than this share of each look. */
#define SCHED_ENTER_PPM 500000
#define SCHED_QUIET_FIRST_NS SCHED_LOOK_NS
/* Outside a rest may end as late as others let it: it is one as long as the next comes by then. */
#define SCHED_REST_APART_NS (20 * LULL_NS_PER_MS)
/* A new thread that has not entered by then does not rest: it is looked at less often. */
#define SCHED_FIRST_NS (500 * LULL_NS_PER_MS)
#define SCHED_QUIET_NS (50 * LULL_NS_PER_MS)
#define SCHED_CALM_MAX_NS (400 * LULL_NS_PER_MS)
/* Who stayed that long before it had to leave did not flap. */
#define SCHED_STAY_NS LULL_NS_PER_S
/* Of SCHED_DEADLINE: share of a period that the kernel grants, and how often it is set anew. */
#define SCHED_BUDGET_FIRST_PPM 500000
#define SCHED_BUDGET_MIN_PPM 100000
#define SCHED_BUDGET_MAX_PPM 800000
#define SCHED_BUDGET_NS (100 * LULL_NS_PER_MS)

#define SCHED_SAMPLES 8

/** What one look saw; all of it runs on since the thread began. */
struct sched_figures {
	uint64_t now_ns;
	uint64_t rests;   /* that gave the CPU away and have ended */
	uint64_t cpu_ns;  /* used */
	uint64_t wait_ns; /* ready to run, but another thread ran; 0: not known */
	bool asleep;      /* at rest right now; asked only when no rest has ended since */
};

struct sched_rule {
	bool inside;
	bool budgeted; /* the class throttles: shares are of the budget */
	struct sched_figures seen;
	uint64_t begun_ns;
	uint64_t entered_ns;
	uint64_t rested_ns;      /* the last sample that saw a rest; 0: none did */
	uint64_t quiet_begin_ns; /* outside: rests again and again since; 0: it does not */
	uint64_t quiet_need_ns;

	/* Inside: the samples of the last SCHED_LEAVE_SPAN_NS, oldest first from `first`. */
	struct sched_figures samples[SCHED_SAMPLES];
	uint32_t first, count;

	uint32_t budget_ppm;
	uint64_t budget_ns; /* when it was reckoned last */
	uint64_t budget_cpu_ns;
};

/** A thread that nobody has looked at yet; it is outside. */
void sched_rule_init(struct sched_rule *rule, bool budgeted, const struct sched_figures *figures);
/** It is in the class already, by somebody else's doing. */
void sched_rule_enter(struct sched_rule *rule, const struct sched_figures *figures);
/** One look. Returns whether the thread is to be in the class from now on. */
bool sched_rule_sample(struct sched_rule *rule, const struct sched_figures *figures);
/** When to look again, from the last sample on. */
uint64_t sched_rule_next_ns(const struct sched_rule *rule);

#endif
