/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sentence: words that explain a verdict, put together piece by piece.
 *
 * Threads: plain data. Memory: the caller's bytes; what does not fit is cut.
 */
#ifndef LULL_HOST_SENTENCE_H
#define LULL_HOST_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lull/idle.h>

/** It has to fit two strings of DPDK's telemetry. */
#define LULL_SENTENCE_MAX 254u

struct lull_sentence {
	char *bytes;
	size_t size, used;
	bool real_time; /* the thread has a real-time class: no use in advising one */
};

void __attribute__((format(printf, 2, 3)))
lull_sentence_add(struct lull_sentence *text, const char *format, ...);
/** "82 us", "1.5 ms" */
void lull_sentence_add_time(struct lull_sentence *text, uint64_t ns);
/** "14.9 Mpps" */
void lull_sentence_add_rate(struct lull_sentence *text, uint64_t pps);
/** The best remedy with its rest and CPU, then others with their CPU. False: none is known. */
bool lull_sentence_add_best(struct lull_sentence *text, const struct lull_verdict *verdict);
/** Up to two remedies from @p next on, as far as they fit. */
void lull_sentence_add_remedies(struct lull_sentence *text, const struct lull_verdict *verdict,
				uint32_t next);
/** Rounded to whole percent. */
uint32_t lull_remedy_cpu_pct(const struct lull_remedy *remedy);

#endif
