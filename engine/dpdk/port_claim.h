/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Claim: which of the loops that share a port takes a rise of its missed packets.
 *
 * A port counts for all of its queues together, so several loops see the same rise; it is charged
 * to one of them. A loop that has rested since it last looked takes all that it sees. One that has
 * not takes only what it saw the last time and nobody has taken since: those that rest come first,
 * they have something to learn from it.
 *
 * Threads: any; a view belongs to one loop.
 */
#ifndef LULL_PORT_CLAIM_H
#define LULL_PORT_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

/** A loop's look at one port. */
struct lull_port_view {
	uint64_t missed; /* then */
};

/** The loop's counting begins with @p missed. */
void lull_port_claim_begin(uint16_t port_id, struct lull_port_view *view, uint64_t missed);
/** Of the @p missed packets that the port counts by now, those charged to this loop. */
uint64_t lull_port_claim_take(uint16_t port_id, struct lull_port_view *view, uint64_t missed,
			      bool rested);

#endif
