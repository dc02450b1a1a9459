/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the port: rte_flow, where the driver takes them. */
#include "rx_port_rule.h"

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "host/error.h"

#define ITEMS_MAX 4

struct rule {
	struct rte_flow_item items[ITEMS_MAX];
	struct rte_flow_item_eth eth, eth_mask;
	struct rte_flow_item_ipv4 ip4, ip4_mask;
	struct rte_flow_item_ipv6 ip6, ip6_mask;
	struct rte_flow_item_udp udp, udp_mask;
};

static void
rule_add(struct rte_flow_item *item, enum rte_flow_item_type type, const void *spec,
	 const void *mask)
{
	*item = (struct rte_flow_item){ .type = type, .spec = spec, .mask = mask };
}

/* Of any source and any address of this one, the port alone counts; IPv4, unless it says IPv6. */
static void
rule_pattern(struct rule *rule, const struct lull_rx_port_rule *wanted)
{
	struct rte_flow_item *item = rule->items;
	bool exact = wanted->address != NULL;

	memset(rule, 0, sizeof(*rule));
	rule->eth.hdr.ether_type = rte_cpu_to_be_16(wanted->ether_type);
	rule->eth_mask.hdr.ether_type = UINT16_MAX;
	rule->udp.hdr.dst_port = rte_cpu_to_be_16(wanted->port);
	rule->udp_mask.hdr.dst_port = UINT16_MAX;
	if (wanted->protocol != 0) {
		rule->ip4.hdr.next_proto_id = wanted->protocol;
		rule->ip4_mask.hdr.next_proto_id = UINT8_MAX;
		rule_add(item++, RTE_FLOW_ITEM_TYPE_ETH, NULL, NULL);
		rule_add(item++, RTE_FLOW_ITEM_TYPE_IPV4, &rule->ip4, &rule->ip4_mask);
		rule_add(item, RTE_FLOW_ITEM_TYPE_END, NULL, NULL);
		return;
	}
	if (wanted->port == 0) {
		rule_add(item++, RTE_FLOW_ITEM_TYPE_ETH, &rule->eth, &rule->eth_mask);
		rule_add(item, RTE_FLOW_ITEM_TYPE_END, NULL, NULL);
		return;
	}
	rule_add(item++, RTE_FLOW_ITEM_TYPE_ETH, NULL, NULL);
	if (exact && wanted->address_bytes == sizeof(rule->ip6.hdr.dst_addr)) {
		memcpy(&rule->ip6.hdr.dst_addr, wanted->address, wanted->address_bytes);
		memset(&rule->ip6_mask.hdr.dst_addr, 0xff, sizeof(rule->ip6_mask.hdr.dst_addr));
		rule_add(item++, RTE_FLOW_ITEM_TYPE_IPV6, &rule->ip6, &rule->ip6_mask);
	} else {
		if (exact) {
			memcpy(&rule->ip4.hdr.dst_addr, wanted->address,
			       sizeof(rule->ip4.hdr.dst_addr));
			rule->ip4_mask.hdr.dst_addr = UINT32_MAX;
		}
		rule_add(item++, RTE_FLOW_ITEM_TYPE_IPV4, exact ? &rule->ip4 : NULL,
			 exact ? &rule->ip4_mask : NULL);
	}
	rule_add(item++, RTE_FLOW_ITEM_TYPE_UDP, &rule->udp, &rule->udp_mask);
	rule_add(item, RTE_FLOW_ITEM_TYPE_END, NULL, NULL);
}

/* The driver's own words, where it has some. */
static int
rule_refused(int rc, const struct rte_flow_error *said, struct lull_error *error)
{
	rc = rc < 0 ? rc : -EIO;
	return lull_error_set(error, rc, "%.120s",
			      said->message != NULL ? said->message : strerror(-rc));
}

int
lull_rx_port_rule_add(uint16_t port_id, const struct lull_rx_port_rule *wanted, uint16_t queue_id,
		      struct lull_error *error)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_action_queue queue = { .index = queue_id };
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error said = { .message = NULL };
	struct rule rule;
	int rc;

	rule_pattern(&rule, wanted);
	rc = rte_flow_validate(port_id, &attr, rule.items, actions, &said);
	if (rc != 0)
		return rule_refused(rc, &said, error);
	if (rte_flow_create(port_id, &attr, rule.items, actions, &said) == NULL)
		return rule_refused(-rte_errno, &said, error);
	return 0;
}

void
lull_rx_port_rule_remove_all(uint16_t port_id)
{
	struct rte_flow_error ignored;

	rte_flow_flush(port_id, &ignored); /* most drivers have none */
}

int
lull_rx_port_rule_isolate(uint16_t port_id, struct lull_error *error)
{
	struct rte_flow_error said = { .message = NULL };
	int rc = rte_flow_isolate(port_id, 1, &said);

	return rc == 0 ? 0 : rule_refused(rc, &said, error);
}
