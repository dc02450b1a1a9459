/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rx port: device strings, and rules. Rules go to the driver as asked: to one that takes them
 * without hardware (failsafe, which keeps them for a device that is still to come), and to one that
 * does not. What passes to the driver is recorded on the way.
 */
#include <errno.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "net/dpdk/rx_port.h"
#include "net/dpdk/rx_port_device.h"
#include "stand.h"

/* ---- what passes to the driver ---- */

#define ITEMS_MAX 4

static struct {
	uint32_t validated, created, flushed;
	enum rte_flow_item_type types[ITEMS_MAX];
	uint16_t ether_type, port; /* masked */
	uint8_t address[16];
	enum rte_flow_action_type action;
} seen;

int __real_rte_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
			     const struct rte_flow_item *items,
			     const struct rte_flow_action *actions, struct rte_flow_error *error);
int __wrap_rte_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
			     const struct rte_flow_item *items,
			     const struct rte_flow_action *actions, struct rte_flow_error *error);
struct rte_flow *__real_rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
					const struct rte_flow_item *items,
					const struct rte_flow_action *actions,
					struct rte_flow_error *error);
struct rte_flow *__wrap_rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
					const struct rte_flow_item *items,
					const struct rte_flow_action *actions,
					struct rte_flow_error *error);
int __real_rte_flow_flush(uint16_t port_id, struct rte_flow_error *error);
int __wrap_rte_flow_flush(uint16_t port_id, struct rte_flow_error *error);

static void
see_item(const struct rte_flow_item *item)
{
	const struct rte_flow_item_eth *eth = item->spec, *eth_mask = item->mask;
	const struct rte_flow_item_ipv4 *ip4 = item->spec, *ip4_mask = item->mask;
	const struct rte_flow_item_ipv6 *ip6 = item->spec;
	const struct rte_flow_item_udp *udp = item->spec, *udp_mask = item->mask;

	if (item->spec == NULL)
		return;
	if (item->type == RTE_FLOW_ITEM_TYPE_ETH)
		seen.ether_type = rte_be_to_cpu_16(eth->type & eth_mask->type);
	if (item->type == RTE_FLOW_ITEM_TYPE_IPV4) {
		uint32_t address = ip4->hdr.dst_addr & ip4_mask->hdr.dst_addr;

		memcpy(seen.address, &address, sizeof(address));
	}
	if (item->type == RTE_FLOW_ITEM_TYPE_IPV6)
		memcpy(seen.address, &ip6->hdr.dst_addr, sizeof(seen.address));
	if (item->type == RTE_FLOW_ITEM_TYPE_UDP)
		seen.port = rte_be_to_cpu_16(udp->hdr.dst_port & udp_mask->hdr.dst_port);
}

int
__wrap_rte_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
			 const struct rte_flow_item *items, const struct rte_flow_action *actions,
			 struct rte_flow_error *error)
{
	seen.validated++;
	return __real_rte_flow_validate(port_id, attr, items, actions, error);
}

struct rte_flow *
__wrap_rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
		       const struct rte_flow_item *items, const struct rte_flow_action *actions,
		       struct rte_flow_error *error)
{
	seen.created++;
	seen.action = actions[0].type;
	for (uint32_t i = 0; i < ITEMS_MAX; i++) {
		seen.types[i] = items[i].type;
		if (items[i].type == RTE_FLOW_ITEM_TYPE_END)
			break;
		see_item(&items[i]);
	}
	return __real_rte_flow_create(port_id, attr, items, actions, error);
}

int
__wrap_rte_flow_flush(uint16_t port_id, struct rte_flow_error *error)
{
	seen.flushed++;
	return __real_rte_flow_flush(port_id, error);
}

/* ---- rules ---- */

#define FAILSAFE "net_failsafe7,mac=02:00:00:00:00:07,exec(true)"

static struct lull_rx_port *
rx_port_open(const char *device)
{
	struct lull_rx_port_config config = { .program = "test",
					      .device = device,
					      .ring_pkts = 64 };
	struct lull_error error = { "" };
	struct lull_rx_port *rx_port;

	memset(&seen, 0, sizeof(seen));
	if (lull_rx_port_open(&config, &rx_port, &error) != 0)
		fail_msg("%s", error.text);
	return rx_port;
}

TEST(steer__asks_for_udp_to_a_port)
{
	const uint8_t four[4] = { 10, 1, 2, 3 };
	const struct lull_rx_port_rule any = { .port = 5004 };
	const struct lull_rx_port_rule exact = { .port = 5005,
						 .address = four,
						 .address_bytes = 4 };
	struct lull_rx_port *rx_port = rx_port_open(FAILSAFE);

	assert_int_equal(lull_rx_port_steer(rx_port, &any, NULL), 0);
	assert_int_equal(seen.validated, 1);
	assert_int_equal(seen.created, 1);
	assert_int_equal(seen.types[1], RTE_FLOW_ITEM_TYPE_IPV4);
	assert_int_equal(seen.types[2], RTE_FLOW_ITEM_TYPE_UDP);
	assert_int_equal(seen.types[3], RTE_FLOW_ITEM_TYPE_END);
	assert_int_equal(seen.port, 5004);
	assert_int_equal(seen.action, RTE_FLOW_ACTION_TYPE_QUEUE);
	assert_int_equal(lull_rx_port_steer(rx_port, &exact, NULL), 0);
	assert_int_equal(seen.port, 5005);
	assert_memory_equal(seen.address, four, sizeof(four));
	assert_int_equal(seen.flushed, 0);
	lull_rx_port_close(rx_port);
	assert_int_equal(seen.flushed, 1);
}

TEST(steer__asks_for_ipv6_and_ether_types)
{
	const uint8_t six[16] = { 0xff, 0x0e, [15] = 9 };
	const struct lull_rx_port_rule exact = { .port = 5004,
						 .address = six,
						 .address_bytes = 16 };
	const struct lull_rx_port_rule type = { .ether_type = 0x99fe };
	struct lull_rx_port *rx_port = rx_port_open(FAILSAFE);

	assert_int_equal(lull_rx_port_steer(rx_port, &exact, NULL), 0);
	assert_int_equal(seen.types[1], RTE_FLOW_ITEM_TYPE_IPV6);
	assert_memory_equal(seen.address, six, sizeof(six));
	assert_int_equal(lull_rx_port_steer(rx_port, &type, NULL), 0);
	assert_int_equal(seen.types[0], RTE_FLOW_ITEM_TYPE_ETH);
	assert_int_equal(seen.types[1], RTE_FLOW_ITEM_TYPE_END);
	assert_int_equal(seen.ether_type, 0x99fe);
	lull_rx_port_close(rx_port);
}

/* Not an error of the port: it takes its packets as they come. */
TEST(steer__leaves_a_port_that_refuses)
{
	const struct lull_rx_port_rule rule = { .port = 5004 };
	struct lull_rx_port_packet packets[LULL_RX_PORT_BURST];
	struct lull_rx_port *rx_port = rx_port_open("net_null7");

	assert_int_equal(lull_rx_port_steer(rx_port, &rule, NULL), -ENOSYS);
	assert_int_equal(seen.created, 0);
	assert_true(lull_rx_port_receive(rx_port, packets) > 0);
	lull_rx_port_except(rx_port, 0); /* nothing without a TAP */
	lull_rx_port_release(rx_port);
	lull_rx_port_close(rx_port);
}

/* ---- device strings ---- */

static struct lull_rx_port_device
parse(const char *text)
{
	struct lull_rx_port_config config = { .device = text, .ring_pkts = 1024 };
	struct lull_rx_port_device device;
	struct lull_error error = { "" };

	if (lull_rx_port_device_parse(&config, &device, &error) != 0)
		fail_msg("%s", error.text);
	return device;
}

static void
expect_refusal(const char *text, const char *words)
{
	struct lull_rx_port_config config = { .device = text, .ring_pkts = 1024 };
	struct lull_error error = { "" };
	struct lull_rx_port_device device;

	assert_true(lull_rx_port_device_parse(&config, &device, &error) < 0);
	assert_non_null(strstr(error.text, words));
}

TEST(device__is_in_the_driver_s_words)
{
	struct lull_rx_port_device device;

	device = parse("af_xdp=lo,mtu=1500,queue=3,exception=cam0");
	assert_string_equal(device.args, "iface=lo,start_queue=3");
	assert_string_equal(device.exception, "cam0");
	assert_true(device.xdp);
	assert_int_equal(device.queue, 3);
	device = parse("0000:01:00.0,mtu=9000,scatter=yes");
	assert_int_equal(device.mtu, 9000);
	assert_true(device.scatter);
	assert_string_equal(device.args, "");
	device = parse("net_af_xdp4,exception=cam0,iface=lo,start_queue=2");
	assert_string_equal(device.name, "net_af_xdp4");
	assert_string_equal(device.args, "iface=lo,start_queue=2");
	assert_int_equal(device.queue, 2);
	assert_true(device.xdp);
	assert_false(parse("net_af_xdp4,iface=lo,xdp_prog=/x").xdp);
	device = parse("0000:01:00.0,exception=cam0");
	assert_true(device.pci);
	assert_string_equal(device.name, "0000:01:00.0");
	assert_string_equal(device.args, "");
	assert_string_equal(device.exception, "cam0");
	device = parse("af_packet=lo");
	assert_string_equal(device.exception, "");
	assert_non_null(strstr(device.args, "iface=lo,blocksz="));
}

TEST(device__names_what_is_wrong)
{
	expect_refusal("af_xdp=lo,queue=x", "queue: give a number in 0..4095");
	expect_refusal("af_xdp=lo,queue=4096", "queue: give a number");
	expect_refusal("af_xdp=lo,queue=", "queue: give a number");
	expect_refusal("af_packet=lo,queue=1", "queue is only for af_xdp");
	expect_refusal("af_packet=lo,exception=", "exception: give the name of an interface");
	expect_refusal("af_packet=lo,exception=much-too-long-a-name", "exception: give");
	expect_refusal("af_packet=lo,exception=cam0", "the kernel gets the other packets anyway");
	expect_refusal("af_packet=lo,queues=2", "leave queues out");
	expect_refusal("net_null7,queues=0", "queues: give a number in 1..64");
	expect_refusal("net_null7,isolate=yes,exception=cam0", "leave one of them out");
	expect_refusal("af_xdp=lo", "its MTU is 65536, and AF_XDP takes at most 3434");
	expect_refusal("af_packet=nosuch0", "nosuch0 does not exist");
}

TEST_GROUP(stand_setup, stand_stop);
