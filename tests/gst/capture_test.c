/* SPDX-License-Identifier: BSD-3-Clause */
/* The element on captures that are written here. */
#include <stdlib.h>

#include <gst/video/video.h>

#include "line.h"

#define PORT 5004
#define FRAME_NS (33 * LULL_NS_PER_MS)
#define WIDTH 64
#define HEIGHT 60
#define LOST_PACKET 2

/* ---- captures ---- */

struct stage {
	struct sender sender;
	struct recording recording;
	gchar *backend;
};

static void
stage_open(struct stage *stage, const char *protocol, enum lull_pixel pixel, uint32_t width,
	   uint32_t height)
{
	sender_init(&stage->sender, protocol, pixel, width, height);
	recording_open(&stage->recording);
	stage->backend = g_strdup_printf("pcap:%s", stage->recording.path);
}

/* Frames 1 .. count; of every tenth from the fourth on packets are lost. */
static void
stage_record(struct stage *stage, uint64_t count, bool (*lost)(uint32_t index))
{
	for (uint64_t number = 1; number <= count; number++)
		recording_frame(&stage->recording, &stage->sender, PORT, number,
				number % 10 == 4 ? lost : NULL);
	recording_close(&stage->recording);
}

static void
stage_close(struct stage *stage)
{
	recording_remove(&stage->recording);
	sender_free(&stage->sender);
	g_free(stage->backend);
}

static bool
loses_one(uint32_t index)
{
	return index == LOST_PACKET;
}

static struct lull_frame_span
lost_span(struct stage *stage)
{
	struct lull_packet_frame frame = sender_frame(&stage->sender, 1);
	struct lull_frame_fragment fragment;
	uint64_t state[512] = { 0 };
	const struct lull_frame_protocol *protocol = lull_frame_protocol_find("rfc4175");
	const struct lull_frame_protocol_config config = {
		.geometry = stage->sender.plan.format.geometry,
	};
	struct lull_frame_span span = { .bytes = 0 };
	size_t size = sender_packet(&stage->sender, &frame, LOST_PACKET);

	assert_true(protocol->state_size <= sizeof(state));
	assert_int_equal(protocol->init(state, &config), 0);
	assert_int_equal(protocol->parse(state, stage->sender.packet, size, &fragment),
			 LULL_FRAME_FRAGMENT);
	span.offset = fragment.ranges[0].offset;
	for (uint32_t i = 0; i < fragment.range_count; i++)
		span.bytes += fragment.ranges[i].bytes;
	return span;
}

/* ---- tests ---- */

/* Each is about a frame that is not whole. */
static void
check_messages(struct line *line, struct lull_frame_span lost)
{
	for (guint i = 0; i < line->message_count; i++) {
		const GstStructure *frame = gst_message_get_structure(line->messages[i]);
		struct lull_frame_span spans[4];
		guint64 number;

		assert_true(gst_structure_has_name(frame, "lull-frame"));
		assert_string_not_equal(gst_structure_get_string(frame, "reason"), "complete");
		assert_true(gst_structure_get_uint64(frame, "number", &number));
		assert_int_equal(number % 10, 3);
		assert_int_equal(line_missing(frame, spans, COUNT(spans)), 1);
		assert_int_equal(spans[0].offset, lost.offset);
		assert_int_equal(spans[0].bytes, lost.bytes);
	}
}

TEST(partial__is_flagged_and_told)
{
	struct stage stage;
	struct line line;
	struct lull_frame_span lost;

	stage_open(&stage, "rfc4175", LULL_PIXEL_RGB8, WIDTH, HEIGHT);
	stage_record(&stage, 40, loses_one);
	lost = lost_span(&stage);
	line_open_stream(&line, stage.backend, &stage.sender, PORT, "", NULL);
	line_set(&line, GST_STATE_PLAYING);
	line_finish(&line);
	assert_int_equal(line.count, 40);
	for (guint i = 0; i < line.count; i++) {
		GstBuffer *buffer = line.buffers[i];
		bool partial = i % 10 == 3;

		assert_int_equal(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED),
				 partial);
		assert_int_equal(GST_BUFFER_OFFSET(buffer), i);
		assert_int_equal(line_frame(buffer, "number"), i);
		assert_int_equal(line_frame(buffer, "bytes") - line_frame(buffer, "bytes-there"),
				 partial ? lost.bytes : 0);
		line_check_bytes(buffer, i + 1, stage.sender.picture_bytes);
	}
	assert_int_equal(line.message_count, 4);
	check_messages(&line, lost);
	assert_int_equal(line_figure(&line, NULL, "frames"), 40);
	assert_int_equal(line_figure(&line, NULL, "partial"), 4);
	line_drop(&line);
	line_close(&line);
	stage_close(&stage);
}

TEST(partial__is_dropped)
{
	struct stage stage;
	struct line line;

	stage_open(&stage, "rfc4175", LULL_PIXEL_UYVY8, WIDTH, HEIGHT);
	stage_record(&stage, 20, loses_one);
	line_open_stream(&line, stage.backend, &stage.sender, PORT, "", NULL);
	g_object_set(line.source, "drop-partial", TRUE, "post-messages", FALSE, NULL);
	line_set(&line, GST_STATE_PLAYING);
	line_finish(&line);
	assert_int_equal(line.count, 18);
	for (guint i = 0; i < line.count; i++) {
		GstBuffer *buffer = line.buffers[i];
		bool gap = i == 0 || GST_BUFFER_OFFSET(buffer) % 10 == 4;

		assert_int_equal(GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT), gap);
		line_check_bytes(buffer, GST_BUFFER_OFFSET(buffer) + 1, stage.sender.picture_bytes);
	}
	assert_int_equal(line.message_count, 0);
	line_set(&line, GST_STATE_READY);
	/* of the run that has ended */
	assert_int_equal(line_figure(&line, NULL, "dropped"), 2);
	assert_int_equal(line_figure(&line, "assembler", "used"), 20 * stage.sender.plan.count - 2);
	line_drop(&line);
	line_close(&line);
	stage_close(&stage);
}

/* A capture plays with the distances it was recorded with, from 0. */
TEST(times__of_the_capture)
{
	struct stage stage;
	struct line line;

	stage_open(&stage, "gvsp", LULL_PIXEL_MONO8, WIDTH, HEIGHT);
	stage_record(&stage, 10, NULL);
	for (guint device = 0; device < 2; device++) {
		line_open_stream(&line, stage.backend, &stage.sender, PORT, "",
				 "capsfilter caps=video/x-raw,framerate=25/1");
		gst_util_set_object_arg(G_OBJECT(line.source), "timestamps",
					device ? "device" : "arrival");
		line_set(&line, GST_STATE_PLAYING);
		line_finish(&line);
		assert_int_equal(line.count, 10);
		for (guint i = 0; i < line.count; i++) {
			assert_int_equal(GST_BUFFER_PTS(line.buffers[i]), i * FRAME_NS);
			assert_int_equal(GST_BUFFER_DURATION(line.buffers[i]), GST_SECOND / 25);
		}
		line_drop(&line);
		line_close(&line);
	}
	stage_close(&stage);
}

/* More than there are images: some lie where they were received, the others are copies. */
TEST(buffers__outlive_the_element)
{
	static struct line line, again;
	struct stage stage;

	stage_open(&stage, "rfc4175", LULL_PIXEL_RGB8, WIDTH, HEIGHT);
	stage_record(&stage, 100, NULL);
	line_open_stream(&line, stage.backend, &stage.sender, PORT, "buffers=8", NULL);
	line_set(&line, GST_STATE_PLAYING);
	line_finish(&line);
	assert_int_equal(line.count, 100);
	assert_int_equal(line_figure(&line, "stream", "fetched"), 100);
	assert_int_equal(line_figure(&line, "stream", "put"), 96);
	line_close(&line);
	/* beside the camera that has not gone yet */
	line_open_stream(&again, stage.backend, &stage.sender, PORT, "buffers=8", NULL);
	again.drop = true;
	line_set(&again, GST_STATE_PLAYING);
	line_finish(&again);
	assert_int_equal(again.count, 100);
	line_close(&again);
	for (guint i = 0; i < 100; i++)
		line_check_bytes(line.buffers[i], i + 1, stage.sender.picture_bytes);
	line_drop(&line);
	stage_close(&stage);
}

TEST(queue__longer_than_the_pool)
{
	struct stage stage;
	struct line line;

	stage_open(&stage, "rfc4175", LULL_PIXEL_RGB8, WIDTH, HEIGHT);
	stage_record(&stage, 100, NULL);
	line_open_stream(&line, stage.backend, &stage.sender, PORT, "buffers=4",
			 "queue min-threshold-buffers=50 max-size-buffers=80 max-size-bytes=0 "
			 "max-size-time=0");
	line.drop = true;
	line_set(&line, GST_STATE_PLAYING);
	line_finish(&line);
	assert_int_equal(line.count, 100);
	line_close(&line);
	stage_close(&stage);
}

/* Rows of 189 bytes where GStreamer would have 192: lent with a GstVideoMeta, to who knows it. */
static GstPadProbeReturn
has_video_meta(GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
	const GstVideoMeta *meta = gst_buffer_get_video_meta(GST_PAD_PROBE_INFO_BUFFER(info));
	guint *seen = user;

	(void)pad;
	*seen += meta != NULL && meta->stride[0] == 3 * (WIDTH - 1);
	return GST_PAD_PROBE_OK;
}

/* Pixels of three bytes each, or the same the other way round. */
static void
check_row(const guint8 *row, uint64_t number, guint y, bool reversed)
{
	for (guint i = 0; i < 3 * (WIDTH - 1); i++) {
		guint channel = reversed ? 2 - i % 3 : i % 3;

		assert_int_equal(row[i],
				 sender_byte(number, 3 * ((WIDTH - 1) * y + i / 3) + channel));
	}
}

TEST(rows__padded_otherwise)
{
	static const char *const rests[] = { NULL, "videoconvert ! video/x-raw,format=BGR" };
	struct stage stage;
	struct line line;

	stage_open(&stage, "rfc4175", LULL_PIXEL_RGB8, WIDTH - 1, HEIGHT);
	stage_record(&stage, 5, NULL);
	for (guint way = 0; way < COUNT(rests); way++) {
		guint seen = 0;
		GstPad *pad;

		line_open_stream(&line, stage.backend, &stage.sender, PORT, "", rests[way]);
		pad = gst_element_get_static_pad(line.source, "src");
		gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, has_video_meta, &seen, NULL);
		gst_object_unref(pad);
		line_set(&line, GST_STATE_PLAYING);
		line_finish(&line);
		assert_int_equal(seen, way == 1 ? 5 : 0);
		for (guint i = 0; i < 5; i++) {
			GstMapInfo map;

			assert_true(gst_buffer_map(line.buffers[i], &map, GST_MAP_READ));
			assert_int_equal(map.size, 3 * WIDTH * HEIGHT);
			for (guint y = 0; y < HEIGHT; y++)
				check_row(map.data + 3 * WIDTH * y, i + 1, y, way == 1);
			gst_buffer_unmap(line.buffers[i], &map);
		}
		line_drop(&line);
		line_close(&line);
	}
	stage_close(&stage);
}

/* GVSP says itself what comes, and may change it. */
TEST(size__is_learned_and_changes)
{
	struct stage stage;
	struct sender other;
	gchar *properties;
	struct line line;

	stage_open(&stage, "gvsp", LULL_PIXEL_BAYER_RG12P, WIDTH, HEIGHT);
	sender_init(&other, "gvsp", LULL_PIXEL_MONO8, WIDTH / 2, HEIGHT / 2);
	for (uint64_t number = 1; number <= 10; number++)
		recording_frame(&stage.recording, number <= 5 ? &stage.sender : &other, PORT,
				number, NULL);
	recording_close(&stage.recording);
	properties =
		g_strdup_printf("backend=%s stream=protocol=gvsp,port=%u", stage.backend, PORT);
	line_open(&line, properties, NULL);
	g_free(properties);
	line_set(&line, GST_STATE_PLAYING);
	line_finish(&line);
	assert_int_equal(line.count, 10);
	for (guint i = 0; i < 10; i++) {
		GstStructure *caps = gst_caps_get_structure(line.caps[i], 0);
		const char *format = gst_structure_get_string(caps, "format");

		assert_true(gst_structure_has_name(caps, i < 5 ? "video/x-bayer" : "video/x-raw"));
		assert_string_equal(format, i < 5 ? "rggb12le" : "GRAY8");
		assert_int_equal(gst_buffer_get_size(line.buffers[i]),
				 i < 5 ? 2 * WIDTH * HEIGHT : WIDTH * HEIGHT / 4);
	}
	line_drop(&line);
	line_close(&line);
	sender_free(&other);
	stage_close(&stage);
}

/* Where the next element knows no Bayer pixels: RGB, unless it was forbidden. */
TEST(convert__as_asked)
{
	static const struct {
		const char *convert, *rest, *format;
	} cases[] = {
		{ "auto", NULL, "rggb" },
		{ "auto", "videoconvert", "RGB" },
		{ "rgb", NULL, "RGB" },
		{ "none", "videoconvert", NULL },
	};
	struct stage stage;
	struct line line;

	stage_open(&stage, "gvsp", LULL_PIXEL_BAYER_RG8, WIDTH, HEIGHT);
	stage_record(&stage, 3, NULL);
	for (guint i = 0; i < COUNT(cases); i++) {
		line_open_stream(&line, stage.backend, &stage.sender, PORT, "", cases[i].rest);
		gst_util_set_object_arg(G_OBJECT(line.source), "convert", cases[i].convert);
		if (cases[i].format == NULL) {
			char *said;

			gst_element_set_state(line.pipeline, GST_STATE_PLAYING);
			said = line_error(&line);
			assert_non_null(strstr(said, "bayer-rg8"));
			g_free(said);
		} else {
			line_set(&line, GST_STATE_PLAYING);
			line_finish(&line);
			assert_int_equal(line.count, 3);
			assert_string_equal(
				gst_structure_get_string(gst_caps_get_structure(line.caps[0], 0),
							 "format"),
				cases[i].format);
		}
		line_drop(&line);
		line_close(&line);
	}
	stage_close(&stage);
}

TEST(start__says_what_is_wrong)
{
	static const struct {
		const char *properties, *sentence;
	} cases[] = {
		{ "", "no back end" },
		{ "backend=kernel:lo", "no camera" },
		{ "backend=kernel:lo stream=port=5", "protocol: missing" },
		{ "backend=kernel:lo stream=protocol=gvsp,pixe=5", "pixel" },
		{ "backend=kernel:none9 stream=protocol=gvsp,port=5004", "none9" },
		{ "backend=pcap:/none stream=protocol=gvsp,port=5004", "/none" },
		{ "backend=ether:lo stream=protocol=gvsp,port=5004", "kernel:IF" },
		{ "backend=kernel:lo stream=protocol=rfc4175,port=5004",
		  "width, height and pixel" },
		{ "backend=kernel:lo stream=protocol=gvsp,port=5004 governor=lazy",
		  "governor: 'lazy'" },
		{ "backend=kernel:lo stream=protocol=gvsp,port=5004 percentile=30",
		  "percentile: 30" },
	};

	for (guint i = 0; i < COUNT(cases); i++) {
		struct line line;
		char *said;

		line_open(&line, cases[i].properties, NULL);
		assert_int_equal(gst_element_set_state(line.pipeline, GST_STATE_PAUSED),
				 GST_STATE_CHANGE_FAILURE);
		said = line_error(&line);
		if (strstr(said, cases[i].sentence) == NULL)
			fail_msg("%s: %s", cases[i].properties, said);
		g_free(said);
		line_close(&line);
	}
}

/* Numbers of ns and texts, their defaults too, as rows of options say. */
TEST(resting__is_told_and_read_back)
{
	GstElement *element = gst_element_factory_make("lullcamerasrc", NULL);
	gchar *governor, *percentile;
	guint64 latency_ns;

	assert_non_null(element);
	g_object_get(element, "governor", &governor, "percentile", &percentile, "max-latency",
		     &latency_ns, NULL);
	assert_string_equal(governor, "phase");
	assert_string_equal(percentile, "99");
	assert_int_equal(latency_ns, 200 * LULL_NS_PER_US);
	g_free(governor);
	g_free(percentile);
	g_object_set(element, "max-latency", (guint64)1234567, "percentile", "99.9", NULL);
	g_object_get(element, "percentile", &percentile, "max-latency", &latency_ns, NULL);
	assert_string_equal(percentile, "99.9");
	assert_int_equal(latency_ns, 1234567);
	g_free(percentile);
	gst_object_unref(element);
}

TEST_GROUP(line_init, NULL);
