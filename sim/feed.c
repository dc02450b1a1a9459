/* SPDX-License-Identifier: BSD-3-Clause */
#include "feed.h"

#include <string.h>

void
lull_sim_feed_init(struct lull_sim_feed *feed, uint64_t seed)
{
	memset(feed, 0, sizeof(*feed));
	lull_prng_init(&feed->spread, seed, 0x7273);
}

/* ---- the source ---- */

static uint64_t
feed_source_ns(const struct lull_sim_feed *feed)
{
	if (feed->arrival != NULL)
		return lull_arrival_next_ns(feed->arrival);
	if (feed->trace_index < feed->trace.count)
		return feed->trace.times_ns[feed->trace_index];
	return UINT64_MAX;
}

static uint32_t
feed_source_take(struct lull_sim_feed *feed)
{
	if (feed->arrival != NULL)
		return lull_arrival_take(feed->arrival);
	return feed->trace.bytes[feed->trace_index++];
}

/* Look up the next packet and send it over the link. */
static void
feed_advance(struct lull_sim_feed *feed)
{
	uint64_t ready_ns = feed_source_ns(feed);
	uint64_t burst_ns = feed->bursts != NULL ? lull_arrival_next_ns(feed->bursts) : UINT64_MAX;

	if (ready_ns == UINT64_MAX && burst_ns == UINT64_MAX) {
		feed->next_ns = UINT64_MAX;
		return;
	}
	feed->next_in_burst = burst_ns < ready_ns;
	if (feed->next_in_burst) {
		ready_ns = burst_ns;
		feed->next_bytes = lull_arrival_take(feed->bursts);
	} else {
		feed->next_bytes = feed_source_take(feed);
	}
	feed->next_ns =
		lull_sim_link_pass(&feed->link, ready_ns + feed->delay_ns, feed->next_bytes);
}

void
lull_sim_feed_begin(struct lull_sim_feed *feed)
{
	feed_advance(feed);
}

/* ---- one ring that the source alone feeds ---- */

static void
feed_fill_alone(struct lull_sim_feed *feed, struct lull_sim_ring *ring, uint64_t now_ns)
{
	while (feed->next_ns <= now_ns) {
		lull_sim_ring_accept(ring, feed->next_ns, feed->next_bytes);
		feed_advance(feed);
	}
}

/* The producer waits for room: what it could not hand over it hands over now, and goes on later. */
static void
feed_fill_closed(struct lull_sim_feed *feed, struct lull_sim_ring *ring, uint64_t now_ns)
{
	while (feed->next_ns <= now_ns && lull_sim_ring_count(ring) < ring->room) {
		lull_sim_ring_accept(ring, feed->next_ns, feed->next_bytes);
		feed_advance(feed);
	}
	if (feed->next_ns <= now_ns) {
		feed->delay_ns += now_ns + 1 - feed->next_ns;
		feed->next_ns = now_ns + 1;
	}
}

/* ---- several rings, or packets that a thread sends ---- */

/* A ring by chance, by its weight where rings have any. */
static uint32_t
feed_draw_ring(struct lull_sim_feed *feed)
{
	uint64_t place;
	uint32_t index = 0;

	if (feed->ring_count == 1)
		return 0;
	if (feed->weight_sum == 0)
		return (uint32_t)lull_prng_below(&feed->spread, feed->ring_count);
	place = lull_prng_below(&feed->spread, feed->weight_sum);
	while (place >= feed->weights[index])
		place -= feed->weights[index++];
	return index;
}

/* The ring of the next packet. */
static uint32_t
feed_next_ring(struct lull_sim_feed *feed)
{
	if (!feed->next_in_burst || feed->ring_count == 1)
		return feed_draw_ring(feed);
	if (feed->burst_left == 0) {
		feed->burst_left = feed->burst_pkts;
		feed->burst_ring = (uint32_t)lull_prng_below(&feed->spread, feed->ring_count);
	}
	feed->burst_left--;
	return feed->burst_ring;
}

static int
feed_pull_one(struct lull_sim_feed *feed)
{
	uint32_t index = feed_next_ring(feed);
	int rc = lull_sim_ring_send(feed->rings[index], feed->next_ns, feed->next_bytes);

	feed_advance(feed);
	return rc;
}

static int
feed_fill_way(struct lull_sim_feed *feed, struct lull_sim_ring *ring, uint64_t now_ns)
{
	const struct lull_sim_pkt *pkt;
	int rc;

	while (feed->next_ns <= now_ns) {
		rc = feed_pull_one(feed);
		if (rc != 0)
			return rc;
	}
	while (ring->way_head != ring->way_tail) {
		pkt = &ring->way[ring->way_head & ring->way_mask];
		if (pkt->arrive_ns > now_ns)
			break;
		lull_sim_ring_arrive(ring, pkt);
		ring->way_head++;
	}
	return 0;
}

static bool
feed_is_alone(const struct lull_sim_feed *feed)
{
	return feed->ring_count == 1 && (feed->arrival != NULL || feed->trace.count > 0);
}

int
lull_sim_feed_fill(struct lull_sim_feed *feed, struct lull_sim_ring *ring, uint64_t now_ns)
{
	if (!feed_is_alone(feed))
		return feed_fill_way(feed, ring, now_ns);
	if (feed->closed)
		feed_fill_closed(feed, ring, now_ns);
	else
		feed_fill_alone(feed, ring, now_ns);
	return 0;
}

int
lull_sim_feed_next(struct lull_sim_feed *feed, struct lull_sim_ring *ring, uint64_t limit_ns,
		   uint64_t *next_ns)
{
	int rc;

	if (feed_is_alone(feed)) {
		*next_ns = LULL_MIN(feed->next_ns, limit_ns);
		return 0;
	}
	while (ring->way_head == ring->way_tail && feed->next_ns < limit_ns) {
		rc = feed_pull_one(feed);
		if (rc != 0)
			return rc;
	}
	*next_ns = limit_ns;
	if (ring->way_head != ring->way_tail)
		*next_ns = LULL_MIN(limit_ns, ring->way[ring->way_head & ring->way_mask].arrive_ns);
	return 0;
}
