/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Back end: a way for packets in. It knows packets and addresses, and nothing of what is in them.
 *
 * A new one is one file and one line in backends.c. It finds the payload of a packet and the first
 * claim it may be for; the source filter and all that follows are the receiver's.
 *
 * Threads: open, claim, start, check and close from the owner; receive, release, wait and ended
 *          from the receiving thread; send from one thread, that one or another, between start and
 *          close; kick, missed, sent and link from any, between open and close.
 * Errors:  0 or a negative errno; @p error: one sentence with the way out. It may be
 *          NULL.
 */
#ifndef LULL_NET_BACKEND_H
#define LULL_NET_BACKEND_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include <lull/base.h>

#include "address.h"
#include "finding.h"

#define LULL_NET_BURST 64
#define LULL_NET_CLAIMS_MAX 64

/** Zero means the default in brackets. */
struct lull_net_config {
	const char *program;   /**< name for DPDK's files; required for dpdk:PORT */
	const char *eal;       /**< further EAL arguments [NULL] */
	uint64_t socket_bytes; /**< receive buffer per socket [32 MiB] */
	uint32_t ring_pkts;    /**< slots of a port's queue [16384] */
	uint32_t mtu;          /**< longest packet of a port without an interface [1500] */
	bool own_loop;         /**< nobody calls wait(): ask all sockets each time */
	uint32_t send_pkts;    /**< room for packets on their way out [0: it only receives] */
	bool sums;             /**< look at checksums where no kernel and no NIC does */
	bool unchecked;        /**< open although what is known to take packets away is there */
};

/** Who made a time stamp. */
enum lull_net_clock {
	LULL_NET_CLOCK_NONE,
	LULL_NET_CLOCK_KERNEL, /**< the kernel on receiving, CLOCK_REALTIME */
	LULL_NET_CLOCK_POLL,   /**< receive(), CLOCK_MONOTONIC */
	LULL_NET_CLOCK_FILE,   /**< the capture */
};

struct lull_net_packet {
	const uint8_t *data; /**< UDP payload, or Ethernet payload for claims of an ether type */
	uint32_t len_bytes;
	uint32_t first; /**< index of the first claim it may be for, plus 1; 0: for none */
	uint64_t stamp_ns;
	struct lull_net_ip source;
	uint16_t source_port; /**< of UDP */
	const uint8_t *mac;   /**< of the sender; NULL: not known */
	/** Where it was sent to; any: claims that take any address alone. */
	struct lull_net_ip destination;
};

/**
 * What somebody wants. Lives as long as the back end is open. Sockets share the port of a group or
 * of 255.255.255.255 with other programs: each of them hears what is sent there.
 */
struct lull_net_claim {
	uint32_t index; /**< of this claim */
	uint32_t first; /**< index of the first claim with the same port or ether type */
	bool ethernet;  /**< the ether type counts, not address and port */
	uint16_t ether_type;
	uint8_t mac[LULL_NET_MAC_SIZE]; /**< with ethernet: it is sent to; all zero: to any */
	bool all_groups;                /**< any is also: to any group, as far as can be asked */
	struct lull_net_ip address;
	struct lull_net_source source;
	uint16_t port;         /**< 0: the back end finds a free one and writes it here */
	uint64_t burst_bytes;  /**< that may come at once; 0: not known yet */
	uint32_t burst_pkts;   /**< the same in packets, an estimate */
	uint32_t packet_bytes; /**< of a packet with its IP header; 0: not known */
};

/** A packet on its way out; all of it is borrowed until send() returns. */
struct lull_net_outgoing {
	const uint8_t *data; /**< UDP payload, or what follows the ether type */
	uint32_t len_bytes;
	uint16_t ether_type; /**< 0: UDP, over IPv4 or IPv6 as the destination is */
	uint16_t source_port, port;
	struct lull_net_ip source, destination; /**< source any: sockets choose it */
	const uint8_t *source_mac;              /**< NULL: that of the port */
	const uint8_t *mac; /**< of who gets it; NULL: sockets ask for it, groups have one */
};

/** What became of the packets given to send(). */
struct lull_net_sent {
	uint64_t pkts, bytes; /**< sent; bytes of their payload */
	uint64_t too_long;    /**< dropped: longer than the MTU */
	uint64_t unreachable; /**< dropped: no route, no socket or no MAC address for them */
	uint64_t full;        /**< not taken, for want of room */
};
extern const struct lull_counter_info lull_net_sent_table[];
/** Copy counters that another thread adds to. */
void lull_net_sent_read(const struct lull_net_sent *from, struct lull_net_sent *to);

struct lull_net_link {
	uint32_t mtu;  /**< longest packet, without Ethernet header */
	uint32_t mbps; /**< 0: not known */
	bool up;
	int node;                       /**< NUMA node of the device + 1; 0: not known */
	uint8_t mac[LULL_NET_MAC_SIZE]; /**< of the port; all zero: not known, or it has none */
};

/** What was for no claim and went to the kernel, and what the kernel sent beside the port. */
struct lull_net_exceptions {
	uint64_t to_kernel, from_kernel;
	uint64_t refused; /**< no room, or the other side did not take it */
};

/** Packets for claims that were not given to them. */
struct lull_net_damaged {
	uint64_t wrong; /**< a checksum of IP or UDP is wrong, with config.sums */
	uint64_t cut;   /**< without their end: of a capture, a slot, longer than the port's MTU */
};

struct lull_net_backend {
	const char *name; /**< before the colon */
	const char *summary;
	const char *module; /**< the rest of the table is in this module (module.h); NULL: here */
	bool polled;        /**< rests by a governor; false: wait() blocks */
	bool file;          /**< time is that of the capture, and it can wait for who receives */
	enum lull_net_clock clock;
	/** @p argument: what stands behind the colon. */
	int (*open)(const struct lull_net_config *config, const char *argument, void **state,
		    struct lull_error *error);
	/** Another claim; it is borrowed. */
	int (*claim)(void *state, struct lull_net_claim *claim, struct lull_error *error);
	int (*start)(void *state, struct lull_error *error);
	/** At most LULL_NET_BURST packets, borrowed until release(). NULL: it only sends. */
	uint32_t (*receive)(void *state, struct lull_net_packet *packets);
	void (*release)(void *state);
	/** Until packets are there, or kicked; NULL with polled. */
	void (*wait)(void *state, uint64_t limit_ns);
	void (*kick)(void *state); /**< NULL with polled */
	/**
	 * For who waits for several back ends in one poll(), in the place of wait(): fill in the
	 * descriptors, at most LULL_NET_CLAIMS_MAX, and return how many. NULL with polled.
	 */
	uint32_t (*watch)(void *state, struct pollfd *polls);
	/**
	 * What poll() said of them: receive() asks those sockets alone. NULL: it asks all, once.
	 * NULL with polled.
	 */
	void (*watched)(void *state, const struct pollfd *polls);
	/** Of all packets fetched: for no claim, fragments, malformed below UDP; NULL: none. */
	uint64_t (*unclaimed)(void *state);
	uint64_t (*missed)(void *state);
	void (*damaged)(void *state, struct lull_net_damaged *damaged); /**< NULL: none are */
	/** NULL: nothing goes beside. */
	void (*exceptions)(void *state, struct lull_net_exceptions *exceptions);
	/** Slots of the ring that rests must not overflow. */
	uint32_t (*ring_pkts)(void *state);
	/** Findings of its own, by lull_finding_add(). */
	void (*check)(void *state, struct lull_findings *findings);
	/** What it finds for one claim; NULL: nothing. */
	void (*check_claim)(void *state, const struct lull_net_claim *claim,
			    struct lull_findings *findings);
	bool (*ended)(void *state); /**< NULL: never */
	/**
	 * Send packets in this order; where config.send_pkts was given, else NULL or 0. Returns how
	 * many are dealt with from the first on, sent or dropped; for the others there is no room
	 * now, and they may be tried again. Never waits.
	 */
	uint32_t (*send)(void *state, const struct lull_net_outgoing *packets, uint32_t count);
	void (*sent)(void *state, struct lull_net_sent *sent); /**< NULL with send */
	void (*link)(void *state, struct lull_net_link *link);
	/** Called on the receiving thread as it begins and ends; may be NULL. */
	void (*thread)(void *state, bool begins);
	void (*close)(void *state);
};

/** All of them, NULL at the end. */
extern const struct lull_net_backend *const lull_net_backends[];
extern const struct lull_net_backend lull_net_kernel, lull_net_kernel_busy, lull_net_pcap,
	lull_net_pcap_write;

/**
 * "NAME:ARGUMENT"; @p argument points into @p text. Loads the module of a back end that has one.
 * -EINVAL: there is none of that name; or what lull_net_module_load() returns.
 */
int lull_net_choose(const char *text, const struct lull_net_backend **backend,
		    const char **argument, struct lull_error *error);

#endif
