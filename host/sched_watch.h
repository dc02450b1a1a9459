/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Watch: the thread that looks at all others.
 *
 * It stands above the loops, so it samples also when one of them spins on a lock whose holder it
 * keeps from its CPU. It allocates nothing and waits for no lock without priority inheritance.
 * Threads: start and stop one at a time; kick from any thread.
 */
#ifndef LULL_SCHED_WATCH_H
#define LULL_SCHED_WATCH_H

/**
 * @param priority  of SCHED_FIFO; 0: an ordinary thread, for tests
 * @return 0 or -errno, -EPERM when this process may not have that priority
 */
int sched_watch_start(int priority);
void sched_watch_stop(void);
void sched_watch_kick(void);
/** In the child of a fork: the thread is not there. */
void sched_watch_forked(void);

#endif
