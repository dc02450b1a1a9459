/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <lull/base.h>

#include "pcap.h"

#define BLOCK_INTERFACE 1
#define BLOCK_PACKET_OLD 2
#define BLOCK_PACKET_SIMPLE 3
#define BLOCK_PACKET 6
#define BLOCK_BYTES_MIN 12
#define BLOCK_BYTES_MAX (16u << 20) /* longer is taken for a broken length */

#define SECTION_MAGIC 0x1a2b3c4dU
#define SECTION_VERSION_MAJOR 1

#define OPTION_END 0
#define OPTION_NAME 2
#define OPTION_DESCRIPTION 3
#define OPTION_TSRESOL 9
#define OPTION_TSOFFSET 14
#define TSRESOL_DEFAULT 6 /* us */
#define TSRESOL_BINARY 0x80

__extension__ typedef unsigned __int128 pcapng_wide;

struct block {
	uint32_t type;
	struct lull_reader body;
	size_t bytes; /* all of it */
};

static enum lull_capture_result
fail_malformed(struct lull_capture *capture, const char *reason)
{
	return lull_capture_fail(capture, LULL_CAPTURE_MALFORMED, reason);
}

/* ---- blocks ---- */

/* A section header says in which byte order its own length is; @p reader stands before that. */
static enum lull_capture_result
section_order(struct lull_capture *capture, struct lull_reader reader)
{
	struct lull_reader swapped;

	lull_reader_skip(&reader, 4);
	swapped = reader;
	capture->big_endian = lull_reader_u32be(&reader) == SECTION_MAGIC;
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside a section header");
	if (!capture->big_endian && lull_reader_u32le(&swapped) != SECTION_MAGIC)
		return fail_malformed(capture, "section header has no byte-order magic");
	return LULL_CAPTURE_PACKET;
}

/* Frame the block at the offset: on PACKET it lies in the file as a whole. */
static enum lull_capture_result
block_read(struct lull_capture *capture, struct block *block)
{
	struct lull_reader reader = lull_capture_rest(capture);
	const uint8_t *body;
	uint32_t bytes;

	if (lull_reader_left(&reader) == 0)
		return LULL_CAPTURE_END;
	block->type = lull_capture_u32(capture, &reader);
	if (block->type == LULL_PCAPNG_SECTION) {
		enum lull_capture_result result = section_order(capture, reader);

		if (result != LULL_CAPTURE_PACKET)
			return result;
	}
	bytes = lull_capture_u32(capture, &reader);
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside a block header");
	if (bytes < BLOCK_BYTES_MIN || bytes % 4 != 0 || bytes > BLOCK_BYTES_MAX)
		return fail_malformed(capture, "block length is impossible");
	body = lull_reader_bytes(&reader, bytes - BLOCK_BYTES_MIN);
	block->body = lull_reader_over(body, bytes - BLOCK_BYTES_MIN);
	block->bytes = bytes;
	if (lull_capture_u32(capture, &reader) != bytes && !reader.failed)
		return fail_malformed(capture, "the two lengths of a block differ");
	if (reader.failed)
		return lull_capture_fail(capture, LULL_CAPTURE_TRUNCATED,
					 "file ends inside a block");
	return LULL_CAPTURE_PACKET;
}

static enum lull_capture_result
section_read(struct lull_capture *capture, struct block *block)
{
	uint16_t major;

	lull_reader_skip(&block->body, 4);
	major = lull_capture_u16(capture, &block->body);
	lull_reader_skip(&block->body,
			 10); /* minor version; length, which the blocks tell better */
	if (block->body.failed)
		return fail_malformed(capture, "section header is too short");
	if (major != SECTION_VERSION_MAJOR)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "pcapng, but of another version than 1");
	capture->interface_count = 0;
	capture->kind_count = 0;
	capture->simple_snap_bytes = 0;
	return LULL_CAPTURE_PACKET;
}

/* ---- interfaces ---- */

static void
interface_option(const struct lull_capture *capture, struct lull_capture_interface *interface,
		 uint16_t code, struct lull_reader value)
{
	if (code == OPTION_TSRESOL && value.len == 1) {
		uint8_t resolution = lull_reader_u8(&value);

		interface->binary = (resolution & TSRESOL_BINARY) != 0;
		interface->exponent = resolution & (TSRESOL_BINARY - 1);
	}
	if (code == OPTION_TSOFFSET && value.len == 8)
		interface->offset_s = (int64_t)lull_capture_u64(capture, &value);
}

static void
description_option(struct lull_capture_description *description, uint16_t code,
		   const struct lull_reader *value)
{
	if (code == OPTION_NAME) {
		description->name = (const char *)value->data;
		description->name_bytes = (uint32_t)value->len;
	}
	if (code == OPTION_DESCRIPTION) {
		description->text = (const char *)value->data;
		description->text_bytes = (uint32_t)value->len;
	}
}

static bool
interface_options(const struct lull_capture *capture, struct lull_capture_interface *interface,
		  struct lull_capture_description *description, struct lull_reader *reader)
{
	while (lull_reader_left(reader) > 0) {
		uint16_t code = lull_capture_u16(capture, reader);
		uint16_t bytes = lull_capture_u16(capture, reader);
		struct lull_reader value = lull_reader_over(reader->data + reader->offset, bytes);

		if (code == OPTION_END)
			break;
		lull_reader_skip(reader, bytes + (-bytes & 3u));
		if (reader->failed)
			return false;
		interface_option(capture, interface, code, value);
		description_option(description, code, &value);
	}
	return !reader->failed;
}

static bool
interface_same(const struct lull_capture_interface *a, const struct lull_capture_interface *b)
{
	return a->link_type == b->link_type && a->binary == b->binary &&
	       a->exponent == b->exponent && a->offset_s == b->offset_s;
}

/* Interfaces by the thousand are of few kinds. @return its number; kind_count: a new one */
static uint32_t
interface_kind(const struct lull_capture *capture, const struct lull_capture_interface *interface)
{
	uint32_t kind = 0;

	while (kind < capture->kind_count && !interface_same(&capture->kinds[kind], interface))
		kind++;
	return kind;
}

static enum lull_capture_result
interface_add(struct lull_capture *capture, const struct lull_capture_interface *interface)
{
	uint32_t kind = interface_kind(capture, interface);

	if (capture->interface_count == LULL_CAPTURE_INTERFACES_MAX)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "more than 8192 interfaces in a section");
	if (kind == LULL_CAPTURE_KINDS_MAX)
		return lull_capture_fail(capture, LULL_CAPTURE_UNSUPPORTED,
					 "more than 64 kinds of interfaces in a section");
	if (kind == capture->kind_count)
		capture->kinds[capture->kind_count++] = *interface;
	/* Simple packet blocks are of the first one. */
	if (capture->interface_count == 0)
		capture->simple_snap_bytes = interface->snap_bytes;
	capture->interfaces[capture->interface_count++] = (uint8_t)kind;
	return LULL_CAPTURE_PACKET;
}

static enum lull_capture_result
interface_read(struct lull_capture *capture, struct block *block)
{
	struct lull_capture_interface interface = { .exponent = TSRESOL_DEFAULT };
	struct lull_capture_description description = { .index = capture->interface_count };
	enum lull_capture_result result;

	interface.link_type = lull_capture_u16(capture, &block->body);
	lull_reader_skip(&block->body, 2);
	interface.snap_bytes = lull_capture_u32(capture, &block->body);
	if (block->body.failed)
		return fail_malformed(capture, "interface description is too short");
	if (!interface_options(capture, &interface, &description, &block->body))
		return fail_malformed(capture, "interface option is longer than its block");
	result = interface_add(capture, &interface);
	if (result == LULL_CAPTURE_PACKET && capture->described != NULL)
		capture->described(capture->described_arg, &description);
	return result;
}

/* Floor of ticks in ns; UINT64_MAX when it does not fit. */
static uint64_t
ticks_ns(const struct lull_capture_interface *interface, uint64_t ticks)
{
	pcapng_wide ns = ticks;

	if (interface->binary) {
		ns = ns * LULL_NS_PER_S >> interface->exponent;
	} else {
		for (unsigned int i = interface->exponent; i < 9; i++)
			ns *= 10;
		for (unsigned int i = 9; i < interface->exponent && ns > 0; i++)
			ns /= 10;
	}
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* Before 1970 becomes 0, beyond 64 bits UINT64_MAX. */
static uint64_t
interface_time(const struct lull_capture_interface *interface, uint64_t ticks)
{
	uint64_t ns = ticks_ns(interface, ticks);
	uint64_t offset_s, offset_ns;

	if (interface->offset_s >= 0) {
		offset_s = (uint64_t)interface->offset_s;
		if (__builtin_mul_overflow(offset_s, LULL_NS_PER_S, &offset_ns) ||
		    __builtin_add_overflow(ns, offset_ns, &ns))
			return UINT64_MAX;
		return ns;
	}
	offset_s = -(uint64_t)interface->offset_s;
	if (__builtin_mul_overflow(offset_s, LULL_NS_PER_S, &offset_ns) || offset_ns > ns)
		return 0;
	return ns - offset_ns;
}

/* ---- packets ---- */

static const struct lull_capture_interface *
packet_interface(const struct lull_capture *capture, const struct lull_capture_packet *packet)
{
	return &capture->kinds[capture->interfaces[packet->interface_index]];
}

/* Take the data of a packet whose lengths are known. */
static enum lull_capture_result
packet_data(struct lull_capture *capture, struct block *block, struct lull_capture_packet *packet)
{
	if (block->body.failed)
		return fail_malformed(capture, "packet block is too short");
	if (packet->interface_index >= capture->interface_count)
		return fail_malformed(capture, "packet of an interface never described");
	if (packet->captured_bytes > LULL_CAPTURE_PACKET_BYTES_MAX)
		return fail_malformed(capture, "captured length is beyond all reason");
	packet->data = block->body.data + block->body.offset;
	lull_reader_skip(&block->body, packet->captured_bytes);
	if (block->body.failed)
		return fail_malformed(capture, "packet is longer than its block");
	packet->link_type = packet_interface(capture, packet)->link_type;
	return LULL_CAPTURE_PACKET;
}

/* Enhanced and obsolete packet blocks; they differ in the first words alone. */
static enum lull_capture_result
packet_read(struct lull_capture *capture, struct block *block, struct lull_capture_packet *packet)
{
	enum lull_capture_result result;
	uint64_t ticks;

	if (block->type == BLOCK_PACKET) {
		packet->interface_index = lull_capture_u32(capture, &block->body);
	} else {
		packet->interface_index = lull_capture_u16(capture, &block->body);
		lull_reader_skip(&block->body, 2); /* drops */
	}
	ticks = (uint64_t)lull_capture_u32(capture, &block->body) << 32;
	ticks |= lull_capture_u32(capture, &block->body);
	packet->captured_bytes = lull_capture_u32(capture, &block->body);
	packet->original_bytes = lull_capture_u32(capture, &block->body);
	result = packet_data(capture, block, packet);
	if (result == LULL_CAPTURE_PACKET) {
		packet->timed = true;
		packet->timestamp_ns = interface_time(packet_interface(capture, packet), ticks);
	}
	return result;
}

static enum lull_capture_result
packet_read_simple(struct lull_capture *capture, struct block *block,
		   struct lull_capture_packet *packet)
{
	uint32_t snap_bytes = capture->simple_snap_bytes;

	packet->original_bytes = lull_capture_u32(capture, &block->body);
	packet->captured_bytes = packet->original_bytes;
	if (snap_bytes > 0)
		packet->captured_bytes = LULL_MIN(packet->original_bytes, snap_bytes);
	return packet_data(capture, block, packet);
}

enum lull_capture_result
lull_pcapng_next(struct lull_capture *capture, struct lull_capture_packet *packet)
{
	enum lull_capture_result result;
	bool packet_found = false;
	struct block block;

	/* Each round takes 12 bytes or more of the file. */
	do {
		result = block_read(capture, &block);
		if (result != LULL_CAPTURE_PACKET)
			return result;
		switch (block.type) {
		case LULL_PCAPNG_SECTION:
			result = section_read(capture, &block);
			break;
		case BLOCK_INTERFACE:
			result = interface_read(capture, &block);
			break;
		case BLOCK_PACKET:
		case BLOCK_PACKET_OLD:
			result = packet_read(capture, &block, packet);
			packet_found = true;
			break;
		case BLOCK_PACKET_SIMPLE:
			result = packet_read_simple(capture, &block, packet);
			packet_found = true;
			break;
		}
		if (result != LULL_CAPTURE_PACKET)
			return result;
		capture->offset += block.bytes;
	} while (!packet_found);
	return LULL_CAPTURE_PACKET;
}

enum lull_capture_result
lull_pcapng_open(struct lull_capture *capture)
{
	struct block block;
	enum lull_capture_result result = block_read(capture, &block);

	if (result == LULL_CAPTURE_PACKET)
		result = section_read(capture, &block);
	if (result == LULL_CAPTURE_PACKET)
		capture->offset += block.bytes;
	return result;
}
