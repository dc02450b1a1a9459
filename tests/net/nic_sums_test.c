/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums, where no kernel looks at them: the NIC does, or lull. */
#include "nic_stand.h"

#define PORT 5004
#define BYTES 333 /* odd: the last byte is half a word */
#define UDP 34
#define UDP_SUM (UDP + 6)
#define GOOD (RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD)
#define BAD (RTE_MBUF_F_RX_IP_CKSUM_BAD | RTE_MBUF_F_RX_L4_CKSUM_BAD)

static uint8_t frame[NIC_FRAME_MAX];

static uint32_t
sum_of(uint32_t sum, const uint8_t *at, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++) {
		sum += i % 2 == 0 ? (uint32_t)at[i] << 8 : at[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

/* RFC 768; @p partial: of the pseudo header, for a NIC that finishes it. */
static uint32_t
summed(uint32_t number, uint32_t len_bytes, bool partial)
{
	uint32_t size = nic_frame(frame, PORT, number, len_bytes);
	uint32_t sum = sum_of(17 + 8 + len_bytes, frame + 26, 8);

	if (!partial)
		sum = ~sum_of(sum, frame + UDP, 8 + len_bytes) & 0xffff;
	frame[UDP_SUM] = (uint8_t)(sum >> 8);
	frame[UDP_SUM + 1] = (uint8_t)sum;
	return size;
}

/* How many of it come: 0 or 1. */
static uint32_t
come(uint32_t size, uint32_t segments, uint64_t flags)
{
	struct lull_net_packet packets[LULL_NET_BURST];

	nic_comes(0, frame, size, segments, flags);
	return nic_receive(packets);
}

static uint64_t
wrong(void)
{
	struct lull_net_damaged damaged;

	nic.backend->damaged(nic.state, &damaged);
	assert_int_equal(damaged.cut, 0);
	return damaged.wrong;
}

static void
begin(void)
{
	nic_reset();
	nic_open(",mtu=9000,scatter=yes");
	nic_claim(PORT, NULL);
	nic_start();
}

TEST(sums__that_are_right_pass_whatever_the_length)
{
	begin();
	assert_int_equal(nic.conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_CHECKSUM &
				 ~(uint64_t)RTE_ETH_RX_OFFLOAD_TCP_CKSUM,
			 RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
	for (uint32_t bytes = 0; bytes < 70; bytes++)
		assert_int_equal(come(summed(bytes, bytes, false), 1, 0), 1);
	assert_int_equal(come(summed(3, 8000, false), 5, 0), 1);
	assert_int_equal(come(summed(3, 1471, false), 3, 0), 1);
	assert_int_equal(wrong(), 0);
	nic_close();
}

/* One bit, wherever it is, and no picture gets the packet. */
TEST(sums__that_are_wrong_are_counted)
{
	uint32_t size = summed(1, BYTES, false), count = 0;

	begin();
	for (uint32_t at = 14; at < size; at += at < UDP + 8 ? 1 : 7) {
		if (at == 14 || (at >= 16 && at < 18) || (at >= 20 && at < 22) || at == 23 ||
		    (at >= UDP + 2 && at < UDP + 6))
			continue; /* who it is for, or how long: another matter */
		frame[at] ^= 0x10;
		assert_int_equal(come(size, 1, 0), 0);
		frame[at] ^= 0x10;
		assert_int_equal(wrong(), ++count);
	}
	frame[size - 1] ^= 1;
	assert_int_equal(come(size, 4, 0), 0);
	assert_int_equal(wrong(), count + 1);
	nic_close();
}

/* The NIC has looked: what it found right is not looked at again, what it found wrong is. */
TEST(sums__of_a_nic_are_believed)
{
	uint32_t size;

	begin();
	size = summed(1, BYTES, false);
	assert_int_equal(come(size, 1, BAD), 1);
	frame[size - 1] ^= 1;
	assert_int_equal(come(size, 1, GOOD), 1);
	assert_int_equal(come(size, 1, BAD), 0);
	assert_int_equal(come(size, 1, RTE_MBUF_F_RX_IP_CKSUM_GOOD), 0);
	assert_int_equal(wrong(), 2);
	nic_close();
}

/* None was made (many cameras), or a NIC was to make it and there is none (veth). */
TEST(sums__that_are_not_made_hold)
{
	uint32_t size;

	begin();
	size = nic_frame(frame, PORT, 1, BYTES);
	assert_int_equal(frame[UDP_SUM] | frame[UDP_SUM + 1], 0);
	assert_int_equal(come(size, 1, BAD), 1);
	size = summed(1, BYTES, true);
	assert_int_equal(come(size, 1, 0), 1);
	frame[14 + 10] ^= 1; /* that of IP */
	assert_int_equal(come(size, 1, 0), 0);
	assert_int_equal(wrong(), 1);
	frame[14 + 10] = frame[14 + 11] = 0; /* as a sender's NIC gets it, in its captures */
	assert_int_equal(come(size, 1, 0), 1);
	nic_close();
}

TEST_GROUP(stand_setup, stand_stop);
