/* SPDX-License-Identifier: BSD-3-Clause */
#include <lull/engine.h>

#include "engine/dpdk/env.h"
#include "telemetry.h"

void
lull_engine_fini(void)
{
	lull_telemetry_stop();
	lull_env_close();
}
