/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer send BACKEND FROM TO MAC PORT COUNT BYTES: packets by a back end, and what became of them;
 * peer receive BACKEND PORT COUNT BYTES: the same packets, each once and every byte right.
 */
#include "net_stand.h"

#include <stdlib.h>

static int
peer_send(char **argv)
{
	struct lull_net_source next = { .kind = LULL_NET_SOURCE_ANY };
	struct lull_net_outgoing to = {
		.source = stand_ip(argv[1]),
		.destination = stand_ip(argv[2]),
		.source_port = 4000,
		.port = (uint16_t)atoi(argv[4]),
	};
	struct lull_net_link link;
	struct lull_net_sent sent = { .pkts = 0 };
	struct stand stand;

	assert_int_equal(lull_net_source_parse(argv[3], &next), 0);
	if (next.kind == LULL_NET_SOURCE_MAC)
		to.mac = next.mac;
	stand_open(&stand, argv[0]);
	stand_claim(&stand, to.source_port, NULL);
	stand_start(&stand);
	stand_send(&stand, &to, (uint32_t)atoi(argv[5]), (uint32_t)atoi(argv[6]));
	stand.backend->link(stand.state, &link);
	sent = stand_sent(&stand);
	stand_close(&stand);
	printf("{\"mtu\": %u, \"mbps\": %u, \"up\": %d", link.mtu, link.mbps, link.up);
	for (const struct lull_counter_info *row = lull_net_sent_table; row->name != NULL; row++) {
		uint64_t value;

		memcpy(&value, (const uint8_t *)&sent + row->offset, sizeof(value));
		printf(", \"%s\": %llu", row->name, (unsigned long long)value);
	}
	printf("}\n");
	return 0;
}

static int
peer_receive(char **argv)
{
	uint32_t count = (uint32_t)atoi(argv[2]);
	struct lull_net_packet last;
	struct stand stand;
	char text[64];

	stand_open(&stand, argv[0]);
	stand_claim(&stand, (uint16_t)atoi(argv[1]), NULL);
	stand_start(&stand);
	printf("ready\n");
	fflush(stdout);
	last = stand_receive(&stand, count, (uint32_t)atoi(argv[3]));
	printf("{\"received\": %u, \"source\": \"%s\"}\n", count,
	       lull_net_ip_format(&last.source, text));
	stand_close(&stand);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 9 && strcmp(argv[1], "send") == 0)
		return peer_send(argv + 2);
	if (argc == 6 && strcmp(argv[1], "receive") == 0)
		return peer_receive(argv + 2);
	fprintf(stderr, "see the top of tests/net/peer.c\n");
	return 2;
}
