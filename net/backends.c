/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "backend.h"
#include "host/error.h"
#include "module.h"

static const struct lull_net_backend backends_dpdk = {
	.name = "dpdk",
	.summary = "a DPDK port: PCI address, vdev, af_packet=IF, af_xdp=IF[,queue=N] or tap=IF; "
		   "then ,mtu=BYTES ,scatter=yes ,ip=ADDRESS ,queues=N ,isolate=yes "
		   ",exception=NAME",
	.module = "liblull-net-dpdk.so",
};

/* A new back end is one new file and one line here. */
const struct lull_net_backend *const lull_net_backends[] = {
	&lull_net_kernel, &lull_net_kernel_busy, &backends_dpdk,
	&lull_net_pcap,   &lull_net_pcap_write,  NULL,
};

static int
backends_load(const char *text, const struct lull_net_backend **backend, struct lull_error *error)
{
	const struct lull_net_module *module;
	int rc;

	if ((*backend)->module == NULL)
		return 0;
	rc = lull_net_module_load((*backend)->module, &module, error);
	if (rc == 0)
		*backend = module->backend;
	else
		lull_error_prefix(error, "%.40s: ", text);
	return rc;
}

int
lull_net_choose(const char *text, const struct lull_net_backend **backend, const char **argument,
		struct lull_error *error)
{
	const char *colon = strchr(text, ':');
	size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);

	*backend = NULL;
	for (uint32_t i = 0; lull_net_backends[i] != NULL; i++)
		if (strlen(lull_net_backends[i]->name) == length &&
		    strncmp(lull_net_backends[i]->name, text, length) == 0)
			*backend = lull_net_backends[i];
	if (*backend == NULL || colon == NULL || colon[1] == '\0')
		return lull_error_set(
			error, -EINVAL,
			"backend: '%s' is not one of kernel:IF, kernel-busy:IF, dpdk:PORT, "
			"pcap:FILE",
			text);
	*argument = colon + 1;
	return backends_load(text, backend, error);
}
