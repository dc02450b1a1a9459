/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Node: which NUMA node a CPU belongs to.
 *
 * Threads: any.
 */
#ifndef LULL_NODE_H
#define LULL_NODE_H

#include <stdbool.h>
#include <stddef.h>

/** -1: not known, as on a machine that tells of no nodes. */
int lull_cpu_node(int cpu);
/** The same where CPUs stand in another folder than the kernel's. For tests. */
int lull_cpu_node_below(const char *folder, int cpu);
/**
 * A sentence for people: this loop polls a port of another node.
 *
 * @param cpu_node,port_node  -1: not known
 * @return false: the port is near, or nobody knows; no text
 */
bool lull_node_text(const char *loop, int cpu, int cpu_node, const char *port, int port_node,
		    char *text, size_t size);

#endif
