/* SPDX-License-Identifier: BSD-3-Clause */
#include "pps_max.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

#define PPS_MOST 1000000000000ULL

int
lull_pps_max_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_pps_max pps_max = { .automatic = false };

	if (strcmp(text, "auto") == 0) {
		pps_max.automatic = true;
	} else if (strcmp(text, "link") == 0) {
		pps_max.envelope = LULL_ENVELOPE_LINK;
	} else if (strcmp(text, "learned") == 0) {
		pps_max.envelope = LULL_ENVELOPE_LEARNED;
	} else {
		pps_max.envelope = LULL_ENVELOPE_STATED;
		if (lull_number_parse(text, strlen(text), lull_count_units, 1, &pps_max.pps) != 0 ||
		    pps_max.pps == 0 || pps_max.pps > PPS_MOST)
			return lull_error_set(error, -EINVAL,
					      "'%.*s' is neither auto, link, learned nor "
					      "packets/s in 1..1000G",
					      LULL_ERROR_SHOWN, text);
	}
	*(struct lull_pps_max *)member = pps_max;
	return 0;
}

char *
lull_pps_max_print(const void *member, char *text, size_t size)
{
	const struct lull_pps_max *pps_max = member;

	if (pps_max->automatic)
		snprintf(text, size, "auto");
	else if (pps_max->envelope == LULL_ENVELOPE_STATED)
		snprintf(text, size, "%" PRIu64, pps_max->pps);
	else
		snprintf(text, size, "%s", lull_envelope_name(pps_max->envelope));
	return text;
}
