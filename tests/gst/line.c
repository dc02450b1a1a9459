/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

static void
line_take(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer user)
{
	struct line *line = user;

	(void)sink;
	g_mutex_lock(&line->lock);
	if (!line->drop && line->count < LINE_BUFFERS_MAX) {
		line->buffers[line->count] = gst_buffer_ref(buffer);
		line->caps[line->count] = gst_pad_get_current_caps(pad);
	}
	line->count++;
	g_cond_broadcast(&line->changed);
	while (line->held)
		g_cond_wait(&line->changed, &line->lock);
	g_mutex_unlock(&line->lock);
}

/* Of all messages the element's own are kept; who waits for another one would drop them. */
static GstBusSyncReply
line_hear(GstBus *bus, GstMessage *message, gpointer user)
{
	struct line *line = user;

	(void)bus;
	if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT)
		return GST_BUS_PASS;
	g_mutex_lock(&line->lock);
	if (line->message_count < LINE_BUFFERS_MAX)
		line->messages[line->message_count++] = gst_message_ref(message);
	g_mutex_unlock(&line->lock);
	return GST_BUS_PASS;
}

int
line_init(void **state)
{
	(void)state;
	gst_init(NULL, NULL);
	return 0;
}

void
line_open(struct line *line, const char *properties, const char *rest)
{
	gchar *text =
		g_strdup_printf("lullcamerasrc name=source %s ! %s%sfakesink name=sink "
				"signal-handoffs=true sync=false",
				properties, rest != NULL ? rest : "", rest != NULL ? " ! " : "");
	GError *error = NULL;
	GstElement *sink;
	GstBus *bus;

	memset(line, 0, sizeof(*line));
	g_mutex_init(&line->lock);
	g_cond_init(&line->changed);
	line->pipeline = gst_parse_launch(text, &error);
	if (error != NULL)
		fail_msg("%s: %s", text, error->message);
	g_free(text);
	line->source = gst_bin_get_by_name(GST_BIN(line->pipeline), "source");
	sink = gst_bin_get_by_name(GST_BIN(line->pipeline), "sink");
	g_signal_connect(sink, "handoff", G_CALLBACK(line_take), line);
	gst_object_unref(sink);
	bus = gst_element_get_bus(line->pipeline);
	gst_bus_set_sync_handler(bus, line_hear, line, NULL);
	gst_object_unref(bus);
}

void
line_open_stream(struct line *line, const char *backend, const struct sender *sender, uint16_t port,
		 const char *more, const char *rest)
{
	const struct lull_frame_geometry *geometry = &sender->plan.format.geometry;
	gchar *properties = g_strdup_printf(
		"backend=%s unchecked=true "
		"stream=protocol=%s,port=%u,width=%u,height=%u,pixel=%s%s%s",
		backend, sender->writer->name, port, geometry->width, geometry->height,
		lull_pixel_name(geometry->pixel), more[0] != '\0' ? "," : "", more);

	line_open(line, properties, rest);
	g_free(properties);
}

void
line_drop(struct line *line)
{
	for (guint i = 0; i < LINE_BUFFERS_MAX; i++) {
		gst_clear_buffer(&line->buffers[i]);
		gst_clear_caps(&line->caps[i]);
		gst_clear_message(&line->messages[i]);
	}
}

void
line_close(struct line *line)
{
	assert_int_equal(gst_element_set_state(line->pipeline, GST_STATE_NULL),
			 GST_STATE_CHANGE_SUCCESS);
	gst_object_unref(line->source);
	gst_object_unref(line->pipeline);
	g_mutex_clear(&line->lock);
	g_cond_clear(&line->changed);
}

void
line_set(struct line *line, GstState state)
{
	/* sinks get there with the first buffer */
	if (gst_element_set_state(line->pipeline, state) == GST_STATE_CHANGE_FAILURE)
		fail_msg("no way to state %s: %s", gst_element_state_get_name(state),
			 line_error(line));
}

void
line_wait(struct line *line, guint count)
{
	gint64 end_us = g_get_monotonic_time() + (gint64)(LINE_WAIT_NS / 1000);
	bool came = true;

	g_mutex_lock(&line->lock);
	while (line->count < count && came)
		came = g_cond_wait_until(&line->changed, &line->lock, end_us);
	g_mutex_unlock(&line->lock);
	if (!came)
		fail_msg("%u of %u buffers", line->count, count);
}

void
line_hold(struct line *line, bool held)
{
	g_mutex_lock(&line->lock);
	line->held = held;
	g_cond_broadcast(&line->changed);
	g_mutex_unlock(&line->lock);
}

static GstMessage *
line_message(struct line *line, GstMessageType types)
{
	GstBus *bus = gst_element_get_bus(line->pipeline);
	GstMessage *message = gst_bus_timed_pop_filtered(bus, LINE_WAIT_NS, types);

	gst_object_unref(bus);
	if (message == NULL)
		fail_msg("no end");
	return message;
}

static char *
line_sentence(GstMessage *message)
{
	GError *error = NULL;
	char *text;

	gst_message_parse_error(message, &error, NULL);
	text = g_strdup(error->message);
	g_error_free(error);
	gst_message_unref(message);
	return text;
}

char *
line_error(struct line *line)
{
	return line_sentence(line_message(line, GST_MESSAGE_ERROR));
}

void
line_finish(struct line *line)
{
	GstMessage *message = line_message(line, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

	if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
		fail_msg("%s", line_sentence(message));
	gst_message_unref(message);
}

uint64_t
line_figure(struct line *line, const char *part, const char *name)
{
	GstStructure *statistics = NULL, *within = NULL;
	guint64 value = 0;

	g_object_get(line->source, "statistics", &statistics, NULL);
	assert_non_null(statistics);
	if (part != NULL)
		assert_true(gst_structure_get(statistics, part, GST_TYPE_STRUCTURE, &within, NULL));
	assert_true(gst_structure_get_uint64(part != NULL ? within : statistics, name, &value));
	if (within != NULL)
		gst_structure_free(within);
	gst_structure_free(statistics);
	return value;
}

const GstStructure *
line_frame_structure(GstBuffer *buffer)
{
	GstCustomMeta *meta = gst_buffer_get_custom_meta(buffer, "LullFrame");

	assert_non_null(meta);
	return gst_custom_meta_get_structure(meta);
}

uint64_t
line_frame(GstBuffer *buffer, const char *name)
{
	guint64 value = 0;

	assert_true(gst_structure_get_uint64(line_frame_structure(buffer), name, &value));
	return value;
}

uint32_t
line_missing(const GstStructure *frame, struct lull_frame_span *spans, uint32_t max)
{
	const GValue *list = gst_structure_get_value(frame, "missing");
	guint numbers;

	assert_non_null(list);
	numbers = gst_value_array_get_size(list);
	assert_int_equal(numbers % 2, 0);
	assert_true(numbers / 2 <= max);
	for (guint i = 0; i < numbers; i += 2) {
		spans[i / 2].offset = g_value_get_uint64(gst_value_array_get_value(list, i));
		spans[i / 2].bytes = g_value_get_uint64(gst_value_array_get_value(list, i + 1));
	}
	return numbers / 2;
}

void
line_check_bytes(GstBuffer *buffer, uint64_t number, uint64_t bytes)
{
	struct lull_frame_span spans[16];
	uint32_t count = line_missing(line_frame_structure(buffer), spans, COUNT(spans)), hole = 0;
	GstMapInfo map;

	assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
	assert_int_equal(map.size, bytes);
	for (uint64_t i = 0; i < bytes; i++) {
		if (hole < count && i == spans[hole].offset) {
			i += spans[hole++].bytes - 1;
			continue;
		}
		if (map.data[i] != sender_byte(number, i))
			fail_msg("frame %llu: byte %llu is %u", (unsigned long long)number,
				 (unsigned long long)i, map.data[i]);
	}
	gst_buffer_unmap(buffer, &map);
}
