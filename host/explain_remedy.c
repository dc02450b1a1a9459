/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"
#include "sentence.h"

/* Longest text of one. */
#define REMEDY_SIZE 160

static void __attribute__((format(printf, 2, 3)))
remedy_add_change(struct lull_sentence *text, const char *format, ...)
{
	va_list args;
	char words[64];

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	lull_sentence_add(text, "%s%s", text->used > 0 ? " and " : "", words);
}

/* As the option takes it: "8.2M". */
static void
remedy_add_rate(struct lull_sentence *text, uint64_t pps)
{
	static const char *const units[] = { "", "k", "M", "G" };
	uint64_t unit = 1;
	int i = 0;

	while (i < 3 && pps >= 1000 * unit) {
		unit *= 1000;
		i++;
	}
	if (pps % unit == 0)
		remedy_add_change(text, "pps-max=%" PRIu64 "%s", pps / unit, units[i]);
	else
		remedy_add_change(text, "pps-max=%" PRIu64 ".%" PRIu64 "%s", pps / unit,
				  pps % unit * 10 / unit, units[i]);
}

/* Whole microseconds, so option and sentence agree. */
static void
remedy_add_time(struct lull_sentence *text, const char *option, uint64_t ns)
{
	remedy_add_change(text, "%s=%" PRIu64 "us", option, (uint64_t)(ns / LULL_NS_PER_US));
}

/* Why it does not fit. */
static const char *
remedy_lack(const struct lull_remedy *remedy)
{
	switch (remedy->binding) {
	case LULL_BOUND_RING:
		return (remedy->changes & LULL_REMEDY_RING) != 0 ? "too short" :
								   "too late for the ring";
	case LULL_BOUND_LATENCY:
		return "too late for max-latency";
	default:
		return "not measured";
	}
}

char *
lull_remedy_explain(const struct lull_remedy *remedy, char *bytes, size_t size)
{
	struct lull_sentence text = { .bytes = bytes, .size = size };

	if (size > 0)
		bytes[0] = '\0';
	if ((remedy->changes & LULL_REMEDY_QUIET) != 0)
		remedy_add_change(&text, "no other work on this CPU");
	if ((remedy->changes & LULL_REMEDY_RING) != 0)
		remedy_add_change(&text, "a ring of %" PRIu32, remedy->ring_pkts);
	if ((remedy->changes & LULL_REMEDY_PPS_MAX) != 0)
		remedy_add_rate(&text, remedy->pps_max);
	if ((remedy->changes & LULL_REMEDY_LOSS) != 0)
		remedy_add_change(&text, "loss=tolerate");
	if ((remedy->changes & LULL_REMEDY_LATENCY) != 0)
		remedy_add_time(&text, "max-latency", remedy->latency_ns);
	if ((remedy->changes & LULL_REMEDY_MAX_REST) != 0)
		remedy_add_time(&text, "max-rest", remedy->rest_ns_max);
	if ((remedy->changes & LULL_REMEDY_INTERRUPT) != 0)
		remedy_add_change(&text, "interrupts");
	if ((remedy->changes & LULL_REMEDY_PORT) != 0)
		remedy_add_change(&text, "ports with interrupts");
	if (!remedy->fits)
		lull_sentence_add(&text, ": %s", remedy_lack(remedy));
	return bytes;
}

uint32_t
lull_remedy_cpu_pct(const struct lull_remedy *remedy)
{
	return (remedy->cpu_ppm + 5000) / 10000;
}

/* Up to two from @p next on, as far as they fit. */
void
lull_sentence_add_remedies(struct lull_sentence *text, const struct lull_verdict *verdict,
			   uint32_t next)
{
	char words[REMEDY_SIZE], share[REMEDY_SIZE + 32];
	const struct lull_remedy *remedy;

	for (uint32_t i = next; i < LULL_MIN(verdict->remedy_count, next + 2); i++) {
		remedy = &verdict->remedies[i];
		if (!remedy->fits)
			return;
		snprintf(share, sizeof(share), "; or %s: %" PRIu32 " %%",
			 lull_remedy_explain(remedy, words, sizeof(words)),
			 lull_remedy_cpu_pct(remedy));
		if (text->used + strlen(share) <= LULL_SENTENCE_MAX)
			lull_sentence_add(text, "%s", share);
	}
}

/* The first with its rest and CPU, then others with their CPU. False: none is known. */
bool
lull_sentence_add_best(struct lull_sentence *text, const struct lull_verdict *verdict)
{
	const struct lull_remedy *remedy = verdict->remedies;
	char words[REMEDY_SIZE];

	if (verdict->remedy_count == 0 || !remedy->fits)
		return false;
	lull_sentence_add(text, "%s allow%s rests of ",
			  lull_remedy_explain(remedy, words, sizeof(words)),
			  __builtin_popcount(remedy->changes) > 1 ? "" : "s");
	lull_sentence_add_time(text, remedy->rest_ns);
	/* No wake-up was measured: it is reckoned with a guess on the safe side. */
	lull_sentence_add(text, ": %s%" PRIu32 " %% CPU", remedy->measured ? "" : "at most ",
			  lull_remedy_cpu_pct(remedy));
	lull_sentence_add_remedies(text, verdict, 1);
	return true;
}
