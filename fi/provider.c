/* SPDX-License-Identifier: BSD-3-Clause */
#include "fi.h"

static void
provider_cleanup(void)
{
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
	return &lull_fi_provider;
}
