/* SPDX-License-Identifier: BSD-3-Clause */
#include "remedy_case.h"

#include "bound.h"
#include "outlook.h"
#include "ring_guard.h"

#define PERCENTILE_RARE_PPM 999900
#define RATE_LEAST 1000
#define LATENCY_NS_MAX LULL_NS_PER_S
#define TRIES 8

/* How late wake-ups are where none was measured, as the calibration guesses: most of them half. */
#define GUESS_RESTS 64

/* ---- the machine ---- */

static void
machine_guess(struct lull_calibration *sleeps)
{
	uint64_t cost_ns, late_ns;

	lull_calibration_init(sleeps);
	cost_ns = sleeps->cost_ns;
	late_ns = sleeps->p9999_ns;
	for (int i = 0; i < GUESS_RESTS; i++)
		lull_calibration_add(sleeps, i % 16 == 0 ? late_ns : late_ns / 2, cost_ns);
}

/* Mean CPU of wake-ups right after falling asleep, if a rest costs @p cost_ns but no more than it
 * lasts. */
static uint64_t
machine_probe_cost_ns(const struct lull_calibration *sleeps, uint64_t cost_ns)
{
	uint64_t sum_ns = 0;

	for (uint32_t bin = sleeps->bin_first; bin <= sleeps->bin_last; bin++)
		sum_ns += sleeps->bins[bin] * LULL_MIN(lull_calibration_high(bin), cost_ns);
	return sleeps->weight > 0 ? sum_ns / sleeps->weight : cost_ns;
}

/*
 * A loop that does not rest has only tried the shortest rests, of which many end before they have
 * cost what a long one does.
 */
static void
machine_uncut(struct lull_calibration *sleeps)
{
	uint64_t low_ns = sleeps->cost_ns, high_ns = LULL_MAX(low_ns, sleeps->p50_ns);

	if (!sleeps->cost_measured)
		return;
	while (high_ns - low_ns > LULL_NS_PER_US / 8) {
		uint64_t middle_ns = low_ns + (high_ns - low_ns) / 2;

		if (machine_probe_cost_ns(sleeps, middle_ns) < sleeps->cost_ns)
			low_ns = middle_ns;
		else
			high_ns = middle_ns;
	}
	sleeps->cost_ns = high_ns;
}

void
lull_remedy_machine_begin(struct lull_remedy_machine *machine,
			  const struct lull_remedy_basis *basis, bool rests)
{
	struct lull_calibration *sleeps = &machine->calibration[LULL_IDLE_SLEEP];

	machine->basis = basis;
	*sleeps = basis->sleeps;
	machine->stalls.rest = basis->stalls;
	machine->measured = sleeps->count >= LULL_CALIBRATION_READY;
	if (!machine->measured)
		machine_guess(sleeps);
	else if (!rests)
		machine_uncut(sleeps);
}

/* As if nothing ever held the thread up: wake-ups are as they usually are. */
void
lull_remedy_machine_calm(struct lull_remedy_machine *machine)
{
	struct lull_calibration *sleeps = &machine->calibration[LULL_IDLE_SLEEP];
	const uint64_t p9999_ns = lull_calibration_usual(sleeps, PERCENTILE_RARE_PPM);

	sleeps->p50_ns = lull_calibration_usual(sleeps, LULL_PPM / 2);
	sleeps->p999_ns = lull_calibration_usual(sleeps, 999000);
	sleeps->p99_ns = sleeps->usual_p99_ns;
	sleeps->p9999_ns = p9999_ns;
	for (uint32_t i = LULL_CALIBRATION_STALL_BIN; i <= sleeps->bin_last; i++) {
		sleeps->weight -= sleeps->bins[i];
		sleeps->bins[i] = 0;
	}
	sleeps->bin_last = LULL_MIN(sleeps->bin_last, LULL_CALIBRATION_STALL_BIN - 1);
	lull_stalls_init(&machine->stalls.rest, LULL_STALL_MEMORY_NS, 0);
}

/* ---- the bounds ---- */

/*
 * Of few wake-ups the rarest are not known, and of stalls the longest never are: so much later they
 * may be.
 */
static uint64_t
case_doubt_ns(const struct lull_remedy_case *trial)
{
	const struct lull_calibration *calibration = lull_remedy_case_sleeps(trial);
	uint64_t late_ns = calibration->p9999_ns;
	uint64_t stall_ns = lull_stalls_longest_ns(&trial->view.stalls->rest);

	if (!trial->machine->measured)
		return late_ns;
	if (LULL_MAX(late_ns, stall_ns) >= LULL_STALL_NS)
		return LULL_MAX(late_ns, stall_ns);
	return calibration->weight < LULL_CALIBRATION_WEIGHT / 2 ? late_ns / 2 : late_ns / 4;
}

uint64_t
lull_remedy_case_ring_ns(const struct lull_remedy_case *trial)
{
	struct lull_ring_guard guard;

	lull_ring_guard_init(&guard);
	return lull_ring_guard_ns(&guard, &trial->view);
}

/* At that rate a loop falls behind whether it rests or not. */
static bool
case_outrun(const struct lull_remedy_case *trial)
{
	const struct lull_idle_limits *limits = &trial->limits;

	return limits->loss == LULL_LOSS_ZERO && limits->envelope != LULL_ENVELOPE_LEARNED &&
	       lull_pace_outrun(trial->view.pace, limits->burst_pkts, limits->pps_max);
}

void
lull_remedy_case_reckon(struct lull_remedy_case *trial)
{
	uint64_t ring_ns = lull_remedy_case_ring_ns(trial);

	/* What is allowed by the guess alone is no promise. */
	if (ring_ns != UINT64_MAX && !trial->machine->measured)
		ring_ns -= LULL_MIN(ring_ns, case_doubt_ns(trial));
	lull_outlook_begin(&trial->outlook, &trial->view, ring_ns);
	lull_outlook_bound_latency(&trial->outlook, &trial->view, &trial->view.stalls->rest);
	if (case_outrun(trial)) {
		trial->outlook.forbidden = true;
		trial->outlook.binding = LULL_BOUND_RING;
	}
}

/* A rest that saves half of the CPU, and one that saves something for certain. */
uint64_t
lull_remedy_case_worth_ns(const struct lull_remedy_case *trial)
{
	const struct lull_calibration *calibration = lull_remedy_case_sleeps(trial);
	uint64_t real_ns = 2 * calibration->cost_ns;
	uint64_t least_ns = lull_bound_break_even_ns(calibration);

	real_ns = real_ns > calibration->p50_ns ? real_ns - calibration->p50_ns : 1;
	return LULL_MAX(real_ns, least_ns * 5 / 4 + 1);
}

uint64_t
lull_remedy_case_least_ns(const struct lull_remedy_case *trial)
{
	return lull_bound_break_even_ns(lull_remedy_case_sleeps(trial)) * 5 / 4 + 1;
}

/* ---- what to set a limit to ---- */

static uint64_t
round_up(uint64_t value, uint64_t unit)
{
	uint64_t step = unit;

	while (step * 100 <= value)
		step *= 10;
	return (value + step - 1) / step * step;
}

static uint64_t
round_down(uint64_t value)
{
	uint64_t step = 1;

	while (step * 100 <= value)
		step *= 10;
	return value / step * step;
}

bool
lull_remedy_case_allows(const struct lull_remedy_case *trial, uint64_t rest_ns)
{
	return lull_remedy_case_ring_ns(trial) >= rest_ns + case_doubt_ns(trial) &&
	       !case_outrun(trial);
}

/* The smallest power of two that allows @p rest_ns; 0: none. */
static uint32_t
ring_smallest(struct lull_remedy_case *trial, uint64_t rest_ns, uint32_t pkts_max)
{
	const uint32_t before = trial->limits.ring_pkts;
	uint32_t found = 0;

	for (uint32_t pkts = 64; found == 0 && pkts <= pkts_max; pkts *= 2) {
		if (pkts <= before)
			continue;
		trial->limits.ring_pkts = pkts;
		if (lull_remedy_case_allows(trial, rest_ns))
			found = pkts;
	}
	trial->limits.ring_pkts = before;
	return found;
}

/* The largest one on offer need not be a power of two. */
uint32_t
lull_remedy_ring_most(const struct lull_idle_limits *limits)
{
	return limits->ring_pkts_max > 0 ?
		       LULL_MIN(limits->ring_pkts_max, LULL_REMEDY_RING_PKTS_MAX) :
		       LULL_REMEDY_RING_PKTS_MAX;
}

/* A ring with which it can rest; 0: none. */
uint32_t
lull_remedy_case_ring(struct lull_remedy_case *trial)
{
	const uint32_t most = lull_remedy_ring_most(&trial->limits),
		       before = trial->limits.ring_pkts;
	uint32_t pkts = ring_smallest(trial, lull_remedy_case_worth_ns(trial), most);
	bool allowed;

	if (pkts != 0 || most <= before)
		return pkts;
	trial->limits.ring_pkts = most;
	allowed = lull_remedy_case_allows(trial, lull_remedy_case_least_ns(trial));
	trial->limits.ring_pkts = before;
	return allowed ? most : 0;
}

static bool
rate_allows(struct lull_remedy_case *trial, uint64_t pps)
{
	trial->limits.pps_max = pps;
	return lull_remedy_case_allows(trial, lull_remedy_case_worth_ns(trial));
}

/*
 * The highest rate that leaves room for a rest; 0: none, or more has been seen already than that
 * would be.
 */
static uint64_t
rate_needed(struct lull_remedy_case *trial)
{
	const uint64_t before = trial->limits.pps_max;
	const struct lull_idle_limits *limits = &trial->limits;
	uint64_t low = RATE_LEAST, high = before, late_ns, seen_ns, found = 0;

	if (limits->envelope == LULL_ENVELOPE_LEARNED || before <= RATE_LEAST)
		return 0;
	if (rate_allows(trial, low)) {
		while (high - low > low / 64) {
			uint64_t middle = low + (high - low) / 2;

			if (rate_allows(trial, middle))
				low = middle;
			else
				high = middle;
		}
		found = round_down(low);
	}
	trial->limits.pps_max = found;
	late_ns = lull_remedy_case_worth_ns(trial) + lull_remedy_case_sleeps(trial)->p9999_ns;
	seen_ns = lull_arrival_curve_window_ns(trial->view.curve,
					       found * late_ns / LULL_NS_PER_S + 1, 1);
	trial->limits.pps_max = before;
	return found < before && seen_ns >= late_ns ? found : 0;
}

/* An objective for which latency allows a rest that is worth it; 0: none. */
static uint64_t
latency_needed(struct lull_remedy_case *trial)
{
	const struct lull_load *load = trial->view.load;
	const uint64_t before = trial->limits.latency_ns,
		       worth_ns = lull_remedy_case_worth_ns(trial);
	uint64_t wait_ns = lull_bound_predict_ns(&trial->limits, lull_remedy_case_sleeps(trial),
						 &trial->view.stalls->rest, load->busy_ppm,
						 load->resting_ppm, worth_ns);
	/* An eighth more, for what a model of short waits may leave out. */
	uint64_t latency_ns = (wait_ns + load->serve_ns) * LULL_OUTLOOK_MARGIN_SHARE /
			      (LULL_OUTLOOK_MARGIN_SHARE - 1) * 9 / 8;
	uint64_t found = 0;
	/* Half of the packets that may be late are left for what the rests do. */
	uint32_t budget_ppm = ((uint32_t)LULL_PPM - trial->limits.percentile_ppm) / 2;
	uint64_t stall_ns = lull_stalls_wait_ns(&trial->view.stalls->rest, budget_ppm);

	latency_ns = LULL_MAX(latency_ns, stall_ns + stall_ns / 4);
	/* Bins are wide: a step more if it is just not enough. */
	for (int i = 0; i < TRIES && found == 0; i++, latency_ns += latency_ns / 16) {
		trial->limits.latency_ns = round_up(LULL_MAX(latency_ns, before + 1), 1000);
		if (trial->limits.latency_ns > LATENCY_NS_MAX)
			break;
		lull_remedy_case_reckon(trial);
		if (trial->outlook.latency_ns >= LULL_MIN(worth_ns, trial->limits.rest_ns_max))
			found = trial->limits.latency_ns;
	}
	trial->limits.latency_ns = before;
	return found;
}

/* ---- one remedy ---- */

bool
lull_remedy_case_set_ring(struct lull_remedy_case *trial)
{
	uint32_t pkts = (trial->changes & LULL_REMEDY_RING) != 0 ? 0 : lull_remedy_case_ring(trial);

	if (pkts == 0)
		return false;
	trial->limits.ring_pkts = pkts;
	trial->changes |= LULL_REMEDY_RING;
	return true;
}

bool
lull_remedy_case_set_rate(struct lull_remedy_case *trial)
{
	uint64_t pps = rate_needed(trial);

	if (pps == 0)
		return false;
	trial->limits.envelope = LULL_ENVELOPE_STATED;
	trial->limits.pps_max = pps;
	trial->changes |= LULL_REMEDY_PPS_MAX;
	return true;
}

bool
lull_remedy_case_set_latency(struct lull_remedy_case *trial)
{
	uint64_t latency_ns =
		(trial->changes & LULL_REMEDY_LATENCY) != 0 ? 0 : latency_needed(trial);

	if (latency_ns == 0)
		return false;
	trial->limits.latency_ns = latency_ns;
	trial->changes |= LULL_REMEDY_LATENCY;
	return true;
}

static bool
case_set_max_rest(struct lull_remedy_case *trial)
{
	if (trial->limits.rest_ns_max >= lull_remedy_case_least_ns(trial))
		return false;
	trial->limits.rest_ns_max = round_up(lull_remedy_case_worth_ns(trial), 1000);
	trial->changes |= LULL_REMEDY_MAX_REST;
	return true;
}

/* Change whatever else forbids to rest. True: nothing does any more. */
bool
lull_remedy_case_complete(struct lull_remedy_case *trial)
{
	for (int i = 0; i < 4; i++) {
		uint64_t least_ns = lull_remedy_case_least_ns(trial);

		lull_remedy_case_reckon(trial);
		if (case_outrun(trial))
			return false;
		if (trial->limits.rest_ns_max < least_ns && case_set_max_rest(trial))
			continue;
		if (trial->outlook.latency_ns < LULL_MIN(least_ns, trial->limits.rest_ns_max)) {
			if (!lull_remedy_case_set_latency(trial))
				return false;
			continue;
		}
		if (lull_remedy_case_allows(trial, least_ns))
			return !trial->outlook.forbidden && trial->outlook.goal_ns >= least_ns;
		/* A remedy that gives up the promise of the ring has no use for a larger one. */
		if ((trial->changes & ~(uint32_t)(LULL_REMEDY_QUIET | LULL_REMEDY_LATENCY |
						  LULL_REMEDY_MAX_REST)) != 0 ||
		    !lull_remedy_case_set_ring(trial))
			return false;
	}
	return false;
}

/* Each rest is followed by a look that finds nothing, which counts where queues are many. */
static uint32_t
case_cpu_ppm(const struct lull_remedy_case *trial)
{
	const struct lull_calibration *sleeps = lull_remedy_case_sleeps(trial);
	uint64_t rest_ns = trial->outlook.goal_ns, empty_ns;
	uint32_t cpu_ppm = lull_outlook_cpu_ppm(sleeps, trial->view.load->busy_ppm, rest_ns);

	empty_ns = trial->view.pace->empty_x256 >> LULL_PACE_SHIFT;
	cpu_ppm += (uint32_t)(empty_ns * LULL_PPM / (rest_ns + sleeps->p50_ns + empty_ns));
	return LULL_MIN(cpu_ppm, (uint32_t)LULL_PPM);
}

struct lull_remedy
lull_remedy_case_result(const struct lull_remedy_case *trial, bool fits)
{
	uint32_t changes = trial->changes;

	return (struct lull_remedy){
		.changes = changes,
		.fits = fits,
		.measured = trial->machine->measured,
		.binding = trial->outlook.binding,
		.ring_pkts = (changes & LULL_REMEDY_RING) != 0 ? trial->limits.ring_pkts : 0,
		.pps_max = (changes & LULL_REMEDY_PPS_MAX) != 0 ? trial->limits.pps_max : 0,
		.latency_ns = (changes & LULL_REMEDY_LATENCY) != 0 ? trial->limits.latency_ns : 0,
		.rest_ns_max =
			(changes & LULL_REMEDY_MAX_REST) != 0 ? trial->limits.rest_ns_max : 0,
		.rest_ns = fits ? trial->outlook.goal_ns : 0,
		.cpu_ppm = fits ? case_cpu_ppm(trial) : (uint32_t)LULL_PPM,
	};
}

struct lull_remedy_case *
lull_remedy_case_begin(struct lull_remedy_case *trial, const struct lull_idle_limits *limits,
		       struct lull_remedy_machine *machine)
{
	*trial = (struct lull_remedy_case){
		.machine = machine,
		.limits = *limits,
		.view = {
			.limits = &trial->limits,
			.calibration = machine->calibration,
			.load = &machine->basis->load,
			.curve = &machine->basis->curve,
			.pace = &machine->basis->pace,
			.stalls = &machine->stalls,
		},
	};
	return trial;
}
