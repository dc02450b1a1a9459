/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink collection: all records of an instance until they can be sorted.
 */
#ifndef LULL_FLOW_SINK_COLLECTION_H
#define LULL_FLOW_SINK_COLLECTION_H

#include <lull/flow.h>

struct sink_chunk;

struct sink_collection {
	struct sink_chunk *first, *last;
	size_t record_bytes;
	uint64_t count;
	uint64_t lost; /* no memory */
};

void sink_collection_init(struct sink_collection *collection, uint32_t payload_bytes);
void sink_collection_add(struct sink_collection *collection, const struct lull_flow_record *record);
void sink_collection_clear(struct sink_collection *collection);
/** Put the addresses of all records into @p records; returns how many. */
uint64_t sink_collection_list(const struct sink_collection *collection,
			      const struct lull_flow_record **records);

#endif
