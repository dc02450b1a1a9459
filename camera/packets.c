/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#define IPV4_AT 12 /* in an IPv4-mapped address */

static void
packets_address(const struct lull_net_packet *packet, struct lull_camera_packet *reported)
{
	bool any = lull_net_ip_is_any(&packet->source) && lull_net_ip_is_any(&packet->destination);
	uint32_t at = 0;

	reported->ip_version = 6;
	if (any || lull_net_ip_is4(&packet->source) || lull_net_ip_is4(&packet->destination)) {
		reported->ip_version = 4;
		at = IPV4_AT;
	}
	reported->source = packet->source.bytes + at;
	reported->destination = packet->destination.bytes + at;
}

static void
packets_describe(const struct lull_receiver *receiver, const struct lull_net_packet *packet,
		 struct lull_camera_packet *reported)
{
	const struct lull_net_claim *claim = &receiver->streams[packet->first - 1]->claim;

	*reported = (struct lull_camera_packet){
		.data = packet->data,
		.len_bytes = packet->len_bytes,
		.stamp_ns = packet->stamp_ns,
		.clock = receiver->clock,
		.mac = packet->mac,
	};
	if (claim->ethernet) {
		reported->ether_type = claim->ether_type;
	} else {
		reported->port = claim->port;
		packets_address(packet, reported);
	}
}

void
camera_packets_report(struct lull_receiver *receiver, const struct lull_net_packet *packets,
		      uint32_t count)
{
	struct lull_camera_packet reported[CAMERA_BURST];
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++)
		if (packets[i].first != 0)
			packets_describe(receiver, &packets[i], &reported[used++]);
	if (used > 0)
		receiver->config.packets(receiver->config.packets_arg, reported, used);
}
