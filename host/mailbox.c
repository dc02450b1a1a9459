/* SPDX-License-Identifier: BSD-3-Clause */
#include "mailbox.h"

#include <errno.h>
#include <string.h>

void
lull_mailbox_init(struct lull_mailbox *mailbox)
{
	mailbox->head = 0;
	mailbox->tail = 0;
	pthread_mutex_init(&mailbox->lock, NULL);
}

void
lull_mailbox_fini(struct lull_mailbox *mailbox)
{
	pthread_mutex_destroy(&mailbox->lock);
}

int
lull_mailbox_post(struct lull_mailbox *mailbox, uint32_t kind, const void *data, size_t size)
{
	struct lull_message *message;
	int rc = 0;

	if (size > LULL_MESSAGE_SIZE)
		return -EMSGSIZE;
	pthread_mutex_lock(&mailbox->lock);
	if (mailbox->head - __atomic_load_n(&mailbox->tail, __ATOMIC_ACQUIRE) ==
	    LULL_MAILBOX_SLOTS) {
		rc = -EAGAIN;
	} else {
		message = &mailbox->slots[mailbox->head % LULL_MAILBOX_SLOTS];
		message->kind = kind;
		message->size = (uint32_t)size;
		if (size > 0)
			memcpy(message->data, data, size);
		__atomic_store_n(&mailbox->head, mailbox->head + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&mailbox->lock);
	return rc;
}

void
lull_mailbox_pop(struct lull_mailbox *mailbox)
{
	__atomic_store_n(&mailbox->tail, mailbox->tail + 1, __ATOMIC_RELEASE);
}
