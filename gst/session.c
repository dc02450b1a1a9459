/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include "statistics.h"

#define BUFFERS_DEFAULT 16

struct lull_gst_session {
	gatomicrefcount refs;
	GMutex lock;                    /* closing against putting and reading */
	struct lull_receiver *receiver; /* NULL: closed for good */
	guint image_count, out;         /* out: atomic */
};

static int
session_start(struct lull_gst_session *session, const struct lull_camera_stream *stream,
	      struct lull_error *error)
{
	int rc = lull_receiver_stream_add(session->receiver, stream, error);

	return rc < 0 ? rc : lull_receiver_start(session->receiver, error);
}

int
lull_gst_session_open(const struct lull_receiver_config *config,
		      const struct lull_camera_stream *stream, struct lull_gst_session **out,
		      struct lull_error *error)
{
	struct lull_gst_session *session = g_new0(struct lull_gst_session, 1);
	int rc;

	*out = NULL;
	g_atomic_ref_count_init(&session->refs);
	g_mutex_init(&session->lock);
	session->image_count = stream->buffers != 0 ? stream->buffers : BUFFERS_DEFAULT;
	rc = lull_receiver_open(config, &session->receiver, error);
	if (rc == 0)
		rc = session_start(session, stream, error);
	if (rc != 0) {
		lull_gst_session_close(session);
		return rc;
	}
	*out = session;
	return 0;
}

/* With the lock. Images that are out keep the camera; the last of them tries again. */
static void
session_close(struct lull_gst_session *session)
{
	if (lull_receiver_close(session->receiver) == 0)
		session->receiver = NULL;
}

void
lull_gst_session_close(struct lull_gst_session *session)
{
	g_mutex_lock(&session->lock);
	session_close(session);
	g_mutex_unlock(&session->lock);
	lull_gst_session_unref(session);
}

struct lull_gst_session *
lull_gst_session_ref(struct lull_gst_session *session)
{
	g_atomic_ref_count_inc(&session->refs);
	return session;
}

void
lull_gst_session_unref(struct lull_gst_session *session)
{
	if (!g_atomic_ref_count_dec(&session->refs))
		return;
	session_close(session);
	g_mutex_clear(&session->lock);
	g_free(session);
}

int
lull_gst_session_get(struct lull_gst_session *session, struct lull_camera_image **image,
		     uint64_t timeout_ns)
{
	return lull_receiver_get(session->receiver, 0, image, timeout_ns);
}

/* Under the lock: nobody closes, and so frees, the camera before this is done with it. */
void
lull_gst_session_put(struct lull_gst_session *session, struct lull_camera_image *image)
{
	g_mutex_lock(&session->lock);
	lull_receiver_put(session->receiver, image);
	g_mutex_unlock(&session->lock);
}

void
lull_gst_session_wake(struct lull_gst_session *session)
{
	g_mutex_lock(&session->lock);
	if (session->receiver != NULL)
		lull_receiver_wake(session->receiver);
	g_mutex_unlock(&session->lock);
}

/* Half of them stay: some are being received into, and a pipeline may hold what it has until more
 * comes. */
bool
lull_gst_session_scarce(struct lull_gst_session *session)
{
	return g_atomic_int_get(&session->out) >= (gint)(session->image_count / 2);
}

static void
session_take_back(gpointer address)
{
	struct lull_camera_image *image = address;
	struct lull_gst_session *session = image->user;

	g_atomic_int_add(&session->out, -1);
	lull_gst_session_put(session, image);
	lull_gst_session_unref(session);
}

GstBuffer *
lull_gst_session_lend(struct lull_gst_session *session, struct lull_camera_image *image)
{
	GstBuffer *buffer = gst_buffer_new();
	gsize bytes = image->frame.bytes;

	image->user = lull_gst_session_ref(session);
	g_atomic_int_inc(&session->out);
	gst_buffer_append_memory(buffer, gst_memory_new_wrapped(0, image->frame.data, bytes, 0,
								bytes, image, session_take_back));
	return buffer;
}

bool
lull_gst_session_stopped(struct lull_gst_session *session)
{
	struct lull_assembler_counters assembler;
	struct lull_camera_counters counters;

	return lull_receiver_counters(session->receiver, 0, &counters, &assembler) == 0 &&
	       assembler.stopped > 0;
}

GstStructure *
lull_gst_session_statistics(struct lull_gst_session *session)
{
	GstStructure *structure = NULL;

	g_mutex_lock(&session->lock);
	if (session->receiver != NULL)
		structure = lull_gst_statistics(session->receiver);
	g_mutex_unlock(&session->lock);
	return structure;
}
