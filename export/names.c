/* SPDX-License-Identifier: BSD-3-Clause */
#include "names.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum names_state { NAMES_IDLE, NAMES_ASKED, NAMES_ANSWERED };

struct sink_names {
	char host[256], port[6];
	int kind;
	bool is_address; /* nothing to look up */
	struct addrinfo *list;
	/* Between the loop and the thread. */
	uint32_t state;  /* enum names_state; who may touch answer and code */
	uint32_t owners; /* the last one frees */
	bool over;
	sem_t wanted;
	struct addrinfo *answer;
	int code;
};

static int
names_look(const struct sink_names *names, int flags, struct addrinfo **list)
{
	const struct addrinfo hints = { .ai_socktype = names->kind,
					.ai_flags = AI_NUMERICSERV | flags };

	*list = NULL;
	return getaddrinfo(names->host, names->port, &hints, list);
}

static void
names_drop(struct sink_names *names)
{
	if (__atomic_sub_fetch(&names->owners, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (names->list != NULL)
		freeaddrinfo(names->list);
	if (names->answer != NULL)
		freeaddrinfo(names->answer);
	sem_destroy(&names->wanted);
	free(names);
}

static void *
names_thread(void *arg)
{
	struct sink_names *names = arg;

	for (;;) {
		while (sem_wait(&names->wanted) != 0)
			;
		if (__atomic_load_n(&names->over, __ATOMIC_ACQUIRE))
			break;
		names->code = names_look(names, 0, &names->answer);
		__atomic_store_n(&names->state, NAMES_ANSWERED, __ATOMIC_RELEASE);
	}
	names_drop(names);
	return NULL;
}

static int
names_start(struct sink_names *names)
{
	pthread_t thread;

	names->owners = 2;
	if (pthread_create(&thread, NULL, names_thread, names) != 0) {
		names->owners = 1;
		return -EAGAIN;
	}
	(void)pthread_setname_np(thread, "lull-names");
	pthread_detach(thread);
	return 0;
}

int
sink_names_open(const char *host, const char *port, int kind, bool patient,
		struct sink_names **created, struct lull_error *error)
{
	struct sink_names *names = calloc(1, sizeof(*names));
	int rc;

	if (names == NULL)
		return lull_error_set(error, -ENOMEM, "no memory");
	snprintf(names->host, sizeof(names->host), "%s", host);
	snprintf(names->port, sizeof(names->port), "%s", port);
	names->kind = kind;
	names->owners = 1;
	sem_init(&names->wanted, 0, 0);
	rc = names_look(names, AI_NUMERICHOST, &names->list);
	names->is_address = rc == 0;
	if (rc != 0)
		rc = names_look(names, 0, &names->list);
	if (rc != 0 && !(patient && rc == EAI_AGAIN)) {
		lull_error_set(error, -EADDRNOTAVAIL, "%s", gai_strerror(rc));
		names_drop(names);
		return -EADDRNOTAVAIL;
	}
	if (patient && !names->is_address && names_start(names) != 0) {
		names_drop(names);
		return lull_error_set(error, -EAGAIN, "no thread for looking up its name");
	}
	*created = names;
	return 0;
}

void
sink_names_close(struct sink_names *names)
{
	if (names == NULL)
		return;
	__atomic_store_n(&names->over, true, __ATOMIC_RELEASE);
	sem_post(&names->wanted);
	names_drop(names);
}

void
sink_names_ask(struct sink_names *names)
{
	if (names->is_address || __atomic_load_n(&names->state, __ATOMIC_RELAXED) != NAMES_IDLE)
		return;
	__atomic_store_n(&names->state, NAMES_ASKED, __ATOMIC_RELAXED);
	sem_post(&names->wanted);
}

bool
sink_names_take(struct sink_names *names, const char **reason)
{
	bool found;

	*reason = NULL;
	if (__atomic_load_n(&names->state, __ATOMIC_ACQUIRE) != NAMES_ANSWERED)
		return false;
	found = names->code == 0;
	if (found) {
		if (names->list != NULL)
			freeaddrinfo(names->list);
		names->list = names->answer;
		names->answer = NULL;
	} else {
		*reason = gai_strerror(names->code);
	}
	__atomic_store_n(&names->state, NAMES_IDLE, __ATOMIC_RELAXED);
	return found;
}

const struct addrinfo *
sink_names_first(const struct sink_names *names)
{
	return names->list;
}
