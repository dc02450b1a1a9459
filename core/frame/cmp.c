/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CMP: the ASAM capture module protocol, Ethernet frames of a capture module between camera and
 * computer. A packet holds messages; a message holds a packet of MIPI CSI-2 (one line of a picture
 * or the start or end of a frame) or of GigE Vision, or a segment of one; the segments of one
 * follow each other in packets numbered without a gap. Layouts as Wireshark reads them.
 *
 * Lines go straight to their place in the picture, segments too: only the packets of GigE Vision
 * that come in segments are put together here first, in one buffer of a size of ours.
 *
 * The camera counts frames as it likes (1, 2, 1, 2 or not at all): then the end of a frame and the
 * time of messages tell the frames apart. Lines count from 1, or from 0 as soon as there was a 0.
 *
 * Where the height is learned, it is presumed of each frame until that ends with so many lines.
 */
#include "frame/cmp.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/reader.h"
#include "frame/protocol.h"
#include "pixel/rows.h"
#include "frame/unwrap.h"

#define NESTED_BYTES_MAX 16384
#define NESTED_STATE_MAX 1024

struct segments {
	bool open;
	uint8_t payload; /* its type */
	uint16_t next;   /* number of the packet with the next segment */
	uint32_t interface;
	/* Of a line: what its first segment said. */
	uint64_t key;
	uint64_t offset; /* of the next byte in the picture */
	uint32_t left;   /* bytes still to come */
	uint32_t flags;
	/* Of a packet of GigE Vision. */
	uint32_t bytes;
};

struct cmp {
	struct lull_frame_geometry geometry;
	struct lull_frame_rows rows; /* count 0: not known yet */
	enum lull_pixel pixel;       /* configured */
	bool learning;               /* the geometry was not configured */
	bool agreed;                 /* the frame that just ended was as high as known */
	uint32_t lines_seen, lines_before;
	bool bound;
	uint32_t stream;
	uint8_t channel, type;
	uint8_t type_wanted;
	bool from_zero;
	struct lull_unwrap number, counter;
	bool ended;
	uint64_t ended_ns;
	const uint8_t *packet; /* that has more */
	size_t packet_bytes, packet_offset;
	struct segments segments;
	uint64_t nested_state[NESTED_STATE_MAX / 8];
	uint8_t nested[NESTED_BYTES_MAX];
};

struct message {
	uint64_t time_ns;
	uint32_t interface;
	uint8_t flags, payload, segment;
	uint16_t number; /* of the packet */
	const uint8_t *data;
	uint32_t bytes;
};

static int
cmp_init(void *state, const struct lull_frame_protocol_config *config)
{
	struct cmp *own = state;
	struct lull_frame_protocol_config nested = { .packet_bytes = config->packet_bytes };

	if (config->stream_id > 0xffffff || config->virtual_channel > 15 ||
	    config->data_type > CSI2_IMAGE_LAST ||
	    (unsigned int)config->geometry.pixel >= LULL_PIXEL_COUNT)
		return -EINVAL;
	own->learning = config->geometry.width == 0 || config->geometry.height == 0;
	own->pixel = config->geometry.pixel;
	own->geometry = config->geometry;
	if (!own->learning && own->pixel != LULL_PIXEL_UNKNOWN &&
	    (!lull_frame_rows_of(&own->geometry, &own->rows) || own->rows.row_shift != 0))
		return -EINVAL;
	own->bound = config->stream_id != 0;
	own->stream = (uint32_t)config->stream_id;
	own->channel = config->virtual_channel;
	own->type_wanted = config->data_type;
	LULL_ASSERT(lull_frame_gvsp.state_size <= sizeof(own->nested_state));
	return lull_frame_gvsp.init(own->nested_state, &nested);
}

/* The header of a packet; FRAGMENT: messages follow. */
static enum lull_frame_verdict
read_header(struct cmp *own, struct lull_reader *reader, uint16_t *number)
{
	uint8_t version = lull_reader_u8(reader), type;
	uint32_t stream;

	lull_reader_skip(reader, 1);
	stream = (uint32_t)lull_reader_u16be(reader) << 8;
	type = lull_reader_u8(reader);
	stream |= lull_reader_u8(reader);
	*number = lull_reader_u16be(reader);
	if (reader->failed)
		return LULL_FRAME_MALFORMED;
	if (version != CMP_VERSION)
		return LULL_FRAME_FOREIGN;
	if (type != CMP_TYPE_DATA)
		return LULL_FRAME_NOTHING;
	if (own->bound && stream != own->stream)
		return LULL_FRAME_FOREIGN;
	own->stream = stream;
	return LULL_FRAME_FRAGMENT;
}

/* NOTHING: no message left, what follows is padding of the Ethernet frame. */
static enum lull_frame_verdict
read_message(struct lull_reader *reader, struct message *message)
{
	if (lull_reader_left(reader) < CMP_MESSAGE_BYTES)
		return LULL_FRAME_NOTHING;
	message->time_ns = lull_reader_u64be(reader);
	message->interface = lull_reader_u32be(reader);
	message->flags = lull_reader_u8(reader);
	message->segment = (message->flags >> CMP_SEGMENT_SHIFT) & 3;
	message->payload = lull_reader_u8(reader);
	message->bytes = lull_reader_u16be(reader);
	if (message->payload == 0 && message->bytes == 0)
		return LULL_FRAME_NOTHING;
	if (message->bytes == 0 || message->bytes > lull_reader_left(reader))
		return LULL_FRAME_MALFORMED;
	message->data = lull_reader_bytes(reader, message->bytes);
	return LULL_FRAME_FRAGMENT;
}

/* The frame of a CSI-2 packet: its counter, and what ended before where that is no counter. */
static uint64_t
frame_of(struct cmp *own, const struct message *message, uint16_t counter, bool counted)
{
	bool running = own->counter.running;
	uint64_t before = own->counter.last;
	uint64_t key = lull_unwrap_next(&own->counter, counter, 16);

	if (!counted && running && key <= before && own->ended &&
	    message->time_ns > own->ended_ns) {
		key = ((before >> 16) + 1) << 16 | counter;
		own->counter.last = key;
	}
	if (!running || key > before)
		own->ended = false;
	return key;
}

/* The picture ends: is it as high as the one before? Then that is the geometry. */
static void
learn_height(struct cmp *own)
{
	own->agreed = own->lines_seen == own->rows.count;
	if (own->learning && own->lines_seen != 0 && own->lines_seen == own->lines_before) {
		own->geometry.height = own->lines_seen;
		if (!lull_frame_rows_of(&own->geometry, &own->rows))
			own->rows.count = 0;
	}
	own->lines_before = own->lines_seen;
	own->lines_seen = 0;
}

/* Width and pixel from a line of @p bytes; false: nothing is known of such pixels. */
static bool
follow_line(struct cmp *own, uint8_t type, uint32_t bytes, uint32_t row)
{
	enum lull_pixel pixel =
		own->pixel != LULL_PIXEL_UNKNOWN ? own->pixel : lull_csi2_pixel(type);
	struct lull_pixel_group group = lull_pixel_group(pixel);
	uint32_t width;

	if (group.bytes == 0 || group.rows != 1)
		return false;
	if (own->learning) {
		width = own->geometry.pixel == pixel && own->rows.row_bytes == bytes ?
				own->geometry.width :
				bytes / group.bytes * group.columns;
		if (width != own->geometry.width || pixel != own->geometry.pixel) {
			own->geometry.width = width;
			own->geometry.pixel = pixel;
			own->rows.count = 0;
			own->lines_before = own->lines_seen = 0;
		}
		own->lines_seen = LULL_MAX(own->lines_seen, row + 1);
	} else if (own->rows.count == 0) {
		own->geometry.pixel = pixel;
		if (!lull_frame_rows_of(&own->geometry, &own->rows))
			own->rows.count = 0;
	}
	return true;
}

struct csi2 {
	uint16_t flags, frame, line, words;
	uint8_t type, channel;
	const uint8_t *data;
	uint32_t bytes;
};

static enum lull_frame_verdict
read_csi2(const struct message *message, struct csi2 *csi2)
{
	struct lull_reader reader = lull_reader_over(message->data, message->bytes);

	csi2->flags = lull_reader_u16be(&reader);
	lull_reader_skip(&reader, 2);
	csi2->frame = lull_reader_u16be(&reader);
	csi2->line = lull_reader_u16be(&reader);
	csi2->type = lull_reader_u8(&reader) & 0x3f;
	csi2->channel = lull_reader_u8(&reader) & 0x0f;
	lull_reader_skip(&reader, 4); /* reserved, ecc, checksum */
	csi2->words = lull_reader_u16be(&reader);
	if (reader.failed)
		return LULL_FRAME_MALFORMED;
	csi2->data = message->data + reader.offset;
	csi2->bytes = (uint32_t)lull_reader_left(&reader);
	return LULL_FRAME_FRAGMENT;
}

/* Start and end of a frame. */
static enum lull_frame_verdict
take_short(struct cmp *own, const struct message *message, const struct csi2 *csi2,
	   struct lull_frame_fragment *fragment)
{
	if (csi2->type > CSI2_FRAME_END || message->segment != CMP_SEGMENT_NONE)
		return LULL_FRAME_NOTHING;
	fragment->key =
		frame_of(own, message, csi2->frame, (csi2->flags & CMP_CSI2_FRAMES_COUNTED) != 0);
	if (csi2->type == CSI2_FRAME_END) {
		fragment->flags |= LULL_FRAME_END;
		own->ended = true;
		own->ended_ns = message->time_ns;
		learn_height(own);
	} else
		fragment->flags |= LULL_FRAME_START;
	return LULL_FRAME_FRAGMENT;
}

static void
add_range(struct lull_frame_fragment *fragment, uint64_t offset, const uint8_t *data,
	  uint32_t bytes)
{
	if (bytes > 0)
		fragment->ranges[fragment->range_count++] = (struct lull_frame_range){
			.offset = offset,
			.data = data,
			.bytes = bytes,
		};
}

static enum lull_frame_verdict
take_line(struct cmp *own, const struct message *message, const struct csi2 *csi2,
	  struct lull_frame_fragment *fragment)
{
	uint32_t row, bytes = LULL_MIN(csi2->bytes, (uint32_t)csi2->words);

	if (csi2->type < CSI2_IMAGE_FIRST ||
	    (own->type_wanted != 0 && csi2->type != own->type_wanted))
		return LULL_FRAME_NOTHING; /* blanking, embedded data */
	if (message->segment == CMP_SEGMENT_NONE && csi2->bytes < csi2->words)
		return LULL_FRAME_MALFORMED;
	if (csi2->line == 0)
		own->from_zero = true;
	row = own->from_zero ? csi2->line : csi2->line - 1u;
	if (!follow_line(own, csi2->type, csi2->words, row))
		return LULL_FRAME_UNNAMED;
	fragment->key =
		frame_of(own, message, csi2->frame, (csi2->flags & CMP_CSI2_FRAMES_COUNTED) != 0);
	if (own->rows.count == 0)
		return LULL_FRAME_NOTHING;
	if (row >= own->rows.count && own->learning) {
		own->rows.count = 0;
		fragment->flags |= LULL_FRAME_UNSIZED;
		return LULL_FRAME_FRAGMENT;
	}
	if (row >= own->rows.count || csi2->words > own->rows.row_bytes)
		return LULL_FRAME_MALFORMED;
	if ((csi2->flags & (CMP_CSI2_CHECKSUM_WRONG | CMP_CSI2_ECC_WRONG)) != 0)
		fragment->flags |= LULL_FRAME_DAMAGED;
	if (message->segment == CMP_SEGMENT_FIRST)
		own->segments = (struct segments){
			.open = true,
			.payload = CMP_PAYLOAD_CSI2,
			.next = (uint16_t)(message->number + 1),
			.interface = message->interface,
			.key = fragment->key,
			.offset = (uint64_t)row * own->rows.stride + bytes,
			.left = csi2->words - bytes,
			.flags = fragment->flags & LULL_FRAME_DAMAGED,
		};
	add_range(fragment, (uint64_t)row * own->rows.stride, csi2->data, bytes);
	return LULL_FRAME_FRAGMENT;
}

/* Does a segment go on where the last one ended? Closes what was open when it does not. */
static bool
goes_on(struct segments *segments, const struct message *message)
{
	bool fits = segments->open && segments->payload == message->payload &&
		    segments->interface == message->interface && segments->next == message->number;

	segments->open = fits && message->segment != CMP_SEGMENT_LAST;
	segments->next = (uint16_t)(message->number + 1);
	return fits;
}

static enum lull_frame_verdict
take_segment(struct cmp *own, const struct message *message, struct lull_frame_fragment *fragment)
{
	struct segments *segments = &own->segments;
	uint32_t bytes;

	if (!goes_on(segments, message))
		return LULL_FRAME_NOTHING; /* lost its beginning */
	bytes = LULL_MIN(message->bytes, segments->left);
	if (message->segment == CMP_SEGMENT_LAST && bytes < segments->left)
		return LULL_FRAME_MALFORMED;
	fragment->key = segments->key;
	fragment->flags |= segments->flags;
	add_range(fragment, segments->offset, message->data, bytes);
	segments->offset += bytes;
	segments->left -= bytes;
	return LULL_FRAME_FRAGMENT;
}

static enum lull_frame_verdict
take_csi2(struct cmp *own, const struct message *message, struct lull_frame_fragment *fragment)
{
	enum lull_frame_verdict verdict;
	struct csi2 csi2;

	if (message->segment > CMP_SEGMENT_FIRST)
		return take_segment(own, message, fragment);
	own->segments.open = false;
	verdict = read_csi2(message, &csi2);
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict;
	if (csi2.channel != own->channel)
		return LULL_FRAME_NOTHING;
	return csi2.type <= CSI2_SHORT_LAST ? take_short(own, message, &csi2, fragment) :
					      take_line(own, message, &csi2, fragment);
}

/* A packet of GigE Vision, whole or put together. Its keys and geometry are those of GVSP. */
static enum lull_frame_verdict
take_gige(struct cmp *own, const struct message *message, struct lull_frame_fragment *fragment)
{
	struct segments *segments = &own->segments;
	const uint8_t *data = message->data;
	uint32_t bytes = message->bytes, head;

	if (message->segment != CMP_SEGMENT_NONE) {
		if (message->segment == CMP_SEGMENT_FIRST)
			*segments = (struct segments){
				.open = true,
				.payload = CMP_PAYLOAD_GIGE,
				.next = (uint16_t)(message->number + 1),
				.interface = message->interface,
			};
		else if (!goes_on(segments, message))
			return LULL_FRAME_NOTHING;
		if (bytes > NESTED_BYTES_MAX - segments->bytes) {
			segments->open = false;
			return LULL_FRAME_OTHER;
		}
		memcpy(own->nested + segments->bytes, data, bytes);
		segments->bytes += bytes;
		if (message->segment != CMP_SEGMENT_LAST)
			return LULL_FRAME_NOTHING;
		data = own->nested;
		bytes = segments->bytes;
	}
	if (bytes < CMP_GIGE_BYTES)
		return LULL_FRAME_MALFORMED;
	head = (uint32_t)data[4] << 8 | data[5];
	if (head > bytes - CMP_GIGE_BYTES)
		return LULL_FRAME_MALFORMED;
	return lull_frame_gvsp.parse(own->nested_state, data + CMP_GIGE_BYTES, head, fragment);
}

static enum lull_frame_verdict
take_message(struct cmp *own, const struct message *message, struct lull_frame_fragment *fragment)
{
	enum lull_frame_verdict verdict;

	if (message->payload == CMP_PAYLOAD_GIGE)
		return take_gige(own, message, fragment);
	if (message->payload != CMP_PAYLOAD_CSI2)
		return LULL_FRAME_NOTHING;
	verdict = take_csi2(own, message, fragment);
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict;
	fragment->device_time = message->time_ns;
	fragment->flags |= LULL_FRAME_TIMED;
	if ((message->flags & (CMP_OVERFLOW | CMP_ERROR)) != 0)
		fragment->flags |= LULL_FRAME_DAMAGED;
	if (own->rows.count != 0) {
		fragment->geometry = own->geometry;
		fragment->flags |= LULL_FRAME_GEOMETRY;
		if (own->learning && !((fragment->flags & LULL_FRAME_END) && own->agreed))
			fragment->flags |= LULL_FRAME_PRESUMED;
	}
	return verdict;
}

/* Where to go on in a packet that has more; the beginning of any other. */
static size_t
resume_at(const struct cmp *own, const uint8_t *packet, size_t len_bytes)
{
	return own->packet == packet && own->packet_bytes == len_bytes ? own->packet_offset : 0;
}

/* One message, one fragment. */
static enum lull_frame_verdict
cmp_parse(void *state, const uint8_t *packet, size_t len_bytes,
	  struct lull_frame_fragment *fragment)
{
	struct cmp *own = state;
	struct lull_reader reader = lull_reader_over(packet, len_bytes);
	size_t resume = resume_at(own, packet, len_bytes);
	struct message message;
	enum lull_frame_verdict verdict = read_header(own, &reader, &message.number);
	enum lull_frame_verdict worst = LULL_FRAME_NOTHING;

	own->packet = NULL;
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict;
	if (resume != 0)
		reader.offset = resume;
	while ((verdict = read_message(&reader, &message)) == LULL_FRAME_FRAGMENT) {
		lull_frame_fragment_begin(fragment, 0, own->number.last);
		verdict = take_message(own, &message, fragment);
		if (verdict == LULL_FRAME_MALFORMED)
			return verdict;
		if (verdict == LULL_FRAME_OTHER || verdict == LULL_FRAME_UNNAMED)
			worst = verdict;
		if (verdict == LULL_FRAME_FRAGMENT)
			break;
	}
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict == LULL_FRAME_MALFORMED ? verdict : worst;
	own->bound = true;
	if (message.payload == CMP_PAYLOAD_CSI2)
		fragment->packet = resume == 0 ?
					   lull_unwrap_next(&own->number, message.number, 16) :
					   own->number.last;
	if (lull_reader_left(&reader) >= CMP_MESSAGE_BYTES) {
		own->packet = packet;
		own->packet_bytes = len_bytes;
		own->packet_offset = reader.offset;
		fragment->flags |= LULL_FRAME_MORE;
	}
	return LULL_FRAME_FRAGMENT;
}

static void
cmp_quiet(void *state, bool gone)
{
	struct cmp *own = state;

	lull_frame_gvsp.quiet(own->nested_state, gone);
}

const struct lull_frame_protocol lull_frame_cmp = {
	.name = "cmp",
	.summary = "ASAM CMP: MIPI CSI-2 or GigE Vision from a capture module",
	.ethernet = true,
	.ether_type = CMP_ETHER_TYPE,
	.state_size = sizeof(struct cmp),
	.init = cmp_init,
	.parse = cmp_parse,
	.quiet = cmp_quiet,
};
