/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <rte_cryptodev.h>

#include "host.h"

/* A library that EAL has loaded, behind the plugin. */
static int
find_library(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strstr(info->dlpi_name, "librte_cryptodev.so") == NULL)
		return 0;
	snprintf(path, PATH_MAX, "%s", info->dlpi_name);
	return 1;
}

static int (*crypto_configure)(uint8_t device, struct rte_cryptodev_config *config);
static int (*crypto_pair)(uint8_t device, uint16_t pair, const struct rte_cryptodev_qp_conf *conf,
			  int socket);
static int (*crypto_start)(uint8_t device);

static bool
crypto_find(void)
{
	char path[PATH_MAX];
	void *library, *calls[3];

	if (dl_iterate_phdr(find_library, path) == 0)
		return false;
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (library == NULL)
		return false;
	calls[0] = dlsym(library, "rte_cryptodev_configure");
	calls[1] = dlsym(library, "rte_cryptodev_queue_pair_setup");
	calls[2] = dlsym(library, "rte_cryptodev_start");
	memcpy(&crypto_configure, &calls[0], sizeof(calls[0]));
	memcpy(&crypto_pair, &calls[1], sizeof(calls[1]));
	memcpy(&crypto_start, &calls[2], sizeof(calls[2]));
	return calls[0] != NULL && calls[1] != NULL && calls[2] != NULL;
}

bool
late_crypto_start(void)
{
	struct rte_cryptodev_config config = { .nb_queue_pairs = 1 };
	struct rte_cryptodev_qp_conf pair = { .nb_descriptors = 128 };

	return crypto_find() && crypto_configure(0, &config) == 0 &&
	       crypto_pair(0, 0, &pair, 0) == 0 && crypto_start(0) == 0;
}
