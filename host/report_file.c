/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAGS (O_RDWR | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC)

/* What this file says and not what its path says: the path may be another one by now. */
static bool
report_is_ours(int file, const char *first)
{
	char found[LULL_REPORT_FIRST_MAX];
	size_t size = strnlen(first, sizeof(found));
	struct stat about;

	if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
	    about.st_nlink != 1)
		return false;
	if (about.st_size == 0)
		return true;
	return pread(file, found, size, 0) == (ssize_t)size && memcmp(found, first, size) == 0;
}

static int
report_fail(int rc, const char **why)
{
	if (rc == -ELOOP)
		*why = "it is a symbolic link, which is not followed; name the file itself";
	else if (rc == -EEXIST)
		*why = "it is there and no earlier report of this user; name another file";
	else
		*why = strerror(-rc);
	return rc;
}

static int
report_empty(int file, const char *first, const char **why)
{
	int rc = report_is_ours(file, first) ? 0 : -EEXIST;

	if (rc == 0 && ftruncate(file, 0) != 0)
		rc = -errno;
	if (rc == 0)
		return file;
	close(file);
	return report_fail(rc, why);
}

int
lull_report_file_open(const char *path, const char *first, const char **why)
{
	int file = open(path, FLAGS | O_CREAT | O_EXCL, 0644);

	if (file >= 0)
		return file;
	if (errno != EEXIST)
		return report_fail(-errno, why);
	file = open(path, FLAGS);
	return file >= 0 ? report_empty(file, first, why) : report_fail(-errno, why);
}
