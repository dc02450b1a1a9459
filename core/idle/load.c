/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include <lull/base.h>

#define SHARE_PKTS 2048
#define FADE_STEP_NS (100 * LULL_NS_PER_MS)
#define FADE_SHIFT 7 /* 1/128 per 100 ms: half in about 9 s */
#define FADE_STEPS_MAX 1024
#define RATE_SPAN_NS_MIN (5 * LULL_NS_PER_US)

void
lull_load_init(struct lull_load *load, uint64_t now_ns)
{
	/* Until packets prove otherwise, all of them meet a resting loop. */
	*load = (struct lull_load){
		.resting_ppm = LULL_PPM,
		.window_begin_ns = now_ns,
		.fade_ns = now_ns,
	};
}

static void
load_window_end(struct lull_load *load, uint64_t end_ns)
{
	uint64_t span_ns = end_ns - load->window_begin_ns;
	uint64_t pps = load->window_pkts * LULL_NS_PER_S / span_ns;
	uint64_t busy_ppm = LULL_MIN(load->window_busy_ns, span_ns) * LULL_PPM / span_ns;

	load->arrival_pps = (3 * load->arrival_pps + pps) / 4;
	load->busy_ppm = (uint32_t)((3 * (uint64_t)load->busy_ppm + busy_ppm) / 4);
	load->window_begin_ns = end_ns;
	load->window_pkts = 0;
	load->window_busy_ns = 0;
}

void
lull_load_turn(struct lull_load *load, uint64_t end_ns, uint64_t pkts, uint64_t busy_ns)
{
	load->window_pkts += pkts;
	load->window_busy_ns += busy_ns;
	if (busy_ns > 0)
		load->serve_ns = (15 * load->serve_ns + busy_ns) / 16;
	if (end_ns >= load->window_begin_ns + LULL_LOAD_WINDOW_NS)
		load_window_end(load, end_ns);
}

void
lull_load_share(struct lull_load *load, uint64_t pkts, uint64_t resting)
{
	int64_t share_ppm, step_ppm;

	if (pkts == 0)
		return;
	share_ppm = (int64_t)(LULL_MIN(resting, pkts) * LULL_PPM / pkts);
	step_ppm = (share_ppm - (int64_t)load->resting_ppm) * (int64_t)LULL_MIN(pkts, SHARE_PKTS) /
		   SHARE_PKTS;
	load->resting_ppm = (uint32_t)((int64_t)load->resting_ppm + step_ppm);
}

static void
load_fade(struct lull_load *load, uint64_t now_ns)
{
	uint32_t steps = 0;

	while (now_ns >= load->fade_ns + FADE_STEP_NS && steps++ < FADE_STEPS_MAX) {
		load->fade_ns += FADE_STEP_NS;
		load->envelope_pps -= load->envelope_pps >> FADE_SHIFT;
		load->backlog_pkts -= (load->backlog_pkts + (1u << FADE_SHIFT) - 1) >> FADE_SHIFT;
	}
	if (steps > FADE_STEPS_MAX)
		load->fade_ns = now_ns;
}

void
lull_load_backlog(struct lull_load *load, uint64_t now_ns, uint32_t pkts, uint64_t span_ns)
{
	load_fade(load, now_ns);
	load->backlog_pkts = LULL_MAX(load->backlog_pkts, pkts);
	if (span_ns >= RATE_SPAN_NS_MIN)
		load->envelope_pps = LULL_MAX(load->envelope_pps, pkts * LULL_NS_PER_S / span_ns);
}
