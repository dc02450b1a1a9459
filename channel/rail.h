/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Rail: a local port, from its words to its packets.
 *
 * What carries the packets is a table of functions, struct channel_way: rail_net.c has sockets and
 * ports of net/, rail_pair.c two ends in one process, rail_memory.c a rail of lull-channel-node.
 *
 * Threads: open, close and look from any, one at a time; all else under the lock of the channel.
 * Memory:  allocated by open alone.
 */
#ifndef LULL_CHANNEL_RAIL_H
#define LULL_CHANNEL_RAIL_H

#include <poll.h>

#include <lull/bundle.h>
#include <lull/channel.h>

#include "net/finding.h"

#define CHANNEL_BURST 64          /* packets received at once */
#define CHANNEL_SEND_BURST 32     /* packets on their way out of a rail */
#define CHANNEL_WATCH_MAX 4       /* descriptors of a rail */
#define CHANNEL_HEAD_ROOM 8       /* in front of each packet on its way out */
#define CHANNEL_PACKET_BYTES 9000 /* a rail with a larger MTU is not used beyond that */
#define CHANNEL_PORT 34997        /* of UDP, unless said otherwise */
#define CHANNEL_RAIL_TEXT_SIZE 128
#define CHANNEL_ETHER_TYPE 0x88b5 /* for local experiments, IEEE 802 */

/** Kinds of rails: those of one kind reach each other. */
enum channel_kind {
	CHANNEL_KIND_IP4 = 1,
	CHANNEL_KIND_IP6 = 2,
	CHANNEL_KIND_ETHERNET = 3,
	CHANNEL_KIND_PAIR = 64, /* and those behind it: one for each name */
};

/** A packet that came, borrowed until release. */
struct channel_packet {
	uint8_t *bytes;
	uint32_t len_bytes;
	struct lull_bundle_address from;
	uint16_t to; /* port of the node's program it was sent to; 0: none, or everybody */
};

/** What a rail is now. */
struct channel_rail_facts {
	uint32_t mtu_bytes, mbps;
	bool up;
	int node; /* NUMA node of the device + 1; 0: not known */
	/* of a rail of the node's program */
	uint32_t neighbours;                     /* processes of this node it meets directly */
	uint64_t direct_rx_pkts, direct_tx_pkts; /* from and to them */
};

/** What carries the packets of a rail. Members that say so may be NULL. */
struct channel_way {
	/** At most CHANNEL_BURST packets. */
	uint32_t (*receive)(void *state, struct channel_packet *packets);
	void (*release)(void *state);
	/** How many are dealt with from the first on; for the others there is no room now. */
	uint32_t (*send)(void *state, const struct lull_bundle_packet *packets, uint32_t count);
	/** The same, each in the name of a port, not 0. NULL: the rail was not opened for that. */
	uint32_t (*send_as)(void *state, const struct lull_bundle_packet *packets,
			    const uint16_t *ports, uint32_t count);
	/** Descriptors that are readable when packets are there. NULL: it has to be polled. */
	uint32_t (*watch)(void *state, struct pollfd *polls);
	/** What poll() said of them; NULL: receive asks all of them. */
	void (*watched)(void *state, const struct pollfd *polls);
	/** The thread that moves packets begins and ends. NULL: nothing to do. */
	void (*thread)(void *state, bool begins);
	/** May wait for the kernel: without the lock of the channel. */
	void (*facts)(void *state, struct channel_rail_facts *facts);
	/** Packets that left. Any thread. */
	uint64_t (*sent)(void *state);
	/** Packets lost for want of room here. Any thread. */
	uint64_t (*missed)(void *state);
	/** Findings of its own. NULL: none. */
	void (*check)(void *state, struct lull_findings *findings);
	void (*close)(void *state);
};

/** What opens a rail. */
struct channel_rail_config {
	const char *program; /* for DPDK's files */
	const char *eal;     /* further EAL arguments; may be NULL */
	bool unchecked;
	bool switched; /* by the node's program, for processes that have a port each */
};

struct channel_rail {
	char text[CHANNEL_RAIL_TEXT_SIZE]; /* as it was configured */
	const struct channel_way *way;
	void *state;
	struct lull_bundle_rail bundle; /* as the bundle is told */
	uint64_t rx_pkts;
	bool begun; /* way->thread was told */

	/* packets on their way out: those from next on found no room yet */
	uint32_t next, count;
	struct lull_bundle_packet packets[CHANNEL_SEND_BURST];
	uint8_t *slab;
};

/** -EINVAL, -ENODEV, -ENOMEM ... */
int channel_rail_open(const struct channel_rail_config *config, const char *text,
		      struct channel_rail **rail, struct lull_error *error);
/** NULL does nothing. */
void channel_rail_close(struct channel_rail *rail);

#endif
