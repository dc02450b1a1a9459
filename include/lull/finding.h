/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Finding: one line of a self-check.
 *
 * A self-check looks for what may cost packets on this machine: buffers, rings, MTU, CPUs.
 * lull_receiver_check() fills in findings.
 */
#ifndef LULL_FINDING_H
#define LULL_FINDING_H

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_FINDING_SIZE 256 /**< bytes for a text */

/** How bad it is. */
enum lull_grade {
	LULL_GRADE_FINE, /**< as it should be */
	LULL_GRADE_NOTE, /**< worth knowing */
	LULL_GRADE_WRONG /**< packets would be lost, or come late */
};

/** What was found, and what to do. */
struct lull_finding {
	const char *subject; /**< "receive buffer", "ring", "MTU", "XDP program", "core" ... */
	int grade;           /**< enum lull_grade */
	char text[LULL_FINDING_SIZE];   /**< what was found, with numbers */
	char remedy[LULL_FINDING_SIZE]; /**< a command or an option; "" with LULL_GRADE_FINE */
};

#ifdef __cplusplus
}
#endif

#endif
