/* SPDX-License-Identifier: BSD-3-Clause */
/* What is sent to groups gets through the filter of a NIC, and routers hear of it. */
#include <errno.h>

#include "nic_stand.h"

#define CMP 0x99fe
#define MESSAGE (14 + 24)

static uint8_t frame[NIC_FRAME_MAX];

static bool
has(const char *mac)
{
	uint8_t bytes[LULL_NET_MAC_SIZE];

	assert_int_equal(lull_net_mac_parse(mac, bytes), 0);
	for (uint32_t i = 0; i < nic.mac_count; i++)
		if (memcmp(&nic.macs[i], bytes, sizeof(bytes)) == 0)
			return true;
	return false;
}

TEST(filter__has_the_groups_of_claims_and_no_others)
{
	nic_reset();
	nic_open("");
	nic_claim_ethernet(CMP, "91:e0:f0:00:fe:01");
	nic_claim_ethernet(CMP, "91:e0:f0:00:fe:02");
	nic_claim_ethernet(CMP, "91:e0:f0:00:fe:01");
	nic_claim(5004, "192.0.2.9");
	nic_claim(5005, "ff0e::1:2:3");
	assert_int_equal(nic.mac_count, 3);
	assert_true(has("91:e0:f0:00:fe:01") && has("91:e0:f0:00:fe:02"));
	assert_true(has("33:33:00:02:00:03"));
	assert_false(nic.all_groups);
	assert_non_null(strstr(nic_finding("groups").text, "3 addresses are in the filter"));
	nic_close();
}

TEST(filter__lets_all_through_when_no_address_is_named)
{
	nic_reset();
	nic_open("");
	nic_claim_ethernet(CMP, NULL);
	assert_true(nic.all_groups);
	assert_non_null(strstr(nic_finding("groups").text, "lets all groups through"));
	nic_close();
	nic_reset();
	nic_open("");
	nic_claim(5004, NULL);
	assert_true(nic.all_groups);
	nic_close();
	nic_reset();
	nic_open("");
	nic_claim(5004, "192.0.2.9");
	assert_false(nic.all_groups);
	nic_close();
}

TEST(filter__of_a_driver_without_a_list_is_opened)
{
	nic_reset();
	nic.list_rc = -ENOTSUP;
	nic_open("");
	nic_claim_ethernet(CMP, "91:e0:f0:00:fe:01");
	assert_true(nic.all_groups);
	nic_close();
}

/* Without a kernel on the port: a report, the answer to a query, the leave. */
TEST(igmp__is_spoken_by_lull)
{
	static const uint8_t report[] = { 0x22, 4, 239, 1, 2, 3 }, own[] = { 192, 0, 2, 77 };
	static const uint8_t query[] = { 0x01, 0,    0x5e, 0, 0,   1, 2, 0, 0,    0, 0, 9,    8,
					 0,    0x46, 0,    0, 36,  0, 0, 0, 0,    1, 2, 0x44, 0xd3,
					 0,    0,    0,    0, 224, 0, 0, 1, 0x94, 4, 0, 0,    0x11,
					 0,    0xee, 0xff, 0, 0,   0, 0, 0, 0,    0, 0 };
	struct lull_net_packet packets[LULL_NET_BURST];
	uint32_t size;

	nic_reset();
	nic_open(",ip=192.0.2.77");
	nic_claim(5004, "239.1.2.3");
	assert_true(has("01:00:5e:01:02:03"));
	assert_true(has("01:00:5e:00:00:01")); /* queries */
	assert_non_null(strstr(nic_finding("groups").text, "lull reports 1 of IPv4 itself"));
	nic_start();
	assert_int_equal(nic_receive(packets), 0);
	size = nic_sent(frame);
	assert_int_equal(size, MESSAGE + 16);
	assert_int_equal(frame[MESSAGE], report[0]);
	assert_int_equal(frame[MESSAGE + 8], report[1]);
	assert_memory_equal(frame + MESSAGE + 12, report + 2, 4);
	assert_memory_equal(frame + 14 + 12, own, sizeof(own));
	assert_int_equal(nic_sent(frame), 0);
	nic_comes(0, query, sizeof(query), 1, 0);
	assert_int_equal(nic_receive(packets), 0);
	STAND_WAIT(nic_receive(packets) == 0 && (size = nic_sent(frame)) != 0);
	assert_int_equal(frame[MESSAGE], report[0]);
	nic_close();
}

TEST_GROUP(stand_setup, stand_stop);
