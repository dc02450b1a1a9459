/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry, inside: what answers the /lull commands, and whose loops it shows.
 *
 * telemetry.c knows the commands and nothing of who runs the loops: these come
 * as a table of functions. telemetry_reply.c alone calls DPDK. The plugin has
 * loops of another kind and shows them by a table of its own.
 */
#ifndef LULL_TELEMETRY_H
#define LULL_TELEMETRY_H

#include <lull/engine.h>
#include <lull/histogram.h>

#include "idle/loss_audit.h"
#include "snapshot.h"

/** What can be told of a loop at any time; what it points to stays. */
struct lull_loop_info {
	const char *name, *kind;
	const char *thread; /**< as the operating system names it */
	const char *mode;   /**< "on"; in the plugin also "off", "passive" and "shadow" */
	/** Why it rests as it does where no verdict says so, one sentence; NULL: by the verdict. */
	const char *why;
	int cpu, tid;
	bool alive;      /**< its thread exists */
	uint32_t depths; /**< LULL_REST_BIT() of those on offer */
	const struct lull_idle *idle;
	const struct lull_rest_thread *class;
	const struct lull_snapshot_cell *snapshot;
	const struct lull_counter_info *stage_table; /**< NULL: it has no stage */
	const void *stage_counters;
};

/** The loops of a program, by number below config->loop_count. Telemetry thread. */
struct lull_telemetry_loops {
	void (*info)(const struct lull_telemetry_config *config, uint32_t index,
		     struct lull_loop_info *info);
	/** What its ports lost. */
	void (*lost)(const struct lull_telemetry_config *config, uint32_t index,
		     struct lull_port_loss *loss);
	/** Begin measurement window @p window. -EAGAIN: try again. */
	int (*mark)(const struct lull_telemetry_config *config, uint32_t index, uint32_t window);
};

/** What lull_telemetry_start() does, for loops of any kind. Both are borrowed. */
int lull_telemetry_serve(const struct lull_telemetry_config *config,
			 const struct lull_telemetry_loops *loops);
/** No handler runs from here on: loops may go. */
void lull_telemetry_stop(void);
/** Why a loop rests as it does, one or two sentences; returns @p bytes. */
char *lull_loop_info_explain(const struct lull_loop_info *info, char *bytes, size_t size);

/* ---- telemetry_reply.c ---- */

#define LULL_TELEMETRY_TEXT_MAX 127

/** "22.11.11", of the DPDK that answers. */
const char *lull_telemetry_dpdk(void);
/** Fill in the reply to a command; 0, or -EINVAL: there is no such command. */
typedef int lull_telemetry_answer(const char *command, const char *params,
				  struct lull_telemetry_reply *reply);
/** Have DPDK ask @p answer, the same for all, when @p command comes. 0 or -errno. */
int lull_telemetry_register(const char *command, const char *help, lull_telemetry_answer *answer);

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
