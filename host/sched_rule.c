/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched_rule.h"

#include <string.h>

/* The measured share may grow by half before the budget throttles. */
#define BUDGET_MARGIN_PPM 1500000
/* With so much of it used, what the thread would use without it is not known. */
#define BUDGET_TIGHT_PPM 900000

static bool
rule_above(uint64_t part_ns, uint64_t whole_ns, uint64_t share_ppm)
{
	return part_ns * LULL_PPM > whole_ns * share_ppm;
}

/* What a share of the CPU is a share of. */
static uint64_t
rule_share(const struct sched_rule *rule, uint32_t ppm)
{
	return rule->budgeted ? (uint64_t)ppm * rule->budget_ppm / LULL_PPM : ppm;
}

/*
 * Used, or wanted: on a CPU with several real-time threads the one that waits for the others would
 * otherwise look as if it rested.
 */
static uint64_t
rule_demand_ns(const struct sched_figures *from, const struct sched_figures *to)
{
	uint64_t demand_ns = to->cpu_ns - from->cpu_ns;

	if (to->wait_ns > from->wait_ns)
		demand_ns += to->wait_ns - from->wait_ns;
	return demand_ns;
}

static void
rule_remember(struct sched_rule *rule, const struct sched_figures *figures)
{
	rule->samples[(rule->first + rule->count) % SCHED_SAMPLES] = *figures;
	if (rule->count < SCHED_SAMPLES)
		rule->count++;
	else
		rule->first = (rule->first + 1) % SCHED_SAMPLES;
	/* The oldest that is kept lies just beyond the span. */
	while (rule->count > 2) {
		const struct sched_figures *next =
			&rule->samples[(rule->first + 1) % SCHED_SAMPLES];

		if (figures->now_ns - next->now_ns < SCHED_LEAVE_SPAN_NS)
			break;
		rule->first = (rule->first + 1) % SCHED_SAMPLES;
		rule->count--;
	}
}

/* Counters may begin anew with another idle object, so any change is a rest. */
static bool
rule_rested(const struct sched_rule *rule, const struct sched_figures *figures)
{
	return figures->rests != rule->seen.rests;
}

static bool
rule_must_leave(const struct sched_rule *rule, const struct sched_figures *figures)
{
	uint64_t span_ns = figures->now_ns - rule->seen.now_ns;
	const struct sched_figures *oldest = &rule->samples[rule->first];

	/* A long rest that has not ended yet uses nothing. */
	if (!rule_rested(rule, figures) && rule_above(rule_demand_ns(&rule->seen, figures), span_ns,
						      rule_share(rule, SCHED_RESTLESS_PPM)))
		return true;
	span_ns = figures->now_ns - oldest->now_ns;
	return span_ns >= SCHED_LEAVE_SPAN_NS &&
	       rule_above(rule_demand_ns(oldest, figures), span_ns, SCHED_LEAVE_PPM);
}

static void
rule_leave(struct sched_rule *rule, uint64_t now_ns)
{
	rule->inside = false;
	rule->quiet_begin_ns = rule->rested_ns = 0;
	if (now_ns - rule->entered_ns >= SCHED_STAY_NS)
		rule->quiet_need_ns = SCHED_QUIET_NS;
	else
		rule->quiet_need_ns = LULL_CLAMP(2 * rule->quiet_need_ns, SCHED_QUIET_NS,
						 (uint64_t)SCHED_CALM_MAX_NS);
}

void
sched_rule_enter(struct sched_rule *rule, const struct sched_figures *figures)
{
	rule->inside = true;
	rule->entered_ns = figures->now_ns;
	rule->first = rule->count = 0;
	rule->budget_ns = figures->now_ns;
	rule->budget_cpu_ns = figures->cpu_ns;
	rule_remember(rule, figures);
}

/* Outside: what it waits for others does not count, that is what the class is against. */
static void
rule_consider(struct sched_rule *rule, const struct sched_figures *figures)
{
	uint64_t span_ns = figures->now_ns - rule->seen.now_ns;

	if (figures->now_ns - rule->begun_ns >= SCHED_FIRST_NS)
		rule->quiet_need_ns = LULL_MAX(rule->quiet_need_ns, SCHED_QUIET_NS);
	if (rule_rested(rule, figures) || figures->asleep)
		rule->rested_ns = figures->now_ns;
	if (rule->rested_ns == 0 || figures->now_ns - rule->rested_ns > SCHED_REST_APART_NS ||
	    rule_above(figures->cpu_ns - rule->seen.cpu_ns, span_ns, SCHED_ENTER_PPM)) {
		rule->quiet_begin_ns = 0;
		return;
	}
	if (rule->quiet_begin_ns == 0)
		rule->quiet_begin_ns = rule->seen.now_ns;
	if (figures->now_ns - rule->quiet_begin_ns >= rule->quiet_need_ns)
		sched_rule_enter(rule, figures);
}

/* Follow the load: half as much again, at once where the budget may be what limits it. */
static void
rule_budget(struct sched_rule *rule, const struct sched_figures *figures)
{
	uint64_t span_ns = figures->now_ns - rule->budget_ns;
	uint64_t used_ns = figures->cpu_ns - rule->budget_cpu_ns;
	bool tight =
		rule_above(figures->cpu_ns - rule->seen.cpu_ns, figures->now_ns - rule->seen.now_ns,
			   rule_share(rule, BUDGET_TIGHT_PPM));
	uint64_t budget_ppm;

	if (span_ns < SCHED_BUDGET_NS && !tight)
		return;
	budget_ppm = used_ns * BUDGET_MARGIN_PPM / span_ns;
	if (tight)
		budget_ppm = LULL_MAX(budget_ppm, 2 * (uint64_t)rule->budget_ppm);
	rule->budget_ppm = (uint32_t)LULL_CLAMP(budget_ppm, (uint64_t)SCHED_BUDGET_MIN_PPM,
						(uint64_t)SCHED_BUDGET_MAX_PPM);
	rule->budget_ns = figures->now_ns;
	rule->budget_cpu_ns = figures->cpu_ns;
}

void
sched_rule_init(struct sched_rule *rule, bool budgeted, const struct sched_figures *figures)
{
	memset(rule, 0, sizeof(*rule));
	rule->budgeted = budgeted;
	rule->seen = *figures;
	rule->begun_ns = figures->now_ns;
	rule->quiet_need_ns = SCHED_QUIET_FIRST_NS;
	rule->budget_ppm = SCHED_BUDGET_FIRST_PPM;
}

bool
sched_rule_sample(struct sched_rule *rule, const struct sched_figures *figures)
{
	if (figures->now_ns <= rule->seen.now_ns)
		return rule->inside;
	if (!rule->inside) {
		rule_consider(rule, figures);
	} else {
		rule_remember(rule, figures);
		if (rule_must_leave(rule, figures))
			rule_leave(rule, figures->now_ns);
		else
			rule_budget(rule, figures);
	}
	rule->seen = *figures;
	return rule->inside;
}

uint64_t
sched_rule_next_ns(const struct sched_rule *rule)
{
	uint64_t quiet_ns;

	if (rule->inside || rule->quiet_need_ns == SCHED_QUIET_FIRST_NS)
		return SCHED_LOOK_NS;
	if (rule->quiet_begin_ns == 0)
		return SCHED_LOOK_SLOW_NS;
	/* It rests: as soon as it has done so for long enough. */
	quiet_ns = rule->seen.now_ns - rule->quiet_begin_ns;
	return LULL_CLAMP(rule->quiet_need_ns - LULL_MIN(quiet_ns, rule->quiet_need_ns),
			  (uint64_t)SCHED_LOOK_NS, (uint64_t)SCHED_LOOK_SLOW_NS);
}
