/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gvsp: numbers of the GigE Vision stream protocol that reader and writer share.
 */
#ifndef LULL_GVSP_H
#define LULL_GVSP_H

enum gvsp_format {
	GVSP_FORMAT_LEADER = 1,
	GVSP_FORMAT_TRAILER = 2,
	GVSP_FORMAT_PAYLOAD = 3,
	GVSP_FORMAT_ALL_IN = 4,
	GVSP_FORMAT_MULTIPART = 7,
};

#define GVSP_HEADER_BYTES 8
#define GVSP_HEADER_BYTES_EXTENDED 20
#define GVSP_LEADER_BYTES 36
#define GVSP_TRAILER_BYTES 8
#define GVSP_IP_UDP_BYTES 28 /* the packet size of the control protocol counts them */

#define GVSP_EXTENDED 0x80 /* 64 bit ids, with the format */

#define GVSP_TYPE_IMAGE 0x0001
#define GVSP_TYPE_IMAGE_CHUNKS 0x0005 /* of version 1 */
#define GVSP_TYPE_MULTIPART 0x000a
#define GVSP_TYPE_CHUNKS 0x4000 /* chunks follow the picture */

#define GVSP_STATUS_RESENT 0x0100
#define GVSP_STATUS_UNAVAILABLE 0x800c
#define GVSP_STATUS_NOT_YET 0x8010
#define GVSP_STATUS_ALL_REMOVED 0x8011 /* and those before it */
#define GVSP_STATUS_REMOVED 0x8012
#define GVSP_STATUS_LATER 0x8014
#define GVSP_FLAG_RESENT 0x0001 /* with 64 bit ids */

#endif
