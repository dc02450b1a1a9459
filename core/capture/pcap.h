/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Pcap: the file formats behind lull/capture.h, and what they share.
 *
 * The format functions return a result other than PACKET with capture->offset
 * at the record to blame; lull_capture_next() makes it final.
 */
#ifndef LULL_PCAP_H
#define LULL_PCAP_H

#include <lull/capture.h>

#include "base/reader.h"

#define LULL_PCAPNG_SECTION 0x0a0d0d0aU /* reads the same in both byte orders */
#define LULL_SNOOP_FIRST 0x736e6f6fU    /* "snoo", big-endian like all of such a file */

/** Read the file header; PACKET when it is good. */
enum lull_capture_result lull_pcap_open(struct lull_capture *capture);
enum lull_capture_result lull_pcap_next(struct lull_capture *capture,
					struct lull_capture_packet *packet);
/** Read the first section header; PACKET when it is good. */
enum lull_capture_result lull_pcapng_open(struct lull_capture *capture);
/** Read the next packet block and all blocks before it. */
enum lull_capture_result lull_pcapng_next(struct lull_capture *capture,
					  struct lull_capture_packet *packet);

/** Read the header of a snoop file; PACKET when it is good. */
enum lull_capture_result lull_snoop_open(struct lull_capture *capture);
enum lull_capture_result lull_snoop_next(struct lull_capture *capture,
					 struct lull_capture_packet *packet);

static inline enum lull_capture_result
lull_capture_fail(struct lull_capture *capture, enum lull_capture_result result, const char *reason)
{
	capture->reason = reason;
	return result;
}

/** What is left of the file from the offset on. */
static inline struct lull_reader
lull_capture_rest(const struct lull_capture *capture)
{
	return lull_reader_over(capture->data + capture->offset, capture->len - capture->offset);
}

/* Numbers in the byte order of the file or section. */
static inline uint16_t
lull_capture_u16(const struct lull_capture *capture, struct lull_reader *reader)
{
	return capture->big_endian ? lull_reader_u16be(reader) : lull_reader_u16le(reader);
}

static inline uint32_t
lull_capture_u32(const struct lull_capture *capture, struct lull_reader *reader)
{
	return capture->big_endian ? lull_reader_u32be(reader) : lull_reader_u32le(reader);
}

static inline uint64_t
lull_capture_u64(const struct lull_capture *capture, struct lull_reader *reader)
{
	return capture->big_endian ? lull_reader_u64be(reader) : lull_reader_u64le(reader);
}

#endif
