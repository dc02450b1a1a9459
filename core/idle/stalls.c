/* SPDX-License-Identifier: BSD-3-Clause */
#include "stalls.h"

#include <string.h>

#include <lull/base.h>

#define RECENT_NS (LULL_NS_PER_S / 4)
#define FADE_SHIFT 7
#define FADE_STEPS_MAX 1024
#define UNIT 256
#define KNOWN_NS LULL_NS_PER_S /* as if so long had been watched at least */
#define LATE_PKTS_MIN 10       /* with fewer expected at the budget, time tells better */

void
lull_stalls_init(struct lull_stalls *stalls, uint64_t memory_ns, uint64_t now_ns)
{
	memset(stalls, 0, sizeof(*stalls));
	stalls->step_ns = memory_ns >> FADE_SHIFT;
	stalls->fade_ns = now_ns;
}

void
lull_stall_watch_init(struct lull_stall_watch *watch, uint64_t now_ns)
{
	lull_stalls_init(&watch->rest, LULL_STALL_MEMORY_NS, now_ns);
	lull_stalls_init(&watch->poll, LULL_STALL_MEMORY_NS, now_ns);
	lull_stalls_init(&watch->recent, RECENT_NS, now_ns);
	watch->polling = false;
	watch->since_ns = now_ns;
	watch->fresh_ns = 0;
	watch->fresh_pkts = 0;
}

void
lull_stall_watch_forget(struct lull_stall_watch *watch, uint64_t now_ns)
{
	bool polling = watch->polling;

	lull_stall_watch_init(watch, now_ns);
	watch->polling = polling;
}

void
lull_stall_watch_turn_to(struct lull_stall_watch *watch, bool polling, uint64_t now_ns)
{
	if (watch->polling == polling)
		return;
	lull_stall_watch_fold(watch, now_ns);
	watch->polling = polling;
	lull_stalls_init(&watch->recent, RECENT_NS, now_ns);
}

static void
stalls_fade_step(struct lull_stalls *stalls)
{
	stalls->time_ns -= stalls->time_ns >> FADE_SHIFT;
	stalls->pkts_x256 -= stalls->pkts_x256 >> FADE_SHIFT;
	for (uint32_t i = 0; i < LULL_STALL_BINS; i++) {
		if (stalls->bins[i].count_x256 == 0)
			continue;
		/* Rounded up, so that the last of it goes too. */
		stalls->bins[i].count_x256 -= (stalls->bins[i].count_x256 + 127) >> FADE_SHIFT;
		stalls->bins[i].len_ns -= stalls->bins[i].len_ns >> FADE_SHIFT;
		stalls->bins[i].pkts_x256 -= stalls->bins[i].pkts_x256 >> FADE_SHIFT;
		if (stalls->bins[i].count_x256 == 0)
			memset(&stalls->bins[i], 0, sizeof(stalls->bins[i]));
	}
}

static void
stalls_fade(struct lull_stalls *stalls, uint64_t now_ns)
{
	uint32_t steps = 0;

	while (now_ns >= stalls->fade_ns + stalls->step_ns && steps++ < FADE_STEPS_MAX) {
		stalls->fade_ns += stalls->step_ns;
		stalls_fade_step(stalls);
	}
	if (steps > FADE_STEPS_MAX)
		stalls->fade_ns = now_ns;
}

static uint32_t
stalls_bin(uint64_t gap_ns)
{
	uint32_t bits;

	if (gap_ns < 2 * LULL_STALL_NS)
		return 0;
	bits = 63u - (uint32_t)__builtin_clzll(gap_ns) - LULL_STALL_BITS;
	return LULL_MIN(bits, (uint32_t)LULL_STALL_BINS - 1);
}

static void
stalls_add(struct lull_stalls *stalls, uint64_t now_ns, uint64_t time_ns, uint64_t pkts)
{
	if (now_ns >= stalls->fade_ns + stalls->step_ns)
		stalls_fade(stalls, now_ns);
	stalls->time_ns += time_ns;
	stalls->pkts_x256 += pkts * UNIT;
}

static void
stalls_add_stall(struct lull_stalls *stalls, uint64_t gap_ns)
{
	uint32_t bin = stalls_bin(gap_ns);

	stalls->time_ns += gap_ns;
	stalls->bins[bin].count_x256 += UNIT;
	stalls->bins[bin].len_ns += gap_ns;
}

static void
stalls_add_met(struct lull_stalls *stalls, uint64_t gap_ns, uint32_t pkts)
{
	stalls->pkts_x256 += (uint64_t)pkts * UNIT;
	stalls->bins[stalls_bin(gap_ns)].pkts_x256 += (uint64_t)pkts * UNIT;
}

static struct lull_stalls *
watch_record(struct lull_stall_watch *watch)
{
	return watch->polling ? &watch->poll : &watch->rest;
}

void
lull_stall_watch_fold(struct lull_stall_watch *watch, uint64_t now_ns)
{
	stalls_add(watch_record(watch), now_ns, watch->fresh_ns, watch->fresh_pkts);
	stalls_add(&watch->recent, now_ns, watch->fresh_ns, watch->fresh_pkts);
	watch->fresh_ns = 0;
	watch->fresh_pkts = 0;
}

void
lull_stall_watch_stall(struct lull_stall_watch *watch, uint64_t now_ns, uint64_t gap_ns)
{
	lull_stall_watch_fold(watch, now_ns);
	stalls_add_stall(watch_record(watch), gap_ns);
	stalls_add_stall(&watch->recent, gap_ns);
}

void
lull_stall_watch_met(struct lull_stall_watch *watch, uint64_t gap_ns, uint32_t pkts)
{
	stalls_add_met(watch_record(watch), gap_ns, pkts);
	stalls_add_met(&watch->recent, gap_ns, pkts);
}

void
lull_stall_watch_unseen(struct lull_stall_watch *watch, uint64_t gap_ns, uint64_t time_ns,
			uint64_t pkts)
{
	struct lull_stalls *stalls = watch_record(watch);
	uint32_t bin = stalls_bin(gap_ns);

	stalls->bins[bin].count_x256 += time_ns * UNIT / gap_ns;
	stalls->bins[bin].len_ns += time_ns;
	stalls->bins[bin].pkts_x256 += pkts * UNIT;
}

/* What stalls of this bin make late: a share of their time, and of the packets that met them. */
static void
stalls_late(const struct lull_stalls *stalls, uint32_t bin, uint64_t wait_ns, double *time_ns,
	    double *pkts_x256)
{
	double count = (double)stalls->bins[bin].count_x256 / UNIT;
	double len_ns = (double)stalls->bins[bin].len_ns;
	double late_ns = len_ns - count * (double)wait_ns;

	if (stalls->bins[bin].count_x256 == 0 || late_ns <= 0.0)
		return;
	*time_ns += late_ns;
	*pkts_x256 += (double)stalls->bins[bin].pkts_x256 * late_ns / len_ns;
}

uint32_t
lull_stalls_late_ppm(const struct lull_stalls *stalls, uint64_t wait_ns, uint32_t budget_ppm)
{
	double known = (double)LULL_MAX(stalls->time_ns, KNOWN_NS);
	double late_ns = 0.0, late_pkts_x256 = 0.0, share;
	double pkts = (double)stalls->pkts_x256 / UNIT;

	for (uint32_t i = 0; i < LULL_STALL_BINS; i++)
		stalls_late(stalls, i, wait_ns, &late_ns, &late_pkts_x256);
	share = late_ns / known;
	if (pkts * budget_ppm >= (double)LATE_PKTS_MIN * LULL_PPM && stalls->time_ns > 0)
		share = late_pkts_x256 / UNIT / (pkts * known / (double)stalls->time_ns);
	return (uint32_t)(LULL_MIN(share, 1.0) * LULL_PPM);
}

uint32_t
lull_stalls_time_ppm(const struct lull_stalls *stalls, uint64_t wait_ns)
{
	double late_ns = 0.0, late_pkts_x256 = 0.0;

	for (uint32_t i = 0; i < LULL_STALL_BINS; i++)
		stalls_late(stalls, i, wait_ns, &late_ns, &late_pkts_x256);
	if (stalls->time_ns == 0)
		return 0;
	return (uint32_t)(LULL_MIN(late_ns / (double)stalls->time_ns, 1.0) * LULL_PPM);
}

uint64_t
lull_stalls_wait_ns(const struct lull_stalls *stalls, uint32_t budget_ppm)
{
	uint64_t low_ns = 0, high_ns = 2 * lull_stalls_longest_ns(stalls), middle_ns;

	if (lull_stalls_late_ppm(stalls, 0, budget_ppm) <= budget_ppm)
		return 0;
	while (high_ns - low_ns > LULL_NS_PER_US) {
		middle_ns = low_ns + (high_ns - low_ns) / 2;
		if (lull_stalls_late_ppm(stalls, middle_ns, budget_ppm) <= budget_ppm)
			high_ns = middle_ns;
		else
			low_ns = middle_ns;
	}
	return high_ns;
}

uint64_t
lull_stalls_count_x256(const struct lull_stalls *stalls, uint64_t wait_ns)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < LULL_STALL_BINS; i++)
		if (stalls->bins[i].len_ns > stalls->bins[i].count_x256 * wait_ns / UNIT)
			sum += stalls->bins[i].count_x256;
	return sum;
}

uint64_t
lull_stalls_rate(const struct lull_stalls *stalls)
{
	uint64_t ms = LULL_MAX(stalls->time_ns, KNOWN_NS) / LULL_NS_PER_MS;

	return lull_stalls_count_x256(stalls, 0) * 1000000 / UNIT / ms;
}

uint64_t
lull_stalls_longest_ns(const struct lull_stalls *stalls)
{
	for (uint32_t i = LULL_STALL_BINS; i-- > 0;)
		if (stalls->bins[i].count_x256 > 0)
			return stalls->bins[i].len_ns * UNIT / stalls->bins[i].count_x256;
	return 0;
}
