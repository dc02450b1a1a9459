/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Unpack: what gzip (zlib) or zstd compressed, piece by piece.
 *
 * Threads: one at a time. Memory: of the heap and of these libraries.
 */
#ifndef LULL_FLOW_UNPACK_H
#define LULL_FLOW_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum flow_unpack_method { FLOW_UNPACK_NONE, FLOW_UNPACK_GZIP, FLOW_UNPACK_ZSTD };

struct flow_unpacker; /* opaque */

/** Which one begins with these bytes? */
enum flow_unpack_method flow_unpack_method(const uint8_t *first, size_t count);
/** NULL: @p reason tells why not. */
struct flow_unpacker *flow_unpack_open(enum flow_unpack_method method, const char **reason);
/**
 * Take bytes of @p from at @p *from_at, and append to @p to at @p *to_len. NULL, or what is wrong.
 */
const char *flow_unpack(struct flow_unpacker *unpacker, const uint8_t *from, size_t from_len,
			size_t *from_at, uint8_t *to, size_t to_room, size_t *to_len);
/** Does what was compressed end where the bytes taken so far end? */
bool flow_unpack_whole(const struct flow_unpacker *unpacker);
/** NULL is ignored. */
void flow_unpack_close(struct flow_unpacker *unpacker);

#endif
