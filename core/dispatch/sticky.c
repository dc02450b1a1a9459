/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sticky: subflow's relief, remembered.
 *
 * A bucket of flows stays where it was born: with highest random weight, or, when packets wait
 * there already, with the worker that has the fewest: a new flow costs nothing to place. A worker
 * above `enter` gives away the bucket with the most packets that leaves its new worker no busier
 * than the old one was, one per window; above half of its ring, whatever fits so. Buckets go back
 * when their home has been below `leave` for a while and has shown that it can carry them as well.
 * A flow too heavy for any worker goes round as its workers fill, and the many light ones stay: no
 * light one leaves a worker for want of room while such a one is there.
 *
 * Thresholds that are not given follow from what is measured: `enter` is what the worker finishes
 * in one window at the rate it shows while busy, at most what leaves room for four bursts like the
 * largest lately; `leave` a quarter of it.
 */
#include "scheduler.h"

#include <assert.h>

#define WINDOW_SHIFT 17 /* 131 us */
#define WINDOW_NS (1ull << WINDOW_SHIFT)
/* A window in which fewer bursts were seen does not tell whether the worker was busy. */
#define WINDOW_BURSTS_MIN 4
#define RETURN_NS (40 * LULL_NS_PER_MS)
/* Buckets return one after the other within this time, by their number. */
#define RETURN_SPREAD_SHIFT 25        /* 34 ms */
#define AGE_SHIFT 26                  /* of a bucket's clock: 67 ms */
#define HEAT_SHIFT 20                 /* heat halves each ms */
#define HEAVY_NS (2 * LULL_NS_PER_MS) /* a bucket that was too heavy still is */
/* More packets than it has sent, for choosing where the next new bucket goes. */
#define FRESH_PKTS 2
#define REST_AGES 8 /* a bucket that moved stays for 0.5 s */

struct place {
	uint16_t age;    /* clock of the last packet */
	uint16_t heat;   /* packets lately */
	uint8_t worker;  /* + 1; 0: none */
	uint8_t home;    /* where it was born */
	uint8_t cooled;  /* clock of heat */
	uint8_t settled; /* clock of the last move, low bits */
};
static_assert(sizeof(struct place) == 8, "eight buckets to a cache line");

struct gauge {
	uint32_t enter_pkts, leave_pkts;
	uint32_t drain_pkts; /* finished per window while busy, mean; 0: not seen busy yet */
	uint32_t given_pkts; /* per window, mean */
	uint32_t away_pkts;  /* of buckets born here, elsewhere, per window, mean */
	uint32_t burst_pkts; /* largest lately */
	uint32_t fresh_pkts; /* for buckets born here lately, halved per window */
	uint32_t window_given, window_away;
	uint64_t window_done; /* at its begin */
	uint64_t calm_ns;     /* last time it was not below leave */
	uint64_t move_ns;     /* when it may give away the next bucket */
	uint32_t heavy_heat;  /* above it a bucket is too heavy for any worker */
	uint64_t heavy_ns;    /* when a bucket too heavy for it was seen last; 0: never */
	bool busy;            /* in all bursts of this window */
};

/* What one burst needs. */
struct moment {
	uint32_t queue_pkts[LULL_DISPATCH_WORKERS_MAX]; /* ring, staged and this burst */
	uint32_t heaviest[LULL_DISPATCH_WORKERS_MAX];   /* bucket, of workers in `gives` */
	uint32_t heat[LULL_DISPATCH_WORKERS_MAX];       /* of that */
	uint32_t above;  /* bit per worker: more waits than enter says */
	uint32_t gives;  /* bit per worker: gives away its heaviest */
	uint32_t spills; /* bit per worker: gives away what comes */
	uint32_t calm;   /* bit per worker: takes its own back */
};

struct sticky {
	uint64_t window_end_ns;
	uint32_t window_bursts;
	struct gauge gauges[LULL_DISPATCH_WORKERS_MAX];
	struct place places[];
};

static size_t
sticky_state_size(const struct lull_dispatch_config *config)
{
	return sizeof(struct sticky) + (sizeof(struct place) << config->bucket_bits);
}

static uint32_t
mean_next(uint32_t mean, uint32_t value)
{
	return mean == 0 ? value : (3 * mean + value + 2) / 4;
}

static void
gauge_thresholds(struct gauge *gauge, const struct lull_schedule_view *view, uint32_t worker)
{
	uint64_t capacity = view->loads[worker].capacity_pkts;
	uint64_t most = capacity - LULL_MIN(capacity / 2, 4ull * gauge->burst_pkts);
	uint64_t enter = gauge->drain_pkts > 0 ? gauge->drain_pkts : capacity / 8;

	enter = LULL_MAX(LULL_MIN(enter, most), capacity / 16);
	if (view->enter_ppm > 0)
		enter = capacity * view->enter_ppm / LULL_PPM;
	gauge->enter_pkts = (uint32_t)enter;
	gauge->leave_pkts = (uint32_t)LULL_MAX(enter / 4, capacity / 64);
	if (view->leave_ppm > 0)
		gauge->leave_pkts = (uint32_t)(capacity * view->leave_ppm / LULL_PPM);
}

static void
gauge_window(struct gauge *gauge, const struct lull_schedule_view *view, uint32_t worker,
	     bool whole)
{
	uint64_t done_pkts = view->loads[worker].done_pkts;

	if (whole && gauge->busy)
		gauge->drain_pkts =
			mean_next(gauge->drain_pkts, (uint32_t)(done_pkts - gauge->window_done));
	gauge->given_pkts = mean_next(gauge->given_pkts, gauge->window_given);
	gauge->away_pkts = mean_next(gauge->away_pkts, gauge->window_away);
	gauge->burst_pkts -= gauge->burst_pkts / 8;
	gauge->fresh_pkts -= gauge->fresh_pkts / 2;
	gauge->window_given = 0;
	gauge->window_away = 0;
	gauge->window_done = done_pkts;
	gauge->busy = true;
}

/*
 * Too heavy is what keeps a worker busy all by itself, with a quarter to spare, and is more than a
 * worker's part of all: while flows are identified workers are slow, and many seem to be the
 * former. Heat is 1 to 2 times the packets of a ms, 1.5 in the mean.
 */
static void
sticky_measure_heavy(struct sticky *sticky, const struct lull_schedule_view *view)
{
	uint32_t all_pkts = 0, part_heat;

	for (uint32_t worker = 0; worker < view->worker_count; worker++)
		all_pkts += sticky->gauges[worker].given_pkts;
	part_heat = ((all_pkts / view->worker_count) << (HEAT_SHIFT - WINDOW_SHIFT)) / 2 * 3;
	for (uint32_t worker = 0; worker < view->worker_count; worker++) {
		struct gauge *gauge = &sticky->gauges[worker];
		uint32_t busy_heat = (gauge->drain_pkts << (HEAT_SHIFT - WINDOW_SHIFT)) / 4 * 5;

		gauge->heavy_heat =
			gauge->drain_pkts > 0 ? LULL_MAX(busy_heat, part_heat) : UINT32_MAX;
	}
}

/* Rates are per window; one that lasted much longer tells none. */
static void
sticky_measure(struct sticky *sticky, const struct lull_schedule_view *view)
{
	bool whole = sticky->window_bursts >= WINDOW_BURSTS_MIN &&
		     view->now_ns - sticky->window_end_ns < WINDOW_NS / 4;

	sticky->window_bursts++;
	if (view->now_ns >= sticky->window_end_ns) {
		for (uint32_t worker = 0; worker < view->worker_count; worker++)
			gauge_window(&sticky->gauges[worker], view, worker, whole);
		sticky_measure_heavy(sticky, view);
		sticky->window_end_ns = view->now_ns + WINDOW_NS;
		sticky->window_bursts = 0;
	}
}

static void
moment_begin(struct moment *moment, struct sticky *sticky, const struct lull_schedule_view *view)
{
	moment->above = moment->gives = moment->spills = moment->calm = 0;
	for (uint32_t worker = 0; worker < view->worker_count; worker++) {
		const struct lull_dispatch_load *load = &view->loads[worker];
		struct gauge *gauge = &sticky->gauges[worker];
		uint32_t used_pkts = load->used_pkts;

		gauge_thresholds(gauge, view, worker);
		gauge->busy &= used_pkts > 0;
		if (used_pkts >= gauge->leave_pkts)
			gauge->calm_ns = view->now_ns;
		moment->queue_pkts[worker] = used_pkts;
		moment->heat[worker] = 0;
		moment->heaviest[worker] = UINT32_MAX;
		if (used_pkts > gauge->enter_pkts)
			moment->above |= 1u << worker;
		if (used_pkts > gauge->enter_pkts && view->now_ns >= gauge->move_ns)
			moment->gives |= 1u << worker;
		if (used_pkts > load->capacity_pkts / 2 && used_pkts > gauge->enter_pkts)
			moment->spills |= 1u << worker;
		if (view->now_ns - gauge->calm_ns >= RETURN_NS &&
		    (gauge->drain_pkts == 0 ||
		     gauge->given_pkts + gauge->away_pkts <= gauge->drain_pkts / 4 * 3))
			moment->calm |= 1u << worker;
	}
}

static void
place_heat(struct place *place, uint64_t now_ns)
{
	uint8_t clock = (uint8_t)(now_ns >> HEAT_SHIFT);
	uint8_t passed = (uint8_t)(clock - place->cooled);

	if (passed > 0) {
		place->heat = (uint16_t)(passed < 16 ? place->heat >> passed : 0);
		place->cooled = clock;
	}
	place->heat = (uint16_t)(place->heat + (place->heat != UINT16_MAX));
}

/* The worker with the fewest packets waiting; @p preferred of several. */
static uint8_t
moment_shortest(const struct moment *moment, uint32_t worker_count, uint8_t preferred)
{
	uint8_t shortest = preferred;

	for (uint8_t worker = 0; worker < worker_count; worker++) {
		if (moment->queue_pkts[worker] < moment->queue_pkts[shortest])
			shortest = worker;
	}
	return shortest;
}

static bool
place_heavy(const struct place *place, const struct gauge *gauge)
{
	return place->heat > gauge->heavy_heat;
}

/* What has moved stays for a while, so that two do not push each other round. */
static bool
place_rests(const struct place *place, uint64_t now_ns)
{
	uint8_t passed = (uint8_t)((uint8_t)(now_ns >> AGE_SHIFT) - place->settled);

	return place->settled != 0 && passed < REST_AGES;
}

/* Packets per window, about. */
static uint32_t
place_rate(const struct place *place)
{
	return (place->heat >> (HEAT_SHIFT - WINDOW_SHIFT)) * 2 / 3;
}

/* May the bucket leave for @p to: is the busier of the two workers no busier then? */
static bool
place_fits(const struct place *place, const struct gauge *gauges, uint8_t to, uint64_t now_ns)
{
	const struct gauge *from = &gauges[place->worker - 1];

	if (place_heavy(place, from))
		return true; /* nowhere: it has to go round */
	return !place_rests(place, now_ns) &&
	       gauges[to].given_pkts + LULL_MIN(place_rate(place), from->given_pkts) <=
		       from->given_pkts;
}

/* Where @p from may give packets to; itself when the others have hardly fewer. */
static uint8_t
moment_receiver(const struct moment *moment, uint32_t worker_count, uint8_t from)
{
	uint8_t to = moment_shortest(moment, worker_count, from);

	return 2 * moment->queue_pkts[to] < moment->queue_pkts[from] ? to : from;
}

/* The same for a bucket that is too heavy for any: it keeps their queues level. */
static uint8_t
moment_lighter(const struct moment *moment, const struct lull_schedule_view *view, uint8_t from)
{
	uint8_t to = moment_shortest(moment, view->worker_count, from);
	uint32_t step_pkts = view->loads[from].capacity_pkts / 8;

	return moment->queue_pkts[to] + step_pkts < moment->queue_pkts[from] ? to : from;
}

static void
place_move(struct place *place, struct moment *moment, struct gauge *gauges,
	   const struct lull_schedule_view *view)
{
	uint8_t from = (uint8_t)(place->worker - 1);
	bool heavy = place_heavy(place, &gauges[from]);
	uint8_t to = heavy ? moment_lighter(moment, view, from) :
			     moment_receiver(moment, view->worker_count, from);
	uint32_t rate_pkts = LULL_MIN(place_rate(place), gauges[from].given_pkts);

	if (to == from || !place_fits(place, gauges, to, view->now_ns))
		return;
	place->worker = (uint8_t)(to + 1);
	place->settled = (uint8_t)(view->now_ns >> AGE_SHIFT);
	gauges[from].move_ns = view->now_ns + WINDOW_NS;
	gauges[from].given_pkts -= rate_pkts;
	gauges[to].given_pkts += rate_pkts;
	moment->gives &= ~(1u << from);
}

/* A packet for a worker above enter: is it its bucket's turn to leave? */
static bool
place_relieve(struct place *place, struct moment *moment, struct gauge *gauges,
	      const struct lull_schedule_view *view, uint32_t index)
{
	uint32_t from = place->worker - 1u;

	if (place_heavy(place, &gauges[from]))
		gauges[from].heavy_ns = view->now_ns;
	if (moment->heaviest[from] != index &&
	    ((moment->spills >> from & 1) == 0 || view->now_ns - gauges[from].heavy_ns <= HEAVY_NS))
		return false;
	place_move(place, moment, gauges, view);
	return true;
}

/* Of the buckets of this burst that may move the heaviest, for each worker that gives one. */
static void
sticky_weigh(const struct sticky *sticky, const struct lull_schedule_view *view,
	     struct moment *moment, const uint32_t *digests, uint32_t count)
{
	uint8_t receivers[LULL_DISPATCH_WORKERS_MAX];

	for (uint8_t worker = 0; worker < view->worker_count; worker++)
		receivers[worker] = moment_receiver(moment, view->worker_count, worker);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = digests[i] & view->bucket_mask;
		const struct place *place = &sticky->places[index];
		uint32_t worker = place->worker - 1u;

		if (place->worker == 0 || (moment->gives >> worker & 1) == 0 ||
		    place->heat <= moment->heat[worker] ||
		    !place_fits(place, sticky->gauges, receivers[worker], view->now_ns))
			continue;
		moment->heat[worker] = place->heat;
		moment->heaviest[worker] = index;
	}
}

/*
 * A new bucket will cost more than the queues tell: what comes with it is identified. Its worker
 * is not the shortest for a while, or all new ones of several bursts would go there.
 */
static void
place_born(struct place *place, const struct moment *moment, struct gauge *gauges,
	   const struct lull_schedule_view *view, uint8_t home)
{
	bool waits = moment->queue_pkts[home] > gauges[home].leave_pkts;

	for (uint8_t worker = 0; waits && worker < view->worker_count; worker++) {
		if (moment->queue_pkts[worker] + gauges[worker].fresh_pkts <
		    moment->queue_pkts[home] + gauges[home].fresh_pkts)
			home = worker;
	}
	gauges[home].fresh_pkts += FRESH_PKTS;
	*place = (struct place){ .worker = (uint8_t)(home + 1), .home = home };
}

static bool
place_returns(const struct place *place, const struct moment *moment, const struct gauge *gauges,
	      const struct lull_schedule_view *view, uint32_t index)
{
	uint64_t wait_ns = (uint64_t)(index & 255) << (RETURN_SPREAD_SHIFT - 8);

	return place->worker != place->home + 1 && (moment->calm >> place->home & 1) != 0 &&
	       view->now_ns - gauges[place->home].calm_ns >= RETURN_NS + wait_ns;
}

static uint16_t
sticky_choose(struct sticky *sticky, const struct lull_schedule_view *view, struct moment *moment,
	      uint32_t index, uint16_t home)
{
	struct place *place = &sticky->places[index];
	uint16_t age = (uint16_t)(view->now_ns >> AGE_SHIFT);
	uint16_t idle_ages = (uint16_t)LULL_MIN(view->idle_ns >> AGE_SHIFT, UINT16_MAX - 2ull);
	uint32_t worker;

	if (place->worker == 0 || (uint16_t)(age - place->age) > idle_ages + 1)
		place_born(place, moment, sticky->gauges, view, (uint8_t)home);
	place->age = age;
	place_heat(place, view->now_ns);
	worker = place->worker - 1u;
	if ((moment->above >> worker & 1) == 0 ||
	    !place_relieve(place, moment, sticky->gauges, view, index)) {
		if (place_returns(place, moment, sticky->gauges, view, index))
			place->worker = (uint8_t)(place->home + 1);
	}
	worker = place->worker - 1u;
	moment->queue_pkts[worker]++;
	sticky->gauges[worker].window_given++;
	sticky->gauges[place->home].window_away += worker != place->home;
	return (uint16_t)worker;
}

static void
sticky_burst(void *state, const struct lull_schedule_view *view, const uint32_t *digests,
	     uint32_t count, uint16_t *workers)
{
	struct sticky *sticky = state;
	struct moment moment;

	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(&sticky->places[digests[i] & view->bucket_mask], 1);
	view->best(digests, count, view->worker_count, workers);
	sticky_measure(sticky, view);
	moment_begin(&moment, sticky, view);
	if (moment.gives != 0)
		sticky_weigh(sticky, view, &moment, digests, count);
	for (uint32_t i = 0; i < count; i++) {
		uint16_t home = workers[i];

		workers[i] =
			sticky_choose(sticky, view, &moment, digests[i] & view->bucket_mask, home);
		view->tally->relieved += workers[i] != home;
	}
	for (uint32_t worker = 0; worker < view->worker_count; worker++) {
		uint32_t given = moment.queue_pkts[worker] - view->loads[worker].used_pkts;
		struct gauge *gauge = &sticky->gauges[worker];

		gauge->burst_pkts = LULL_MAX(gauge->burst_pkts, given);
	}
}

/*
 * The bucket is where it is, not where it was to be. What is held back is not the heaviest for a
 * while: another one that may move gets its turn.
 */
static void
sticky_placed(void *state, const struct lull_schedule_view *view, uint32_t digest, uint16_t worker)
{
	struct sticky *sticky = state;
	struct place *place = &sticky->places[digest & view->bucket_mask];

	if (place->worker == worker + 1)
		return;
	place->worker = (uint8_t)(worker + 1);
	place->heat = 0;
}

const struct lull_scheduler lull_scheduler_sticky = {
	.name = "sticky",
	.summary = "flows stay at their worker; an overloaded worker gives flows away",
	.splits = true,
	.state_size = sticky_state_size,
	.init = lull_scheduler_init_none,
	.burst = sticky_burst,
	.placed = sticky_placed,
};
