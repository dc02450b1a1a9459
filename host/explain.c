/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <lull/rest.h>

#include "explain.h"
#include "sentence.h"

#include "idle/calibration.h"
#include "idle/limits.h"

/* No timer of an undisturbed CPU is that late. */
#define DISTURBED_NS LULL_NS_PER_MS

/* 990000 is p99, 999900 is p99.99. */
static void
text_add_percentile(struct lull_sentence *text, uint32_t ppm)
{
	uint32_t fraction = ppm % 10000;
	int digits = 4;

	lull_sentence_add(text, "p%" PRIu32, ppm / 10000);
	if (fraction == 0)
		return;
	while (fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	lull_sentence_add(text, ".%0*" PRIu32, digits, fraction);
}

/* What the loop does where it would rather sleep. */
static const char *
explain_fallback(enum lull_idle_state idle_state)
{
	switch (idle_state) {
	case LULL_IDLE_PAUSE:
		return "the loop pauses the core";
	case LULL_IDLE_MONITOR:
		return "the loop waits for a write to the ring";
	case LULL_IDLE_SLEEP:
		return "the loop sleeps anyway";
	case LULL_IDLE_INTERRUPT:
		return "the loop waits for interrupts";
	default:
		return "the loop polls";
	}
}

/* Who has a real-time class already is not told to take one. */
static void
explain_quiet(struct lull_sentence *text, const struct lull_verdict *verdict, const char *without)
{
	const struct lull_remedy *remedy = verdict->remedies;
	bool known = verdict->remedy_count > 0 && remedy->fits;
	bool quiet = known && remedy->changes == LULL_REMEDY_QUIET;

	lull_sentence_add(text, "keep other work off this CPU%s",
			  text->real_time ? "" : " or allow a real-time class (sched-policy)");
	if (quiet)
		lull_sentence_add(text, ": %" PRIu32 " %% CPU", lull_remedy_cpu_pct(remedy));
	if (known)
		lull_sentence_add_remedies(text, verdict, quiet ? 1 : 0);
	else
		lull_sentence_add(text, "%s", without);
}

/* ---- why not ---- */

/* A ring does not help against other work on the CPU. */
static void
explain_ring_remedy(struct lull_sentence *text, const struct lull_verdict *verdict)
{
	if (lull_sentence_add_best(text, verdict))
		return;
	if (LULL_MAX(verdict->overshoot_p9999_ns, verdict->stall_ns) >= DISTURBED_NS)
		lull_sentence_add(text, "keep other work off this CPU (isolate it)");
	else
		lull_sentence_add(text, "raise the ring");
	if (verdict->envelope == LULL_ENVELOPE_LINK)
		lull_sentence_add(text, ", set pps-max");
	lull_sentence_add(text, " or choose loss=tolerate");
}

/* Polling would not keep up with that rate for long either. */
static void
explain_outrun(struct lull_sentence *text, const struct lull_verdict *verdict)
{
	lull_sentence_add(text, "packets at ");
	lull_sentence_add_rate(text, verdict->pps_max);
	lull_sentence_add(
		text, " come faster than this loop takes them: of a burst that polling just keeps, "
		      "resting loses some; ");
	lull_sentence_add(text, "%s; ", explain_fallback(verdict->idle_state));
	if (!lull_sentence_add_best(text, verdict))
		lull_sentence_add(text, "state a lower pps-max or choose loss=tolerate");
}

static void
explain_ring(struct lull_sentence *text, const struct lull_verdict *verdict,
	     const struct lull_idle_limits *limits)
{
	uint64_t room_pkts = limits->ring_pkts - limits->held_pkts;

	if (verdict->outrun) {
		explain_outrun(text, verdict);
		return;
	}
	lull_sentence_add(text, "the ring of %" PRIu32 " packets fills in ", limits->ring_pkts);
	lull_sentence_add_time(
		text, (uint64_t)((double)room_pkts * 1e9 / (double)LULL_MAX(verdict->pps_max, 1)));
	lull_sentence_add(text, " at ");
	lull_sentence_add_rate(text, verdict->pps_max);
	lull_sentence_add(text, ", but a wake-up comes up to ");
	lull_sentence_add_time(text, LULL_MAX(verdict->overshoot_p9999_ns, verdict->stall_ns));
	lull_sentence_add(text, " late; %s; ", explain_fallback(verdict->idle_state));
	explain_ring_remedy(text, verdict);
}

static void
explain_latency(struct lull_sentence *text, const struct lull_verdict *verdict,
		const struct lull_idle_limits *limits)
{
	text_add_percentile(text, limits->percentile_ppm);
	lull_sentence_add(text, " added wait of ");
	lull_sentence_add_time(text, limits->latency_ns);
	lull_sentence_add(text, " is too short: a rest that saves CPU lasts at least ");
	lull_sentence_add_time(text, verdict->break_even_ns);
	lull_sentence_add(text, ", and wake-ups come ");
	lull_sentence_add_time(text, verdict->overshoot_p99_ns);
	lull_sentence_add(text, " late; %s; ", explain_fallback(verdict->idle_state));
	if (!lull_sentence_add_best(text, verdict))
		lull_sentence_add(text, "raise max-latency");
}

static void
text_add_share(struct lull_sentence *text, uint32_t ppm)
{
	lull_sentence_add(text, "%" PRIu32 ".%" PRIu32 " %%", ppm / 10000, ppm / 1000 % 10);
}

/* What makes packets late: "stalls of up to 7 ms, 2.1 per second". */
static void
explain_cause(struct lull_sentence *text, const struct lull_verdict *verdict)
{
	if (verdict->stall_ns > 0) {
		lull_sentence_add(text, "stalls of up to ");
		lull_sentence_add_time(text, verdict->stall_ns);
		lull_sentence_add(text, ", %" PRIu64 ".%" PRIu64 " per second",
				  verdict->stall_rate / 1000, verdict->stall_rate / 100 % 10);
		return;
	}
	lull_sentence_add(text, "wake-ups up to ");
	lull_sentence_add_time(text, verdict->overshoot_p9999_ns);
	lull_sentence_add(text, " late, usually ");
	lull_sentence_add_time(text, verdict->overshoot_p50_ns);
}

/* Usual wake-ups would fit, but too many packets wait: as measured, or as the stalls have it. */
static void
explain_late(struct lull_sentence *text, const struct lull_verdict *verdict,
	     const struct lull_idle_limits *limits)
{
	uint32_t late_ppm = LULL_MAX(verdict->late_ppm, verdict->stall_ppm);

	if (late_ppm > LULL_PPM - limits->percentile_ppm) {
		text_add_share(text, late_ppm);
		lull_sentence_add(text, " of the packets wait longer than ");
		lull_sentence_add_time(text, limits->latency_ns);
	} else {
		text_add_percentile(text, limits->percentile_ppm);
		lull_sentence_add(text, " was recently above ");
		lull_sentence_add_time(text, limits->latency_ns);
	}
	lull_sentence_add(text, " (");
	explain_cause(text, verdict);
	lull_sentence_add(text, "); %s; ", explain_fallback(verdict->idle_state));
	explain_quiet(text, verdict, ", or raise max-latency");
}

/* Resting breaks the objective, polling does not. */
static void
explain_suspended(struct lull_sentence *text, const struct lull_verdict *verdict)
{
	lull_sentence_add(text, "suspended: this host wakes a resting thread too late too often; ");
	if (verdict->idle_state == LULL_IDLE_SLEEP)
		lull_sentence_add(text,
				  "the loop sleeps while no packets come, or to try resting again");
	else
		lull_sentence_add(text, "%s and will try resting again",
				  explain_fallback(verdict->idle_state));
	lull_sentence_add(text, "; ");
	explain_quiet(text, verdict, "");
}

static void
explain_infeasible(struct lull_sentence *text, const struct lull_verdict *verdict,
		   const struct lull_idle_limits *limits)
{
	lull_sentence_add(text, "infeasible: ");
	switch (verdict->binding) {
	case LULL_BOUND_RING:
		explain_ring(text, verdict, limits);
		return;
	case LULL_BOUND_CAP:
		lull_sentence_add(text, "max-rest is ");
		lull_sentence_add_time(text, limits->rest_ns_max);
		lull_sentence_add(text, ", but a rest that saves CPU lasts at least ");
		lull_sentence_add_time(text, verdict->break_even_ns);
		lull_sentence_add(text, "; %s; ", explain_fallback(verdict->idle_state));
		if (!lull_sentence_add_best(text, verdict))
			lull_sentence_add(text, "raise max-rest");
		return;
	case LULL_BOUND_OVERSHOOT:
		if (verdict->overshoot_p99_ns + verdict->break_even_ns < limits->latency_ns)
			explain_late(text, verdict, limits);
		else
			explain_latency(text, verdict, limits);
		return;
	case LULL_BOUND_LATENCY:
	case LULL_BOUND_BREAK_EVEN:
		explain_latency(text, verdict, limits);
		return;
	default:
		lull_sentence_add(text, "this loop cannot sleep; %s",
				  explain_fallback(verdict->idle_state));
	}
}

static void
explain_feasible(struct lull_sentence *text, const struct lull_verdict *verdict,
		 const struct lull_idle_limits *limits)
{
	lull_sentence_add(text, "feasible: ");
	if (verdict->idle_state == LULL_IDLE_INTERRUPT || verdict->idle_state == LULL_IDLE_MONITOR)
		lull_sentence_add(text, "%s", explain_fallback(verdict->idle_state));
	else {
		lull_sentence_add(text, "rests of ");
		lull_sentence_add_time(text, verdict->rest_ns);
		lull_sentence_add(text, ", limited by %s", lull_bound_name(verdict->binding));
	}
	lull_sentence_add(text, "; predicted: ");
	text_add_percentile(text, limits->percentile_ppm);
	lull_sentence_add(text, " added wait ");
	lull_sentence_add_time(text, verdict->predicted_ns);
	lull_sentence_add(text, " at %" PRIu32 " %% CPU",
			  (verdict->predicted_cpu_ppm + 5000) / 10000);
	if (limits->loss != LULL_LOSS_ZERO || verdict->ring_bound_ns == UINT64_MAX)
		return;
	lull_sentence_add(text, "; no loss up to ");
	lull_sentence_add_rate(text, verdict->pps_max);
	lull_sentence_add(
		text, verdict->envelope == LULL_ENVELOPE_LEARNED ? " (%s, not proven)" : " (%s)",
		lull_envelope_name(verdict->envelope));
}

static void
explain_none(struct lull_sentence *text, const struct lull_verdict *verdict)
{
	lull_sentence_add(text, "no objective: ");
	if (verdict->idle_state == LULL_IDLE_NONE) {
		lull_sentence_add(text, "the governor asks for no rest");
		return;
	}
	lull_sentence_add(text, "the governor asks for rests of ");
	lull_sentence_add_time(text, verdict->rest_ns);
	if (verdict->overshoot_p99_ns == 0)
		return;
	lull_sentence_add(text, "; wake-ups come ");
	lull_sentence_add_time(text, verdict->overshoot_p50_ns);
	lull_sentence_add(text, " late, p99 ");
	lull_sentence_add_time(text, verdict->overshoot_p99_ns);
}

char *
lull_verdict_explain(const struct lull_verdict *verdict, const struct lull_idle_limits *limits,
		     char *bytes, size_t size)
{
	return lull_verdict_explain_of(verdict, limits, false, bytes, size);
}

char *
lull_verdict_explain_of(const struct lull_verdict *verdict, const struct lull_idle_limits *limits,
			bool real_time, char *bytes, size_t size)
{
	struct lull_idle_limits full = *limits;
	struct lull_sentence text = { .bytes = bytes, .size = size, .real_time = real_time };

	lull_limits_default(&full);
	if (size > 0)
		bytes[0] = '\0';
	switch (verdict->state) {
	case LULL_VERDICT_CALIBRATING:
		lull_sentence_add(&text, "calibrating: %" PRIu64 " of %d rests measured; rests of ",
				  verdict->calibration_count, LULL_CALIBRATION_READY);
		lull_sentence_add_time(&text, verdict->rest_ns);
		lull_sentence_add(&text, " until then, without a promise");
		break;
	case LULL_VERDICT_FEASIBLE:
		explain_feasible(&text, verdict, &full);
		break;
	case LULL_VERDICT_INFEASIBLE:
		explain_infeasible(&text, verdict, &full);
		break;
	case LULL_VERDICT_SUSPENDED:
		explain_suspended(&text, verdict);
		break;
	default:
		explain_none(&text, verdict);
	}
	return bytes;
}

void
lull_loop_explain_add(char *bytes, size_t size, const char *sentence)
{
	size_t used = strlen(bytes);

	if (sentence[0] != '\0' && used + strlen("; ") + strlen(sentence) < size)
		snprintf(bytes + used, size - used, "; %s", sentence);
}
