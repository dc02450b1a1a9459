/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "dispatch_state.h"

/* A ring this full needs relief more than its flows need their identification. */
#define TIGHT_SIXTEENTHS 14
/* Up to so many workers a burst is counted by comparing, without waiting for stores. */
#define COMPARED_WORKERS_MAX 8

const struct lull_counter_info lull_dispatch_counter_table[] = {
#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_dispatch_counters, member, unit_text, help_text)
	ROW(pkts, "packets", "packets given to a worker"),
	ROW(bursts, "1", "bursts dispatched"),
	ROW(moves, "1", "buckets that changed their worker"),
	ROW(moves_inflight, "1", "moves while the old worker still held packets of the bucket"),
	ROW(held_order, "packets", "packets that stayed only because of the order contract"),
	ROW(held_pin, "packets", "packets that stayed only because their flow is new to nDPI"),
	ROW(relieved, "packets", "packets sent to another worker because of load"),
	ROW(collisions, "packets", "packets that took the slot of another flow (subflow-paper)"),
	ROW(retried, "packets", "packets given to a second worker because the first ring was full"),
	ROW(refused, "packets", "packets dropped because no permitted ring had room"),
	ROW(notes, "1", "results of nDPI received from workers"),
	ROW(shadow_agreed, "packets", "packets for which the shadow chose the same worker"),
	ROW(shadow_moves, "1", "moves that the shadow would have made"),
	{ .name = NULL },
#undef ROW
};

static size_t
dispatch_round(size_t size)
{
	return (size + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
}

/* Where the parts of a dispatcher lie. */
struct layout {
	size_t state_size, state, shadow_state, shadow_workers, buckets, notes, size;
	bool tracks;
};

static void
layout_fill(struct layout *layout, const struct lull_dispatch_config *config)
{
	struct lull_dispatch_config full = *config;
	size_t bucket_count;

	lull_dispatch_config_default(&full);
	bucket_count = (size_t)1 << full.bucket_bits;
	*layout = (struct layout){ 0 };
	layout->tracks = full.tracks || full.order != LULL_ORDER_NONE || full.scheduler->splits;
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		size_t size = lull_schedulers[i]->state_size(&full);

		layout->state_size = LULL_MAX(layout->state_size, size);
	}
	layout->state = dispatch_round(sizeof(struct lull_dispatch));
	layout->shadow_state = layout->state + dispatch_round(layout->state_size);
	layout->shadow_workers = layout->shadow_state + dispatch_round(layout->state_size);
	layout->buckets = layout->shadow_workers + dispatch_round(bucket_count);
	layout->notes = layout->buckets;
	layout->size = layout->buckets;
	if (!layout->tracks)
		return;
	layout->notes += dispatch_round(bucket_count * sizeof(struct lull_bucket));
	layout->size = layout->notes;
	layout->size += dispatch_round(bucket_count * sizeof(struct lull_bucket_note));
}

size_t
lull_dispatch_size(const struct lull_dispatch_config *config)
{
	struct layout layout;

	layout_fill(&layout, config);
	return layout.size;
}

static void
dispatch_start(struct lull_dispatch *dispatch, const struct lull_scheduler *scheduler,
	       const struct lull_scheduler *shadow)
{
	/* Who stays keeps what it has learnt. */
	if (scheduler != dispatch->scheduler) {
		dispatch->changed = dispatch->scheduler != NULL;
		dispatch->scheduler = scheduler;
		memset(dispatch->state, 0, dispatch->state_size);
		scheduler->init(dispatch->state, &dispatch->view);
	}
	if (shadow == dispatch->shadow)
		return;
	dispatch->shadow = shadow;
	if (shadow == NULL)
		return;
	memset(dispatch->shadow_state, 0, dispatch->state_size);
	memset(dispatch->shadow_workers, 0, (size_t)dispatch->view.bucket_mask + 1);
	shadow->init(dispatch->shadow_state, &dispatch->view);
}

int
lull_dispatch_init(void *memory, const struct lull_dispatch_config *config,
		   struct lull_dispatch **dispatch_out)
{
	struct lull_dispatch_config full = *config;
	struct lull_dispatch *dispatch = memory;
	uint8_t *bytes = memory;
	struct layout layout;

	if (lull_dispatch_config_check(config, NULL) != 0)
		return -EINVAL;
	LULL_ASSERT((uintptr_t)memory % LULL_CACHE_LINE == 0);
	lull_dispatch_config_default(&full);
	layout_fill(&layout, config);
	memset(memory, 0, layout.size);
	dispatch->config = *config;
	dispatch->state_size = layout.state_size;
	dispatch->state = bytes + layout.state;
	dispatch->shadow_state = bytes + layout.shadow_state;
	dispatch->shadow_workers = bytes + layout.shadow_workers;
	if (layout.tracks) {
		dispatch->buckets = (void *)(bytes + layout.buckets);
		dispatch->notes = (void *)(bytes + layout.notes);
	}
	dispatch->idle_ticks = (uint32_t)(full.idle_ns >> LULL_BUCKET_TICK_SHIFT) + 1;
	dispatch->pin_pkts = full.pin_pkts;
	dispatch->tag_shift = full.bucket_bits;
	dispatch->order = full.order;
	dispatch->trace.worker_count = full.worker_count;
	dispatch->view = (struct lull_schedule_view){
		.best = lull_weights_function(full.weights),
		.tally = &dispatch->tally,
		.worker_count = full.worker_count,
		.bucket_mask = ((uint32_t)1 << full.bucket_bits) - 1,
		.threshold_ppm = full.threshold_ppm,
		.enter_ppm = full.enter_ppm,
		.leave_ppm = full.leave_ppm,
		.idle_ns = full.idle_ns,
		.seed = full.seed,
	};
	dispatch_start(dispatch, full.scheduler, full.shadow);
	*dispatch_out = dispatch;
	return 0;
}

/* Take in the loads; divides only when a ring has another size than before. */
static void
dispatch_look(struct lull_dispatch *dispatch, uint64_t now_ns,
	      const struct lull_dispatch_load *loads)
{
	struct lull_schedule_view *view = &dispatch->view;

	view->now_ns = now_ns;
	view->loads = loads;
	dispatch->tight = 0;
	for (uint32_t worker = 0; worker < view->worker_count; worker++) {
		uint32_t capacity_pkts = loads[worker].capacity_pkts;
		bool tight = (uint64_t)loads[worker].used_pkts * 16 >
			     (uint64_t)capacity_pkts * TIGHT_SIXTEENTHS;

		LULL_ASSERT_HOT(capacity_pkts > 0);
		dispatch->tight |= (uint32_t)tight << worker;
		if (capacity_pkts != dispatch->capacity_pkts[worker]) {
			dispatch->capacity_pkts[worker] = capacity_pkts;
			view->per_slot[worker] = ((uint64_t)1 << 32) / capacity_pkts;
		}
	}
}

/* Count packets by worker: + 1 each. */
static void
dispatch_count(const struct lull_dispatch *dispatch, const uint16_t *workers, uint32_t count,
	       uint64_t *totals)
{
	uint32_t worker_count = dispatch->view.worker_count;
	uint32_t pkts[LULL_DISPATCH_WORKERS_MAX] = { 0 };

	if (worker_count <= COMPARED_WORKERS_MAX) {
		for (uint16_t worker = 0; worker < worker_count; worker++) {
			uint16_t same = 0;

			for (uint32_t i = 0; i < count; i++)
				same = (uint16_t)(same + (workers[i] == worker));
			pkts[worker] = same;
		}
	} else {
		for (uint32_t i = 0; i < count; i++)
			pkts[workers[i]]++;
	}
	for (uint32_t worker = 0; worker < worker_count; worker++)
		LULL_COUNTER_ADD(totals[worker], pkts[worker]);
}

static void
dispatch_shadow(struct lull_dispatch *dispatch, const uint32_t *digests, uint32_t count,
		const uint16_t *workers)
{
	struct lull_schedule_view view = dispatch->view;
	uint16_t others[LULL_DISPATCH_BURST_MAX];
	uint64_t agreed = 0, moves = 0;

	view.tally = &dispatch->shadow_tally;
	dispatch->shadow->burst(dispatch->shadow_state, &view, digests, count, others);
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *last = &dispatch->shadow_workers[digests[i] & view.bucket_mask];
		uint8_t now = (uint8_t)(others[i] + 1);

		agreed += others[i] == workers[i];
		moves += *last != 0 && *last != now;
		*last = now;
	}
	LULL_COUNTER_ADD(dispatch->counters.shadow_agreed, agreed);
	LULL_COUNTER_ADD(dispatch->counters.shadow_moves, moves);
	dispatch_count(dispatch, others, count, dispatch->counters.shadow_pkts);
}

/* Ask for the buckets before they are needed: the scheduler works while they come. */
static void
dispatch_prefetch(const struct lull_dispatch *dispatch, const uint32_t *digests, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(&dispatch->buckets[digests[i] & dispatch->view.bucket_mask], 1);
}

static bool
dispatch_schedules_by_crc(const struct lull_dispatch *dispatch)
{
	return dispatch->scheduler->needs_crcs ||
	       (dispatch->shadow != NULL && dispatch->shadow->needs_crcs);
}

void
lull_dispatch_burst(struct lull_dispatch *dispatch, uint64_t now_ns,
		    const struct lull_dispatch_load *loads, const uint32_t *digests,
		    const uint32_t *crcs, uint32_t count, uint16_t *workers,
		    struct lull_dispatch_mark *marks)
{
	struct lull_dispatch_counters *counters = &dispatch->counters;

	LULL_ASSERT(count <= LULL_DISPATCH_BURST_MAX);
	LULL_ASSERT(crcs != NULL || !dispatch_schedules_by_crc(dispatch));
	if (dispatch->buckets != NULL)
		dispatch_prefetch(dispatch, digests, count);
	dispatch_look(dispatch, now_ns, loads);
	dispatch->view.crcs = crcs;
	dispatch->scheduler->burst(dispatch->state, &dispatch->view, digests, count, workers);
	if (dispatch->buckets != NULL) {
		lull_bucket_track(dispatch, digests, count, workers, marks);
	} else {
		dispatch_count(dispatch, workers, count, counters->worker_pkts);
		if (marks != NULL)
			memset(marks, 0, count * sizeof(*marks));
	}
	LULL_COUNTER_ADD(counters->pkts, count);
	LULL_COUNTER_ADD(counters->bursts, 1);
	LULL_COUNTER_ADD(counters->relieved, dispatch->tally.relieved);
	LULL_COUNTER_ADD(counters->collisions, dispatch->tally.collisions);
	dispatch->tally = (struct lull_schedule_tally){ 0 };
	if (dispatch->shadow != NULL)
		dispatch_shadow(dispatch, digests, count, workers);
	if (dispatch->trace.tracer != NULL)
		lull_trace_burst(
			&dispatch->trace,
			&(struct lull_trace_burst){ now_ns, loads, digests, crcs, workers, count });
}

void
lull_dispatch_refused(struct lull_dispatch *dispatch, uint64_t now_ns, uint16_t from,
		      const struct lull_dispatch_load *loads, const uint32_t *digests,
		      uint32_t count, uint16_t *workers, struct lull_dispatch_mark *marks)
{
	struct lull_dispatch_counters *counters = &dispatch->counters;

	LULL_ASSERT(count <= LULL_DISPATCH_BURST_MAX && from < dispatch->view.worker_count);
	LULL_ASSERT(count <= counters->worker_pkts[from]);
	dispatch_look(dispatch, now_ns, loads);
	if (dispatch->buckets != NULL) {
		lull_bucket_refused(dispatch, from, digests, count, workers, marks);
	} else {
		for (uint32_t i = 0; i < count; i++)
			workers[i] = from;
		LULL_COUNTER_ADD(counters->worker_pkts[from], -(uint64_t)count);
		LULL_COUNTER_ADD(counters->refused, count);
	}
	if (dispatch->trace.tracer != NULL)
		lull_trace_refused(
			&dispatch->trace, from,
			&(struct lull_trace_burst){ now_ns, loads, digests, NULL, workers, count });
}

void
lull_dispatch_dropped(struct lull_dispatch *dispatch, uint16_t worker, uint32_t count)
{
	struct lull_dispatch_counters *counters = &dispatch->counters;

	LULL_ASSERT(worker < dispatch->view.worker_count);
	LULL_ASSERT(count <= counters->worker_pkts[worker]);
	LULL_COUNTER_ADD(counters->worker_pkts[worker], -(uint64_t)count);
	LULL_COUNTER_ADD(counters->refused, count);
	if (dispatch->trace.tracer != NULL)
		lull_trace_dropped(&dispatch->trace, worker, count);
}

void
lull_dispatch_note(struct lull_dispatch *dispatch, uint32_t digest, uint16_t app)
{
	LULL_COUNTER_ADD(dispatch->counters.notes, 1);
	if (dispatch->buckets != NULL)
		lull_bucket_note(dispatch, digest, app);
	if (dispatch->trace.tracer != NULL)
		lull_trace_note(&dispatch->trace, digest, app);
}

void
lull_dispatch_change(struct lull_dispatch *dispatch, const struct lull_scheduler *scheduler,
		     const struct lull_scheduler *shadow)
{
	dispatch_start(dispatch, scheduler, shadow);
	if (dispatch->trace.tracer != NULL)
		lull_trace_change(&dispatch->trace, scheduler, shadow);
}

void
lull_dispatch_thresholds(struct lull_dispatch *dispatch, uint32_t threshold_ppm, uint32_t enter_ppm,
			 uint32_t leave_ppm)
{
	struct lull_dispatch_config config = dispatch->config;

	config.threshold_ppm = threshold_ppm;
	lull_dispatch_config_default(&config);
	dispatch->view.threshold_ppm = config.threshold_ppm;
	dispatch->view.enter_ppm = enter_ppm;
	dispatch->view.leave_ppm = leave_ppm;
	if (dispatch->trace.tracer != NULL)
		lull_trace_thresholds(&dispatch->trace, threshold_ppm, enter_ppm, leave_ppm);
}

const struct lull_scheduler *
lull_dispatch_scheduler(const struct lull_dispatch *dispatch)
{
	return dispatch->scheduler;
}

bool
lull_dispatch_needs_crcs(const struct lull_dispatch *dispatch)
{
	return dispatch_schedules_by_crc(dispatch) || dispatch->trace.tracer != NULL;
}

bool
lull_dispatch_tracks(const struct lull_dispatch *dispatch)
{
	return dispatch->buckets != NULL;
}

const struct lull_dispatch_counters *
lull_dispatch_counters(const struct lull_dispatch *dispatch)
{
	return &dispatch->counters;
}

void
lull_dispatch_trace(struct lull_dispatch *dispatch, lull_dispatch_tracer *tracer, void *arg)
{
	dispatch->trace.tracer = tracer;
	dispatch->trace.arg = arg;
	if (tracer != NULL)
		lull_trace_config(&dispatch->trace, &dispatch->config);
}
