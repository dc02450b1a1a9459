/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle_world.h"

#include <string.h>

#define WORLD_ACK_PKTS (2 * LULL_BUNDLE_QUANTUM_PKTS)
#define WORLD_ACK_NS (100 * LULL_NS_PER_US)
#define WORLD_LATER 3 /* packets acknowledged after it show that one is lost */

/* When a host does what comes up at a time: then, or at the end of its absence. */
static uint64_t
host_looks_ns(const struct bundle_host *host, uint64_t at_ns)
{
	uint64_t into_ns;

	if (host->absent_ns == 0)
		return at_ns;
	into_ns = at_ns % host->period_ns;
	return into_ns < host->absent_ns ? at_ns - into_ns + host->absent_ns : at_ns;
}

static uint64_t
host_absent_ns(const struct bundle_host *host, uint64_t at_ns)
{
	return host_looks_ns(host, at_ns) == at_ns ? 0 : host->absent_ns;
}

uint64_t
bundle_world_packet_ns(const struct bundle_world *world)
{
	return WORLD_PACKET_BYTES * 8 * LULL_NS_PER_S / world->rate_bps;
}

void
bundle_world_measure(struct bundle_world *world)
{
	world->delivered_pkts = 0;
	world->lost_pkts = 0;
	world->sent_pkts = 0;
	world->queue_sum_ns = 0;
	world->queue_ns_max = 0;
	world->rounds = 0;
	world->window_pkts_least = UINT32_MAX;
	world->window_pkts_most = 0;
	world->since_ns = world->now_ns;
}

uint64_t
bundle_world_share_ppm(const struct bundle_world *world)
{
	return world->delivered_pkts * bundle_world_packet_ns(world) * LULL_PPM /
	       (world->now_ns - world->since_ns);
}

uint64_t
bundle_world_queue_ns(const struct bundle_world *world)
{
	return world->sent_pkts == 0 ? 0 : world->queue_sum_ns / world->sent_pkts;
}

/* The window as the control says it, and its course. */
static uint32_t
world_window(struct bundle_world *world)
{
	uint32_t window_pkts = world->control->window(world->state);

	world->window_pkts_least = LULL_MIN(world->window_pkts_least, window_pkts);
	world->window_pkts_most = LULL_MAX(world->window_pkts_most, window_pkts);
	world->digest = (world->digest ^ window_pkts ^ world->now_ns << 16) * 0x100000001b3ULL;
	return window_pkts;
}

static void
world_send(struct bundle_world *world)
{
	uint32_t window_pkts = world_window(world);
	uint64_t packet_ns = bundle_world_packet_ns(world);

	if (world->offer_pkts > 0)
		window_pkts = LULL_MIN(window_pkts, world->offer_pkts);
	while (world->psn_next - world->psn_acked - 1 < window_pkts) {
		uint64_t place = world->psn_next++ % WORLD_PSNS;
		uint64_t begins_ns = LULL_MAX(world->link_free_ns, world->now_ns);
		uint64_t queue_ns = begins_ns - world->now_ns;
		bool full = queue_ns > world->queue_pkts * packet_ns;

		world->packets[place].sent_ns = world->now_ns;
		world->packets[place].lost =
			full || lull_prng_below(&world->prng, LULL_PPM) < world->loss_ppm;
		world->sent_pkts++;
		world->queue_sum_ns += queue_ns;
		world->queue_ns_max = LULL_MAX(world->queue_ns_max, queue_ns);
		if (!full)
			world->link_free_ns = begins_ns + packet_ns;
		world->packets[place].arrives_ns = world->link_free_ns + world->rtt_ns / 2;
	}
}

static void
world_acknowledge(struct bundle_world *world)
{
	uint64_t place = world->ack_tail++ % WORLD_PSNS;

	world->acks[place].at_ns = world->now_ns + world->rtt_ns / 2;
	world->acks[place].psn = world->ack_psn;
	world->acks[place].hold_ns = world->now_ns - world->look_ns;
	world->acks[place].wait_ns = world->wait_ns;
	world->ack_pkts = 0;
	world->ack_due_ns = UINT64_MAX;
}

/* The next packet is looked at; at once acknowledged where one before it is missing. */
static void
world_arrive(struct bundle_world *world)
{
	uint64_t place = world->psn_arrives++ % WORLD_PSNS;
	uint64_t wait_ns = host_absent_ns(&world->receiver, world->packets[place].arrives_ns);
	bool gap;

	if (world->packets[place].lost)
		return;
	gap = world->psn_arrives - 1 != world->ack_psn + 1;
	world->ack_psn = world->psn_arrives - 1;
	world->look_ns = world->now_ns;
	world->wait_ns = wait_ns;
	world->ack_pkts++;
	world->delivered_pkts++;
	if (world->ack_due_ns == UINT64_MAX)
		world->ack_due_ns =
			world->now_ns + LULL_MIN(world->meter.srtt_ns / 4, WORLD_ACK_NS);
	if (gap || world->ack_pkts >= WORLD_ACK_PKTS)
		world_acknowledge(world);
}

static void
world_acked(struct bundle_world *world)
{
	uint64_t place = world->ack_head++ % WORLD_PSNS;
	uint64_t psn = world->acks[place].psn;
	uint64_t under_way = world->psn_next - world->psn_acked - 1;
	struct bundle_sample sample = {
		.now_ns = world->now_ns,
		.wait_ns = world->acks[place].wait_ns,
		.absent_ns = host_absent_ns(&world->sender, world->acks[place].at_ns),
		.psn = psn,
		.psn_next = world->psn_next,
		.limited = under_way >= world->control->window(world->state),
	};
	struct bundle_round round;

	sample.rtt_ns = world->now_ns - world->packets[psn % WORLD_PSNS].sent_ns -
			world->acks[place].hold_ns;
	while (world->psn_acked < psn) {
		if (world->packets[++world->psn_acked % WORLD_PSNS].lost)
			sample.lost_pkts++;
		else
			sample.acked_pkts++;
	}
	sample.acked_bytes = sample.acked_pkts * (uint64_t)WORLD_PACKET_BYTES;
	world->lost_pkts += sample.lost_pkts;
	if (bundle_meter_add(&world->meter, &sample, &round)) {
		world->control->round(world->state, &round);
		world->rounds++;
	}
	world_send(world);
}

/* Nothing is under way that anybody will hear of. */
static void
world_timeout(struct bundle_world *world)
{
	world->now_ns += bundle_meter_tail_ns(&world->meter);
	world->lost_pkts += world->psn_next - 1 - world->psn_acked;
	world->psn_acked = world->psn_next - 1;
	world->psn_arrives = world->psn_next;
	world->control->timeout(world->state);
	world_send(world);
}

void
bundle_world_init(struct bundle_world *world)
{
	struct bundle_control_limits limits = { .window_pkts_max = world->window_pkts_max,
						.fixed_pkts = world->fixed_pkts };

	world->now_ns = LULL_NS_PER_S;
	world->psn_next = 1;
	world->psn_arrives = 1;
	world->psn_acked = 0;
	world->ack_head = 0;
	world->ack_tail = 0;
	world->link_free_ns = 0;
	world->ack_psn = 0;
	world->ack_pkts = 0;
	world->ack_due_ns = UINT64_MAX;
	world->digest = 0;
	lull_prng_init(&world->prng, world->seed, 0);
	memset(world->state, world->fill, sizeof(world->state));
	bundle_meter_init(&world->meter, world->now_ns);
	world->control->init(world->state, &limits, world->share);
	bundle_world_measure(world);
	world_send(world);
}

void
bundle_world_run(struct bundle_world *world, uint64_t for_ns)
{
	uint64_t end_ns = world->now_ns + for_ns;

	for (;;) {
		uint64_t arrives_ns = UINT64_MAX, acked_ns = UINT64_MAX, next_ns;

		if (world->psn_arrives < world->psn_next)
			arrives_ns = host_looks_ns(
				&world->receiver,
				world->packets[world->psn_arrives % WORLD_PSNS].arrives_ns);
		if (world->ack_head < world->ack_tail)
			acked_ns = host_looks_ns(&world->sender,
						 world->acks[world->ack_head % WORLD_PSNS].at_ns);
		next_ns = LULL_MIN(LULL_MIN(arrives_ns, acked_ns), world->ack_due_ns);
		if (next_ns == UINT64_MAX) {
			world_timeout(world);
			continue;
		}
		if (next_ns > end_ns)
			break;
		world->now_ns = LULL_MAX(world->now_ns, next_ns);
		if (arrives_ns == next_ns)
			world_arrive(world);
		else if (world->ack_due_ns == next_ns)
			world_acknowledge(world);
		else
			world_acked(world);
	}
	world->now_ns = LULL_MAX(world->now_ns, end_ns);
}
