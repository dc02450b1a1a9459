/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame/protocol.h"

#include <string.h>

const struct lull_frame_protocol *const lull_frame_protocols[] = {
	&lull_frame_rfc4175, &lull_frame_gvsp, &lull_frame_cmp, &lull_frame_rvf, NULL,
};

const struct lull_frame_protocol *
lull_frame_protocol_find(const char *name)
{
	for (uint32_t i = 0; lull_frame_protocols[i] != NULL; i++)
		if (strcmp(lull_frame_protocols[i]->name, name) == 0)
			return lull_frame_protocols[i];
	return NULL;
}

const char *
lull_frame_verdict_name(enum lull_frame_verdict verdict)
{
	static const char *const names[LULL_FRAME_VERDICT_COUNT] = {
		[LULL_FRAME_FRAGMENT] = "fragment", [LULL_FRAME_NOTHING] = "nothing",
		[LULL_FRAME_FOREIGN] = "foreign",   [LULL_FRAME_MALFORMED] = "malformed",
		[LULL_FRAME_OTHER] = "other",       [LULL_FRAME_UNNAMED] = "unnamed",
	};

	return (unsigned int)verdict < LULL_FRAME_VERDICT_COUNT ? names[verdict] : "?";
}
