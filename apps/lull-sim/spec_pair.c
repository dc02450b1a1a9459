/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of two parts: faults and sweeps. */
#include <stdio.h>
#include <string.h>

#include "token.h"
#include "settings.h"
#include "spec.h"

#define COMPETITOR_RUN_NS (3 * LULL_NS_PER_MS) /* a slice of the fair scheduler */

static bool
pair_split(const char *text, struct token *first, struct token *second)
{
	const char *rest = text;

	return token_next(&rest, ":", first) && token_next(&rest, ":", second) && rest == NULL;
}

int
sim_late_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_pair pair = { 0, 0 };
	struct token first, second;

	if (strcmp(text, "none") != 0 &&
	    (!pair_split(text, &first, &second) || !token_percent(first, LULL_PPM, &pair.first) ||
	     !token_time(second, &pair.second) || pair.second > 10 * LULL_NS_PER_S))
		return token_refuse(error, text, "none or PERCENT:TIME, like 5%:2ms");
	*(struct sim_pair *)member = pair;
	return 0;
}

char *
sim_late_print(const void *member, char *text, size_t size)
{
	const struct sim_pair *pair = member;

	text[0] = '\0';
	if (pair->first == 0)
		snprintf(text, size, "none");
	else
		text_real(text, size, "", (double)pair->first * 100 / (double)LULL_PPM);
	if (pair->first > 0)
		text_time(text, size, ":", pair->second);
	return text;
}

/* EVERY:TIME or EVERY:LOW-HIGH */
static bool
stall_read(const char *text, struct sim_stall *stall)
{
	const char *rest = text;
	struct token every, low, high;

	if (!token_next(&rest, ":", &every) || !token_next(&rest, "-", &low) ||
	    !token_time(every, &stall->every_ns) || !token_time(low, &stall->ns))
		return false;
	stall->ns_max = stall->ns;
	if (rest != NULL &&
	    (!token_next(&rest, "-", &high) || rest != NULL || !token_time(high, &stall->ns_max)))
		return false;
	return stall->every_ns >= LULL_NS_PER_US && stall->ns <= stall->ns_max &&
	       stall->ns_max <= 10 * LULL_NS_PER_S;
}

int
sim_stall_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_stall stall = { 0, 0, 0 };

	if (strcmp(text, "none") != 0 && !stall_read(text, &stall))
		return token_refuse(error, text,
				    "none, EVERY:TIME or EVERY:LOW-HIGH, like 100ms:3ms or "
				    "300ms:500us-3ms");
	*(struct sim_stall *)member = stall;
	return 0;
}

char *
sim_stall_print(const void *member, char *text, size_t size)
{
	const struct sim_stall *stall = member;

	text[0] = '\0';
	if (stall->every_ns == SIM_UNSET)
		return text;
	if (stall->every_ns == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_time(text, size, "", stall->every_ns);
	text_time(text, size, ":", stall->ns);
	if (stall->ns_max > stall->ns)
		text_time(text, size, "-", stall->ns_max);
	return text;
}

int
sim_competitor_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_competitor competitor = { 0, COMPETITOR_RUN_NS };
	const char *rest = text;
	struct token share, run;
	bool good = true;

	if (strcmp(text, "none") != 0) {
		good = token_next(&rest, ":", &share) &&
		       token_percent(share, LULL_PPM, &competitor.share_ppm) &&
		       competitor.share_ppm > 0;
		if (good && rest != NULL)
			good = token_next(&rest, ":", &run) && rest == NULL &&
			       token_time(run, &competitor.run_ns) &&
			       competitor.run_ns >= LULL_NS_PER_US &&
			       competitor.run_ns <= 10 * LULL_NS_PER_S;
	}
	if (!good)
		return token_refuse(error, text,
				    "none or SHARE[:RUN], like 100 for a busy loop or 30:3ms");
	*(struct sim_competitor *)member = competitor;
	return 0;
}

char *
sim_competitor_print(const void *member, char *text, size_t size)
{
	const struct sim_competitor *competitor = member;

	text[0] = '\0';
	if (competitor->share_ppm == SIM_UNSET)
		return text;
	if (competitor->share_ppm == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_real(text, size, "", (double)competitor->share_ppm * 100 / (double)LULL_PPM);
	text_time(text, size, ":", competitor->run_ns);
	return text;
}

int
sim_line_bursts_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_pair pair = { 0, 0 };
	struct token first, second;

	if (strcmp(text, "none") != 0 &&
	    (!pair_split(text, &first, &second) || !token_time(first, &pair.first) ||
	     !token_count(second, &pair.second) || pair.first < LULL_NS_PER_US ||
	     pair.second == 0 || pair.second > 65535))
		return token_refuse(error, text,
				    "none or EVERY:PACKETS, at most 65535, like 10ms:1000");
	*(struct sim_pair *)member = pair;
	return 0;
}

char *
sim_line_bursts_print(const void *member, char *text, size_t size)
{
	const struct sim_pair *pair = member;

	text[0] = '\0';
	if (pair->first == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_time(text, size, "", pair->first);
	snprintf(text_end(text), text_room(text, size), ":%llu", (unsigned long long)pair->second);
	return text;
}

int
sim_cost_change_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_pair pair = { 0, 0 };
	struct token first, second;

	if (strcmp(text, "none") != 0 &&
	    (!pair_split(text, &first, &second) || !token_time(first, &pair.first) ||
	     !token_count(second, &pair.second) || pair.second == 0 || pair.second > 10000))
		return token_refuse(error, text,
				    "none or TIME:PERCENT, 1 to 10000 percent, like 500ms:200");
	*(struct sim_pair *)member = pair;
	return 0;
}

char *
sim_cost_change_print(const void *member, char *text, size_t size)
{
	const struct sim_pair *pair = member;

	text[0] = '\0';
	if (pair->second == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_time(text, size, "", pair->first);
	snprintf(text_end(text), text_room(text, size), ":%llu", (unsigned long long)pair->second);
	return text;
}

int
sim_sweep_parse(const char *text, void *member, struct lull_error *error)
{
	struct sim_sweep sweep = { .steps = 0 };
	const char *rest = text;
	struct token low, high, steps;
	uint64_t count = 0;

	if (strcmp(text, "none") != 0) {
		if (!token_next(&rest, "-", &low) || !token_next(&rest, ",", &high) ||
		    !token_next(&rest, ",", &steps) || rest != NULL ||
		    !token_time(low, &sweep.low_ns) || !token_time(high, &sweep.high_ns) ||
		    !token_count(steps, &count) || sweep.low_ns == 0 ||
		    sweep.high_ns <= sweep.low_ns || sweep.high_ns > LULL_NS_PER_S || count < 2 ||
		    count > 1000)
			return token_refuse(error, text,
					    "none or LOW-HIGH,STEPS with 2..1000 steps, like "
					    "1us-1ms,60");
		sweep.steps = (uint32_t)count;
	}
	*(struct sim_sweep *)member = sweep;
	return 0;
}

char *
sim_sweep_print(const void *member, char *text, size_t size)
{
	const struct sim_sweep *sweep = member;

	text[0] = '\0';
	if (sweep->steps == 0) {
		snprintf(text, size, "none");
		return text;
	}
	text_time(text, size, "", sweep->low_ns);
	text_time(text, size, "-", sweep->high_ns);
	snprintf(text_end(text), text_room(text, size), ",%u", sweep->steps);
	return text;
}
