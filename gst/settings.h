/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: the properties of the element.
 *
 * Threads: the caller holds the element's lock.
 * Memory:  texts belong to the struct; clear frees them.
 */
#ifndef LULL_GST_SETTINGS_H
#define LULL_GST_SETTINGS_H

#include <gst/gst.h>

#include <lull/camera.h>

#include "camera/spec.h"
#include "resting.h"

/** What becomes of pixels. */
enum lull_gst_convert {
	LULL_GST_CONVERT_AUTO, /* as they are if the next element takes them, else RGB */
	LULL_GST_CONVERT_NONE,
	LULL_GST_CONVERT_RGB
};
/** Where time stamps come from. */
enum lull_gst_times { LULL_GST_TIMES_ARRIVAL, LULL_GST_TIMES_DEVICE };

struct lull_gst_settings {
	char *backend, *stream, *control, *eal;
	gint cpu; /* -1: any */
	struct lull_gst_resting resting;
	guint64 device_rate;
	gboolean unchecked, drop_partial, messages;
	gint convert, times;
	guint bits;
};

/** Numbers of the element's properties; the first of GObject is 1. */
enum lull_gst_property {
	LULL_GST_BACKEND = 1,
	LULL_GST_STREAM,
	LULL_GST_CONTROL,
	LULL_GST_EAL,
	LULL_GST_CPU,
	LULL_GST_DEVICE_RATE,
	LULL_GST_UNCHECKED,
	LULL_GST_DROP_PARTIAL,
	LULL_GST_MESSAGES,
	LULL_GST_CONVERT,
	LULL_GST_TIMES,
	LULL_GST_BITS,
	LULL_GST_STATISTICS_PROPERTY, /* the element's own */
	LULL_GST_RESTING              /* and following: rows of resting.c */
};

void lull_gst_settings_install(GObjectClass *class);
void lull_gst_settings_init(struct lull_gst_settings *settings);
void lull_gst_settings_clear(struct lull_gst_settings *settings);
/** False: no property of these. */
bool lull_gst_settings_set(struct lull_gst_settings *settings, guint property, const GValue *value);
bool lull_gst_settings_get(const struct lull_gst_settings *settings, guint property, GValue *value);

/** A capture: not live, and it has an end. */
bool lull_gst_settings_file(const struct lull_gst_settings *settings);
/** The stream meant by stream and control. 0 or -errno and the sentence. */
int lull_gst_settings_spec(const struct lull_gst_settings *settings, struct cam_spec *spec,
			   struct lull_error *error);
/** The receiver meant; its texts are borrowed. 0 or -errno and the sentence. */
int lull_gst_settings_camera(const struct lull_gst_settings *settings,
			     struct lull_receiver_config *config, struct lull_error *error);

#endif
