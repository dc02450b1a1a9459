/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Record: begun by a packet, added to by packets.
 */
#ifndef LULL_FLOW_RECORD_H
#define LULL_FLOW_RECORD_H

#include <lull/flow.h>

/** A zeroed record becomes that of a flow, still without packets. */
void lull_flow_record_begin(struct lull_flow_record *record, const struct lull_flow_packet *packet,
			    uint32_t cut, uint32_t worker_index);
/** Add a packet; @p payload points at payload_captured bytes, @p payload_bytes may be kept. */
void lull_flow_record_count(struct lull_flow_record *record, const struct lull_flow_packet *packet,
			    const uint8_t *payload, uint32_t payload_bytes);

#endif
