/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Env: DPDK's environment (EAL) of this process; <lull/engine.h> says how it begins.
 */
#ifndef LULL_ENV_H
#define LULL_ENV_H

#include <stdbool.h>

struct lull_engine_config;
struct lull_error;
/** Start the EAL; see lull_engine_init(). */
int lull_env_open(const struct lull_engine_config *config, struct lull_error *error);
/** Has it begun without DPDK's environment? See struct lull_engine_config. */
bool lull_env_bare(void);
/** CPU of an lcore of a bare one; -1: there is no such lcore. */
int lull_env_bare_cpu(unsigned int lcore_id);
/** Close all ports, then the EAL, which can not begin again. By the thread that began it. */
void lull_env_close(void);

#endif
