/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Node: which NUMA node a CPU belongs to.
 *
 * Threads: any.
 */
#ifndef LULL_NODE_H
#define LULL_NODE_H

/** -1: not known, as on a machine that tells of no nodes. */
int lull_cpu_node(int cpu);
/** The same where CPUs stand in another folder than the kernel's. For tests. */
int lull_cpu_node_below(const char *folder, int cpu);

#endif
