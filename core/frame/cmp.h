/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Cmp: numbers of the ASAM capture module protocol that reader and writer share.
 */
#ifndef LULL_CMP_H
#define LULL_CMP_H

#include <lull/frame.h>

#define CMP_ETHER_TYPE 0x99fe
#define CMP_VERSION 1
#define CMP_HEADER_BYTES 8
#define CMP_MESSAGE_BYTES 16
#define CMP_TYPE_DATA 1
#define CMP_PAYLOAD_GIGE 0x0b
#define CMP_PAYLOAD_CSI2 0x0c
#define CMP_GIGE_BYTES 6
#define CMP_CSI2_BYTES 16

/* Flags of a message. */
#define CMP_SEGMENT_SHIFT 2
#define CMP_SEGMENT_NONE 0
#define CMP_SEGMENT_FIRST 1
#define CMP_SEGMENT_MIDDLE 2
#define CMP_SEGMENT_LAST 3
#define CMP_OVERFLOW 0x20
#define CMP_ERROR 0x40

/* Flags of a CSI-2 packet. */
#define CMP_CSI2_CHECKSUM_WRONG 0x01
#define CMP_CSI2_ECC_WRONG 0x04
#define CMP_CSI2_FRAMES_COUNTED 0x10 /* by the capture module, not by the camera */
#define CMP_CSI2_LINES_COUNTED 0x20

/* Data types: short packets first. */
#define CSI2_FRAME_START 0x00
#define CSI2_FRAME_END 0x01
#define CSI2_SHORT_LAST 0x0f
#define CSI2_IMAGE_FIRST 0x18
#define CSI2_IMAGE_LAST 0x3f

/** The data type of a pixel; 0: CSI-2 has none for it. */
uint8_t lull_csi2_type(enum lull_pixel pixel);
/** LULL_PIXEL_UNKNOWN: not read here without a pixel in the configuration. */
enum lull_pixel lull_csi2_pixel(uint8_t type);

#endif
