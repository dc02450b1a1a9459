/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <fcntl.h>

#include <rte_log.h>

#define HELD_SIZE 8192

/* One EAL per process; the stream's own lock guards this. */
static struct {
	FILE *stream;
	bool verbose;
	bool holding;
	int stdout_fd, stderr_fd; /* the real ones while holding */
	int kept_fd;              /* what others printed to stderr meanwhile */
	size_t used;
	char held[HELD_SIZE]; /* error lines, oldest first */
	char alert[512];      /* the general one at the end, where a level of its own marks it */
} eal_log;

static void
log_write(int fd, const char *bytes, size_t size)
{
	/* Nothing sensible is left to do when stderr itself fails. */
	if (write(fd, bytes, size) < 0)
		errno = 0;
}

/* Keep what fits; the oldest line makes room. */
static void
log_keep(const char *bytes, size_t size)
{
	if (size > HELD_SIZE)
		return;
	while (eal_log.used + size > HELD_SIZE) {
		char *feed = memchr(eal_log.held, '\n', eal_log.used);
		size_t gone = feed == NULL ? eal_log.used : (size_t)(feed + 1 - eal_log.held);

		eal_log.used -= gone;
		memmove(eal_log.held, eal_log.held + gone, eal_log.used);
	}
	memcpy(eal_log.held + eal_log.used, bytes, size);
	eal_log.used += size;
}

static ssize_t
log_put(void *cookie, const char *bytes, size_t size)
{
	int level = rte_log_cur_msg_loglevel();

	(void)cookie;
	if (eal_log.verbose)
		log_write(STDERR_FILENO, bytes, size);
	if (level > (int)RTE_LOG_ERR)
		return (ssize_t)size;
	if (eal_log.holding)
		log_keep(bytes, size);
	if (level == (int)RTE_LOG_ALERT) {
		snprintf(eal_log.alert, sizeof(eal_log.alert), "%.*s", (int)size, bytes);
		eal_log.alert[strcspn(eal_log.alert, "\n")] = '\0';
	}
	/* A panic ends the process before anything held could be shown. */
	if (!eal_log.verbose && (!eal_log.holding || level == (int)RTE_LOG_CRIT))
		log_write(eal_log.holding ? eal_log.stderr_fd : STDERR_FILENO, bytes, size);
	return (ssize_t)size;
}

/* EAL prints its whole usage to stdout when it dislikes an argument. */
static int
log_divert(void)
{
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	eal_log.kept_fd = memfd_create("lull-eal-log", MFD_CLOEXEC);
	eal_log.stdout_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	eal_log.stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (null_fd < 0 || eal_log.kept_fd < 0)
		return -errno;
	fflush(stdout);
	fflush(stderr);
	dup2(null_fd, STDOUT_FILENO);
	dup2(eal_log.kept_fd, STDERR_FILENO);
	close(null_fd);
	return 0;
}

static void
log_restore_one(int kept_fd, int fd)
{
	if (kept_fd < 0) {
		close(fd); /* it was closed before */
		return;
	}
	dup2(kept_fd, fd);
	close(kept_fd);
}

int
lull_eal_log_hold(bool verbose)
{
	const cookie_io_functions_t functions = { .write = log_put };

	eal_log.verbose = verbose;
	if (eal_log.stream == NULL)
		eal_log.stream = fopencookie(NULL, "w", functions);
	if (eal_log.stream == NULL)
		return -ENOMEM;
	setvbuf(eal_log.stream, NULL, _IOLBF, 0);
	rte_openlog_stream(eal_log.stream);
	eal_log.used = 0;
	eal_log.alert[0] = '\0';
	if (!verbose) {
		int rc = log_divert();

		if (rc != 0)
			return rc;
	}
	eal_log.holding = true;
	return 0;
}

bool
lull_eal_log_verbose(void)
{
	return eal_log.verbose;
}

void
lull_eal_log_release(bool show)
{
	if (!eal_log.holding)
		return;
	fflush(eal_log.stream);
	eal_log.holding = false;
	if (eal_log.verbose)
		return;
	fflush(stdout);
	fflush(stderr);
	log_restore_one(eal_log.stdout_fd, STDOUT_FILENO);
	log_restore_one(eal_log.stderr_fd, STDERR_FILENO);
	close(eal_log.kept_fd);
	if (show)
		log_write(STDERR_FILENO, eal_log.held, eal_log.used);
}

/*
 * EAL ends with a general alert. It is on stderr with this in front and once more in its log; from
 * 24.11 on it is in the log alone, at level alert.
 */
#define ALERT "EAL: FATAL: "

struct line {
	const char *bytes;
	size_t length;
};

/* Take the last line off @p bytes; false when there is none. */
static bool
log_take_last(const char *bytes, size_t *size, struct line *line)
{
	while (*size > 0 && bytes[*size - 1] == '\n')
		(*size)--;
	if (*size == 0)
		return false;
	line->length = 0;
	while (*size > 0 && bytes[*size - 1] != '\n') {
		(*size)--;
		line->length++;
	}
	line->bytes = bytes + *size;
	return true;
}

/* "EAL: x" in the log is the alert when it came as one, or stderr has "EAL: FATAL: x". */
static bool
log_is_alert(const struct line *line, const char *kept, size_t kept_size)
{
	size_t prefix = strlen("EAL: ");
	char alert[512];
	int length;

	if (line->length == strlen(eal_log.alert) &&
	    memcmp(line->bytes, eal_log.alert, line->length) == 0)
		return true;
	if (line->length < prefix)
		return false;
	length = snprintf(alert, sizeof(alert), ALERT "%.*s", (int)(line->length - prefix),
			  line->bytes + prefix);
	return length < (int)sizeof(alert) &&
	       memmem(kept, kept_size, alert, (size_t)length) != NULL;
}

static bool
log_contains(const struct line *line, const char *words)
{
	return memmem(line->bytes, line->length, words, strlen(words)) != NULL;
}

static bool
log_find_any(const char *kept, size_t kept_size, struct line *line)
{
	size_t size = eal_log.used;

	while (log_take_last(eal_log.held, &size, line)) {
		if (!log_is_alert(line, kept, kept_size))
			return true;
	}
	while (log_take_last(kept, &kept_size, line)) {
		if (strncmp(line->bytes, ALERT, strlen(ALERT)) != 0)
			return true;
	}
	size = eal_log.used;
	return log_take_last(eal_log.held, &size, line);
}

static char *
log_copy(bool found, const struct line *line, char *text, size_t size)
{
	snprintf(text, size, "%.*s", found ? (int)line->length : 0, found ? line->bytes : "");
	return text;
}

char *
lull_eal_log_last(char *text, size_t size)
{
	char kept[4096] = "";
	ssize_t kept_size = 0;
	struct line line;

	fflush(eal_log.stream);
	if (eal_log.holding && !eal_log.verbose)
		kept_size = pread(eal_log.kept_fd, kept, sizeof(kept) - 1, 0);
	return log_copy(log_find_any(kept, kept_size > 0 ? (size_t)kept_size : 0, &line), &line,
			text, size);
}

/* Take lines off the end until one contains @p words. */
static bool
log_take_until(size_t *size, const char *words, struct line *line)
{
	while (log_take_last(eal_log.held, size, line)) {
		if (log_contains(line, words))
			return true;
	}
	return false;
}

char *
lull_eal_log_with(const char *words, char *text, size_t size)
{
	size_t held = eal_log.used;
	struct line line;

	fflush(eal_log.stream);
	return log_copy(log_take_until(&held, words, &line), &line, text, size);
}

char *
lull_eal_log_vdev(const char *name, char *text, size_t size)
{
	static const char gave_up[] = "failed to initialize ";
	size_t held = eal_log.used;
	struct line first, line;
	char words[128];

	fflush(eal_log.stream);
	snprintf(words, sizeof(words), "%s%s device", gave_up, name);
	if (!log_take_until(&held, words, &first))
		return log_copy(false, NULL, text, size);
	/* Back to where the bus gave up on another device. */
	while (log_take_last(eal_log.held, &held, &line) && !log_contains(&line, gave_up) &&
	       !log_contains(&line, "EAL: "))
		first = line;
	return log_copy(true, &first, text, size);
}
