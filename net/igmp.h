/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IGMP: groups of IPv4 that an interface without a kernel is in.
 *
 * RFC 3376 (version 3) without lists of sources; a querier of version 2 or 1 is answered in its
 * version (RFC 2236, RFC 1112). It reports what it joins, twice, answers queries after a random
 * part of the time that they give, and takes leave. It does not save a report because another host
 * has sent one: switches that listen want to hear from each.
 * Threads: one at a time. Memory: the caller's. Time: the caller's, in ns.
 */
#ifndef LULL_NET_IGMP_H
#define LULL_NET_IGMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"

#define LULL_NET_IGMP_FRAME_MAX (14 + 24 + 8 + 8 * LULL_NET_CLAIMS_MAX)

struct lull_net_igmp_group {
	uint8_t group[4];
	uint8_t news;    /* reports of a change that are still to be sent */
	uint64_t due_ns; /* of the next report; 0: none */
};
struct lull_net_igmp {
	uint8_t source[4], mac[LULL_NET_MAC_SIZE];
	uint32_t count;
	struct lull_net_igmp_group groups[LULL_NET_CLAIMS_MAX];
	uint64_t due_ns;            /* of the first; 0: none */
	uint64_t older_until_ns[3]; /* by version: such a querier was heard lately */
	bool leaving;
	uint64_t random;
};

/** @p source: its IPv4 address, 0.0.0.0 where it has none; @p mac: of the port. */
void lull_net_igmp_init(struct lull_net_igmp *igmp, const uint8_t source[4],
			const uint8_t mac[LULL_NET_MAC_SIZE]);
/** At most LULL_NET_CLAIMS_MAX; a group that it is in already counts once. */
void lull_net_igmp_join(struct lull_net_igmp *igmp, uint64_t now_ns, const uint8_t group[4]);
/** A frame of the port; false: it is no query. */
bool lull_net_igmp_hear(struct lull_net_igmp *igmp, uint64_t now_ns, const uint8_t *frame,
			size_t len_bytes);
/** Leave all groups: what is written from now on says so, once. */
void lull_net_igmp_leave(struct lull_net_igmp *igmp, uint64_t now_ns);
/** Is something to be sent? */
static inline bool
lull_net_igmp_due(const struct lull_net_igmp *igmp, uint64_t now_ns)
{
	return igmp->due_ns != 0 && now_ns >= igmp->due_ns;
}
/** The next frame that is due, of at most LULL_NET_IGMP_FRAME_MAX bytes; 0: there is none. */
uint32_t lull_net_igmp_write(struct lull_net_igmp *igmp, uint64_t now_ns, uint8_t *frame);

#endif
