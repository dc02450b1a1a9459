/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node NAME PEER COUNT BYTES RAIL...: as node NAME exchange messages with PEER, "-": with whoever
 * connects, and say as JSON what became of them. Every byte is looked at.
 */
#include "stand.h"

#include <inttypes.h>
#include <unistd.h>

#include <lull/rest.h>

#define UNDER_WAY 8
#define SETTLE_NS (300 * LULL_NS_PER_MS)

static struct stand stand; /* only its first side */
static uint8_t *sent, *received;

static int
node_fail(const char *text)
{
	fprintf(stderr, "%s\n", text);
	return 1;
}

/* A completed operation: whose place is it? */
static uint32_t
node_place(const struct lull_channel_completion *done, uint64_t bytes)
{
	const uint8_t *begin = done->sent ? sent : received;

	return (uint32_t)((uint64_t)((const uint8_t *)done->context - begin) / (bytes + 1));
}

static int
node_look(const struct lull_channel_completion *done, uint64_t bytes)
{
	if (done->error != 0) {
		fprintf(stderr, "a message ended with an error: %s\n", strerror(-done->error));
		return 1;
	}
	if (done->len_bytes != bytes)
		return node_fail("a message has another length");
	if (!done->sent && !stand_holds(done->context, bytes, done->tag))
		return node_fail("a message has other bytes");
	return 0;
}

/* Both directions at once, UNDER_WAY messages of each; later ones may end before earlier ones. */
static int
node_exchange(uint32_t count, uint64_t bytes)
{
	uint32_t begun = 0, ended = 0, under_way[UNDER_WAY] = { 0 };

	while (ended < 2 * count) {
		struct lull_channel_completion done;

		while (begun < count && under_way[begun % UNDER_WAY] == 0) {
			uint64_t at = begun % UNDER_WAY * (bytes + 1);

			stand_fill(sent + at, bytes, begun);
			stand_recv(&stand, 0, begun, received + at, bytes, received + at);
			stand_send(&stand, 0, sent + at, bytes, begun, sent + at);
			under_way[begun++ % UNDER_WAY] = 2;
		}
		done = stand_done(&stand, 0);
		ended++;
		if (node_look(&done, bytes) != 0)
			return 1;
		under_way[node_place(&done, bytes)]--;
	}
	return 0;
}

/* All rails are used, sooner or later. */
static uint32_t
node_paths(uint32_t wanted)
{
	uint64_t begin_ns = lull_clock_ns();
	struct lull_bundle_path_look look;
	uint32_t up;

	do {
		up = 0;
		for (uint32_t i = 0; i < LULL_BUNDLE_PATHS_MAX; i++)
			up += lull_channel_path_look(stand.channels[0], stand.peers[0], i, &look) ==
				      0 &&
			      look.state == LULL_BUNDLE_PATH_UP;
		usleep(1000);
	} while (up < wanted && lull_clock_ns() - begin_ns < STAND_WAIT_NS);
	return up;
}

/* The last acknowledgements are on their way to who still waits for them. */
static void
node_settle(void)
{
	struct lull_channel_completion done;

	lull_channel_done(stand.channels[0], &done, 1, SETTLE_NS);
}

/* Over all rails. */
static uint64_t
node_direct(void)
{
	struct lull_channel_rail_look look;
	uint64_t direct = 0;

	for (uint32_t i = 0; i < LULL_CHANNEL_RAILS_MAX; i++) {
		if (lull_channel_rail_look(stand.channels[0], i, &look) != 0)
			continue;
		direct += look.direct_rx_pkts + look.direct_tx_pkts;
		if (look.direct_rx_pkts > look.rx_pkts || look.direct_tx_pkts > look.tx_pkts)
			fprintf(stderr, "rail %u: more packets were direct than there were\n", i);
	}
	return direct;
}

static int
node_connect(const char *peer, struct lull_error *error)
{
	printf("ready\n");
	fflush(stdout);
	if (strcmp(peer, "-") == 0)
		return lull_channel_accept(stand.channels[0], STAND_WAIT_NS, &stand.peers[0]);
	return lull_channel_connect(stand.channels[0], peer, STAND_WAIT_NS, &stand.peers[0], error);
}

int
main(int argc, char **argv)
{
	struct lull_channel_config config = { .security = LULL_CHANNEL_OPEN };
	struct lull_error error = { "nobody came" };
	uint64_t bytes;
	uint32_t paths;
	int rc;

	if (argc < 6)
		return node_fail("usage: node NAME PEER COUNT BYTES RAIL...");
	config.name = argv[1];
	bytes = strtoull(argv[4], NULL, 10);
	sent = malloc(UNDER_WAY * (bytes + 1));
	received = malloc(UNDER_WAY * (bytes + 1));
	for (int i = 5; i < argc; i++)
		config.rails[config.rail_count++] = argv[i];
	rc = lull_channel_open(&config, &stand.channels[0], &error);
	if (rc == 0)
		rc = lull_channel_start(stand.channels[0], &error);
	if (rc == 0)
		rc = node_connect(argv[2], &error);
	if (rc != 0)
		return node_fail(error.text);
	paths = node_paths(config.rail_count);
	rc = node_exchange((uint32_t)atoi(argv[3]), bytes);
	if (rc == 0)
		node_settle();
	printf("{\"paths\": %u, \"direct\": %" PRIu64 "}\n", paths, node_direct());
	lull_channel_close(stand.channels[0], LULL_NS_PER_S);
	free(sent);
	free(received);
	return rc;
}
