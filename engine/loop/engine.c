/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/engine.h>

#include "engine/dpdk/env.h"
#include "telemetry.h"

int
lull_engine_init(const struct lull_engine_config *config, char *error)
{
	int rc = lull_env_open(config, error);

	if (rc == 0)
		lull_telemetry_carry(&lull_telemetry_dpdk);
	return rc;
}

void
lull_engine_fini(void)
{
	lull_telemetry_stop();
	lull_telemetry_carry(NULL);
	lull_env_close();
}
