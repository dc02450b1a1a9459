/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry: the /lull commands, whichever socket they come over.
 *
 * telemetry.c answers, telemetry_reply.c writes members by a *writer*: into DPDK's data
 * (engine/loop/telemetry.c) or as JSON (telemetry_json.c). telemetry_server.c is the socket of
 * programs without DPDK's environment.
 *
 * Threads: any; one command is answered at a time.
 */
#ifndef LULL_HOST_TELEMETRY_H
#define LULL_HOST_TELEMETRY_H

#include <lull/histogram.h>
#include <lull/loop.h>

#define LULL_TELEMETRY_TEXT_MAX 127 /* bytes of a text; DPDK takes no more */

/** Where the members of a reply go. What finds no room is left out. */
struct lull_telemetry_writer {
	void (*count)(void *to, const char *name, uint64_t value);
	void (*text)(void *to, const char *name, const char *text);
	void (*counts)(void *to, const char *name, const uint64_t *values, uint32_t count);
	void (*texts)(void *to, const char *name, const char *const *texts, uint32_t count);
};
struct lull_telemetry_reply {
	const struct lull_telemetry_writer *writer;
	void *to;
};

/** Answer from here on, of @p config; @p dpdk: its version, "": none. The config is borrowed. */
void lull_telemetry_begin(const struct lull_telemetry_config *config, const char *dpdk);
/** No callback of the config runs from here on. */
void lull_telemetry_end(void);
/** Write the members of the reply. -EINVAL: there is no such command. */
int lull_telemetry_answer(const char *name, const char *params, struct lull_telemetry_reply *reply);
/** Command @p index, its name and help; false: there are not so many. */
bool lull_telemetry_command(uint32_t index, const char **name, const char **help);

/** A socket of somebody else's that takes our commands. */
struct lull_telemetry_carrier {
	/** Calls lull_telemetry_begin(). 0 or -errno. */
	int (*start)(const struct lull_telemetry_config *config);
};
/** Use it in lull_telemetry_start() from here on; NULL: a socket of our own. Main thread. */
void lull_telemetry_carry(const struct lull_telemetry_carrier *carrier);

/** Pairs (smallest value, count) of the non-empty bins. */
struct lull_telemetry_bins {
	uint32_t count;
	struct {
		uint64_t low, count;
	} bins[LULL_HISTOGRAM_BINS];
};

/** At most @p count_max pairs: neighbours are merged until they fit. */
void lull_telemetry_bins(const struct lull_histogram *histogram, uint32_t count_max,
			 struct lull_telemetry_bins *bins);

#endif
