/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A camera, a reader and an assembler, with a judge: see tests/unit/frame/together.h. The input
 * says what the camera does and what becomes of its packets:
 *
 * - four bytes: protocol and what is told beforehand; width; height; packet size;
 * - then steps, an operation and its argument each, as in enum step.
 *
 * Either the packet size may change or the region, as a camera whose frames lose their first
 * packets while both change together cannot be followed by anybody.
 */
#include "base/reader.h"
#include "fuzz.h"
#include "unit/frame/together.h"

#define PACKETS_MAX 4096 /* of an input */

enum step {
	STEP_FRAME,   /* the next frame begins */
	STEP_SEND,    /* so many of its packets */
	STEP_LOSE,    /* so many of its packets are lost */
	STEP_AGAIN,   /* a packet of one of the last frames once more; none of before a restart */
	STEP_WAIT,    /* time passes */
	STEP_CHANGE,  /* another packet size, or another region */
	STEP_RESTART, /* ids begin again, after silence */
	STEP_SPOIL,   /* a packet is cut, or a bit of it changes */
	STEP_COUNT,
};

struct session {
	struct together together;
	uint32_t packets; /* sent */
	uint64_t former;  /* frames before the last restart */
	uint64_t fed;     /* packets that came before the last frame began */
	bool resizes;     /* the region may change, else the packet size */
	uint32_t sizes[8], size_count;
};

static const char *const protocols[] = { "rfc4175", "gvsp", "cmp", "rvf" };

/*
 * A last packet that is as long as the full ones were before looks like one of them where all
 * others of its frame are lost: nobody can tell.
 */
static bool
is_ambiguous(struct session *session, uint32_t packet_bytes)
{
	uint64_t bytes = lull_frame_bytes(&session->together.format.geometry);
	uint32_t full = packet_bytes - 8;
	uint32_t last = (uint32_t)(bytes % full);

	for (uint32_t i = 0; i < session->size_count; i++)
		if (session->sizes[i] - 8 == last || session->sizes[i] - 8 == full)
			return true;
	return false;
}

static void
change(struct session *session, uint8_t argument)
{
	struct lull_packet_format *format = &session->together.format;
	uint32_t packet_bytes = 128 + 33u * argument;

	if (session->resizes) {
		format->geometry.height = 1 + argument % 100;
		return;
	}
	if (session->size_count == 8 || is_ambiguous(session, packet_bytes))
		return;
	session->sizes[session->size_count++] = packet_bytes;
	format->packet_bytes = packet_bytes;
}

static void
restart(struct session *session, uint8_t argument)
{
	struct together *together = &session->together;

	together_wait(together, 200 * LULL_NS_PER_MS);
	if (together->protocol->quiet != NULL)
		together->protocol->quiet(together->state, true);
	lull_assembler_quiet(together->assembler);
	together_restart(together);
	session->former = together->number;
	together->next = UINT16_MAX; /* the rest of its last frame is not sent any more */
	together->format.stream_id += argument % 4 == 3 && together->key_step != 1;
}

static void
step(struct session *session, enum step step, uint8_t argument)
{
	struct together *together = &session->together;

	switch (step) {
	case STEP_FRAME:
		/* The judge remembers so many frames, however few of them come. */
		if (session->fed == together->fed) {
			together_wait(together, 20 * LULL_NS_PER_MS);
			/* Nobody can tell the fields apart where most frames are lost whole. */
			if (together->format.interlaced && together->next < UINT16_MAX)
				together_send(together, 0, 0, 0, 0);
		}
		session->fed = together->fed;
		(void)together_frame(together);
		break;
	case STEP_SEND:
		session->packets += argument;
		together_go(together, argument);
		break;
	case STEP_LOSE:
		together->next += argument;
		break;
	case STEP_AGAIN:
		session->packets++;
		if (argument % 4u < together->number - session->former)
			together_send(together, argument % 4, argument / 4, 0, 0);
		break;
	case STEP_WAIT:
		together_wait(together, (uint64_t)argument * LULL_NS_PER_MS / 4);
		break;
	case STEP_CHANGE:
		change(session, argument);
		break;
	case STEP_RESTART:
		restart(session, argument);
		break;
	default:
		session->packets++;
		together_send(together, 0, together->next++, argument < 64 ? argument : 0,
			      argument >= 64 ? argument : 0);
	}
}

static bool
begin(struct session *session, struct lull_reader *reader)
{
	uint8_t flags = lull_reader_u8(reader);
	struct lull_packet_format format = {
		.geometry = { .width = 1u + lull_reader_u8(reader),
			      .height = 1u + lull_reader_u8(reader) % 100,
			      .pixel = LULL_PIXEL_MONO8 },
		.packet_bytes = 128 + 33u * lull_reader_u8(reader),
		.stream_id = 0x102,
		.payload_type = 96,
		.interlaced = flags % 4 == 0 && (flags & 16) != 0,
		.field_time = 1500,
	};
	bool told = (flags & 4) != 0 || flags % 4 == 0;
	struct lull_frame_protocol_config config = {
		.interlaced = format.interlaced,
		.geometry = told ? format.geometry :
				   (struct lull_frame_geometry){ .pixel = LULL_PIXEL_MONO8 },
	};
	struct lull_assembler_config assembly = {
		.buffer_bytes = TOGETHER_BYTES_MAX,
		.buffer_max = TOGETHER_BUFFERS,
		.silence_ns = 16 * LULL_NS_PER_MS,
		.order = (flags & 8) != 0 ? LULL_FRAME_ORDER_ARRIVAL : LULL_FRAME_ORDER_FRAME,
	};

	session->resizes = (flags & 32) != 0 && !told;
	session->sizes[session->size_count++] = format.packet_bytes;
	if (flags % 4 == 1)
		config.geometry = (struct lull_frame_geometry){ .width = 0 };
	assembly.geometry =
		flags % 4 == 0 ? format.geometry : (struct lull_frame_geometry){ .width = 0 };
	return together_open(&session->together, protocols[flags % 4], &format, &config, &assembly);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lull_reader reader = lull_reader_over(data, size);
	struct session session = { .packets = 0 };

	if (begin(&session, &reader))
		while (lull_reader_left(&reader) >= 2 && session.packets < PACKETS_MAX) {
			enum step operation = (enum step)(lull_reader_u8(&reader) % STEP_COUNT);

			step(&session, operation, lull_reader_u8(&reader));
		}
	if (session.together.assembler != NULL)
		together_end(&session.together);
	together_close(&session.together);
	return 0;
}
