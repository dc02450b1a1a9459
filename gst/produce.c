/* SPDX-License-Identifier: BSD-3-Clause */
/* From images to buffers: the streaming thread. */
#include <errno.h>

#include <gst/video/video.h>

#include <lull/rest.h>

#include "pixel/geometry.h"
#include "source.h"
#include "statistics.h"

#define RTP_RATE 90000
/* With policy=fail-stop nothing comes any more: it has to be looked for. */
#define LOOK_NS (100 * LULL_NS_PER_MS)
/* Above this height YUV is BT.709 where nobody says, by GStreamer's rule. */
#define SD_ROWS 576

/* ---- images ---- */

static bool
produce_stopped(LullCameraSrc *source)
{
	if (source->spec.policy != LULL_FRAME_FAIL_STOP ||
	    !lull_gst_session_stopped(source->current))
		return false;
	GST_ELEMENT_ERROR(source, RESOURCE, NO_SPACE_LEFT,
			  ("The stream stopped, all its buffers were in use; raise buffers, or "
			   "choose another policy"),
			  (NULL));
	return true;
}

/* An image, or why there is none. */
static GstFlowReturn
produce_fetch(LullCameraSrc *source, struct lull_camera_image **image)
{
	uint64_t wait_ns = source->spec.policy == LULL_FRAME_FAIL_STOP ? LOOK_NS : UINT64_MAX;

	do {
		if (g_atomic_int_get(&source->flushing))
			return GST_FLOW_FLUSHING;
		if (lull_gst_session_get(source->current, image, wait_ns) == -ENODEV)
			return GST_FLOW_EOS;
		if (produce_stopped(source)) {
			if (*image != NULL)
				lull_gst_session_put(source->current, *image);
			return GST_FLOW_ERROR;
		}
	} while (*image == NULL);
	return GST_FLOW_OK;
}

static bool
produce_partial(const struct lull_camera_image *image)
{
	return image->frame.reason != LULL_FRAME_COMPLETE || image->frame.damaged;
}

static void
produce_tell(LullCameraSrc *source, const struct lull_camera_image *image)
{
	GstStructure *structure = gst_structure_new_empty(LULL_GST_FRAME_MESSAGE);

	lull_gst_describe(image, structure);
	gst_element_post_message(GST_ELEMENT(source),
				 gst_message_new_element(GST_OBJECT(source), structure));
}

/* Is it one to be given? */
static bool
produce_wanted(LullCameraSrc *source, const struct lull_camera_image *image)
{
	gint64 resume_ns = __atomic_load_n(&source->resume_ns, __ATOMIC_RELAXED);
	bool drop, tell;

	if (source->live && image->frame.stamps.done_ns < (uint64_t)resume_ns)
		return false;
	if (!produce_partial(image))
		return true;
	GST_OBJECT_LOCK(source);
	drop = source->settings.drop_partial;
	tell = source->settings.messages;
	source->dropped += drop;
	GST_OBJECT_UNLOCK(source);
	if (tell)
		produce_tell(source, image);
	return !drop;
}

/* ---- times ---- */

/* Since the last packet came. A clock that was set meanwhile says nothing. */
static uint64_t
produce_age_ns(const struct lull_camera_image *image)
{
	uint64_t given_ns = lull_clock_ns() - image->frame.stamps.done_ns;

	if (image->latency_from == LULL_CAMERA_ORIGIN_KERNEL && image->latency_ns >= LULL_NS_PER_S)
		return given_ns;
	return given_ns + image->latency_ns;
}

/* Running time of the arrival; none without a clock. */
static GstClockTime
produce_arrival(LullCameraSrc *source, const struct lull_camera_image *image)
{
	uint64_t last_ns = image->frame.stamps.last_ns, age_ns = produce_age_ns(image);
	GstClockTime now_ns, base_ns = gst_element_get_base_time(GST_ELEMENT(source));
	GstClock *clock;

	if (!source->live) {
		if (!source->begun)
			source->file_first_ns = last_ns;
		return last_ns > source->file_first_ns ? last_ns - source->file_first_ns : 0;
	}
	clock = gst_element_get_clock(GST_ELEMENT(source));
	if (clock == NULL)
		return GST_CLOCK_TIME_NONE;
	now_ns = gst_clock_get_time(clock);
	gst_object_unref(clock);
	return now_ns > base_ns + age_ns ? now_ns - base_ns - age_ns : 0;
}

static GstClockTime
produce_time(LullCameraSrc *source, const struct lull_camera_image *image)
{
	GstClockTime pts = produce_arrival(source, image);
	uint64_t ticks = image->frame.stamps.device_time, rate;
	bool device;

	GST_OBJECT_LOCK(source);
	device = source->settings.times == LULL_GST_TIMES_DEVICE;
	rate = source->settings.device_rate;
	GST_OBJECT_UNLOCK(source);
	if (rate == 0)
		rate = g_str_equal(source->spec.protocol, "rfc4175") ? RTP_RATE : LULL_NS_PER_S;
	if (pts == GST_CLOCK_TIME_NONE || gst_base_src_get_do_timestamp(GST_BASE_SRC(source)))
		return GST_CLOCK_TIME_NONE;
	if (device && ticks != 0)
		pts = lull_gst_timing_device(&source->timing,
					     gst_util_uint64_scale(ticks, GST_SECOND, rate), pts);
	/* frames given as they become complete may have changed places */
	source->pts_last = LULL_MAX(source->pts_last, pts);
	return source->pts_last;
}

/* ---- buffers ---- */

/* What is asked for, else what the camera tells, else as GStreamer presumes it by the height. */
static enum lull_pixel_matrix
produce_matrix(const LullCameraSrc *source)
{
	if (source->spec.matrix != LULL_PIXEL_MATRIX_UNTOLD)
		return (enum lull_pixel_matrix)source->spec.matrix;
	if (source->geometry.matrix != LULL_PIXEL_MATRIX_UNTOLD)
		return source->geometry.matrix;
	return source->geometry.height > SD_ROWS ? LULL_PIXEL_BT709 : LULL_PIXEL_BT601;
}

static void
produce_fill(LullCameraSrc *source, const struct lull_camera_image *image, uint8_t *data)
{
	const struct lull_frame_geometry *geometry = &source->geometry;
	const struct lull_pixel_view view = {
		.matrix = produce_matrix(source),
		.bits = source->bits,
	};
	struct lull_gst_planes planes = { .data = { NULL } };

	for (uint32_t i = 0; i < source->layout.plane_count; i++) {
		planes.data[i] = data + source->layout.offset[i];
		planes.stride[i] = source->layout.stride[i];
	}
	source->format->fill(geometry, image->frame.data, &planes, &view);
}

static GstFlowReturn
produce_filled(LullCameraSrc *source, const struct lull_camera_image *image, GstBuffer **buffer)
{
	GstBufferPool *pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(source));
	GstFlowReturn flow;
	GstMapInfo map;

	if (pool == NULL)
		return GST_FLOW_NOT_NEGOTIATED;
	flow = gst_buffer_pool_acquire_buffer(pool, buffer, NULL);
	gst_object_unref(pool);
	if (flow != GST_FLOW_OK)
		return flow;
	if (!gst_buffer_map(*buffer, &map, GST_MAP_WRITE)) {
		gst_clear_buffer(buffer);
		return GST_FLOW_ERROR;
	}
	produce_fill(source, image, map.data);
	gst_buffer_unmap(*buffer, &map);
	return GST_FLOW_OK;
}

/* Rows with another padding than the next element would guess. */
static void
produce_video_meta(LullCameraSrc *source, GstBuffer *buffer)
{
	struct lull_frame_layout layout = { .row_bytes = 0 };
	gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
	gint stride[GST_VIDEO_MAX_PLANES] = { 0 };

	lull_frame_layout_init(&layout, &source->geometry);
	stride[0] = (gint)layout.row_bytes;
	gst_buffer_add_video_meta_full(buffer,
				       source->spec.interlaced ? GST_VIDEO_FRAME_FLAG_INTERLACED :
								 GST_VIDEO_FRAME_FLAG_NONE,
				       gst_video_format_from_string(source->format->name),
				       source->geometry.width, source->geometry.height, 1, offset,
				       stride);
}

/* *lent: the buffer has the image now, and puts it. */
static GstFlowReturn
produce_buffer(LullCameraSrc *source, struct lull_camera_image *image, GstBuffer **buffer,
	       bool *lent)
{
	*lent = source->lend && !lull_gst_session_scarce(source->current);
	if (!source->lend)
		return produce_filled(source, image, buffer);
	*buffer = *lent ? lull_gst_session_lend(source->current, image) :
			  gst_buffer_new_memdup(image->frame.data, image->frame.bytes);
	if (source->meta)
		produce_video_meta(source, *buffer);
	return GST_FLOW_OK;
}

static void
produce_annotate(LullCameraSrc *source, const struct lull_camera_image *image, GstBuffer *buffer)
{
	GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, LULL_GST_FRAME_META);
	uint64_t number = image->frame.number;

	if (meta != NULL)
		lull_gst_describe(image, gst_custom_meta_get_structure(meta));
	GST_BUFFER_PTS(buffer) = produce_time(source, image);
	GST_BUFFER_DURATION(buffer) = source->duration;
	GST_BUFFER_OFFSET(buffer) = number;
	GST_BUFFER_OFFSET_END(buffer) = number + 1;
	if (produce_partial(image))
		GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_CORRUPTED);
	if (!source->begun || number != source->number_next)
		GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
	if (source->spec.interlaced)
		GST_BUFFER_FLAG_SET(buffer,
				    GST_VIDEO_BUFFER_FLAG_INTERLACED | GST_VIDEO_BUFFER_FLAG_TFF);
	source->begun = true;
	source->number_next = number + 1;
}

/* The camera says what its pictures are like, or changes it. */
static GstFlowReturn
produce_size(LullCameraSrc *source, const struct lull_camera_image *image)
{
	const struct lull_frame_geometry *geometry = &image->frame.geometry;

	if (source->sized && lull_frame_geometry_equal(geometry, &source->geometry))
		return GST_FLOW_OK;
	if (lull_gst_format(geometry->pixel) == NULL) {
		GST_ELEMENT_ERROR(source, STREAM, FORMAT,
				  ("The camera sends pixels in a format that is not known"),
				  (NULL));
		return GST_FLOW_ERROR;
	}
	GST_OBJECT_LOCK(source);
	source->geometry = *geometry;
	source->sized = true;
	GST_OBJECT_UNLOCK(source);
	return gst_base_src_negotiate(GST_BASE_SRC(source)) ? GST_FLOW_OK : GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn
lull_gst_produce(GstPushSrc *push, GstBuffer **buffer)
{
	LullCameraSrc *source = LULL_GST_SOURCE(push);
	struct lull_camera_image *image;
	GstFlowReturn flow;
	bool lent = false;

	for (;;) {
		flow = produce_fetch(source, &image);
		if (flow != GST_FLOW_OK)
			return flow;
		if (produce_wanted(source, image))
			break;
		lull_gst_session_put(source->current, image);
	}
	flow = produce_size(source, image);
	if (flow == GST_FLOW_OK)
		flow = produce_buffer(source, image, buffer, &lent);
	if (flow == GST_FLOW_OK)
		produce_annotate(source, image, *buffer);
	if (!lent)
		lull_gst_session_put(source->current, image);
	return flow;
}
