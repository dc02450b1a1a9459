/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include <string.h>

#include <lull/rest.h>

#include "statistics.h"

/* How long a frame may wait for its last packets where the stream does not say. */
#define LATENCY_NS (20 * LULL_NS_PER_MS)

G_DEFINE_FINAL_TYPE(LullCameraSrc, lull_gst_source, GST_TYPE_PUSH_SRC)

/* ---- properties ---- */

static struct lull_gst_session *
source_session(LullCameraSrc *source)
{
	struct lull_gst_session *session = NULL;

	GST_OBJECT_LOCK(source);
	if (source->session != NULL)
		session = lull_gst_session_ref(source->session);
	GST_OBJECT_UNLOCK(source);
	return session;
}

/* Of now, or of the last run. */
static GstStructure *
source_statistics(LullCameraSrc *source)
{
	struct lull_gst_session *session = source_session(source);
	GstStructure *statistics = NULL;

	if (session != NULL) {
		statistics = lull_gst_session_statistics(session);
		lull_gst_session_unref(session);
	}
	GST_OBJECT_LOCK(source);
	if (statistics == NULL)
		statistics = source->statistics != NULL ?
				     gst_structure_copy(source->statistics) :
				     gst_structure_new_empty(LULL_GST_STATISTICS);
	gst_structure_set(statistics, "dropped", G_TYPE_UINT64, source->dropped, NULL);
	GST_OBJECT_UNLOCK(source);
	return statistics;
}

static void
source_set_property(GObject *object, guint property, const GValue *value, GParamSpec *spec)
{
	LullCameraSrc *source = LULL_GST_SOURCE(object);
	bool known, file;

	GST_OBJECT_LOCK(source);
	known = lull_gst_settings_set(&source->settings, property, value);
	file = lull_gst_settings_file(&source->settings);
	GST_OBJECT_UNLOCK(source);
	if (!known)
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, spec);
	if (property == LULL_GST_BACKEND)
		gst_base_src_set_live(GST_BASE_SRC(source), !file);
}

static void
source_get_property(GObject *object, guint property, GValue *value, GParamSpec *spec)
{
	LullCameraSrc *source = LULL_GST_SOURCE(object);
	bool known;

	if (property == LULL_GST_STATISTICS_PROPERTY) {
		g_value_take_boxed(value, source_statistics(source));
		return;
	}
	GST_OBJECT_LOCK(source);
	known = lull_gst_settings_get(&source->settings, property, value);
	GST_OBJECT_UNLOCK(source);
	if (!known)
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, property, spec);
}

static void
source_finalize(GObject *object)
{
	LullCameraSrc *source = LULL_GST_SOURCE(object);

	lull_gst_settings_clear(&source->settings);
	if (source->statistics != NULL)
		gst_structure_free(source->statistics);
	G_OBJECT_CLASS(lull_gst_source_parent_class)->finalize(object);
}

/* ---- start and stop ---- */

/* With the object's lock: nothing is changed while it is read. */
static int
source_open(LullCameraSrc *source, struct lull_error *error)
{
	const struct lull_gst_settings *settings = &source->settings;
	struct lull_receiver_config config;
	struct lull_camera_stream stream;
	int rc = lull_gst_settings_spec(settings, &source->spec, error);

	if (rc == 0)
		rc = lull_gst_settings_camera(settings, &config, error);
	if (rc != 0)
		return rc;
	stream = cam_spec_stream(&source->spec);
	config.mtu = stream.mtu;
	rc = lull_gst_session_open(&config, &stream, &source->session, error);
	if (rc != 0)
		return rc;
	source->current = source->session;
	source->geometry = stream.settings.geometry;
	source->sized = source->geometry.pixel != LULL_PIXEL_UNKNOWN &&
			lull_frame_bytes(&source->geometry) > 0;
	source->live = !lull_gst_settings_file(settings);
	source->bits = settings->bits;
	source->dropped = 0;
	return 0;
}

static gboolean
source_start(GstBaseSrc *base)
{
	LullCameraSrc *source = LULL_GST_SOURCE(base);
	struct lull_error error = { .text = "" };
	int rc;

	source->begun = false;
	source->pts_last = 0;
	source->timing = (struct lull_gst_timing){ .begun = false };
	source->format = NULL;
	GST_OBJECT_LOCK(source);
	rc = source_open(source, &error);
	GST_OBJECT_UNLOCK(source);
	if (rc != 0) {
		GST_ELEMENT_ERROR(source, RESOURCE, OPEN_READ, ("%s", error.text), (NULL));
		return FALSE;
	}
	return TRUE;
}

static gboolean
source_stop(GstBaseSrc *base)
{
	LullCameraSrc *source = LULL_GST_SOURCE(base);
	GstStructure *statistics = lull_gst_session_statistics(source->current);
	struct lull_gst_session *session;

	GST_OBJECT_LOCK(source);
	session = source->session;
	source->session = NULL;
	source->current = NULL;
	source->sized = false;
	if (source->statistics != NULL)
		gst_structure_free(source->statistics);
	source->statistics = statistics;
	GST_OBJECT_UNLOCK(source);
	lull_gst_session_close(session);
	return TRUE;
}

/*
 * GStreamer 1.26.2 (Debian 13) asks for this on the way to PAUSED too. Who then ends the round
 * stands still for ever when PLAYING comes before its end. A paused source may wait for an image.
 */
static gboolean
source_unlock(GstBaseSrc *base)
{
	LullCameraSrc *source = LULL_GST_SOURCE(base);
	struct lull_gst_session *session;

	if (g_atomic_pointer_get(&source->pauser) == g_thread_self())
		return TRUE;
	session = source_session(source);
	g_atomic_int_set(&source->flushing, TRUE);
	if (session != NULL) {
		lull_gst_session_wake(session);
		lull_gst_session_unref(session);
	}
	return TRUE;
}

static gboolean
source_unlock_stop(GstBaseSrc *base)
{
	g_atomic_int_set(&LULL_GST_SOURCE(base)->flushing, FALSE);
	return TRUE;
}

/* What came while it was paused is not what the user wants to see now. */
static GstStateChangeReturn
source_change_state(GstElement *element, GstStateChange change)
{
	LullCameraSrc *source = LULL_GST_SOURCE(element);
	GstStateChangeReturn result;

	if (change == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
		__atomic_store_n(&source->resume_ns, (gint64)lull_clock_ns(), __ATOMIC_RELAXED);
	if (change == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
		g_atomic_pointer_set(&source->pauser, g_thread_self());
	result = GST_ELEMENT_CLASS(lull_gst_source_parent_class)->change_state(element, change);
	g_atomic_pointer_set(&source->pauser, NULL);
	return result;
}

/* ---- questions ---- */

static GstCaps *
source_get_caps(GstBaseSrc *base, GstCaps *filter)
{
	GstCaps *caps = lull_gst_source_caps(LULL_GST_SOURCE(base)), *both;

	if (caps == NULL)
		caps = gst_pad_get_pad_template_caps(GST_BASE_SRC_PAD(base));
	if (filter == NULL)
		return caps;
	both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
	gst_caps_unref(caps);
	return both;
}

/* Stamps are those of the last packet; a partial frame waits for packets that do not come. */
static gboolean
source_query(GstBaseSrc *base, GstQuery *query)
{
	LullCameraSrc *source = LULL_GST_SOURCE(base);
	GstClockTime latency = LATENCY_NS;

	if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY || !gst_base_src_is_live(base))
		return GST_BASE_SRC_CLASS(lull_gst_source_parent_class)->query(base, query);
	GST_OBJECT_LOCK(source);
	if (source->session != NULL && source->spec.deadline_ns != 0)
		latency = source->spec.deadline_ns;
	GST_OBJECT_UNLOCK(source);
	gst_query_set_latency(query, TRUE, latency, GST_CLOCK_TIME_NONE);
	return TRUE;
}

/* ---- the class ---- */

static void
source_class_pad(GstElementClass *class)
{
	GstCaps *caps = lull_gst_format_all();

	gst_element_class_add_pad_template(
		class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
	gst_caps_unref(caps);
}

static void
lull_gst_source_class_init(LullCameraSrcClass *class)
{
	GObjectClass *object = G_OBJECT_CLASS(class);
	GstElementClass *element = GST_ELEMENT_CLASS(class);
	GstBaseSrcClass *base = GST_BASE_SRC_CLASS(class);

	object->set_property = source_set_property;
	object->get_property = source_get_property;
	object->finalize = source_finalize;
	lull_gst_settings_install(object);
	g_object_class_install_property(
		object, LULL_GST_STATISTICS_PROPERTY,
		g_param_spec_boxed("statistics", "Statistics",
				   "Frames, latencies and all counters, of now or of the last run",
				   GST_TYPE_STRUCTURE,
				   (GParamFlags)(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
	gst_element_class_set_static_metadata(
		element, "Camera over Ethernet", "Source/Video/Network",
		"Images from RFC 4175, GigE Vision, ASAM CMP and IEEE 1722 streams, over sockets, "
		"DPDK or captures",
		"lull");
	source_class_pad(element);
	element->change_state = source_change_state;
	base->start = source_start;
	base->stop = source_stop;
	base->unlock = source_unlock;
	base->unlock_stop = source_unlock_stop;
	base->get_caps = source_get_caps;
	base->query = source_query;
	base->negotiate = lull_gst_source_negotiate;
	base->decide_allocation = lull_gst_source_decide_allocation;
	GST_PUSH_SRC_CLASS(class)->create = lull_gst_produce;
}

static void
lull_gst_source_init(LullCameraSrc *source)
{
	lull_gst_settings_init(&source->settings);
	gst_base_src_set_live(GST_BASE_SRC(source), TRUE);
	gst_base_src_set_format(GST_BASE_SRC(source), GST_FORMAT_TIME);
}
