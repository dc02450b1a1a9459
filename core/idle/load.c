/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include <lull/base.h>

#include "stalls.h"

#define SHARE_PKTS 2048
/*
 * An iteration that took much longer than usual was held up; if all do, the mean follows in time.
 */
#define SERVE_GROWTH 2
#define SERVE_NS_MIN (10 * LULL_NS_PER_US)
#define STALL_GROWTH 8

void
lull_load_init(struct lull_load *load, uint64_t now_ns)
{
	/* Until packets prove otherwise, all of them meet a resting loop. */
	*load = (struct lull_load){
		.resting_ppm = LULL_PPM,
		.window_begin_ns = now_ns,
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
lull_load_iteration(struct lull_load *load, uint64_t end_ns, uint64_t pkts, uint64_t busy_ns)
{
	load->window_pkts += pkts;
	/* While others had the CPU nothing was served. */
	if (busy_ns >= LULL_STALL_NS)
		busy_ns = LULL_MIN(busy_ns, STALL_GROWTH * load->serve_ns);
	load->window_busy_ns += busy_ns;
	if (pkts > 0)
		load->packet_ns = end_ns;
	if (busy_ns > 0)
		load->serve_ns = (15 * load->serve_ns +
				  LULL_MIN(busy_ns, SERVE_GROWTH * load->serve_ns + SERVE_NS_MIN)) /
				 16;
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
