/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire.h"

#define SHARE_MAX 1000000u
#define FADE_MAX 1000000u
#define QUEUE_BYTES_MAX 1000000000ULL
#define TIME_MAX (1000 * LULL_NS_PER_S)

static bool
wire_happens(struct lull_sim_wire *wire, uint32_t share_ppm)
{
	return lull_prng_below(&wire->prng, SHARE_MAX) < share_ppm;
}

struct lull_sim_fate
lull_sim_wire_draw(struct lull_sim_wire *wire, uint32_t len_bytes)
{
	const struct lull_sim_path_config *config = &wire->config;
	bool lost = wire_happens(wire, config->loss_ppm);
	bool begins = wire_happens(wire, config->fade_ppm);
	bool ends = lull_prng_below(&wire->prng, LULL_MAX(config->fade_pkts, 1)) == 0;
	struct lull_sim_fate fate = {
		.damaged = wire_happens(wire, config->damage_ppm),
		.duplicated = wire_happens(wire, config->duplicate_ppm),
		.reordered = wire_happens(wire, config->reorder_ppm),
		.jitter_ns = lull_prng_below(&wire->prng, config->jitter_ns + 1),
		.bit = lull_prng_below(&wire->prng, (uint64_t)len_bytes * 8),
	};

	wire->fading = wire->fading || begins;
	fate.overtakes = config->overtake_ppm > 0 && wire_happens(wire, config->overtake_ppm);
	fate.lost = lost || wire->fading || config->silent;
	wire->fading = wire->fading && !ends;
	return fate;
}

/* Time that so many bytes take at the rate, ps; rates are not 0. */
static uint64_t
wire_queue_ps(const struct lull_sim_path_config *config)
{
	uint64_t scaled = config->queue_bytes * 8 * LULL_NS_PER_S;

	return scaled / config->rate_bps * LULL_SIM_PS_PER_NS +
	       scaled % config->rate_bps * LULL_SIM_PS_PER_NS / config->rate_bps;
}

bool
lull_sim_wire_has_room(const struct lull_sim_wire *wire, uint64_t now_ns, uint32_t len_bytes)
{
	const struct lull_sim_path_config *config = &wire->config;
	uint64_t now_ps = now_ns * LULL_SIM_PS_PER_NS, waits_ps;

	if (config->rate_bps == 0 || config->queue_bytes == 0 || wire->link.free_ps <= now_ps)
		return true;
	waits_ps = wire->link.free_ps - now_ps;
	return waits_ps + lull_sim_frame_ps(config->rate_bps, len_bytes) <= wire_queue_ps(config);
}

uint64_t
lull_sim_wire_left_ns(struct lull_sim_wire *wire, uint64_t now_ns, uint32_t len_bytes,
		      const struct lull_sim_fate *fate)
{
	uint64_t left_ns = lull_sim_link_pass(&wire->link, now_ns, len_bytes), frame_ps;

	if (!fate->overtakes)
		return left_ns;
	frame_ps = lull_sim_frame_ps(wire->config.rate_bps, len_bytes);
	return LULL_MIN(left_ns, now_ns + frame_ps / LULL_SIM_PS_PER_NS + 1);
}

uint64_t
lull_sim_wire_arrival_ns(struct lull_sim_wire *wire, uint64_t sent_ns,
			 const struct lull_sim_fate *fate)
{
	uint64_t at_ns = sent_ns + LULL_MAX(wire->config.delay_ns, 1) + fate->jitter_ns;

	if (fate->overtakes)
		return at_ns;
	if (fate->reordered)
		return at_ns + wire->config.reorder_ns;
	wire->last_ns = LULL_MAX(wire->last_ns, at_ns);
	return wire->last_ns;
}

bool
lull_sim_wire_valid(const struct lull_sim_path_config *config)
{
	return config->queue_bytes <= QUEUE_BYTES_MAX && config->delay_ns <= TIME_MAX &&
	       config->jitter_ns <= TIME_MAX && config->reorder_ns <= TIME_MAX &&
	       config->loss_ppm <= SHARE_MAX && config->fade_ppm <= SHARE_MAX &&
	       config->damage_ppm <= SHARE_MAX && config->duplicate_ppm <= SHARE_MAX &&
	       config->reorder_ppm <= SHARE_MAX && config->overtake_ppm <= SHARE_MAX &&
	       config->fade_pkts <= FADE_MAX && (config->fade_ppm == 0 || config->fade_pkts > 0);
}
