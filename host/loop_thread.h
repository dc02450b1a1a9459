/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loop thread: the thread of a loop that a library or a program of ours owns.
 */
#ifndef LULL_LOOP_THREAD_H
#define LULL_LOOP_THREAD_H

#include <pthread.h>

#include "error.h"
#include "loop.h"

/** Room for the idle object of a loop, for its parts; free() it. NULL: no memory. */
void *lull_loop_memory(void);
/**
 * Start a thread on the loop's CPU and with its name.
 * @param run  calls lull_loop_run() with the loop's own source
 * @return 0; -EINVAL: this process may not use that CPU; or there is no thread
 */
int lull_loop_thread_create(pthread_t *thread, const struct lull_loop *loop, void *(*run)(void *),
			    void *arg, struct lull_error *error);

#endif
