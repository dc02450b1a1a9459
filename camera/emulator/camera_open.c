/* SPDX-License-Identifier: BSD-3-Clause */
/* A camera before its first packet: how its pictures are cut, and its socket. */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "camera.h"

#define STAMP_BYTES 8

static struct lull_packet_format
camera_format(const struct lull_emulator_config *config, uint32_t number)
{
	double rate = config->rate > 0 ? config->rate : CAMERA_RATE_USUAL;

	return (struct lull_packet_format){
		.geometry = emulator_geometry(config),
		.packet_bytes = config->packet_bytes,
		.stream_id = config->stream_id + number,
		.payload_type = 96,
		.interlaced = config->interlaced,
		.field_rows = config->field_rows,
		.field_time = (uint32_t)lround(CAMERA_RTP_HZ / rate / 2),
		.extended = config->extended,
		.all_in = config->all_in,
	};
}

/* From packet to packet, as --pace says. */
static double
camera_gap(const struct emulator_camera *camera)
{
	const struct lull_emulator_pace *pace = &camera->stage->config->pace;

	if (pace->kind == LULL_EMULATOR_PACE_SPREAD)
		return (double)pace->value / camera->plan.count;
	if (pace->kind == LULL_EMULATOR_PACE_RATE)
		return camera->plan.format.packet_bytes * 8.0 * 1e9 / (double)pace->value;
	return 0;
}

/* The first packet that has a part of the picture's last bytes. */
static uint32_t
camera_tail(const struct emulator_camera *camera, const struct lull_packet_plan *plan)
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
emulator_camera_plan(struct emulator_camera *camera, uint32_t packet_bytes, bool extended)
{
	struct lull_packet_format format = camera_format(camera->stage->config, camera->number);
	struct lull_packet_plan plan;
	int rc;

	format.packet_bytes = packet_bytes;
	format.extended = extended;
	rc = camera->stage->writer->plan(&plan, &format);
	if (rc != 0)
		return rc;
	camera->plan = plan;
	camera->tail = camera->stage->config->sent_stamp ? camera_tail(camera, &plan) : UINT32_MAX;
	camera->gap_ns = camera_gap(camera);
	return 0;
}

int
emulator_camera_open(struct emulator_camera *camera, struct emulator_stage *stage, uint32_t number,
		     struct lull_error *error)
{
	const struct lull_emulator_config *config = stage->config;
	struct lull_frame_geometry geometry = emulator_geometry(config);
	int rc;

	*camera = (struct emulator_camera){ .stage = stage, .number = number, .fd = -1 };
	rc = emulator_camera_plan(camera, config->packet_bytes, config->extended);
	if (rc != 0)
		return lull_error_set(
			error, rc, "%s cannot carry %ux%u %s pictures%s in packets of %u bytes",
			stage->writer->name, config->width, config->height,
			lull_pixel_name(geometry.pixel),
			config->row_bytes > 0 ? " with padding" : "", config->packet_bytes);
	rc = inject_open(&camera->inject, config, number);
	if (rc != 0)
		return lull_error_set(error, rc, "no memory for camera %u", number);
	return sender_open(config, number, &camera->fd, &camera->target, error);
}

void
emulator_camera_close(struct emulator_camera *camera)
{
	if (camera->stage == NULL)
		return;
	inject_close(&camera->inject);
	if (camera->fd >= 0)
		close(camera->fd);
}
