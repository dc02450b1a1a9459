/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Source: the element lullcamerasrc.
 *
 * Threads: GstBaseSrc's: the application's, and the streaming thread between start and stop.
 * Memory:  a GObject.
 */
#ifndef LULL_GST_SOURCE_H
#define LULL_GST_SOURCE_H

#include <gst/base/gstpushsrc.h>

#include "format.h"
#include "session.h"
#include "settings.h"
#include "timing.h"

G_DECLARE_FINAL_TYPE(LullCameraSrc, lull_gst_source, LULL_GST, SOURCE, GstPushSrc)

struct _LullCameraSrc {
	GstPushSrc parent;

	/* under the object's lock */
	struct lull_gst_settings settings;
	struct lull_gst_session *session; /* between start and stop */
	GstStructure *statistics;         /* of the last session, once it has ended */
	struct lull_frame_geometry geometry;
	bool sized; /* geometry is known */
	guint64 dropped;

	gint flushing;    /* atomic */
	gint64 resume_ns; /* atomic: images older than this were not asked for */
	GThread *pauser;  /* atomic: on the way to PAUSED */

	/* between start and stop, for the streaming thread */
	struct lull_gst_session *current; /* the session, without the lock */
	struct cam_spec spec;
	bool live;
	uint64_t number_next; /* of the frame that follows the last one */
	uint64_t file_first_ns;
	bool begun; /* a frame has been given */
	GstClockTime pts_last, duration;
	struct lull_gst_timing timing;

	/* agreed with the next element */
	const struct lull_gst_format *format;
	struct lull_gst_layout layout;
	bool lend;  /* buffers are the images */
	bool meta;  /* and need a GstVideoMeta */
	guint bits; /* of the settings */
};

/** The next buffer; waits for it. */
GstFlowReturn lull_gst_produce(GstPushSrc *push, GstBuffer **buffer);

/** What the pictures could be given as, best first; NULL: their size is not known. */
GstCaps *lull_gst_source_caps(LullCameraSrc *source);
/** GstBaseSrc's, to agree with the next element. */
gboolean lull_gst_source_negotiate(GstBaseSrc *base);
gboolean lull_gst_source_decide_allocation(GstBaseSrc *base, GstQuery *query);

#endif
