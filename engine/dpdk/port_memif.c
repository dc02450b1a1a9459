/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_memif.h"

#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#include "port_device.h"

#define MEMIF_AGAIN_US 50000                 /* from one try to the next */
#define MEMIF_LINK_NS (100 * LULL_NS_PER_MS) /* of a handshake: the server may be held up */

static bool
memif_client(const struct rte_eth_dev_info *info)
{
	struct lull_port_driver driver = lull_port_device(info);

	if (driver.name == NULL || strcmp(driver.name, "net_memif") != 0)
		return false;
	/* The second names are those of old releases. */
	return driver.args == NULL || (strstr(driver.args, "role=server") == NULL &&
				       strstr(driver.args, "role=master") == NULL);
}

static bool
memif_linked(uint16_t port_id)
{
	uint64_t until_ns = lull_clock_ns() + MEMIF_LINK_NS;
	struct rte_eth_link link = { 0 };

	do {
		if (rte_eth_link_get_nowait(port_id, &link) != 0)
			return true; /* it does not tell */
		if (link.link_status == RTE_ETH_LINK_UP)
			return true;
		usleep(1000);
	} while (lull_clock_ns() < until_ns);
	return false;
}

int
lull_port_memif_start(uint16_t port_id, const struct rte_eth_dev_info *info)
{
	uint64_t until_ns = lull_clock_ns() + LULL_PORT_MEMIF_WAIT_NS;
	int rc = rte_eth_dev_start(port_id);

	if (!memif_client(info))
		return rc;
	while (rc != 0 || !memif_linked(port_id)) {
		if (lull_clock_ns() >= until_ns)
			break;
		if (rc == 0)
			(void)rte_eth_dev_stop(port_id);
		usleep(MEMIF_AGAIN_US);
		rc = rte_eth_dev_start(port_id);
	}
	return rc;
}
