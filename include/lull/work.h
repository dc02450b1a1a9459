/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Work: what a thread has to do besides the queues it receives from.
 *
 * Rings between threads, event and crypto devices, timers: a thread says so
 * with lull_busy(), or once by a source that is asked before each rest.
 * lull_idle_iterate() and the plugin obey both; a loop that calls lull_idle_plan()
 * asks by lull_queue_sources_ask(). rest.h includes this header.
 *
 * The plugin has these functions as well. A program without this library finds
 * them by dlsym(RTLD_DEFAULT, "lull_busy") once DPDK has loaded the plugin.
 *
 * Threads: all of it is about the thread that calls.
 * Memory:  a source is its owner's; nothing here allocates.
 */
#ifndef LULL_WORK_H
#define LULL_WORK_H

#include <stdint.h>

#include "idle.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_QUEUE_SOURCES_MAX 16 /**< sources of one thread */

/**
 * Where a thread finds work besides the queues it receives from. One of waiting and due_ns is
 * there, the other members may be NULL. Each is called by the thread that added the source, between
 * two polls, and is quick: it runs in each iteration that received nothing.
 */
struct lull_queue_source {
	const char *name;               /**< for people, for example "crypto" */
	void *arg;                      /**< given to each function */
	uint32_t (*waiting)(void *arg); /**< items that wait now, or are on their way; 0: none */
	uint64_t (*due_ns)(void *arg);  /**< clock of the next duty; 0: none */
	/**
	 * A sleep begins: from now on whoever adds an item makes a descriptor readable. Returns the
	 * descriptor; -1: the sleep ends by its timer.
	 */
	int (*arm)(void *arg);
	void (*disarm)(void *arg); /**< the sleep has ended; called after each arm */
};

/**
 * Say that the calling thread has work besides its queues. At the end of its next iteration it does
 * not rest, even if it receives nothing. Call it in each iteration that leaves work behind. It
 * costs a store of one byte. Threads: any; it is about the calling one.
 */
void lull_busy(void);
/**
 * Add a source of work to the calling thread. From now on the thread does not rest while
 * source->waiting returns more than 0, nor beyond source->due_ns, and an armed source ends its
 * sleeps. A pause of the core is not ended; it is as short as the limits say.
 * @param source  borrowed until lull_queue_source_remove() or the end of the thread
 * @return 0; -EINVAL: it has neither waiting nor due_ns; -EEXIST: it was added before; -ENOSPC: the
 *         thread has LULL_QUEUE_SOURCES_MAX already
 * Threads: the one that finds work there.
 */
int lull_queue_source_add(const struct lull_queue_source *source);
/**
 * Take a source away from the calling thread again.
 * @param source  one that was not added is ignored
 * Threads: the one that added it.
 */
void lull_queue_source_remove(const struct lull_queue_source *source);
/**
 * Ask all sources of the calling thread what waits. It forgets an earlier lull_busy().
 * @param due_ns  out: clock of the earliest duty, for the deadline_ns of struct lull_iteration; 0:
 *                none
 * @return items that wait, one more after lull_busy(); more than 0: do not rest
 * Threads: any; it is about the calling one.
 */
uint32_t lull_queue_sources_ask(uint64_t *due_ns);
/**
 * Sleep until a time has passed or an armed source of the calling thread has work.
 * @param limit_ns  how long at most
 * @return LULL_WAKE_TIMER: the time has passed; LULL_WAKE_PACKET: a descriptor became readable;
 *         LULL_WAKE_KICK: a signal came, or work had come before the sources were armed
 * Threads: the one that rests.
 */
enum lull_wake_reason lull_queue_sources_sleep(uint64_t limit_ns);

#ifdef __cplusplus
}
#endif

#endif
