/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Base: the few words every other lull header uses.
 *
 * Times are unsigned nanoseconds of one monotonic clock whose origin does not
 * matter. The library never exits and never prints.
 */
#ifndef LULL_BASE_H
#define LULL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LULL_NS_PER_US 1000ULL
#define LULL_NS_PER_MS 1000000ULL
#define LULL_NS_PER_S 1000000000ULL

/** One million: shares (load, quantiles) are in parts of it. */
#define LULL_PPM 1000000ULL

#define LULL_CACHE_LINE 64

#define LULL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define LULL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define LULL_CLAMP(value, low, high) LULL_MIN(LULL_MAX(value, low), high)

/**
 * Counters have one writer and any number of relaxed readers; these two
 * compile to plain loads and stores on every 64-bit machine.
 */
#define LULL_COUNTER_ADD(counter, n) __atomic_store_n(&(counter), (counter) + (n), __ATOMIC_RELAXED)
#define LULL_COUNTER_READ(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)

/** One row of a module's counter table: telemetry, views and docs walk it. */
struct lull_counter_info {
	const char *name; /**< as it stands in JSON */
	const char *unit; /**< "packets", "ns", "1" ... */
	const char *help; /**< one line */
	uint32_t offset;  /**< of a uint64_t in the module's counter struct */
};

/**
 * A number and the range it must lie in. A lull_<module>_config_check() leaves the first one that
 * does not in its last argument, which may be NULL.
 */
struct lull_range {
	const char *field;         /**< member of the configuration; its unit comes last */
	uint64_t value, low, high; /**< what it is, and the least and the most it may be */
};
/** Room for the sentence about most ranges. */
#define LULL_RANGE_TEXT 160
/** "burst_pkts: 0 is not in 1..256", cut to @p size; returns @p text. Any thread. */
char *lull_range_print(const struct lull_range *range, char *text, size_t size);

/**
 * Called once when lull finds a mistake of its own; must not return.
 * Replaced by tests and the simulator (which prints its seed).
 */
typedef void lull_assert_hook(const char *expression, const char *file, int line);

/** Set the hook for the whole process; NULL restores the trap. Any thread. */
void lull_assert_hook_set(lull_assert_hook *hook);

#ifdef __cplusplus
}
#endif

#endif
