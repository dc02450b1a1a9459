/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Delay: as many packets under way that a short queue stands before the slowest link.
 *
 * The target of the round trip is its least plus what the queue has to last for: 8 packets, and as
 * long as the receiver holds an acknowledgement back (2 quanta, a quarter of the round trip, or
 * 100 us), since a window that opens at once fills the queue at once; or the longest absence of
 * either host, at most 10 ms. A host that is absent acknowledges nothing and sends nothing
 * meanwhile; a shorter queue runs empty then, and the link is idle.
 *
 * Once per round: a window that was full doubles at first (slow start), until the round trip
 * exceeds the target or too much is lost. From then on it grows by what is missing in the queue,
 * at most a quantum, while the round trip is below the target, and by twice as much each time
 * while there is hardly any queue (as the hyperactive increase of TIMELY, SIGCOMM 2015), so that a
 * link that became faster is filled soon. Above the target it shrinks by 0.8 (rtt - target) / rtt
 * (Swift, SIGCOMM 2020, Algorithm 1). What a window did is seen a round later, so the round after
 * a change is left out. A window that was not full does not grow: nothing says that it could. One
 * that was not full for three rounds without a pause does not either: of a burst that fills it at
 * once the first packets see no queue, and the round's least is theirs.
 *
 * Loss up to 2 % is noise. Above it the window is halved. Page's test (Biometrika 1954) decides: a
 * sum of packets lost less 2 % of all, never below 0, that exceeds 6 packets. At 1 % of random
 * loss that happens once in 275 000 packets, at 1.5 % in 11 000, at 20 % of overflow in 35.
 *
 * A queue that always stands would hide the least round trip, and targets would creep up with it
 * (as RFC 6817 says of LEDBAT). So a path that has not seen an empty queue for 4 s drains it
 * once.
 */
#include "control.h"

#define DELAY_FIRST_PKTS 64 /* what a message may send before it is accepted: 8 quanta */
#define DELAY_HELD_NS (100 * LULL_NS_PER_US)
#define DELAY_LOSS_PER 50 /* one packet of so many may be lost: 2 % */
#define DELAY_LOSS_PKTS 6
#define DELAY_FULL_ROUNDS 3 /* in a row with a full window: from here on they tell of it */
#define DELAY_DRAIN_NS (4 * LULL_NS_PER_S) /* below a window of the least round trip, 5 s */
#define DELAY_DRAIN_ROUNDS 2

struct delay {
	uint32_t window_pkts, window_pkts_max;
	uint32_t step_pkts; /* of the next growth */
	uint32_t loss;      /* sum of Page's test, in 1 / DELAY_LOSS_PER packets */
	uint32_t skip;      /* rounds that say nothing about this window yet */
	uint32_t full;      /* rounds in a row in which the window was full */
	bool starting;      /* slow start */
	bool forgiven;      /* what is lost in this round was sent before the window was halved */
	uint32_t drain_rounds, drain_pkts; /* rounds left; the window after them */
	uint64_t drained_ns;               /* last round with an empty queue; 0: none yet */
};
_Static_assert(sizeof(struct delay) <= BUNDLE_CONTROL_STATE, "state of delay");

static void
delay_set(struct delay *delay, uint32_t window_pkts)
{
	delay->window_pkts =
		LULL_CLAMP(window_pkts, BUNDLE_WINDOW_PKTS_MIN, delay->window_pkts_max);
}

static void
delay_init(void *state, const struct bundle_control_limits *limits, uint32_t share)
{
	struct delay *delay = state;

	*delay = (struct delay){
		.window_pkts_max = limits->window_pkts_max,
		.step_pkts = LULL_BUNDLE_QUANTUM_PKTS,
		.starting = true,
	};
	delay_set(delay, DELAY_FIRST_PKTS / share);
}

static void
delay_halve(struct delay *delay)
{
	delay_set(delay, delay->window_pkts / 2);
	delay->step_pkts = LULL_BUNDLE_QUANTUM_PKTS;
	delay->starting = false;
	delay->drain_rounds = 0;
	delay->skip = 1;
}

/* Page's test; true: the window was halved. */
static bool
delay_loses(struct delay *delay, const struct bundle_round *round)
{
	uint64_t lost = delay->loss + (uint64_t)round->lost_pkts * DELAY_LOSS_PER;
	uint64_t all = (uint64_t)round->acked_pkts + round->lost_pkts;

	if (delay->forgiven) {
		delay->forgiven = false;
		return false;
	}
	delay->loss = (uint32_t)LULL_MIN(lost > all ? lost - all : 0, (uint64_t)UINT32_MAX);
	if (delay->loss <= DELAY_LOSS_PKTS * DELAY_LOSS_PER)
		return false;
	delay->loss = 0;
	delay->forgiven = true;
	delay_halve(delay);
	return true;
}

static uint64_t
delay_target_ns(const struct bundle_round *round)
{
	uint64_t quantum_ns = LULL_BUNDLE_QUANTUM_PKTS * round->packet_ns;
	uint64_t held_ns =
		LULL_MIN(2 * quantum_ns, LULL_MIN(round->base_rtt_ns / 4, DELAY_HELD_NS));

	return round->base_rtt_ns + LULL_MAX(quantum_ns + held_ns, round->absent_ns);
}

/* True: the queue is being drained, and the window is not to be changed. */
static bool
delay_drains(struct delay *delay, const struct bundle_round *round)
{
	if (delay->drain_rounds > 0) {
		if (--delay->drain_rounds == 0) {
			delay_set(delay, delay->drain_pkts);
			delay->drained_ns = round->now_ns;
			delay->skip = 1;
		}
		return true;
	}
	if (delay->drained_ns == 0 || !round->limited ||
	    round->rtt_ns <= round->base_rtt_ns + round->packet_ns)
		delay->drained_ns = round->now_ns;
	if (round->now_ns - delay->drained_ns < DELAY_DRAIN_NS)
		return false;
	/* What the link itself holds, and a quarter less. */
	delay->drain_rounds = DELAY_DRAIN_ROUNDS;
	delay->drain_pkts = delay->window_pkts;
	delay_set(delay,
		  (uint32_t)(delay->window_pkts * round->base_rtt_ns / round->rtt_ns * 3 / 4));
	return true;
}

static void
delay_shrink(struct delay *delay, uint64_t rtt_ns, uint64_t target_ns)
{
	uint64_t less = 4 * delay->window_pkts * (rtt_ns - target_ns) / (5 * rtt_ns);

	delay_set(delay, delay->window_pkts - (uint32_t)less);
	delay->step_pkts = LULL_BUNDLE_QUANTUM_PKTS;
	delay->starting = false;
	delay->skip = 1;
}

/* Packets that fill the queue up to the target, at most a quantum. */
static uint32_t
delay_room(const struct bundle_round *round, uint64_t target_ns)
{
	uint64_t room_ns = target_ns - round->rtt_ns;

	if (room_ns >= LULL_BUNDLE_QUANTUM_PKTS * round->packet_ns)
		return LULL_BUNDLE_QUANTUM_PKTS;
	return (uint32_t)(room_ns / round->packet_ns);
}

static void
delay_grow(struct delay *delay, const struct bundle_round *round, uint64_t target_ns)
{
	uint64_t queue_ns =
		round->rtt_ns > round->base_rtt_ns ? round->rtt_ns - round->base_rtt_ns : 0;

	if (delay->starting) {
		delay_set(delay, 2 * delay->window_pkts);
		delay->skip = 1;
		return;
	}
	if (queue_ns <= (target_ns - round->base_rtt_ns) / 4) {
		delay_set(delay, delay->window_pkts + delay->step_pkts);
		delay->step_pkts = LULL_MIN(2 * delay->step_pkts, delay->window_pkts);
	} else {
		delay->step_pkts = LULL_BUNDLE_QUANTUM_PKTS;
		delay_set(delay, delay->window_pkts + delay_room(round, target_ns));
	}
	delay->skip = 1;
}

static void
delay_round(void *state, const struct bundle_round *round)
{
	struct delay *delay = state;
	uint64_t target_ns;

	if (!round->limited || round->paused)
		delay->full = 0;
	if (round->limited)
		delay->full = LULL_MIN(delay->full + 1, DELAY_FULL_ROUNDS);
	if (delay_loses(delay, round) || round->rtt_ns == 0 || delay_drains(delay, round))
		return;
	if (delay->skip > 0) {
		delay->skip--;
		return;
	}
	target_ns = delay_target_ns(round);
	if (round->packet_ns == 0) /* how long the queue may be is not known yet */
		target_ns = LULL_MAX(target_ns, round->rtt_ns);
	if (round->rtt_ns > target_ns)
		delay_shrink(delay, round->rtt_ns, target_ns);
	else if (delay->full == DELAY_FULL_ROUNDS)
		delay_grow(delay, round, target_ns);
}

static void
delay_timeout(void *state)
{
	delay_halve(state);
}

static uint32_t
delay_window(const void *state)
{
	const struct delay *delay = state;

	return delay->window_pkts;
}

const struct lull_bundle_control bundle_control_delay = {
	.name = "delay",
	.summary = "keeps a short queue: grows until the round trip shows it, halves at loss above "
		   "2 %",
	.init = delay_init,
	.round = delay_round,
	.timeout = delay_timeout,
	.window = delay_window,
};
