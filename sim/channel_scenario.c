/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios: small worlds in which much goes wrong, each drawn from its seed. Most last a tenth of
 * a second of virtual time. At the end every fault is taken back, so everything has to end well.
 */
#include "channel_config.h"

#include <string.h>

#include "base/prng.h"

#define US LULL_NS_PER_US
#define MS LULL_NS_PER_MS
#define FIRST_FAULT_NS (2 * MS)
#define FAULT_SPAN_NS (60 * MS)
#define TAIL_NS (10 * MS)
#define QUEUE_BYTES_MIN 20000u /* of a port of the switch */
#define ENDINGS 5              /* faults that take others back */

struct scenario {
	struct lull_sim_channel_config *config;
	struct lull_prng prng;
	uint64_t last_ns;
	bool kills[LULL_SIM_CHANNEL_NODES_MAX];
};

static uint64_t
draw(struct scenario *s, uint64_t low, uint64_t high)
{
	return low + lull_prng_below(&s->prng, high - low + 1);
}

static bool
draw_chance(struct scenario *s, uint32_t percent)
{
	return lull_prng_below(&s->prng, 100) < percent;
}

/* All sizes alike often: 1 us as 10 us as 100 us. */
static uint64_t
draw_wide(struct scenario *s, uint64_t low, uint64_t high)
{
	uint64_t bound = low;

	while (bound < high && draw_chance(s, 75))
		bound *= 2;
	return draw(s, low, LULL_MIN(LULL_MAX(bound, low), high));
}

/* ---- nodes and rails ---- */

/* Of all rails alike: how packets fare. */
static void
scenario_wire(struct scenario *s, struct lull_sim_path_config *wire)
{
	struct lull_sim_channel_config *config = s->config;

	wire->queue_bytes = draw(s, QUEUE_BYTES_MIN, 200000);
	wire->delay_ns = draw_wide(s, US, 2 * MS);
	if (draw_chance(s, 25))
		wire->jitter_ns = draw(s, 0, wire->delay_ns);
	if (draw_chance(s, 60))
		wire->loss_ppm = (uint32_t)draw(s, 100, draw_chance(s, 15) ? 100000 : 30000);
	if (draw_chance(s, 15)) {
		wire->fade_ppm = (uint32_t)draw(s, 100, 10000);
		wire->fade_pkts = (uint32_t)draw(s, 2, 20);
		config->may_fall = true; /* a fade may outlast a connection at rest */
	}
	if (draw_chance(s, 20))
		wire->damage_ppm = (uint32_t)draw(s, 100, 20000);
	if (draw_chance(s, 20)) {
		wire->duplicate_ppm = (uint32_t)draw(s, 100, 50000);
		config->may_overflow = true;
	}
	if (draw_chance(s, 20)) {
		wire->reorder_ppm = (uint32_t)draw(s, 100, 50000);
		wire->reorder_ns = draw_wide(s, 10 * US, 2 * MS);
	}
}

static uint32_t
scenario_packet_bytes(struct scenario *s)
{
	if (draw_chance(s, 80))
		return 1500;
	return draw_chance(s, 20) ? 9000 : (uint32_t)draw(s, LULL_BUNDLE_PACKET_BYTES_MIN, 1600);
}

static uint32_t
scenario_rail_count(struct scenario *s)
{
	if (draw_chance(s, 3))
		return (uint32_t)draw(s, 5, LULL_BUNDLE_RAILS_MAX);
	return (uint32_t)draw(s, 1, 4);
}

static void
scenario_rails(struct scenario *s)
{
	struct lull_sim_channel_config *config = s->config;
	uint32_t usual = scenario_rail_count(s);
	bool apart = draw_chance(s, 50), kinds = draw_chance(s, 10), alike = draw_chance(s, 60);
	struct lull_sim_path_config wire = { 0 };
	uint64_t rate_bps = draw_wide(s, 20000000, 10000000000ULL);
	uint32_t packet_bytes = scenario_packet_bytes(s);

	scenario_wire(s, &wire);
	for (uint32_t n = 0; n < config->node_count; n++) {
		config->nodes[n].rail_count = draw_chance(s, 70) ? usual : scenario_rail_count(s);
		for (uint32_t r = 0; r < config->nodes[n].rail_count; r++) {
			struct lull_sim_channel_rail *rail = &config->nodes[n].rails[r];

			*rail = (struct lull_sim_channel_rail){
				.rate_bps = alike ? rate_bps : rate_bps / draw(s, 1, 8),
				.packet_bytes = alike ? packet_bytes : scenario_packet_bytes(s),
				/* all nodes are asked by name, which no credit holds back */
				.ring_pkts = (config->node_count > 2 ? 128u : 32u) << draw(s, 0, 4),
				.kind = (uint8_t)(kinds ? 1 + r % 2 : 1),
				.network = (uint8_t)(apart ? r : 0),
				.wire = wire,
			};
			/* 20 ms of a slow rail are enough */
			rail->wire.queue_bytes =
				LULL_MIN(wire.queue_bytes,
					 LULL_MAX(QUEUE_BYTES_MIN, rail->rate_bps / 8 / 50));
			if (!alike && draw_chance(s, 30))
				rail->wire.delay_ns = draw_wide(s, US, 5 * MS);
			/* full packets do not pass, and nobody is told; one rail has to do */
			if (draw_chance(s, 3) && r > 0)
				rail->wire.mtu_bytes = (uint32_t)draw(s, 700, 1400);
		}
	}
}

static void
scenario_bundle(struct scenario *s)
{
	struct lull_bundle_config *bundle = &s->config->bundle;
	uint32_t list = 0;

	bundle->control = lull_bundle_controls[draw_chance(s, 80) ? 0 : 1];
	while (lull_bundle_spreads[list] != NULL)
		list++;
	bundle->spread = lull_bundle_spreads[draw_chance(s, 60) ? 0 : draw(s, 0, list - 1)];
	bundle->fixed_window_pkts = (uint32_t)draw(s, 8, 64);
	bundle->peers_max = s->config->node_count + (uint32_t)draw(s, 1, 3);
	bundle->messages_max = 16u << draw(s, 0, 2);
	bundle->window_pkts_max = 64u << draw(s, 0, 1);
	bundle->unexpected_pieces = (uint32_t)draw(s, 64, 160);
	bundle->piece_bytes_max = draw_chance(s, 80) ? 1464 : 512 + 8 * (uint32_t)draw(s, 0, 120);
	bundle->peer_timeout_ns = draw(s, 1000 * MS, 3000 * MS);
	bundle->idle_probe_ns = draw(s, 10 * MS, 40 * MS);
}

/* ---- what the programs do ---- */

static void
scenario_loop(struct scenario *s)
{
	struct lull_sim_channel_config *config = s->config;
	static const char *const names[] = { "metal", "guest", "noisy" };

	config->machine = lull_sim_machine_find(names[draw(s, 0, 2)]);
	if (config->machine->stall_every_ns > 0)
		config->may_overflow = true;
	if (draw_chance(s, 60))
		config->rest_ns = draw_wide(s, 50 * US, 2 * MS);
	config->event_rests = draw_chance(s, 30);
}

static void
scenario_job(struct scenario *s)
{
	struct lull_sim_channel_job *job = &s->config->job;

	job->type = LULL_SIM_CHANNEL_RANDOM;
	job->message_bytes = 40000;
	if (draw_chance(s, 10))
		job->message_bytes = draw_chance(s, 10) ? 1u << 20 : 200000;
	job->messages = (uint32_t)draw_wide(s, 2, 64);
	job->gap_ns = draw_wide(s, 2 * US, 2 * MS);
	if (draw_chance(s, 30))
		job->cancel_ppm = (uint32_t)draw(s, 10000, 300000);
	if (draw_chance(s, 30))
		job->refuse_ppm = (uint32_t)draw(s, 10000, 200000);
	if (draw_chance(s, 30))
		job->short_ppm = (uint32_t)draw(s, 10000, 200000);
	if (draw_chance(s, 50)) {
		job->late_ppm = (uint32_t)draw(s, 10000, 1000000);
		job->late_ns = draw_wide(s, 10 * US, 20 * MS);
	}
	job->matched_ppm = draw_chance(s, 50) ? (uint32_t)draw(s, 0, 500000) : 0;
}

static void
scenario_attack(struct scenario *s)
{
	struct lull_sim_channel_attack *attack = &s->config->attack;

	if (!draw_chance(s, 20))
		return;
	attack->gap_ns = draw_wide(s, 50 * US, MS);
	attack->replays = draw_chance(s, 60);
	attack->flips = draw_chance(s, 60);
	attack->cuts = draw_chance(s, 60);
	attack->invents = !attack->replays || draw_chance(s, 50);
	s->config->may_overflow = true;
}

/* ---- faults ---- */

static void
fault_put(struct scenario *s, uint64_t at_ns, enum lull_sim_channel_fault_type type, uint32_t node,
	  uint32_t rail, uint64_t value)
{
	struct lull_sim_channel_config *config = s->config;
	uint32_t i = config->fault_count;

	if (i + ENDINGS + config->node_count >= LULL_SIM_CHANNEL_FAULTS_MAX)
		return;
	for (; i > 0 && config->faults[i - 1].at_ns > at_ns; i--)
		config->faults[i] = config->faults[i - 1];
	config->faults[i] = (struct lull_sim_channel_fault){ at_ns, type, node, rail, value };
	config->fault_count++;
	s->last_ns = LULL_MAX(s->last_ns, at_ns);
}

/* A fault and what takes it back, once or again and again. */
static void
fault_pair(struct scenario *s, uint64_t at_ns, enum lull_sim_channel_fault_type type,
	   enum lull_sim_channel_fault_type back, uint32_t node, uint32_t rail, uint64_t value,
	   uint64_t back_value)
{
	uint32_t times = draw_chance(s, 20) ? (uint32_t)draw(s, 2, 8) : 1;
	uint64_t long_ns = draw_wide(s, 200 * US, 30 * MS);

	for (uint32_t i = 0; i < times; i++) {
		fault_put(s, at_ns, type, node, rail, value);
		at_ns += draw(s, long_ns / 2, long_ns);
		fault_put(s, at_ns, back, node, rail, back_value);
		at_ns += draw(s, long_ns / 2, long_ns);
	}
}

static void
fault_kill(struct scenario *s, uint64_t at_ns, uint32_t node)
{
	if (s->kills[node])
		return;
	s->kills[node] = true;
	s->config->may_fall = true;
	fault_put(s, at_ns, LULL_SIM_CHANNEL_KILL, node, LULL_SIM_CHANNEL_ANY, 0);
	fault_put(s, at_ns + draw_wide(s, 10 * US, 30 * MS), LULL_SIM_CHANNEL_START, node,
		  LULL_SIM_CHANNEL_ANY, 0);
}

static void
fault_draw(struct scenario *s)
{
	struct lull_sim_channel_config *config = s->config;
	uint64_t at_ns = FIRST_FAULT_NS + draw(s, 0, FAULT_SPAN_NS);
	uint32_t node = (uint32_t)draw(s, 0, config->node_count - 1), other;
	uint32_t rail = draw_chance(s, 20) ?
				LULL_SIM_CHANNEL_ANY :
				(uint32_t)draw(s, 0, config->nodes[node].rail_count - 1);
	uint64_t rate_bps = config->nodes[node].rails[0].rate_bps;

	switch (draw(s, 0, 11)) {
	case 0:
	case 1:
	case 6:
		fault_pair(s, at_ns, LULL_SIM_CHANNEL_SILENT, LULL_SIM_CHANNEL_RETURN, node, rail,
			   0, 0);
		break;
	case 2:
		fault_pair(s, at_ns,
			   draw_chance(s, 50) ? LULL_SIM_CHANNEL_SILENT_UP :
						LULL_SIM_CHANNEL_SILENT_DOWN,
			   LULL_SIM_CHANNEL_RETURN, node, rail, 0, 0);
		break;
	case 3:
		fault_pair(s, at_ns, LULL_SIM_CHANNEL_RATE, LULL_SIM_CHANNEL_RATE, node, rail,
			   rate_bps / draw(s, 2, 16), rate_bps);
		break;
	case 4:
		fault_pair(s, at_ns, LULL_SIM_CHANNEL_MTU, LULL_SIM_CHANNEL_MTU, node, rail,
			   draw(s, 650, 1400), 0);
		break;
	case 5:
		fault_pair(s, at_ns, LULL_SIM_CHANNEL_REMOVE, LULL_SIM_CHANNEL_ADD, node, rail, 0,
			   0);
		break;
	case 7:
	case 8:
		fault_kill(s, at_ns, node);
		break;
	case 9:
		config->may_overflow = true;
		fault_put(s, at_ns, LULL_SIM_CHANNEL_STOP, node, LULL_SIM_CHANNEL_ANY,
			  draw_wide(s, 100 * US, 40 * MS));
		break;
	case 10:
		fault_put(s, at_ns, LULL_SIM_CHANNEL_REST, node, LULL_SIM_CHANNEL_ANY,
			  draw_chance(s, 30) ? 0 : draw_wide(s, 50 * US, 4 * MS));
		break;
	default:
		other = (uint32_t)draw(s, 0, config->node_count - 1);
		config->may_fall = true;
		if (other != node)
			fault_put(s, at_ns, LULL_SIM_CHANNEL_DISCONNECT, node, LULL_SIM_CHANNEL_ANY,
				  other);
		break;
	}
}

/* Drawn last, for one seed in 16, so that all others stay the worlds that they were. */
static void
scenario_overtake(struct scenario *s)
{
	struct lull_sim_channel_config *config = s->config;
	uint32_t overtake_ppm = (uint32_t)draw_wide(s, 1000, 300000);

	if (config->seed % 16 != 9)
		return;
	for (uint32_t n = 0; n < config->node_count; n++)
		for (uint32_t r = 0; r < config->nodes[n].rail_count; r++)
			config->nodes[n].rails[r].wire.overtake_ppm = overtake_ppm;
}

/* Take back what may still be wrong. */
static void
scenario_end(struct scenario *s)
{
	struct lull_sim_channel_config *config = s->config;
	static const struct lull_sim_channel_fault endings[ENDINGS] = {
		{ .type = LULL_SIM_CHANNEL_RETURN },
		{ .type = LULL_SIM_CHANNEL_MTU },
		{ .type = LULL_SIM_CHANNEL_LOSS, .value = 10000 },
		{ .type = LULL_SIM_CHANNEL_START },
		{ .type = LULL_SIM_CHANNEL_ADD },
	};

	config->calm_ns = LULL_MAX(s->last_ns, config->job.messages * config->job.gap_ns) + TAIL_NS;
	for (uint32_t i = 0; i < ENDINGS; i++) {
		struct lull_sim_channel_fault *fault = &config->faults[config->fault_count++];

		*fault = endings[i];
		fault->at_ns = config->calm_ns;
		fault->node = fault->rail = LULL_SIM_CHANNEL_ANY;
	}
}

void
lull_sim_channel_scenario(struct lull_sim_channel_config *config, uint64_t seed)
{
	struct scenario s = { .config = config };
	uint64_t faults;

	memset(config, 0, sizeof(*config));
	lull_prng_init(&s.prng, seed, 0x7363656e);
	config->seed = seed;
	config->node_count = draw_chance(&s, 80) ? 2 : (uint32_t)draw(&s, 2, 5);
	config->keyed = draw_chance(&s, 60);
	config->both_ask = draw_chance(&s, 20);
	config->by_address = draw_chance(&s, 30);
	config->bound_ns = 60 * LULL_NS_PER_S;
	scenario_rails(&s);
	scenario_bundle(&s);
	scenario_loop(&s);
	scenario_job(&s);
	scenario_attack(&s);
	faults = draw_chance(&s, 30) ? 0 : draw_wide(&s, 1, 6);
	for (uint64_t i = 0; i < faults; i++)
		fault_draw(&s);
	scenario_overtake(&s);
	scenario_end(&s);
}
