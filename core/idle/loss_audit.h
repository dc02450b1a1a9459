/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Loss audit: which loop is charged with a packet that a port lost in an Rx ring.
 *
 * A port counts its lost packets for all of its queues together, so several
 * loops see the same rise, and one of them is charged with it. A loop whose rests
 * may have lost packets since the last reading takes all that it sees. Another takes
 * only what it saw the last time and nobody has taken since: loops that
 * rest come first, because they have something to learn from it.
 *
 * What was lost for want of buffers is no loop's fault. A ring that gets none is
 * not refilled, so what it misses meanwhile is charged to no rest either.
 *
 * Threads: an audit belongs to one loop, others may read what it has seen. A
 *          claim is shared by all loops of a port, in any thread.
 * Memory:  plain structs of the caller, zeros to begin with.
 */
#ifndef LULL_LOSS_AUDIT_H
#define LULL_LOSS_AUDIT_H

#include <lull/base.h>

/** How many packets missed by a port its loops have taken together. */
struct lull_loss_claim {
	uint64_t taken; /* + 1; 0: no loop has begun */
};

/** What a port lost since it started, for want of descriptors and of buffers. */
struct lull_port_loss {
	uint64_t missed, nombuf;
};

/** What a port has lost by some time between these two. */
struct lull_loss_reading {
	uint64_t begin_ns, end_ns; /**< clock before and after the port was asked */
	struct lull_port_loss loss;
};

/** One loop's audit of one port. */
struct lull_loss_audit {
	bool begun;
	uint64_t begin_ns;          /* of the last reading */
	struct lull_port_loss seen; /* in it */
};

/** Packets lost in a ring that a loop is charged with. */
struct lull_loss_charge {
	uint64_t rests;  /**< lost while a rest of it may have filled the ring */
	uint64_t others; /**< lost otherwise */
};

/** Is this reading newer than the last one? */
static inline bool
lull_loss_audit_due(const struct lull_loss_audit *audit, const struct lull_loss_reading *reading)
{
	return !audit->begun || reading->begin_ns > audit->begin_ns;
}

/**
 * Enter a reading. The first one only begins the counting.
 * @param suspect  may rests of the loop have lost packets since the last reading?
 * @param charge   what this loop is charged with is added
 */
void lull_loss_audit_enter(struct lull_loss_audit *audit, struct lull_loss_claim *claim,
			   const struct lull_loss_reading *reading, bool suspect,
			   struct lull_loss_charge *charge);
/** The loop ends: it is charged with what it saw and nobody has taken. */
void lull_loss_audit_end(struct lull_loss_audit *audit, struct lull_loss_claim *claim,
			 struct lull_loss_charge *charge);
/** Add what the loop saw last to @p loss. Any thread. */
void lull_loss_audit_add(const struct lull_loss_audit *audit, struct lull_port_loss *loss);

#endif
