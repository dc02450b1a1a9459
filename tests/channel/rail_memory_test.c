/* SPDX-License-Identifier: BSD-3-Clause */
/* A rail of lull-channel-node, with a program and a neighbour played by the test. */
#include "stand.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channel/neighbour.h"
#include "channel/rail.h"

#define PACKET_BYTES 1400u
#define OURS 300u /* ports */
#define OTHER 700u

struct world {
	char folder[64], path[80];
	int listen_fd, conn_fd;
	struct channel_lane node;  /* of the program to the rail */
	struct channel_lane other; /* of the neighbour to it */
	struct channel_rail *rail;
	struct pollfd polls[CHANNEL_WATCH_MAX];
	struct channel_packet packets[CHANNEL_BURST];
};

static struct lull_bundle_address
address(uint32_t port)
{
	return (struct lull_bundle_address){ .len_bytes = 3,
					     .bytes = { 9, (uint8_t)port, (uint8_t)(port >> 8) } };
}

/* What the program does for a process that attaches. */
static void *
world_serve(void *arg)
{
	struct channel_attach_answer answer = { .rail_count = 1,
						.port = OURS,
						.rail = { .kind = 1,
							  .address = address(OURS),
							  .packet_bytes = PACKET_BYTES,
							  .ring_pkts = CHANNEL_RING_PKTS } };
	struct channel_attach_request request;
	struct world *world = arg;
	int fds[2][CHANNEL_LANE_FDS];

	world->conn_fd = accept(world->listen_fd, NULL, NULL);
	while (channel_attach_request_read(world->conn_fd, &request) != 0)
		usleep(1000);
	if (channel_lane_make(PACKET_BYTES, fds) == 0 &&
	    channel_lane_open(&world->node, fds[1], CHANNEL_ATTACH_NODE, PACKET_BYTES) == 0)
		channel_attach_reply(world->conn_fd, &answer, fds[0]);
	close(fds[0][CHANNEL_LANE_MEMORY]);
	close(fds[0][CHANNEL_LANE_BELL]);
	return NULL;
}

static void
world_open(struct world *world)
{
	const struct channel_rail_config config = { .program = "test" };
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct lull_error error = { "" };
	char text[CHANNEL_RAIL_TEXT_SIZE];
	pthread_t thread;

	strcpy(world->folder, "/tmp/lull-rail-XXXXXX");
	assert_non_null(mkdtemp(world->folder));
	snprintf(world->path, sizeof(world->path), "%s/node", world->folder);
	strcpy(to.sun_path, world->path);
	world->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(bind(world->listen_fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(listen(world->listen_fd, 1), 0);
	assert_int_equal(pthread_create(&thread, NULL, world_serve, world), 0);
	snprintf(text, sizeof(text), "node:%s,rail=0", world->path);
	if (channel_rail_open(&config, text, &world->rail, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(world->listen_fd);
	unlink(world->path);
}

static void
world_close(struct world *world)
{
	channel_rail_close(world->rail);
	channel_lane_close(&world->node);
	channel_lane_close(&world->other);
	if (world->conn_fd >= 0)
		close(world->conn_fd);
	rmdir(world->folder);
}

/* Does a rest end at once? */
static bool
world_wakes(struct world *world)
{
	return poll(world->polls, CHANNEL_WATCH_MAX, 0) > 0;
}

/* As a thread that rests; what came of it. */
static uint32_t
world_receive(struct world *world)
{
	const struct channel_way *way = world->rail->way;

	way->watched(world->rail->state, world->polls);
	return way->receive(world->rail->state, world->packets);
}

static bool
world_rests(struct world *world)
{
	for (uint32_t i = 0; i < CHANNEL_WATCH_MAX; i++)
		world->polls[i] = (struct pollfd){ .fd = -1 };
	world->rail->way->watch(world->rail->state, world->polls);
	return !world_wakes(world);
}

static struct channel_rail_facts
world_facts(const struct world *world)
{
	struct channel_rail_facts facts;

	world->rail->way->facts(world->rail->state, &facts);
	return facts;
}

static void
world_meet(struct world *world)
{
	struct channel_attach_meeting meeting = { .port = OTHER, .side = 0 };
	int fds[2][CHANNEL_LANE_FDS];

	assert_true(world_rests(world));
	assert_int_equal(channel_lane_make(PACKET_BYTES, fds), 0);
	assert_int_equal(channel_attach_meet(world->conn_fd, &meeting, fds[0]), 0);
	close(fds[0][CHANNEL_LANE_MEMORY]);
	close(fds[0][CHANNEL_LANE_BELL]);
	assert_int_equal(channel_lane_open(&world->other, fds[1], 1, PACKET_BYTES), 0);
	assert_true(world_wakes(world));
	assert_int_equal(world_receive(world), 0);
	assert_int_equal(world_facts(world).neighbours, 1);
}

static void
lane_send(struct channel_lane *lane, uint32_t port, uint32_t number)
{
	const struct lull_bundle_address from = address(port);
	uint8_t bytes[100];

	stand_fill(bytes, sizeof(bytes), number);
	assert_int_equal(channel_lane_put(lane, &from, bytes, sizeof(bytes)), 0);
	channel_lane_push(lane);
}

static void
world_came(const struct world *world, uint32_t index, uint32_t port, uint32_t number)
{
	const struct lull_bundle_address from = address(port);
	const struct channel_packet *packet = &world->packets[index];

	assert_int_equal(packet->from.len_bytes, from.len_bytes);
	assert_memory_equal(packet->from.bytes, from.bytes, from.len_bytes);
	assert_int_equal(packet->len_bytes, 100);
	assert_true(stand_holds(packet->bytes, packet->len_bytes, number));
}

/* Of the program, of a neighbour, of both; before the rest and in it. */
TEST(rail_memory__packets_end_its_rest)
{
	static struct world world = { .node = { .bell_fd = -1 }, .other = { .bell_fd = -1 } };

	world_open(&world);
	world_meet(&world);
	for (uint32_t round = 0; round < 20; round++) {
		assert_true(world_rests(&world));
		lane_send(&world.node, 5, round);
		assert_true(world_wakes(&world));
		assert_int_equal(world_receive(&world), 1);
		world_came(&world, 0, 5, round);
		assert_true(world_rests(&world));
		lane_send(&world.other, 5, round); /* says that it is somebody else */
		assert_true(world_wakes(&world));
		assert_int_equal(world_receive(&world), 1);
		world_came(&world, 0, OTHER, round);
		lane_send(&world.other, OTHER, round);
		assert_false(world_rests(&world));
		assert_int_equal(world_receive(&world), 1);
		lane_send(&world.node, 5, round);
		assert_false(world_rests(&world));
		lane_send(&world.other, OTHER, round);
		assert_int_equal(world_receive(&world), 2);
	}
	assert_int_equal(world_facts(&world).direct_rx_pkts, 60);
	world_close(&world);
}

/* In one burst: each to whom it is for, and no rest is ended without need. */
TEST(rail_memory__sends_directly_to_neighbours_alone)
{
	static struct world world = { .node = { .bell_fd = -1 }, .other = { .bell_fd = -1 } };
	uint8_t bytes[100], taken[4 * PACKET_BYTES];
	struct lull_bundle_packet packets[4];

	world_open(&world);
	world_meet(&world);
	for (uint32_t i = 0; i < 4; i++)
		packets[i] = (struct lull_bundle_packet){ .bytes = bytes,
							  .len_bytes = 10 + i,
							  .to = address(i % 2 == 0 ? OTHER : 9) };
	assert_int_equal(world.rail->way->send(world.rail->state, packets, 4), 4);
	assert_int_equal(world.rail->way->sent(world.rail->state), 4);
	assert_int_equal(world_facts(&world).direct_tx_pkts, 2);
	assert_int_equal(channel_lane_take(&world.other, world.packets, taken, PACKET_BYTES, 4), 2);
	assert_int_equal(world.packets[1].len_bytes, 12);
	assert_int_equal(channel_lane_take(&world.node, world.packets, taken, PACKET_BYTES, 4), 2);
	assert_int_equal(world.packets[1].len_bytes, 13);
	world_close(&world);
}

/* The program goes: neighbours stay. Then one of them goes too. */
TEST(rail_memory__outlives_the_program)
{
	static struct world world = { .node = { .bell_fd = -1 }, .other = { .bell_fd = -1 } };

	world_open(&world);
	world_meet(&world);
	close(world.conn_fd);
	world.conn_fd = -1;
	channel_lane_close(&world.node);
	assert_false(world_rests(&world));
	assert_int_equal(world_receive(&world), 0);
	assert_false(world_facts(&world).up);
	assert_true(world_rests(&world));
	lane_send(&world.other, OTHER, 1);
	assert_true(world_wakes(&world));
	assert_int_equal(world_receive(&world), 1);
	world_came(&world, 0, OTHER, 1);
	lane_send(&world.other, OTHER, 2);
	channel_lane_close(&world.other);
	assert_false(world_rests(&world));
	assert_int_equal(world_receive(&world), 1); /* what it sent before */
	world_came(&world, 0, OTHER, 2);
	world_receive(&world);
	world_receive(&world);
	assert_int_equal(world_facts(&world).neighbours, 0);
	world_close(&world);
}

/* An index that cannot be, found while sending: the rail begins anew, and no rest hides it. */
TEST(rail_memory__leaves_a_program_that_writes_nonsense)
{
	static struct world world = { .node = { .bell_fd = -1 }, .other = { .bell_fd = -1 } };
	const struct lull_bundle_packet packet = { .bytes = (uint8_t *)world.packets,
						   .len_bytes = 10 };
	uint32_t *ring;

	world_open(&world);
	ring = (uint32_t *)(void *)((uint8_t *)world.node.shared + LULL_CACHE_LINE);
	ring[LULL_CACHE_LINE / sizeof(*ring)] = 77; /* packets read of the rail's ring */
	assert_true(world_rests(&world));
	assert_int_equal(world.rail->way->send(world.rail->state, &packet, 1), 1);
	assert_true(world_wakes(&world));
	world_receive(&world);
	assert_false(world_facts(&world).up);
	assert_int_equal(channel_lane_hear(&world.node), -ECONNRESET);
	world_close(&world);
}
