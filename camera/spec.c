/* SPDX-License-Identifier: BSD-3-Clause */
#include "spec.h"

#include <errno.h>
#include <string.h>

#include "program/option.h"
#include "program/row.h"

#define LULL_SETTINGS struct cam_spec

static const char *
spec_pixel(uint32_t index)
{
	return index < LULL_PIXEL_COUNT ? lull_pixel_name((enum lull_pixel)index) : NULL;
}

static const char *const pages[] = { "auto", "huge", "lazy", NULL };
static const char *const matrices[] = { "auto", "bt601", "bt709", NULL };
static const char *const orders[] = { "frame", "arrival", NULL };
static const char *const policies[] = { "drop-newest", "newest", "fail-stop", NULL };

/* A zero stands for the library's default and cannot be typed. */
const struct lull_option cam_spec_keys[] = {
	LULL_ROW_TEXT("protocol", "NAME", protocol,
		      "Protocol: rfc4175, gvsp, cmp or rvf. "
		      "Required."),
	LULL_ROW_TEXT("name", "NAME", name,
		      "Name in the result and in file names: letters, digits, . _ - Default: cam0, "
		      "cam1 ..."),
	LULL_ROW_COUNT("port", NULL, port,
		       "UDP port that the camera sends to. Required for UDP, except for gvsp with "
		       "control.",
		       .low = 1, .high = UINT16_MAX),
	LULL_ROW_TEXT("address", "IP|MAC", address,
		      "IP address that the camera sends to, such as a multicast group; a MAC "
		      "address for cmp and rvf. Default: any of the interface; for cmp and rvf, "
		      "all groups."),
	LULL_ROW_TEXT("source", "IP|MAC", source,
		      "Receive only packets of this sender, or any. Default: any; with control, "
		      "the camera."),
	LULL_ROW_TEXT("control", "IP|MAC", control,
		      "gvsp: take control of this camera and let it stream."),
	LULL_ROW_BOOL("resend", resend, "gvsp with control: request missing packets again."),
	LULL_ROW_REAL("resend-budget", "PERCENT", resend_percent,
		      "Largest share of a frame's packets that may be requested again.",
		      .value = "10", .real_low = 0.0001, .real_high = 100),
	LULL_ROW_COUNT("width", NULL, width, "Width of a picture, in pixels.", .low = 1,
		       .high = LULL_FRAME_SIDE_MAX),
	LULL_ROW_COUNT("height", NULL, height, "Height of a picture, in pixels.", .low = 1,
		       .high = LULL_FRAME_SIDE_MAX),
	LULL_ROW(CHOICE, "pixel", "FORMAT", pixel, "Pixel format.", .choice = spec_pixel,
		 .value = "unknown"),
	LULL_ROW_CHOICE(
		"matrix", matrix,
		"How YUV is drawn in PNG files and previews: by the matrix of ITU-R BT.601 "
		"or BT.709. auto: as GigE Vision's number of the format tells, else BT.601.",
		.choices = matrices, .value = "auto"),
	LULL_ROW_COUNT("bits", NULL, bits,
		       "How many bits pixels of 16 bits use, for PNG files and previews: mono16, "
		       "bayer-rg16 ... Others know it themselves. Default: 16.",
		       .low = 8, .high = 16),
	LULL_ROW_COUNT("row-bytes", NULL, row_bytes,
		       "Bytes from one row to the next, with "
		       "padding.",
		       .low = 1, .high = UINT32_MAX),
	LULL_ROW_BOOL("interlaced", interlaced, "rfc4175: two fields make a frame."),
	LULL_ROW_BOOL("field-rows", field_rows, "rfc4175: lines are counted within the field."),
	LULL_ROW_COUNT("packet-bytes", NULL, packet_bytes,
		       "gvsp: IP length of a packet, in bytes. Default: as the camera is set up.",
		       .low = 64, .high = UINT16_MAX),
	LULL_ROW_COUNT("mtu", "BYTES", mtu,
		       "IP length of the longest packet that the camera sends: the self-check "
		       "compares it, and a DPDK port without an interface is set up for it. "
		       "Default: packet-bytes.",
		       .low = 68, .high = UINT16_MAX),
	LULL_ROW_COUNT("stream-id", NULL, stream_id,
		       "rvf: stream id; cmp: device * 256 + stream. Default: the first one seen.",
		       .low = 1, .high = UINT64_MAX),
	LULL_ROW_COUNT("virtual-channel", NULL, virtual_channel,
		       "cmp: virtual channel of the CSI-2 packets.", .low = 0, .high = 31),
	LULL_ROW_COUNT("data-type", NULL, data_type,
		       "cmp: data type of the CSI-2 packets. Default: any image.", .low = 1,
		       .high = 63),
	LULL_ROW_COUNT("buffers", NULL, buffers, "Number of image buffers. Default: 16.", .low = 2,
		       .high = 256),
	LULL_ROW_COUNT("buffer-bytes", NULL, buffer_bytes,
		       "Size of an image buffer, in bytes. "
		       "Default: the size of a picture, and larger when pictures become larger.",
		       .low = 1, .high = LULL_FRAME_BYTES_MAX),
	LULL_ROW_COUNT("memory", "BYTES", memory_bytes,
		       "Largest memory of all image buffers of the stream. Buffers grow up to it "
		       "when the camera's pictures become larger; those that do not fit are "
		       "counted as oversize. Default: 1G.",
		       .low = 1, .high = 1ULL << 40),
	LULL_ROW_COUNT("open", NULL, open_max,
		       "Largest number of frames that are assembled at a time. Default: 4.",
		       .low = 1, .high = 16),
	LULL_ROW_TIME("deadline", deadline_ns,
		      "Longest time from a frame's first packet to its end. Default: half of the "
		      "frame period, or 20 ms until the period is known.",
		      .unit = "ms", .low = LULL_NS_PER_US, .high = 3600 * LULL_NS_PER_S),
	LULL_ROW_CHOICE("pages", pages,
			"Memory of the buffers. auto: present before the first packet, in large "
			"pages where the kernel has them. huge: in reserved huge pages "
			"(vm.nr_hugepages). lazy: small pages that come as they are written to.",
			.choices = pages, .value = "auto"),
	LULL_ROW_CHOICE("order", order,
			"Order of delivery. frame: as the camera made the frames. arrival: as "
			"they become complete.",
			.choices = orders, .value = "frame"),
	LULL_ROW_CHOICE("policy", policy,
			"When no buffer is free: drop the new frame, take back the oldest image "
			"that was not fetched, or stop with an error.",
			.choices = policies, .value = "drop-newest"),
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
		.memory_bytes = spec->memory_bytes,
		.open_max = spec->open_max,
		.deadline_ns = spec->deadline_ns,
		.order = (enum lull_frame_order)spec->order,
		.policy = (enum lull_frame_policy)spec->policy,
		.pages = (enum lull_camera_pages)spec->pages,
		.mtu = spec->mtu,
		.resend = spec->resend,
		.resend_ppm = (uint32_t)(spec->resend_percent * 10000 + 0.5),
	};
}

struct lull_pixel_view
cam_spec_view(const struct cam_spec *spec)
{
	return (struct lull_pixel_view){
		.matrix = (enum lull_pixel_matrix)spec->matrix,
		.bits = spec->bits,
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
