/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams in queues of their own, by rules of a NIC; and a NIC that takes none. */
#include "nic_stand.h"

#define CMP 0x99fe
#define BYTES 200

static uint8_t frame[NIC_FRAME_MAX];

TEST(rule__brings_a_stream_to_the_only_queue)
{
	nic_reset();
	nic_open("");
	nic_claim(5004, "192.0.2.2");
	assert_int_equal(nic.rule_count, 1);
	assert_int_equal(nic.rules[0].port, 5004);
	assert_int_equal(nic.rules[0].queue, 0);
	nic_close();
	assert_int_equal(nic.rule_count, 0);
}

/* Queue 0 is left to what no rule brings; no hash deals packets to the others. */
TEST(rule__deals_streams_to_queues)
{
	struct lull_net_packet packets[LULL_NET_BURST];
	bool seen[4] = { false };
	uint32_t size;

	nic_reset();
	nic_open(",queues=3");
	nic_claim(5004, NULL);
	nic_claim(5005, "192.0.2.2");
	nic_claim(5006, NULL);
	nic_claim(5004, "192.0.2.2"); /* comes by the rule for any address */
	nic_claim_ethernet(CMP, "91:e0:f0:00:fe:01");
	nic_claim_ethernet(CMP, "91:e0:f0:00:fe:02");
	assert_int_equal(nic.conf.rxmode.mq_mode, RTE_ETH_MQ_RX_NONE);
	assert_int_equal(nic.rule_count, 4);
	for (uint32_t i = 0; i < nic.rule_count; i++)
		assert_int_equal(nic.rules[i].queue, 1 + i % 2);
	assert_int_equal(nic.rules[3].ether_type, CMP);
	nic_start();
	for (uint16_t i = 0; i < 3; i++) {
		size = nic_frame(frame, (uint16_t)(5004 + i), i, BYTES);
		nic_comes(i, frame, size, 1, 0);
	}
	assert_int_equal(nic_receive(packets), 3);
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t number = packets[i].first - 1;

		nic_expect(&packets[i], number, BYTES);
		assert_false(seen[number]);
		seen[number] = true;
	}
	nic_close();
}

/* A flood where no rule leads is not in front of all others. */
TEST(queue__has_its_turn_beside_a_flood)
{
	struct lull_net_packet packets[LULL_NET_BURST];
	uint32_t size, got = 0;

	nic_reset();
	nic_open(",queues=2");
	nic_claim(5004, NULL);
	nic_start();
	size = nic_frame(frame, 4000, 0, BYTES);
	for (uint32_t i = 0; i < 40 * LULL_NET_BURST / 4; i++)
		nic_comes(0, frame, size, 1, 0);
	size = nic_frame(frame, 5004, 7, BYTES);
	nic_comes(1, frame, size, 1, 0);
	for (uint32_t i = 0; i < 2; i++)
		got += nic_receive(packets);
	assert_int_equal(got, 1);
	nic_close();
}

/* All is received then, and sorted here; the self-check has the driver's words. */
TEST(rule__that_is_refused_is_told)
{
	struct lull_net_packet packets[LULL_NET_BURST];
	struct lull_finding finding;

	nic_reset();
	nic.refuses = "Not supported by any action";
	nic_open(",queues=4");
	nic_claim(5004, NULL);
	nic_start();
	nic_comes(0, frame, nic_frame(frame, 5004, 1, BYTES), 1, 0);
	assert_int_equal(nic_receive(packets), 1);
	finding = nic_finding("rules");
	assert_non_null(strstr(finding.text, "sorts its packets itself: Not supported by any"));
	assert_non_null(strstr(finding.remedy, "leave queues=4 out"));
	nic_close();
}

TEST(isolate__comes_before_all_and_needs_each_rule)
{
	nic_reset();
	nic_open(",isolate=yes");
	assert_true(nic.isolated);
	nic_claim(5004, "239.1.2.3");
	assert_int_equal(nic.rule_count, 2);
	assert_int_equal(nic.rules[0].protocol, 2); /* or no query would be heard */
	assert_int_equal(nic.rules[1].port, 5004);
	nic.refuses = "No more room";
	nic_claim_refused(5005, "isolate: nothing would come, as " NIC
				" takes no rule for it: No more room; leave isolate out");
	nic_close();
	nic_reset();
	nic.isolates_no = "Flow isolated mode is not supported";
	nic_refuses(NIC ",isolate=yes", "isolate: the driver of " NIC
					" refuses it: Flow isolated mode is not supported; "
					"leave isolate out");
}

TEST(queues__that_the_port_does_not_have_are_named)
{
	nic_reset();
	nic_refuses(NIC ",queues=64", "queues: 64 is not in 1..16 (the range of port " NIC);
}

TEST_GROUP(stand_setup, stand_stop);
