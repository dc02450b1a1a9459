/* SPDX-License-Identifier: BSD-3-Clause */
#include "collection.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_RECORDS 1024

struct sink_chunk {
	struct sink_chunk *next;
	uint32_t count;
	alignas(8) uint8_t bytes[]; /* CHUNK_RECORDS records */
};

void
sink_collection_init(struct sink_collection *collection, uint32_t payload_bytes)
{
	memset(collection, 0, sizeof(*collection));
	collection->record_bytes = lull_flow_record_bytes(payload_bytes);
}

static struct sink_chunk *
collection_chunk(struct sink_collection *collection)
{
	struct sink_chunk *chunk = collection->last;

	if (chunk != NULL && chunk->count < CHUNK_RECORDS)
		return chunk;
	chunk = malloc(sizeof(*chunk) + CHUNK_RECORDS * collection->record_bytes);
	if (chunk == NULL)
		return NULL;
	chunk->next = NULL;
	chunk->count = 0;
	if (collection->last == NULL)
		collection->first = chunk;
	else
		collection->last->next = chunk;
	collection->last = chunk;
	return chunk;
}

void
sink_collection_add(struct sink_collection *collection, const struct lull_flow_record *record)
{
	struct sink_chunk *chunk = collection_chunk(collection);

	if (chunk == NULL) {
		collection->lost++;
		return;
	}
	memcpy(chunk->bytes + chunk->count++ * collection->record_bytes, record,
	       collection->record_bytes);
	collection->count++;
}

void
sink_collection_clear(struct sink_collection *collection)
{
	while (collection->first != NULL) {
		struct sink_chunk *chunk = collection->first;

		collection->first = chunk->next;
		free(chunk);
	}
	collection->last = NULL;
	collection->count = 0;
}

uint64_t
sink_collection_list(const struct sink_collection *collection,
		     const struct lull_flow_record **records)
{
	uint64_t count = 0;

	for (const struct sink_chunk *chunk = collection->first; chunk != NULL;
	     chunk = chunk->next) {
		for (uint32_t i = 0; i < chunk->count; i++)
			records[count++] = (const struct lull_flow_record
						    *)(const void *)(chunk->bytes +
								     i * collection->record_bytes);
	}
	return count;
}
