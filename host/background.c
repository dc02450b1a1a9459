/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>

#include "background.h"

int
lull_background_start(pthread_t *thread, const pthread_attr_t *attr, const char *name,
		      void *(*run)(void *))
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = -pthread_create(thread, attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		pthread_setname_np(*thread, name);
	return rc;
}
