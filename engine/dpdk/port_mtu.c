/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_mtu.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "dpdk_version.h"

#define FRAME_EXTRA 26u /* Ethernet, two VLAN tags, checksum */
#define BUFFER_USUAL (RTE_MBUF_DEFAULT_BUF_SIZE - RTE_PKTMBUF_HEADROOM)

static bool
mtu_driver_is(const struct rte_eth_dev_info *info, const char *name)
{
	return strcmp(info->driver_name, name) == 0;
}

/* Slots decide (framesz), or the interface: these drivers would refuse what is not usual. */
uint16_t
lull_port_mtu_asked(const struct rte_eth_dev_info *info, const struct lull_port_config *config)
{
	if (mtu_driver_is(info, "net_af_packet") || mtu_driver_is(info, "net_tap"))
		return 0;
	return config->mtu;
}

/* The interface takes more than the driver says that it can. */
static int
mtu_tap(const struct rte_eth_dev_info *info, uint16_t mtu)
{
	struct ifreq request = { .ifr_mtu = mtu };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;

	if (fd < 0 || if_indextoname(info->if_index, request.ifr_name) == NULL ||
	    ioctl(fd, SIOCSIFMTU, &request) != 0)
		rc = -errno;
	if (fd >= 0)
		close(fd);
	return rc;
}

int
lull_port_mtu_set(uint16_t port_id, const struct rte_eth_dev_info *info,
		  const struct lull_port_config *config)
{
	int rc;

	/* Others share the MTU of the interface behind these. */
	if (config->mtu == 0 || mtu_driver_is(info, "net_af_packet") ||
	    mtu_driver_is(info, "net_af_xdp"))
		return 0;
	if (mtu_driver_is(info, "net_tap"))
		return mtu_tap(info, config->mtu);
	rc = rte_eth_dev_set_mtu(port_id, config->mtu);
	return rc == -ENOTSUP ? 0 : rc;
}

uint32_t
lull_port_packet_bytes(const struct lull_port_config *config)
{
	return config->mtu == 0 ? 0 : config->mtu + FRAME_EXTRA;
}

bool
lull_port_scatters(const struct rte_eth_dev_info *info, const struct lull_port_config *config)
{
	uint32_t most = lull_dpdk_buffer_max(info), packet = lull_port_packet_bytes(config);

	if ((info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) == 0)
		return false;
	return (config->scatter && packet > BUFFER_USUAL) || packet > most;
}
