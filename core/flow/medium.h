/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Medium: from the start of a frame of any LINKTYPE_ to its IP header.
 *
 * It begins at walk->offset and, for LULL_FLOW_OK, leaves it at the IP header, with walk->version
 * and walk->vlan_id set. Otherwise the walk is spoilt.
 */
#ifndef LULL_FLOW_MEDIUM_H
#define LULL_FLOW_MEDIUM_H

#include "walk.h"

/** By LINKTYPE_ value. */
enum lull_flow_cause lull_flow_medium_enter(struct lull_flow_walk *walk, uint16_t link_type);

#endif
