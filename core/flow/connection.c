/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only flows with a FIN or RST, and those that had a connection before, have an entry: most
 * packets are through when they have looked at one byte per set. An entry that was silent for
 * idle_ns means nothing any more: a silence as long as that ends the record too. Such entries go
 * when somebody looks at their set.
 */
#include <lull/flow.h>

#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "base/range.h"

#define WAYS 8
#define DEFAULT_BITS 17
#define DEFAULT_IDLE_NS (30 * LULL_NS_PER_S)
#define DEFAULT_CLOSED_NS (5 * LULL_NS_PER_S)
#define DAY_NS (24 * 3600 * LULL_NS_PER_S)

#define TCP_FIN 1u
#define TCP_SYN 2u
#define TCP_RST 4u
#define TCP_ACK 16u

/* What has been seen of the present connection: bits by direction. */
#define SEEN_FIN(direction) (uint8_t)(1u << (direction))
#define SEEN_RST(direction) (uint8_t)(4u << (direction))
#define SEEN_FINS 3u
#define SEEN_RSTS 12u

struct connection {
	uint64_t last_ns;   /* clock of the flow's last packet */
	uint64_t closed_ns; /* of the packet that closed it */
	uint32_t digest;
	uint32_t check; /* another hash of the key */
	uint16_t number;
	uint8_t seen;
	uint8_t used;
};

struct lull_flow_connections {
	uint64_t idle_ns, closed_ns;
	uint32_t set_mask;
	struct connection *connections;
	uint8_t *used; /* entries of each set */
	struct lull_flow_connections_counters counters;
};

const struct lull_counter_info lull_flow_connections_counter_table[] = {
#define ROW(member, help_text)                                                                     \
	LULL_COUNTER_ROW(struct lull_flow_connections_counters, member, "1", help_text)
	ROW(connections, "TCP connections with a FIN or RST, or after such a one"),
	ROW(closed, "TCP connections that ended: FIN both ways, or RST"),
	ROW(followed, "TCP connections that began on the addresses and ports of an earlier one"),
	ROW(connections_forgotten, "TCP connections forgotten for want of room"),
	{ .name = NULL },
#undef ROW
};

static struct lull_flow_connections_config
connections_full(const struct lull_flow_connections_config *config)
{
	struct lull_flow_connections_config full = *config;

	if (full.bits == 0)
		full.bits = DEFAULT_BITS;
	if (full.idle_ns == 0)
		full.idle_ns = DEFAULT_IDLE_NS;
	if (full.closed_ns == 0)
		full.closed_ns = DEFAULT_CLOSED_NS;
	return full;
}

int
lull_flow_connections_config_check(const struct lull_flow_connections_config *config,
				   struct lull_range *error)
{
	struct lull_flow_connections_config full = connections_full(config);
	const struct lull_range ranges[] = {
		{ "connection_bits", full.bits, 4, 24 },
		{ "idle_ns", full.idle_ns, LULL_NS_PER_MS, DAY_NS },
		{ "closed_ns", full.closed_ns, LULL_NS_PER_MS, DAY_NS },
	};

	return LULL_RANGES_CHECK(ranges, error);
}

static size_t
connections_aligned(size_t bytes)
{
	return (bytes + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE;
}

size_t
lull_flow_connections_size(const struct lull_flow_connections_config *config)
{
	size_t count = (size_t)1 << connections_full(config).bits;

	return connections_aligned(sizeof(struct lull_flow_connections)) +
	       connections_aligned(count * sizeof(struct connection)) +
	       connections_aligned(count / WAYS);
}

int
lull_flow_connections_init(void *memory, const struct lull_flow_connections_config *config,
			   struct lull_flow_connections **out)
{
	struct lull_flow_connections_config full = connections_full(config);
	struct lull_flow_connections *connections = memory;
	size_t count = (size_t)1 << full.bits;
	uint8_t *bytes = memory;

	if (memory == NULL || (uintptr_t)memory % LULL_CACHE_LINE != 0 ||
	    lull_flow_connections_config_check(config, NULL) != 0)
		return -EINVAL;
	memset(memory, 0, lull_flow_connections_size(config));
	connections->idle_ns = full.idle_ns;
	connections->closed_ns = full.closed_ns;
	connections->set_mask = (uint32_t)(count / WAYS - 1);
	bytes += connections_aligned(sizeof(*connections));
	connections->connections = (struct connection *)(void *)bytes;
	connections->used = bytes + connections_aligned(count * sizeof(struct connection));
	*out = connections;
	return 0;
}

void
lull_flow_connections_timeouts(struct lull_flow_connections *connections, uint64_t idle_ns)
{
	connections->idle_ns = idle_ns;
}

const struct lull_flow_connections_counters *
lull_flow_connections_counters(const struct lull_flow_connections *connections)
{
	return &connections->counters;
}

/* ---- entries ---- */

static uint32_t
connections_set(const struct lull_flow_connections *connections, uint32_t digest)
{
	/* Dispatch splits by single bits; the product's upper bits depend on all of them. */
	return (uint32_t)(digest * 0x9e3779b97f4a7c15u >> 32) & connections->set_mask;
}

/* With the digest 63 bits: two flows that agree in both are not expected. */
static uint32_t
connection_check(const struct lull_flow_packet *packet)
{
	return lull_flow_digest(~packet->digest, &packet->key);
}

/* Forget what was silent for too long. */
static void
connections_sweep(struct lull_flow_connections *connections, uint32_t set, uint64_t clock_ns)
{
	struct connection *ways = &connections->connections[(size_t)set * WAYS];

	for (unsigned int way = 0; way < WAYS; way++) {
		if (!ways[way].used || clock_ns <= ways[way].last_ns + connections->idle_ns)
			continue;
		ways[way].used = 0;
		connections->used[set]--;
	}
}

static struct connection *
connections_find(struct lull_flow_connections *connections, uint32_t set,
		 const struct lull_flow_packet *packet, uint32_t check)
{
	struct connection *ways = &connections->connections[(size_t)set * WAYS];

	for (unsigned int way = 0; way < WAYS; way++) {
		if (ways[way].used && ways[way].digest == packet->digest &&
		    ways[way].check == check)
			return &ways[way];
	}
	return NULL;
}

/* A new entry; where there is no room the one goes that was silent longest. */
static struct connection *
connections_create(struct lull_flow_connections *connections, uint32_t set,
		   const struct lull_flow_packet *packet, uint32_t check)
{
	struct connection *ways = &connections->connections[(size_t)set * WAYS];
	struct connection *place = ways;

	for (unsigned int way = 0; way < WAYS; way++) {
		if (!ways[way].used) {
			place = &ways[way];
			break;
		}
		if (ways[way].last_ns < place->last_ns)
			place = &ways[way];
	}
	if (place->used)
		LULL_COUNTER_ADD(connections->counters.connections_forgotten, 1);
	else
		connections->used[set]++;
	LULL_COUNTER_ADD(connections->counters.connections, 1);
	*place = (struct connection){
		.digest = packet->digest, .check = check, .last_ns = packet->clock_ns, .used = 1
	};
	return place;
}

/* ---- the rule ---- */

static bool
connection_closed(const struct connection *connection)
{
	return (connection->seen & SEEN_FINS) == SEEN_FINS || (connection->seen & SEEN_RSTS) != 0;
}

/* Is this the first packet of another connection? */
static bool
connection_followed(const struct lull_flow_connections *connections,
		    const struct connection *connection, const struct lull_flow_packet *packet)
{
	uint8_t own = SEEN_FIN(packet->direction) | SEEN_RST(packet->direction);

	if (connection_closed(connection) &&
	    packet->clock_ns > connection->closed_ns + connections->closed_ns)
		return true;
	if ((packet->tcp_flags & (TCP_SYN | TCP_RST)) != TCP_SYN)
		return false;
	/* An answer may cross the RST of the one who asked. */
	if ((packet->tcp_flags & TCP_ACK) != 0)
		return (connection->seen & own) != 0;
	return connection->seen != 0;
}

static void
connection_note(struct lull_flow_connections *connections, struct connection *connection,
		struct lull_flow_packet *packet)
{
	bool closed = connection_closed(connection);

	if ((packet->tcp_flags & TCP_FIN) != 0)
		connection->seen |= SEEN_FIN(packet->direction);
	if ((packet->tcp_flags & TCP_RST) != 0)
		connection->seen |= SEEN_RST(packet->direction);
	connection->last_ns = LULL_MAX(connection->last_ns, packet->clock_ns);
	packet->connection = connection->number;
	if (connection->seen != 0)
		packet->flags |= LULL_FLOW_ENDING;
	if (!connection_closed(connection))
		return;
	packet->flags |= LULL_FLOW_CLOSED;
	if (closed)
		return;
	connection->closed_ns = packet->clock_ns;
	LULL_COUNTER_ADD(connections->counters.closed, 1);
}

void
lull_flow_connections_mark(struct lull_flow_connections *connections,
			   struct lull_flow_packet *packet)
{
	bool ends = (packet->tcp_flags & (TCP_FIN | TCP_RST)) != 0;
	struct connection *connection;
	uint32_t set, check;

	if (packet->key.proto != LULL_FLOW_PROTO_TCP)
		return;
	set = connections_set(connections, packet->digest);
	if (!ends && connections->used[set] == 0)
		return;
	connections_sweep(connections, set, packet->clock_ns);
	check = connection_check(packet);
	connection = connections_find(connections, set, packet, check);
	if (connection == NULL && !ends)
		return;
	if (connection == NULL) {
		connection = connections_create(connections, set, packet, check);
	} else if (connection_followed(connections, connection, packet)) {
		connection->number++;
		connection->seen = 0;
		LULL_COUNTER_ADD(connections->counters.followed, 1);
	}
	connection_note(connections, connection, packet);
}
