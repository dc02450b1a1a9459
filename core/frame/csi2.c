/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame/cmp.h"

#define TYPE_YUV422 0x1e
#define TYPE_RGB888 0x24
#define TYPE_RAW8 0x2a
#define TYPE_RAW10 0x2b
#define TYPE_RAW12 0x2c
#define TYPE_RAW16 0x2e
#define TYPE_USER 0x30 /* eight types that camera and receiver agree upon */

uint8_t
lull_csi2_type(enum lull_pixel pixel)
{
	switch (pixel) {
	case LULL_PIXEL_UYVY8:
		return TYPE_YUV422;
	case LULL_PIXEL_BGR8:
		return TYPE_RGB888;
	case LULL_PIXEL_MONO8:
	case LULL_PIXEL_BAYER_RG8:
	case LULL_PIXEL_BAYER_GR8:
	case LULL_PIXEL_BAYER_GB8:
	case LULL_PIXEL_BAYER_BG8:
		return TYPE_RAW8;
	case LULL_PIXEL_RAW10_CSI:
		return TYPE_RAW10;
	case LULL_PIXEL_RAW12_CSI:
		return TYPE_RAW12;
	case LULL_PIXEL_MONO16:
	case LULL_PIXEL_BAYER_RG16:
	case LULL_PIXEL_BAYER_GR16:
	case LULL_PIXEL_BAYER_GB16:
	case LULL_PIXEL_BAYER_BG16:
		return TYPE_RAW16;
	case LULL_PIXEL_YUV420_4175: /* two lines in a group: not as CSI-2 sends them */
	case LULL_PIXEL_UNKNOWN:
	case LULL_PIXEL_COUNT:
		return 0;
	default:
		return TYPE_USER;
	}
}

enum lull_pixel
lull_csi2_pixel(uint8_t type)
{
	switch (type) {
	case TYPE_YUV422:
		return LULL_PIXEL_UYVY8;
	case TYPE_RGB888: /* blue comes first */
		return LULL_PIXEL_BGR8;
	case TYPE_RAW8:
		return LULL_PIXEL_MONO8;
	case TYPE_RAW10:
		return LULL_PIXEL_RAW10_CSI;
	case TYPE_RAW12:
		return LULL_PIXEL_RAW12_CSI;
	default:
		return LULL_PIXEL_UNKNOWN;
	}
}
