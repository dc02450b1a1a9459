/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

#define RING_LEAST 32
#define RING_MOST 32768

int
lull_ring_size_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_ring_size ring = { .automatic = true, .pkts = LULL_RING_USUAL };
	uint64_t pkts;

	if (strcmp(text, "auto") != 0) {
		if (lull_number_parse(text, strlen(text), lull_count_units, 1, &pkts) != 0 ||
		    pkts < RING_LEAST || pkts > RING_MOST)
			return lull_error_set(error, -EINVAL,
					      "'%.*s' is neither auto nor descriptors in %d..%d",
					      LULL_ERROR_SHOWN, text, RING_LEAST, RING_MOST);
		ring = (struct lull_ring_size){ .pkts = (uint32_t)pkts };
	}
	*(struct lull_ring_size *)member = ring;
	return 0;
}

char *
lull_ring_size_print(const void *member, char *text, size_t size)
{
	const struct lull_ring_size *ring = member;

	if (ring->automatic)
		snprintf(text, size, "auto");
	else
		snprintf(text, size, "%u", ring->pkts);
	return text;
}
