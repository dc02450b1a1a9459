/* SPDX-License-Identifier: BSD-3-Clause */
#include "phase.h"

#include <lull/base.h>

/* Awake so long before a frame's end is expected at the latest. */
#define MARGIN_NS_MIN (50 * LULL_NS_PER_US)
#define JITTER_SHARE 4
#define JITTER_WEIGHT_BITS 3
/* A step that is an eighth away from the period is a new one. */
#define PERIOD_AWAY 8
#define LEFT_OUT_MAX 4
/* So many steps in a row that leave periods out are no losses: it is the period that is wrong. */
#define ALWAYS_LEFT_OUT 4
/* The shortest span and the fastest rate fade by a 32nd per frame, lest one odd frame counts for
 * ever. */
#define FADE_BITS 5
/* A camera that is silent for so many periods is off, or waits for a trigger. */
#define SILENT_PERIODS 3
/* With nothing known: look so often. */
#define LOOK_NS (100 * LULL_NS_PER_US)
#define LOOK_NS_MAX LULL_NS_PER_MS

void
lull_phase_begin(struct lull_phase *phase, uint64_t now_ns)
{
	phase->open = true;
	phase->first_ns = now_ns;
	phase->news_ns = now_ns;
	phase->bytes = 0;
	phase->gap_ns = 0;
}

static void
phase_gap(struct lull_phase *phase, uint64_t now_ns)
{
	if (phase->open && now_ns > phase->news_ns)
		phase->gap_ns = LULL_MAX(phase->gap_ns, now_ns - phase->news_ns);
}

void
lull_phase_news(struct lull_phase *phase, uint64_t now_ns, uint64_t bytes)
{
	phase_gap(phase, now_ns);
	phase->bytes += bytes;
	phase->news_ns = now_ns;
}

/* Lower at once, higher slowly; 0 is not known yet. */
static uint64_t
phase_lowest(uint64_t known, uint64_t seen)
{
	if (known == 0 || seen < known)
		return seen;
	return LULL_MIN(seen, known + (known >> FADE_BITS) + 1);
}

/* Frames that were lost or incomplete leave out periods; that does not change them. */
static uint64_t
phase_one_period(const struct lull_phase *phase, uint64_t step_ns)
{
	uint64_t left_ns = step_ns;

	for (uint32_t i = 0; i < LEFT_OUT_MAX && left_ns > phase->period_ns + phase->period_ns / 2;
	     i++)
		left_ns -= phase->period_ns;
	return left_ns;
}

static void
phase_period(struct lull_phase *phase, uint64_t step_ns)
{
	uint64_t one_ns = phase_one_period(phase, step_ns);
	uint64_t away_ns =
		one_ns > phase->period_ns ? one_ns - phase->period_ns : phase->period_ns - one_ns;

	phase->left_out = one_ns == step_ns ? 0 : phase->left_out + 1;
	if (phase->period_ns == 0 || phase->left_out == ALWAYS_LEFT_OUT ||
	    away_ns > phase->period_ns / PERIOD_AWAY) {
		phase->period_ns = step_ns;
		phase->jitter_ns = step_ns / PERIOD_AWAY;
		return;
	}
	phase->jitter_ns += away_ns >> JITTER_WEIGHT_BITS;
	phase->jitter_ns -= phase->jitter_ns >> JITTER_WEIGHT_BITS;
	if (one_ns > phase->period_ns)
		phase->period_ns += away_ns >> JITTER_WEIGHT_BITS;
	else
		phase->period_ns -= away_ns >> JITTER_WEIGHT_BITS;
}

void
lull_phase_end(struct lull_phase *phase, uint64_t now_ns, uint64_t bytes, bool complete)
{
	uint64_t span_ns = now_ns - phase->first_ns;
	bool open = phase->open;

	phase_gap(phase, now_ns);
	phase->open = false;
	phase->news_ns = LULL_MAX(phase->news_ns, now_ns);
	/* An incomplete frame ends when it is given up: that says nothing of the sender. */
	if (!complete || !open)
		return;
	if (phase->last_ns != 0 && now_ns > phase->last_ns)
		phase_period(phase, now_ns - phase->last_ns);
	phase->last_ns = now_ns;
	phase->pause_ns = LULL_MAX(phase->gap_ns, phase->pause_ns - (phase->pause_ns >> FADE_BITS));
	/* A first packet that was fetched late makes the span short and the rate high: cautious. */
	phase->span_ns = phase_lowest(phase->span_ns, span_ns);
	if (bytes > 0 && span_ns < LULL_NS_PER_S)
		phase->ns_per_byte_16 =
			phase_lowest(phase->ns_per_byte_16,
				     LULL_MIN((span_ns << 16) / bytes, (uint64_t)UINT32_MAX));
}

/* Up to three quarters of a period: a receiver that was held up sees pauses that are none. */
uint64_t
lull_phase_silence_ns(const struct lull_phase *phase)
{
	uint64_t half_ns = phase->period_ns / 2;
	uint64_t paused_ns = phase->pause_ns + phase->pause_ns / 2;

	return LULL_CLAMP(paused_ns, half_ns, half_ns + half_ns / 2);
}

static uint64_t
phase_margin_ns(const struct lull_phase *phase)
{
	return LULL_CLAMP(JITTER_SHARE * phase->jitter_ns, MARGIN_NS_MIN,
			  LULL_MAX(phase->period_ns / PERIOD_AWAY, MARGIN_NS_MIN));
}

/* Within a frame: half of the time that what is left would take, for a sender that paused may hurry
 * now; then look again. A few more looks per frame, each half as long. */
static uint64_t
phase_open_ns(const struct lull_phase *phase, uint64_t bytes)
{
	uint64_t left = bytes > phase->bytes ? bytes - phase->bytes : 0;
	uint64_t left_ns;

	/* Both factors below 2^32 keep the product whole. */
	left_ns = LULL_MIN(left, (uint64_t)UINT32_MAX) * phase->ns_per_byte_16 >> 17;
	return phase->news_ns + (left_ns > MARGIN_NS_MIN ? left_ns : 0);
}

uint64_t
lull_phase_quiet_until_ns(const struct lull_phase *phase, uint64_t now_ns, uint64_t bytes)
{
	uint64_t look_ns = now_ns + LULL_CLAMP(phase->span_ns / 2, LOOK_NS / 2, LOOK_NS_MAX);
	uint64_t due_ns;

	if (phase->last_ns == 0)
		return phase->open ? now_ns : 0;
	if (phase->open)
		return bytes > 0 ? phase_open_ns(phase, bytes) : now_ns;
	if (phase->period_ns == 0)
		return look_ns;
	if (now_ns - phase->news_ns > SILENT_PERIODS * phase->period_ns)
		return 0;
	/* A frame that takes longer than a look cannot end unseen, whatever the period says. */
	due_ns = phase->last_ns + phase->period_ns - phase_margin_ns(phase);
	if (now_ns < due_ns)
		return due_ns;
	if (now_ns > due_ns + 2 * phase_margin_ns(phase))
		return look_ns;
	return phase->span_ns > 2 * LOOK_NS_MAX ? look_ns : now_ns;
}
