/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/flow.h>

#include <assert.h>
#include <errno.h>
#include <stdalign.h>
#include <string.h>

#include "ip.h"
#include "link.h"
#include "medium.h"
#include "parser.h"
#include "plain.h"
#include "tunnel.h"

/* Packets in packets in packets: what lies deeper stays inside. */
#define TUNNELS_MAX 8
/* Offsets are 16 bits; no header that matters lies behind them. */
#define READABLE_BYTES_MAX UINT16_MAX
#define ICMP_ERROR_BYTES 8

size_t
lull_flow_parser_size(const struct lull_flow_parser_config *config)
{
	size_t count = (size_t)1 << lull_flow_parser_config_full(config).fragment_bits;

	return LULL_MAX(sizeof(struct lull_flow_parser),
			offsetof(struct lull_flow_parser, datagrams) +
				count * sizeof(struct lull_fragment_datagram));
}

int
lull_flow_parser_init(void *memory, const struct lull_flow_parser_config *config,
		      struct lull_flow_parser **out)
{
	struct lull_flow_parser_config full = lull_flow_parser_config_full(config);
	struct lull_flow_parser *parser = memory;

	if (memory == NULL || (uintptr_t)memory % alignof(struct lull_flow_parser) != 0 ||
	    lull_flow_parser_config_check(config, NULL) != 0)
		return -EINVAL;
	memset(parser, 0, lull_flow_parser_size(config));
	parser->seed = full.seed;
	parser->inner = full.inner;
	parser->key_parts = full.key_parts;
	parser->plain = !full.inner && (full.key_parts & LULL_FLOW_KEY_VLAN) != 0 &&
			(full.key_parts & LULL_FLOW_KEY_INTERFACE) == 0;
	parser->fragments = (struct lull_fragment_table){
		.datagrams = parser->datagrams,
		.set_mask = (1u << full.fragment_bits) / LULL_FRAGMENT_WAYS - 1,
		.seed = full.seed,
		.lifetime_ns = full.fragment_ns,
	};
	parser->early.wait_ns = full.fragment_wait_ns;
	*out = parser;
	return 0;
}

const struct lull_flow_parser_counters *
lull_flow_parser_counters(const struct lull_flow_parser *parser)
{
	return &parser->counters;
}

void
lull_flow_parser_interface(struct lull_flow_parser *parser, uint16_t interface)
{
	parser->interface = interface;
}

/* ---- key ---- */

static inline uint64_t
parser_big(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return value;
}

static inline uint64_t
parser_big_half(const uint8_t *bytes)
{
	return (uint64_t)bytes[0] << 24 | (uint64_t)bytes[1] << 16 | (uint64_t)bytes[2] << 8 |
	       bytes[3];
}

/* Which place of the key is the source's: 0 when its address and port are not the greater ones. */
static inline uint8_t
parser_direction(const uint8_t *source, const uint8_t *target, uint8_t version,
		 const uint16_t *port)
{
	uint64_t a, b;

	if (version == 4)
		return (parser_big_half(source) << 16 | port[0]) >
		       (parser_big_half(target) << 16 | port[1]);
	a = parser_big(source);
	b = parser_big(target);
	if (a == b) {
		a = parser_big(source + 8);
		b = parser_big(target + 8);
	}
	return a == b ? port[0] > port[1] : a > b;
}

/* The key of @p ip into @p key, zeroed before. @return direction */
static inline uint8_t
parser_key(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip, const uint16_t *port,
	   struct lull_flow_key *key)
{
	const uint8_t *source = walk->data + ip->source, *target = walk->data + ip->target;
	uint8_t direction = parser_direction(source, target, ip->version, port);

	if (ip->version == 4) {
		memcpy(key->addr[direction], source, 4);
		memcpy(key->addr[direction ^ 1], target, 4);
	} else {
		memcpy(key->addr[direction], source, 16);
		memcpy(key->addr[direction ^ 1], target, 16);
	}
	key->port[direction] = port[0];
	key->port[direction ^ 1] = port[1];
	key->vlan_id = (walk->key_parts & LULL_FLOW_KEY_VLAN) != 0 ? walk->vlan_id : 0;
	key->version = ip->version;
	key->proto = ip->proto;
	key->tunnel = walk->more.tunnel;
	key->labelled = walk->more.labelled;
	key->interface = walk->more.interface;
	key->tunnel_id = walk->more.tunnel_id;
	key->mpls_label = walk->more.mpls_label;
	key->outer = walk->more.outer;
	return direction;
}

/* ---- what is not the common case ---- */

static void
parser_fragment_name(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip,
		     struct lull_fragment_name *name)
{
	uint32_t bytes = lull_flow_ip_address_bytes(ip);

	*name = (struct lull_fragment_name){
		.id = ip->fragment_id,
		.tunnel_id = walk->more.tunnel_id,
		.mpls_label = walk->more.mpls_label,
		.outer = walk->more.outer,
		.vlan_id = walk->vlan_id,
		.interface = walk->more.interface,
		.tunnel = walk->more.tunnel,
		.labelled = walk->more.labelled,
		.version = ip->version,
		.proto = ip->version == 4 ? ip->proto : 0,
	};
	memcpy(name->source, walk->data + ip->source, bytes);
	memcpy(name->target, walk->data + ip->target, bytes);
}

/*
 * Later fragments have the key of their first one. Of a packet in a tunnel they have the middle:
 * what they carry counts as its bytes, without the header around it.
 */
static void
parser_later(struct lull_flow_parser *parser, const struct lull_flow_walk *walk,
	     struct lull_flow_ip *ip, struct lull_flow_packet *packet)
{
	static const uint16_t no_ports[2] = { 0, 0 };
	struct lull_early_pkt *early = &parser->early.last;
	const struct lull_fragment_datagram *datagram;

	parser_fragment_name(walk, ip, &early->name);
	datagram = lull_fragment_find(&parser->fragments, &early->name, packet->time_ns);
	packet->flags |= LULL_FLOW_FRAGMENT | LULL_FLOW_LATER;
	if (datagram != NULL) {
		lull_fragment_apply(datagram, packet);
		if (datagram->inner)
			ip->offset = ip->payload;
		return;
	}
	packet->flags |= LULL_FLOW_ORPHAN;
	packet->direction = parser_key(walk, ip, no_ports, &packet->key);
	packet->digest = lull_flow_digest(parser->seed, &packet->key);
	packet->dispatch_hash = packet->digest;
	early->packet = packet;
	early->header_bytes = (uint16_t)(ip->payload - ip->offset);
	if (parser->early.wait_ns == 0)
		LULL_COUNTER_ADD(parser->counters.orphans, 1);
}

/* @p inner: the key is not of the datagram @p name itself */
static void
parser_first(struct lull_flow_parser *parser, const struct lull_fragment_name *name, bool inner,
	     struct lull_flow_packet *packet)
{
	const struct lull_fragment_datagram datagram = {
		.name = *name,
		.key = packet->key,
		.digest = packet->digest,
		.dispatch_hash = packet->dispatch_hash,
		.direction = packet->direction,
		.flags = packet->flags & LULL_FLOW_TUNNEL,
		.inner = inner,
		.time_ns = packet->time_ns,
	};

	packet->flags |= LULL_FLOW_FRAGMENT;
	if (lull_fragment_remember(&parser->fragments, &datagram))
		LULL_COUNTER_ADD(parser->counters.fragments_replaced, 1);
	if (parser->early.count > 0)
		LULL_COUNTER_ADD(parser->counters.tunnels,
				 lull_early_join(&parser->early,
						 lull_fragment_hash(&parser->fragments, name),
						 &datagram));
}

static bool
parser_icmp_error(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip)
{
	uint8_t type;

	if (ip->proto != LULL_FLOW_PROTO_ICMP && ip->proto != LULL_FLOW_PROTO_ICMP6)
		return false;
	if (lull_flow_walk_need(walk, ip->payload, ICMP_ERROR_BYTES) != LULL_FLOW_OK)
		return false;
	type = lull_flow_walk_u8(walk, ip->payload);
	if (ip->proto == LULL_FLOW_PROTO_ICMP6)
		return type >= 1 && type <= 4;
	/* Unreachable, source quench, redirect, time exceeded, parameter problem. */
	return (type >= 3 && type <= 5) || type == 11 || type == 12;
}

/* The digest of the flow that an ICMP error is about; its own where that cannot be read. */
static uint32_t
parser_icmp_digest(struct lull_flow_parser *parser, const struct lull_flow_walk *walk,
		   const struct lull_flow_ip *ip, uint32_t own_digest, uint64_t time_ns)
{
	struct lull_flow_walk quoted_walk = *walk;
	struct lull_flow_transport transport = { .port = { 0, 0 } };
	struct lull_flow_ip quoted;
	struct lull_flow_key key = { .port = { 0, 0 } };

	quoted_walk.offset = ip->payload + ICMP_ERROR_BYTES;
	quoted_walk.version = ip->proto == LULL_FLOW_PROTO_ICMP ? 4 : 6;
	if (lull_flow_ip_read(&quoted_walk, &quoted) != LULL_FLOW_OK)
		return own_digest;
	if (quoted.fragment_offset == 0 &&
	    lull_flow_ip_transport(&quoted_walk, &quoted, &transport) != LULL_FLOW_OK)
		return own_digest;
	if (quoted.fragment_offset != 0) {
		const struct lull_fragment_datagram *datagram;
		struct lull_fragment_name name;

		parser_fragment_name(&quoted_walk, &quoted, &name);
		datagram = lull_fragment_find(&parser->fragments, &name, time_ns);
		if (datagram == NULL)
			return own_digest;
		LULL_COUNTER_ADD(parser->counters.icmp_errors, 1);
		return datagram->dispatch_hash;
	}
	parser_key(&quoted_walk, &quoted, transport.port, &key);
	LULL_COUNTER_ADD(parser->counters.icmp_errors, 1);
	return lull_flow_digest(parser->seed, &key);
}

static void
parser_icmp(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip,
	    struct lull_flow_packet *packet)
{
	if (ip->proto != LULL_FLOW_PROTO_ICMP && ip->proto != LULL_FLOW_PROTO_ICMP6)
		return;
	if (lull_flow_walk_need(walk, ip->payload, 2) != LULL_FLOW_OK)
		return;
	packet->icmp_type = lull_flow_walk_u8(walk, ip->payload);
	packet->icmp_code = lull_flow_walk_u8(walk, ip->payload + 1);
}

/* ---- packet ---- */

static void
parser_lengths(const struct lull_flow_walk *walk, const struct lull_flow_ip *ip,
	       const struct lull_flow_transport *transport, struct lull_flow_packet *packet)
{
	uint32_t offset = LULL_MIN(transport->payload, walk->readable);
	uint32_t bytes = LULL_MIN(transport->payload_bytes, UINT16_MAX);
	uint32_t captured = LULL_MIN(walk->readable - offset, bytes);

	packet->ip_offset = (uint16_t)ip->offset;
	packet->ip_bytes = ip->end - ip->offset;
	packet->payload_offset = (uint16_t)offset;
	packet->payload_bytes = (uint16_t)bytes;
	packet->payload_captured = (uint16_t)captured;
	packet->tcp_flags = transport->tcp_flags;
}

static enum lull_flow_cause
parser_fill(struct lull_flow_parser *parser, const struct lull_flow_walk *walk,
	    struct lull_flow_ip *ip, struct lull_flow_packet *packet)
{
	struct lull_flow_transport transport = { .payload = ip->payload };

	if (ip->fragment_offset != 0) {
		transport.payload_bytes = ip->end - ip->payload;
		parser_later(parser, walk, ip, packet);
	} else {
		enum lull_flow_cause cause = lull_flow_ip_transport(walk, ip, &transport);

		if (cause != LULL_FLOW_OK)
			return cause;
		packet->direction = parser_key(walk, ip, transport.port, &packet->key);
		packet->digest = lull_flow_digest(parser->seed, &packet->key);
		packet->dispatch_hash = packet->digest;
		parser_icmp(walk, ip, packet);
		if (parser_icmp_error(walk, ip))
			packet->dispatch_hash = parser_icmp_digest(parser, walk, ip, packet->digest,
								   packet->time_ns);
		if (ip->fragment) {
			struct lull_fragment_name name;

			parser_fragment_name(walk, ip, &name);
			parser_first(parser, &name, false, packet);
		}
	}
	if (ip->fragment)
		LULL_COUNTER_ADD(parser->counters.fragments, 1);
	parser_lengths(walk, ip, &transport, packet);
	return LULL_FLOW_OK;
}

/* Datagrams in fragments on the way to the innermost packet. */
struct parser_around {
	uint32_t count;
	struct {
		struct lull_fragment_name name;
		uint32_t offset; /* of its header */
	} datagrams[TUNNELS_MAX];
};

static void
parser_enter(struct lull_flow_walk *walk, struct lull_flow_ip *ip, struct lull_flow_packet *packet,
	     struct parser_around *around)
{
	for (unsigned int i = 0; i < TUNNELS_MAX; i++) {
		struct lull_fragment_name *name = &around->datagrams[around->count].name;
		bool fragment = ip->fragment;

		if (fragment)
			parser_fragment_name(walk, ip, name);
		around->datagrams[around->count].offset = ip->offset;
		if (!lull_flow_tunnel_enter(walk, ip))
			break;
		packet->flags |= LULL_FLOW_TUNNEL;
		around->count += fragment;
	}
}

static void
parser_remember_around(struct lull_flow_parser *parser, const struct lull_flow_ip *ip,
		       const struct parser_around *around, struct lull_flow_packet *packet)
{
	for (uint32_t i = 0; i < around->count; i++)
		parser_first(parser, &around->datagrams[i].name,
			     around->datagrams[i].offset != ip->offset, packet);
	/* What is around it has been told its key. */
	if (around->count > 0)
		parser->early.last.packet = NULL;
	if (around->count > 0 && !ip->fragment)
		LULL_COUNTER_ADD(parser->counters.fragments, 1);
}

static enum lull_flow_cause
parser_read(struct lull_flow_parser *parser, uint16_t link_type, struct lull_flow_walk *walk,
	    struct lull_flow_packet *packet)
{
	enum lull_flow_cause cause = lull_flow_medium_enter(walk, link_type);
	struct parser_around around;
	struct lull_flow_ip ip;

	around.count = 0;
	if (cause == LULL_FLOW_OK)
		cause = lull_flow_ip_read(walk, &ip);
	if (cause != LULL_FLOW_OK)
		return cause;
	if (parser->inner)
		parser_enter(walk, &ip, packet, &around);
	cause = parser_fill(parser, walk, &ip, packet);
	if (cause == LULL_FLOW_OK)
		parser_remember_around(parser, &ip, &around, packet);
	return cause;
}

/* In pieces, each of two vector stores: gcc 12 clears all at once by "rep stos", for 8 ns. */
static inline void
parser_clear(struct lull_flow_packet *packet)
{
	uint8_t *bytes = (uint8_t *)packet;

	static_assert(sizeof(*packet) == 120, "three pieces and a smaller one");
	memset(bytes, 0, 32);
	memset(bytes + 32, 0, 32);
	memset(bytes + 64, 0, 32);
	memset(bytes + 96, 0, 24);
}

static enum lull_flow_cause
parser_long(struct lull_flow_parser *parser, uint16_t link_type, const uint8_t *data,
	    uint32_t captured_bytes, uint32_t original_bytes, struct lull_flow_packet *packet)
{
	struct lull_flow_walk walk = {
		.data = data,
		.readable = LULL_MIN(captured_bytes, READABLE_BYTES_MAX),
		.end = original_bytes,
		.key_parts = parser->key_parts,
	};
	enum lull_flow_cause cause;

	parser->early.last.packet = NULL;
	if ((parser->key_parts & LULL_FLOW_KEY_INTERFACE) != 0)
		walk.more.interface = parser->interface;
	cause = parser_read(parser, link_type, &walk, packet);
	if (cause != LULL_FLOW_OK)
		return cause;
	if ((packet->flags & LULL_FLOW_TUNNEL) != 0)
		LULL_COUNTER_ADD(parser->counters.tunnels, 1);
	if (captured_bytes < original_bytes ||
	    captured_bytes < (uint64_t)packet->ip_offset + packet->ip_bytes)
		packet->flags |= LULL_FLOW_CUT;
	return LULL_FLOW_OK;
}

enum lull_flow_cause
lull_flow_parse(struct lull_flow_parser *parser, uint16_t link_type, const uint8_t *data,
		uint32_t captured_bytes, uint32_t original_bytes, uint64_t time_ns,
		struct lull_flow_packet *packet)
{
	enum lull_flow_cause cause = LULL_FLOW_OK;

	original_bytes = LULL_MAX(original_bytes, captured_bytes);
	parser_clear(packet);
	packet->time_ns = time_ns;
	if (link_type != LULL_LINK_ETHERNET || !parser->plain ||
	    !lull_flow_plain(parser->seed, data, captured_bytes, original_bytes, packet))
		cause = parser_long(parser, link_type, data, captured_bytes, original_bytes,
				    packet);
	LULL_COUNTER_ADD(parser->counters.causes[cause], 1);
	if (packet->flags & LULL_FLOW_CUT)
		LULL_COUNTER_ADD(parser->counters.cut, 1);
	return cause;
}
