/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_rss.h"

#include <string.h>

#include <rte_ethdev.h>

#define RSS_WANTED (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP)
#define RSS_ADDRESSES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6)
#define KEY_BYTES_MAX 128

/*
 * Woo, Park, "Scalable TCP Session Monitoring with Symmetric Receive-side Scaling" (2012): a
 * Toeplitz key that repeats every 16 bits gives both directions of a flow one hash.
 */
static const uint8_t *
rss_key(void)
{
	static uint8_t key[KEY_BYTES_MAX];

	for (uint32_t i = 0; i < KEY_BYTES_MAX; i++)
		key[i] = i % 2 == 0 ? 0x6d : 0x5a;
	return key;
}

/*
 * By addresses alone fragments and ICMP errors come where their flow does. A driver that cannot
 * say so for every packet of IPv4 and IPv6 would leave the others in one queue.
 */
static uint64_t
rss_fields(const struct rte_eth_dev_info *info, const struct lull_port_config *config)
{
	uint64_t offered = info->flow_type_rss_offloads;

	if (config->symmetric && (offered & RSS_ADDRESSES) == RSS_ADDRESSES)
		return offered & RTE_ETH_RSS_IP;
	return offered & RSS_WANTED;
}

void
lull_port_rss_ask(const struct rte_eth_dev_info *info, const struct lull_port_config *config,
		  struct rte_eth_conf *conf)
{
	uint64_t fields = rss_fields(info, config);

	if (config->queues == 1 || config->steered || fields == 0)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	conf->rx_adv_conf.rss_conf.rss_hf = fields;
	if (!config->symmetric || info->hash_key_size == 0 || info->hash_key_size > KEY_BYTES_MAX)
		return;
	conf->rx_adv_conf.rss_conf.rss_key = (uint8_t *)(uintptr_t)rss_key();
	conf->rx_adv_conf.rss_conf.rss_key_len = info->hash_key_size;
}

static bool
rss_has_key(uint16_t port_id, const struct rte_eth_dev_info *info)
{
	uint8_t key[KEY_BYTES_MAX] = { 0 };
	struct rte_eth_rss_conf conf = { .rss_key = key, .rss_key_len = sizeof(key) };

	return rte_eth_dev_rss_hash_conf_get(port_id, &conf) == 0 && conf.rss_hf != 0 &&
	       memcmp(key, rss_key(), info->hash_key_size) == 0;
}

enum lull_port_spread
lull_port_rss_settle(uint16_t port_id, const struct rte_eth_dev_info *info,
		     const struct lull_port_config *config)
{
	struct rte_eth_conf conf = { 0 };

	if (config->queues == 1)
		return LULL_PORT_SPREAD_NONE;
	/* Its sockets are a fanout group, which the kernel deals packets to by a symmetric hash. */
	if (strcmp(info->driver_name, "net_af_packet") == 0)
		return LULL_PORT_SPREAD_SYMMETRIC;
	lull_port_rss_ask(info, config, &conf);
	if (conf.rx_adv_conf.rss_conf.rss_key == NULL)
		return LULL_PORT_SPREAD_DRIVER;
	/* Some drivers take a key only once they are configured. */
	if (!rss_has_key(port_id, info))
		rte_eth_dev_rss_hash_update(port_id, &conf.rx_adv_conf.rss_conf);
	return rss_has_key(port_id, info) ? LULL_PORT_SPREAD_SYMMETRIC : LULL_PORT_SPREAD_DRIVER;
}
