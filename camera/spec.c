/* SPDX-License-Identifier: BSD-3-Clause */
#include "spec.h"

#include <errno.h>
#include <string.h>

#include "program/option.h"

#define MEMBER(member) LULL_OPTION_MEMBER(struct cam_spec, member)

static const char *
spec_pixel(uint32_t index)
{
	return index < LULL_PIXEL_COUNT ? lull_pixel_name((enum lull_pixel)index) : NULL;
}

static const char *const orders[] = { "frame", "arrival", NULL };
static const char *const policies[] = { "drop-newest", "newest", "fail-stop", NULL };

#define TEXT(row_key, row_member, row_argument, row_help)                                          \
	{                                                                                          \
		.key = row_key, .argument = row_argument, .help = row_help,                        \
		.type = LULL_OPTION_TEXT, MEMBER(row_member)                                       \
	}
/* A zero stands for the library's default and cannot be typed. */
#define COUNT(row_key, row_member, row_low, row_high, row_help)                                    \
	{                                                                                          \
		.key = row_key, .help = row_help, .type = LULL_OPTION_COUNT, .low = row_low,       \
		.high = row_high, MEMBER(row_member)                                               \
	}
#define BOOL(row_key, row_member, row_help)                                                        \
	{                                                                                          \
		.key = row_key, .help = row_help, .type = LULL_OPTION_BOOL, MEMBER(row_member)     \
	}

const struct lull_option cam_spec_keys[] = {
	TEXT("protocol", protocol, "NAME", "Protocol: rfc4175, gvsp, cmp or rvf. Required."),
	TEXT("name", name, "NAME",
	     "Name in the result and in file names: letters, digits, . _ - "
	     "Default: cam0, cam1 ..."),
	COUNT("port", port, 1, UINT16_MAX,
	      "UDP port that the camera sends to. Required for UDP, "
	      "except for gvsp with control."),
	TEXT("address", address, "IP",
	     "IP address that the camera sends to, such as a multicast "
	     "group. Default: any of the interface."),
	TEXT("source", source, "IP|MAC",
	     "Receive only packets of this sender. Default: any "
	     "sender."),
	TEXT("control", control, "IP|MAC", "gvsp: take control of this camera and let it stream."),
	BOOL("resend", resend, "gvsp with control: request missing packets again."),
	{
		.key = "resend-budget",
		.argument = "PERCENT",
		.help = "Largest share of a frame's packets that may be requested again.",
		.type = LULL_OPTION_REAL,
		.value = "10",
		.real_low = 0.0001,
		.real_high = 100,
		MEMBER(resend_percent),
	},
	COUNT("width", width, 1, LULL_FRAME_SIDE_MAX, "Width of a picture, in pixels."),
	COUNT("height", height, 1, LULL_FRAME_SIDE_MAX, "Height of a picture, in pixels."),
	{
		.key = "pixel",
		.argument = "FORMAT",
		.help = "Pixel format.",
		.type = LULL_OPTION_CHOICE,
		.choice = spec_pixel,
		.value = "unknown",
		MEMBER(pixel),
	},
	COUNT("row-bytes", row_bytes, 1, UINT32_MAX,
	      "Bytes from one row to the next, with "
	      "padding."),
	BOOL("interlaced", interlaced, "rfc4175: two fields make a frame."),
	BOOL("field-rows", field_rows, "rfc4175: lines are counted within the field."),
	COUNT("packet-bytes", packet_bytes, 64, UINT16_MAX,
	      "gvsp: IP length of a packet, in "
	      "bytes. Default: as the camera is set "
	      "up."),
	COUNT("stream-id", stream_id, 1, UINT64_MAX,
	      "rvf: stream id; cmp: device * 256 + stream. "
	      "Default: the first one seen."),
	COUNT("virtual-channel", virtual_channel, 0, 31,
	      "cmp: virtual channel of the CSI-2 packets."),
	COUNT("data-type", data_type, 1, 63,
	      "cmp: data type of the CSI-2 packets. Default: any image."),
	COUNT("buffers", buffers, 2, 256, "Number of image buffers. Default: 16."),
	COUNT("buffer-bytes", buffer_bytes, 1, LULL_FRAME_BYTES_MAX,
	      "Size of an image buffer, in "
	      "bytes. Default: the size of "
	      "a picture."),
	COUNT("open", open_max, 1, 16,
	      "Largest number of frames that are assembled at a time. "
	      "Default: 4."),
	{
		.key = "deadline",
		.argument = "TIME",
		.help = "Longest time from a frame's first packet to its end. Default: half of "
			"the frame period, or 20 ms until the period is known.",
		.type = LULL_OPTION_DURATION,
		.unit = "ms",
		.low = LULL_NS_PER_US,
		.high = 3600 * LULL_NS_PER_S,
		MEMBER(deadline_ns),
	},
	{
		.key = "order",
		.help = "Order of delivery. frame: as the camera made the frames. arrival: as "
			"they become complete.",
		.type = LULL_OPTION_CHOICE,
		.choices = orders,
		.value = "frame",
		MEMBER(order),
	},
	{
		.key = "policy",
		.help = "When no buffer is free: drop the new frame, take back the oldest image "
			"that was not fetched, or stop with an error.",
		.type = LULL_OPTION_CHOICE,
		.choices = policies,
		.value = "drop-newest",
		MEMBER(policy),
	},
	{ .key = NULL },
};

/* One "KEY=VALUE"; a key alone means yes. */
static int
spec_set(char *word, struct cam_spec *spec, struct lull_error *error)
{
	char *equals = strchr(word, '=');
	const struct lull_option *row;

	if (equals != NULL)
		*equals = '\0';
	row = lull_options_find(cam_spec_keys, word);
	if (equals == NULL && row != NULL && lull_option_needs_value(row))
		return lull_error_set(error, -EINVAL, "%s: needs a value, %s=%s", word, word,
				      lull_option_argument(row));
	return lull_options_set(cam_spec_keys, spec, word, equals != NULL ? equals + 1 : "yes",
				error);
}

static int
spec_check(const struct cam_spec *spec, struct lull_error *error)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (spec->protocol[0] == '\0')
		return lull_error_set(error, -EINVAL,
				      "protocol: missing; name one, such as "
				      "protocol=gvsp");
	if (spec->name[strspn(spec->name, letters)] != '\0' || spec->name[0] == '.')
		return lull_error_set(error, -EINVAL,
				      "name: '%s' becomes part of file names: letters, digits, "
				      ". _ - only, and no dot first",
				      spec->name);
	return 0;
}

int
cam_spec_parse(const char *text, struct cam_spec *spec, struct lull_error *error)
{
	char copy[LULL_OPTION_LIST_TEXT], *rest = copy, *word;
	int rc = 0;

	memset(spec, 0, sizeof(*spec));
	for (const struct lull_option *row = cam_spec_keys; rc == 0 && row->key != NULL; row++)
		rc = lull_option_reset(row, spec, error);
	strncpy(copy, text, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	while (rc == 0 && (word = strsep(&rest, ",")) != NULL)
		rc = spec_set(word, spec, error);
	return rc != 0 ? rc : spec_check(spec, error);
}

static const char *
spec_text(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

struct lull_camera_stream
cam_spec_stream(const struct cam_spec *spec)
{
	return (struct lull_camera_stream){
		.name = spec_text(spec->name),
		.protocol = spec->protocol,
		.address = spec_text(spec->address),
		.port = spec->port,
		.source = spec_text(spec->source),
		.control = spec_text(spec->control),
		.settings = {
			.geometry = {
				.width = spec->width,
				.height = spec->height,
				.row_bytes = spec->row_bytes,
				.pixel = (enum lull_pixel)spec->pixel,
			},
			.interlaced = spec->interlaced,
			.field_rows = spec->field_rows,
			.packet_bytes = spec->packet_bytes,
			.stream_id = spec->stream_id,
			.virtual_channel = spec->virtual_channel,
			.data_type = spec->data_type,
		},
		.buffer_bytes = spec->buffer_bytes,
		.buffers = spec->buffers,
		.open_max = spec->open_max,
		.deadline_ns = spec->deadline_ns,
		.order = (enum lull_frame_order)spec->order,
		.policy = (enum lull_frame_policy)spec->policy,
		.resend = spec->resend,
		.resend_ppm = (uint32_t)(spec->resend_percent * 10000 + 0.5),
	};
}

/* For roff a hyphen is a minus only when it is told so. */
static void
spec_print(FILE *out, const char *text, bool man)
{
	for (; *text != '\0'; text++) {
		if (man && *text == '-')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void
spec_print_choices(FILE *out, const struct lull_option *row, bool man)
{
	const char *name;

	fputs(" One of", out);
	for (uint32_t i = 0; (name = lull_option_choice(row, i)) != NULL; i++) {
		fputs(i > 0 ? ", " : " ", out);
		spec_print(out, name, man);
	}
	fputc('.', out);
}

void
cam_spec_print_keys(FILE *out, bool man)
{
	for (const struct lull_option *row = cam_spec_keys; row->key != NULL; row++) {
		fputs(man ? ".TP\n\\fB" : "", out);
		spec_print(out, row->key, man);
		fputs(man ? "\\fR=\\fI" : "=", out);
		spec_print(out, lull_option_argument(row), man);
		fputs(man ? "\\fR\n" : "\n    ", out);
		spec_print(out, row->help, man);
		if (row->type == LULL_OPTION_CHOICE)
			spec_print_choices(out, row, man);
		if (row->value != NULL) {
			fputs(" Default: ", out);
			spec_print(out, row->value, man);
			fputc('.', out);
		}
		fputc('\n', out);
	}
}
