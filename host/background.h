/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Background: threads beside the loops, which are ours and not the program's.
 */
#ifndef LULL_BACKGROUND_H
#define LULL_BACKGROUND_H

#include <pthread.h>

/**
 * Start a thread that takes no signals: those are the program's. Any thread.
 * @param attr  NULL: as a thread is by default
 * @param name  15 characters at most
 * @return 0, or -errno: there is no thread
 */
int lull_background_start(pthread_t *thread, const pthread_attr_t *attr, const char *name,
			  void *(*run)(void *));

#endif
