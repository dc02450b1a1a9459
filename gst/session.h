/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Session: one camera from start to stop, and the buffers that hold its images.
 *
 * A buffer lent to the pipeline is the memory the image was received into. It goes back when its
 * last reference does, wherever that is; a session that was closed meanwhile ends with the last.
 * Threads: open, get and close from one at a time; everything else, and the end of a buffer, from
 *          any.
 * Memory:  counted references: the element's and one per buffer.
 */
#ifndef LULL_GST_SESSION_H
#define LULL_GST_SESSION_H

#include <gst/gst.h>

#include <lull/camera.h>

struct lull_gst_session; /* opaque */

/** Open, add the stream, start. 0, or -errno and the sentence. */
int lull_gst_session_open(const struct lull_receiver_config *config,
			  const struct lull_camera_stream *stream,
			  struct lull_gst_session **session, struct lull_error *error);
/** Stop receiving, and give up the reference of who opened it. */
void lull_gst_session_close(struct lull_gst_session *session);
struct lull_gst_session *lull_gst_session_ref(struct lull_gst_session *session);
void lull_gst_session_unref(struct lull_gst_session *session);

/** As lull_receiver_get(); between open and close. */
int lull_gst_session_get(struct lull_gst_session *session, struct lull_camera_image **image,
			 uint64_t timeout_ns);
void lull_gst_session_put(struct lull_gst_session *session, struct lull_camera_image *image);
void lull_gst_session_wake(struct lull_gst_session *session);

/** Are so many images out already that the next one had better be copied? */
bool lull_gst_session_scarce(struct lull_gst_session *session);
/** A buffer around the image, which is put when the buffer ends. */
GstBuffer *lull_gst_session_lend(struct lull_gst_session *session, struct lull_camera_image *image);

/** Has the stream stopped for want of buffers (policy=fail-stop)? */
bool lull_gst_session_stopped(struct lull_gst_session *session);
/** Counters and latencies; NULL when it is closed. */
GstStructure *lull_gst_session_statistics(struct lull_gst_session *session);

#endif
