/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic_stand.h"

#include <errno.h>

#include <rte_flow.h>

#include "net/frame.h"
#include "net/module.h"

struct nic nic;
static bool nic_holds; /* packets, until the next receive */

/* Of the module, which is linked in. */
extern const struct lull_net_module lull_net_module;

/* ---- the driver ---- */

int __real_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info);
int
__wrap_rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int rc = __real_rte_eth_dev_info_get(port_id, info);

	info->max_mtu = (uint16_t)nic.mtu_max;
	info->rx_offload_capa = nic.offloads;
	return rc;
}

int __real_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_count, uint16_t tx_count,
				 const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_count, uint16_t tx_count,
				 const struct rte_eth_conf *conf);
int
__wrap_rte_eth_dev_configure(uint16_t port_id, uint16_t rx_count, uint16_t tx_count,
			     const struct rte_eth_conf *conf)
{
	struct rte_eth_conf plain = *conf;

	nic.conf = *conf;
	nic.configured = true;
	nic.queues = rx_count;
	plain.rxmode.offloads = 0;
	return __real_rte_eth_dev_configure(port_id, rx_count, tx_count, &plain);
}

/* As ixgbe does: what may not fit a buffer must be allowed to come in several. */
int __real_rte_eth_rx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc_count,
				  unsigned int socket_id, const struct rte_eth_rxconf *conf,
				  struct rte_mempool *pool);
int __wrap_rte_eth_rx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc_count,
				  unsigned int socket_id, const struct rte_eth_rxconf *conf,
				  struct rte_mempool *pool);
int
__wrap_rte_eth_rx_queue_setup(uint16_t port_id, uint16_t queue_id, uint16_t desc_count,
			      unsigned int socket_id, const struct rte_eth_rxconf *conf,
			      struct rte_mempool *pool)
{
	uint32_t frame = nic.conf.rxmode.mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	nic.room_bytes = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	if (frame > nic.room_bytes && !(nic.conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER))
		return -EINVAL;
	return __real_rte_eth_rx_queue_setup(port_id, queue_id, desc_count, socket_id, conf, pool);
}

int __wrap_rte_eth_dev_set_mtu(uint16_t port_id, uint16_t mtu);
int
__wrap_rte_eth_dev_set_mtu(uint16_t port_id, uint16_t mtu)
{
	(void)port_id;
	nic.mtu = mtu;
	return 0;
}

int __wrap_rte_eth_dev_set_mc_addr_list(uint16_t port_id, struct rte_ether_addr *list,
					uint32_t count);
int
__wrap_rte_eth_dev_set_mc_addr_list(uint16_t port_id, struct rte_ether_addr *list, uint32_t count)
{
	(void)port_id;
	assert_true(count <= sizeof(nic.macs) / sizeof(nic.macs[0]));
	if (nic.list_rc != 0)
		return nic.list_rc;
	memcpy(nic.macs, list, count * sizeof(*list));
	nic.mac_count = count;
	return 0;
}

int __wrap_rte_eth_allmulticast_enable(uint16_t port_id);
int
__wrap_rte_eth_allmulticast_enable(uint16_t port_id)
{
	(void)port_id;
	nic.all_groups = true;
	return 0;
}

int __wrap_rte_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
			     const struct rte_flow_item *items,
			     const struct rte_flow_action *actions, struct rte_flow_error *error);
int
__wrap_rte_flow_validate(uint16_t port_id, const struct rte_flow_attr *attr,
			 const struct rte_flow_item *items, const struct rte_flow_action *actions,
			 struct rte_flow_error *error)
{
	(void)port_id;
	(void)attr;
	(void)items;
	(void)actions;
	error->message = nic.refuses;
	return nic.refuses != NULL ? -ENOTSUP : 0;
}

struct rte_flow *__wrap_rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
					const struct rte_flow_item *items,
					const struct rte_flow_action *actions,
					struct rte_flow_error *error);
struct rte_flow *
__wrap_rte_flow_create(uint16_t port_id, const struct rte_flow_attr *attr,
		       const struct rte_flow_item *items, const struct rte_flow_action *actions,
		       struct rte_flow_error *error)
{
	(void)port_id;
	(void)attr;
	(void)error;
	assert_null(nic.refuses);
	assert_true(nic.rule_count < sizeof(nic.rules) / sizeof(nic.rules[0]));
	assert_int_equal(actions[0].type, RTE_FLOW_ACTION_TYPE_QUEUE);
	nic.rules[nic.rule_count].queue =
		((const struct rte_flow_action_queue *)actions[0].conf)->index;
	for (; items->type != RTE_FLOW_ITEM_TYPE_END; items++) {
		const struct rte_flow_item_eth *eth = items->spec;
		const struct rte_flow_item_ipv4 *ip4 = items->spec;
		const struct rte_flow_item_udp *udp = items->spec;

		if (items->spec == NULL)
			continue;
		if (items->type == RTE_FLOW_ITEM_TYPE_ETH)
			nic.rules[nic.rule_count].ether_type = rte_be_to_cpu_16(eth->type);
		if (items->type == RTE_FLOW_ITEM_TYPE_IPV4)
			nic.rules[nic.rule_count].protocol = ip4->hdr.next_proto_id;
		if (items->type == RTE_FLOW_ITEM_TYPE_UDP)
			nic.rules[nic.rule_count].port = rte_be_to_cpu_16(udp->hdr.dst_port);
	}
	nic.rule_count++;
	return (struct rte_flow *)&nic; /* not looked at */
}

int __wrap_rte_flow_flush(uint16_t port_id, struct rte_flow_error *error);
int
__wrap_rte_flow_flush(uint16_t port_id, struct rte_flow_error *error)
{
	(void)port_id;
	(void)error;
	nic.rule_count = 0;
	return 0;
}

int __wrap_rte_flow_isolate(uint16_t port_id, int set, struct rte_flow_error *error);
int
__wrap_rte_flow_isolate(uint16_t port_id, int set, struct rte_flow_error *error)
{
	(void)port_id;
	error->message = nic.isolates_no;
	if (nic.isolates_no != NULL)
		return -ENOTSUP;
	nic.isolated = set != 0 && !nic.configured;
	return 0;
}

/* ---- the back end ---- */

void
nic_reset(void)
{
	nic = (struct nic){
		.mtu_max = 9710,
		.offloads = RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_UDP_CKSUM |
			    RTE_ETH_RX_OFFLOAD_IPV4_CKSUM,
		.backend = lull_net_module.backend,
	};
}

static int
nic_try(const char *device, struct lull_error *error)
{
	const struct lull_net_config config = { .program = "test", .ring_pkts = 64, .sums = true };

	return nic.backend->open(&config, device, &nic.state, error);
}

void
nic_open(const char *words)
{
	struct lull_error error = { "" };
	char device[128];

	snprintf(device, sizeof(device), NIC "%s", words);
	if (nic_try(device, &error) != 0)
		fail_msg("%s", error.text);
	assert_int_equal(rte_eth_dev_get_port_by_name(NIC, &nic.port_id), 0);
}

void
nic_refuses(const char *device, const char *words)
{
	struct lull_error error = { "" };

	assert_true(nic_try(device, &error) < 0);
	if (strstr(error.text, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, error.text);
}

static struct lull_net_claim *
nic_next(void)
{
	struct lull_net_claim *claim = &nic.claims[nic.claim_count];

	*claim = (struct lull_net_claim){ .index = nic.claim_count,
					  .first = nic.claim_count,
					  .all_groups = true };
	return claim;
}

static void
nic_add(struct lull_net_claim *claim)
{
	struct lull_error error = { "" };

	if (nic.backend->claim(nic.state, claim, &error) != 0)
		fail_msg("%s", error.text);
	nic.claim_count++;
}

void
nic_claim(uint16_t port, const char *address)
{
	struct lull_net_claim *claim = nic_next();

	claim->port = port;
	for (uint32_t i = nic.claim_count; i > 0; i--)
		if (nic.claims[i - 1].port == port)
			claim->first = nic.claims[i - 1].index;
	assert_int_equal(lull_net_ip_parse(address, &claim->address), 0);
	nic_add(claim);
}

void
nic_claim_refused(uint16_t port, const char *words)
{
	struct lull_net_claim *claim = nic_next();
	struct lull_error error = { "" };

	claim->port = port;
	assert_true(nic.backend->claim(nic.state, claim, &error) < 0);
	if (strstr(error.text, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, error.text);
}

void
nic_claim_ethernet(uint16_t ether_type, const char *mac)
{
	struct lull_net_claim *claim = nic_next();

	claim->ethernet = true;
	claim->ether_type = ether_type;
	assert_int_equal(lull_net_mac_parse(mac, claim->mac), 0);
	nic_add(claim);
}

void
nic_start(void)
{
	struct lull_error error = { "" };

	if (nic.backend->start(nic.state, &error) != 0)
		fail_msg("%s", error.text);
	nic.backend->thread(nic.state, true);
}

void
nic_close(void)
{
	if (nic_holds)
		nic.backend->release(nic.state);
	nic_holds = false;
	/* The rings outlive the port. */
	for (uint16_t queue = 0; queue < nic.queues; queue++) {
		struct rte_mbuf *pkt;

		while (rte_eth_rx_burst(nic.port_id, queue, &pkt, 1) == 1)
			rte_pktmbuf_free(pkt);
	}
	nic.backend->thread(nic.state, false);
	nic.backend->close(nic.state);
}

struct lull_finding
nic_finding(const char *subject)
{
	struct lull_finding lines[16] = { { .grade = 0 } };
	struct lull_findings findings = { .lines = lines, .count_max = 16 };

	nic.backend->check(nic.state, &findings);
	for (uint32_t i = 0; i < nic.claim_count; i++)
		nic.backend->check_claim(nic.state, &nic.claims[i], &findings);
	for (uint32_t i = 0; i < findings.count; i++)
		if (strcmp(lines[i].subject, subject) == 0)
			return lines[i];
	fail_msg("nothing is said of %s", subject);
	return lines[0];
}

/* ---- packets ---- */

static uint8_t
nic_byte(uint32_t number, uint32_t at)
{
	return (uint8_t)(number * 31 + at + (at >> 8));
}

uint32_t
nic_frame(uint8_t *frame, uint16_t port, uint32_t number, uint32_t len_bytes)
{
	struct lull_net_outgoing packet = {
		.len_bytes = len_bytes,
		.source_port = 4000,
		.port = port,
	};
	uint32_t head;

	assert_int_equal(lull_net_ip_parse("192.0.2.1", &packet.source), 0);
	assert_int_equal(lull_net_ip_parse("192.0.2.2", &packet.destination), 0);
	head = lull_net_frame_head(&packet);
	assert_true(head + len_bytes <= NIC_FRAME_MAX);
	for (uint32_t i = 0; i < len_bytes; i++)
		frame[head + i] = nic_byte(number, i);
	packet.data = frame + head;
	lull_net_frame_write(frame, &packet, true);
	return head + len_bytes;
}

void
nic_comes(uint16_t queue, const uint8_t *frame, uint32_t size, uint32_t segments, uint64_t flags)
{
	struct rte_mbuf *first = NULL, *last = NULL;
	uint32_t used = 0;

	for (uint32_t i = 0; i < segments; i++) {
		uint32_t part = i + 1 < segments ? size / segments : size - used;
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(stand_pool());

		assert_non_null(pkt);
		assert_true(part <= rte_pktmbuf_tailroom(pkt));
		memcpy(rte_pktmbuf_mtod(pkt, void *), frame + used, part);
		pkt->data_len = (uint16_t)part;
		used += part;
		if (first == NULL)
			first = pkt;
		else
			last->next = pkt;
		last = pkt;
	}
	first->nb_segs = (uint16_t)segments;
	first->pkt_len = size;
	first->ol_flags = flags;
	assert_int_equal(rte_eth_tx_burst(nic.port_id, queue, &first, 1), 1);
}

uint32_t
nic_sent(uint8_t *frame)
{
	struct rte_mbuf *pkt;
	uint32_t size;

	if (rte_eth_rx_burst(nic.port_id, 0, &pkt, 1) == 0)
		return 0;
	size = pkt->pkt_len;
	memcpy(frame, rte_pktmbuf_mtod(pkt, const void *), size);
	rte_pktmbuf_free(pkt);
	return size;
}

uint32_t
nic_receive(struct lull_net_packet *packets)
{
	uint32_t count;

	if (nic_holds)
		nic.backend->release(nic.state);
	count = nic.backend->receive(nic.state, packets);
	nic_holds = count > 0;
	return count;
}

void
nic_expect(const struct lull_net_packet *packet, uint32_t number, uint32_t len_bytes)
{
	assert_int_equal(packet->len_bytes, len_bytes);
	for (uint32_t i = 0; i < len_bytes; i++)
		assert_int_equal(packet->data[i], nic_byte(number, i));
}
