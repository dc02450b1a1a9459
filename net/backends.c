/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "backend.h"
#include "error.h"

/* A new back end is one new file and one line here. */
const struct lull_net_backend *const lull_net_backends[] = {
	&lull_net_kernel, &lull_net_kernel_busy, &lull_net_dpdk, &lull_net_pcap, NULL,
};

int
lull_net_choose(const char *text, const struct lull_net_backend **backend, const char **argument,
		char *error)
{
	const char *colon = strchr(text, ':');
	size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);

	*backend = NULL;
	for (uint32_t i = 0; lull_net_backends[i] != NULL; i++)
		if (strlen(lull_net_backends[i]->name) == length &&
		    strncmp(lull_net_backends[i]->name, text, length) == 0)
			*backend = lull_net_backends[i];
	if (*backend == NULL || colon == NULL || colon[1] == '\0')
		return lull_net_error(
			error, -EINVAL,
			"backend: '%s' is none of kernel:IF, kernel-busy:IF, dpdk:PORT, "
			"pcap:FILE",
			text);
	*argument = colon + 1;
	return 0;
}
