/* SPDX-License-Identifier: BSD-3-Clause */
#include "remedy.h"

#include "bound.h"
#include "event_rest.h"
#include "remedy_case.h"

/* Limits that are promises: stating less, waiting longer. */
#define GIVEN_SOME (LULL_REMEDY_PPS_MAX | LULL_REMEDY_LATENCY)
#define SELDOM_PPM 1000

/* ---- the list ---- */

/* What the user gives up: nothing, some of a promise, a promise. */
static uint32_t
remedy_price(const struct lull_remedy *remedy)
{
	if (!remedy->fits)
		return UINT32_MAX;
	return ((remedy->changes & LULL_REMEDY_LOSS) != 0 ? 16u : 0u) +
	       4u * (uint32_t)__builtin_popcount(remedy->changes & GIVEN_SOME);
}

static bool
remedy_before(const struct lull_remedy *a, const struct lull_remedy *b)
{
	if (remedy_price(a) != remedy_price(b))
		return remedy_price(a) < remedy_price(b);
	if (a->cpu_ppm != b->cpu_ppm)
		return a->cpu_ppm < b->cpu_ppm;
	return __builtin_popcount(a->changes) < __builtin_popcount(b->changes);
}

static void
list_add(struct lull_verdict *verdict, const struct lull_remedy *remedy)
{
	uint32_t at = 0, count = verdict->remedy_count;

	/* One that changes less, and takes no more CPU, makes it useless. */
	for (uint32_t i = 0; i < count; i++)
		if ((verdict->remedies[i].changes & ~remedy->changes) == 0 &&
		    verdict->remedies[i].cpu_ppm <= remedy->cpu_ppm + LULL_PPM / 100)
			return;
	if (count == LULL_REMEDIES_MAX)
		return;
	while (at < count && !remedy_before(remedy, &verdict->remedies[at]))
		at++;
	for (uint32_t i = count; i > at; i--)
		verdict->remedies[i] = verdict->remedies[i - 1];
	verdict->remedies[at] = *remedy;
	verdict->remedy_count++;
}

static void
list_complete(struct lull_verdict *verdict, struct lull_remedy_case *trial)
{
	struct lull_remedy remedy;

	if (!lull_remedy_case_complete(trial) || trial->changes == 0)
		return;
	remedy = lull_remedy_case_result(trial, true);
	list_add(verdict, &remedy);
}

/* Whatever the ring forbids: hold more, promise less, promise nothing. */
static void
list_ring(struct lull_verdict *verdict, const struct lull_idle_limits *limits,
	  struct lull_remedy_machine *machine)
{
	struct lull_remedy_case trial;
	struct lull_remedy remedy;
	uint32_t most;

	if (lull_remedy_case_set_ring(lull_remedy_case_begin(&trial, limits, machine))) {
		list_complete(verdict, &trial);
	} else {
		most = lull_remedy_ring_most(limits);
		if (most > limits->ring_pkts && limits->ring_pkts_max > 0) {
			trial.limits.ring_pkts = most;
			trial.changes = LULL_REMEDY_RING;
			lull_remedy_case_reckon(&trial);
			remedy = lull_remedy_case_result(&trial, false);
			remedy.binding = LULL_BOUND_RING;
			list_add(verdict, &remedy);
		}
	}
	if (lull_remedy_case_set_rate(lull_remedy_case_begin(&trial, limits, machine)))
		list_complete(verdict, &trial);
	lull_remedy_case_begin(&trial, limits, machine);
	trial.limits.loss = LULL_LOSS_TOLERATE;
	trial.changes = LULL_REMEDY_LOSS;
	list_complete(verdict, &trial);
}

/* Interrupts end a rest by themselves, if they come early enough. */
static void
list_interrupt(struct lull_verdict *verdict, const struct lull_idle_limits *limits,
	       const struct lull_remedy_basis *basis)
{
	struct lull_remedy remedy = {
		.changes = LULL_REMEDY_PORT,
		.binding = LULL_BOUND_NONE,
		.cpu_ppm = LULL_PPM,
	};

	if (basis->interrupt_fits)
		return;
	if ((limits->idle_states & LULL_IDLE_STATE_BIT(LULL_IDLE_INTERRUPT)) != 0) {
		remedy.changes = LULL_REMEDY_INTERRUPT;
		remedy.measured = basis->interrupt_late_ns != UINT64_MAX;
		if (remedy.measured)
			remedy.binding = basis->interrupt_late_ns >= limits->latency_ns ?
						 LULL_BOUND_LATENCY :
						 LULL_BOUND_RING;
	}
	list_add(verdict, &remedy);
}

/* Would usual wake-ups do, and is it unusual ones that do not? */
static bool
verdict_is_late(const struct lull_verdict *verdict, const struct lull_idle_limits *limits,
		const struct lull_calibration *sleeps)
{
	if (sleeps->count < LULL_CALIBRATION_READY)
		return false;
	if (verdict->state == LULL_VERDICT_SUSPENDED || verdict->stall_ns > 0 ||
	    sleeps->p9999_ns >= LULL_STALL_NS)
		return true;
	return verdict->binding == LULL_BOUND_OVERSHOOT &&
	       sleeps->p99_ns + lull_bound_break_even_ns(sleeps) < limits->latency_ns;
}

void
lull_remedy_basis_read(struct lull_remedy_basis *basis, const struct lull_idle_view *view)
{
	*basis = (struct lull_remedy_basis){
		.sleeps = view->calibration[LULL_IDLE_SLEEP],
		.stalls = view->stalls->rest,
		.load = *view->load,
		.pace = *view->pace,
		.curve = *view->curve,
		.interrupt_late_ns = lull_event_late_ns(view, LULL_IDLE_INTERRUPT, SELDOM_PPM),
		.interrupt_fits = lull_event_fits(view, LULL_IDLE_INTERRUPT),
	};
}

void
lull_remedies_find(struct lull_verdict *verdict, const struct lull_idle_limits *limits,
		   const struct lull_remedy_basis *basis)
{
	struct lull_remedy_machine machine;
	struct lull_remedy_case trial;
	bool ring, late = verdict_is_late(verdict, limits, &basis->sleeps);

	verdict->remedy_count = 0;
	if ((limits->idle_states & LULL_IDLE_STATE_BIT(LULL_IDLE_SLEEP)) == 0)
		return;
	lull_remedy_machine_begin(&machine, basis, verdict->idle_state >= LULL_IDLE_SLEEP);
	lull_remedy_case_reckon(lull_remedy_case_begin(&trial, limits, &machine));
	ring = verdict->outrun || verdict->binding == LULL_BOUND_RING ||
	       lull_remedy_case_ring_ns(&trial) < lull_remedy_case_least_ns(&trial);
	if (ring) {
		list_ring(verdict, limits, &machine);
	} else {
		/* Waits were too long although the bounds allow to rest: it takes more. */
		if (late)
			lull_remedy_case_set_latency(&trial);
		list_complete(verdict, &trial);
	}
	if (late) {
		lull_remedy_machine_calm(&machine);
		lull_remedy_case_begin(&trial, limits, &machine)->changes = LULL_REMEDY_QUIET;
		list_complete(verdict, &trial);
	}
	list_interrupt(verdict, limits, basis);
}

uint32_t
lull_remedy_ring_pkts(const struct lull_idle_limits *limits, const struct lull_remedy_basis *basis)
{
	struct lull_remedy_machine machine;
	struct lull_remedy_case trial;
	uint32_t pkts;

	lull_remedy_machine_begin(&machine, basis, false);
	lull_remedy_case_begin(&trial, limits, &machine);
	if (limits->loss == LULL_LOSS_TOLERATE ||
	    lull_remedy_case_allows(&trial, lull_remedy_case_worth_ns(&trial)))
		return limits->ring_pkts;
	lull_remedy_case_reckon(&trial);
	if (trial.outlook.latency_ns < lull_remedy_case_least_ns(&trial) ||
	    trial.limits.rest_ns_max < lull_remedy_case_least_ns(&trial))
		return limits->ring_pkts;
	pkts = lull_remedy_case_ring(&trial);
	return pkts > 0 ? pkts : limits->ring_pkts;
}
