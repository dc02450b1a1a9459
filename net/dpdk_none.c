/* SPDX-License-Identifier: BSD-3-Clause */
/* In the place of dpdk.c where DPDK is not linked: the checked build of the tests. */
#include <errno.h>

#include "backend.h"
#include "error.h"

static int
dpdk_none_open(const struct lull_net_config *config, const char *argument, void **state,
	       char *error)
{
	(void)config;
	*state = NULL;
	return lull_net_error(error, -ENOTSUP, "dpdk:%s: this program was built without DPDK",
			      argument);
}

const struct lull_net_backend lull_net_dpdk = {
	.name = "dpdk",
	.summary = "a DPDK port; not in this build",
	.open = dpdk_none_open,
};
