/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Range: the check of configurations, a table of numbers each.
 *
 * Threads: any. Memory: the caller's.
 */
#ifndef LULL_RANGE_H
#define LULL_RANGE_H

#include <lull/base.h>

/**
 * Do all of @p ranges hold?
 * @return 0; -EINVAL: @p wrong (may be NULL) is the first that does not
 */
int lull_ranges_check(const struct lull_range *ranges, size_t count, struct lull_range *wrong);
#define LULL_RANGES_CHECK(ranges, wrong)                                                           \
	lull_ranges_check(ranges, sizeof(ranges) / sizeof((ranges)[0]), wrong)
/** The same for one number. */
int lull_range_check(const char *field, uint64_t value, uint64_t low, uint64_t high,
		     struct lull_range *wrong);
/** For what no range says: -EINVAL, and this as the reason. */
int lull_range_refuse(const char *field, uint64_t value, uint64_t low, uint64_t high,
		      struct lull_range *wrong);

#endif
