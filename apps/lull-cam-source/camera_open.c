/* SPDX-License-Identifier: BSD-3-Clause */
/* A camera before its first packet: how its pictures are cut, and its socket. */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "camera.h"

#define STAMP_BYTES 8

static struct lull_packet_format
camera_format(const struct source_settings *settings, uint32_t number)
{
	double rate = settings->rate > 0 ? settings->rate : CAMERA_RATE_USUAL;

	return (struct lull_packet_format){
		.geometry = source_settings_geometry(settings),
		.packet_bytes = settings->packet_bytes,
		.stream_id = settings->stream_id + number,
		.payload_type = 96,
		.interlaced = settings->interlaced,
		.field_rows = settings->field_rows,
		.field_time = (uint32_t)lround(CAMERA_RTP_HZ / rate / 2),
		.extended = settings->extended,
		.all_in = settings->all_in,
	};
}

/* From packet to packet, as --pace says. */
static double
camera_gap(const struct camera *camera)
{
	const struct spec_pace *pace = &camera->stage->settings->pace;

	if (pace->kind == SPEC_PACE_SPREAD)
		return (double)pace->value / camera->plan.count;
	if (pace->kind == SPEC_PACE_RATE)
		return camera->plan.format.packet_bytes * 8.0 * 1e9 / (double)pace->value;
	return 0;
}

/* The first packet that has a part of the picture's last bytes. */
static uint32_t
camera_tail(const struct camera *camera, const struct lull_packet_plan *plan)
{
	struct ranges *ranges = &camera->stage->log.ranges;
	uint64_t begin = plan->rows.bytes - STAMP_BYTES;
	uint32_t tail = plan->count;

	for (uint32_t index = plan->count; index-- > 0;) {
		ranges_of(plan, camera->stage->writer->name, index, ranges);
		if (ranges->count == 0)
			continue; /* the end of a frame has none */
		if (ranges->list[ranges->count - 1].offset +
			    ranges->list[ranges->count - 1].bytes <=
		    begin)
			break;
		tail = index;
	}
	return tail;
}

int
camera_plan(struct camera *camera, uint32_t packet_bytes, bool extended)
{
	struct lull_packet_format format = camera_format(camera->stage->settings, camera->number);
	struct lull_packet_plan plan;
	int rc;

	format.packet_bytes = packet_bytes;
	format.extended = extended;
	rc = camera->stage->writer->plan(&plan, &format);
	if (rc != 0)
		return rc;
	camera->plan = plan;
	camera->tail =
		camera->stage->settings->sent_stamp ? camera_tail(camera, &plan) : UINT32_MAX;
	camera->gap_ns = camera_gap(camera);
	return 0;
}

int
camera_open(struct camera *camera, struct camera_stage *stage, uint32_t number,
	    struct lull_error *error)
{
	const struct source_settings *settings = stage->settings;
	struct lull_frame_geometry geometry = source_settings_geometry(settings);
	int rc;

	*camera = (struct camera){ .stage = stage, .number = number, .fd = -1 };
	rc = camera_plan(camera, settings->packet_bytes, settings->extended);
	if (rc != 0)
		return lull_error_set(
			error, rc, "%s cannot carry %ux%u %s pictures%s in packets of %u bytes",
			stage->writer->name, settings->width, settings->height,
			lull_pixel_name(geometry.pixel),
			settings->row_bytes > 0 ? " with padding" : "", settings->packet_bytes);
	rc = inject_open(&camera->inject, settings, number);
	if (rc != 0)
		return lull_error_set(error, rc, "no memory for camera %u", number);
	return sender_open(settings, number, &camera->fd, &camera->target, error);
}

void
camera_close(struct camera *camera)
{
	if (camera->stage == NULL)
		return;
	inject_close(&camera->inject);
	if (camera->fd >= 0)
		close(camera->fd);
}
