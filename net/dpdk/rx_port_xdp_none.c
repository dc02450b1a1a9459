/* SPDX-License-Identifier: BSD-3-Clause */
/* Built without libbpf. */
#include "rx_port_xdp.h"

#include <errno.h>

#include "host/error.h"

void
lull_rx_port_xdp_prepare(void)
{
}

int
lull_rx_port_xdp_open(uint16_t port_id, unsigned int if_index, bool all, struct lull_error *error)
{
	(void)all;
	(void)port_id;
	(void)if_index;
	return lull_error_set(error, -ENOTSUP, "lull was built without libbpf");
}

int
lull_rx_port_xdp_take(uint16_t port_id, uint16_t port, uint16_t ether_type)
{
	(void)port_id;
	(void)port;
	(void)ether_type;
	return -ENOTSUP;
}

void
lull_rx_port_xdp_close(uint16_t port_id)
{
	(void)port_id;
}

void
lull_rx_port_xdp_end(void)
{
}
