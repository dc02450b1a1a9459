/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Base: constants, counters and errors that every other header uses.
 *
 * Times are unsigned nanoseconds of one monotonic clock whose origin does not
 * matter. The library never ends the process and never prints.
 *
 * A program copies counters of another thread like this:
 *
 * @code
 * #include <stdio.h>
 * #include <lull/idle.h>
 *
 * void
 * print_counters(const struct lull_idle *idle)
 * {
 *         const struct lull_idle_counters *counters = lull_idle_counters(idle);
 *         const struct lull_counter_info *row;
 *
 *         for (row = lull_idle_counter_table; row->name != NULL; row++) {
 *                 const void *counter = (const char *)counters + row->offset;
 *                 uint64_t value = LULL_COUNTER_READ(*(const uint64_t *)counter);
 *
 *                 printf("%s %llu %s\n", row->name, (unsigned long long)value, row->unit);
 *         }
 * }
 * @endcode
 *
 * Threads: any.
 */
#ifndef LULL_BASE_H
#define LULL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Nanoseconds per microsecond, millisecond and second. */
#define LULL_NS_PER_US 1000ULL
#define LULL_NS_PER_MS 1000000ULL
#define LULL_NS_PER_S 1000000000ULL

/** One million: shares (load, quantiles) are in parts of it. */
#define LULL_PPM 1000000ULL

/** Bytes of the longest sentence, its zero included. */
#define LULL_ERROR_SIZE 768

/**
 * What went wrong, for a person: the one sentence that goes with a negative errno. The caller owns
 * it; a function writes it only when it fails. Where an argument of this type may be NULL, the
 * caller gets the number alone.
 */
struct lull_error {
	char text[LULL_ERROR_SIZE]; /**< no full stop, no line feed; cut when longer */
};

/** Alignment of objects in memory of the caller, bytes. */
#define LULL_CACHE_LINE 64

/** The smaller, the larger, a value cut to a range; arguments may be evaluated twice. */
#define LULL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define LULL_MAX(a, b) ((a) > (b) ? (a) : (b))
#define LULL_CLAMP(value, low, high) LULL_MIN(LULL_MAX(value, low), high)

/**
 * Counters have one writer and any number of relaxed readers; these two
 * compile to plain loads and stores on every 64-bit machine.
 */
#define LULL_COUNTER_ADD(counter, n) __atomic_store_n(&(counter), (counter) + (n), __ATOMIC_RELAXED)
#define LULL_COUNTER_READ(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)

/** One row of a module's counter table: telemetry, views and the manual walk it. */
struct lull_counter_info {
	const char *name; /**< as it stands in JSON */
	const char *unit; /**< "packets", "ns", "1" ... */
	const char *help; /**< one line */
	uint32_t offset;  /**< of a uint64_t in the module's counter struct */
};
/** The row of a member: LULL_COUNTER_ROW(struct counters, pkts, "packets", "received"). */
#define LULL_COUNTER_ROW(type, member, unit_text, help_text)                                       \
	{                                                                                          \
		.name = #member, .unit = unit_text, .help = help_text,                             \
		.offset = offsetof(type, member)                                                   \
	}

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
/**
 * Write a range as a sentence: "burst_pkts: 0 is not in 1..256".
 * @param text  out; LULL_RANGE_TEXT bytes suffice for most; always ends with a zero
 * @param size  bytes of @p text, at least 1; what is longer is cut
 * @return @p text
 * Threads: any.
 */
char *lull_range_print(const struct lull_range *range, char *text, size_t size);

/**
 * Called once, on the thread that finds it, when lull finds a mistake of its own or in a call;
 * must not return. Tests and the simulator (which prints its seed) have their own.
 */
typedef void lull_assert_hook(const char *expression, const char *file, int line);

/**
 * Set the function that is called when lull finds a mistake of its own. It holds for the whole
 * process. The function must not return. NULL restores the default: the program ends by a trap
 * instruction.
 * Threads: any.
 */
void lull_assert_hook_set(lull_assert_hook *hook);

#ifdef __cplusplus
}
#endif

#endif
