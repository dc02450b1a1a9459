/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Back end: where packets come from.
 *
 * A new one is one file and one line in backends.c. It finds the payload of a packet and the first
 * stream it may be for; source filter, protocol and assembly are the receiver's.
 *
 * Threads: open, claim, start, check and close from the owner of the camera; receive, release,
 *          wait and ended from the receiving thread; kick and missed from any, between open and
 *          close.
 */
#ifndef LULL_CAMERA_BACKEND_H
#define LULL_CAMERA_BACKEND_H

#include <lull/camera.h>

#include "address.h"
#include "finding.h"

#define CAMERA_BURST 64

struct camera_packet {
	const uint8_t *data; /**< UDP payload, or Ethernet payload for Ethernet protocols */
	uint32_t len_bytes;
	uint32_t first; /**< index of the first stream it may be for, plus 1; 0: for none */
	uint64_t stamp_ns;
	struct camera_ip source;
	const uint8_t *mac; /**< of the sender; NULL: not known */
	/** Where it was sent to; any: streams that take any address alone. */
	struct camera_ip destination;
};

/** What a stream wants. Lives as long as the camera. */
struct camera_claim {
	uint32_t index; /**< of the stream */
	uint32_t first; /**< index of the first stream with the same port or ether type */
	bool ethernet;  /**< the ether type counts, not address and port */
	uint16_t ether_type;
	struct camera_ip address;
	struct camera_source source;
	uint16_t port;         /**< 0: the back end finds a free one and writes it here */
	uint64_t frame_bytes;  /**< of a picture; 0: not known yet */
	uint32_t packet_bytes; /**< of a packet with its IP header; 0: not known */
	uint32_t burst_pkts;   /**< packets of a picture, an estimate */
};

struct camera_backend {
	const char *name; /**< before the colon */
	const char *summary;
	bool polled; /**< rests by a governor; false: wait() blocks */
	bool file;   /**< time is that of the capture, and it can wait for the application */
	enum lull_camera_clock clock;
	/** @p argument: what stands behind the colon. */
	int (*open)(const struct lull_camera_config *config, const char *argument, void **state,
		    char *error);
	/** A stream was added; the claim is borrowed. */
	int (*claim)(void *state, struct camera_claim *claim, char *error);
	int (*start)(void *state, char *error);
	/** At most CAMERA_BURST packets, borrowed until release(). */
	uint32_t (*receive)(void *state, struct camera_packet *packets);
	void (*release)(void *state);
	/** Until packets are there, or kicked; NULL with polled. */
	void (*wait)(void *state, uint64_t limit_ns);
	void (*kick)(void *state); /**< NULL with polled */
	/** Of all packets fetched: for no stream, fragments, malformed below UDP; NULL: none. */
	uint64_t (*unclaimed)(void *state);
	uint64_t (*missed)(void *state);
	/** Add what went to and came from the kernel beside the port; NULL: nothing. */
	void (*exceptions)(void *state, struct lull_camera_totals *totals);
	/** Slots of the ring that rests must not overflow. */
	uint32_t (*ring_pkts)(void *state);
	/** Findings of its own, by camera_find(). */
	void (*check)(void *state, struct camera_findings *findings);
	/** What it finds for one stream; NULL: nothing. */
	void (*check_stream)(void *state, const struct camera_claim *claim,
			     struct camera_findings *findings);
	bool (*ended)(void *state); /**< NULL: never */
	/** Called on the receiving thread as it begins and ends; may be NULL. */
	void (*thread)(void *state, bool begins);
	void (*close)(void *state);
};

/** All of them, NULL at the end. */
extern const struct camera_backend *const camera_backends[];
extern const struct camera_backend camera_kernel, camera_kernel_busy, camera_dpdk, camera_pcap;

#endif
