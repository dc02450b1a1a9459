/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lull/rest.h>

#include "copy.h"

#define STEP_NS (20 * LULL_NS_PER_MS)
#define LINGER_NS LULL_NS_PER_S
#define BATCH 64U

int
copy_check(void *state, struct lull_error *error)
{
	struct copy *copy = state;

	return copy_settings_check(&copy->settings, copy->run.operands, copy->run.operand_count,
				   error);
}

int
copy_instead(void *state, bool *done, struct lull_error *error)
{
	struct copy *copy = state;

	*done = copy->settings.link.check;
	return *done ? lull_link_check_print(&copy->run, &copy->settings.link, stdout, error) : 0;
}

static int
run_change(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	const struct copy_settings *changed = change->settings;

	return lull_link_change(&((struct copy *)state)->link, change, &changed->link, error);
}

/* ---- open and close ---- */

static int
run_open_target(struct copy *copy, struct lull_error *error)
{
	const char *into = copy->settings.into;

	if (strcmp(into, "-") == 0) {
		copy->settings.once = true;
		signal(SIGPIPE, SIG_IGN); /* a write says what is wrong */
		return 0;
	}
	copy->target = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy->target < 0)
		return lull_error_set(error, -errno,
				      "into: cannot open the folder %.*s: %s; make it with mkdir",
				      LULL_ERROR_SHOWN, into, strerror(errno));
	if (faccessat(copy->target, ".", W_OK | X_OK, AT_EACCESS) != 0)
		return lull_error_set(error, -errno, "into: cannot write into %.*s: %s",
				      LULL_ERROR_SHOWN, into, strerror(errno));
	return 0;
}

int
copy_open(void *state, struct lull_error *error)
{
	struct copy *copy = state;
	int rc = 0;

	copy->target = -1;
	copy->items = json_array();
	copy->bar = isatty(STDERR_FILENO) != 0;
	if (copy->settings.listen)
		rc = run_open_target(copy, error);
	if (rc == 0 && copy_digest_open(&copy->sender.digest) != 0)
		rc = lull_error_set(error, -ENOMEM, "no memory for SHA-256");
	return rc == 0 ? lull_link_open(&copy->link, &copy->run, &copy->settings.link, error) : rc;
}

void
copy_close(void *state)
{
	struct copy *copy = state;

	/* Buffers of what is under way are the channel's until it has closed. */
	lull_link_close(&copy->link, copy->interrupted ? 0 : LINGER_NS);
	for (uint32_t i = 0; i < copy->session_count; i++) {
		struct copy_session *session = copy->sessions[i];

		copy_place_leave(&session->place, !copy->settings.discard_parts);
		copy_pipe_close(&session->pipe);
		free(session);
	}
	copy_pipe_close(&copy->sender.pipe);
	copy_digest_close(&copy->sender.digest);
	for (uint32_t i = 0; i < COPY_UNANSWERED_MAX; i++)
		json_decref(copy->sender.waiting[i]);
	json_decref(copy->items);
	if (copy->target >= 0)
		close(copy->target);
}

/* ---- turns ---- */

uint64_t
copy_moved_bytes(const struct copy *copy)
{
	uint64_t bytes = copy->sender.pipe.moved_bytes + copy->ended_bytes;

	for (uint32_t i = 0; i < copy->session_count; i++)
		bytes += copy->sessions[i]->pipe.moved_bytes;
	return bytes;
}

static void
run_take(struct copy *copy, const struct lull_channel_completion *completion)
{
	struct copy_slot *slot = completion->context;

	if (slot == &copy->sender.hello) {
		slot->under_way = false;
		copy->sender.hello_failed = completion->error != 0;
		if (completion->error != 0)
			copy_pipe_fail(&copy->sender.pipe, completion->error);
	} else if (slot->pipe == NULL) {
		copy_receive_hello(copy, slot, completion);
	} else {
		copy_pipe_done(slot, completion);
	}
}

bool
copy_turn(struct copy *copy, uint64_t wait_ns)
{
	struct lull_channel_completion done[BATCH];
	uint32_t count = lull_channel_done(copy->link.channel, done, BATCH, wait_ns);
	uint64_t now_ns = lull_clock_ns();

	for (uint32_t i = 0; i < count; i++)
		run_take(copy, &done[i]);
	if (!copy->settings.listen && copy->sender.pipe.channel != NULL) {
		copy_pipe_turn(&copy->sender.pipe);
		copy_send_take(copy);
	}
	copy_rate_add(&copy->rate, now_ns, copy_moved_bytes(copy));
	if (now_ns - copy->looked_ns < STEP_NS)
		return true;
	copy->looked_ns = now_ns;
	if (lull_run_signal(&copy->run, 0) != 0) {
		copy->run.end = "signal";
		copy->interrupted = true;
		return false;
	}
	if (lull_run_shows(&copy->run, copy->settings.stats_ns))
		copy_progress_print(copy, now_ns);
	return true;
}

void
copy_fail(struct copy *copy, const char *format, ...)
{
	char text[LULL_ERROR_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	copy->totals.failed++;
	if (copy->failure.text[0] == '\0')
		lull_error_set(&copy->failure, -EIO, "%s", text);
	else
		copy_say(copy, "%s", text);
}

int
copy_run(void *state, struct lull_error *error)
{
	struct copy *copy = state;
	int rc = lull_link_start(&copy->link, &copy->run, run_change, error);

	if (rc != 0)
		return rc;
	lull_run_begin(&copy->run);
	copy->looked_ns = copy->run.begin_ns;
	copy_rate_begin(&copy->rate, copy->run.begin_ns);
	rc = copy->settings.listen ? copy_receive_run(copy, error) : copy_send_run(copy, error);
	/* Signals stay blocked: the channel is about to close. */
	copy->run.end_ns = lull_clock_ns();
	copy->run.result_anyway = true;
	if (copy->run.end == NULL)
		copy->run.end = "done";
	if (copy->settings.listen || copy->sender.welcomed)
		copy_summary_print(copy);
	return rc;
}
