/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fake CPU: one with WAITPKG, or as much of it as the test wants.
 *
 * Takes the place of rte_cpu_get_intrinsics_support() and the rte_power functions by --wrap. It
 * waits on memory for real, by looking at it, and ends a wait as a real one does: by a change of
 * the memory, at the time given, at the kernel's limit, by a wake-up, or for no reason.
 */
#ifndef LULL_TEST_FAKE_CPU_H
#define LULL_TEST_FAKE_CPU_H

#include <stdbool.h>
#include <stdint.h>

struct fake_cpu {
	bool pause, monitor, multi; /* what it says it has */
	int refuses;                /* what waits return, once counted down; 0: they work */
	uint32_t refuses_after;     /* so many waits work before */
	uint64_t limit_ns;          /* the kernel's limit of one wait; 0: none */
	uint32_t spurious;          /* so many waits end at once */
	void (*before)(void);       /* called before the memory is looked at; NULL: nothing */

	/* seen */
	uint32_t pauses, waits, wakeups; /* calls */
	uint32_t addresses;              /* of the last wait */
	uint32_t lcore_id;               /* of the last wake-up */
};
extern struct fake_cpu fake_cpu;

#define FAKE_SET(struct_, member, value)                                                           \
	__atomic_store_n(&(struct_).member, value, __ATOMIC_SEQ_CST)
#define FAKE_GET(struct_, member) __atomic_load_n(&(struct_).member, __ATOMIC_SEQ_CST)

/** A CPU that has all of it, and a kernel's limit of 50 us. */
void fake_cpu_anew(void);

#endif
