/* SPDX-License-Identifier: BSD-3-Clause */
#include "message.h"

#include "program/result.h"

#define VERSION 1 /* of the messages */

static void
message_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

static void
message_text(json_t *object, const char *key, const char *value)
{
	json_object_set_new(object, key, lull_result_text(value));
}

json_t *
view_message_hello(const struct camera_view_config *config)
{
	json_t *object = json_object(), *streams = json_array();

	message_text(object, "type", "hello");
	message_count(object, "version", VERSION);
	message_text(object, "program", config->program);
	message_text(object, "backend", config->backend);
	for (uint32_t i = 0; i < config->spec_count; i++) {
		json_t *stream = json_object();

		message_count(stream, "index", i);
		message_text(stream, "name", config->specs[i].name);
		message_text(stream, "protocol", config->specs[i].protocol);
		json_array_append_new(streams, stream);
	}
	json_object_set_new(object, "streams", streams);
	return object;
}

static json_t *
message_missing(const struct view_missing *missing)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < missing->count; i++) {
		const struct view_rectangle *rectangle = &missing->rectangles[i];

		json_array_append_new(list,
				      json_pack("[iiii]", (int)rectangle->x, (int)rectangle->y,
						(int)rectangle->width, (int)rectangle->height));
	}
	return list;
}

json_t *
view_message_image(const struct lull_camera_image *image, const struct view_picture *picture,
		   const struct view_missing *missing)
{
	const struct lull_frame *frame = &image->frame;
	double latency_us = (double)image->latency_ns / LULL_NS_PER_US;
	json_t *object = json_object();

	message_text(object, "type", "image");
	message_count(object, "stream", image->stream);
	message_count(object, "number", frame->number);
	message_count(object, "key", frame->key);
	message_text(object, "reason", lull_frame_reason_name(frame->reason));
	json_object_set_new(object, "damaged", json_boolean(frame->damaged));
	message_count(object, "width", frame->geometry.width);
	message_count(object, "height", frame->geometry.height);
	message_text(object, "pixel", lull_pixel_name(frame->geometry.pixel));
	message_count(object, "view_width", picture->width);
	message_count(object, "view_height", picture->height);
	message_count(object, "bytes", frame->bytes);
	message_count(object, "bytes_there", frame->bytes_there);
	json_object_set_new(object, "missing", message_missing(missing));
	json_object_set_new(object, "missing_more", json_boolean(missing->more));
	json_object_set_new(object, "latency_us", lull_result_real(latency_us));
	return object;
}
