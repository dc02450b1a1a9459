/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel: and kernel-busy: have two sockets on their interface: one on its own address, for all
 * that is sent to this channel, and one that all channels of the node share, for what is sent to
 * everybody on the link. So several processes hear who asks for them, whatever their own ports are.
 *
 * dpdk: has raw Ethernet. Ethernet pads short frames, so two bytes of length come first.
 *
 * Behind a rail of lull-channel-node are several processes, each with a port of 16 bits. What goes
 * to or comes from one of them has six more bytes in front, on all kinds of rails: a mark, which no
 * packet of the bundle begins with, a zero, the port it goes to (0: everybody), the port it comes
 * from (0: none). Addresses of such rails have the port as two more bytes. So rails of the node's
 * program and others reach each other, and who uses no such program has nothing of it on the wire.
 */
#include "rail_net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "host/error.h"
#include "net/backend.h"
#include "net/interface.h"

#define NET_SOCKET_BYTES (8ULL << 20)
#define NET_RING_PKTS 4096
#define NET_SEND_PKTS 1024
#define NET_UDP4_BYTES 28 /* headers of IP and UDP */
#define NET_UDP6_BYTES 48
#define NET_LENGTH_BYTES 2
#define NET_PORT_BYTES 2
#define NET_MARK 0xf1 /* the bundle's first byte has its version in front, a small one */
#define NET_MARK_BYTES 6
#define NET_IP4_AT 12 /* in an IPv4-mapped address */
#define NET_ARGUMENT_SIZE 128

_Static_assert(LULL_NET_BURST == CHANNEL_BURST, "a burst of the back end fits");
_Static_assert(CHANNEL_WATCH_MAX >= 2, "both sockets fit");
_Static_assert(CHANNEL_HEAD_ROOM >= NET_LENGTH_BYTES + NET_MARK_BYTES, "length and ports fit");

struct net_rail {
	const struct lull_net_backend *backend;
	void *state;
	bool ethernet, switched;
	uint32_t ip_at, ip_bytes; /* of an address within 16 bytes */
	struct lull_net_claim own, all;
	uint8_t mac[LULL_NET_MAC_SIZE];
	struct lull_net_packet packets[LULL_NET_BURST];
};

/* ---- packets in ---- */

static void
net_from_udp(const struct net_rail *net, const struct lull_net_packet *packet,
	     struct lull_bundle_address *from)
{
	from->len_bytes = (uint8_t)(net->ip_bytes + NET_PORT_BYTES);
	memcpy(from->bytes, packet->source.bytes + net->ip_at, net->ip_bytes);
	from->bytes[net->ip_bytes] = (uint8_t)(packet->source_port >> 8);
	from->bytes[net->ip_bytes + 1] = (uint8_t)packet->source_port;
}

/* Ports, if it has some. False: it is for a port, and nobody here has one. */
static bool
net_take_ports(const struct net_rail *net, struct channel_packet *taken)
{
	const uint8_t *head = taken->bytes;
	struct lull_bundle_address *from = &taken->from;

	if (taken->len_bytes < NET_MARK_BYTES || head[0] != NET_MARK)
		return true;
	taken->bytes += NET_MARK_BYTES;
	taken->len_bytes -= NET_MARK_BYTES;
	taken->to = lull_bytes_little16(&head[2]);
	if (lull_bytes_little16(&head[4]) != 0) {
		memcpy(&from->bytes[from->len_bytes], &head[4], NET_PORT_BYTES);
		from->len_bytes = (uint8_t)(from->len_bytes + NET_PORT_BYTES);
	}
	return taken->to == 0 || net->switched;
}

/* False: our own, or none of ours. */
static bool
net_take(const struct net_rail *net, const struct lull_net_packet *packet,
	 struct channel_packet *taken)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)packet->data; /* opened in place */
	uint32_t len_bytes;

	*taken = (struct channel_packet){ .bytes = bytes, .len_bytes = packet->len_bytes };
	if (!net->ethernet) {
		net_from_udp(net, packet, &taken->from);
		return (packet->source_port != net->own.port ||
			!lull_net_ip_same(&packet->source, &net->own.address)) &&
		       net_take_ports(net, taken);
	}
	if (packet->len_bytes < NET_LENGTH_BYTES || packet->mac == NULL ||
	    memcmp(packet->mac, net->mac, LULL_NET_MAC_SIZE) == 0)
		return false;
	len_bytes = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
	if (len_bytes > packet->len_bytes - NET_LENGTH_BYTES)
		return false;
	taken->bytes += NET_LENGTH_BYTES;
	taken->len_bytes = len_bytes;
	taken->from.len_bytes = LULL_NET_MAC_SIZE;
	memcpy(taken->from.bytes, packet->mac, LULL_NET_MAC_SIZE);
	return net_take_ports(net, taken);
}

static uint32_t
net_receive(void *state, struct channel_packet *packets)
{
	struct net_rail *net = state;
	uint32_t count = net->backend->receive(net->state, net->packets), used = 0;

	for (uint32_t i = 0; i < count; i++)
		if (net_take(net, &net->packets[i], &packets[used]))
			used++;
	if (used == 0 && count > 0)
		net->backend->release(net->state);
	return used;
}

static void
net_release(void *state)
{
	struct net_rail *net = state;

	net->backend->release(net->state);
}

/* ---- packets out ---- */

/* Bytes of an address without a port. */
static uint32_t
net_address_bytes(const struct net_rail *net)
{
	return net->ethernet ? LULL_NET_MAC_SIZE : net->ip_bytes + NET_PORT_BYTES;
}

/* False: not an address of such a rail. */
static bool
net_to_ports(const struct net_rail *net, const struct lull_bundle_address *to, uint16_t from,
	     struct lull_net_outgoing *out)
{
	uint32_t usual = net_address_bytes(net);
	bool port = to->len_bytes == usual + NET_PORT_BYTES;
	uint8_t *head = (uint8_t *)(uintptr_t)out->data - NET_MARK_BYTES;

	if (port || from != 0) {
		head[0] = NET_MARK;
		head[1] = 0;
		memset(&head[2], 0, NET_PORT_BYTES);
		if (port)
			memcpy(&head[2], &to->bytes[usual], NET_PORT_BYTES);
		lull_bytes_put_little(&head[4], from, NET_PORT_BYTES);
		out->data = head;
		out->len_bytes += NET_MARK_BYTES;
	}
	return port || to->len_bytes == 0 || to->len_bytes == usual;
}

static void
net_to_udp(const struct net_rail *net, const struct lull_bundle_address *to,
	   struct lull_net_outgoing *out)
{
	out->source = net->own.address;
	out->source_port = net->own.port;
	if (to->len_bytes == 0) {
		out->destination = net->all.address;
		out->port = net->all.port;
		return;
	}
	out->destination = net->own.address;
	memcpy(out->destination.bytes + net->ip_at, to->bytes, net->ip_bytes);
	out->port = (uint16_t)(to->bytes[net->ip_bytes] << 8 | to->bytes[net->ip_bytes + 1]);
}

static void
net_to_ethernet(const struct lull_bundle_address *to, struct lull_net_outgoing *out)
{
	static const uint8_t everybody[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t *length = (uint8_t *)(uintptr_t)out->data - NET_LENGTH_BYTES;

	length[0] = (uint8_t)out->len_bytes;
	length[1] = (uint8_t)(out->len_bytes >> 8);
	out->data = length;
	out->len_bytes += NET_LENGTH_BYTES;
	out->ether_type = CHANNEL_ETHER_TYPE;
	out->mac = to->len_bytes == 0 ? everybody : to->bytes;
}

static uint32_t
net_send_as(void *state, const struct lull_bundle_packet *packets, const uint16_t *ports,
	    uint32_t count)
{
	struct lull_net_outgoing out[CHANNEL_SEND_BURST];
	struct net_rail *net = state;
	uint32_t ready = 0;

	for (; ready < count; ready++) {
		const struct lull_bundle_packet *packet = &packets[ready];

		out[ready] = (struct lull_net_outgoing){ .data = packet->bytes,
							 .len_bytes = packet->len_bytes };
		if (!net_to_ports(net, &packet->to, ports != NULL ? ports[ready] : 0, &out[ready]))
			break;
		if (net->ethernet)
			net_to_ethernet(&packet->to, &out[ready]);
		else
			net_to_udp(net, &packet->to, &out[ready]);
	}
	/* An address that cannot be ours: the packet counts as lost. */
	if (ready == 0)
		return LULL_MIN(count, 1u);
	return net->backend->send(net->state, out, ready);
}

static uint32_t
net_send(void *state, const struct lull_bundle_packet *packets, uint32_t count)
{
	return net_send_as(state, packets, NULL, count);
}

/* ---- waiting and looking ---- */

static uint32_t
net_watch(void *state, struct pollfd *polls)
{
	const struct net_rail *net = state;

	return net->backend->watch(net->state, polls);
}

static void
net_watched(void *state, const struct pollfd *polls)
{
	const struct net_rail *net = state;

	net->backend->watched(net->state, polls);
}

static void
net_thread(void *state, bool begins)
{
	const struct net_rail *net = state;

	if (net->backend->thread != NULL)
		net->backend->thread(net->state, begins);
}

static void
net_facts(void *state, struct channel_rail_facts *facts)
{
	const struct net_rail *net = state;
	struct lull_net_link link;

	net->backend->link(net->state, &link);
	*facts = (struct channel_rail_facts){
		.mtu_bytes = link.mtu, .mbps = link.mbps, .up = link.up, .node = link.node
	};
}

static uint64_t
net_sent(void *state)
{
	const struct net_rail *net = state;
	struct lull_net_sent sent;

	net->backend->sent(net->state, &sent);
	return sent.pkts;
}

static uint64_t
net_missed(void *state)
{
	const struct net_rail *net = state;

	return net->backend->missed(net->state);
}

static void
net_check(void *state, struct lull_findings *findings)
{
	const struct net_rail *net = state;

	net->backend->check(net->state, findings);
}

static void
net_close(void *state)
{
	struct net_rail *net = state;

	if (net->state != NULL)
		net->backend->close(net->state);
	free(net);
}

static const struct channel_way net_way_sockets = {
	.receive = net_receive,
	.release = net_release,
	.send = net_send,
	.send_as = net_send_as,
	.watch = net_watch,
	.watched = net_watched,
	.thread = net_thread,
	.facts = net_facts,
	.sent = net_sent,
	.missed = net_missed,
	.check = net_check,
	.close = net_close,
};
static const struct channel_way net_way_polled = {
	.receive = net_receive,
	.release = net_release,
	.send = net_send,
	.send_as = net_send_as,
	.thread = net_thread,
	.facts = net_facts,
	.sent = net_sent,
	.missed = net_missed,
	.check = net_check,
	.close = net_close,
};

/* ---- open ---- */

/* "IF" or "IF,port=N": @p port is -1 where none is named. */
static int
net_words(const char *argument, char interface[NET_ARGUMENT_SIZE], int *port,
	  struct lull_error *error)
{
	static const char word[] = ",port=";
	const char *comma = strchr(argument, ',');
	unsigned long value;
	char *end;

	*port = -1;
	strcpy(interface, argument);
	if (comma != NULL) {
		interface[comma - argument] = '\0';
		if (strncmp(comma, word, strlen(word)) != 0)
			return lull_error_set(error, -EINVAL, "'%s' is not port=N", comma + 1);
		comma += strlen(word);
		value = strtoul(comma, &end, 10);
		if (*comma < '0' || *comma > '9' || *end != '\0' || value > UINT16_MAX)
			return lull_error_set(error, -EINVAL, "port '%s' is not in 0..65535",
					      comma);
		*port = (int)value;
	}
	if (strcmp(interface, "any") == 0)
		return lull_error_set(error, -EINVAL, "a rail is one interface, not any");
	return 0;
}

/* A port that was not named is the usual one, or a free one where another process has that. */
static int
net_claim_own(struct net_rail *net, int port, struct lull_error *error)
{
	int rc;

	net->own.port = (uint16_t)(port >= 0 ? port : CHANNEL_PORT);
	rc = net->backend->claim(net->state, &net->own, error);
	if (rc == -EADDRINUSE && port < 0) {
		net->own.port = 0;
		rc = net->backend->claim(net->state, &net->own, error);
	}
	return rc;
}

static int
net_claim_sockets(struct net_rail *net, const char *interface, int port, struct lull_error *error)
{
	bool v4;
	int rc = lull_net_interface_address(interface, &net->own.address, error);

	if (rc != 0)
		return rc;
	v4 = lull_net_ip_is4(&net->own.address);
	net->ip_at = v4 ? NET_IP4_AT : 0;
	net->ip_bytes = v4 ? 4 : 16;
	rc = net_claim_own(net, port, error);
	if (rc != 0)
		return rc;
	net->all = (struct lull_net_claim){ .index = 1, .port = CHANNEL_PORT };
	net->all.first = net->own.port == CHANNEL_PORT ? 0 : 1;
	lull_net_ip_parse(v4 ? "255.255.255.255" : "ff02::1", &net->all.address);
	return net->backend->claim(net->state, &net->all, error);
}

static int
net_claim_ethernet(struct net_rail *net, struct lull_error *error)
{
	struct lull_net_link link;

	net->ethernet = true;
	net->own.ethernet = true;
	net->own.ether_type = CHANNEL_ETHER_TYPE;
	net->backend->link(net->state, &link);
	memcpy(net->mac, link.mac, sizeof(net->mac));
	return net->backend->claim(net->state, &net->own, error);
}

/* What the bundle has to know. */
static void
net_describe(const struct net_rail *net, struct lull_bundle_rail *rail)
{
	struct lull_net_packet own = { .source = net->own.address, .source_port = net->own.port };
	struct lull_net_link link;
	uint32_t heads;

	net->backend->link(net->state, &link);
	if (net->ethernet) {
		rail->kind = CHANNEL_KIND_ETHERNET;
		rail->address.len_bytes = LULL_NET_MAC_SIZE;
		memcpy(rail->address.bytes, net->mac, LULL_NET_MAC_SIZE);
		heads = NET_LENGTH_BYTES;
	} else {
		rail->kind = net->ip_bytes == 4 ? CHANNEL_KIND_IP4 : CHANNEL_KIND_IP6;
		net_from_udp(net, &own, &rail->address);
		heads = net->ip_bytes == 4 ? NET_UDP4_BYTES : NET_UDP6_BYTES;
	}
	if (net->switched)
		heads += NET_MARK_BYTES;
	rail->packet_bytes = LULL_MIN(link.mtu, (uint32_t)CHANNEL_PACKET_BYTES) - heads;
	rail->ring_pkts = LULL_MAX(net->backend->ring_pkts(net->state), 16u);
	rail->rate_bps = (uint64_t)link.mbps * 1000000;
}

static int
net_choose(const char *text, const struct lull_net_backend **backend, const char **argument,
	   struct lull_error *error)
{
	int rc = 0;

	if (strncmp(text, "kernel:", 7) == 0 || strncmp(text, "kernel-busy:", 12) == 0 ||
	    strncmp(text, "dpdk:", 5) == 0)
		rc = lull_net_choose(text, backend, argument, error);
	else
		rc = -ENOENT;
	/* That of the back ends names files too. */
	if (rc == -EINVAL || rc == -ENOENT)
		return lull_error_set(error, -EINVAL,
				      "it is not one of kernel:IF[,port=N], "
				      "kernel-busy:IF[,port=N], dpdk:DEVICE, node:[SOCKET], "
				      "node-busy:[SOCKET], pair:NAME");
	return rc;
}

static int
net_open(const struct channel_rail_config *config, struct net_rail *net, const char *text,
	 struct lull_error *error)
{
	const struct lull_net_config back = { .program = config->program,
					      .eal = config->eal,
					      .socket_bytes = NET_SOCKET_BYTES,
					      .ring_pkts = NET_RING_PKTS,
					      .send_pkts = NET_SEND_PKTS,
					      .unchecked = config->unchecked };
	char interface[NET_ARGUMENT_SIZE];
	const char *argument;
	bool sockets = strncmp(text, "kernel", 6) == 0;
	int port = -1, rc;

	rc = net_choose(text, &net->backend, &argument, error);
	if (rc == 0 && sockets)
		rc = net_words(argument, interface, &port, error);
	if (rc != 0)
		return rc;
	rc = net->backend->open(&back, sockets ? interface : argument, &net->state, error);
	if (rc == 0)
		rc = sockets ? net_claim_sockets(net, interface, port, error) :
			       net_claim_ethernet(net, error);
	return rc == 0 ? net->backend->start(net->state, error) : rc;
}

int
channel_rail_net_open(const struct channel_rail_config *config, struct channel_rail *rail,
		      struct lull_error *error)
{
	struct net_rail *net = calloc(1, sizeof(*net));
	int rc;

	if (net == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a rail");
	net->switched = config->switched;
	rc = net_open(config, net, rail->text, error);
	if (rc != 0) {
		net_close(net);
		lull_error_prefix(error, "rail %s: ", rail->text);
		return rc;
	}
	rail->way = net->backend->watch != NULL ? &net_way_sockets : &net_way_polled;
	rail->state = net;
	net_describe(net, &rail->bundle);
	return 0;
}
