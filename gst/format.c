/* SPDX-License-Identifier: BSD-3-Clause */
#include "format.h"

#include <string.h>

#include <gst/video/video.h>

#define RAW "video/x-raw"
#define BAYER "video/x-bayer"

#define SAME(caps_media, caps_name)                                                                \
	{                                                                                          \
		.media = caps_media, .name = caps_name, .fill = lull_gst_fill_rows, .same = true   \
	}
#define FILLED(caps_media, caps_name, caps_fill)                                                   \
	{                                                                                          \
		.media = caps_media, .name = caps_name, .fill = caps_fill                          \
	}

static const struct lull_gst_format formats[LULL_PIXEL_COUNT] = {
	[LULL_PIXEL_MONO8] = SAME(RAW, "GRAY8"),
	[LULL_PIXEL_MONO10P] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_MONO12P] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_MONO16] = SAME(RAW, "GRAY16_LE"),
	[LULL_PIXEL_BAYER_RG8] = SAME(BAYER, "rggb"),
	[LULL_PIXEL_BAYER_GR8] = SAME(BAYER, "grbg"),
	[LULL_PIXEL_BAYER_GB8] = SAME(BAYER, "gbrg"),
	[LULL_PIXEL_BAYER_BG8] = SAME(BAYER, "bggr"),
	[LULL_PIXEL_BAYER_RG12P] = FILLED(BAYER, "rggb12le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GR12P] = FILLED(BAYER, "grbg12le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GB12P] = FILLED(BAYER, "gbrg12le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_BG12P] = FILLED(BAYER, "bggr12le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_RG16] = SAME(BAYER, "rggb16le"),
	[LULL_PIXEL_BAYER_GR16] = SAME(BAYER, "grbg16le"),
	[LULL_PIXEL_BAYER_GB16] = SAME(BAYER, "gbrg16le"),
	[LULL_PIXEL_BAYER_BG16] = SAME(BAYER, "bggr16le"),
	[LULL_PIXEL_RAW12_CSI] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_RGB8] = SAME(RAW, "RGB"),
	[LULL_PIXEL_RGBA8] = SAME(RAW, "RGBA"),
	[LULL_PIXEL_BGR8] = SAME(RAW, "BGR"),
	[LULL_PIXEL_BGRA8] = SAME(RAW, "BGRA"),
	[LULL_PIXEL_RGB12_4175] = FILLED(RAW, "GBR_12LE", lull_gst_fill_gbr12),
	[LULL_PIXEL_YUV444] = SAME(RAW, "IYU2"),
	[LULL_PIXEL_UYVY8] = SAME(RAW, "UYVY"),
	[LULL_PIXEL_UYVY10_4175] = SAME(RAW, "UYVP"),
	[LULL_PIXEL_UYVY12_4175] = FILLED(RAW, "Y212_LE", lull_gst_fill_y212),
	[LULL_PIXEL_YUV420_4175] = FILLED(RAW, "I420", lull_gst_fill_i420),
	[LULL_PIXEL_YUV411_4175] = FILLED(RAW, "Y41B", lull_gst_fill_y41b),
	[LULL_PIXEL_MONO10] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_MONO12] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_MONO14] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_MONO14P] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_MONO10_PACKED] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_MONO12_PACKED] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_RAW10_CSI] = FILLED(RAW, "GRAY16_LE", lull_gst_fill_grey),
	[LULL_PIXEL_BAYER_RG10] = SAME(BAYER, "rggb10le"),
	[LULL_PIXEL_BAYER_GR10] = SAME(BAYER, "grbg10le"),
	[LULL_PIXEL_BAYER_GB10] = SAME(BAYER, "gbrg10le"),
	[LULL_PIXEL_BAYER_BG10] = SAME(BAYER, "bggr10le"),
	[LULL_PIXEL_BAYER_RG12] = SAME(BAYER, "rggb12le"),
	[LULL_PIXEL_BAYER_GR12] = SAME(BAYER, "grbg12le"),
	[LULL_PIXEL_BAYER_GB12] = SAME(BAYER, "gbrg12le"),
	[LULL_PIXEL_BAYER_BG12] = SAME(BAYER, "bggr12le"),
	[LULL_PIXEL_BAYER_RG14] = SAME(BAYER, "rggb14le"),
	[LULL_PIXEL_BAYER_GR14] = SAME(BAYER, "grbg14le"),
	[LULL_PIXEL_BAYER_GB14] = SAME(BAYER, "gbrg14le"),
	[LULL_PIXEL_BAYER_BG14] = SAME(BAYER, "bggr14le"),
	[LULL_PIXEL_BAYER_RG10P] = FILLED(BAYER, "rggb10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GR10P] = FILLED(BAYER, "grbg10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GB10P] = FILLED(BAYER, "gbrg10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_BG10P] = FILLED(BAYER, "bggr10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_RG10_PACKED] = FILLED(BAYER, "rggb10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GR10_PACKED] = FILLED(BAYER, "grbg10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GB10_PACKED] = FILLED(BAYER, "gbrg10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_BG10_PACKED] = FILLED(BAYER, "bggr10le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_RG12_PACKED] = FILLED(BAYER, "rggb12le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GR12_PACKED] = FILLED(BAYER, "grbg12le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_GB12_PACKED] = FILLED(BAYER, "gbrg12le", lull_gst_fill_bayer),
	[LULL_PIXEL_BAYER_BG12_PACKED] = FILLED(BAYER, "bggr12le", lull_gst_fill_bayer),
	[LULL_PIXEL_RGB10_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_RGB12_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_RGB14_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_RGB16_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_RGB10P] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_RGB12P] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_BGR10_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_BGR12_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_BGR14_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_BGR16_WORDS] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_BGR10P] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_BGR12P] = FILLED(RAW, "RGB", lull_gst_fill_rgb),
	[LULL_PIXEL_YUYV8] = SAME(RAW, "YUY2"),
};
const struct lull_gst_format lull_gst_format_rgb = FILLED(RAW, "RGB", lull_gst_fill_rgb);

const struct lull_gst_format *
lull_gst_format(enum lull_pixel pixel)
{
	uint32_t index = (uint32_t)pixel;

	return index < LULL_PIXEL_COUNT && formats[index].name != NULL ? &formats[index] : NULL;
}

bool
lull_gst_format_raw(const struct lull_gst_format *format)
{
	return strcmp(format->media, RAW) == 0;
}

/* Rows of Bayer pixels begin at multiples of 4 bytes, by what their elements do. */
static void
format_layout_bayer(const struct lull_gst_format *format, uint32_t width, uint32_t height,
		    struct lull_gst_layout *layout)
{
	uint32_t sample_bytes = strlen(format->name) > 4 ? 2 : 1;

	*layout = (struct lull_gst_layout){
		.plane_count = 1,
		.stride = { GST_ROUND_UP_4(width) * sample_bytes },
	};
	layout->size = (gsize)layout->stride[0] * height;
}

void
lull_gst_format_layout(const struct lull_gst_format *format, uint32_t width, uint32_t height,
		       struct lull_gst_layout *layout)
{
	GstVideoInfo info;

	if (!lull_gst_format_raw(format)) {
		format_layout_bayer(format, width, height, layout);
		return;
	}
	gst_video_info_set_format(&info, gst_video_format_from_string(format->name), width, height);
	*layout = (struct lull_gst_layout){
		.plane_count = GST_VIDEO_INFO_N_PLANES(&info),
		.size = GST_VIDEO_INFO_SIZE(&info),
	};
	for (uint32_t i = 0; i < layout->plane_count; i++) {
		layout->offset[i] = GST_VIDEO_INFO_PLANE_OFFSET(&info, i);
		layout->stride[i] = (uint32_t)GST_VIDEO_INFO_PLANE_STRIDE(&info, i);
	}
}

static bool
format_yuv(const struct lull_gst_format *format)
{
	const GstVideoFormatInfo *info =
		gst_video_format_get_info(gst_video_format_from_string(format->name));

	return lull_gst_format_raw(format) && GST_VIDEO_FORMAT_INFO_IS_YUV(info);
}

GstCaps *
lull_gst_format_caps(const struct lull_gst_format *format,
		     const struct lull_frame_geometry *geometry, bool interlaced)
{
	GstCaps *caps = gst_caps_new_simple(format->media, "format", G_TYPE_STRING, format->name,
					    "width", G_TYPE_INT, (int)geometry->width, "height",
					    G_TYPE_INT, (int)geometry->height, "framerate",
					    GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);

	if (lull_gst_format_raw(format))
		gst_caps_set_simple(caps, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1,
				    "interlace-mode", G_TYPE_STRING,
				    interlaced ? "interleaved" : "progressive", NULL);
	if (geometry->matrix != LULL_PIXEL_MATRIX_UNTOLD && format_yuv(format))
		gst_caps_set_simple(caps, "colorimetry", G_TYPE_STRING,
				    geometry->matrix == LULL_PIXEL_BT709 ?
					    GST_VIDEO_COLORIMETRY_BT709 :
					    GST_VIDEO_COLORIMETRY_BT601,
				    NULL);
	return caps;
}

static void
format_list(GValue *list, const char *media)
{
	g_value_init(list, GST_TYPE_LIST);
	for (uint32_t i = 0; i < LULL_PIXEL_COUNT; i++) {
		GValue name = G_VALUE_INIT;
		bool seen = formats[i].name == NULL || strcmp(formats[i].media, media) != 0;

		for (uint32_t j = 0; !seen && j < i; j++)
			seen = formats[j].name != NULL &&
			       strcmp(formats[j].name, formats[i].name) == 0;
		if (seen)
			continue;
		g_value_init(&name, G_TYPE_STRING);
		g_value_set_static_string(&name, formats[i].name);
		gst_value_list_append_and_take_value(list, &name);
	}
}

GstCaps *
lull_gst_format_all(void)
{
	static const char *const kinds[] = { RAW, BAYER };
	GstCaps *caps = gst_caps_new_empty();

	for (uint32_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		GstStructure *structure = gst_structure_new(
			kinds[i], "width", GST_TYPE_INT_RANGE, 1, LULL_FRAME_SIDE_MAX, "height",
			GST_TYPE_INT_RANGE, 1, LULL_FRAME_SIDE_MAX, "framerate",
			GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, NULL);
		GValue names = G_VALUE_INIT;

		format_list(&names, kinds[i]);
		gst_structure_take_value(structure, "format", &names);
		gst_caps_append_structure(caps, structure);
	}
	return caps;
}
