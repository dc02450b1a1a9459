/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Record table: for each packet size the longest rest tried and the speed seen with it.
 *
 * Source: the record table of the sleep model (docs/sleep-model.md) in the three layouts of its
 * Fig. 16: (a) an array with a row per byte, (b) a row per segment of packet sizes, (c) the
 * segments in a linked list. A packet size counts as the least of its segment in all of them, so
 * the same calls get the same answers and only the cost of an update differs.
 * Rests never fall from a smaller packet size to a larger one.
 * Memory: one fixed struct.
 */
#ifndef LULL_RECORD_TABLE_H
#define LULL_RECORD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <lull/idle.h>

/* What Ethernet carries; other sizes count as the nearest. */
#define LULL_RECORD_BYTES_MIN 64u
#define LULL_RECORD_BYTES_MAX 1500u
#define LULL_RECORD_ROWS (LULL_RECORD_BYTES_MAX - LULL_RECORD_BYTES_MIN + 1)

struct lull_record_row {
	double speed_max;
	uint32_t rest_ns;
	uint16_t next; /* linked: the next larger segment seen; 0: none */
	bool seen;
};

struct lull_record_table {
	enum lull_record_layout layout;
	uint32_t row_bytes;
	uint32_t row_count;
	/* By segment, or by byte in an array; linked uses them as the list's nodes. */
	struct lull_record_row rows[LULL_RECORD_ROWS];
};

/** Every rest and speed 0. */
void lull_record_table_init(struct lull_record_table *table, enum lull_record_layout layout,
			    uint32_t row_bytes);
/** The row of a packet size. Its speed is the caller's; its rest changes by the calls below. */
struct lull_record_row *lull_record_table_find(struct lull_record_table *table, uint32_t bytes);
/**
 * Algorithm 3, the search for the longest rest that costs no speed: returns the rest for the
 * estimated packet size and speed, @p rest_ns being the one used last.
 *
 * A speed "equal to or smaller than" (1 - tolerance) of the row's changes nothing (case 5);
 * otherwise it becomes the row's, and rests of this size and larger ones grow to @p rest_ns +
 * @p step_ns (cases 1, 2, 3 and 6), longer ones staying as they are (case 4).
 */
uint64_t lull_record_table_search(struct lull_record_table *table, uint32_t bytes, double speed,
				  uint64_t rest_ns, uint64_t step_ns, uint32_t tolerance_ppm);
/** Rests of this packet size and larger ones become at least @p rest_ns. */
void lull_record_table_raise(struct lull_record_table *table, uint32_t bytes, uint64_t rest_ns);
/**
 * The rest of this packet size becomes at most @p rest_ns, and so do those of smaller ones and of
 * the larger ones that had it from this one (an equal rest).
 */
void lull_record_table_lower(struct lull_record_table *table, uint32_t bytes, uint64_t rest_ns);
/** All rests and speeds lose an eighth. */
#define LULL_RECORD_FADE_SHIFT 3
void lull_record_table_fade(struct lull_record_table *table);

#endif
