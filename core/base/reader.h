/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Reader: walk over bytes from outside without ever leaving them.
 *
 * A read past the end yields 0, moves nothing and leaves `failed` set, so a
 * parser reads a whole header and asks once. One reader per view; copy the
 * struct to remember a place.
 */
#ifndef LULL_READER_H
#define LULL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lull_reader {
	const uint8_t *data;
	size_t len;
	size_t offset; /* of the next byte, never above len */
	bool failed;
};

static inline struct lull_reader
lull_reader_over(const uint8_t *data, size_t len)
{
	return (struct lull_reader){ .data = data, .len = len };
}

/** Bytes not read yet. */
static inline size_t
lull_reader_left(const struct lull_reader *reader)
{
	return reader->len - reader->offset;
}

/** Take @p count (>= 1) bytes: where they start, or NULL when fewer are left. */
static inline const uint8_t *
lull_reader_bytes(struct lull_reader *reader, size_t count)
{
	if (count > lull_reader_left(reader)) {
		reader->failed = true;
		return NULL;
	}
	reader->offset += count;
	return reader->data + reader->offset - count;
}

static inline void
lull_reader_skip(struct lull_reader *reader, size_t count)
{
	(void)lull_reader_bytes(reader, count);
}

/** Unsigned number of @p count (1..8) bytes, most significant first. */
static inline uint64_t
lull_reader_big(struct lull_reader *reader, unsigned int count)
{
	const uint8_t *bytes = lull_reader_bytes(reader, count);
	uint64_t value = 0;

	if (bytes == NULL)
		return 0;
	for (unsigned int i = 0; i < count; i++)
		value = value << 8 | bytes[i];
	return value;
}

/** Unsigned number of @p count (1..8) bytes, least significant first. */
static inline uint64_t
lull_reader_little(struct lull_reader *reader, unsigned int count)
{
	const uint8_t *bytes = lull_reader_bytes(reader, count);
	uint64_t value = 0;

	if (bytes == NULL)
		return 0;
	for (unsigned int i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

static inline uint8_t
lull_reader_u8(struct lull_reader *reader)
{
	return (uint8_t)lull_reader_big(reader, 1);
}

static inline uint16_t
lull_reader_u16be(struct lull_reader *reader)
{
	return (uint16_t)lull_reader_big(reader, 2);
}

static inline uint32_t
lull_reader_u32be(struct lull_reader *reader)
{
	return (uint32_t)lull_reader_big(reader, 4);
}

static inline uint64_t
lull_reader_u64be(struct lull_reader *reader)
{
	return lull_reader_big(reader, 8);
}

static inline uint16_t
lull_reader_u16le(struct lull_reader *reader)
{
	return (uint16_t)lull_reader_little(reader, 2);
}

static inline uint32_t
lull_reader_u32le(struct lull_reader *reader)
{
	return (uint32_t)lull_reader_little(reader, 4);
}

static inline uint64_t
lull_reader_u64le(struct lull_reader *reader)
{
	return lull_reader_little(reader, 8);
}

#endif
