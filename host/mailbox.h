/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Mailbox: commands for a loop, in order.
 *
 * Threads: any number post, one at a time behind a lock; the loop alone peeks
 *          and pops, without a lock.
 * Memory:  one fixed struct; posts copy.
 */
#ifndef LULL_MAILBOX_H
#define LULL_MAILBOX_H

#include <pthread.h>
#include <stdalign.h>

#include <lull/base.h>

#define LULL_MAILBOX_SLOTS 16 /* a power of two */
#define LULL_MESSAGE_SIZE 4096

struct lull_message {
	uint32_t kind;
	uint32_t size;
	alignas(16) uint8_t data[LULL_MESSAGE_SIZE];
};

struct lull_mailbox {
	alignas(LULL_CACHE_LINE) uint32_t head; /* posted, by producers */
	pthread_mutex_t lock;                   /* of producers */
	alignas(LULL_CACHE_LINE) uint32_t tail; /* popped, by the loop */
	alignas(LULL_CACHE_LINE) struct lull_message slots[LULL_MAILBOX_SLOTS];
};

void lull_mailbox_init(struct lull_mailbox *mailbox);
void lull_mailbox_fini(struct lull_mailbox *mailbox);
/** 0, -EAGAIN: full, -EMSGSIZE: larger than LULL_MESSAGE_SIZE. */
int lull_mailbox_post(struct lull_mailbox *mailbox, uint32_t kind, const void *data, size_t size);
/** Oldest message, NULL when empty; valid until popped. Once a poll iteration: inline. */
static inline const struct lull_message *
lull_mailbox_peek(const struct lull_mailbox *mailbox)
{
	if (__atomic_load_n(&mailbox->head, __ATOMIC_ACQUIRE) == mailbox->tail)
		return NULL;
	return &mailbox->slots[mailbox->tail % LULL_MAILBOX_SLOTS];
}
void lull_mailbox_pop(struct lull_mailbox *mailbox);

#endif
