/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Place: where the payload packets of a GVSP block lie in its picture.
 *
 * All of a block but the last are *full*: of one size, which nothing tells but the packets. A block
 * proves it by two packets, or by its first one when the picture goes on behind it. Before that
 * the size of former blocks is presumed, as far as a packet fits it; when the block then proves
 * another one, what was placed by presumption is wrong.
 *
 * Threads: one. Memory: the caller's; all zero knows nothing.
 */
#ifndef LULL_GVSP_PLACE_H
#define LULL_GVSP_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/** What former blocks told. */
struct gvsp_places {
	uint32_t data_bytes; /**< of a full packet; 0: not known */
	uint32_t tail_bytes; /**< most that came behind a picture: chunks, padding */
	bool fixed;          /**< data_bytes is configured */
};
/** What a block told itself. */
struct gvsp_block_place {
	uint32_t some_bytes, some_packet; /**< its longest packet; 0: none came */
	uint32_t full_bytes;              /**< proven; 0: not yet */
	uint32_t used_bytes; /**< the size by which packets behind the first were placed; 0: none */
};
/** Its picture. */
struct gvsp_extent {
	uint64_t bytes; /**< 0: not known */
	bool told;      /**< by its own leader, else by that of a former block */
};

enum gvsp_placed {
	GVSP_PLACED, /**< at the offset */
	GVSP_LAST,   /**< at the offset, and the picture ends where a former one did */
	GVSP_HELD,   /**< nobody knows where */
	GVSP_BEHIND, /**< behind the picture */
	GVSP_WRONG,  /**< contradicts its block */
	GVSP_OTHER,  /**< the picture has another size than the former one */
};

/**
 * Place payload packet @p packet (from 1) of @p bytes.
 * @param offset  out, when placed
 * @param moved   out: what was placed before lies elsewhere
 */
enum gvsp_placed gvsp_place(struct gvsp_places *places, struct gvsp_block_place *block,
			    struct gvsp_extent picture, uint32_t packet, uint32_t bytes,
			    uint64_t *offset, bool *moved);
/**
 * Judge a former picture's size by the number of payload packets, as the trailer tells it.
 * @return LAST: it agrees; OTHER; HELD: cannot be told
 */
enum gvsp_placed gvsp_place_count(const struct gvsp_places *places,
				  const struct gvsp_block_place *block, struct gvsp_extent picture,
				  uint32_t packets);

#endif
