/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Packet write: the packets of a frame, any one of them by its number.
 *
 * The senders' side of the protocols in core/frame: a plan says once how frames of one kind are
 * cut, then each packet can be written alone, also again for a resend.
 * Threads: a plan is not changed by writing. Memory: the caller's.
 */
#ifndef LULL_PACKET_WRITE_H
#define LULL_PACKET_WRITE_H

#include <lull/frame.h>

#include "pixel/rows.h"

#define LULL_PACKET_BYTES_MIN 128
#define LULL_PACKET_BYTES_MAX 9216

/** What all frames of a stream have in common; zero where a protocol does not care. */
struct lull_packet_format {
	struct lull_frame_geometry geometry;
	uint32_t packet_bytes; /**< of UDP payload or Ethernet payload, at most */
	uint64_t stream_id;    /**< RTP: source; CMP: device << 8 | stream; RVF: stream */
	uint8_t payload_type;  /**< RTP: 0..127 */
	bool interlaced;       /**< RFC 4175 */
	bool field_rows;       /**< RFC 4175: lines are counted within the field */
	uint32_t field_time;   /**< RFC 4175: from one field to the next, in units of the key */
	bool extended;         /**< GVSP: 64 bit ids; RFC 4175: count with 32 bits */
	bool all_in;           /**< GVSP: a frame in one packet, where it fits */
	uint8_t virtual_channel, data_type; /**< CMP; data_type 0: what goes with the pixel */
};
struct lull_packet_plan {
	struct lull_packet_format format;
	struct lull_frame_rows rows;
	uint32_t count;                   /**< packets of a frame */
	uint32_t data_bytes;              /**< of a full packet; of a part of a line */
	uint32_t lines;                   /**< whole ones in a packet; 0: parts */
	uint32_t parts;                   /**< of a line */
	uint32_t first_rows, first_count; /**< of field 0: rows and packets */
};
/** One frame to send. */
struct lull_packet_frame {
	uint64_t key;          /**< as the protocol counts: RTP time, block id, frame counter */
	uint64_t first_packet; /**< number of its packet 0 in the stream */
	uint64_t device_time;  /**< GVSP, CMP (ns), RVF (ns) */
	const uint8_t *data;   /**< lull_frame_bytes() of the picture; borrowed */
	bool resent;           /**< GVSP: marked as an answer to a request */
};
struct lull_packet_writer {
	const char *name; /**< of the protocol */
	/** 0; -EINVAL: out of range; -ENOTSUP: the protocol has no such picture. */
	int (*plan)(struct lull_packet_plan *plan, const struct lull_packet_format *format);
	/** Write packet @p index below plan->count to packet_bytes; how long it is. */
	size_t (*write)(const struct lull_packet_plan *plan, const struct lull_packet_frame *frame,
			uint32_t index, uint8_t *packet);
};
extern const struct lull_packet_writer lull_rfc4175_writer;
extern const struct lull_packet_writer lull_gvsp_writer;
extern const struct lull_packet_writer lull_cmp_writer;
extern const struct lull_packet_writer lull_rvf_writer;
/** All of them, NULL at the end. */
extern const struct lull_packet_writer *const lull_packet_writers[];
const struct lull_packet_writer *lull_packet_writer_find(const char *name);

/** Begin a plan: checks format and packet size, sets rows. 0 or -EINVAL. */
int lull_packet_plan_begin(struct lull_packet_plan *plan, const struct lull_packet_format *format);
/** GVSP: the answer to a request for a packet that is there no more. */
size_t lull_gvsp_write_gone(const struct lull_packet_plan *plan,
			    const struct lull_packet_frame *frame, uint32_t index, uint8_t *packet);

#endif
