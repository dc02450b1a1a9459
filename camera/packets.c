/* SPDX-License-Identifier: BSD-3-Clause */
#include "packets.h"

#define IPV4_AT 12 /* in an IPv4-mapped address */

static void
packets_address(const struct lull_net_packet *packet, struct lull_camera_packet *told)
{
	bool any = lull_net_ip_is_any(&packet->source) && lull_net_ip_is_any(&packet->destination);
	uint32_t at = 0;

	told->ip_version = 6;
	if (any || lull_net_ip_is4(&packet->source) || lull_net_ip_is4(&packet->destination)) {
		told->ip_version = 4;
		at = IPV4_AT;
	}
	told->source = packet->source.bytes + at;
	told->destination = packet->destination.bytes + at;
}

static void
packets_describe(const struct lull_camera *camera, const struct lull_net_packet *packet,
		 struct lull_camera_packet *told)
{
	const struct lull_net_claim *claim = &camera->streams[packet->first - 1]->claim;

	*told = (struct lull_camera_packet){
		.data = packet->data,
		.len_bytes = packet->len_bytes,
		.stamp_ns = packet->stamp_ns,
		.clock = camera->clock,
		.mac = packet->mac,
	};
	if (claim->ethernet) {
		told->ether_type = claim->ether_type;
	} else {
		told->port = claim->port;
		packets_address(packet, told);
	}
}

void
camera_packets_tell(struct lull_camera *camera, const struct lull_net_packet *packets,
		    uint32_t count)
{
	struct lull_camera_packet told[CAMERA_BURST];
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++)
		if (packets[i].first != 0)
			packets_describe(camera, &packets[i], &told[used++]);
	if (used > 0)
		camera->config.packets(camera->config.packets_arg, told, used);
}
