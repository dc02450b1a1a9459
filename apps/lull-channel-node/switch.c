/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"

#define SWITCH_BURSTS 8 /* of a rail before the others have their turn */
#define SWITCH_PORT_BYTES 2

void
node_switch_lock(struct node_switch *to)
{
	if (pthread_mutex_trylock(&to->lock) == 0)
		return;
	atomic_fetch_add_explicit(&to->callers, 1, memory_order_relaxed);
	pthread_mutex_lock(&to->lock);
	atomic_fetch_sub_explicit(&to->callers, 1, memory_order_relaxed);
}

void
node_switch_unlock(struct node_switch *to)
{
	pthread_mutex_unlock(&to->lock);
}

/* ---- ports ---- */

int
node_switch_add(struct node_switch *to, struct node_port *port)
{
	struct node_rail *rail = &to->rails[port->rail];
	uint16_t index = 0;

	while (index < NODE_PORTS_MAX && to->ports[index] != NULL)
		index++;
	if (index == NODE_PORTS_MAX)
		return -ENOSPC;
	to->ports[index] = port;
	port->index = index;
	to->port_high = LULL_MAX(to->port_high, index + 1u);
	rail->by_number[port->number] = (uint16_t)(index + 1);
	rail->ports[rail->port_count++] = index;
	LULL_COUNTER_ADD(to->counters.ports, 1);
	to->epoch++;
	return 0;
}

/* Nobody has met a port that goes. Who had met too many others may ask again. */
static void
switch_forget(struct node_switch *to, const struct node_port *gone)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < to->port_high; i++) {
		struct node_port *port = to->ports[i];

		if (port == NULL)
			continue;
		port->met_count -= node_set_has(&port->met, gone->index);
		node_set_put(&port->met, gone->index, false);
		port->asked = port->met;
	}
	for (uint32_t i = 0; i < to->meeting_count; i++)
		if (to->meetings[i].ports[0] != gone && to->meetings[i].ports[1] != gone)
			to->meetings[left++] = to->meetings[i];
	to->meeting_count = left;
}

void
node_switch_remove(struct node_switch *to, struct node_port *port)
{
	struct node_rail *rail = &to->rails[port->rail];
	uint16_t index = (uint16_t)port->index;
	uint32_t at = 0;

	while (rail->ports[at] != index)
		at++;
	rail->ports[at] = rail->ports[--rail->port_count];
	rail->by_number[port->number] = 0;
	to->ports[index] = NULL;
	switch_forget(to, port);
	LULL_COUNTER_ADD(to->counters.ports, -1ULL);
	to->epoch++;
}

int
node_switch_number(const struct node_switch *to, uint32_t rail, uint32_t wanted)
{
	const uint16_t *taken = to->rails[rail].by_number;
	static uint32_t next; /* another one each time: what is late is for nobody */

	if (wanted > UINT16_MAX)
		return -EINVAL;
	if (wanted != 0)
		return taken[wanted] == 0 ? (int)wanted : -EADDRINUSE;
	if (next == 0)
		next = (uint32_t)getpid() * 40503u;
	for (uint32_t i = 0; i < UINT16_MAX; i++) {
		uint32_t number = (next += 7919u) % UINT16_MAX + 1;

		if (taken[number] == 0)
			return (int)number;
	}
	return -ENOSPC;
}

static void
switch_break(struct node_switch *to, struct node_port *port)
{
	port->broken = true;
	to->tell = true;
	LULL_COUNTER_ADD(to->counters.nonsense, 1);
}

/* ---- meetings ---- */

static void
switch_meet(struct node_switch *to, struct node_port *a, struct node_port *b)
{
	if (node_set_has(&a->asked, b->index) || to->meeting_count == NODE_MEETINGS_MAX)
		return;
	node_set_put(&a->asked, b->index, true);
	node_set_put(&b->asked, a->index, true);
	if (to->neighbours_max == 0)
		return;
	to->meetings[to->meeting_count++] = (struct node_meeting){ { a, b } };
	to->tell = true;
}

bool
node_switch_meeting(struct node_switch *to, struct node_meeting *meeting)
{
	while (to->meeting_count > 0) {
		struct node_port **ports = meeting->ports;

		*meeting = to->meetings[--to->meeting_count];
		if (ports[0] == ports[1] || ports[0]->uid != ports[1]->uid ||
		    node_set_has(&ports[0]->met, ports[1]->index) ||
		    ports[0]->met_count >= to->neighbours_max ||
		    ports[1]->met_count >= to->neighbours_max)
			continue;
		for (uint32_t i = 0; i < 2; i++) {
			node_set_put(&ports[i]->met, ports[1 - i]->index, true);
			ports[i]->met_count++;
		}
		LULL_COUNTER_ADD(to->counters.meetings, 1);
		return true;
	}
	return false;
}

/* ---- to processes ---- */

static void
switch_give(struct node_switch *to, struct node_port *port, const struct lull_bundle_address *from,
	    const uint8_t *bytes, uint32_t len_bytes)
{
	int rc;

	if (port->broken || len_bytes == 0 || len_bytes > port->lane.out.packet_bytes)
		return;
	rc = channel_lane_put(&port->lane, from, bytes, len_bytes);
	if (rc == -EPROTO) {
		switch_break(to, port);
	} else if (rc != 0) {
		LULL_COUNTER_ADD(to->counters.full_pkts, 1);
		channel_lane_miss(&port->lane);
	}
}

/* To all ports of a rail but one; NULL: to all. */
static void
switch_give_all(struct node_switch *to, const struct node_rail *rail, const struct node_port *but,
		const struct lull_bundle_address *from, const uint8_t *bytes, uint32_t len_bytes)
{
	for (uint32_t i = 0; i < rail->port_count; i++)
		if (to->ports[rail->ports[i]] != but)
			switch_give(to, to->ports[rail->ports[i]], from, bytes, len_bytes);
}

/* Hand over what was written, and end the rests of who gets it. */
static void
switch_push(struct node_switch *to, const struct node_rail *rail)
{
	for (uint32_t i = 0; i < rail->port_count; i++)
		channel_lane_push(&to->ports[rail->ports[i]]->lane);
}

static struct node_port *
switch_find(struct node_switch *to, const struct node_rail *rail, uint32_t number)
{
	uint16_t index = rail->by_number[number];

	return index != 0 ? to->ports[index - 1] : NULL;
}

/* ---- from the wire ---- */

static uint32_t
switch_in(struct node_switch *to, struct node_rail *rail)
{
	const struct channel_way *way = rail->rail->way;
	struct channel_packet packets[CHANNEL_BURST];
	uint32_t total = 0, count = CHANNEL_BURST;

	for (uint32_t i = 0; i < SWITCH_BURSTS && count == CHANNEL_BURST; i++) {
		count = way->receive(rail->rail->state, packets);
		for (uint32_t k = 0; k < count; k++) {
			const struct channel_packet *packet = &packets[k];
			struct node_port *port =
				packet->to != 0 ? switch_find(to, rail, packet->to) : NULL;

			if (port != NULL)
				switch_give(to, port, &packet->from, packet->bytes,
					    packet->len_bytes);
			else if (packet->to == 0)
				switch_give_all(to, rail, NULL, &packet->from, packet->bytes,
						packet->len_bytes);
			else
				LULL_COUNTER_ADD(to->counters.nobody_pkts, 1);
		}
		if (count > 0)
			way->release(rail->rail->state);
		switch_push(to, rail);
		total += count;
	}
	LULL_COUNTER_ADD(to->counters.rx_pkts, total);
	return total;
}

/* ---- from processes ---- */

/* What found no room before. False: there is still none. */
static bool
switch_flush(struct node_switch *to, struct node_rail *rail)
{
	struct channel_rail *wire = rail->rail;

	if (wire->next < wire->count) {
		uint32_t sent =
			wire->way->send_as(wire->state, &wire->packets[wire->next],
					   &rail->from[wire->next], wire->count - wire->next);

		wire->next += sent;
		LULL_COUNTER_ADD(to->counters.tx_pkts, sent);
	}
	return wire->next >= wire->count;
}

/* Where the packet of a process goes. True: onto the wire. */
static bool
switch_route(struct node_switch *to, struct node_rail *rail, struct node_port *port,
	     const struct lull_bundle_packet *packet)
{
	const struct lull_bundle_address *here = &rail->rail->bundle.address;
	struct lull_bundle_address from = *here;
	struct node_port *other;

	lull_bytes_put_little(&from.bytes[from.len_bytes], port->number, SWITCH_PORT_BYTES);
	from.len_bytes = (uint8_t)(from.len_bytes + SWITCH_PORT_BYTES);
	if (packet->to.len_bytes == 0) {
		switch_give_all(to, rail, port, &from, packet->bytes, packet->len_bytes);
		return true;
	}
	if (packet->to.len_bytes != from.len_bytes ||
	    memcmp(packet->to.bytes, here->bytes, here->len_bytes) != 0)
		return true;
	other = switch_find(to, rail, lull_bytes_little16(&packet->to.bytes[here->len_bytes]));
	if (other == NULL) {
		LULL_COUNTER_ADD(to->counters.nobody_pkts, 1);
		return false;
	}
	switch_give(to, other, &from, packet->bytes, packet->len_bytes);
	switch_meet(to, port, other);
	LULL_COUNTER_ADD(to->counters.local_pkts, 1);
	return false;
}

/* At most a quantum of one process. */
static uint32_t
switch_take(struct node_switch *to, struct node_rail *rail, struct node_port *port)
{
	struct channel_rail *wire = rail->rail;
	int ready = port->broken ? 0 : channel_ring_ready(&port->lane.in);
	uint32_t count = LULL_MIN((uint32_t)LULL_MAX(ready, 0), (uint32_t)LULL_BUNDLE_QUANTUM_PKTS);
	uint32_t taken = 0;

	for (; taken < count && wire->count < CHANNEL_SEND_BURST; taken++) {
		struct lull_bundle_packet *packet = &wire->packets[wire->count];
		int length = channel_ring_take(&port->lane.in, taken, &packet->to, packet->bytes);

		if (length < 0) {
			ready = length;
			break;
		}
		packet->len_bytes = (uint32_t)length;
		rail->from[wire->count] = (uint16_t)port->number;
		wire->count += switch_route(to, rail, port, packet);
	}
	if (ready < 0)
		switch_break(to, port);
	else if (taken > 0)
		channel_ring_pop(&port->lane.in, taken);
	return taken;
}

/* A burst of all processes, in turn. */
static uint32_t
switch_fill(struct node_switch *to, struct node_rail *rail)
{
	uint32_t total = 0, i;

	rail->rail->next = rail->rail->count = 0;
	for (i = 0; i < rail->port_count && rail->rail->count < CHANNEL_SEND_BURST; i++)
		total += switch_take(to, rail,
				     to->ports[rail->ports[(rail->turn + i) % rail->port_count]]);
	rail->turn += i;
	return total;
}

static uint32_t
switch_out(struct node_switch *to, struct node_rail *rail)
{
	uint32_t total = 0, count = 1;

	for (uint32_t i = 0; i < 2 * SWITCH_BURSTS && count > 0; i++) {
		if (!switch_flush(to, rail))
			break;
		count = switch_fill(to, rail);
		total += count;
	}
	switch_flush(to, rail);
	switch_push(to, rail);
	return total;
}

/* ---- a pass ---- */

void
node_switch_gone(struct node_switch *to, struct node_port *port)
{
	port->broken = true;
	to->tell = true;
}

static void
switch_wake(struct node_switch *to)
{
	for (uint32_t i = 0; i < to->port_high; i++) {
		struct node_port *port = to->ports[i];

		if (port != NULL && !port->broken && channel_lane_wake(&port->lane) != 0)
			node_switch_gone(to, port);
	}
}

uint32_t
node_switch_turn(struct node_switch *to)
{
	uint32_t total = 0;

	switch_wake(to);
	for (uint32_t i = 0; i < to->rail_count; i++)
		total += switch_in(to, &to->rails[i]);
	for (uint32_t i = 0; i < to->rail_count; i++)
		total += switch_out(to, &to->rails[i]);
	return total;
}

bool
node_switch_waits(const struct node_switch *to)
{
	for (uint32_t i = 0; i < to->rail_count; i++)
		if (to->rails[i].rail->next < to->rails[i].rail->count)
			return true;
	return false;
}
