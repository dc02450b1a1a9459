/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "assembler.h"
#include "base/assert.h"
#include "base/range.h"

#define DEFAULT_OPEN 4
#define DEFAULT_BUFFERS 16
#define DEFAULT_SPANS 1024

void
lull_assembler_config_default(struct lull_assembler_config *config)
{
	if (config->open_max == 0)
		config->open_max = DEFAULT_OPEN;
	if (config->buffer_max == 0)
		config->buffer_max = DEFAULT_BUFFERS;
	if (config->spans_max == 0)
		config->spans_max = DEFAULT_SPANS;
}

static bool
geometry_given(const struct lull_frame_geometry *geometry)
{
	return geometry->width != 0 || geometry->height != 0;
}

static struct lull_assembler_config
config_full(const struct lull_assembler_config *config)
{
	struct lull_assembler_config full = *config;

	lull_assembler_config_default(&full);
	return full;
}

int
lull_assembler_config_check(const struct lull_assembler_config *config, struct lull_range *error)
{
	const struct lull_assembler_config full = config_full(config);
	const struct lull_range ranges[] = {
		{ "open_max", full.open_max, 1, LULL_ASSEMBLER_OPEN_MAX },
		{ "buffer_max", full.buffer_max, 2, LULL_ASSEMBLER_BUFFERS_MAX },
		{ "buffer_bytes", full.buffer_bytes, 1, LULL_FRAME_BYTES_MAX },
		{ "spans_max", full.spans_max, 16, 65536 },
		{ "order", (uint32_t)full.order, 0, LULL_FRAME_ORDER_ARRIVAL },
		{ "policy", (uint32_t)full.policy, 0, LULL_FRAME_FAIL_STOP },
	};

	if (LULL_RANGES_CHECK(ranges, error) != 0)
		return -EINVAL;
	if (geometry_given(&full.geometry) && lull_frame_bytes(&full.geometry) == 0)
		return lull_range_refuse("geometry", 0, 1, LULL_FRAME_BYTES_MAX, error);
	return 0;
}

static size_t
nodes_size(const struct lull_assembler_config *config)
{
	return lull_spans_nodes(config->spans_max) * sizeof(struct lull_spans_node);
}

static size_t
missing_size(const struct lull_assembler_config *config)
{
	return config->spans_max * sizeof(struct lull_frame_span);
}

size_t
lull_assembler_size(const struct lull_assembler_config *config)
{
	const struct lull_assembler_config full = config_full(config);

	return sizeof(struct lull_assembler) + full.open_max * nodes_size(&full) +
	       ((size_t)full.buffer_max + 1) * missing_size(&full);
}

int
lull_assembler_init(void *memory, const struct lull_assembler_config *config,
		    struct lull_assembler **assembler)
{
	struct lull_assembler *made = memory;
	uint8_t *room;
	int rc = lull_assembler_config_check(config, NULL);

	if (rc != 0)
		return rc;
	LULL_ASSERT((uintptr_t)memory % LULL_CACHE_LINE == 0);
	room = (uint8_t *)memory + sizeof(*made);
	memset(made, 0, sizeof(*made));
	made->config = *config;
	lull_assembler_config_default(&made->config);
	made->due_ns = UINT64_MAX;
	made->vacant = (uint32_t)((1ULL << made->config.open_max) - 1);
	for (uint32_t i = 0; i < made->config.open_max; i++) {
		made->open[i].spans.nodes = (struct lull_spans_node *)(void *)room;
		room += nodes_size(&made->config);
	}
	for (uint32_t i = 0; i <= made->config.buffer_max; i++) {
		made->slots[i].missing = (struct lull_frame_span *)(void *)room;
		room += missing_size(&made->config);
		lull_slot_push(&made->empty, (uint16_t)i);
	}
	if (geometry_given(&config->geometry)) {
		made->geometry = config->geometry;
		lull_frame_layout_init(&made->layout, &made->geometry);
	}
	*assembler = made;
	return 0;
}
