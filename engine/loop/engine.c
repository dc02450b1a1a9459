/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/engine.h>

#include "engine/dpdk/env.h"
#include "telemetry.h"

static int
engine_telemetry(const struct lull_telemetry_config *config)
{
	return lull_telemetry_register(config, &lull_telemetry_own_loops);
}

int
lull_engine_init(const struct lull_engine_config *config, struct lull_error *error)
{
	static const struct lull_telemetry_carrier carrier = { .start = engine_telemetry };
	int rc = lull_env_open(config, error);

	if (rc == 0 && !config->bare)
		lull_telemetry_carry(&carrier);
	return rc;
}

void
lull_engine_fini(void)
{
	lull_telemetry_stop();
	lull_telemetry_carry(NULL);
	lull_env_close();
}
