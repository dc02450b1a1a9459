/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Config: what cameras in software send, how fast, to whom, and with which faults.
 *
 * Members are called as the options of lull-cam-source, so the sentences about them fit both.
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_EMULATOR_CONFIG_H
#define LULL_EMULATOR_CONFIG_H

#include <lull/frame.h>

#include "host/error.h"

#define LULL_EMULATOR_CAMERAS_MAX 32
#define LULL_EMULATOR_LOSSES_MAX 64

/** In the order of lull_packet_writers. */
enum lull_emulator_protocol {
	LULL_EMULATOR_RFC4175,
	LULL_EMULATOR_GVSP,
	LULL_EMULATOR_CMP,
	LULL_EMULATOR_RVF,
};
/** What tells several cameras apart: ports or addresses that count up. */
enum lull_emulator_apart { LULL_EMULATOR_APART_PORTS, LULL_EMULATOR_APART_ADDRESSES };
/** Device time: when a frame was due, or when the packet was written. */
enum lull_emulator_stamp { LULL_EMULATOR_STAMP_DUE, LULL_EMULATOR_STAMP_SENT };
/** Requests for packets: answer them, lose answers like other packets, or ignore them. */
enum lull_emulator_resend {
	LULL_EMULATOR_RESEND_ANSWER,
	LULL_EMULATOR_RESEND_LOSSY,
	LULL_EMULATOR_RESEND_IGNORE,
};

/** An address and a port of IPv4, or an Ethernet address. */
struct lull_emulator_address {
	bool given, ethernet;
	uint32_t ip;   /**< in the byte order of the host */
	uint16_t port; /**< 0: none */
	uint8_t mac[6];
};

enum lull_emulator_pace_kind {
	LULL_EMULATOR_PACE_BURST,
	LULL_EMULATOR_PACE_SPREAD,
	LULL_EMULATOR_PACE_RATE,
};
/** How fast the packets of a frame follow each other. */
struct lull_emulator_pace {
	enum lull_emulator_pace_kind kind;
	uint64_t value; /**< SPREAD: ns for all of a frame; RATE: bits per second */
};

/** Packets that are not sent: a share of all of them, and some by name. */
struct lull_emulator_loss {
	uint32_t ppm;
	uint32_t count;
	struct lull_emulator_lost {
		uint64_t frame;
		uint32_t first, last; /**< packets of the frame */
	} list[LULL_EMULATOR_LOSSES_MAX];
};

/** What is done to receivers. */
enum lull_emulator_attack_kind {
	LULL_EMULATOR_ATTACK_NONE,
	LULL_EMULATOR_ATTACK_PACKET_SIZE,
	LULL_EMULATOR_ATTACK_REGION,
	LULL_EMULATOR_ATTACK_RESTART,
	LULL_EMULATOR_ATTACK_FORGED_LEADER,
	LULL_EMULATOR_ATTACK_STALE,
	LULL_EMULATOR_ATTACK_MIXED_FIELDS,
	LULL_EMULATOR_ATTACK_TRUNCATED,
	LULL_EMULATOR_ATTACK_UNKNOWN_FORMAT,
};
struct lull_emulator_attack {
	enum lull_emulator_attack_kind kind;
	uint64_t frame;
};

/** Packets that are sent later. */
struct lull_emulator_delay {
	uint32_t ppm;
	uint64_t much; /**< packets behind which one is sent, or ns for which it is kept */
};

struct lull_emulator_config {
	enum lull_emulator_protocol protocol;
	char interface[16]; /**< "": the routes decide; CMP and RVF need one */
	struct lull_emulator_address bind, to;
	uint32_t cameras; /**< 1..LULL_EMULATOR_CAMERAS_MAX */
	enum lull_emulator_apart apart;
	uint16_t control_port; /**< GVSP: of the first camera */
	uint64_t stream_id;    /**< of the first camera */

	uint32_t width, height; /**< pixels */
	uint32_t row_bytes;     /**< from one row to the next; 0: no padding */
	enum lull_pixel pixel;  /**< LULL_PIXEL_UNKNOWN: what is usual for the protocol */
	uint32_t pattern;       /**< enum pattern_kind */
	uint32_t packet_bytes;  /**< behind the header of UDP or Ethernet, at most */
	uint64_t first, first_packet;
	bool interlaced, field_rows, extended, all_in;

	double rate; /**< frames per second of each camera; 0: as fast as possible */
	struct lull_emulator_pace pace;
	uint64_t stagger_ns; /**< from the frames of one camera to those of the next */
	enum lull_emulator_stamp stamp;
	bool sent_stamp; /**< the last eight bytes of a picture say when they were sent */
	bool segment;    /**< the kernel cuts rows of packets apart */

	struct lull_emulator_loss lose;
	uint32_t duplicate_ppm;
	struct lull_emulator_delay reorder, late;
	struct lull_emulator_attack attack;
	enum lull_emulator_resend resend;
	uint32_t memory_frames; /**< of how many last frames packets are sent again */
	uint64_t seed;
	const char *log; /**< file for a line of JSON per fault; NULL or "": none. Borrowed */
	bool log_frames; /**< lines for frames too */

	uint64_t frames;    /**< of each camera; 0: no limit */
	uint64_t linger_ns; /**< GVSP: requests are answered so long after the last frame */
};

/**
 * Fill in what depends on the protocol, and refuse what contradicts itself. Numbers that have a
 * range of their own (cameras, packet_bytes, ...) must lie in it.
 * @return 0; or -EINVAL and the sentence, which begins with the name of a member
 */
int lull_emulator_config_check(struct lull_emulator_config *config, struct lull_error *error);

/** Geometry of the picture of every frame. */
struct lull_frame_geometry emulator_geometry(const struct lull_emulator_config *config);
/** Do packets go without IP? */
bool emulator_ethernet(const struct lull_emulator_config *config);
/** Does a client decide where the pictures go, and when? */
bool emulator_controlled(const struct lull_emulator_config *config);

#endif
