/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Walk: where the parser stands in a frame, and how far it may read.
 *
 * Headers are asked for by place and length before any byte of them is read. The answer tells a
 * capture that is too short from a frame that is.
 */
#ifndef LULL_FLOW_WALK_H
#define LULL_FLOW_WALK_H

#include <lull/flow.h>

#include "base/assert.h"

struct lull_flow_walk {
	const uint8_t *data;
	uint32_t readable; /* bytes that may be read: within the capture and the layer */
	uint32_t end;      /* of the layer on the wire, >= readable */
	uint32_t offset;   /* of the next header */
	uint8_t version;   /* of IP that the layer below promises, 0: any */
	uint8_t depth;     /* frames in frames so far */
	bool tagged;       /* vlan_id is set; the tags that follow are inner ones */
	uint16_t vlan_id;
	uint32_t key_parts;        /* LULL_FLOW_KEY_... that are wanted */
	struct lull_flow_key more; /* tunnel, label and interface, as far as they are wanted */
};

/** The walk has come through a tunnel of this number, part @p part of a key. */
static inline void
lull_flow_walk_tunnel(struct lull_flow_walk *walk, uint32_t part, enum lull_flow_tunnel tunnel,
		      uint32_t id)
{
	struct lull_flow_key *more = &walk->more;

	if ((walk->key_parts & part) == 0)
		return;
	if (more->tunnel != LULL_FLOW_TUNNEL_NONE)
		more->outer =
			(more->outer * 0x9e3779b1u ^ more->tunnel_id) * 0x85ebca6bu + more->tunnel;
	more->tunnel = (uint8_t)tunnel;
	more->tunnel_id = id;
}

/** The bottom of a label stack. */
static inline void
lull_flow_walk_label(struct lull_flow_walk *walk, uint32_t label)
{
	if ((walk->key_parts & LULL_FLOW_KEY_MPLS) == 0)
		return;
	walk->more.labelled = 1;
	walk->more.mpls_label = label;
}

/** May @p count bytes at @p offset be read, and if not, why? */
static inline enum lull_flow_cause
lull_flow_walk_need(const struct lull_flow_walk *walk, uint32_t offset, uint32_t count)
{
	uint64_t end = (uint64_t)offset + count;

	if (end <= walk->readable)
		return LULL_FLOW_OK;
	return end <= walk->end ? LULL_FLOW_TRUNCATED : LULL_FLOW_MALFORMED;
}

/** Nothing at or behind @p end belongs to the layer. */
static inline void
lull_flow_walk_limit(struct lull_flow_walk *walk, uint32_t end)
{
	walk->end = LULL_MIN(walk->end, end);
	walk->readable = LULL_MIN(walk->readable, end);
}

/* Numbers at places that were asked for. */

static inline uint8_t
lull_flow_walk_u8(const struct lull_flow_walk *walk, uint32_t offset)
{
	LULL_ASSERT_HOT(offset < walk->readable);
	return walk->data[offset];
}

static inline uint16_t
lull_flow_walk_u16(const struct lull_flow_walk *walk, uint32_t offset)
{
	const uint8_t *bytes = walk->data + offset;

	LULL_ASSERT_HOT(offset + 2 <= walk->readable);
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t
lull_flow_walk_u32(const struct lull_flow_walk *walk, uint32_t offset)
{
	return (uint32_t)lull_flow_walk_u16(walk, offset) << 16 |
	       lull_flow_walk_u16(walk, offset + 2);
}

static inline uint16_t
lull_flow_walk_u16_little(const struct lull_flow_walk *walk, uint32_t offset)
{
	const uint8_t *bytes = walk->data + offset;

	LULL_ASSERT_HOT(offset + 2 <= walk->readable);
	return (uint16_t)(bytes[1] << 8 | bytes[0]);
}

#endif
