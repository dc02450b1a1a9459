/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is under way on a path. A packet is lost when three that were sent later were acknowledged,
 * or one and a quarter of a round trip has passed; a path that reorders gets more patience
 * (RFC 8985). Nothing is concluded from other paths.
 */
#include "protocol.h"

#define BLOCK_PKTS 128
#define REORDER_PKTS_MAX BLOCK_PKTS /* farther back nothing is acknowledged */
#define TAIL_NS_MAX LULL_NS_PER_S
#define TAIL_TRIES 5
#define HOLD_UNIT_NS 1024
#define HOLD_LONG 65535

static struct bundle_flight *
flight_at(const struct lull_bundle *bundle, const struct bundle_path *path, uint64_t psn)
{
	return &path->flights[psn & (bundle->config.window_pkts_max - 1)];
}

static void
flight_base(const struct lull_bundle *bundle, struct bundle_path *path)
{
	while (path->psn_base < path->psn_next &&
	       flight_at(bundle, path, path->psn_base)->fate != FLIGHT_OUT)
		path->psn_base++;
}

static void
flight_arm(const struct lull_bundle *bundle, const struct bundle_slot *slot,
	   struct bundle_path *path)
{
	uint64_t tail_ns = bundle_meter_tail_ns(&path->meter) + slot->rest_ns;

	if (path->under_way == 0)
		path->tail_ns = LULL_BUNDLE_NEVER;
	else
		path->tail_ns =
			bundle->now_ns + LULL_MIN(tail_ns << LULL_MIN(path->tail_tries, TAIL_TRIES),
						  TAIL_NS_MAX + slot->rest_ns);
}

void
bundle_flight_sent(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		   struct bundle_flight *flight)
{
	flight->fate = FLIGHT_OUT;
	path->psn_next++;
	if (!flight->data)
		return;
	path->psn_data = path->psn_next - 1;
	if (path->under_way++ == 0)
		path->heard_ns = bundle->now_ns;
	slot->store->under_way++;
	flight_arm(bundle, slot, path);
}

static void
flight_landed(struct bundle_slot *slot, struct bundle_path *path,
	      const struct bundle_flight *flight)
{
	if (!flight->data)
		return;
	path->under_way--;
	slot->store->under_way--;
}

static void
flight_lose(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	    uint64_t psn)
{
	struct bundle_flight *flight = flight_at(bundle, path, psn);

	flight->fate = FLIGHT_LOST;
	path->psn_lost = LULL_MAX(path->psn_lost, psn);
	flight_landed(slot, path, flight);
	LULL_COUNTER_ADD(path->counters.lost_pkts, 1);
	if (flight->data)
		bundle_out_lost(bundle, slot, path, flight);
}

/*
 * What became of packets without data may stay unknown. One with data for which there is no place
 * any more is lost: acknowledgements and probes have to leave, or both ends could wait for ever.
 */
struct bundle_flight *
bundle_flight_new(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		  bool data)
{
	uint32_t size = bundle->config.window_pkts_max;
	struct bundle_flight *oldest;

	flight_base(bundle, path);
	while (path->psn_next - path->psn_base >= size / 4 * 3) {
		oldest = flight_at(bundle, path, path->psn_base);
		if (!oldest->data)
			oldest->fate = FLIGHT_NONE;
		else if (!data && path->psn_next - path->psn_base >= size)
			flight_lose(bundle, slot, path, path->psn_base);
		else
			break;
		flight_base(bundle, path);
	}
	if (data && path->psn_next - path->psn_base >= size / 4 * 3)
		return NULL;
	oldest = flight_at(bundle, path, path->psn_next);
	*oldest = (struct bundle_flight){ .data = data, .sent_ns = bundle->now_ns };
	return oldest;
}

/* True: for the first time. */
static bool
flight_ack(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	   uint64_t psn, uint64_t largest, struct bundle_sample *sample)
{
	struct bundle_flight *flight = flight_at(bundle, path, psn);
	uint64_t distance = largest - psn;

	if (flight->fate == FLIGHT_LOST) { /* it was only late: the path reorders */
		LULL_COUNTER_ADD(path->counters.late_pkts, 1);
		path->reorder_pkts = (uint32_t)LULL_MAX(path->reorder_pkts,
							LULL_MIN(distance + 1, REORDER_PKTS_MAX));
		path->reorder_extra_ns = LULL_MIN(path->reorder_extra_ns + path->meter.srtt_ns / 4,
						  path->meter.srtt_ns);
	} else if (flight->fate == FLIGHT_OUT) {
		flight_landed(slot, path, flight);
		sample->acked_pkts++;
		sample->acked_bytes += flight->bytes;
		LULL_COUNTER_ADD(path->counters.acked_pkts, 1);
	} else {
		return false;
	}
	flight->fate = FLIGHT_ACKED;
	if (flight->data)
		bundle_out_acked(bundle, slot, path, flight);
	return true;
}

/* Losses among what was sent before the largest that was acknowledged. */
static uint32_t
flight_gaps(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	uint64_t largest = path->largest_acked;
	uint32_t lost = 0;
	bool hole = false;

	for (uint64_t psn = path->psn_base; psn < largest; psn++) {
		struct bundle_flight *flight = flight_at(bundle, path, psn);
		bool late = bundle->now_ns >= path->gap_ns && psn < path->gap_psn;

		if (flight->fate != FLIGHT_OUT)
			continue;
		if (largest - psn >= BLOCK_PKTS && !flight->data) {
			flight->fate =
				FLIGHT_NONE; /* acknowledgements of acknowledgements are rare */
		} else if (largest - psn >= path->reorder_pkts || late) {
			flight_lose(bundle, slot, path, psn);
			lost++;
		} else {
			hole = true;
		}
	}
	if (!hole) {
		path->gap_ns = LULL_BUNDLE_NEVER;
	} else if (path->gap_ns == LULL_BUNDLE_NEVER || bundle->now_ns >= path->gap_ns) {
		path->gap_psn = largest;
		path->gap_ns = bundle->now_ns + path->meter.srtt_ns / 4 + path->reorder_extra_ns;
	}
	flight_base(bundle, path);
	return lost;
}

static void
flight_measure(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
	       struct bundle_sample *sample)
{
	struct bundle_round round;

	sample->now_ns = bundle->now_ns;
	sample->psn_next = path->psn_next;
	sample->limited = path->limited;
	if (bundle_meter_add(&path->meter, sample, &round))
		bundle->config.control->round(path->control, &round);
	path->limited = path->under_way >= bundle->config.control->window(path->control) &&
			bundle_out_wants(slot->store);
}

/*
 * The round trip of the newest packet that was acknowledged for the first time. Where others were
 * overtaken it need not be the largest: those stood in the queue.
 */
static void
flight_time(const struct lull_bundle *bundle, const struct bundle_path *path,
	    const struct bundle_block *block, uint64_t psn, struct bundle_sample *sample)
{
	uint64_t passed_ns = bundle->now_ns - flight_at(bundle, path, psn)->sent_ns;
	uint64_t hold_ns = (uint64_t)block->hold * HOLD_UNIT_NS;

	if (block->hold == HOLD_LONG)
		return;
	/* Held since the look, before which the packet need not have been there yet. */
	if (hold_ns < passed_ns)
		sample->rtt_ns = passed_ns - hold_ns;
	sample->wait_ns = (uint64_t)block->wait * HOLD_UNIT_NS;
	sample->overtook = path->reorder_extra_ns > 0 && path->psn_base < psn;
}

void
bundle_flight_block(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path,
		    const struct bundle_block *block, uint64_t absent_ns)
{
	uint64_t largest = bundle_psn_expand(path->psn_next - 1, block->psn), oldest;
	struct bundle_sample sample = { .absent_ns = absent_ns, .psn = largest };
	uint64_t newest = 0; /* of those that are acknowledged for the first time */

	oldest = path->psn_next > bundle->config.window_pkts_max ?
			 path->psn_next - bundle->config.window_pkts_max :
			 1;
	path->largest_acked = LULL_MAX(path->largest_acked, largest);
	/* Below the first that is out, only one that was taken for lost can tell something new. */
	if (path->psn_lost + BLOCK_PKTS < largest)
		oldest = LULL_MAX(oldest, path->psn_base);
	for (uint32_t i = 0; i < BLOCK_PKTS && largest - i >= oldest && largest >= i; i++) {
		if ((block->bits[i / 64] >> i % 64 & 1) != 0 &&
		    flight_ack(bundle, slot, path, largest - i, largest, &sample))
			newest = LULL_MAX(newest, largest - i);
	}
	sample.lost_pkts = flight_gaps(bundle, slot, path);
	if (newest > 0)
		flight_time(bundle, path, block, newest, &sample);
	if (newest == 0 && sample.lost_pkts == 0)
		return;
	if (newest > 0) {
		path->heard_ns = bundle->now_ns;
		path->tail_tries = 0;
		flight_arm(bundle, slot, path);
		if (path->state == LULL_BUNDLE_PATH_SUSPECT)
			bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_UP);
	}
	flight_measure(bundle, slot, path, &sample);
}

void
bundle_flight_drop(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	for (uint64_t psn = path->psn_base; psn < path->psn_next; psn++) {
		struct bundle_flight *flight = flight_at(bundle, path, psn);

		if (flight->fate == FLIGHT_OUT)
			flight_lose(bundle, slot, path, psn);
	}
	path->psn_base = path->psn_next;
	path->tail_ns = path->gap_ns = LULL_BUNDLE_NEVER;
	path->tail_tries = 0;
}

/*
 * The last piece that is out is sent once more, elsewhere if possible; it may still arrive. The
 * path itself is asked: the answer tells which of the others are lost, and a driver that keeps what
 * it was given until it is given more lets it go.
 */
static void
flight_tail(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	LULL_COUNTER_ADD(path->counters.timeouts, 1);
	path->tail_tries++;
	bundle->config.control->timeout(path->control);
	for (uint64_t psn = path->psn_data; psn >= path->psn_base; psn--) {
		const struct bundle_flight *flight = flight_at(bundle, path, psn);

		if (flight->fate == FLIGHT_OUT && flight->data) {
			bundle_out_lost(bundle, slot, path, flight);
			break;
		}
	}
	if (path->state == LULL_BUNDLE_PATH_UP)
		bundle_path_ask(bundle, slot, path, false);
	flight_arm(bundle, slot, path);
}

void
bundle_flight_run(struct lull_bundle *bundle, struct bundle_slot *slot, struct bundle_path *path)
{
	if (bundle->now_ns >= path->gap_ns)
		(void)flight_gaps(bundle, slot, path);
	if (bundle->now_ns >= path->tail_ns)
		flight_tail(bundle, slot, path);
	if (path->state == LULL_BUNDLE_PATH_UP && path->under_way > 0 &&
	    bundle->now_ns - path->heard_ns >= bundle_path_patience_ns(slot, path))
		bundle_path_state(bundle, slot, path, LULL_BUNDLE_PATH_SUSPECT);
}

uint64_t
bundle_flight_due(const struct bundle_slot *slot, const struct bundle_path *path)
{
	uint64_t due_ns = LULL_MIN(path->gap_ns, path->tail_ns);

	if (path->state == LULL_BUNDLE_PATH_UP && path->under_way > 0)
		due_ns = LULL_MIN(due_ns, path->heard_ns + bundle_path_patience_ns(slot, path));
	return due_ns;
}
