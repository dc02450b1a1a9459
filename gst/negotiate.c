/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreed with the next element: format, frame rate, and whether it takes images where they lie. */
#include <string.h>

#include <gst/video/video.h>

#include "source.h"

#define FRAMERATE_ASKED 30 /* where the next element cannot do without one */

GstCaps *
lull_gst_source_caps(LullCameraSrc *source)
{
	const struct lull_gst_format *native;
	struct lull_frame_geometry geometry;
	bool sized, interlaced;
	GstCaps *caps;
	gint convert;

	GST_OBJECT_LOCK(source);
	geometry = source->geometry;
	if (source->spec.matrix != LULL_PIXEL_MATRIX_UNTOLD)
		geometry.matrix = (enum lull_pixel_matrix)source->spec.matrix;
	sized = source->sized;
	convert = source->settings.convert;
	interlaced = source->spec.interlaced;
	GST_OBJECT_UNLOCK(source);
	native = lull_gst_format(geometry.pixel);
	if (!sized || native == NULL)
		return NULL;
	caps = gst_caps_new_empty();
	if (convert != LULL_GST_CONVERT_RGB)
		gst_caps_append(caps, lull_gst_format_caps(native, &geometry, interlaced));
	if (convert == LULL_GST_CONVERT_RGB ||
	    (convert == LULL_GST_CONVERT_AUTO && geometry.pixel != LULL_PIXEL_RGB8))
		gst_caps_append(caps,
				lull_gst_format_caps(&lull_gst_format_rgb, &geometry, interlaced));
	return caps;
}

/* The first way that both can do; frames come when the camera makes them, which is 0/1. */
static GstCaps *
negotiate_choose(GstBaseSrc *base, GstCaps *possible)
{
	GstCaps *peer = gst_pad_peer_query_caps(GST_BASE_SRC_PAD(base), possible);
	GstCaps *both = gst_caps_intersect_full(possible, peer, GST_CAPS_INTERSECT_FIRST);
	GstStructure *structure;
	gint rate, per;

	gst_caps_unref(peer);
	if (gst_caps_is_empty(both))
		return both;
	both = gst_caps_truncate(gst_caps_make_writable(both));
	structure = gst_caps_get_structure(both, 0);
	if (gst_structure_has_field_typed(structure, "framerate", GST_TYPE_FRACTION_RANGE)) {
		GstStructure *copy = gst_structure_copy(structure);

		gst_structure_fixate_field_nearest_fraction(copy, "framerate", 0, 1);
		gst_structure_get_fraction(copy, "framerate", &rate, &per);
		gst_structure_free(copy);
		gst_structure_fixate_field_nearest_fraction(structure, "framerate",
							    rate == 0 ? 0 : FRAMERATE_ASKED, 1);
	}
	return gst_caps_fixate(both);
}

static void
negotiate_take(LullCameraSrc *source, const GstCaps *caps)
{
	const struct lull_gst_format *native = lull_gst_format(source->geometry.pixel);
	const GstStructure *structure = gst_caps_get_structure(caps, 0);
	gint rate = 0, per = 1;

	gst_structure_get_fraction(structure, "framerate", &rate, &per);
	source->duration =
		rate > 0 ? gst_util_uint64_scale_int(GST_SECOND, per, rate) : GST_CLOCK_TIME_NONE;
	source->format = gst_structure_has_name(structure, native->media) &&
					 g_strcmp0(gst_structure_get_string(structure, "format"),
						   native->name) == 0 ?
				 native :
				 &lull_gst_format_rgb;
	if (source->settings.convert == LULL_GST_CONVERT_RGB)
		source->format = &lull_gst_format_rgb;
	lull_gst_format_layout(source->format, source->geometry.width, source->geometry.height,
			       &source->layout);
}

/* Before the size is known there is nothing to agree on, and nothing wrong. */
gboolean
lull_gst_source_negotiate(GstBaseSrc *base)
{
	LullCameraSrc *source = LULL_GST_SOURCE(base);
	GstCaps *possible = lull_gst_source_caps(source), *chosen;
	gboolean agreed;

	if (possible == NULL)
		return TRUE;
	chosen = negotiate_choose(base, possible);
	agreed = !gst_caps_is_empty(chosen);
	if (agreed) {
		negotiate_take(source, chosen);
		agreed = gst_base_src_set_caps(base, chosen);
	} else {
		GST_ELEMENT_ERROR(source, STREAM, FORMAT,
				  ("The next element does not take pixels %s of this camera; "
				   "convert=auto gives RGB instead",
				   lull_pixel_name(source->geometry.pixel)),
				  ("possible: %" GST_PTR_FORMAT, (void *)possible));
	}
	gst_caps_unref(chosen);
	gst_caps_unref(possible);
	return agreed;
}

/* Where rows of the image begin. */
static uint32_t
negotiate_stride(const LullCameraSrc *source)
{
	struct lull_pixel_group group = lull_pixel_group(source->geometry.pixel);

	if (source->geometry.row_bytes != 0)
		return source->geometry.row_bytes;
	return (source->geometry.width + group.columns - 1) / group.columns * group.bytes;
}

/* Pictures that are written anew come from a pool of our own; images need none. */
gboolean
lull_gst_source_decide_allocation(GstBaseSrc *base, GstQuery *query)
{
	LullCameraSrc *source = LULL_GST_SOURCE(base);
	GstBufferPool *pool;

	while (gst_query_get_n_allocation_pools(query) > 0)
		gst_query_remove_nth_allocation_pool(query, 0);
	source->lend = source->meta = false;
	if (source->format != NULL && source->format->same) {
		source->meta = negotiate_stride(source) != source->layout.stride[0];
		source->lend =
			!source->meta ||
			(lull_gst_format_raw(source->format) &&
			 gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL));
	}
	if (source->format != NULL && !source->lend) {
		pool = gst_buffer_pool_new();
		gst_query_add_allocation_pool(query, pool, (guint)source->layout.size, 2, 0);
		gst_object_unref(pool);
	}
	return GST_BASE_SRC_CLASS(g_type_class_peek_parent(GST_BASE_SRC_GET_CLASS(base)))
		->decide_allocation(base, query);
}
