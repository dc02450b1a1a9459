/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <string.h>

#define FLAGS ((GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY))
#define FLAGS_LIVE                                                                                 \
	((GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING))

static const GEnumValue converts[] = {
	{ LULL_GST_CONVERT_AUTO, "As they are, or RGB where the next element wants that", "auto" },
	{ LULL_GST_CONVERT_NONE, "As they are", "none" },
	{ LULL_GST_CONVERT_RGB, "8-bit RGB, Bayer pixels interpolated", "rgb" },
	{ 0, NULL, NULL },
};
static const GEnumValue times[] = {
	{ LULL_GST_TIMES_ARRIVAL, "When the last packet of a frame came", "arrival" },
	{ LULL_GST_TIMES_DEVICE, "The camera's clock, kept near arrival", "device" },
	{ 0, NULL, NULL },
};

static GType
settings_enum(const char *name, const GEnumValue *values)
{
	GType type = g_type_from_name(name);

	return type != 0 ? type : g_enum_register_static(name, values);
}

/* ---- what there is ---- */

static void
settings_text(GObjectClass *class, guint property, const char *name, const char *nick,
	      const char *help)
{
	g_object_class_install_property(class, property,
					g_param_spec_string(name, nick, help, NULL, FLAGS));
}

static void
settings_flag(GObjectClass *class, guint property, const char *name, const char *nick,
	      const char *help, gboolean value, GParamFlags flags)
{
	g_object_class_install_property(class, property,
					g_param_spec_boolean(name, nick, help, value, flags));
}

static void
settings_install_texts(GObjectClass *class)
{
	settings_text(class, LULL_GST_BACKEND, "backend", "Back end",
		      "Where packets come from: kernel:IF, kernel-busy:IF, dpdk:PORT or pcap:FILE, "
		      "as for lull-cam --backend");
	settings_text(class, LULL_GST_STREAM, "stream", "Stream",
		      "The camera: KEY=VALUE,KEY=VALUE ... as for lull-cam --stream; "
		      "lull-cam --help-stream lists the keys");
	settings_text(class, LULL_GST_CONTROL, "control", "Control",
		      "GigE Vision camera, by IP or MAC address, to take control of");
	settings_text(class, LULL_GST_EAL, "eal", "EAL arguments",
		      "dpdk: further arguments for DPDK's environment");
}

static void
settings_install_numbers(GObjectClass *class)
{
	g_object_class_install_property(class, LULL_GST_CPU,
					g_param_spec_int("cpu", "CPU",
							 "CPU of the receiving thread, -1: any", -1,
							 1023, -1, FLAGS));
	g_object_class_install_property(
		class, LULL_GST_DEVICE_RATE,
		g_param_spec_uint64("device-rate", "Rate of the device clock",
				    "Ticks per second of the camera's clock; 0: 90000 for rfc4175, "
				    "else 10^9",
				    0, G_MAXUINT32, 0, FLAGS));
	g_object_class_install_property(class, LULL_GST_BITS,
					g_param_spec_uint("bits", "Bits",
							  "That 16-bit pixels use, for RGB", 8, 16,
							  16, FLAGS));
}

void
lull_gst_settings_install(GObjectClass *class)
{
	settings_install_texts(class);
	settings_install_numbers(class);
	settings_flag(class, LULL_GST_UNCHECKED, "unchecked", "Unchecked",
		      "Start although the self-check finds something wrong", FALSE, FLAGS);
	settings_flag(class, LULL_GST_DROP_PARTIAL, "drop-partial", "Drop partial frames",
		      "Give whole frames only; otherwise others are flagged as corrupted", FALSE,
		      FLAGS_LIVE);
	settings_flag(class, LULL_GST_MESSAGES, "post-messages", "Post messages",
		      "Post an element message lull-frame for each partial frame", TRUE,
		      FLAGS_LIVE);
	g_object_class_install_property(
		class, LULL_GST_CONVERT,
		g_param_spec_enum("convert", "Convert", "What becomes of pixels",
				  settings_enum("LullCameraSrcConvert", converts),
				  LULL_GST_CONVERT_AUTO, FLAGS));
	g_object_class_install_property(
		class, LULL_GST_TIMES,
		g_param_spec_enum("timestamps", "Time stamps", "Where they come from",
				  settings_enum("LullCameraSrcTimestamps", times),
				  LULL_GST_TIMES_ARRIVAL, FLAGS));
	lull_gst_resting_install(class, LULL_GST_RESTING);
}

/* ---- values ---- */

void
lull_gst_settings_init(struct lull_gst_settings *settings)
{
	*settings = (struct lull_gst_settings){
		.cpu = -1,
		.messages = TRUE,
		.bits = 16,
	};
}

void
lull_gst_settings_clear(struct lull_gst_settings *settings)
{
	g_free(settings->backend);
	g_free(settings->stream);
	g_free(settings->control);
	g_free(settings->eal);
	lull_gst_resting_clear(&settings->resting);
}

static char **
settings_text_of(struct lull_gst_settings *settings, guint property)
{
	switch (property) {
	case LULL_GST_BACKEND:
		return &settings->backend;
	case LULL_GST_STREAM:
		return &settings->stream;
	case LULL_GST_CONTROL:
		return &settings->control;
	case LULL_GST_EAL:
		return &settings->eal;
	default:
		return NULL;
	}
}

static gboolean *
settings_flag_of(struct lull_gst_settings *settings, guint property)
{
	switch (property) {
	case LULL_GST_UNCHECKED:
		return &settings->unchecked;
	case LULL_GST_DROP_PARTIAL:
		return &settings->drop_partial;
	case LULL_GST_MESSAGES:
		return &settings->messages;
	default:
		return NULL;
	}
}

bool
lull_gst_settings_set(struct lull_gst_settings *settings, guint property, const GValue *value)
{
	char **text = settings_text_of(settings, property);
	gboolean *flag = settings_flag_of(settings, property);

	if (text != NULL) {
		g_free(*text);
		*text = g_value_dup_string(value);
	} else if (flag != NULL) {
		*flag = g_value_get_boolean(value);
	} else if (property == LULL_GST_CPU) {
		settings->cpu = g_value_get_int(value);
	} else if (property == LULL_GST_DEVICE_RATE) {
		settings->device_rate = g_value_get_uint64(value);
	} else if (property == LULL_GST_CONVERT) {
		settings->convert = g_value_get_enum(value);
	} else if (property == LULL_GST_TIMES) {
		settings->times = g_value_get_enum(value);
	} else if (property == LULL_GST_BITS) {
		settings->bits = g_value_get_uint(value);
	} else {
		return property >= LULL_GST_RESTING &&
		       lull_gst_resting_set(&settings->resting, property - LULL_GST_RESTING, value);
	}
	return true;
}

bool
lull_gst_settings_get(const struct lull_gst_settings *settings, guint property, GValue *value)
{
	struct lull_gst_settings copy = *settings; /* of the pointers */
	char **text = settings_text_of(&copy, property);
	gboolean *flag = settings_flag_of(&copy, property);

	if (text != NULL)
		g_value_set_string(value, *text);
	else if (flag != NULL)
		g_value_set_boolean(value, *flag);
	else if (property == LULL_GST_CPU)
		g_value_set_int(value, settings->cpu);
	else if (property == LULL_GST_DEVICE_RATE)
		g_value_set_uint64(value, settings->device_rate);
	else if (property == LULL_GST_CONVERT)
		g_value_set_enum(value, settings->convert);
	else if (property == LULL_GST_TIMES)
		g_value_set_enum(value, settings->times);
	else if (property == LULL_GST_BITS)
		g_value_set_uint(value, settings->bits);
	else
		return property >= LULL_GST_RESTING &&
		       lull_gst_resting_get(&settings->resting, property - LULL_GST_RESTING, value);
	return true;
}

/* ---- what they mean ---- */

bool
lull_gst_settings_file(const struct lull_gst_settings *settings)
{
	return settings->backend != NULL && g_str_has_prefix(settings->backend, "pcap:");
}

int
lull_gst_settings_spec(const struct lull_gst_settings *settings, struct cam_spec *spec,
		       struct lull_error *error)
{
	const char *stream = settings->stream;
	int rc;

	if (settings->backend == NULL)
		return lull_error_set(error, -EINVAL,
				      "no back end: say where packets come from, like "
				      "backend=kernel:eth0");
	if (stream == NULL && settings->control == NULL)
		return lull_error_set(error, -EINVAL,
				      "no camera: name one with stream or control, like "
				      "stream=protocol=gvsp,port=20202");
	if (stream != NULL && strlen(stream) >= LULL_OPTION_LIST_TEXT)
		return lull_error_set(error, -EINVAL, "stream: longer than %d bytes",
				      LULL_OPTION_LIST_TEXT - 1);
	rc = cam_spec_parse(stream != NULL ? stream : "protocol=gvsp", spec, error);
	if (rc == 0 && settings->control != NULL)
		rc = lull_options_set(cam_spec_keys, spec, "control", settings->control, error);
	return rc;
}

int
lull_gst_settings_camera(const struct lull_gst_settings *settings,
			 struct lull_receiver_config *config, struct lull_error *error)
{
	struct lull_resting resting;
	int rc = lull_gst_resting_read(&settings->resting, &resting, error);

	if (rc != 0)
		return rc;
	*config = (struct lull_receiver_config){
		.backend = settings->backend,
		.program = "lullcamerasrc",
		.governor = lull_idle_governor_name(lull_resting_governor(&resting)),
		/* The library knows the ring that it was granted. */
		.limits = lull_resting_limits(&resting, NULL),
		.sched_policy = (enum lull_sched_policy)resting.sched_policy,
		.cpu_latency_ns = resting.cpu_latency_ns,
		.cpu = settings->cpu + 1,
		.unchecked = settings->unchecked,
		.eal = settings->eal,
	};
	return 0;
}
