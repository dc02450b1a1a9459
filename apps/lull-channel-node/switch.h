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
#include "channel/rail.h"
#include "channel/ring.h"
#include "counters.h"

#define NODE_PORTS_MAX 512

struct node_port {
	uint32_t rail;   /* of the node */
	uint32_t number; /* 1..65535 */
	int process_fd;  /* the connection */
	int fds[CHANNEL_ATTACH_FDS];
	struct channel_attach_facts *memory;
	struct channel_ring in, out; /* from the process, to it */
	uint32_t pushed;             /* written to out, and not handed over yet */
	bool broken;                 /* it wrote nonsense: whoever serves it ends it */
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
	bool broke; /* a port is broken, and nobody was told */
};

/** The lock; whoever moves packets gives way to others. */
void node_switch_lock(struct node_switch *to);
void node_switch_unlock(struct node_switch *to);

/** Take a port in; its number is free. -ENOSPC: there are too many. */
int node_switch_add(struct node_switch *to, struct node_port *port);
void node_switch_remove(struct node_switch *to, struct node_port *port);
/** A free number on a rail: @p wanted, or any where that is 0. -EADDRINUSE, -ENOSPC. */
int node_switch_number(const struct node_switch *to, uint32_t rail, uint32_t wanted);

/** One pass over all rails and ports; how many packets were moved. */
uint32_t node_switch_turn(struct node_switch *to);
/** Do packets wait for room on a wire? */
bool node_switch_waits(const struct node_switch *to);

#endif
