/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Explain: sentences in a row.
 */
#ifndef LULL_HOST_EXPLAIN_H
#define LULL_HOST_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include <lull/idle.h>

/**
 * lull_verdict_explain() for a thread that has a real-time class, or not: one that has is not
 * advised to take one.
 */
char *lull_verdict_explain_of(const struct lull_verdict *verdict,
			      const struct lull_idle_limits *limits, bool real_time, char *bytes,
			      size_t size);

/** What to change, in words: "a ring of 4096 and max-latency=120us". Cut where it does not fit. */
char *lull_remedy_explain(const struct lull_remedy *remedy, char *bytes, size_t size);

/** A further sentence after @p bytes, as far as it fits whole. */
void lull_loop_explain_add(char *bytes, size_t size, const char *sentence);

#endif
