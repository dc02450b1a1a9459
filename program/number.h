/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Number: what people type for counts, rates and times, read exactly.
 *
 * "14.88M" is 14880000 and "1.5ms" is 1500000 ns, without a floating-point
 * detour and whatever the locale says. Blanks between number and unit are fine;
 * signs and exponents are not.
 * Threads: any. Memory: none.
 */
#ifndef LULL_CLI_NUMBER_H
#define LULL_CLI_NUMBER_H

#include <stddef.h>
#include <stdint.h>

struct lull_unit {
	const char *name;
	uint64_t factor;
};

/** k, M and G (and K, because it is typed); a NULL name ends each table. */
extern const struct lull_unit lull_count_units[];
/** ns, us, ms, s, m (or min), h in ns. */
extern const struct lull_unit lull_time_units[];

/** Factor of the unit with this name, 0 if there is none. */
uint64_t lull_unit_factor(const struct lull_unit *units, const char *name, size_t length);

/**
 * Read the whole of @p text as a number with a unit.
 *
 * @param bare  factor of a number that names no unit; 0: only a plain zero needs none
 * @return 0; -EINVAL: not a number, or no such unit; -ERANGE: beyond 64 bits;
 *         -EDOM: not a whole multiple of one (of a ns)
 */
int lull_number_parse(const char *text, size_t length, const struct lull_unit *units, uint64_t bare,
		      uint64_t *value);
/** The same for reals with k, M, G; -EDOM: more than 15 digits. */
int lull_number_parse_real(const char *text, size_t length, double *value);

/** A time in the largest unit that shows it exactly: "1500us", "2s", "0". Returns @p text. */
char *lull_time_print(uint64_t ns, char *text, size_t size);
/** A real with the suffix that suits its size: "300k", "14.88M", "0.5". Returns @p text. */
char *lull_real_print(double value, char *text, size_t size);

/** Enough for either of them. */
#define LULL_NUMBER_TEXT 32

#endif
