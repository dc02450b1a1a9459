/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Switch: packets between the rails of a node and the processes that have attached to them.
 *
 * An attachment of a process to one rail is a *port*, a number from 1 to 65535 on this rail. A
 * packet from the wire goes to the port that stands in it, or to all of the rail when it is for
 * everybody. A packet of a process goes to the port of this node it is addressed to, or onto the
 * wire; one for everybody goes to both. The switch knows nothing of what is in a packet.
 *
 * The first packet from one port to another is a meeting: whoever serves gives the two a lane of
 * their own, and what follows does not come here.
 *
 * A process that writes what cannot be into its ring loses its port. Packets that find a process's
 * ring full are lost, as in any switch; when the wire is full, packets wait in the rings.
 *
 * Threads: all under the lock of the switch, but for the counters.
 * Memory:  ports are the caller's, until node_switch_remove().
 */
#ifndef LULL_CHANNEL_NODE_SWITCH_H
#define LULL_CHANNEL_NODE_SWITCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "channel/attach.h"
#include "channel/lane.h"
#include "channel/rail.h"
#include "counters.h"

#define NODE_PORTS_MAX 512
#define NODE_MEETINGS_MAX 64 /* that wait to be told */

/** Ports by their index. */
struct node_set {
	uint64_t bits[NODE_PORTS_MAX / 64];
};
static inline bool
node_set_has(const struct node_set *set, uint32_t index)
{
	return (set->bits[index / 64] >> index % 64 & 1) != 0;
}
static inline void
node_set_put(struct node_set *set, uint32_t index, bool in)
{
	set->bits[index / 64] &= ~(1ULL << index % 64);
	set->bits[index / 64] |= (uint64_t)in << index % 64;
}

struct node_port {
	uint32_t rail;   /* of the node */
	uint32_t number; /* 1..65535 */
	uint32_t index;  /* among all */
	int process_fd;  /* the connection */
	uint32_t uid;    /* of the process */
	struct channel_lane lane;
	bool broken;                /* it wrote nonsense, or hung up: whoever serves it ends it */
	struct node_set asked, met; /* ports whose lane to this one is asked for, and is there */
	uint32_t met_count;
};

/** Two ports that exchange packets. */
struct node_meeting {
	struct node_port *ports[2];
};

struct node_rail {
	struct channel_rail *rail; /* its packets[] are those on their way to the wire */
	uint16_t from[CHANNEL_SEND_BURST];
	uint32_t turn; /* port that is asked first */
	uint32_t port_count;
	uint16_t ports[NODE_PORTS_MAX]; /* indices */
	uint16_t *by_number;            /* index plus 1, of each number */
};

struct node_switch {
	pthread_mutex_t lock;
	atomic_uint callers; /* that wait for it */
	uint32_t rail_count;
	struct node_rail rails[LULL_CHANNEL_RAILS_MAX];
	struct node_port *ports[NODE_PORTS_MAX];
	uint32_t port_high; /* all are below */
	uint32_t epoch;     /* raised by each change of ports */
	struct node_counters counters;
	bool tell;               /* a port is broken, or two met, and nobody was told */
	uint32_t neighbours_max; /* meetings of a port */
	uint32_t meeting_count;  /* that nobody has seen to */
	struct node_meeting meetings[NODE_MEETINGS_MAX];
};

/** The lock; whoever moves packets gives way to others. */
void node_switch_lock(struct node_switch *to);
void node_switch_unlock(struct node_switch *to);

/** Take a port in; its number is free. -ENOSPC: there are too many. */
int node_switch_add(struct node_switch *to, struct node_port *port);
void node_switch_remove(struct node_switch *to, struct node_port *port);
/** The next meeting that is to be seen to, and counted as one. False: there is none. */
bool node_switch_meeting(struct node_switch *to, struct node_meeting *meeting);
/** A free number on a rail: @p wanted, or any where that is 0. -EADDRINUSE, -ENOSPC. */
int node_switch_number(const struct node_switch *to, uint32_t rail, uint32_t wanted);

/** The process of a port hung up its bell: whoever serves ends the port. */
void node_switch_gone(struct node_switch *to, struct node_port *port);

/** One pass over all rails and ports; how many packets were moved. */
uint32_t node_switch_turn(struct node_switch *to);
/** Do packets wait for room on a wire? */
bool node_switch_waits(const struct node_switch *to);

#endif
