/* SPDX-License-Identifier: BSD-3-Clause */
#include "below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "message.h"

int
copy_below_open(int folder, const char *name, int flags, mode_t mode)
{
	const struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_NOFOLLOW | O_CLOEXEC),
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));

	/* A kernel before 5.6 has no such call, and some containers forbid it. The name is one
	 * component, so O_NOFOLLOW keeps it below too. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	return fd >= 0 ? fd : -errno;
}

static int
below_enter(int folder, const char *name)
{
	int fd = copy_below_open(folder, name, O_RDONLY | O_DIRECTORY, 0);

	if (fd == -ENOENT && (mkdirat(folder, name, 0777) == 0 || errno == EEXIST))
		fd = copy_below_open(folder, name, O_RDONLY | O_DIRECTORY, 0);
	return fd;
}

int
copy_below_parent(int folder, const char *path, const char **name)
{
	char part[NAME_MAX + 1];
	int rc = copy_path_check(path), fd, below;

	if (rc != 0)
		return rc;
	fd = fcntl(folder, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	while (strchr(path, '/') != NULL) {
		size_t len = strcspn(path, "/");

		memcpy(part, path, len);
		part[len] = '\0';
		path += len + 1;
		below = below_enter(fd, part);
		close(fd);
		if (below < 0)
			return below;
		fd = below;
	}
	*name = path;
	return fd;
}
