/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * EAL park: keep DPDK's interrupt thread from running into its own end.
 *
 * That thread outlives rte_eal_cleanup(), which unmaps the memory it looks at
 * and, by taking back its alarm, also wakes it. What a driver left registered
 * (memif never takes back its listener) then ends the program by a fault.
 */
#ifndef LULL_EAL_PARK_H
#define LULL_EAL_PARK_H

/**
 * Hold the interrupt thread until the process ends. Main thread, right before rte_eal_cleanup().
 */
void lull_eal_park_interrupts(void);

#endif
