/* SPDX-License-Identifier: BSD-3-Clause */
#include "gvsp_place.h"

#include <lull/base.h>

#define TAIL_BYTES_MAX (1ULL << 20) /* no packet number of the wire is believed beyond */

/* What the packet proves; false: it contradicts what its block proved. */
static bool
place_prove(struct gvsp_block_place *block, struct gvsp_extent picture, uint32_t packet,
	    uint32_t bytes)
{
	bool second = block->some_packet != 0 && block->some_packet != packet;
	bool longer = bytes > block->some_bytes;

	if (block->full_bytes != 0)
		return bytes <= block->full_bytes;
	/* Of two that differ the shorter one is the last. */
	if (second && bytes != block->some_bytes && longer != (packet < block->some_packet))
		return false;
	if (second)
		block->full_bytes = LULL_MAX(bytes, block->some_bytes);
	else if (packet == 1 && picture.bytes > bytes)
		block->full_bytes = bytes;
	if (block->some_packet == 0 || longer) {
		block->some_bytes = bytes;
		block->some_packet = packet;
	}
	return true;
}

/* By the size that a former block proved: does the packet fit it, and no other? */
static bool
place_fits(const struct gvsp_places *places, struct gvsp_extent picture, uint64_t offset,
	   uint32_t bytes)
{
	uint64_t end = offset + bytes;

	if (bytes == places->data_bytes)
		return picture.bytes == 0 || offset < picture.bytes;
	return bytes < places->data_bytes && picture.bytes != 0 &&
	       (end == picture.bytes || end == picture.bytes + places->tail_bytes);
}

static enum gvsp_placed
place_end(struct gvsp_places *places, struct gvsp_extent picture, uint64_t offset, uint32_t bytes,
	  bool full)
{
	uint64_t end = offset + bytes;

	if (picture.bytes == 0)
		return GVSP_PLACED;
	if (!full && end < picture.bytes)
		return picture.told ? GVSP_WRONG : GVSP_OTHER;
	if (end > picture.bytes + places->tail_bytes && !picture.told)
		return GVSP_OTHER;
	if (end > picture.bytes)
		places->tail_bytes =
			LULL_MAX(places->tail_bytes,
				 (uint32_t)LULL_MIN(end - picture.bytes, TAIL_BYTES_MAX));
	if (!full && end == picture.bytes + places->tail_bytes)
		return GVSP_LAST;
	return offset < picture.bytes ? GVSP_PLACED : GVSP_BEHIND;
}

enum gvsp_placed
gvsp_place(struct gvsp_places *places, struct gvsp_block_place *block, struct gvsp_extent picture,
	   uint32_t packet, uint32_t bytes, uint64_t *offset, bool *moved)
{
	bool proven = places->fixed;
	uint32_t full_bytes = places->data_bytes;

	*moved = false;
	if (places->fixed ? bytes > full_bytes : !place_prove(block, picture, packet, bytes))
		return GVSP_WRONG;
	if (!places->fixed && block->full_bytes != 0) {
		proven = true;
		full_bytes = places->data_bytes = block->full_bytes;
		*moved = block->used_bytes != 0 && block->used_bytes != full_bytes;
		block->used_bytes = *moved ? full_bytes : block->used_bytes;
	}
	*offset = (uint64_t)(packet - 1) * full_bytes;
	if (packet == 1) /* lies at 0 however long it is */
		return place_end(places, picture, 0, bytes, true);
	if (full_bytes == 0 || (!proven && !place_fits(places, picture, *offset, bytes)))
		return GVSP_HELD;
	block->used_bytes = full_bytes;
	if (!proven)
		return GVSP_PLACED;
	return place_end(places, picture, *offset, bytes, bytes == full_bytes);
}

enum gvsp_placed
gvsp_place_count(const struct gvsp_places *places, const struct gvsp_block_place *block,
		 struct gvsp_extent picture, uint32_t packets)
{
	uint64_t full_bytes = places->fixed ? places->data_bytes : block->full_bytes;
	uint64_t end = picture.bytes + places->tail_bytes;

	if (packets == 1 && block->some_packet == 1)
		full_bytes = block->some_bytes;
	if (full_bytes == 0 || picture.bytes == 0 || packets == 0)
		return GVSP_HELD;
	if (packets * full_bytes < picture.bytes || (packets - 1) * full_bytes >= end)
		return GVSP_OTHER;
	return GVSP_LAST;
}
