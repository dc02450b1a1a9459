/* SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

static struct samples
samples_layout(enum lull_pixel pixel)
{
	struct samples yuv = { .kind = SAMPLES_YUV, .order = SAMPLES_BIG, .depth = 8 };
	struct samples rgb = { .kind = SAMPLES_RGB, .order = SAMPLES_BIG, .depth = 8 };

	yuv.letters = "UYVY";
	yuv.columns = "0001";
	rgb.columns = "0000";
	switch (pixel) {
	case LULL_PIXEL_RGB8:
		rgb.letters = "RGB";
		return rgb;
	case LULL_PIXEL_RGBA8:
		rgb.letters = "RGBA";
		return rgb;
	case LULL_PIXEL_BGR8:
		rgb.letters = "BGR";
		return rgb;
	case LULL_PIXEL_BGRA8:
		rgb.letters = "BGRA";
		return rgb;
	case LULL_PIXEL_RGB12_4175:
		rgb.letters = "RGBRGB";
		rgb.columns = "000111";
		rgb.depth = 12;
		return rgb;
	case LULL_PIXEL_YUV444:
		yuv.letters = "UYV";
		return yuv;
	case LULL_PIXEL_UYVY10_4175:
		yuv.depth = 10;
		return yuv;
	case LULL_PIXEL_UYVY12_4175:
		yuv.depth = 12;
		return yuv;
	case LULL_PIXEL_YUV420_4175:
		yuv.letters = "YYYYUV";
		yuv.columns = "010100";
		return yuv;
	case LULL_PIXEL_YUV411_4175:
		yuv.letters = "UYYVYY";
		yuv.columns = "001023";
		return yuv;
	default: /* LULL_PIXEL_UYVY8 */
		return yuv;
	}
}

/* Of one colour per place: which, at columns 0 1 of even rows and 0 1 of odd ones. */
static const char *
samples_mosaic(enum lull_pixel pixel)
{
	switch (pixel) {
	case LULL_PIXEL_BAYER_RG8:
	case LULL_PIXEL_BAYER_RG12P:
	case LULL_PIXEL_BAYER_RG16:
	case LULL_PIXEL_RAW12_CSI: /* does not say; the usual one */
		return "RGGB";
	case LULL_PIXEL_BAYER_GR8:
	case LULL_PIXEL_BAYER_GR12P:
	case LULL_PIXEL_BAYER_GR16:
		return "GRBG";
	case LULL_PIXEL_BAYER_GB8:
	case LULL_PIXEL_BAYER_GB12P:
	case LULL_PIXEL_BAYER_GB16:
		return "GBRG";
	case LULL_PIXEL_BAYER_BG8:
	case LULL_PIXEL_BAYER_BG12P:
	case LULL_PIXEL_BAYER_BG16:
		return "BGGR";
	case LULL_PIXEL_MONO8:
	case LULL_PIXEL_MONO10P:
	case LULL_PIXEL_MONO12P:
	case LULL_PIXEL_MONO16:
		return "YYYY";
	default:
		return NULL;
	}
}

struct samples
samples_of(enum lull_pixel pixel)
{
	struct lull_pixel_group group = lull_pixel_group(pixel);
	const char *mosaic = samples_mosaic(pixel);
	struct samples samples;

	if (mosaic == NULL)
		samples = samples_layout(pixel);
	else
		samples = (struct samples){
			.order = pixel == LULL_PIXEL_RAW12_CSI ? SAMPLES_CSI : SAMPLES_LITTLE,
			.kind = mosaic[0] == 'Y' ? SAMPLES_MONO : SAMPLES_BAYER,
			.depth = group.bytes * 8u / group.columns,
			.letters = mosaic,
			.columns = "0123",
		};
	samples.group_bytes = group.bytes;
	samples.group = group.bytes * 8u / samples.depth;
	return samples;
}

static void
samples_put_csi(uint8_t *bytes, uint64_t index, uint32_t value)
{
	uint8_t *pair = bytes + index / 2 * 3;

	pair[index & 1] = (uint8_t)(value >> 4);
	pair[2] |= (uint8_t)((value & 15) << (index & 1) * 4);
}

void
samples_put(const struct samples *samples, uint8_t *bytes, uint64_t index, uint32_t value)
{
	uint64_t bit = index * samples->depth;
	uint32_t shift = bit & 7;

	bytes += bit / 8;
	if (samples->order == SAMPLES_CSI) {
		samples_put_csi(bytes - bit / 8, index, value);
	} else if (samples->order == SAMPLES_LITTLE) {
		value <<= shift;
		for (uint32_t left = samples->depth + shift; left > 0; value >>= 8) {
			*bytes++ |= (uint8_t)value;
			left -= left < 8 ? left : 8;
		}
	} else {
		value <<= 32 - samples->depth - shift;
		for (uint32_t left = samples->depth + shift; left > 0; value <<= 8) {
			*bytes++ |= (uint8_t)(value >> 24);
			left -= left < 8 ? left : 8;
		}
	}
}
