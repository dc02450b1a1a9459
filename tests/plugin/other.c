/* SPDX-License-Identifier: BSD-3-Clause */
/* A program on another DPDK, whose version it is told; loads the plugin and goes on. */
#include <dlfcn.h>
#include <stdio.h>

static const char *version;

const char *rte_version(void);

const char *
rte_version(void)
{
	return version;
}

int
main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "other PLUGIN VERSION\n");
		return 2;
	}
	version = argv[2];
	if (dlopen(argv[1], RTLD_NOW) == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	puts("the host goes on");
	return 0;
}
