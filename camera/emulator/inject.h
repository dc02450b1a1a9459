/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Inject: what shall happen to each packet, and the packets that wait for their turn.
 *
 * Decides by seed and place alone, so one configuration makes the same faults each time.
 * Threads: one. Memory: inject_open() allocates.
 */
#ifndef LULL_EMULATOR_INJECT_H
#define LULL_EMULATOR_INJECT_H

#include "base/prng.h"
#include "config.h"

/** Packets kept back at most; when it is full, packets go in time. */
#define INJECT_HELD_MAX 65536

struct inject_packet {
	uint64_t frame;
	uint64_t release; /* ns, or how many packets have passed */
	uint32_t index;
};
struct inject_queue {
	struct inject_packet *packets;
	uint32_t head, count;
};
struct inject {
	const struct lull_emulator_config *config;
	struct lull_prng prng, resend_prng;
	struct inject_queue reordered, late;
	uint64_t passed;
};

enum inject_fate { INJECT_SEND, INJECT_LOSE, INJECT_DUPLICATE, INJECT_REORDER, INJECT_LATE };

/** 0 or -ENOMEM. */
int inject_open(struct inject *inject, const struct lull_emulator_config *config, uint32_t camera);
void inject_close(struct inject *inject);
/** Of a packet in its turn; one that is reordered or late is kept, see inject_next(). */
enum inject_fate inject_packet(struct inject *inject, uint64_t frame, uint32_t index,
			       uint64_t now_ns);
/** Is this answer to a request to be lost? */
bool inject_answer(struct inject *inject, uint64_t frame, uint32_t index);
/** A packet whose time has come; @p all: nothing more will pass. */
bool inject_next(struct inject *inject, uint64_t now_ns, bool all, struct inject_packet *packet);
/** When the next late one is due; UINT64_MAX: none. */
uint64_t inject_due_ns(const struct inject *inject);
bool inject_empty(const struct inject *inject);
/** Forget what waits. */
void inject_drop(struct inject *inject);

#endif
