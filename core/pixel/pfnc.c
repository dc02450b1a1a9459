/* SPDX-License-Identifier: BSD-3-Clause */
#include "pfnc.h"

struct name {
	uint32_t code;
	enum lull_pixel pixel;
};

/* The first of a pixel is what is written. 10 and 12 bit "unpacked" lie in 16 bit each. */
static const struct name names[] = {
	{ 0x01080001, LULL_PIXEL_MONO8 },
	{ 0x010a0046, LULL_PIXEL_MONO10P },
	{ 0x010c0047, LULL_PIXEL_MONO12P },
	{ 0x01100007, LULL_PIXEL_MONO16 },
	{ 0x01100003, LULL_PIXEL_MONO16 }, /* Mono10 */
	{ 0x01100005, LULL_PIXEL_MONO16 }, /* Mono12 */
	{ 0x01100025, LULL_PIXEL_MONO16 }, /* Mono14 */
	{ 0x01080008, LULL_PIXEL_BAYER_GR8 },
	{ 0x01080009, LULL_PIXEL_BAYER_RG8 },
	{ 0x0108000a, LULL_PIXEL_BAYER_GB8 },
	{ 0x0108000b, LULL_PIXEL_BAYER_BG8 },
	{ 0x010c0057, LULL_PIXEL_BAYER_GR12P },
	{ 0x010c0059, LULL_PIXEL_BAYER_RG12P },
	{ 0x010c0055, LULL_PIXEL_BAYER_GB12P },
	{ 0x010c0053, LULL_PIXEL_BAYER_BG12P },
	{ 0x0110002e, LULL_PIXEL_BAYER_GR16 },
	{ 0x0110000c, LULL_PIXEL_BAYER_GR16 }, /* BayerGR10 */
	{ 0x01100010, LULL_PIXEL_BAYER_GR16 }, /* BayerGR12 */
	{ 0x0110002f, LULL_PIXEL_BAYER_RG16 },
	{ 0x0110000d, LULL_PIXEL_BAYER_RG16 },
	{ 0x01100011, LULL_PIXEL_BAYER_RG16 },
	{ 0x01100030, LULL_PIXEL_BAYER_GB16 },
	{ 0x0110000e, LULL_PIXEL_BAYER_GB16 },
	{ 0x01100012, LULL_PIXEL_BAYER_GB16 },
	{ 0x01100031, LULL_PIXEL_BAYER_BG16 },
	{ 0x0110000f, LULL_PIXEL_BAYER_BG16 },
	{ 0x01100013, LULL_PIXEL_BAYER_BG16 },
	{ 0x02180014, LULL_PIXEL_RGB8 },
	{ 0x02180015, LULL_PIXEL_BGR8 },
	{ 0x02200016, LULL_PIXEL_RGBA8 },
	{ 0x02200017, LULL_PIXEL_BGRA8 },
	{ 0x0210001f, LULL_PIXEL_UYVY8 }, /* YUV422_8_UYVY */
	{ 0x02100043, LULL_PIXEL_UYVY8 }, /* YCbCr422_8_CbYCrY */
};

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

enum lull_pixel
lull_pfnc_pixel(uint32_t code)
{
	for (uint32_t i = 0; i < NAME_COUNT; i++)
		if (names[i].code == code)
			return names[i].pixel;
	return LULL_PIXEL_UNKNOWN;
}

uint32_t
lull_pfnc_code(enum lull_pixel pixel)
{
	for (uint32_t i = 0; i < NAME_COUNT; i++)
		if (names[i].pixel == pixel)
			return names[i].code;
	return 0;
}
