/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buckets: where the last packet of some flows went, and whether that worker still holds any. A
 * worker finishes what it was sent in order, so all packets of a bucket are done when the worker
 * has done as many as its last one's position.
 */
#include <string.h>

#include "base/assert.h"
#include "dispatch_state.h"

/* What the loop over a burst needs, kept together. */
struct track {
	struct lull_dispatch *dispatch;
	uint32_t sent[LULL_DISPATCH_WORKERS_MAX]; /* low halves: they wrap together */
	uint32_t done[LULL_DISPATCH_WORKERS_MAX];
	uint32_t ticks;
	bool splits; /* packets of one flow may be proposed to different workers */
	bool pins;   /* first packets of flows are counted */
};

static void
track_begin(struct track *track, struct lull_dispatch *dispatch)
{
	track->dispatch = dispatch;
	track->ticks = (uint32_t)(dispatch->view.now_ns >> LULL_BUCKET_TICK_SHIFT);
	track->splits = dispatch->scheduler->splits || dispatch->changed;
	track->pins = track->splits && dispatch->pin_pkts > 0;
	for (uint32_t worker = 0; worker < dispatch->view.worker_count; worker++) {
		track->sent[worker] = (uint32_t)dispatch->counters.worker_pkts[worker];
		track->done[worker] = (uint32_t)dispatch->view.loads[worker].done_pkts;
	}
}

static void
track_end(const struct track *track)
{
	struct lull_dispatch_counters *counters = &track->dispatch->counters;

	for (uint32_t worker = 0; worker < track->dispatch->view.worker_count; worker++) {
		int32_t more =
			(int32_t)(track->sent[worker] - (uint32_t)counters->worker_pkts[worker]);

		LULL_COUNTER_ADD(counters->worker_pkts[worker], (uint64_t)(int64_t)more);
	}
}

/* Does the bucket's worker hold any of it? */
static bool
bucket_inflight(const struct lull_bucket *bucket, const struct track *track)
{
	uint32_t held = track->sent[bucket->worker] - track->done[bucket->worker];
	uint32_t younger = track->sent[bucket->worker] - bucket->position;

	/* Its last packets were taken back: nobody knows how many of the others are its own. */
	if (bucket->position - track->sent[bucket->worker] <= UINT16_MAX)
		younger = 0;
	return (int32_t)held > 0 && younger < held;
}

/* Packets wait at most so much longer than the timeout, on no account less. */
static bool
bucket_idle(const struct lull_bucket *bucket, const struct track *track)
{
	return track->ticks - bucket->ticks > track->dispatch->idle_ticks;
}

static void
bucket_renew(struct lull_bucket *bucket)
{
	bucket->flags = 0;
	bucket->pkts = 0;
	memset(bucket->flow_pkts, 0, sizeof(bucket->flow_pkts));
}

/* ---- flows of a bucket ---- */

static uint16_t
bucket_tag(const struct lull_dispatch *dispatch, uint32_t digest)
{
	return (uint16_t)(digest >> dispatch->tag_shift);
}

/* How many packets of the flow there were, up to pin_pkts; NULL: it is not known (any more). */
static uint16_t *
bucket_flow(struct lull_bucket *bucket, uint16_t tag)
{
	for (uint32_t i = 0; i < LULL_BUCKET_FLOWS; i++) {
		if (bucket->tags[i] == tag && bucket->flow_pkts[i] > 0)
			return &bucket->flow_pkts[i];
	}
	return NULL;
}

/* A flow that finds no place takes that of the one which came first; who has many is back soon. */
static void
bucket_flow_add(struct lull_bucket *bucket, uint16_t tag, uint16_t pkts)
{
	memmove(bucket->tags + 1, bucket->tags, sizeof(bucket->tags) - sizeof(bucket->tags[0]));
	memmove(bucket->flow_pkts + 1, bucket->flow_pkts,
		sizeof(bucket->tags) - sizeof(bucket->tags[0]));
	bucket->tags[0] = tag;
	bucket->flow_pkts[0] = pkts;
}

/* One more packet of the flow. */
static void
bucket_flow_count(struct lull_bucket *bucket, const struct track *track, uint32_t digest)
{
	uint16_t tag = bucket_tag(track->dispatch, digest);
	uint16_t *pkts = bucket_flow(bucket, tag);

	if (pkts == NULL)
		bucket_flow_add(bucket, tag, 1);
	else if (*pkts < track->dispatch->pin_pkts)
		++*pkts;
}

/* Has its worker not yet had enough of the flow to identify it? */
static bool
bucket_pinned(struct lull_bucket *bucket, const struct track *track, uint32_t digest)
{
	const struct lull_dispatch *dispatch = track->dispatch;
	const uint16_t *pkts;

	if (!track->pins || (dispatch->tight >> bucket->worker & 1) != 0)
		return false;
	pkts = bucket_flow(bucket, bucket_tag(dispatch, digest));
	return pkts == NULL || *pkts < dispatch->pin_pkts;
}

/* ---- moves ---- */

/* The scheduler proposes another worker than the bucket's: which one it is to be. */
static uint16_t
bucket_move(struct lull_bucket *bucket, struct track *track, uint32_t digest, uint16_t proposed,
	    uint16_t *moved)
{
	struct lull_dispatch *dispatch = track->dispatch;
	bool held;

	if (!track->splits) {
		/* Not a flow that moves: another one of the bucket. Known in case one may later. */
		bucket->flags |= LULL_DISPATCH_SHARED;
		return proposed;
	}
	if (bucket_pinned(bucket, track, digest)) {
		LULL_COUNTER_ADD(dispatch->counters.held_pin, 1);
		return bucket->worker;
	}
	held = bucket_inflight(bucket, track);
	if (held && dispatch->order == LULL_ORDER_DRAIN) {
		LULL_COUNTER_ADD(dispatch->counters.held_order, 1);
		return bucket->worker;
	}
	LULL_COUNTER_ADD(dispatch->counters.moves, 1);
	LULL_COUNTER_ADD(dispatch->counters.moves_inflight, held);
	bucket->flags |= LULL_DISPATCH_SHARED;
	*moved = LULL_DISPATCH_MOVED;
	return proposed;
}

/* Tell the scheduler where a packet goes against its proposal. */
static void
track_placed(const struct track *track, uint32_t digest, uint16_t worker)
{
	const struct lull_dispatch *dispatch = track->dispatch;

	if (dispatch->scheduler->placed != NULL)
		dispatch->scheduler->placed(dispatch->state, &dispatch->view, digest, worker);
}

static uint16_t
bucket_decide(struct lull_bucket *bucket, struct track *track, uint32_t digest, uint16_t proposed,
	      uint16_t *moved)
{
	uint16_t worker = bucket_move(bucket, track, digest, proposed, moved);

	if (worker != proposed)
		track_placed(track, digest, worker);
	return worker;
}

/* While no flow can be at two workers none is called shared, whoever else is in its bucket. */
static void
mark_fill(struct lull_dispatch_mark *mark, const struct track *track,
	  const struct lull_bucket *bucket, uint32_t digest, uint16_t moved)
{
	const struct lull_dispatch *dispatch = track->dispatch;
	uint32_t index = digest & dispatch->view.bucket_mask;
	uint32_t shared = track->splits ? bucket->flags & LULL_DISPATCH_SHARED : 0;

	mark->bucket = index;
	mark->seq = bucket->seq;
	mark->flags = (uint16_t)(shared | moved);
	mark->app = 0;
	if ((bucket->flags & LULL_BUCKET_NOTED) != 0 && dispatch->notes[index].digest == digest)
		mark->app = dispatch->notes[index].app;
}

void
lull_bucket_track(struct lull_dispatch *dispatch, const uint32_t *digests, uint32_t count,
		  uint16_t *workers, struct lull_dispatch_mark *marks)
{
	uint32_t mask = dispatch->view.bucket_mask;
	struct track track;

	track_begin(&track, dispatch);
	for (uint32_t i = 0; i < count; i++) {
		struct lull_bucket *bucket = &dispatch->buckets[digests[i] & mask];
		uint16_t moved = 0;

		if (bucket->pkts == 0 ||
		    (bucket_idle(bucket, &track) && !bucket_inflight(bucket, &track)))
			bucket_renew(bucket);
		else if (workers[i] != bucket->worker)
			workers[i] = bucket_decide(bucket, &track, digests[i], workers[i], &moved);
		if (marks != NULL)
			mark_fill(&marks[i], &track, bucket, digests[i], moved);
		bucket->worker = (uint8_t)workers[i];
		bucket->position = ++track.sent[workers[i]];
		bucket->ticks = track.ticks;
		bucket->seq++;
		bucket->pkts = (uint16_t)(bucket->pkts + (bucket->pkts != UINT16_MAX));
		if (track.pins)
			bucket_flow_count(bucket, &track, digests[i]);
	}
	track_end(&track);
}

/* Undo what can be known of the last packets sent to a worker, the latest first. */
static void
bucket_take_back(struct track *track, uint16_t from, const uint32_t *digests, uint32_t count)
{
	for (uint32_t i = count; i-- > 0;) {
		struct lull_bucket *bucket =
			&track->dispatch->buckets[digests[i] & track->dispatch->view.bucket_mask];

		uint16_t *pkts = bucket_flow(bucket, bucket_tag(track->dispatch, digests[i]));

		if (bucket->pkts > 0 && bucket->pkts < UINT16_MAX)
			bucket->pkts--;
		if (pkts != NULL && *pkts < track->dispatch->pin_pkts)
			--*pkts;
	}
	track->sent[from] -= count;
}

/*
 * No second choice: when rings are about as full as the one that refused, the packet or the next
 * one is lost here, and its flow has to be identified again before.
 */
static bool
bucket_crowded(const struct lull_dispatch_load *load)
{
	return (uint64_t)load->used_pkts * 4 > (uint64_t)load->capacity_pkts * 3;
}

/* The worker with the most free places, by what it has been given here too; @p from if none. */
static uint16_t
track_roomiest(const struct track *track, const uint32_t *given, uint16_t from)
{
	const struct lull_schedule_view *view = &track->dispatch->view;
	uint16_t roomiest = from;
	int64_t room_most = 0;

	for (uint16_t worker = 0; worker < view->worker_count; worker++) {
		int64_t room = (int64_t)view->loads[worker].capacity_pkts -
			       view->loads[worker].used_pkts - given[worker];

		if (worker != from && room > room_most && !bucket_crowded(&view->loads[worker])) {
			room_most = room;
			roomiest = worker;
		}
	}
	return roomiest;
}

/* Where a packet refused by @p from may go instead; @p from: nowhere. */
static uint16_t
bucket_second(const struct lull_bucket *bucket, const struct track *track, const uint32_t *given,
	      uint16_t from)
{
	const struct lull_dispatch_load *load = &track->dispatch->view.loads[bucket->worker];
	bool there = bucket->worker != from &&
		     load->used_pkts + given[bucket->worker] < load->capacity_pkts;

	if (there)
		return bucket->worker; /* where others of its flow have gone */
	if (track->dispatch->order == LULL_ORDER_DRAIN && bucket->pkts > 0 &&
	    (bucket->worker != from || bucket_inflight(bucket, track)))
		return from;
	return track_roomiest(track, given, from);
}

/* Send a refused packet to @p second after all. */
static void
bucket_resend(struct lull_bucket *bucket, struct track *track, uint32_t digest, uint16_t second,
	      struct lull_dispatch_mark *mark)
{
	struct lull_dispatch_counters *counters = &track->dispatch->counters;
	bool moves = bucket->worker != second && bucket->pkts > 0;

	if (moves) {
		LULL_COUNTER_ADD(counters->moves, 1);
		LULL_COUNTER_ADD(counters->moves_inflight, bucket_inflight(bucket, track));
		bucket->flags |= LULL_DISPATCH_SHARED;
	}
	bucket->worker = (uint8_t)second;
	bucket->position = ++track->sent[second];
	bucket->pkts = (uint16_t)(bucket->pkts + (bucket->pkts != UINT16_MAX));
	if (track->pins)
		bucket_flow_count(bucket, track, digest);
	LULL_COUNTER_ADD(counters->retried, 1);
	if (mark == NULL)
		return;
	mark->flags |= bucket->flags & LULL_DISPATCH_SHARED;
	if (moves)
		mark->flags |= LULL_DISPATCH_MOVED;
}

void
lull_bucket_refused(struct lull_dispatch *dispatch, uint16_t from, const uint32_t *digests,
		    uint32_t count, uint16_t *workers, struct lull_dispatch_mark *marks)
{
	uint32_t given[LULL_DISPATCH_WORKERS_MAX] = { 0 };
	bool again = dispatch->scheduler->splits && !dispatch->scheduler->loses;
	uint32_t mask = dispatch->view.bucket_mask;
	struct track track;

	track_begin(&track, dispatch);
	bucket_take_back(&track, from, digests, count);
	for (uint32_t i = 0; i < count; i++) {
		struct lull_bucket *bucket = &dispatch->buckets[digests[i] & mask];

		workers[i] = again ? bucket_second(bucket, &track, given, from) : from;
		if (workers[i] == from) {
			LULL_COUNTER_ADD(dispatch->counters.refused, 1);
			continue;
		}
		given[workers[i]]++;
		bucket_resend(bucket, &track, digests[i], workers[i],
			      marks != NULL ? &marks[i] : NULL);
	}
	/* Numbers of dropped packets are used again when nothing came after them. */
	for (uint32_t i = count; marks != NULL && i-- > 0;) {
		struct lull_bucket *bucket = &dispatch->buckets[digests[i] & mask];

		if (workers[i] == from && bucket->seq == marks[i].seq + 1)
			bucket->seq--;
	}
	track_end(&track);
}

void
lull_bucket_note(struct lull_dispatch *dispatch, uint32_t digest, uint16_t app)
{
	uint32_t index = digest & dispatch->view.bucket_mask;

	struct lull_bucket *bucket = &dispatch->buckets[index];
	uint16_t tag = bucket_tag(dispatch, digest);
	uint16_t *pkts = bucket_flow(bucket, tag);

	dispatch->notes[index] = (struct lull_bucket_note){ digest, app };
	bucket->flags |= LULL_BUCKET_NOTED;
	if (pkts != NULL)
		*pkts = UINT16_MAX;
	else
		bucket_flow_add(bucket, tag, UINT16_MAX);
}
