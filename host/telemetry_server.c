/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The telemetry socket of a program without DPDK's environment. It speaks as DPDK's does, version
 * 2, so that clients of one are clients of the other: SOCK_SEQPACKET, a greeting, then one reply
 * per request "/command,parameters".
 *
 * One thread serves all clients, ten at most. It never waits for one: who sends what is no request,
 * or does not take its replies, is hung up on.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "background.h"
#include "telemetry_request.h"

#define CLIENTS_MAX 10
#define NAMES 10 /* of sockets in one folder: dpdk_telemetry.v2, dpdk_telemetry.v2:1 ... */
/* Without a file for another client the next try comes so much later. */
#define RETRY_MS 100

enum { POLL_STOP, POLL_LISTEN, POLL_CLIENT };

static struct {
	const struct lull_telemetry_carrier *carrier;
	const struct lull_telemetry_config *config; /* NULL: there is no socket */
	pthread_t thread;
	uint32_t client_count;
	struct pollfd polls[POLL_CLIENT + CLIENTS_MAX];
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct sockaddr_un address;
	struct lull_telemetry_json json;
} server;

/* ---- clients ---- */

static bool
server_send(int fd, const char *bytes, size_t size)
{
	return send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size;
}

/* One request; false: hang up. */
static bool
server_serve(int fd)
{
	char request[LULL_TELEMETRY_REQUEST_BYTES];
	ssize_t size = recv(fd, request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0)
		return errno == EAGAIN || errno == EINTR;
	return lull_telemetry_request(request, (size_t)size, server.config->version,
				      &server.json) &&
	       server_send(fd, server.json.bytes, server.json.used);
}

static void
server_accept(void)
{
	char version[LULL_TELEMETRY_VERSION_SIZE], greeting[128];
	int fd = accept4(server.polls[POLL_LISTEN].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int length;

	if (fd < 0) {
		/* Out of files: that client keeps the socket readable until there is one. */
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			server.polls[POLL_LISTEN].events = 0;
		return;
	}
	length = snprintf(greeting, sizeof(greeting),
			  "{\"version\":\"%s\",\"pid\":%d,\"max_output_len\":%d}",
			  lull_telemetry_version(server.config->version, version), (int)getpid(),
			  LULL_TELEMETRY_REPLY_BYTES);
	if (server.client_count == CLIENTS_MAX || !server_send(fd, greeting, (size_t)length)) {
		close(fd);
		return;
	}
	server.polls[POLL_CLIENT + server.client_count++] =
		(struct pollfd){ .fd = fd, .events = POLLIN };
}

static void
server_hang_up(uint32_t index)
{
	close(server.polls[POLL_CLIENT + index].fd);
	server.polls[POLL_CLIENT + index] = server.polls[POLL_CLIENT + --server.client_count];
}

static void *
server_run(void *arg)
{
	struct pollfd *polls = server.polls;

	while (polls[POLL_STOP].revents == 0) {
		bool waits = polls[POLL_LISTEN].events == 0;

		if (poll(polls, POLL_CLIENT + server.client_count, waits ? RETRY_MS : -1) < 0)
			continue;
		/* From the last: one that goes leaves its place to one that was served. */
		for (uint32_t i = server.client_count; i-- > 0;) {
			if (polls[POLL_CLIENT + i].revents != 0 &&
			    !server_serve(polls[POLL_CLIENT + i].fd))
				server_hang_up(i);
		}
		if (polls[POLL_LISTEN].revents != 0)
			server_accept();
		else if (waits)
			polls[POLL_LISTEN].events = POLLIN;
	}
	while (server.client_count > 0)
		server_hang_up(server.client_count - 1);
	return arg;
}

/* ---- socket ---- */

/* Where DPDK has its own: for root, for users, without XDG. */
static int
server_make_folders(const char *program)
{
	const char *directory = getenv("RUNTIME_DIRECTORY");
	size_t size = sizeof(server.folder);
	struct stat seen;

	if (directory == NULL)
		directory = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	if (directory == NULL)
		directory = "/tmp";
	snprintf(server.folder, size, "%s/dpdk", directory);
	if (mkdir(server.folder, 0700) != 0 && errno != EEXIST)
		return -errno;
	if (snprintf(server.folder, size, "%s/dpdk/%s-%d", directory, program, (int)getpid()) >=
	    (int)size)
		return -ENAMETOOLONG;
	if (mkdir(server.folder, 0700) != 0 && errno != EEXIST)
		return -errno;
	if (lstat(server.folder, &seen) != 0)
		return -errno;
	/* Somebody else's would let that one in. */
	return S_ISDIR(seen.st_mode) && seen.st_uid == geteuid() ? 0 : -EPERM;
}

/* Does nobody listen there? */
static bool
server_stale(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool stale = fd >= 0 &&
		     connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		     errno == ECONNREFUSED;

	if (fd >= 0)
		close(fd);
	return stale;
}

/* One that an earlier program with our number left is removed; one that lives stays. */
static int
server_bind(int fd)
{
	struct sockaddr_un *address = &server.address;
	size_t size = sizeof(address->sun_path);

	address->sun_family = AF_UNIX;
	for (int i = 0; i < NAMES; i++) {
		char number[8] = "";

		if (i > 0)
			snprintf(number, sizeof(number), ":%d", i);
		if (snprintf(address->sun_path, size, "%s/dpdk_telemetry.v2%s", server.folder,
			     number) >= (int)size)
			return -ENAMETOOLONG;
		if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
			return 0;
		if (errno != EADDRINUSE)
			return -errno;
		if (!server_stale(address))
			continue;
		unlink(address->sun_path);
		if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
			return 0;
	}
	return -EADDRINUSE;
}

static void
server_close(void)
{
	for (int i = POLL_STOP; i < POLL_CLIENT; i++) {
		if (server.polls[i].fd >= 0)
			close(server.polls[i].fd);
	}
	if (server.address.sun_path[0] != '\0')
		unlink(server.address.sun_path);
	if (server.folder[0] != '\0')
		rmdir(server.folder);
	memset(&server.address, 0, sizeof(server.address));
	server.folder[0] = '\0';
	server.config = NULL;
}

static int
server_listen(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), rc;

	server.polls[POLL_LISTEN] = (struct pollfd){ .fd = fd, .events = POLLIN };
	server.polls[POLL_STOP] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
	if (fd < 0 || stop_fd < 0)
		return -errno;
	rc = server_bind(fd);
	if (rc != 0) {
		server.address.sun_path[0] = '\0'; /* not ours */
		return rc;
	}
	return listen(fd, CLIENTS_MAX) == 0 ? 0 : -errno;
}

/* Signals are for the program's own threads. */
static int
server_start_thread(void)
{
	return lull_background_start(&server.thread, NULL, "lull-telemetry", server_run);
}

/* ---- start and stop ---- */

void
lull_telemetry_carry(const struct lull_telemetry_carrier *carrier)
{
	server.carrier = carrier;
}

int
lull_telemetry_start(const struct lull_telemetry_config *config)
{
	int rc;

	if (server.carrier != NULL)
		return server.carrier->start(config);
	if (server.config != NULL)
		return -EALREADY;
	server.config = config;
	server.polls[POLL_STOP].fd = server.polls[POLL_LISTEN].fd = -1;
	lull_telemetry_begin(config, &lull_telemetry_own_loops, "");
	rc = server_make_folders(config->program);
	if (rc == 0)
		rc = server_listen();
	if (rc == 0)
		rc = server_start_thread();
	if (rc != 0) {
		server_close();
		lull_telemetry_end();
	}
	return rc;
}

void
lull_telemetry_stop(void)
{
	if (server.config != NULL) {
		eventfd_write(server.polls[POLL_STOP].fd, 1);
		pthread_join(server.thread, NULL);
		server_close();
	}
	lull_telemetry_end();
}
