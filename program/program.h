/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Program: the frame of all programs, from main() to the exit status.
 *
 * A program is a table of settings and a wiring of parts. It describes both in
 * one constant, and main() hands that to lull_program_main(). The frame reads
 * the options, answers --help and the like, takes signals, writes the result
 * and says what went wrong: one sentence on stderr after the program's name.
 * Threads: main thread; whoever else reads settings holds the lock.
 * Memory:  one allocation for the state of the program, zeroed.
 */
#ifndef LULL_CLI_PROGRAM_H
#define LULL_CLI_PROGRAM_H

#include <jansson.h>
#include <pthread.h>
#include <signal.h>

#include <lull/histogram.h>

#include "options.h"

/** Exit status: all went well, something failed, the command line or a file of it is wrong. */
enum lull_status { LULL_STATUS_GOOD, LULL_STATUS_FAILURE, LULL_STATUS_USAGE };

/** Every program's state begins with this. */
struct lull_run {
	const struct lull_program *program;
	pthread_mutex_t lock; /**< settings, while telemetry runs */
	sigset_t signals;     /**< that end the run: blocked in every thread from open() on */
	const char *end;      /**< why the run ended, for the result: "signal", "duration" ... */
	bool result_anyway;   /**< write the result although the run failed */
	uint64_t begin_ns, end_ns;
	uint64_t shown_ns;     /**< last line of progress */
	bool percent;          /**< such a line stands on the terminal */
	const char **operands; /**< of the command line, where the program takes some */
	uint32_t operand_count;
	int argc; /**< the command line, to be read again */
	char **argv;
};

struct lull_program {
	const char *name;            /**< as it is called: "lull-fwd" */
	const char *version;         /**< whatever --version shall say after the name */
	const char *summary;         /**< one sentence */
	const char *const *examples; /**< command lines, NULL at the end; NULL: none */
	const char *operands; /**< what follows the options: "[FILE]..."; NULL: nothing may */
	const struct lull_option *options;

	/** LULL_PROGRAM_STATE(); the state has zeros and presets before options are read. */
	size_t size, settings, settings_size;

	/*
	 * What follows gets the state, and returns 0 or -errno and the sentence. Only open and run
	 * have to be there.
	 */

	/** Settings that are not 0 and have no default in the table. */
	void (*preset)(void *settings);
	/** Fill in what follows from other settings, refuse what does not fit together. */
	int (*check)(void *state, struct lull_error *error);
	/** Something else was asked for: do it and set @p done. Signals end the program here. */
	int (*instead)(void *state, bool *done, struct lull_error *error);
	int (*open)(void *state, struct lull_error *error);
	int (*run)(void *state, struct lull_error *error);
	/** After open(), whatever it returned. */
	void (*close)(void *state);
	/**
	 * SIGHUP came: read settings again, open files anew. The run goes on, and from open() to
	 * the end of the program this signal does nothing else. NULL: SIGHUP ends the run.
	 */
	void (*hangup)(void *state);
	/** Add what was measured to a result that says who measured, with what and where. */
	void (*result)(void *state, json_t *result);
	/** What it came to, for people, after a run that has a result. */
	void (*print)(void *state);
	/** Version of DPDK: says that the machine is part of the result. */
	const char *(*dpdk)(void);
};

/** Where settings are in the state: members of struct lull_program. */
#define LULL_PROGRAM_STATE(type)                                                                   \
	.size = sizeof(type), .settings = offsetof(type, settings),                                \
	.settings_size = sizeof(((type *)0)->settings)

/** All of main(); returns an enum lull_status. */
int lull_program_main(const struct lull_program *program, int argc, char **argv);

/** Settings in the state that @p run is the head of. */
void *lull_run_settings(struct lull_run *run);

/** Settings before options are read: what has no default in the table. */
void lull_run_preset(const struct lull_program *program, void *settings);

/**
 * Rest until a signal comes, or @p ns at most; returns its number, 0: none. A SIGHUP that the
 * program has a use for is dealt with, and is none.
 */
int lull_run_signal(struct lull_run *run, uint64_t ns);
/** The run begins now. */
void lull_run_begin(struct lull_run *run);
/**
 * Rest for @p step_ns. False, and run->end set: a signal came, or the run lasts @p duration_ns
 * (0: without end).
 */
bool lull_run_wait(struct lull_run *run, uint64_t step_ns, uint64_t duration_ns);
/** Is it time for a line of progress, one every @p stats_ns? 0: never. */
bool lull_run_shows(struct lull_run *run, uint64_t stats_ns);
/** The run ends now: from here on a signal ends the program at once. */
void lull_run_end(struct lull_run *run);

/** "  latency p50 1.0 us p99 2.0 us max 3.0 us" on stderr; nothing of no value. */
void lull_run_latency(const struct lull_histogram *latency);
/**
 * Tell a terminal how far a long calculation is. False: a signal came, and the next one ends the
 * program at once.
 */
bool lull_run_percent(struct lull_run *run, const char *name, uint64_t done, uint64_t total);
/** Wipe that line away. */
void lull_run_percent_end(struct lull_run *run);

#endif
