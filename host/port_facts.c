/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No virtual driver answers "how large is the Rx ring", and most of them ignore the descriptors
 * asked for. The zero-loss bound stands or falls with that number, so it is looked up here.
 */
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/base.h>

#include "port_facts.h"

#define WIRE_BITS_MIN (84 * 8) /* 64 bytes, preamble and gap */

/*
 * What is known of drivers, by their sources in DPDK 22.11, 24.11 and 25.11; docs/drivers.md has
 * functions, rings and what is left out here. What a burst that is shorter than asked for tells:
 *
 * exact   | the driver looks until there is nothing more: the ring was empty
 * counted | it may leave packets, and rte_eth_rx_queue_count() counts in memory what the next look
 *         | of the driver would find: the ring is empty if that is none
 * (else)  | it may leave packets; it counts none, or something else, or asks the device
 *
 * driver       | short burst                                | count
 * -------------|--------------------------------------------|-------------------------------------
 * af_packet, memif, ring, null, tap: exact                  | none
 * vhost: exact                                              | not needed; logs if the guest is gone
 * e1000, igc, vmxnet3, mlx4, ena, cxgbe: exact              | not needed
 * i40e, ice,   | hands out what an earlier look has staged, | the descriptor that is looked at
 * ixgbe, iavf, | or stops after a group of 4 or 8, or keeps | next; stages are empty after a short
 * txgbe, ngbe  | an odd one for the next time               | burst
 * mlx5         | rounds down to a group of 4                | completions; wrong if they have the
 *              |                                            | enhanced layout of compression
 * nfp          | packets of other ports count as well       | the descriptor looked at next
 * bnxt         | rounds down to a group of 4, 8             | not those of BCM57608: lies
 * hns3         | a stage, groups                            | reads a register
 * netvsc       | a stage, then the VF                       | the stage alone: lies
 * virtio       | of more than 4 it ends at a cache line     | none
 * af_xdp       | what came after its last look              | none
 * gve, mana    | bad packets end a burst                    | none
 * bonding, failsafe: what their members do                  | none
 *
 * A driver that has no row counts as one that leaves packets and is not asked. While there are no
 * buffers, no receive of any driver tells anything.
 */
struct port_driver {
	const char *name;
	const char *argument; /* device argument that sets the ring, NULL: none does */
	uint32_t otherwise;   /* the driver's default; 0: what was asked for */
	bool log2;            /* the argument is an exponent */
	bool kernel_queue;    /* the ring is the interface's queue in the kernel */
	bool asked_counts;    /* fewer descriptors asked for are fewer */
	bool exact;
	bool counted;
	const char *count_breaker; /* device argument with which the count is wrong ... */
	uint32_t breaker_bits;     /* ... if one of these bits is set in it */
};

#define MLX5_COUNTED .counted = true, .count_breaker = "rxq_cqe_comp_en", .breaker_bits = 0x80

static const struct port_driver port_drivers[] = {
	{ .name = "net_af_packet", .argument = "framecnt", .otherwise = 512, .exact = true },
	{ .name = "net_memif", .argument = "rsize", .otherwise = 10, .log2 = true, .exact = true },
	{ .name = "net_virtio_user", .argument = "queue_size", .otherwise = 256 },
	{ .name = "net_virtio", .otherwise = 256, .asked_counts = true },
	/* The other side chooses; nearly all choose 256. */
	{ .name = "net_vhost", .otherwise = 256, .exact = true },
	{ .name = "net_ring", .otherwise = 1023, .exact = true },
	{ .name = "net_tap", .otherwise = 500, .kernel_queue = true, .exact = true },
	{ .name = "net_af_xdp", .otherwise = 2048, .asked_counts = true },
	{ .name = "net_null", .exact = true },
	{ .name = "net_e1000_em", .exact = true },
	{ .name = "net_e1000_igb", .exact = true },
	{ .name = "net_e1000_igb_vf", .exact = true },
	{ .name = "net_igc", .exact = true },
	{ .name = "net_vmxnet3", .exact = true },
	{ .name = "net_mlx4", .exact = true },
	{ .name = "net_ena", .exact = true },
	{ .name = "net_cxgbe", .exact = true },
	{ .name = "net_cxgbevf", .exact = true },
	{ .name = "net_i40e", .counted = true },
	{ .name = "net_ice", .counted = true },
	{ .name = "net_ixgbe", .counted = true },
	{ .name = "net_iavf", .counted = true },
	{ .name = "net_txgbe", .counted = true },
	{ .name = "net_ngbe", .counted = true },
	{ .name = "mlx5_pci", MLX5_COUNTED },
	{ .name = "mlx5_auxiliary", MLX5_COUNTED },
	{ .name = "net_nfp_pf", .counted = true },
	{ .name = "net_nfp_vf", .counted = true },
	{ .name = NULL },
};

/* NULL: not known. */
static const struct port_driver *
driver_find(const char *name)
{
	for (const struct port_driver *known = port_drivers; known->name != NULL; known++)
		if (strcmp(known->name, name) == 0)
			return known;
	return NULL;
}

enum lull_short_burst
lull_port_driver_short(const struct lull_port_driver *driver)
{
	const struct port_driver *known = driver_find(driver->name);

	if (known == NULL)
		return LULL_SHORT_LEAVES;
	if (known->exact)
		return LULL_SHORT_EMPTIES;
	if (!known->counted || (known->count_breaker != NULL &&
				(lull_port_driver_argument(driver->args, known->count_breaker, 0) &
				 known->breaker_bits) != 0))
		return LULL_SHORT_LEAVES;
	return LULL_SHORT_COUNTED;
}

uint32_t
lull_port_driver_argument(const char *args, const char *key, uint32_t otherwise)
{
	size_t length = strlen(key);

	for (; args != NULL && *args != '\0'; args += *args == ',') {
		if (strncmp(args, key, length) == 0 && args[length] == '=') {
			unsigned long value = strtoul(args + length + 1, NULL, 0);

			return value > 0 && value <= UINT32_MAX ? (uint32_t)value : otherwise;
		}
		args += strcspn(args, ",");
	}
	return otherwise;
}

static uint32_t
driver_kernel_queue(unsigned int if_index, uint32_t otherwise)
{
	char name[IF_NAMESIZE], path[IF_NAMESIZE + 64];
	unsigned int length = 0;
	FILE *file;

	if (if_index == 0 || if_indextoname(if_index, name) == NULL)
		return otherwise;
	snprintf(path, sizeof(path), "/sys/class/net/%s/tx_queue_len", name);
	file = fopen(path, "re");
	if (file == NULL)
		return otherwise;
	if (fscanf(file, "%u", &length) != 1 || length == 0)
		length = otherwise;
	fclose(file);
	return length;
}

/* Paravirtual PCI devices name a link rate that limits nothing. */
bool
lull_port_driver_hardware(const struct lull_port_driver *driver)
{
	return strcmp(driver->bus, "pci") == 0 && strcmp(driver->name, "net_virtio") != 0 &&
	       strcmp(driver->name, "net_vmxnet3") != 0;
}

/* The virtual ones count themselves; ENA hears of its losses from the device, once a second. */
uint64_t
lull_port_driver_loss_lag_ns(const struct lull_port_driver *driver)
{
	if (driver_find(driver->name) == NULL || lull_port_driver_hardware(driver))
		return LULL_PORT_LOSS_LAG_NS;
	return 0;
}

uint32_t
lull_port_driver_ring(const struct lull_port_driver *driver, uint32_t asked_pkts)
{
	const struct port_driver *known = driver_find(driver->name);
	uint32_t ring_pkts;

	if (known == NULL || known->otherwise == 0)
		return 0;
	if (known->kernel_queue)
		return driver_kernel_queue(driver->if_index, known->otherwise);
	if (known->asked_counts && asked_pkts > 0)
		return LULL_MIN(asked_pkts, known->otherwise);
	if (known->argument == NULL)
		return known->otherwise;
	ring_pkts = lull_port_driver_argument(driver->args, known->argument, known->otherwise);
	return known->log2 ? 1u << LULL_MIN(ring_pkts, 20u) : ring_pkts;
}

uint64_t
lull_link_pps(uint32_t link_mbps)
{
	return link_mbps * 1000000ULL / WIRE_BITS_MIN;
}

/* What is known of a driver counts more than what it tells: the descriptors that were asked for. */
void
lull_port_facts(const struct lull_port_driver *driver, const struct lull_port_answer *answer,
		struct lull_ring_facts *facts)
{
	*facts = (struct lull_ring_facts){
		.count = 1,
		.ring_pkts = lull_port_driver_ring(driver, answer->asked_pkts),
		.link_pps = lull_link_pps(answer->link_mbps),
		.short_leaves = lull_port_driver_short(driver) != LULL_SHORT_EMPTIES,
		.loss_lag_ns = lull_port_driver_loss_lag_ns(driver),
	};
	if (lull_port_driver_hardware(driver))
		facts->hardware_pps = facts->link_pps;
	if (facts->ring_pkts != 0)
		return;
	facts->ring_pkts = answer->desc_pkts != 0 ? answer->desc_pkts : answer->otherwise_pkts;
	if (facts->ring_pkts == 0)
		facts->ring_pkts = LULL_PORT_RING_LEAST;
	if (answer->rearm_pkts < answer->desc_pkts)
		facts->held_pkts = answer->rearm_pkts;
}
