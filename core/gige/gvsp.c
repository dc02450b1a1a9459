/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GVSP: the stream protocol of GigE Vision. A block is a leader (packet 0: format, size), payload
 * packets 1.. of one size but for the last, and a trailer. Where a payload packet belongs follows
 * from its number and that size, which is configured or learned: see gvsp_place.h.
 *
 * A block whose leader is lost is presumed to be like the one before: it is not whole before its
 * trailer agrees, and what is seen to have another size is no picture of this one.
 *
 * No count of the wire is believed: the picture ends where width, height and format say, chunks
 * behind it are left out, a short packet that does not reach the end is no payload of this size.
 */
#include "frame/protocol.h"

#include <errno.h>

#include "base/reader.h"
#include "gvsp.h"
#include "gvsp_place.h"
#include "pixel/pfnc.h"
#include "frame/unwrap.h"

#define BLOCK_COUNT 8 /* blocks that are remembered */
#define PART_BYTES 48
#define PART_2D 0x0001
#define NO_PART 0xffff

enum content {
	UNTOLD, /* its leader was not seen */
	IMAGE,
	PARTS, /* several, one of them an image */
	OTHER, /* nothing to show */
};

struct block {
	uint64_t key;
	bool used;
	enum content content;
	uint16_t part; /* of the image */
	bool other;    /* of another size than its former one, which was presumed */
	uint64_t time; /* of its leader */
	struct gvsp_block_place place;
	uint64_t picture_bytes;
};

struct gvsp {
	struct lull_unwrap id;
	uint32_t packet_bytes; /* configured */
	struct gvsp_places places;
	bool extended; /* ids of the last packet */
	/* Of the last leader. */
	uint64_t told;
	uint16_t part;
	enum content content;
	uint64_t picture_bytes; /* 0: not known */
	struct lull_frame_geometry geometry;
	uint64_t newest; /* key of the block remembered last */
	uint32_t block_next;
	struct block blocks[BLOCK_COUNT];
	struct block stray; /* of a packet of a block long past */
};

struct header {
	uint16_t status;
	bool extended, resent;
	uint8_t format;
	uint64_t block;
	uint32_t packet;
};

static int
gvsp_init(void *state, const struct lull_frame_protocol_config *config)
{
	struct gvsp *own = state;

	if (config->packet_bytes != 0 &&
	    (config->packet_bytes > 65535 ||
	     config->packet_bytes <= GVSP_IP_UDP_BYTES + GVSP_HEADER_BYTES_EXTENDED))
		return -EINVAL;
	own->packet_bytes = config->packet_bytes;
	own->places.fixed = config->packet_bytes != 0;
	own->geometry = config->geometry;
	own->picture_bytes = lull_frame_bytes(&config->geometry);
	if (config->geometry.width != 0 && own->picture_bytes == 0)
		return -EINVAL;
	own->part = NO_PART;
	return 0;
}

static bool
read_header(struct lull_reader *reader, struct header *header)
{
	uint32_t word;
	uint16_t second;

	header->status = lull_reader_u16be(reader);
	second = lull_reader_u16be(reader);
	word = lull_reader_u32be(reader);
	header->extended = (word >> 31) != 0;
	header->format = (word >> 24) & 15;
	if (header->extended) {
		header->block = lull_reader_u64be(reader);
		header->packet = lull_reader_u32be(reader);
		header->resent = (second & GVSP_FLAG_RESENT) != 0;
	} else {
		header->block = second;
		header->packet = word & 0xffffff;
		header->resent = false;
	}
	if (header->status == GVSP_STATUS_RESENT)
		header->resent = true;
	return !reader->failed;
}

static uint64_t
key_of(struct gvsp *own, const struct header *header)
{
	if (header->extended != own->extended) {
		own->extended = header->extended;
		own->id.running = false;
		own->places.data_bytes = 0; /* headers are longer, payloads shorter */
	}
	if (own->places.fixed)
		own->places.data_bytes =
			own->packet_bytes - GVSP_IP_UDP_BYTES -
			(own->extended ? GVSP_HEADER_BYTES_EXTENDED : GVSP_HEADER_BYTES);
	return header->extended ? header->block : lull_unwrap_next(&own->id, header->block, 16);
}

/* What is known of a block. A stale packet takes the place of none: only what begins one does. */
static struct block *
block_of(struct gvsp *own, uint64_t key, bool begins)
{
	struct block *block;

	for (uint32_t i = 0; i < BLOCK_COUNT; i++)
		if (own->blocks[i].used && own->blocks[i].key == key)
			return &own->blocks[i];
	if (!begins && own->newest != 0 && key < own->newest) {
		own->stray = (struct block){ .key = key };
		return &own->stray;
	}
	own->newest = key;
	block = &own->blocks[own->block_next];
	own->block_next = (own->block_next + 1) % BLOCK_COUNT;
	*block = (struct block){ .key = key, .used = true };
	return block;
}

/* Pixel format, size and place of an image, 24 bytes from @p reader, and the padding. */
static enum lull_frame_verdict
read_geometry(struct lull_reader *reader, uint32_t pixel, struct lull_frame_fragment *fragment)
{
	struct lull_frame_geometry *geometry = &fragment->geometry;
	struct lull_pixel_group group;
	uint32_t padding;

	*geometry = (struct lull_frame_geometry){ .pixel = lull_pfnc_pixel(pixel) };
	geometry->matrix = lull_pfnc_matrix(pixel);
	geometry->width = lull_reader_u32be(reader);
	geometry->height = lull_reader_u32be(reader);
	geometry->x_offset = lull_reader_u32be(reader);
	geometry->y_offset = lull_reader_u32be(reader);
	padding = lull_reader_u16be(reader);
	(void)lull_reader_u16be(reader); /* below the picture */
	if (reader->failed)
		return LULL_FRAME_MALFORMED;
	if (geometry->width == 0 || geometry->width > LULL_FRAME_SIDE_MAX)
		return LULL_FRAME_MALFORMED;
	group = lull_pixel_group(geometry->pixel);
	if (group.bytes == 0) /* rows without a meaning here; the code tells bits per pixel */
		geometry->row_bytes = (geometry->width * ((pixel >> 16) & 0xff) + 7) / 8 + padding;
	else if (padding != 0)
		geometry->row_bytes =
			(geometry->width + group.columns - 1u) / group.columns * group.bytes +
			padding;
	if (group.bytes == 0 && geometry->row_bytes == 0)
		return LULL_FRAME_OTHER;
	if (lull_frame_bytes(geometry) == 0)
		return LULL_FRAME_MALFORMED;
	fragment->flags |= LULL_FRAME_GEOMETRY;
	return LULL_FRAME_FRAGMENT;
}

/* Look for the first image among the parts; there are as many as there are bytes for. */
static enum lull_frame_verdict
read_parts(struct lull_reader *reader, struct lull_frame_fragment *fragment, uint16_t *part)
{
	for (uint16_t i = 0; lull_reader_left(reader) >= PART_BYTES; i++) {
		struct lull_reader one = *reader;
		uint16_t type = lull_reader_u16be(&one);
		uint32_t pixel;

		lull_reader_skip(reader, PART_BYTES);
		if (type != PART_2D)
			continue;
		lull_reader_skip(&one, 6); /* its length */
		pixel = lull_reader_u32be(&one);
		lull_reader_skip(&one, 12);
		*part = i;
		return read_geometry(&one, pixel, fragment);
	}
	return LULL_FRAME_OTHER;
}

/* What blocks without a leader are presumed to be; a late leader tells nothing of them. */
static void
follow_leader(struct gvsp *own, const struct block *block,
	      const struct lull_frame_fragment *fragment)
{
	if (block->key < own->told && (block->key != own->newest || !block->used))
		return;
	own->told = block->key;
	own->content = block->content;
	own->part = block->part;
	own->picture_bytes = block->picture_bytes;
	if (block->picture_bytes != 0)
		own->geometry = fragment->geometry;
}

static enum lull_frame_verdict
read_leader(struct gvsp *own, struct block *block, struct lull_reader *reader,
	    struct lull_frame_fragment *fragment)
{
	enum lull_frame_verdict verdict = LULL_FRAME_OTHER;
	enum content content = IMAGE;
	uint16_t part = NO_PART, type;

	(void)lull_reader_u16be(reader);
	type = lull_reader_u16be(reader);
	fragment->device_time = lull_reader_u64be(reader);
	fragment->flags |= LULL_FRAME_TIMED | LULL_FRAME_START;
	if ((type & 0x3fff) == GVSP_TYPE_IMAGE || type == GVSP_TYPE_IMAGE_CHUNKS) {
		uint32_t pixel = lull_reader_u32be(reader);

		verdict = read_geometry(reader, pixel, fragment);
	} else if ((type & 0x3fff) == GVSP_TYPE_MULTIPART) {
		verdict = read_parts(reader, fragment, &part);
		content = PARTS;
	}
	if (reader->failed)
		verdict = LULL_FRAME_MALFORMED;
	if (verdict == LULL_FRAME_MALFORMED)
		return verdict;
	if (verdict != LULL_FRAME_FRAGMENT)
		content = OTHER;
	if (block->other || (block->content != UNTOLD && block->time != fragment->device_time)) {
		block->other = false; /* given up before, or another one with its id */
		block->place = (struct gvsp_block_place){ .some_packet = 0 };
	}
	block->content = content;
	block->part = part;
	block->time = fragment->device_time;
	block->picture_bytes =
		verdict == LULL_FRAME_FRAGMENT ? lull_frame_bytes(&fragment->geometry) : 0;
	follow_leader(own, block, fragment);
	return verdict;
}

/* What a block without a leader has, unless it is seen to be another; @p agreed: it is not. */
static void
presume(const struct gvsp *own, struct lull_frame_fragment *fragment, bool agreed)
{
	if (own->picture_bytes == 0)
		return;
	fragment->geometry = own->geometry;
	fragment->flags |= LULL_FRAME_GEOMETRY;
	if (!agreed)
		fragment->flags |= LULL_FRAME_PRESUMED;
}

static enum lull_frame_verdict
give_up(struct block *block, struct lull_frame_fragment *fragment)
{
	block->other = true;
	fragment->flags |= LULL_FRAME_UNSIZED;
	return LULL_FRAME_FRAGMENT;
}

/* Bytes of the picture at @p offset, what is behind it left out. */
static enum lull_frame_verdict
add_range(uint64_t picture_bytes, uint64_t offset, const uint8_t *data, uint64_t bytes,
	  struct lull_frame_fragment *fragment)
{
	if (picture_bytes != 0 && offset >= picture_bytes)
		return LULL_FRAME_NOTHING;
	if (picture_bytes != 0 && bytes > picture_bytes - offset)
		bytes = picture_bytes - offset;
	fragment->ranges[0] = (struct lull_frame_range){
		.offset = offset,
		.data = data,
		.bytes = (uint32_t)bytes,
	};
	fragment->range_count = 1;
	return LULL_FRAME_FRAGMENT;
}

static struct gvsp_extent
extent_of(const struct gvsp *own, const struct block *block)
{
	bool told = block->content != UNTOLD;

	return (struct gvsp_extent){
		.bytes = told ? block->picture_bytes : own->picture_bytes,
		.told = told,
	};
}

static enum lull_frame_verdict
read_payload(struct gvsp *own, struct block *block, const struct header *header,
	     struct lull_reader *reader, struct lull_frame_fragment *fragment)
{
	uint32_t bytes = (uint32_t)lull_reader_left(reader);
	struct gvsp_extent picture = extent_of(own, block);
	enum content content = picture.told ? block->content : own->content;
	uint64_t offset = 0;
	enum gvsp_placed placed;
	bool moved;

	if (content == OTHER || content == PARTS)
		return LULL_FRAME_OTHER;
	if (header->packet == 0 || bytes == 0)
		return LULL_FRAME_MALFORMED;
	if (block->other)
		return give_up(block, fragment);
	placed = gvsp_place(&own->places, &block->place, picture, header->packet, bytes, &offset,
			    &moved);
	if (placed == GVSP_WRONG)
		return LULL_FRAME_MALFORMED;
	if (placed == GVSP_OTHER)
		return give_up(block, fragment);
	if (placed == GVSP_HELD)
		return LULL_FRAME_NOTHING;
	if (moved)
		fragment->flags |= LULL_FRAME_MOVED;
	if (!picture.told)
		presume(own, fragment, placed == GVSP_LAST);
	if (offset < picture.bytes || picture.bytes == 0)
		return add_range(picture.bytes, offset, lull_reader_bytes(reader, bytes), bytes,
				 fragment);
	return moved ? LULL_FRAME_FRAGMENT : LULL_FRAME_NOTHING;
}

/* Without a leader the number of packets has to agree with what was presumed. */
static enum lull_frame_verdict
read_trailer(struct gvsp *own, struct block *block, const struct header *header,
	     struct lull_reader *reader, struct lull_frame_fragment *fragment)
{
	struct gvsp_extent picture = extent_of(own, block);
	enum gvsp_placed placed;

	fragment->flags |= LULL_FRAME_END;
	if (lull_reader_left(reader) < 4 || header->packet == 0)
		return LULL_FRAME_MALFORMED;
	if (block->other)
		return give_up(block, fragment);
	if (picture.told || own->content == PARTS)
		return LULL_FRAME_FRAGMENT;
	placed = gvsp_place_count(&own->places, &block->place, picture, header->packet - 1);
	if (placed == GVSP_OTHER)
		return give_up(block, fragment);
	presume(own, fragment, placed == GVSP_LAST);
	return LULL_FRAME_FRAGMENT;
}

static enum lull_frame_verdict
read_multipart(struct gvsp *own, struct block *block, struct lull_reader *reader,
	       struct lull_frame_fragment *fragment)
{
	struct gvsp_extent picture = extent_of(own, block);
	uint16_t wanted = picture.told ? block->part : own->part;
	uint8_t part = lull_reader_u8(reader);
	uint32_t bytes;
	uint64_t offset;

	lull_reader_skip(reader, 1);
	offset = lull_reader_big(reader, 6);
	bytes = (uint32_t)lull_reader_left(reader);
	if (reader->failed || bytes == 0)
		return LULL_FRAME_MALFORMED;
	if ((picture.told ? block->content : own->content) != PARTS)
		return LULL_FRAME_OTHER;
	if (part != wanted)
		return LULL_FRAME_NOTHING;
	if (block->other || (!picture.told && offset + bytes > picture.bytes))
		return give_up(block, fragment);
	if (!picture.told)
		presume(own, fragment, false);
	return add_range(picture.bytes, offset, lull_reader_bytes(reader, bytes), bytes, fragment);
}

/* Leader, trailer, for chunks their size, then the data: a block in one packet. */
static enum lull_frame_verdict
read_all_in(struct gvsp *own, struct block *block, struct lull_reader *reader,
	    struct lull_frame_fragment *fragment)
{
	bool chunks = lull_reader_left(reader) > 2 &&
		      (reader->data[reader->offset + 2] & (GVSP_TYPE_CHUNKS >> 8)) != 0;
	enum lull_frame_verdict verdict = read_leader(own, block, reader, fragment);
	uint32_t bytes;

	if (verdict != LULL_FRAME_FRAGMENT || block->content != IMAGE)
		return verdict == LULL_FRAME_FRAGMENT ? LULL_FRAME_OTHER : verdict;
	lull_reader_skip(reader, GVSP_TRAILER_BYTES + (chunks ? 8 : 0));
	bytes = (uint32_t)lull_reader_left(reader);
	if (reader->failed || bytes == 0)
		return LULL_FRAME_MALFORMED;
	fragment->flags |= LULL_FRAME_END;
	return add_range(block->picture_bytes, 0, lull_reader_bytes(reader, bytes), bytes,
			 fragment);
}

/* What the status says before the format does; FRAGMENT: go on reading. */
static enum lull_frame_verdict
read_status(const struct header *header, struct lull_frame_fragment *fragment, bool *done)
{
	*done = true;
	switch (header->status) {
	case GVSP_STATUS_UNAVAILABLE:
	case GVSP_STATUS_ALL_REMOVED:
	case GVSP_STATUS_REMOVED:
		fragment->flags |= LULL_FRAME_GONE;
		return LULL_FRAME_FRAGMENT;
	case GVSP_STATUS_NOT_YET:
	case GVSP_STATUS_LATER:
		return LULL_FRAME_NOTHING;
	default:
		*done = false;
	}
	if (header->resent)
		fragment->flags |= LULL_FRAME_RESENT;
	if (header->status >> 15 != 0)
		fragment->flags |= LULL_FRAME_DAMAGED;
	return LULL_FRAME_FRAGMENT;
}

static enum lull_frame_verdict
gvsp_parse(void *state, const uint8_t *packet, size_t len_bytes,
	   struct lull_frame_fragment *fragment)
{
	struct gvsp *own = state;
	struct lull_reader reader = lull_reader_over(packet, len_bytes);
	enum lull_frame_verdict verdict;
	struct header header;
	struct block *block;
	bool done;

	if (len_bytes > UINT16_MAX || !read_header(&reader, &header))
		return LULL_FRAME_MALFORMED;
	if (header.block == 0) /* a packet that tries out the path */
		return LULL_FRAME_NOTHING;
	if (header.format == 0 || header.format > 8)
		return LULL_FRAME_FOREIGN;
	lull_frame_fragment_begin(fragment, key_of(own, &header), header.packet);
	if (header.extended)
		fragment->flags |= LULL_FRAME_WIDE;
	verdict = read_status(&header, fragment, &done);
	if (done)
		return verdict;
	block = block_of(own, fragment->key,
			 header.format == GVSP_FORMAT_LEADER ||
				 header.format == GVSP_FORMAT_ALL_IN);
	switch (header.format) {
	case GVSP_FORMAT_LEADER:
		return header.packet == 0 ? read_leader(own, block, &reader, fragment) :
					    LULL_FRAME_MALFORMED;
	case GVSP_FORMAT_TRAILER:
		return read_trailer(own, block, &header, &reader, fragment);
	case GVSP_FORMAT_PAYLOAD:
		return read_payload(own, block, &header, &reader, fragment);
	case GVSP_FORMAT_ALL_IN:
		return read_all_in(own, block, &reader, fragment);
	case GVSP_FORMAT_MULTIPART:
		return read_multipart(own, block, &reader, fragment);
	default:
		return LULL_FRAME_OTHER;
	}
}

/* Ids may begin again, and mean other blocks then. */
static void
gvsp_quiet(void *state, bool gone)
{
	struct gvsp *own = state;

	(void)gone;
	for (uint32_t i = 0; i < BLOCK_COUNT; i++)
		own->blocks[i].used = false;
	own->newest = 0;
	own->told = 0;
}

const struct lull_frame_protocol lull_frame_gvsp = {
	.name = "gvsp",
	.summary = "GigE Vision stream, 16 and 64 bit ids",
	.state_size = sizeof(struct gvsp),
	.init = gvsp_init,
	.parse = gvsp_parse,
	.quiet = gvsp_quiet,
};
