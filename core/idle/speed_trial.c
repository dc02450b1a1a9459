/* SPDX-License-Identifier: BSD-3-Clause */
#include "speed_trial.h"

#include <lull/base.h>

#define PAUSE_NS_FIRST (500 * LULL_NS_PER_MS)
#define PAUSE_NS_LAST (8 * LULL_NS_PER_S)

void
lull_speed_trial_init(struct lull_speed_trial *trial)
{
	*trial = (struct lull_speed_trial){ .pause_ns = PAUSE_NS_FIRST };
}

bool
lull_speed_trial_begin(struct lull_speed_trial *trial, uint64_t now_ns, uint64_t span_ns)
{
	if (trial->running || now_ns < trial->quiet_ns)
		return false;
	trial->running = true;
	trial->span_ns = span_ns;
	trial->begin_ns = now_ns;
	trial->bytes = 0;
	trial->spans = 0;
	trial->wins = 0;
	return true;
}

void
lull_speed_trial_stop(struct lull_speed_trial *trial)
{
	trial->running = false;
}

bool
lull_speed_trial_is_short(const struct lull_speed_trial *trial)
{
	bool first = trial->spans % 2 == 0;

	return trial->spans / 2 % 2 == 0 ? first : !first;
}

/* A pair is over. */
static enum lull_trial_outcome
trial_judge(struct lull_speed_trial *trial, uint64_t now_ns, uint32_t tolerance_ppm)
{
	if (trial->short_speed > trial->long_speed * (LULL_PPM + tolerance_ppm) / LULL_PPM)
		trial->wins++;
	else /* one is enough: it does not cost speed each time */
		trial->spans = 2 * LULL_SPEED_TRIAL_PAIRS;
	if (trial->spans < 2 * LULL_SPEED_TRIAL_PAIRS)
		return LULL_TRIAL_OPEN;
	trial->running = false;
	if (trial->wins == LULL_SPEED_TRIAL_PAIRS) {
		trial->pause_ns = PAUSE_NS_FIRST;
		return LULL_TRIAL_COSTS;
	}
	trial->quiet_ns = now_ns + trial->pause_ns;
	trial->pause_ns = LULL_MIN(2 * trial->pause_ns, PAUSE_NS_LAST);
	return LULL_TRIAL_FREE;
}

enum lull_trial_outcome
lull_speed_trial_add(struct lull_speed_trial *trial, uint64_t now_ns, uint64_t bytes,
		     uint32_t tolerance_ppm)
{
	double speed;

	if (!trial->running)
		return LULL_TRIAL_OPEN;
	trial->bytes += bytes;
	if (now_ns < trial->begin_ns + trial->span_ns)
		return LULL_TRIAL_OPEN;
	speed = (double)trial->bytes / (double)(now_ns - trial->begin_ns);
	trial->begin_ns = now_ns;
	trial->bytes = 0;
	if (lull_speed_trial_is_short(trial))
		trial->short_speed = speed;
	else
		trial->long_speed = speed;
	if (++trial->spans % 2 != 0)
		return LULL_TRIAL_OPEN;
	return trial_judge(trial, now_ns, tolerance_ppm);
}
