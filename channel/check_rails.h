/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Check of rails: which is too small, too slow, or without room, alone and beside the others?
 *
 * Works on what was looked up before. Threads: any. Memory: the caller's.
 */
#ifndef LULL_CHANNEL_CHECK_RAILS_H
#define LULL_CHANNEL_CHECK_RAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "net/finding.h"

/** What the check of a rail goes by. */
struct check_rail {
	const char *text; /* as the user wrote it */
	uint32_t mtu_bytes;
	uint32_t packet_bytes; /* longest packet */
	uint32_t mbps;         /* of the link; 0: not told */
	uint32_t ring_pkts;    /* room for packets that nobody has fetched */
	bool up;
	bool own; /* the ring is ours, and as large as it should be */
};

/** MTU, link and room of one rail, a finding each. */
void check_rail(const struct check_rail *rail, struct lull_findings *findings);
/** A finding where one rail's packets are shorter than another's, and where its link is slower by
 * far. */
void check_rails(const struct check_rail *rails, uint32_t count, struct lull_findings *findings);

#endif
