/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pixel: how the pixels of a picture lie in memory, and pictures as people look at them.
 *
 * A *geometry* says size, region and pixel format of a picture; from it follow its bytes and where
 * each row begins. Pictures are read as they came: 16-bit samples for who computes with them, 8-bit
 * RGB for viewers.
 *
 * @code
 * #include <lull/pixel.h>
 *
 * int
 * show_picture(const uint8_t *picture, uint8_t rgb[3 * 640 * 480])
 * {
 *         struct lull_frame_geometry geometry = { .width = 640, .height = 480,
 *                                                 .pixel = LULL_PIXEL_BAYER_RG8 };
 *
 *         return lull_pixel_to_rgb(&geometry, picture, rgb, NULL);
 * }
 * @endcode
 *
 * Threads: any; functions keep nothing.
 * Memory:  the caller's; nothing is allocated.
 */
#ifndef LULL_PIXEL_H
#define LULL_PIXEL_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How pixels lie in memory, as senders put them on the wire; names in lull_pixel_name(). */
enum lull_pixel {
	LULL_PIXEL_UNKNOWN,
	LULL_PIXEL_MONO8,
	LULL_PIXEL_MONO10P, /**< GigE Vision "p": 4 pixels in 5 bytes, least significant first */
	LULL_PIXEL_MONO12P, /**< 2 pixels in 3 bytes */
	LULL_PIXEL_MONO16,  /**< little endian */
	LULL_PIXEL_BAYER_RG8,
	LULL_PIXEL_BAYER_GR8,
	LULL_PIXEL_BAYER_GB8,
	LULL_PIXEL_BAYER_BG8,
	LULL_PIXEL_BAYER_RG12P,
	LULL_PIXEL_BAYER_GR12P,
	LULL_PIXEL_BAYER_GB12P,
	LULL_PIXEL_BAYER_BG12P,
	LULL_PIXEL_BAYER_RG16,
	LULL_PIXEL_BAYER_GR16,
	LULL_PIXEL_BAYER_GB16,
	LULL_PIXEL_BAYER_BG16,
	LULL_PIXEL_RAW12_CSI, /**< MIPI: 2 pixels in 3 bytes, high bytes first, low nibbles last */
	LULL_PIXEL_RGB8,
	LULL_PIXEL_RGBA8,
	LULL_PIXEL_BGR8,
	LULL_PIXEL_BGRA8,
	LULL_PIXEL_RGB12_4175,  /**< 9 bytes for 2 pixels, big endian bit string */
	LULL_PIXEL_YUV444,      /**< Cb Y Cr, 8 bit */
	LULL_PIXEL_UYVY8,       /**< 4:2:2, Cb Y0 Cr Y1 */
	LULL_PIXEL_UYVY10_4175, /**< 4:2:2, 5 bytes for 2 pixels, big endian bit string */
	LULL_PIXEL_UYVY12_4175, /**< 4:2:2, 6 bytes for 2 pixels */
	LULL_PIXEL_YUV420_4175, /**< 6 bytes for 2 x 2: Y00 Y01 Y10 Y11 Cb Cr */
	LULL_PIXEL_YUV411_4175, /**< 6 bytes for 4 pixels: Cb Y0 Y1 Cr Y2 Y3 */
	LULL_PIXEL_MONO10,      /**< 10 bits in 16, little endian */
	LULL_PIXEL_MONO12,
	LULL_PIXEL_MONO14,
	LULL_PIXEL_MONO14P,       /**< 4 pixels in 7 bytes, least significant first */
	LULL_PIXEL_MONO10_PACKED, /**< GigE Vision 1: high byte, low bits of both, high byte */
	LULL_PIXEL_MONO12_PACKED,
	LULL_PIXEL_BAYER_RG10, /**< 10 bits in 16, little endian */
	LULL_PIXEL_BAYER_GR10,
	LULL_PIXEL_BAYER_GB10,
	LULL_PIXEL_BAYER_BG10,
	LULL_PIXEL_BAYER_RG12, /**< 12 bits in 16, little endian */
	LULL_PIXEL_BAYER_GR12,
	LULL_PIXEL_BAYER_GB12,
	LULL_PIXEL_BAYER_BG12,
	LULL_PIXEL_BAYER_RG14, /**< 14 bits in 16, little endian */
	LULL_PIXEL_BAYER_GR14,
	LULL_PIXEL_BAYER_GB14,
	LULL_PIXEL_BAYER_BG14,
	LULL_PIXEL_BAYER_RG10P, /**< 4 pixels in 5 bytes, least significant first */
	LULL_PIXEL_BAYER_GR10P,
	LULL_PIXEL_BAYER_GB10P,
	LULL_PIXEL_BAYER_BG10P,
	LULL_PIXEL_BAYER_RG10_PACKED, /**< as the mono ones */
	LULL_PIXEL_BAYER_GR10_PACKED,
	LULL_PIXEL_BAYER_GB10_PACKED,
	LULL_PIXEL_BAYER_BG10_PACKED,
	LULL_PIXEL_BAYER_RG12_PACKED, /**< as the mono ones */
	LULL_PIXEL_BAYER_GR12_PACKED,
	LULL_PIXEL_BAYER_GB12_PACKED,
	LULL_PIXEL_BAYER_BG12_PACKED,
	LULL_PIXEL_RAW10_CSI,   /**< MIPI: 4 pixels in 5 bytes, high bytes first, low bits last */
	LULL_PIXEL_RGB10_WORDS, /**< 10 bits in 16, little endian */
	LULL_PIXEL_RGB12_WORDS,
	LULL_PIXEL_RGB14_WORDS,
	LULL_PIXEL_RGB16_WORDS,
	LULL_PIXEL_RGB10P, /**< 4 pixels in 15 bytes, least significant first */
	LULL_PIXEL_RGB12P, /**< 2 pixels in 9 bytes, least significant first */
	LULL_PIXEL_BGR10_WORDS,
	LULL_PIXEL_BGR12_WORDS,
	LULL_PIXEL_BGR14_WORDS,
	LULL_PIXEL_BGR16_WORDS,
	LULL_PIXEL_BGR10P,
	LULL_PIXEL_BGR12P,
	LULL_PIXEL_YUYV8, /**< 4:2:2, Y0 Cb Y1 Cr */
	LULL_PIXEL_COUNT
};
/**
 * Name a pixel format.
 * @return its name: "mono8", "bayer-rg12p", "uyvy10" ...; "unknown" for a value that has none;
 *         static
 */
const char *lull_pixel_name(enum lull_pixel pixel);
/**
 * Find a pixel format by its name.
 * @param name  as lull_pixel_name() gives it
 * @return the format; LULL_PIXEL_UNKNOWN: none has this name
 */
enum lull_pixel lull_pixel_find(const char *name);
/** A group that cannot be parted: its bytes, its columns and its rows. */
struct lull_pixel_group {
	uint8_t bytes, columns, rows; /**< that it has */
};
/**
 * Tell how the pixels of a format are packed together.
 * @return the smallest group of whole bytes; all members 0 for LULL_PIXEL_UNKNOWN
 */
struct lull_pixel_group lull_pixel_group(enum lull_pixel pixel);

#define LULL_FRAME_SIDE_MAX 65535         /**< pixels of a side */
#define LULL_FRAME_BYTES_MAX (1ULL << 32) /**< of a picture */

/** How YUV was made of RGB; always limited range (Y 16..235, Cb and Cr 16..240). */
enum lull_pixel_matrix {
	LULL_PIXEL_MATRIX_UNTOLD, /**< nobody says it */
	LULL_PIXEL_BT601,
	LULL_PIXEL_BT709
};
/** Size, region and pixel format of a picture. */
struct lull_frame_geometry {
	uint32_t width, height;      /**< pixels, 1..LULL_FRAME_SIDE_MAX */
	uint32_t x_offset, y_offset; /**< of the region on the sensor */
	uint32_t row_bytes;          /**< from one row (of groups) to the next; 0: no padding */
	enum lull_pixel pixel;       /**< format */
	/** of YUV, where the sender tells it: by the format's number in GigE Vision */
	enum lull_pixel_matrix matrix;
};
/**
 * Compute the bytes of a picture: rows of whole groups, with the padding of each row. Pixels that
 * are unknown need row_bytes.
 * @return bytes, 1..LULL_FRAME_BYTES_MAX; 0: a member is out of range, or the picture is larger
 */
uint64_t lull_frame_bytes(const struct lull_frame_geometry *geometry);

/* ---- pictures for viewers ---- */

/**
 * Unpack mono, Bayer and raw pixels to 16-bit samples, one per pixel, row by row without padding.
 * Samples keep their own range: 0..4095 for 12 bits.
 * @param picture  lull_frame_bytes() bytes
 * @param samples  out: width x height
 * @return 0; -EINVAL: geometry out of range; -ENOTSUP: a format with colours, or unknown pixels
 */
int lull_pixel_unpack(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		      uint16_t *samples);

#define LULL_PIXEL_SHRINK_MAX 16 /**< pixels of a side that become one */

/** Zero means the default in brackets. */
struct lull_pixel_view {
	enum lull_pixel_matrix matrix; /**< of YUV [that of the geometry, else BT.601] */
	/** 1..LULL_PIXEL_SHRINK_MAX [1]: pixels of a side of the square whose mean is one pixel */
	uint32_t shrink;
	uint32_t bits; /**< that 16-bit pixels use, 8..16 [16]; brighter ones are white */
};
/**
 * Convert any pixels to 8-bit red, green and blue, for the eye, row by row without padding. Samples
 * are cut to their upper 8 bits. Bayer pixels are interpolated bilinearly and mirrored at the
 * edges. Cb and Cr are repeated for each pixel they belong to, and converted by the matrix of ITU-R
 * BT.601 or BT.709. Raw pixels are grey. It allocates nothing.
 * @param picture  lull_frame_bytes() bytes
 * @param rgb      out: (width / shrink) x (height / shrink) x 3 bytes; pixels on the right and at
 *                 the bottom that do not fill a square are left out
 * @param view     NULL: all defaults
 * @return 0; -EINVAL: geometry or view out of range, or the picture is smaller than one square;
 *         -ENOTSUP: unknown pixels
 */
int lull_pixel_to_rgb(const struct lull_frame_geometry *geometry, const uint8_t *picture,
		      uint8_t *rgb, const struct lull_pixel_view *view);

#ifdef __cplusplus
}
#endif

#endif
