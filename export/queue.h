/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink queue: whole units (lines, messages) that wait for their destination, bounded in bytes.
 */
#ifndef LULL_FLOW_SINK_QUEUE_H
#define LULL_FLOW_SINK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sink_unit {
	uint32_t len;     /**< of the bytes behind this struct */
	uint32_t records; /**< in them */
};

struct sink_queue {
	uint8_t *bytes;
	size_t size, head, tail; /**< offsets of the oldest unit and behind the newest */
	size_t end;              /**< behind the last unit before the tail went round */
	uint64_t records;        /**< waiting */
	size_t count;            /**< units waiting */
	size_t used;             /**< bytes of them */
};

/** 0 or -ENOMEM. */
int sink_queue_open(struct sink_queue *queue, size_t size);
void sink_queue_close(struct sink_queue *queue);
/** false: no room. */
bool sink_queue_put(struct sink_queue *queue, const void *bytes, uint32_t len, uint32_t records);
/** The oldest unit, its bytes behind it; NULL: none. */
const struct sink_unit *sink_queue_front(const struct sink_queue *queue);
void sink_queue_pop(struct sink_queue *queue);

#endif
