/* SPDX-License-Identifier: BSD-3-Clause */
#include "socket.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WAITING_MAX 8

static int
socket_new(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Is it a socket that nobody listens on? */
static bool
socket_is_stale(const struct sockaddr_un *address)
{
	struct stat status;
	bool refused;
	int fd;

	if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
		return false;
	fd = socket_new();
	if (fd < 0)
		return false;
	refused = connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		  errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static int
socket_listen(int fd, const struct sockaddr_un *address)
{
	/* before there is a file, so that it never is anybody else's */
	if (fchmod(fd, S_IRUSR | S_IWUSR) != 0)
		return -errno;
	if (socket_is_stale(address))
		(void)unlink(address->sun_path);
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
		return -errno;
	if (listen(fd, WAITING_MAX) != 0) {
		int rc = -errno;

		(void)unlink(address->sun_path);
		return rc;
	}
	return 0;
}

int
view_socket_listen(const char *path, struct lull_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, rc;

	if (strlen(path) >= sizeof(address.sun_path))
		return lull_error_set(error, -ENAMETOOLONG,
				      "view: '%.*s' is too long, %zu bytes "
				      "at most",
				      LULL_ERROR_SHOWN, path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	fd = socket_new();
	rc = fd < 0 ? -errno : socket_listen(fd, &address);
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return lull_error_set(error, rc, "view: cannot listen at '%.*s': %s", LULL_ERROR_SHOWN,
			      path, strerror(-rc));
}
