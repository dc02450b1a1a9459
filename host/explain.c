/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lull/rest.h>

#include "explain.h"

#include "idle/calibration.h"
#include "idle/limits.h"

/* No timer of an undisturbed CPU is that late. */
#define DISTURBED_NS LULL_NS_PER_MS

struct text {
	char *bytes;
	size_t size, used;
	bool real_time; /* the thread has a real-time class: no use in advising one */
};

static void __attribute__((format(printf, 2, 3)))
text_add(struct text *text, const char *format, ...)
{
	va_list args;
	int length;

	if (text->used >= text->size)
		return;
	va_start(args, format);
	length = vsnprintf(text->bytes + text->used, text->size - text->used, format, args);
	va_end(args);
	if (length > 0)
		text->used += (size_t)length;
}

/* Three digits at most; integers, so that no locale puts a comma into it. */
static void
text_add_scaled(struct text *text, uint64_t value, const char *const units[4])
{
	uint64_t tenths;
	int unit = 0;

	if (value < 1000) {
		text_add(text, "%" PRIu64 " %s", value, units[0]);
		return;
	}
	while (unit < 2 && value >= 999950) {
		value /= 1000;
		unit++;
	}
	tenths = (value + 50) / 100;
	if (tenths < 1000 && tenths % 10 != 0)
		text_add(text, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
			 units[unit + 1]);
	else
		text_add(text, "%" PRIu64 " %s", (tenths + 5) / 10, units[unit + 1]);
}

static void
text_add_time(struct text *text, uint64_t ns)
{
	static const char *const units[4] = { "ns", "us", "ms", "s" };

	text_add_scaled(text, ns, units);
}

static void
text_add_rate(struct text *text, uint64_t pps)
{
	static const char *const units[4] = { "pps", "kpps", "Mpps", "Gpps" };

	text_add_scaled(text, pps, units);
}

/* 990000 is p99, 999900 is p99.99. */
static void
text_add_percentile(struct text *text, uint32_t ppm)
{
	uint32_t fraction = ppm % 10000;
	int digits = 4;

	text_add(text, "p%" PRIu32, ppm / 10000);
	if (fraction == 0)
		return;
	while (fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	text_add(text, ".%0*" PRIu32, digits, fraction);
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

/* The power of two at which the shortest rest worth making fits, with wake-ups that late. */
static uint64_t
explain_ring_pkts(const struct lull_verdict *verdict, const struct lull_idle_limits *limits,
		  uint64_t late_ns)
{
	uint64_t rest_ns = verdict->break_even_ns + late_ns;
	uint64_t iteration_pkts =
		(uint64_t)((double)verdict->iteration_ns * (double)verdict->pps_max / 1e9) + 1;
	uint64_t need_pkts = (uint64_t)((double)rest_ns * (double)verdict->pps_max / 1e9) +
			     limits->held_pkts + LULL_MAX(iteration_pkts, limits->burst_pkts) + 1;
	uint64_t ring_pkts = 64;

	while (ring_pkts < need_pkts)
		ring_pkts *= 2;
	return ring_pkts;
}

/* A ring does not help against other work on the CPU, it may need to grow for usual wake-ups. */
static void
explain_ring_remedy(struct text *text, const struct lull_verdict *verdict,
		    const struct lull_idle_limits *limits)
{
	bool disturbed = LULL_MAX(verdict->overshoot_p9999_ns, verdict->stall_ns) >= DISTURBED_NS;
	uint64_t late_ns = disturbed ? verdict->overshoot_p50_ns : verdict->overshoot_p9999_ns;
	uint64_t ring_pkts = explain_ring_pkts(verdict, limits, late_ns);

	if (disturbed)
		text_add(text, "keep other work off this CPU (isolate it)");
	if (disturbed && ring_pkts > limits->ring_pkts)
		text_add(text, " and ");
	if (!disturbed || ring_pkts > limits->ring_pkts)
		text_add(text, "raise the ring to %" PRIu64, ring_pkts);
	if (verdict->envelope == LULL_ENVELOPE_LINK)
		text_add(text, ", set pps-max");
	text_add(text, " or choose loss=tolerate");
}

/* Polling would not keep up with that rate for long either. */
static void
explain_outrun(struct text *text, const struct lull_verdict *verdict)
{
	text_add(text, "packets at ");
	text_add_rate(text, verdict->pps_max);
	text_add(text,
		 " come faster than this loop takes them: of a burst that polling just keeps, "
		 "resting loses some; ");
	text_add(text, "%s; state a lower pps-max or choose loss=tolerate",
		 explain_fallback(verdict->idle_state));
}

static void
explain_ring(struct text *text, const struct lull_verdict *verdict,
	     const struct lull_idle_limits *limits)
{
	uint64_t room_pkts = limits->ring_pkts - limits->held_pkts;

	if (verdict->outrun) {
		explain_outrun(text, verdict);
		return;
	}
	text_add(text, "the ring of %" PRIu32 " packets fills in ", limits->ring_pkts);
	text_add_time(text,
		      (uint64_t)((double)room_pkts * 1e9 / (double)LULL_MAX(verdict->pps_max, 1)));
	text_add(text, " at ");
	text_add_rate(text, verdict->pps_max);
	text_add(text, ", but a wake-up comes up to ");
	text_add_time(text, LULL_MAX(verdict->overshoot_p9999_ns, verdict->stall_ns));
	text_add(text, " late; %s; ", explain_fallback(verdict->idle_state));
	explain_ring_remedy(text, verdict, limits);
}

static void
explain_latency(struct text *text, const struct lull_verdict *verdict,
		const struct lull_idle_limits *limits)
{
	text_add_percentile(text, limits->percentile_ppm);
	text_add(text, " added wait of ");
	text_add_time(text, limits->latency_ns);
	text_add(text, " is too short: a rest that saves CPU lasts at least ");
	text_add_time(text, verdict->break_even_ns);
	text_add(text, ", and wake-ups come ");
	text_add_time(text, verdict->overshoot_p99_ns);
	text_add(text, " late; %s; raise max-latency to about ",
		 explain_fallback(verdict->idle_state));
	text_add_time(text, (verdict->break_even_ns + verdict->overshoot_p99_ns) * 5 / 4);
}

static void
text_add_share(struct text *text, uint32_t ppm)
{
	text_add(text, "%" PRIu32 ".%" PRIu32 " %%", ppm / 10000, ppm / 1000 % 10);
}

/* What makes packets late: "stalls of up to 7 ms, 2.1 per second". */
static void
explain_cause(struct text *text, const struct lull_verdict *verdict)
{
	if (verdict->stall_ns > 0) {
		text_add(text, "stalls of up to ");
		text_add_time(text, verdict->stall_ns);
		text_add(text, ", %" PRIu64 ".%" PRIu64 " per second", verdict->stall_rate / 1000,
			 verdict->stall_rate / 100 % 10);
		return;
	}
	text_add(text, "wake-ups up to ");
	text_add_time(text, verdict->overshoot_p9999_ns);
	text_add(text, " late, usually ");
	text_add_time(text, verdict->overshoot_p50_ns);
}

/* Usual wake-ups would fit, but too many packets wait: as measured, or as the stalls have it. */
static void
explain_late(struct text *text, const struct lull_verdict *verdict,
	     const struct lull_idle_limits *limits)
{
	uint32_t late_ppm = LULL_MAX(verdict->late_ppm, verdict->stall_ppm);

	if (late_ppm > LULL_PPM - limits->percentile_ppm) {
		text_add_share(text, late_ppm);
		text_add(text, " of the packets wait longer than ");
		text_add_time(text, limits->latency_ns);
	} else {
		text_add_percentile(text, limits->percentile_ppm);
		text_add(text, " was recently above ");
		text_add_time(text, limits->latency_ns);
	}
	text_add(text, " (");
	explain_cause(text, verdict);
	text_add(text, "); %s; keep other work off this CPU%s or raise max-latency",
		 explain_fallback(verdict->idle_state),
		 text->real_time ? "" : ", allow a real-time class (sched-policy)");
}

/* Resting breaks the objective, polling does not. */
static void
explain_suspended(struct text *text, const struct lull_verdict *verdict)
{
	text_add(text, "suspended: this host wakes a resting thread too late too often; ");
	if (verdict->idle_state == LULL_IDLE_SLEEP)
		text_add(text, "the loop sleeps while no packets come, or to try resting again");
	else
		text_add(text, "%s and will try resting again",
			 explain_fallback(verdict->idle_state));
	text_add(text, "; keep other work off this CPU%s",
		 text->real_time ? "" : " or allow a real-time class (sched-policy)");
}

static void
explain_infeasible(struct text *text, const struct lull_verdict *verdict,
		   const struct lull_idle_limits *limits)
{
	text_add(text, "infeasible: ");
	switch (verdict->binding) {
	case LULL_BOUND_RING:
		explain_ring(text, verdict, limits);
		return;
	case LULL_BOUND_CAP:
		text_add(text, "max-rest is ");
		text_add_time(text, limits->rest_ns_max);
		text_add(text, ", but a rest that saves CPU lasts at least ");
		text_add_time(text, verdict->break_even_ns);
		text_add(text, "; %s; raise max-rest", explain_fallback(verdict->idle_state));
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
		text_add(text, "this loop cannot sleep; %s", explain_fallback(verdict->idle_state));
	}
}

static void
explain_feasible(struct text *text, const struct lull_verdict *verdict,
		 const struct lull_idle_limits *limits)
{
	text_add(text, "feasible: ");
	if (verdict->idle_state == LULL_IDLE_INTERRUPT || verdict->idle_state == LULL_IDLE_MONITOR)
		text_add(text, "%s", explain_fallback(verdict->idle_state));
	else {
		text_add(text, "rests of ");
		text_add_time(text, verdict->rest_ns);
		text_add(text, ", limited by %s", lull_bound_name(verdict->binding));
	}
	text_add(text, "; predicted: ");
	text_add_percentile(text, limits->percentile_ppm);
	text_add(text, " added wait ");
	text_add_time(text, verdict->predicted_ns);
	text_add(text, " at %" PRIu32 " %% CPU", (verdict->predicted_cpu_ppm + 5000) / 10000);
	if (limits->loss != LULL_LOSS_ZERO || verdict->ring_bound_ns == UINT64_MAX)
		return;
	text_add(text, "; no loss up to ");
	text_add_rate(text, verdict->pps_max);
	text_add(text, verdict->envelope == LULL_ENVELOPE_LEARNED ? " (%s, not proven)" : " (%s)",
		 lull_envelope_name(verdict->envelope));
}

static void
explain_none(struct text *text, const struct lull_verdict *verdict)
{
	text_add(text, "no objective: ");
	if (verdict->idle_state == LULL_IDLE_NONE) {
		text_add(text, "the governor asks for no rest");
		return;
	}
	text_add(text, "the governor asks for rests of ");
	text_add_time(text, verdict->rest_ns);
	if (verdict->overshoot_p99_ns == 0)
		return;
	text_add(text, "; wake-ups come ");
	text_add_time(text, verdict->overshoot_p50_ns);
	text_add(text, " late, p99 ");
	text_add_time(text, verdict->overshoot_p99_ns);
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
	struct text text = { .bytes = bytes, .size = size, .real_time = real_time };

	lull_limits_default(&full);
	if (size > 0)
		bytes[0] = '\0';
	switch (verdict->state) {
	case LULL_VERDICT_CALIBRATING:
		text_add(&text, "calibrating: %" PRIu64 " of %d rests measured; rests of ",
			 verdict->calibration_count, LULL_CALIBRATION_READY);
		text_add_time(&text, verdict->rest_ns);
		text_add(&text, " until then, without a promise");
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
