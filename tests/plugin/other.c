/* SPDX-License-Identifier: BSD-3-Clause */
/* A program on another DPDK: loads the plugin, whose path it is told, and goes on. */
#include <dlfcn.h>
#include <stdio.h>

const char *rte_version(void);

const char *
rte_version(void)
{
	return "DPDK 21.11.3";
}

int
main(int argc, char **argv)
{
	if (argc < 2 || dlopen(argv[1], RTLD_NOW) == NULL) {
		fprintf(stderr, "%s\n", argc < 2 ? "say which file" : dlerror());
		return 1;
	}
	puts("the host goes on");
	return 0;
}
