/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Capture: read packets out of a pcap, pcapng or snoop file that lies in memory.
 *
 * The caller maps the file; nothing is copied, data views point into it.
 * Classic pcap: both byte orders, us and ns, all versions 2.x, AIX's and Kuznetzov's
 * variants. Snoop: RFC 1761. pcapng: both byte orders, any
 * if_tsresol and if_tsoffset, several interfaces and sections; enhanced,
 * simple and (obsolete) packet blocks; other blocks are skipped.
 * Threads: a capture belongs to one thread.
 * Memory:  caller's struct; the bytes are borrowed as long as it is used.
 *
 * @code
 * #include <stdio.h>
 * #include <lull/capture.h>
 *
 * uint64_t
 * count_packets(const uint8_t *bytes, size_t len)
 * {
 *         struct lull_capture_packet packet;
 *         struct lull_capture capture;
 *         uint64_t count = 0;
 *
 *         lull_capture_open(&capture, bytes, len);
 *         while (lull_capture_next(&capture, &packet) == LULL_CAPTURE_PACKET)
 *                 count++;
 *         if (capture.result != LULL_CAPTURE_END)
 *                 fprintf(stderr, "%s at %zu\n", capture.reason, capture.offset);
 *         return count;
 * }
 * @endcode
 */
#ifndef LULL_CAPTURE_H
#define LULL_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_CAPTURE_INTERFACES_MAX 8192 /**< interfaces of a section */
#define LULL_CAPTURE_KINDS_MAX 64        /**< that differ in link type or in the form of stamps */
/** Longest packet believed; a longer length field means a broken file. */
#define LULL_CAPTURE_PACKET_BYTES_MAX 262144
#define LULL_CAPTURE_LINK_ETHERNET 1
/** Link type of a snoop file for which there is no LINKTYPE_ value. */
#define LULL_CAPTURE_LINK_UNKNOWN 0xffff

/** What lull_capture_next() found. */
enum lull_capture_result {
	LULL_CAPTURE_PACKET,      /**< a packet was read */
	LULL_CAPTURE_END,         /**< the file ends where a record ends */
	LULL_CAPTURE_TRUNCATED,   /**< the file ends inside the record at the offset */
	LULL_CAPTURE_MALFORMED,   /**< the record at the offset contradicts itself */
	LULL_CAPTURE_UNSUPPORTED, /**< not a capture, or a version or size not read here */
};
/**
 * Name a result, for messages.
 * @return "packet", "end", "truncated", "malformed" or "unsupported"; "?" for any other value;
 *         static
 * Threads: any.
 */
const char *lull_capture_result_name(enum lull_capture_result result);

/** A packet as the file has it. */
struct lull_capture_packet {
	uint64_t timestamp_ns;    /**< since 1970; 0 when not timed; UINT64_MAX: later than fits */
	bool timed;               /**< false: the record carries no time (simple packet block) */
	uint16_t link_type;       /**< LINKTYPE_ value, LULL_CAPTURE_LINK_ETHERNET */
	uint32_t interface_index; /**< within its section; 0 in pcap and snoop */
	uint32_t captured_bytes;  /**< bytes at data, may be 0 */
	uint32_t original_bytes;  /**< on the wire, as the file says */
	const uint8_t *data;
};

/** How one interface of a section stamps its packets. */
struct lull_capture_interface {
	uint16_t link_type;
	bool binary;         /**< 2^exponent ticks per second, else 10^exponent */
	uint8_t exponent;    /**< 0..127 */
	uint32_t snap_bytes; /**< 0: no limit */
	int64_t offset_s;    /**< added to every time */
};

/** What a pcapng file tells of an interface; its texts are in the file, without a zero. */
struct lull_capture_description {
	uint32_t index;      /**< as packets have it in interface_index */
	uint32_t name_bytes; /**< 0: it has no name */
	uint32_t text_bytes; /**< 0: it is not described */
	const char *name, *text;
};
/** Take a description: borrow it during the call. */
typedef void lull_capture_described(void *arg, const struct lull_capture_description *description);

/** Look at offset, result, reason and foreign; the rest is private. */
struct lull_capture {
	size_t offset;      /**< of the next record, or of the one that failed */
	const char *reason; /**< what is wrong there, a few words; NULL while nothing is */
	enum lull_capture_result result; /**< of the last call; all but PACKET are final */
	const uint8_t *data;
	size_t len;
	bool foreign; /**< UNSUPPORTED: its first bytes are not those of any capture */
	enum lull_capture_result (*read)(struct lull_capture *, struct lull_capture_packet *);
	bool big_endian;
	bool modified;  /* pcap with longer headers of packets */
	bool unordered; /* pcap whose lengths may stand the other way round */
	uint32_t interface_count, kind_count;
	uint32_t simple_snap_bytes;
	lull_capture_described *described;
	void *described_arg;
	struct lull_capture_interface kinds[LULL_CAPTURE_KINDS_MAX];
	uint8_t interfaces[LULL_CAPTURE_INTERFACES_MAX]; /* kind of each */
};

/**
 * Start to read a file. A bad file header shows in capture->result at once, and as the result of
 * every lull_capture_next().
 * @param capture  the caller's struct; nothing is to be released
 * @param data     the whole file, borrowed as long as @p capture is used
 * @param len      bytes at @p data
 */
void lull_capture_open(struct lull_capture *capture, const uint8_t *data, size_t len);
/**
 * Ask for the descriptions of interfaces, which lull_capture_next() comes across before the packets
 * of these. Files of other forms than pcapng have none.
 * @param described  called with each; NULL: not any more
 * @param arg        passed to @p described
 */
void lull_capture_describe(struct lull_capture *capture, lull_capture_described *described,
			   void *arg);
/**
 * Read the next packet.
 * @param packet  filled in for LULL_CAPTURE_PACKET, else untouched; packet->data points into the
 *                file
 * @return LULL_CAPTURE_PACKET, or why there is no packet; any other result is final
 */
enum lull_capture_result lull_capture_next(struct lull_capture *capture,
					   struct lull_capture_packet *packet);

#ifdef __cplusplus
}
#endif

#endif
