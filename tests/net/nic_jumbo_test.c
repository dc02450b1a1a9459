/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of 9000 bytes from a NIC: what is asked of its driver, and what comes of it. */
#include "nic_stand.h"

#define MTU 9000
#define PAYLOAD (MTU - 28)
#define PORT 5004

static uint8_t frame[NIC_FRAME_MAX];

static struct lull_net_damaged
damaged(void)
{
	struct lull_net_damaged seen;

	nic.backend->damaged(nic.state, &seen);
	return seen;
}

/* Buffers that hold a packet each: no driver has to know more. */
TEST(mtu__is_told_to_the_driver_and_fits_a_buffer)
{
	nic_reset();
	nic.offloads = 0;
	nic_open(",mtu=9000");
	assert_int_equal(nic.conf.rxmode.mtu, MTU);
	assert_int_equal(nic.mtu, MTU);
	assert_true(nic.room_bytes >= MTU + 18 + 8);
	nic_close();
}

TEST(mtu__is_1500_without_a_word)
{
	nic_reset();
	nic_open("");
	assert_int_equal(nic.mtu, 0);
	assert_int_equal(nic.room_bytes, 2048);
	nic_close();
}

TEST(scatter__takes_small_buffers_where_the_driver_can)
{
	nic_reset();
	nic_open(",mtu=9000,scatter=yes");
	assert_int_equal(nic.conf.rxmode.mtu, MTU);
	assert_true(nic.conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER);
	assert_int_equal(nic.room_bytes, 2048);
	nic_close();
	nic_reset();
	nic.offloads = 0;
	nic_open(",mtu=9000,scatter=yes");
	assert_false(nic.conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER);
	assert_true(nic.room_bytes >= MTU + 18 + 8);
	nic_close();
}

TEST(mtu__that_is_too_much_is_named_with_the_most)
{
	nic_reset();
	nic_refuses(NIC ",mtu=9800", "mtu: 9800 is not in 46..9710 (the range of port " NIC);
	nic_refuses(NIC ",mtu=big", "mtu: give a number in 576..16000");
	nic_refuses(NIC ",scatter=maybe", "scatter: say yes or no");
	nic_refuses("af_packet=lo,scatter=yes", "leave scatter out");
	nic_refuses("net_af_packet3,iface=lo,mtu=9000", "mtu: its interface has one");
}

/* Whole in what the application gets, wherever the buffers end: in a header, or in the picture. */
TEST(receive__puts_2_3_and_5_buffers_together)
{
	static const struct {
		uint32_t segments, len_bytes;
	} ways[] = { { 1, 1000 }, { 2, 3000 }, { 3, 5000 }, { 5, PAYLOAD }, { 30, 500 } };
	struct lull_net_packet packets[LULL_NET_BURST];
	uint32_t count = sizeof(ways) / sizeof(ways[0]);

	nic_reset();
	nic_open(",mtu=9000,scatter=yes");
	nic_claim(PORT, NULL);
	nic_start();
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < count; i++) {
			uint32_t size = nic_frame(frame, PORT, round + i, ways[i].len_bytes);

			nic_comes(0, frame, size, ways[i].segments, 0);
		}
		assert_int_equal(nic_receive(packets), count);
		for (uint32_t i = 0; i < count; i++)
			nic_expect(&packets[i], round + i, ways[i].len_bytes);
	}
	assert_int_equal(damaged().cut, 0);
	nic_close();
}

/* A frame without its end is no picture's, and is told: a driver that cut it, or too many buffers.
 */
TEST(receive__counts_what_lacks_its_end)
{
	struct lull_net_packet packets[LULL_NET_BURST];
	uint32_t size;

	nic_reset();
	nic_open("");
	nic_claim(PORT, NULL);
	nic_start();
	size = nic_frame(frame, PORT, 1, 1000);
	nic_comes(0, frame, size - 1, 1, 0);
	nic_comes(0, frame, size, 1, 0);
	memset(frame + size, 0, sizeof(frame) - size);
	nic_comes(0, frame, sizeof(frame), 6, 0);
	nic_frame(frame, PORT + 1, 1, 1000);
	nic_comes(0, frame, size - 1, 1, 0);
	assert_int_equal(nic_receive(packets), 1);
	nic_expect(&packets[0], 1, 1000);
	assert_int_equal(damaged().cut, 2);
	assert_int_equal(nic.backend->unclaimed(nic.state), 1);
	nic_close();
}

TEST_GROUP(stand_setup, stand_stop);
