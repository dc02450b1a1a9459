/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loss audit: which loop is charged with a packet that a port lost.
 *
 * A port counts its lost packets for all of its queues together, so several
 * loops see the same rise, and one of them is charged with it. A loop that has
 * rested since it last asked takes all that it sees. A loop that has not rested
 * takes only what it saw the last time and nobody has taken since: loops that
 * rest come first, because they have something to learn from it.
 *
 * The caller asks the port and hands the answer in. A port that does not answer
 * changes nothing. Some drivers take long to count, so asking may cost a
 * thousandth of the time and no more.
 *
 * Threads: an audit belongs to one loop, others may read what it has seen. A
 *          claim is shared by all loops of a port, in any thread.
 * Memory:  plain structs of the caller, zeros to begin with.
 */
#ifndef LULL_LOSS_AUDIT_H
#define LULL_LOSS_AUDIT_H

#include <lull/base.h>

/** How many lost packets of a port its loops have taken together. */
struct lull_loss_claim {
	uint64_t taken; /* + 1; 0: no loop has begun */
};

/** What a port lost since it started, for want of descriptors and of buffers. */
struct lull_port_loss {
	uint64_t missed, nombuf;
};

/** One loop's audit of one port. */
struct lull_loss_audit {
	bool begun;
	uint64_t due_ns;            /* ask the port again then */
	uint64_t rest_ns;           /* of the loop, when the port answered last */
	struct lull_port_loss seen; /* that answer */
};

/** A port has been asked. */
struct lull_loss_answer {
	bool valid; /**< false: the driver refused; loss is not looked at */
	struct lull_port_loss loss;
	uint64_t begin_ns, end_ns; /**< clock before and after asking */
	uint64_t rest_ns;          /**< total time at rest of the loop by now */
	bool last;                 /**< the loop ends: it takes what nobody has taken */
};

/** Is it time to ask? */
static inline bool
lull_loss_audit_due(const struct lull_loss_audit *audit, uint64_t now_ns)
{
	return now_ns >= audit->due_ns;
}

/**
 * Enter an answer. The first one only begins the counting.
 * @return lost packets that are charged to this loop
 */
uint64_t lull_loss_audit_enter(struct lull_loss_audit *audit, struct lull_loss_claim *claim,
			       const struct lull_loss_answer *answer);
/** The loop ends and the port cannot be asked any more: what it saw and nobody has taken. */
uint64_t lull_loss_audit_end(struct lull_loss_audit *audit, struct lull_loss_claim *claim);
/** Add what the loop saw last to @p loss. Any thread. */
void lull_loss_audit_add(const struct lull_loss_audit *audit, struct lull_port_loss *loss);

#endif
