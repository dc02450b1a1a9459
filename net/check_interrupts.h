/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Check of interrupts: which CPUs take those of a network interface, and what else is there?
 */
#ifndef LULL_NET_CHECK_INTERRUPTS_H
#define LULL_NET_CHECK_INTERRUPTS_H

#include <sched.h>
#include <stdint.h>

#include "finding.h"

/**
 * Which CPUs take the interrupts of an interface.
 *
 * @param root       folder with copies of /proc and /sys, ends without a slash; "": those of the
 *                   machine
 * @param interface  of the kernel
 * @param cpus       is written
 * @return  how many interrupts it has; 0: none that the kernel tells, as for virtual ones
 */
uint32_t check_interrupts_cpus(const char *root, const char *interface, cpu_set_t *cpus);

/**
 * A finding when all interrupts of the interface come to one CPU, and that one polls for us, or
 * is used by another program all the time.
 *
 * @param root         as above
 * @param subject      whose interrupts: a rail, as the user wrote it
 * @param polling_cpu  on which our thread polls all the time; -1: it does not, or on any
 */
void check_interrupts(const char *root, const char *interface, const char *subject, int polling_cpu,
		      struct lull_findings *findings);

#endif
