/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rest spec: how one side rests, as typed: none, usleep:50us, objective, fixed:100us.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_MODEL_REST_SPEC_H
#define LULL_MODEL_REST_SPEC_H

#include "host/error.h"
#include "engine/model/model.h"

#define REST_SPEC_GRAMMAR                                                                          \
	"none (spin), block:T (rte_delay_us_block), usleep:T, nanosleep:T, sleep:T "               \
	"(rte_delay_us_sleep), or a governor of lull, with its rest where it takes one: "          \
	"objective, ramp, fixed:T"

struct rest_spec {
	const struct lull_model_sleep *sleep; /* NULL: as the governor has it */
	const struct lull_idle_governor *governor;
	uint64_t rest_ns; /* 0: not told */
	bool timed;       /* rest_ns was told */
};

/** For a row of the option table; 0 or -EINVAL, the sentence and no change. */
int rest_spec_parse(const char *text, void *member, struct lull_error *error);
/** The reverse; returns @p text. */
char *rest_spec_print(const void *member, char *text, size_t size);

#endif
