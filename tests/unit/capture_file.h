/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Capture file: pcap and pcapng written by hand, and what a test asks of the reader.
 */
#ifndef LULL_TEST_CAPTURE_FILE_H
#define LULL_TEST_CAPTURE_FILE_H

#include <stdlib.h>
#include <string.h>

#include <lull/capture.h>

#include "case.h"

#define MAGIC_US 0xa1b2c3d4
#define MAGIC_NS 0xa1b23c4d
#define SECTION 0x0a0d0d0a
#define SECTION_MAGIC 0x1a2b3c4d

/* ---- writing ---- */

struct file {
	bool big_endian;
	size_t len;
	size_t block_begin;
	uint8_t bytes[16384];
};

static inline void
put(struct file *file, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		unsigned int shift = 8 * (file->big_endian ? count - 1 - i : i);

		file->bytes[file->len++] = (uint8_t)(value >> shift);
	}
}

/* The data of a packet tell its length. */
static inline void
put_data(struct file *file, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		file->bytes[file->len++] = (uint8_t)(count + i);
}

static inline void
pcap_header(struct file *file, bool big_endian, uint32_t magic, uint32_t link_type)
{
	memset(file, 0, sizeof(*file));
	file->big_endian = big_endian;
	put(file, magic, 4);
	put(file, 2, 2);
	put(file, 4, 2);
	put(file, 0, 8);
	put(file, 65535, 4);
	put(file, link_type, 4);
}

static inline void
pcap_packet(struct file *file, uint32_t seconds, uint32_t fraction, uint32_t captured,
	    uint32_t original)
{
	put(file, seconds, 4);
	put(file, fraction, 4);
	put(file, captured, 4);
	put(file, original, 4);
	put_data(file, captured);
}

static inline void
block_begin(struct file *file, uint32_t type)
{
	file->block_begin = file->len;
	put(file, type, 4);
	put(file, 0, 4);
}

static inline void
block_end(struct file *file)
{
	size_t end;

	while (file->len % 4 != 0)
		put(file, 0, 1);
	put(file, file->len + 4 - file->block_begin, 4);
	end = file->len;
	file->len = file->block_begin + 4;
	put(file, end - file->block_begin, 4);
	file->len = end;
}

static inline void
section(struct file *file, bool big_endian)
{
	file->big_endian = big_endian;
	block_begin(file, SECTION);
	put(file, SECTION_MAGIC, 4);
	put(file, 1, 2);
	put(file, 0, 2);
	put(file, UINT64_MAX, 8);
	block_end(file);
}

static inline void
pcapng_header(struct file *file, bool big_endian)
{
	memset(file, 0, sizeof(*file));
	section(file, big_endian);
}

static inline void
option(struct file *file, uint16_t code, uint64_t value, uint16_t bytes)
{
	put(file, code, 2);
	put(file, bytes, 2);
	put(file, value, bytes);
	while (file->len % 4 != 0)
		put(file, 0, 1);
}

/* resolution 0: leave the option out. */
static inline void
interface(struct file *file, uint16_t link_type, uint32_t snap_bytes, uint8_t resolution,
	  int64_t offset_s)
{
	block_begin(file, 1);
	put(file, link_type, 2);
	put(file, 0, 2);
	put(file, snap_bytes, 4);
	option(file, 2, 0x6c6c756c, 5); /* a name */
	if (resolution != 0)
		option(file, 9, resolution, 1);
	if (offset_s != 0)
		option(file, 14, (uint64_t)offset_s, 8);
	option(file, 0, 0, 0);
	block_end(file);
}

static inline void
enhanced(struct file *file, uint32_t index, uint64_t ticks, uint32_t captured, uint32_t original)
{
	block_begin(file, 6);
	put(file, index, 4);
	put(file, ticks >> 32, 4);
	put(file, ticks & UINT32_MAX, 4);
	put(file, captured, 4);
	put(file, original, 4);
	put_data(file, captured);
	while (file->len % 4 != 0)
		put(file, 0, 1);
	option(file, 1, 0x21, 1); /* a comment */
	option(file, 0, 0, 0);
	block_end(file);
}

/* ---- reading ---- */

/* In memory of exactly its size, so that the sanitizer sees a read outside. */
struct opened {
	uint8_t *bytes;
	struct lull_capture capture;
};

static inline void
open_len(struct opened *opened, const struct file *file, size_t len)
{
	opened->bytes = malloc(len > 0 ? len : 1);
	assert_non_null(opened->bytes);
	memcpy(opened->bytes, file->bytes, len);
	lull_capture_open(&opened->capture, opened->bytes, len);
}

static inline void
assert_packet(struct opened *opened, uint64_t timestamp_ns, uint16_t link_type, uint32_t captured,
	      uint32_t original)
{
	struct lull_capture_packet packet;

	assert_int_equal(lull_capture_next(&opened->capture, &packet), LULL_CAPTURE_PACKET);
	assert_int_equal(packet.timestamp_ns, timestamp_ns);
	assert_int_equal(packet.link_type, link_type);
	assert_int_equal(packet.captured_bytes, captured);
	assert_int_equal(packet.original_bytes, original);
	for (uint32_t i = 0; i < captured; i++)
		assert_int_equal(packet.data[i], (uint8_t)(captured + i));
}

/* The end, whatever it is, stays the end. */
static inline void
assert_result(struct opened *opened, enum lull_capture_result result, size_t offset)
{
	struct lull_capture_packet packet = { .captured_bytes = 77 };

	for (int i = 0; i < 2; i++) {
		assert_int_equal(lull_capture_next(&opened->capture, &packet), result);
		assert_int_equal(opened->capture.result, result);
		assert_int_equal(opened->capture.offset, offset);
		assert_int_equal(opened->capture.reason == NULL, result == LULL_CAPTURE_END);
		assert_int_equal(packet.captured_bytes, 77);
	}
	free(opened->bytes);
}

static inline void
assert_fails(const struct file *file, enum lull_capture_result result, size_t offset)
{
	struct opened opened;
	struct lull_capture_packet packet;

	open_len(&opened, file, file->len);
	while (lull_capture_next(&opened.capture, &packet) == LULL_CAPTURE_PACKET)
		;
	assert_result(&opened, result, offset);
}

#endif
