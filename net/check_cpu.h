/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Check of a CPU: does another thread want it too, is the device near?
 */
#ifndef LULL_NET_CHECK_CPU_H
#define LULL_NET_CHECK_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "finding.h"

/**
 * Look some times within 50 ms, at the threads of all processes but @p skipped and the calling
 * one; true: nearly always one of them ran or waited on @p cpu. @p name: of that one.
 */
bool check_cpu_shared(int cpu, pid_t skipped, char *name, size_t name_size);

/** A finding when both nodes are known (not -1) and differ. */
void check_cpu_near(int cpu, int cpu_node, int device_node, struct lull_findings *findings);

#endif
