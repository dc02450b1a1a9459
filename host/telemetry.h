/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry: the /lull commands, whichever socket they come over.
 *
 * telemetry.c answers, telemetry_reply.c writes members by a *writer*: into DPDK's data
 * (engine/loop/telemetry.c) or as JSON (telemetry_json.c). telemetry_request.c reads what clients
 * ask for, and telemetry_server.c is the socket of programs without DPDK's environment.
 *
 * Threads: any; one command is answered at a time.
 */
#ifndef LULL_HOST_TELEMETRY_H
#define LULL_HOST_TELEMETRY_H

#include <lull/histogram.h>
#include <lull/loop.h>

#include "idle/loss_audit.h"
#include "idle/share.h"
#include "snapshot.h"

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

/** What can be told of a loop at any time; what it points to stays. */
struct lull_loop_info {
	const char *name, *kind;
	const char *thread; /**< as the operating system names it */
	const char *mode;   /**< "on"; in the plugin also "off", "passive" and "shadow" */
	/** Why it rests as it does where no verdict says so, one sentence; NULL: by the verdict. */
	const char *why;
	int cpu, tid;
	bool alive;           /**< its thread exists */
	uint32_t idle_states; /**< LULL_IDLE_STATE_BIT() of those on offer */
	const struct lull_idle *idle;
	const struct lull_share_member *share; /**< NULL: it has its queues to itself */
	const struct lull_rest_thread *class;  /**< NULL: its class is left alone */
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
/** Those in config->loops. The plugin has loops of another kind, and a table of its own. */
extern const struct lull_telemetry_loops lull_telemetry_own_loops;

/** Why a loop rests as it does, one or two sentences; returns @p bytes. */
char *lull_loop_info_explain(const struct lull_loop_info *info, char *bytes, size_t size);
/** The same of its scheduling class, "": nothing to say. */
char *lull_loop_info_class(const struct lull_loop_info *info, char *bytes, size_t size);

/** Answer from here on, of @p config; @p dpdk: its version, "": none. All is borrowed. */
void lull_telemetry_begin(const struct lull_telemetry_config *config,
			  const struct lull_telemetry_loops *loops, const char *dpdk);
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
