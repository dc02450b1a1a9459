/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Speed trial: does the rest cost speed, or is there merely less (or more) to carry?
 *
 * Both look alike from the receiving end, so it is tried: spans with the rest as it is and spans
 * with half of it take turns: short long, long short, ... so that a load that only falls or only
 * rises does not win every pair. Where every pair moved more with the short rest, the rest costs
 * speed; the first that did not ends the trial. Chance alone wins once in 32.
 * Memory: one fixed struct.
 */
#ifndef LULL_SPEED_TRIAL_H
#define LULL_SPEED_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#define LULL_SPEED_TRIAL_PAIRS 5

enum lull_trial_outcome {
	LULL_TRIAL_OPEN,  /* none runs, or not over yet */
	LULL_TRIAL_FREE,  /* just over: the rest costs nothing */
	LULL_TRIAL_COSTS, /* just over: a shorter rest carries more */
};

struct lull_speed_trial {
	uint64_t span_ns;
	uint64_t begin_ns;              /* of this span */
	uint64_t bytes;                 /* in it so far */
	uint64_t quiet_ns;              /* no trial begins before */
	uint64_t pause_ns;              /* after one that found nothing; doubles */
	double short_speed, long_speed; /* of the last of each */
	uint32_t spans;                 /* that are over */
	uint32_t wins;
	bool running;
};

void lull_speed_trial_init(struct lull_speed_trial *trial);
/** Begin one of spans of @p span_ns, unless one runs or the last ones found nothing. */
bool lull_speed_trial_begin(struct lull_speed_trial *trial, uint64_t now_ns, uint64_t span_ns);
void lull_speed_trial_stop(struct lull_speed_trial *trial);
/** Is this a span of the short rest? Only while one runs. */
bool lull_speed_trial_is_short(const struct lull_speed_trial *trial);
/** @p bytes moved since the last call. A pair counts when it differs by more than the tolerance. */
enum lull_trial_outcome lull_speed_trial_add(struct lull_speed_trial *trial, uint64_t now_ns,
					     uint64_t bytes, uint32_t tolerance_ppm);

#endif
