/* SPDX-License-Identifier: BSD-3-Clause */
/* A module as another release of lull has it. */
#include "net/module.h"

extern const struct lull_net_module lull_net_module;
const struct lull_net_module lull_net_module = {
	.bytes = LULL_NET_MODULE_BYTES,
	.version = "0.0.1",
};
