/* SPDX-License-Identifier: BSD-3-Clause */
#include "rail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/error.h"
#include "rail_memory.h"
#include "rail_net.h"
#include "rail_pair.h"

#define PAIR "pair:"

void
channel_rail_close(struct channel_rail *rail)
{
	if (rail == NULL)
		return;
	if (rail->state != NULL)
		rail->way->close(rail->state);
	free(rail->slab);
	free(rail);
}

/* The bundle writes packets there. */
static int
rail_slab(struct channel_rail *rail, struct lull_error *error)
{
	size_t slot = CHANNEL_HEAD_ROOM + rail->bundle.packet_bytes;

	slot = (slot + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	rail->slab = aligned_alloc(LULL_CACHE_LINE, slot * CHANNEL_SEND_BURST);
	if (rail->slab == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for packets");
	for (uint32_t i = 0; i < CHANNEL_SEND_BURST; i++) {
		rail->packets[i].bytes = rail->slab + i * slot + CHANNEL_HEAD_ROOM;
		rail->packets[i].room_bytes = rail->bundle.packet_bytes;
	}
	return 0;
}

static int
rail_open(const struct channel_rail_config *config, struct channel_rail *rail,
	  struct lull_error *error)
{
	if (strncmp(rail->text, PAIR, strlen(PAIR)) == 0)
		return channel_rail_pair_open(rail->text + strlen(PAIR), rail, error);
	if (channel_rail_memory_words(rail->text) != NULL)
		return channel_rail_memory_open(rail, error);
	return channel_rail_net_open(config, rail, error);
}

int
channel_rail_open(const struct channel_rail_config *config, const char *text,
		  struct channel_rail **out, struct lull_error *error)
{
	struct channel_rail *rail;
	int rc;

	*out = NULL;
	if (text == NULL || text[0] == '\0')
		return lull_error_set(error, -EINVAL,
				      "rail: missing; name one, such as kernel:eth0");
	if (strlen(text) >= sizeof(rail->text))
		return lull_error_set(error, -EINVAL, "rail: '%.*s...' is too long",
				      LULL_ERROR_SHOWN, text);
	rail = calloc(1, sizeof(*rail));
	if (rail == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a rail");
	strcpy(rail->text, text);
	rc = rail_open(config, rail, error);
	if (rc == 0)
		rc = rail_slab(rail, error);
	if (rc != 0) {
		channel_rail_close(rail);
		return rc;
	}
	*out = rail;
	return 0;
}
