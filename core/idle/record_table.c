/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segment 0 is in the linked list from the start, so that the list has a head and every new node a
 * predecessor. Because raising a row raises all larger ones, a segment not yet seen has the rest of
 * the nearest smaller one that was: that is what a new node takes over, and why the list decides
 * like the arrays.
 */
#include "record_table.h"

#include <lull/base.h>

static uint32_t
record_segment(const struct lull_record_table *table, uint32_t bytes)
{
	bytes = LULL_CLAMP(bytes, LULL_RECORD_BYTES_MIN, LULL_RECORD_BYTES_MAX);
	return (bytes - LULL_RECORD_BYTES_MIN) / table->row_bytes;
}

/* Where the rest of a packet size stands. */
static uint32_t
record_index(const struct lull_record_table *table, uint32_t bytes)
{
	uint32_t segment = record_segment(table, bytes);

	return table->layout == LULL_RECORD_ARRAY ? segment * table->row_bytes : segment;
}

void
lull_record_table_init(struct lull_record_table *table, enum lull_record_layout layout,
		       uint32_t row_bytes)
{
	table->layout = layout;
	table->row_bytes = row_bytes;
	table->row_count = layout == LULL_RECORD_ARRAY ? LULL_RECORD_ROWS :
							 (LULL_RECORD_ROWS - 1) / row_bytes + 1;
	for (uint32_t i = 0; i < table->row_count; i++)
		table->rows[i] = (struct lull_record_row){ .rest_ns = 0 };
	table->rows[0].seen = true;
}

/* A segment seen for the first time. */
static void
record_insert(struct lull_record_table *table, uint32_t index)
{
	uint32_t before = 0;

	while (table->rows[before].next != 0 && table->rows[before].next < index)
		before = table->rows[before].next;
	table->rows[index] = (struct lull_record_row){
		.rest_ns = table->rows[before].rest_ns,
		.next = table->rows[before].next,
		.seen = true,
	};
	table->rows[before].next = (uint16_t)index;
}

struct lull_record_row *
lull_record_table_find(struct lull_record_table *table, uint32_t bytes)
{
	uint32_t index = record_index(table, bytes);

	if (table->layout == LULL_RECORD_LINKED && !table->rows[index].seen)
		record_insert(table, index);
	return &table->rows[index];
}

/* The row after this one; row_count: none. */
static uint32_t
record_next(const struct lull_record_table *table, uint32_t index)
{
	if (table->layout != LULL_RECORD_LINKED)
		return index + 1;
	return table->rows[index].next == 0 ? table->row_count : table->rows[index].next;
}

void
lull_record_table_raise(struct lull_record_table *table, uint32_t bytes, uint64_t rest_ns)
{
	uint32_t goal_ns = (uint32_t)LULL_MIN(rest_ns, (uint64_t)UINT32_MAX);
	uint32_t i;

	lull_record_table_find(table, bytes);
	for (i = record_index(table, bytes); i < table->row_count; i = record_next(table, i))
		table->rows[i].rest_ns = LULL_MAX(table->rows[i].rest_ns, goal_ns);
}

uint64_t
lull_record_table_search(struct lull_record_table *table, uint32_t bytes, double speed,
			 uint64_t rest_ns, uint64_t step_ns, uint32_t tolerance_ppm)
{
	struct lull_record_row *row = lull_record_table_find(table, bytes);
	double accepted = row->speed_max * (LULL_PPM - tolerance_ppm) / LULL_PPM;

	if (speed > accepted) {
		row->speed_max = speed;
		lull_record_table_raise(table, bytes, rest_ns + step_ns);
	}
	return row->rest_ns;
}

void
lull_record_table_lower(struct lull_record_table *table, uint32_t bytes, uint64_t rest_ns)
{
	uint32_t goal_ns = (uint32_t)LULL_MIN(rest_ns, (uint64_t)UINT32_MAX);
	uint32_t had_ns = lull_record_table_find(table, bytes)->rest_ns;
	uint32_t i;

	/* Rests never fall with the size: smaller sizes come first, equals follow, then stop. */
	for (i = 0; i < table->row_count; i = record_next(table, i)) {
		if (table->rows[i].rest_ns > had_ns)
			return;
		table->rows[i].rest_ns = LULL_MIN(table->rows[i].rest_ns, goal_ns);
	}
}

void
lull_record_table_fade(struct lull_record_table *table)
{
	for (uint32_t i = 0; i < table->row_count; i = record_next(table, i)) {
		table->rows[i].rest_ns -= table->rows[i].rest_ns >> LULL_RECORD_FADE_SHIFT;
		table->rows[i].speed_max -=
			table->rows[i].speed_max / (1u << LULL_RECORD_FADE_SHIFT);
	}
}
