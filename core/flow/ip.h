/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IP: a header of version 4 or 6 with what follows it up to the transport.
 *
 * A packet whose IP header is sound belongs to a flow, whatever its transport says: lengths that
 * contradict each other further in cost it its payload, not its place. Only ports that cannot be
 * read do.
 */
#ifndef LULL_FLOW_IP_H
#define LULL_FLOW_IP_H

#include "walk.h"

struct lull_flow_ip {
	uint32_t offset;          /* of the header */
	uint32_t payload;         /* behind it and its extension headers */
	uint32_t end;             /* as the header says: may lie behind the frame's end */
	uint32_t fragment_id;     /* only with fragment */
	uint16_t source, target;  /* addresses, from data */
	uint16_t fragment_offset; /* in units of 8 bytes */
	bool fragment;            /* one of several */
	uint8_t version, proto;
};
/** What a transport header tells. */
struct lull_flow_transport {
	uint16_t port[2]; /* of source and target */
	uint8_t tcp_flags;
	uint32_t payload;       /* behind it, at most at the IP packet's end */
	uint32_t payload_bytes; /* as the headers say */
};

/** Read the header at walk->offset; then the walk ends where the IP packet does. */
enum lull_flow_cause lull_flow_ip_read(struct lull_flow_walk *walk, struct lull_flow_ip *ip);
/** Read the transport header of what is not a later fragment. */
enum lull_flow_cause lull_flow_ip_transport(const struct lull_flow_walk *walk,
					    const struct lull_flow_ip *ip,
					    struct lull_flow_transport *transport);
/** Addresses of 4 or 16 bytes. */
static inline uint32_t
lull_flow_ip_address_bytes(const struct lull_flow_ip *ip)
{
	return ip->version == 4 ? 4 : 16;
}

#endif
