/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lull/rest.h>

#include "result.h"

#define PERCENT_NS (LULL_NS_PER_S / 2)

void *
lull_run_settings(struct lull_run *run)
{
	return (char *)run + run->program->settings;
}

/* ---- signals and time ---- */

/* Before any other thread exists: the main thread takes them when it likes. */
static void
run_take_signals(struct lull_run *run)
{
	struct sigaction hangup;

	sigaddset(&run->signals, SIGINT);
	sigaddset(&run->signals, SIGTERM);
	/* Ignored signals would not even wait. */
	if (run->program->hangup != NULL)
		signal(SIGHUP, SIG_DFL);
	/* nohup has it ignored: then the end of a terminal is none of the program. */
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaddset(&run->signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &run->signals, NULL);
}

int
lull_run_signal(struct lull_run *run, uint64_t ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };
	int number = sigtimedwait(&run->signals, NULL, &limit);

	if (number != SIGHUP || run->program->hangup == NULL)
		return LULL_MAX(number, 0);
	run->program->hangup(run);
	return 0;
}

void
lull_run_begin(struct lull_run *run)
{
	run->begin_ns = run->shown_ns = lull_clock_ns();
}

bool
lull_run_wait(struct lull_run *run, uint64_t step_ns, uint64_t duration_ns)
{
	uint64_t passed_ns = lull_clock_ns() - run->begin_ns;

	if (duration_ns > 0 && passed_ns >= duration_ns) {
		run->end = "duration";
		return false;
	}
	if (duration_ns > 0)
		step_ns = LULL_MIN(step_ns, duration_ns - passed_ns);
	if (lull_run_signal(run, step_ns) == 0)
		return true;
	run->end = "signal";
	return false;
}

bool
lull_run_shows(struct lull_run *run, uint64_t stats_ns)
{
	uint64_t now_ns = lull_clock_ns();

	if (stats_ns == 0 || now_ns - run->shown_ns < stats_ns)
		return false;
	run->shown_ns = now_ns;
	return true;
}

void
lull_run_end(struct lull_run *run)
{
	sigset_t ending = run->signals;

	run->end_ns = lull_clock_ns();
	if (run->program->hangup != NULL)
		sigdelset(&ending, SIGHUP);
	pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
}

bool
lull_run_percent(struct lull_run *run, const char *name, uint64_t done, uint64_t total)
{
	if (lull_run_signal(run, 0) != 0) {
		pthread_sigmask(SIG_UNBLOCK, &run->signals, NULL);
		return false;
	}
	if (isatty(STDERR_FILENO) && lull_run_shows(run, PERCENT_NS)) {
		run->percent = true;
		fprintf(stderr, "\r%s: %3.0f %%", name, 100.0 * (double)done / (double)total);
	}
	return true;
}

void
lull_run_percent_end(struct lull_run *run)
{
	if (run->percent)
		fprintf(stderr, "\r%*s\r", 40, "");
	run->percent = false;
}

void
lull_run_latency(const struct lull_histogram *latency)
{
	if (LULL_COUNTER_READ(latency->count) == 0)
		return;
	fprintf(stderr, "  latency p50 %.1f us p99 %.1f us max %.1f us",
		(double)lull_histogram_quantile(latency, 500000) / LULL_NS_PER_US,
		(double)lull_histogram_quantile(latency, 990000) / LULL_NS_PER_US,
		(double)LULL_COUNTER_READ(latency->max) / LULL_NS_PER_US);
}

/* ---- result ---- */

static json_t *
program_result(const struct lull_program *program, struct lull_run *run)
{
	json_t *result = json_object();

	json_object_set_new(result, "program", lull_result_text(program->name));
	json_object_set_new(result, "version", lull_result_text(program->version));
	pthread_mutex_lock(&run->lock);
	json_object_set_new(result, "settings",
			    lull_result_settings(program, lull_run_settings(run)));
	pthread_mutex_unlock(&run->lock);
	if (run->end != NULL)
		lull_result_put_text(result, "end", run->end);
	if (run->end_ns > run->begin_ns)
		lull_result_put_real(result, "duration_s",
				     (double)(run->end_ns - run->begin_ns) / LULL_NS_PER_S);
	if (program->dpdk != NULL)
		json_object_set_new(result, "machine", lull_result_machine(program->dpdk()));
	program->result(run, result);
	return result;
}

static int
program_write(const struct lull_program *program, struct lull_run *run, const char *path,
	      struct lull_error *error)
{
	json_t *result = program_result(program, run);
	int rc;

	if (result == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the result");
	rc = lull_result_write(path, result, error);
	json_decref(result);
	return rc;
}

/* ---- from beginning to end ---- */

/* File for the result, "": none. */
static const char *
program_path(const struct lull_program *program, struct lull_run *run)
{
	const struct lull_option *row = lull_options_find(program->options, "json");

	return row != NULL ? (const char *)lull_run_settings(run) + row->offset : "";
}

static int
program_go(const struct lull_program *program, struct lull_run *run, struct lull_error *error)
{
	const char *path = program_path(program, run);
	struct lull_error unheard;
	int rc = path[0] != '\0' ? lull_result_check(path, error) : 0, written;

	if (rc != 0)
		return rc;
	run_take_signals(run);
	rc = program->open(run, error);
	if (rc == 0)
		rc = program->run(run, error);
	if (path[0] != '\0' && (rc == 0 || run->result_anyway)) {
		written = program_write(program, run, path, rc == 0 ? error : &unheard);
		rc = rc == 0 ? written : rc;
	}
	if (program->print != NULL && (rc == 0 || run->result_anyway))
		program->print(run);
	if (program->close != NULL)
		program->close(run);
	return rc;
}

void
lull_run_preset(const struct lull_program *program, void *settings)
{
	const struct lull_option *stats = lull_options_find(program->options, "stats");
	uint64_t ns = isatty(STDERR_FILENO) ? LULL_NS_PER_S : 0;

	if (stats != NULL)
		memcpy((char *)settings + stats->offset, &ns, sizeof(ns));
	if (program->preset != NULL)
		program->preset(settings);
}

static enum lull_status
program_start(const struct lull_program *program, int argc, char **argv, struct lull_run *run,
	      struct lull_error *error)
{
	enum lull_options_action action;
	bool done = false;
	int rc;

	lull_run_preset(program, lull_run_settings(run));
	rc = lull_options_parse(program, argc, argv, lull_run_settings(run), &action, error);
	if (rc != 0)
		return LULL_STATUS_USAGE;
	if (action != LULL_OPTIONS_RUN && action != LULL_OPTIONS_CHECK) {
		rc = lull_options_print(program, action, stdout);
		return rc == 0 ? LULL_STATUS_GOOD : LULL_STATUS_FAILURE;
	}
	if (program->operands != NULL)
		run->operand_count = lull_options_operands(program, argc, argv, run->operands);
	if (program->check != NULL && program->check(run, error) != 0)
		return LULL_STATUS_USAGE;
	if (action == LULL_OPTIONS_CHECK)
		return LULL_STATUS_GOOD;
	if (program->instead != NULL)
		rc = program->instead(run, &done, error);
	if (rc == 0 && !done)
		rc = program_go(program, run, error);
	return rc == 0 ? LULL_STATUS_GOOD : LULL_STATUS_FAILURE;
}

int
lull_program_main(const struct lull_program *program, int argc, char **argv)
{
	const char **operands = calloc((size_t)argc + 1, sizeof(operands[0]));
	struct lull_run *run = calloc(1, program->size);
	struct lull_error error = { .text = "" };
	enum lull_status status;

	if (run == NULL || operands == NULL) {
		fprintf(stderr, "%s: no memory\n", program->name);
		free(operands);
		free(run);
		return LULL_STATUS_FAILURE;
	}
	run->program = program;
	run->operands = operands;
	run->argc = argc;
	run->argv = argv;
	sigemptyset(&run->signals);
	pthread_mutex_init(&run->lock, NULL);
	status = program_start(program, argc, argv, run, &error);
	/* Of a check there are two results. */
	if (status == LULL_STATUS_USAGE && lull_options_asks_check(program, argc, argv))
		status = LULL_STATUS_FAILURE;
	if (status != LULL_STATUS_GOOD)
		fprintf(stderr, "%s: %s\n", program->name,
			error.text[0] != '\0' ? error.text : "cannot write to stdout");
	pthread_mutex_destroy(&run->lock);
	free(operands);
	free(run);
	return (int)status;
}
