/* SPDX-License-Identifier: BSD-3-Clause */
/* What sockets of the kernel say, put right. */

#include "case.h"
#include "net/kernel_socket.h"

/* The first ones arrived before the kernel stamped, and were stamped when they were read. */
TEST(stamps__of_earlier_packets_are_no_later)
{
	struct lull_net_packet packets[5] = {
		{ .stamp_ns = 900 }, { .stamp_ns = 910 }, { .stamp_ns = 500 },
		{ .stamp_ns = 600 }, { .stamp_ns = 600 },
	};
	const uint64_t wanted[5] = { 500, 500, 500, 600, 600 };

	kernel_stamps_in_order(packets, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(packets[i].stamp_ns, wanted[i]);
	kernel_stamps_in_order(packets, 0);
	packets[0].stamp_ns = 7;
	kernel_stamps_in_order(packets, 1);
	assert_int_equal(packets[0].stamp_ns, 7);
}
