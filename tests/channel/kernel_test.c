/* SPDX-License-Identifier: BSD-3-Clause */
/* The library over sockets on loopback: two channels in one process, as two processes would. */
#include "stand.h"

#include <time.h>
#include <unistd.h>

#include <lull/rest.h>

#include "channel/rail.h"

static void
exchange(const char *rail, uint32_t rail_count, bool own_loop)
{
	struct stand stand = { .rail_count = rail_count, .own_loop = own_loop };

	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < rail_count; i++)
			stand.rails[side][i] = rail;
	/* By name: the port that both do not have is found out. */
	stand_open(&stand);
	stand_carry(&stand, 0, 0, 1);
	stand_carry(&stand, 1, 1400, 2);
	stand_carry(&stand, 0, 1000000, 3);
	stand_carry(&stand, 1, 3000000, 4);
	stand_close(&stand);
}

TEST(kernel__finds_each_other_by_name)
{
	exchange("kernel:lo", 1, false);
}

TEST(kernel__with_several_rails)
{
	exchange("kernel:lo,port=0", 3, false);
}

TEST(kernel__in_the_callers_loop)
{
	exchange("kernel:lo", 1, true);
}

TEST(kernel_busy__finds_each_other_by_name)
{
	exchange("kernel-busy:lo", 1, false);
}

TEST(kernel_busy__in_the_callers_loop)
{
	exchange("kernel-busy:lo", 2, true);
}

TEST(kernel__connects_by_address)
{
	struct stand stand = { .rail_count = 1 };
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];
	struct lull_error error = { "" };
	uint32_t bytes, name_bytes;

	stand.rails[0][0] = "kernel:lo,port=0";
	stand.rails[1][0] = "kernel:lo,port=0";
	stand_start(&stand);
	bytes = lull_channel_address(stand.channels[1], address);
	/* Version, one rail, the name; IPv4, 127.0.0.1 and its port. */
	name_bytes = (uint32_t)strlen(stand_name(1));
	assert_int_equal(bytes, 3 + name_bytes + 8);
	assert_memory_equal(address, ((uint8_t[]){ 1, 1, (uint8_t)name_bytes }), 3);
	assert_memory_equal(address + 3, stand_name(1), name_bytes);
	assert_memory_equal(address + 3 + name_bytes,
			    ((uint8_t[]){ CHANNEL_KIND_IP4, 6, 127, 0, 0, 1 }), 6);
	if (lull_channel_connect_address(stand.channels[0], address, bytes, STAND_WAIT_NS,
					 &stand.peers[0], &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(lull_channel_accept(stand.channels[1], STAND_WAIT_NS, &stand.peers[1]), 0);
	stand_carry(&stand, 0, 50000, 1);
	stand_close(&stand);
}

/* A port by name is that one or none; without, another process of the node may have the usual. */
TEST(kernel__takes_another_port_unless_told)
{
	struct channel_rail_config config = { .program = "test" };
	struct channel_rail *first, *second, *third;
	struct lull_error error = { "" };
	uint16_t ports[2];

	assert_int_equal(channel_rail_open(&config, "kernel:lo", &first, &error), 0);
	assert_int_equal(channel_rail_open(&config, "kernel:lo", &second, &error), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const uint8_t *bytes = (i == 0 ? first : second)->bundle.address.bytes;

		ports[i] = (uint16_t)(bytes[4] << 8 | bytes[5]);
	}
	assert_int_not_equal(ports[0], ports[1]);
	assert_int_not_equal(ports[1], 0);
	assert_int_equal(channel_rail_open(&config, "kernel:lo,port=34997", &third, &error),
			 -EADDRINUSE);
	assert_non_null(strstr(error.text, "another program uses it"));
	assert_null(third);
	assert_int_equal(first->bundle.packet_bytes, CHANNEL_PACKET_BYTES - 28);
	assert_true(first->bundle.ring_pkts >= 16);
	channel_rail_close(first);
	channel_rail_close(second);
}

/* At rest a thread that blocks costs nothing, and yet answers at once. */
TEST(kernel__rests_until_a_packet_comes)
{
	struct stand stand = { .rail_count = 1 };
	struct timespec before, after;
	uint64_t used_ns;

	stand.rails[0][0] = stand.rails[1][0] = "kernel:lo,port=0";
	stand.rails[0][0] = "kernel:lo";
	stand_open(&stand);
	stand_carry(&stand, 0, 1000, 1);
	usleep(100000); /* what follows a message has been said */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	usleep(500000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	used_ns = (uint64_t)(after.tv_sec - before.tv_sec) * LULL_NS_PER_S +
		  (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec;
	/* A loop that does not rest would have used 500 ms, or 1000. */
	assert_true(used_ns < 100 * LULL_NS_PER_MS);
	stand_carry(&stand, 1, 1000, 2);
	stand_close(&stand);
}
