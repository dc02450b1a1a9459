/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * EAL arguments: what rte_eal_init() is told, made from the engine's configuration.
 *
 * Reads no machine state, so tests can ask for any combination.
 * Memory: the strings live until lull_eal_args_free().
 */
#ifndef LULL_EAL_ARGS_H
#define LULL_EAL_ARGS_H

#include <lull/engine.h>

#define LULL_EAL_ARGS_MAX 256

struct lull_eal_args {
	int argc;
	char *argv[LULL_EAL_ARGS_MAX + 1];  /* EAL reorders these */
	char *owned[LULL_EAL_ARGS_MAX + 1]; /* the same, to free */
};

/**
 * @param pid        part of the file prefix
 * @param hugepages  enough of them are free
 * @return 0, -EINVAL (a user argument that lull needs for itself, a quote left open),
 *         -E2BIG, -ENOMEM
 */
int lull_eal_args_build(struct lull_eal_args *args, const struct lull_engine_config *config,
			int pid, bool hugepages, struct lull_error *error);
/** Is "--name" or "--name=value" (or a short option "-x", "-xvalue") among them? */
bool lull_eal_args_have(const struct lull_eal_args *args, const char *name);
void lull_eal_args_free(struct lull_eal_args *args);

#endif
