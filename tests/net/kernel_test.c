/* SPDX-License-Identifier: BSD-3-Clause */
/* What sockets of the kernel say, put right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/kernel_socket.h"

/* The first ones arrived before the kernel stamped, and were stamped when they were read. */
static void
stamps__of_earlier_packets_are_no_later(void **state)
{
	struct lull_net_packet packets[5] = {
		{ .stamp_ns = 900 }, { .stamp_ns = 910 }, { .stamp_ns = 500 },
		{ .stamp_ns = 600 }, { .stamp_ns = 600 },
	};
	const uint64_t wanted[5] = { 500, 500, 500, 600, 600 };

	(void)state;
	kernel_stamps_in_order(packets, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(packets[i].stamp_ns, wanted[i]);
	kernel_stamps_in_order(packets, 0);
	packets[0].stamp_ns = 7;
	kernel_stamps_in_order(packets, 1);
	assert_int_equal(packets[0].stamp_ns, 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps__of_earlier_packets_are_no_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
