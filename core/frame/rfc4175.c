/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RFC 4175: uncompressed video over RTP. After the RTP header come 16 upper bits of the sequence
 * number, then line headers {length16, F1 line15, C1 offset15} while C says that one more follows,
 * then the data of all lines.
 *
 * What senders do and the text does not tell: the extended bits stay 0 for ever; a packet of 8900
 * bytes has over a hundred line headers where rows are short; lines are cut anywhere between two
 * groups; interlaced lines carry their number in the frame (GStreamer) or in the field (ST 2110),
 * and each field its own time; GStreamer cuts the last group of a row where the width ends.
 */
#include "frame/protocol.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/reader.h"
#include "pixel/rows.h"
#include "frame/unwrap.h"

#define PAIR_COUNT 4       /* frames of two fields that are remembered */
#define STEP_COUNT 8       /* fields may be lost in all but one of so many steps */
#define GROUP_BYTES_MAX 15 /* of all pixels */
#define RIVAL_PKTS 16
#define LINES_MAX 2048 /* headers in a packet; 9216 bytes hold fewer with data */

/* The two fields of a frame; times are unwrapped. */
struct pair {
	uint64_t key; /* time of the field that came first; 0: unused */
	uint64_t times[2];
	bool there[2];
};

struct rfc4175 {
	struct lull_frame_rows rows;
	struct lull_frame_geometry geometry;
	bool interlaced, field_rows;
	struct lull_unwrap time;
	struct lull_unwrap number;
	uint16_t extended; /* upper bits of the last packet */
	bool trusted;      /* they were seen to count a wrap */
	bool bound;
	uint32_t source;       /* the sender that is followed */
	uint8_t type;          /* of its payload */
	uint32_t rival;        /* another one heard since */
	uint16_t rival_next;   /* the sequence number that would prove it */
	uint16_t rival_pkts;   /* that followed each other */
	bool quiet;            /* nobody was heard for long */
	const uint8_t *packet; /* has more lines; NULL: there is none */
	size_t packet_bytes;
	size_t head_next, data_next; /* where the header and the data of the next one lie in it */
	uint32_t pair_next;
	struct pair pairs[PAIR_COUNT];
	uint64_t field_times[2];    /* newest of each field; 0: none */
	uint32_t steps[STEP_COUNT]; /* from a field to the next one like it, lately; 0: none */
	uint32_t step_next;
};
static_assert(sizeof(struct rfc4175) <= 512, "a few cache lines");

struct rtp {
	bool marker;
	uint8_t type; /* of the payload */
	uint16_t sequence, extended;
	uint32_t time, source;
};

static int
rfc4175_init(void *state, const struct lull_frame_protocol_config *config)
{
	struct rfc4175 *own = state;

	if (!lull_frame_rows_of(&config->geometry, &own->rows))
		return -EINVAL;
	/* A group of two lines would hold lines of one field: no row of the picture. */
	if (config->interlaced && own->rows.row_shift != 0)
		return -EINVAL;
	own->geometry = config->geometry;
	own->interlaced = config->interlaced;
	own->field_rows = config->field_rows;
	return 0;
}

/* Read the RTP header and the extended number; @p reader is left over line headers and data. */
static enum lull_frame_verdict
read_rtp(struct lull_reader *reader, struct rtp *rtp)
{
	uint8_t first = lull_reader_u8(reader);
	uint8_t second = lull_reader_u8(reader);
	uint16_t words = 0;
	uint8_t padding;

	rtp->sequence = lull_reader_u16be(reader);
	rtp->time = lull_reader_u32be(reader);
	rtp->source = lull_reader_u32be(reader);
	if (reader->failed)
		return LULL_FRAME_MALFORMED;
	if (first >> 6 != 2 || (second >= 192 && second <= 223)) /* not RTP 2, or RTCP */
		return LULL_FRAME_FOREIGN;
	rtp->marker = second >> 7 != 0;
	rtp->type = second & 0x7f;
	if ((first & 15) != 0)
		lull_reader_skip(reader, 4 * (size_t)(first & 15));
	if ((first & 16) != 0) {
		lull_reader_skip(reader, 2);
		words = lull_reader_u16be(reader);
	}
	if (words != 0)
		lull_reader_skip(reader, 4 * (size_t)words);
	if ((first & 32) != 0) {
		padding = reader->data[reader->len - 1];
		if (padding == 0 || padding > lull_reader_left(reader))
			return LULL_FRAME_MALFORMED;
		reader->len -= padding;
	}
	rtp->extended = lull_reader_u16be(reader);
	return reader->failed ? LULL_FRAME_MALFORMED : LULL_FRAME_FRAGMENT;
}

/*
 * One sender is followed. Another one takes its place at once when that was silent for long, else
 * with so many packets that follow each other and none of the old one between: a sender that lives
 * has its place, whoever sends beside it.
 */
static bool
is_followed(struct rfc4175 *own, const struct rtp *rtp)
{
	bool quiet = own->quiet;

	own->quiet = false;
	if (!own->bound) {
		own->source = rtp->source;
		own->type = rtp->type;
		own->bound = true;
	}
	if (rtp->source == own->source && rtp->type == own->type) {
		own->rival_pkts = 0;
		return true;
	}
	if (own->rival != rtp->source || own->rival_next != rtp->sequence)
		own->rival_pkts = 0;
	own->rival = rtp->source;
	own->rival_next = (uint16_t)(rtp->sequence + 1);
	if (!quiet && ++own->rival_pkts < RIVAL_PKTS)
		return false;
	own->rival_pkts = 0;
	own->source = rtp->source;
	own->type = rtp->type;
	own->trusted = false;
	memset(own->pairs, 0, sizeof(own->pairs));
	memset(own->steps, 0, sizeof(own->steps));
	memset(own->field_times, 0, sizeof(own->field_times));
	lull_unwrap_restart(&own->time, rtp->time, 32);
	lull_unwrap_restart(&own->number, rtp->sequence, 16);
	return true;
}

/*
 * The number of a packet: 16 bits unwrapped, 32 as soon as the upper ones were seen to count a
 * wrap. They are distrusted again when they stand still over one.
 */
static uint64_t
number_of(struct rfc4175 *own, const struct rtp *rtp)
{
	uint64_t last = own->number.last;
	bool running = own->number.running;
	uint64_t number = lull_unwrap_next(&own->number, rtp->sequence, 16);
	uint16_t up = (uint16_t)(rtp->extended - own->extended);
	bool wrapped = running && number >> 16 == (last >> 16) + 1;

	if (wrapped)
		own->trusted = up == 1;
	else if (running && own->trusted && up != 0) {
		/* More than half a turn is gone, which 16 bits cannot tell. */
		number = (((last >> 16) + (uint64_t)(int64_t)(int16_t)up) << 16) + rtp->sequence;
		own->number.last = number;
	}
	own->extended = rtp->extended;
	return number;
}

/* From frame to frame in units of time; 0: not known yet, or seen once alone. */
static uint32_t
frame_step(const struct rfc4175 *own)
{
	uint32_t least = 0, count = 0;

	for (uint32_t i = 0; i < STEP_COUNT; i++)
		if (least == 0 || (own->steps[i] != 0 && own->steps[i] < least))
			least = own->steps[i];
	for (uint32_t i = 0; i < STEP_COUNT; i++)
		count += own->steps[i] != 0 && own->steps[i] - least <= least / 8;
	return count >= 2 ? least : 0;
}

/* A field of this time was not seen before. */
static void
follow_field(struct rfc4175 *own, unsigned int field, uint64_t time)
{
	uint64_t before = own->field_times[field];

	if (time <= before)
		return;
	if (before != 0 && time - before <= UINT32_MAX)
		own->steps[own->step_next++ % STEP_COUNT] = (uint32_t)(time - before);
	own->field_times[field] = time;
}

/*
 * Does a field of this time go with the other one of the pair? Its frame ends before the next one
 * begins: where a field of each of two frames is lost, the others are no frame. Before the distance
 * of frames is known only packets that follow each other prove it.
 */
static bool
completes(const struct pair *pair, unsigned int field, uint64_t time, uint32_t step, bool follows)
{
	uint64_t apart;

	if (pair->key == 0 || pair->there[field] ||
	    (field == 1 ? pair->times[0] > time : pair->times[1] < time))
		return false;
	apart = field == 1 ? time - pair->times[0] : pair->times[1] - time;
	return step != 0 ? apart < step - step / 8 : follows;
}

/*
 * The frame that a field belongs to: the one that has it, else the nearest one that has only the
 * other field: field 1 comes after field 0. Its key is the time of whichever came first.
 */
static uint64_t
pair_of(struct rfc4175 *own, unsigned int field, uint64_t time, bool follows)
{
	uint32_t step = frame_step(own);
	struct pair *best = NULL;

	for (uint32_t i = 0; i < PAIR_COUNT; i++) {
		struct pair *pair = &own->pairs[i];

		if (pair->key != 0 && pair->there[field] && pair->times[field] == time)
			return pair->key;
		if (!completes(pair, field, time, step, follows))
			continue;
		if (best == NULL || (field == 1 ? pair->times[0] > best->times[0] :
						  pair->times[1] < best->times[1]))
			best = pair;
	}
	follow_field(own, field, time);
	if (best == NULL) {
		best = &own->pairs[own->pair_next];
		own->pair_next = (own->pair_next + 1) % PAIR_COUNT;
		*best = (struct pair){ .key = time };
	}
	best->times[field] = time;
	best->there[field] = true;
	return best->key;
}

/* A line header, and where it goes. */
struct line {
	uint64_t offset;
	uint32_t number, column; /* with their upper bit */
	uint16_t bytes;
	uint16_t cut; /* bytes that the row's last group lacks */
};

/* Grey in 8 bits, near it in more: the colour of what a sender cut off. */
static const uint8_t grey[GROUP_BYTES_MAX] = { 128, 128, 128, 128, 128, 128, 128, 128,
					       128, 128, 128, 128, 128, 128, 128 };

/*
 * Of a row whose width is no whole number of groups, GStreamer sends the last group in part: so
 * many bytes as its pixels have on average. Returns how many that group lacks then, else 0.
 */
static uint16_t
cut_of(const struct rfc4175 *own, uint32_t column, uint32_t begin, uint32_t length)
{
	const struct lull_frame_rows *rows = &own->rows;
	uint32_t pixels = own->geometry.width - column;

	if (length == 0 || column >= own->geometry.width ||
	    length != (pixels * rows->group_bytes) >> rows->column_shift)
		return 0;
	return (uint16_t)(rows->row_bytes - begin - length);
}

/* Find the place of a line; false: there is no such one. */
static bool
place(const struct rfc4175 *own, struct line *line)
{
	const struct lull_frame_rows *rows = &own->rows;
	uint32_t field = line->number >> 15, number = line->number & 0x7fff;
	uint32_t row = number >> rows->row_shift;
	uint32_t column = line->column & 0x7fff;
	uint32_t begin = (column >> rows->column_shift) * rows->group_bytes;

	if (own->interlaced && own->field_rows)
		row = 2 * row + field;
	if ((number & ((1u << rows->row_shift) - 1)) != 0 ||
	    (column & ((1u << rows->column_shift) - 1)) != 0)
		return false;
	if (row >= rows->count || begin + line->bytes > rows->row_bytes)
		return false;
	line->cut = 0;
	if (!lull_frame_rows_whole(rows, line->bytes)) {
		line->cut = cut_of(own, column, begin, line->bytes);
		if (line->cut == 0)
			return false;
	}
	line->offset = (uint64_t)row * rows->stride + begin;
	return true;
}

static bool
read_line(const struct rfc4175 *own, struct lull_reader *reader, struct line *line)
{
	line->bytes = lull_reader_u16be(reader);
	line->number = lull_reader_u16be(reader);
	line->column = lull_reader_u16be(reader);
	return !reader->failed && place(own, line);
}

static void
add_line(struct lull_frame_fragment *fragment, const struct line *line)
{
	struct lull_frame_range *range = &fragment->ranges[fragment->range_count];

	if (line->bytes == 0)
		return;
	*range = (struct lull_frame_range){ .offset = line->offset, .bytes = line->bytes };
	fragment->range_count++;
	if (line->cut == 0)
		return;
	range[1] = (struct lull_frame_range){
		.offset = line->offset + line->bytes,
		.data = grey,
		.bytes = line->cut,
	};
	fragment->range_count++;
}

/*
 * Headers from @p reader on, with the data at @p data_at (0: behind the last header). The first
 * time all are looked at, as a packet is used as a whole or not at all; what a fragment has no room
 * for is left for the next one.
 */
static enum lull_frame_verdict
read_lines(struct rfc4175 *own, struct lull_reader *reader, size_t data_at,
	   struct lull_frame_fragment *fragment, unsigned int *field)
{
	size_t head_next = 0, before_next = 0, bytes = 0;
	uint32_t count = 0;
	struct line line;

	do {
		size_t head = reader->offset;

		if (!read_line(own, reader, &line))
			return LULL_FRAME_MALFORMED;
		if (count == 0)
			*field = line.number >> 15;
		else if (own->interlaced && *field != line.number >> 15)
			return LULL_FRAME_MALFORMED; /* one packet, one time, two fields */
		if (head_next == 0 &&
		    fragment->range_count + (line.cut != 0) >= LULL_FRAME_RANGES_MAX) {
			head_next = head;
			before_next = bytes;
		}
		if (head_next == 0)
			add_line(fragment, &line);
		bytes += line.bytes;
		if (++count > LINES_MAX)
			return LULL_FRAME_OTHER;
	} while (line.column >> 15 != 0 && (data_at == 0 || head_next == 0));
	if (data_at != 0)
		reader->offset = data_at;
	else if (bytes > lull_reader_left(reader))
		return LULL_FRAME_MALFORMED;
	own->head_next = head_next;
	own->data_next = reader->offset + before_next;
	for (uint32_t i = 0; i < fragment->range_count; i++)
		if (fragment->ranges[i].data == NULL)
			fragment->ranges[i].data =
				lull_reader_bytes(reader, fragment->ranges[i].bytes);
	return reader->failed ? LULL_FRAME_MALFORMED : LULL_FRAME_FRAGMENT;
}

/* Is this the packet that the last fragment left lines in? */
static bool
goes_on(const struct rfc4175 *own, const uint8_t *packet, size_t len_bytes)
{
	return own->packet != NULL && own->packet == packet && own->packet_bytes == len_bytes;
}

static uint32_t
flags_of(const struct rfc4175 *own, const struct rtp *rtp, unsigned int field,
	 const struct lull_frame_fragment *fragment)
{
	uint32_t flags = LULL_FRAME_TIMED | LULL_FRAME_GEOMETRY;

	if (own->head_next != 0)
		flags |= LULL_FRAME_MORE;
	else if (rtp->marker && (!own->interlaced || field == 1))
		flags |= LULL_FRAME_END;
	if (fragment->range_count > 0 && fragment->ranges[0].offset == 0)
		flags |= LULL_FRAME_START;
	return flags;
}

static enum lull_frame_verdict
rfc4175_parse(void *state, const uint8_t *packet, size_t len_bytes,
	      struct lull_frame_fragment *fragment)
{
	struct rfc4175 *own = state;
	struct lull_reader reader = lull_reader_over(packet, len_bytes);
	size_t data_at = goes_on(own, packet, len_bytes) ? own->data_next : 0;
	enum lull_frame_verdict verdict;
	unsigned int field = 0;
	uint64_t time, before;
	struct rtp rtp;

	own->packet = NULL;
	verdict = read_rtp(&reader, &rtp);
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict;
	lull_frame_fragment_begin(fragment, 0, 0);
	if (data_at != 0)
		reader.offset = own->head_next;
	verdict = read_lines(own, &reader, data_at, fragment, &field);
	if (verdict != LULL_FRAME_FRAGMENT)
		return verdict;
	if (!is_followed(own, &rtp))
		return LULL_FRAME_FOREIGN;
	/* The same for all fragments of a packet: what was unwrapped once stays as it is. */
	time = lull_unwrap_next(&own->time, rtp.time, 32);
	before = own->number.last;
	fragment->packet = number_of(own, &rtp);
	fragment->key = time;
	if (own->interlaced)
		fragment->key = pair_of(own, field, time, fragment->packet <= before + 1);
	fragment->device_time = time;
	fragment->geometry = own->geometry;
	fragment->flags = flags_of(own, &rtp, field, fragment);
	if (own->head_next != 0) {
		own->packet = packet;
		own->packet_bytes = len_bytes;
	}
	return LULL_FRAME_FRAGMENT;
}

static void
rfc4175_quiet(void *state, bool gone)
{
	struct rfc4175 *own = state;

	own->quiet |= gone;
	memset(own->steps, 0, sizeof(own->steps));
	memset(own->field_times, 0, sizeof(own->field_times));
}

const struct lull_frame_protocol lull_frame_rfc4175 = {
	.name = "rfc4175",
	.summary = "uncompressed video over RTP (RFC 4175, ST 2110-20)",
	.state_size = sizeof(struct rfc4175),
	.init = rfc4175_init,
	.parse = rfc4175_parse,
	.quiet = rfc4175_quiet,
};
