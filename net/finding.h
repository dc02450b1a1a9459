/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Findings: lines of a self-check as they are found.
 */
#ifndef LULL_NET_FINDING_H
#define LULL_NET_FINDING_H

#include <stdint.h>

#include <lull/finding.h>

struct lull_findings {
	struct lull_finding *lines;
	uint32_t count_max;
	uint32_t count; /**< found, may exceed count_max */
};
/** Add a line. @p subject: a literal. */
__attribute__((format(printf, 4, 5))) void lull_finding_add(struct lull_findings *findings,
							    const char *subject,
							    enum lull_grade grade,
							    const char *format, ...);
/** The remedy of the line that was added last. */
__attribute__((format(printf, 2, 3))) void lull_finding_remedy(struct lull_findings *findings,
							       const char *format, ...);

#endif
