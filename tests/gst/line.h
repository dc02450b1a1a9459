/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Line: a pipeline from the element to a sink that keeps what arrives.
 */
#ifndef LULL_TEST_GST_LINE_H
#define LULL_TEST_GST_LINE_H

#include "camera/stand.h"

#include <gst/gst.h>

#define LINE_BUFFERS_MAX 512
#define LINE_WAIT_NS (20 * GST_SECOND) /* generous: the machine may be busy */

struct line {
	GstElement *pipeline, *source;
	GMutex lock;
	GCond changed;
	GstBuffer *buffers[LINE_BUFFERS_MAX];
	GstCaps *caps[LINE_BUFFERS_MAX];
	GstMessage *messages[LINE_BUFFERS_MAX]; /* of the element */
	guint count, message_count;
	bool drop; /* count only */
	bool held; /* the sink takes nothing more for now */
};

/** Fixture of the whole program: start GStreamer. */
int line_init(void **state);
/** "lullcamerasrc @p properties ! @p rest ! sink"; @p rest NULL: nothing between. */
void line_open(struct line *line, const char *properties, const char *rest);
/** Properties for a stream of @p sender that comes from @p backend; @p more may be "". */
void line_open_stream(struct line *line, const char *backend, const struct sender *sender,
		      uint16_t port, const char *more, const char *rest);
void line_close(struct line *line);
/** Buffers and messages stay until then, also when the line has been closed. */
void line_drop(struct line *line);

void line_set(struct line *line, GstState state);
/** Until so many buffers arrived. */
void line_wait(struct line *line, guint count);
/** Until the end; fails the test on an error. */
void line_finish(struct line *line);
/** The sentence of the error that must come; the caller frees it. */
char *line_error(struct line *line);
/** The sink blocks, or goes on. */
void line_hold(struct line *line, bool held);

/** A number of the statistics property, or of the structure @p part within. */
uint64_t line_figure(struct line *line, const char *part, const char *name);
/** A number of what is known of a buffer's frame. */
uint64_t line_frame(GstBuffer *buffer, const char *name);
/** What is missing of a buffer: two numbers per hole; returns how many holes. */
uint32_t line_missing(const GstStructure *frame, struct lull_frame_span *spans, uint32_t max);
const GstStructure *line_frame_structure(GstBuffer *buffer);
/** Every byte that is not missing is that of picture @p number, rows without padding. */
void line_check_bytes(GstBuffer *buffer, uint64_t number, uint64_t bytes);

#endif
