/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RVF: raw video format of IEEE 1722, Ethernet frames with a header of 32 bytes. All packets of a
 * stream carry equally many bytes (the last of a line or frame is padded): some whole lines, or,
 * where a line does not fit, a part of one with its number. Lines count from 1, parts from 0.
 *
 * There is no frame counter, and the time stamp is valid in few packets. But the sequence number
 * less a packet's place in its frame is the number of the frame's first packet: that is the frame.
 * It holds while fewer than 128 packets in a row are lost; the stamp tells when more were.
 */
#include "frame/rvf.h"

#include <errno.h>

#include "base/reader.h"
#include "frame/protocol.h"
#include "pixel/rows.h"
#include "frame/unwrap.h"

#define FRAME_COUNT 4
#define LATE_MAX 8 /* packets of no known frame, after which they are believed */

struct known {
	uint64_t key;   /* 0: unused */
	uint64_t first; /* sequence number of its first packet */
	uint32_t place; /* highest seen */
	uint32_t stamp;
	bool stamped, ended;
};

struct rvf {
	struct lull_frame_geometry geometry; /* of the last packet */
	struct lull_frame_rows rows;
	enum lull_pixel pixel; /* configured */
	bool bound;
	uint64_t stream;
	struct lull_unwrap number, stamp;
	uint32_t part_bytes; /* of a full part of a line, 0: not known */
	uint32_t part_count; /* in a line */
	uint32_t late;
	uint32_t newest;
	bool quiet; /* nothing was heard for long */
	struct known frames[FRAME_COUNT];
};

struct header {
	uint8_t sequence;
	bool stamped, end;
	uint32_t stamp;
	uint16_t width, height;
	struct rvf_pixel pixel;
	uint8_t lines, part;
	uint16_t line;
	const uint8_t *data;
	uint32_t bytes;
};

static int
rvf_init(void *state, const struct lull_frame_protocol_config *config)
{
	struct rvf *own = state;

	if ((unsigned int)config->geometry.pixel >= LULL_PIXEL_COUNT)
		return -EINVAL;
	own->pixel = config->geometry.pixel;
	own->bound = config->stream_id != 0;
	own->stream = config->stream_id;
	return 0;
}

static enum lull_frame_verdict
read_header(struct rvf *own, struct lull_reader *reader, struct header *header)
{
	uint8_t subtype = lull_reader_u8(reader);
	uint8_t flags = lull_reader_u8(reader), video, byte;
	uint64_t stream;
	uint16_t bytes;

	header->sequence = lull_reader_u8(reader);
	lull_reader_skip(reader, 1);
	stream = lull_reader_u64be(reader);
	header->stamp = lull_reader_u32be(reader);
	header->width = lull_reader_u16be(reader);
	header->height = lull_reader_u16be(reader);
	bytes = lull_reader_u16be(reader);
	video = lull_reader_u8(reader);
	byte = lull_reader_u8(reader);
	lull_reader_skip(reader, 1);
	header->pixel.depth = lull_reader_u8(reader);
	header->pixel.format = header->pixel.depth & 15;
	header->pixel.depth >>= 4;
	lull_reader_skip(reader, 1);
	header->pixel.colour = lull_reader_u8(reader);
	header->lines = header->pixel.colour & 15;
	header->pixel.colour >>= 4;
	lull_reader_skip(reader, 1);
	header->part = lull_reader_u8(reader);
	header->line = lull_reader_u16be(reader);
	if (reader->failed)
		return LULL_FRAME_MALFORMED;
	if (subtype != RVF_SUBTYPE || (flags & 0xf0) != 0x80) /* a stream, version 0 */
		return LULL_FRAME_FOREIGN;
	if (own->bound && stream != own->stream)
		return LULL_FRAME_FOREIGN;
	if (bytes <= RVF_HEADER_BYTES - RVF_DATA_AT || bytes > reader->len - RVF_DATA_AT)
		return LULL_FRAME_MALFORMED;
	if ((video & 0x80) == 0 || (byte & 0x40) != 0) /* with blanking, or interlaced */
		return LULL_FRAME_OTHER;
	header->stamped = (flags & 1) != 0;
	header->end = (video & 0x10) != 0;
	header->bytes = bytes - (RVF_HEADER_BYTES - RVF_DATA_AT);
	header->data = lull_reader_bytes(reader, header->bytes);
	own->bound = true;
	own->stream = stream;
	return LULL_FRAME_FRAGMENT;
}

static enum lull_frame_verdict
follow_geometry(struct rvf *own, const struct header *header)
{
	enum lull_pixel pixel =
		own->pixel != LULL_PIXEL_UNKNOWN ? own->pixel : lull_rvf_pixel(header->pixel);
	struct lull_frame_geometry geometry = {
		.width = header->width,
		.height = header->height,
		.pixel = pixel,
	};
	struct lull_frame_rows rows;

	if (pixel == LULL_PIXEL_UNKNOWN)
		return LULL_FRAME_UNNAMED;
	if (own->geometry.width == geometry.width && own->geometry.height == geometry.height &&
	    own->geometry.pixel == pixel)
		return LULL_FRAME_FRAGMENT;
	if (!lull_frame_rows_of(&geometry, &rows))
		return LULL_FRAME_MALFORMED;
	if (rows.row_shift != 0)
		return LULL_FRAME_OTHER;
	own->geometry = geometry;
	own->rows = rows;
	own->part_bytes = 0;
	return LULL_FRAME_FRAGMENT;
}

/* A part of line @p row (from 0). */
static enum lull_frame_verdict
read_part(struct rvf *own, const struct header *header, uint32_t row,
	  struct lull_frame_fragment *fragment)
{
	uint64_t offset;
	uint32_t bytes = header->bytes;

	if (header->part == 0 && own->part_bytes != bytes) {
		own->part_bytes = bytes;
		own->part_count = (own->rows.row_bytes + bytes - 1) / bytes;
	}
	if (own->part_bytes == 0)
		return LULL_FRAME_NOTHING;
	offset = (uint64_t)header->part * own->part_bytes;
	if (offset >= own->rows.row_bytes)
		return LULL_FRAME_MALFORMED;
	/* Shorter than the others: the last one, without its padding. */
	if (bytes > own->part_bytes ||
	    (bytes < own->part_bytes && offset + bytes != own->rows.row_bytes))
		return LULL_FRAME_MALFORMED;
	fragment->ranges[0] = (struct lull_frame_range){
		.offset = (uint64_t)row * own->rows.stride + offset,
		.data = header->data,
		.bytes = (uint32_t)LULL_MIN(bytes, own->rows.row_bytes - offset),
	};
	fragment->range_count = 1;
	return LULL_FRAME_FRAGMENT;
}

/* Whole lines from @p row on; those beyond the picture are padding. */
static enum lull_frame_verdict
read_whole(const struct rvf *own, const struct header *header, uint32_t row,
	   struct lull_frame_fragment *fragment)
{
	uint32_t count = LULL_MIN((uint32_t)header->lines, own->rows.count - row);

	if ((uint64_t)count * own->rows.row_bytes > header->bytes)
		return LULL_FRAME_MALFORMED;
	for (uint32_t i = 0; i < count; i++)
		fragment->ranges[i] = (struct lull_frame_range){
			.offset = (uint64_t)(row + i) * own->rows.stride,
			.data = header->data + (size_t)i * own->rows.row_bytes,
			.bytes = own->rows.row_bytes,
		};
	fragment->range_count = count;
	return LULL_FRAME_FRAGMENT;
}

/* Which packet of its frame it is, from 0. */
static uint32_t
place_of(const struct rvf *own, const struct header *header, uint32_t row)
{
	/* 2^20 / lines, rounded up: exact for 16 bit rows. */
	static const uint32_t reciprocal[RVF_LINES_MAX + 1] = {
		0,      1048576, 524288, 349526, 262144, 209716, 174763, 149797,
		131072, 116509,  104858, 95326,  87382,  80660,  74899,  69906,
	};

	if (header->lines == 0)
		return row * own->part_count + header->part;
	return (uint32_t)(((uint64_t)row * reciprocal[header->lines]) >> 20);
}

static bool
is_of(const struct known *frame, const struct header *header, uint64_t first)
{
	if (frame->key == 0 || (frame->stamped && header->stamped && frame->stamp != header->stamp))
		return false;
	return frame->first == first;
}

/*
 * Does the sender begin anew with this packet? Its numbers went back while its clock went on, or
 * after silence, when only the rest of a frame that has not ended can belong to what is known.
 */
static bool
is_anew(struct rvf *own, const struct header *header, uint64_t first, uint32_t place)
{
	const struct known *newest = &own->frames[own->newest];
	bool quiet = own->quiet;

	own->quiet = false;
	if (newest->key == 0)
		return false;
	if (quiet)
		return first != newest->first || newest->ended || place <= newest->place;
	return place == 0 && first <= newest->first && header->stamped && newest->stamped &&
	       lull_unwrap_distance(newest->stamp, header->stamp, 32) > 0;
}

/* NULL: of a frame long past. */
static struct known *
frame_of(struct rvf *own, const struct header *header, uint64_t number, uint32_t place)
{
	struct known *newest = &own->frames[own->newest];
	uint64_t first = number - place;
	bool anew = is_anew(own, header, first, place);
	uint64_t key;

	for (uint32_t i = 0; i < FRAME_COUNT && !anew; i++) {
		struct known *frame = &own->frames[(own->newest + FRAME_COUNT - i) % FRAME_COUNT];

		if (is_of(frame, header, first))
			return frame;
	}
	/* The number lost a turn or more within the frame. */
	if (!anew && !newest->ended && place > newest->place &&
	    ((newest->first ^ first) & 0xff) == 0 && is_of(newest, header, newest->first)) {
		newest->first = first;
		return newest;
	}
	if (!anew && newest->key != 0 && first < newest->first && ++own->late < LATE_MAX)
		return NULL;
	key = newest->key + 1;
	own->newest = (own->newest + 1) % FRAME_COUNT;
	own->frames[own->newest] = (struct known){ .key = key, .first = first };
	return &own->frames[own->newest];
}

static void
note(struct rvf *own, struct known *frame, const struct header *header, uint32_t place,
     struct lull_frame_fragment *fragment)
{
	own->late = 0;
	frame->place = LULL_MAX(frame->place, place);
	if (header->end) {
		frame->ended = true;
		fragment->flags |= LULL_FRAME_END;
	}
	if (header->stamped) {
		frame->stamp = header->stamp;
		frame->stamped = true;
		fragment->device_time = lull_unwrap_next(&own->stamp, header->stamp, 32);
		fragment->flags |= LULL_FRAME_TIMED;
	}
	if (place == 0)
		fragment->flags |= LULL_FRAME_START;
}

static enum lull_frame_verdict
rvf_parse(void *state, const uint8_t *packet, size_t len_bytes,
	  struct lull_frame_fragment *fragment)
{
	struct rvf *own = state;
	struct lull_reader reader = lull_reader_over(packet, len_bytes);
	enum lull_frame_verdict verdict;
	struct known *frame;
	struct header header;
	uint64_t number;
	uint32_t row, place;

	verdict = read_header(own, &reader, &header);
	if (verdict == LULL_FRAME_FRAGMENT)
		verdict = follow_geometry(own, &header);
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict;
	if (header.line == 0 || header.line > own->rows.count)
		return LULL_FRAME_MALFORMED;
	row = header.line - 1u;
	lull_frame_fragment_begin(fragment, 0, 0);
	verdict = header.lines == 0 ? read_part(own, &header, row, fragment) :
				      read_whole(own, &header, row, fragment);
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict;
	number = lull_unwrap_next(&own->number, header.sequence, 8);
	place = place_of(own, &header, row);
	frame = frame_of(own, &header, number, place);
	if (frame == NULL)
		return LULL_FRAME_NOTHING;
	note(own, frame, &header, place, fragment);
	fragment->key = frame->key;
	fragment->packet = number;
	fragment->geometry = own->geometry;
	fragment->flags |= LULL_FRAME_GEOMETRY;
	return LULL_FRAME_FRAGMENT;
}

static void
rvf_quiet(void *state, bool gone)
{
	struct rvf *own = state;

	(void)gone;
	own->quiet = true;
}

const struct lull_frame_protocol lull_frame_rvf = {
	.name = "rvf",
	.summary = "IEEE 1722 raw video",
	.ethernet = true,
	.ether_type = RVF_ETHER_TYPE,
	.state_size = sizeof(struct rvf),
	.init = rvf_init,
	.parse = rvf_parse,
	.quiet = rvf_quiet,
};
