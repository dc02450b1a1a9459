/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Module: a back end that is loaded when it is asked for, with the libraries that it needs.
 *
 * A module is a shared library that exports one struct lull_net_module under the name
 * LULL_NET_MODULE_SYMBOL. It is looked for around the program or library that holds this code:
 * where it is installed, or in the build folder. It stays loaded until the process ends.
 * Threads: any.
 */
#ifndef LULL_NET_MODULE_H
#define LULL_NET_MODULE_H

#include "backend.h"
#include "host/loop.h"

#define LULL_NET_MODULE_SYMBOL "lull_net_module"
/** Modules of another build are refused: the structs that both sides read have this size. */
#define LULL_NET_MODULE_BYTES                                                                      \
	(sizeof(struct lull_net_module) + sizeof(struct lull_net_backend) +                        \
	 sizeof(struct lull_net_config) + sizeof(struct lull_net_claim) +                          \
	 sizeof(struct lull_net_packet) + sizeof(struct lull_net_outgoing) +                       \
	 sizeof(struct lull_net_sent) + sizeof(struct lull_telemetry_config) +                     \
	 sizeof(struct lull_loop))

struct lull_net_module {
	size_t bytes;        /**< LULL_NET_MODULE_BYTES */
	const char *version; /**< of lull */
	const struct lull_net_backend *backend;
	/** Of DPDK, "22.11.11". */
	const char *(*dpdk_version)(void);
	/** lull_telemetry_start() and lull_telemetry_stop(). */
	int (*telemetry_start)(const struct lull_telemetry_config *config);
	void (*telemetry_stop)(void);
};

/**
 * Load @p file, "liblull-net-dpdk.so"; the next call returns the same.
 *
 * @p error may be NULL. -ENOENT: it is not installed; -ELIBBAD: it cannot be
 * loaded, or is of another build.
 */
int lull_net_module_load(const char *file, const struct lull_net_module **module,
			 struct lull_error *error);
/** The module that has been loaded; NULL: none. */
const struct lull_net_module *lull_net_module_loaded(void);

#endif
