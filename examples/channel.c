/* SPDX-License-Identifier: BSD-3-Clause */
/* channel NAME RAIL [PEER]: say hello to node PEER and print its answer, or answer whoever asks. */
#include <stdio.h>
#include <string.h>

#include <lull/channel.h>

int
main(int argc, char **argv)
{
	struct lull_channel_config config = { .name = argv[1],
					      .rails = { argc > 2 ? argv[2] : NULL },
					      .rail_count = 1,
					      .security = LULL_CHANNEL_OPEN };
	struct lull_channel_message message = { .tag = 1 };
	char text[64] = "", hello[64];
	struct lull_channel_receive receive = { .tag = 1, .buffer = text, .size_bytes = 63 };
	struct lull_channel_completion done[2];
	struct lull_channel *channel;
	struct lull_error error = { "" };
	uint32_t peer = LULL_CHANNEL_ANY, ended = 0;
	int rc;

	if (argc != 3 && argc != 4)
		return fprintf(stderr, "usage: channel NAME RAIL [PEER]\n"), 2;
	if ((rc = lull_channel_open(&config, &channel, &error)) != 0)
		return fprintf(stderr, "%s\n", error.text), 1;
	rc = lull_channel_start(channel, &error);
	if (rc == 0 && argc == 4)
		rc = lull_channel_connect(channel, argv[3], 10 * LULL_NS_PER_S, &peer, &error);
	else if (rc == 0)
		rc = lull_channel_accept(channel, LULL_CHANNEL_FOREVER, &peer);
	receive.source = peer;
	message.len_bytes = (uint64_t)snprintf(hello, sizeof(hello), "hello from %s", argv[1]);
	message.data = hello;
	if (rc == 0 && lull_channel_recv(channel, &receive, text) == 0 &&
	    lull_channel_send(channel, peer, &message, hello) == 0)
		while (ended < 2)
			ended += lull_channel_done(channel, done, 2, LULL_CHANNEL_FOREVER);
	puts(rc == 0 ? text : error.text);
	lull_channel_close(channel, LULL_NS_PER_S);
	return rc != 0 || text[0] == '\0';
}
