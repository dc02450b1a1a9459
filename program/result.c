/* SPDX-License-Identifier: BSD-3-Clause */
#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40
#define DUMP_FLAGS (JSON_INDENT(2) | JSON_REAL_PRECISION(12))

/* Where a result goes. */
struct target {
	char path[PATH_MAX];    /* links followed */
	char tmp[PATH_MAX + 4]; /* "": written in place */
	mode_t mode;            /* of the file it replaces; 0: none */
};

json_t *
lull_result_count(uint64_t value)
{
	return value <= INT64_MAX ? json_integer((json_int_t)value) : json_null();
}

json_t *
lull_result_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *
lull_result_text(const char *text)
{
	char *copy = strdup(text);
	json_t *string = copy == NULL ? NULL : json_string(lull_text_clean(copy));

	free(copy);
	return string;
}

static int
complain(const char *path, int code, struct lull_error *error)
{
	const char *advice = "";

	if (code == -ENOSPC || code == -EDQUOT || code == -EFBIG)
		advice = ": free some space or name a file elsewhere";
	else if (code == -ENOENT || code == -ENOTDIR)
		advice = ": make the folder first";
	return lull_error_set(error, code, "cannot write %s: %s%s",
			      strcmp(path, "-") == 0 ? "to stdout" : path, strerror(-code), advice);
}

/* -errno of what failed last, -EIO if it did not say. */
static int
last_error(void)
{
	return errno != 0 ? -errno : -EIO;
}

/* A link that leads nowhere yet: its target is to be made, and the link stays. */
static int
target_follow(struct target *target)
{
	for (int links = 0; links < LINKS_MAX; links++) {
		char *base = strrchr(target->path, '/'), to[PATH_MAX];
		size_t folder = base == NULL ? 0 : (size_t)(base - target->path) + 1;
		ssize_t len = readlink(target->path, to, sizeof(to) - 1);

		if (len < 0)
			return 0;
		to[len] = '\0';
		if (to[0] == '/')
			folder = 0;
		if (folder + (size_t)len >= sizeof(target->path))
			return -ENAMETOOLONG;
		memcpy(target->path + folder, to, (size_t)len + 1);
	}
	return -ELOOP;
}

static int
target_find(const char *path, struct target *target)
{
	struct stat status;

	*target = (struct target){ .mode = 0 };
	if (strlen(path) >= sizeof(target->path))
		return -ENAMETOOLONG;
	strcpy(target->path, path);
	if (stat(path, &status) == 0) {
		/* Renaming over /dev/stdout would replace the device. */
		if (!S_ISREG(status.st_mode))
			return 0;
		if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 ||
		    realpath(path, target->path) == NULL)
			return -errno;
		target->mode = status.st_mode & 07777;
	} else {
		int code = errno == ENOENT ? target_follow(target) : -errno;

		if (code != 0)
			return code;
	}
	snprintf(target->tmp, sizeof(target->tmp), "%s.tmp", target->path);
	return 0;
}

static int
target_open(const struct target *target, FILE **stream)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	bool in_place = target->tmp[0] == '\0';
	int fd;

	if (in_place) {
		fd = open(target->path, O_WRONLY | O_CLOEXEC);
	} else {
		fd = open(target->tmp, flags, 0666);
		/* Left by a run that was killed. */
		if (fd < 0 && errno == EEXIST && unlink(target->tmp) == 0)
			fd = open(target->tmp, flags, 0666);
	}
	if (fd < 0)
		return -errno;
	*stream = fdopen(fd, "w");
	if (*stream != NULL)
		return 0;
	close(fd);
	return -ENOMEM;
}

static int
stream_write(FILE *stream, const json_t *result)
{
	errno = 0;
	if (json_dumpf(result, stream, DUMP_FLAGS) != 0 || fputc('\n', stream) == EOF ||
	    fflush(stream) != 0)
		return last_error();
	return 0;
}

/* Everything between open and rename; closes the stream in any case. */
static int
target_write(const struct target *target, FILE *stream, const json_t *result)
{
	bool in_place = target->tmp[0] == '\0';
	int code = stream_write(stream, result);

	errno = 0;
	if (code == 0 && !in_place && target->mode != 0 &&
	    fchmod(fileno(stream), target->mode) != 0)
		code = last_error();
	if (code == 0 && !in_place && fsync(fileno(stream)) != 0)
		code = last_error();
	if (fclose(stream) != 0 && code == 0)
		code = last_error();
	if (code == 0 && !in_place && rename(target->tmp, target->path) != 0)
		code = last_error();
	return code;
}

int
lull_result_write(const char *path, const json_t *result, struct lull_error *error)
{
	struct target target;
	FILE *stream;
	int code;

	if (strcmp(path, "-") == 0) {
		code = stream_write(stdout, result);
		return code == 0 ? 0 : complain(path, code, error);
	}
	code = target_find(path, &target);
	if (code == 0)
		code = target_open(&target, &stream);
	if (code != 0)
		return complain(path, code, error);
	code = target_write(&target, stream, result);
	if (code == 0)
		return 0;
	if (target.tmp[0] != '\0')
		unlink(target.tmp);
	return complain(path, code, error);
}

int
lull_result_check(const char *path, struct lull_error *error)
{
	struct target target;
	FILE *stream;
	int code;

	if (strcmp(path, "-") == 0)
		return 0;
	code = target_find(path, &target);
	/* Opening a pipe would wait for its reader. */
	if (code == 0 && target.tmp[0] == '\0')
		code = faccessat(AT_FDCWD, target.path, W_OK, AT_EACCESS) == 0 ? 0 : -errno;
	else if (code == 0)
		code = target_open(&target, &stream);
	if (code != 0)
		return complain(path, code, error);
	if (target.tmp[0] != '\0') {
		fclose(stream);
		unlink(target.tmp);
	}
	return 0;
}
