/* SPDX-License-Identifier: BSD-3-Clause */
#include "fi.h"

static atomic_uint provider_forks;

static void
provider_forked(void)
{
	atomic_fetch_add_explicit(&provider_forks, 1, memory_order_relaxed);
}

uint32_t
lull_fi_forks(void)
{
	return atomic_load_explicit(&provider_forks, memory_order_relaxed);
}

static void
provider_cleanup(void)
{
	lull_fi_report_end();
}

struct fi_provider lull_fi_provider = {
	.version = LULL_FI_VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = LULL_FI_NAME,
	.getinfo = lull_fi_getinfo,
	.fabric = lull_fi_fabric,
	.cleanup = provider_cleanup,
};

FI_EXT_INI;
FI_EXT_INI
{
	lull_fi_params_define();
	if (pthread_atfork(NULL, NULL, provider_forked) != 0)
		return NULL;
	return &lull_fi_provider;
}
