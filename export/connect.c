/* SPDX-License-Identifier: BSD-3-Clause */
#include "connect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKOFF_NS_MIN (100 * LULL_NS_PER_MS)
#define BACKOFF_NS_MAX (10 * LULL_NS_PER_S)
#define CONNECT_WAIT_MS 5000
/* Asked for; the system grants what it allows. */
#define SEND_BUFFER_BYTES (1 << 20)

static int
connect_file(struct sink_output *output, struct lull_error *error)
{
	const struct sink_destination *destination = &output->destination;
	int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
	struct stat stat;

	if (destination->way == SINK_STDOUT)
		output->fd = dup(STDOUT_FILENO);
	else
		output->fd =
			open(destination->path, flags | (output->config.first ? O_TRUNC : 0), 0666);
	if (output->fd < 0 || fstat(output->fd, &stat) != 0)
		return lull_error_set(error, -errno, "%s: %s", destination->text, strerror(errno));
	output->regular = S_ISREG(stat.st_mode);
	return 0;
}

static int
connect_resolve(struct sink_output *output, struct lull_error *error)
{
	const struct sink_destination *destination = &output->destination;
	struct addrinfo hints = {
		.ai_socktype = destination->way == SINK_UDP ? SOCK_DGRAM : SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV,
	};
	int rc = getaddrinfo(destination->host, destination->port, &hints, &output->addresses);

	if (rc != 0)
		return lull_error_set(error, -EADDRNOTAVAIL, "%s: %s", destination->text,
				      gai_strerror(rc));
	output->address = output->addresses;
	return 0;
}

static int
connect_datagram(struct sink_output *output, struct lull_error *error)
{
	const struct addrinfo *address;
	int bytes = SEND_BUFFER_BYTES, rc = connect_resolve(output, error);

	if (rc != 0)
		return rc;
	for (address = output->addresses; address != NULL; address = address->ai_next) {
		int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0) {
			(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
			output->fd = fd;
			output->counters->connects++;
			return 0;
		}
		rc = -errno;
		if (fd >= 0)
			close(fd);
	}
	return lull_error_set(error, rc, "%s: %s", output->destination.text, strerror(-rc));
}

int
sink_connect_open(struct sink_output *output, struct lull_error *error)
{
	output->fd = -1;
	output->backoff_ns = BACKOFF_NS_MIN;
	switch (output->destination.way) {
	case SINK_UDP:
		return connect_datagram(output, error);
	case SINK_TCP:
		return connect_resolve(output, error);
	case SINK_UNIX:
		return 0;
	default:
		return connect_file(output, error);
	}
}

void
sink_output_trouble(struct sink_output *output, int code)
{
	LULL_COUNTER_ADD(output->counters->errors, 1);
	if (output->trouble.text[0] == '\0')
		lull_error_set(&output->trouble, -code, "%s: %s", output->destination.text,
			       strerror(code));
}

void
sink_connect_lost(struct sink_output *output, int code)
{
	sink_output_trouble(output, code);
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	output->connecting = false;
	output->retry_ns = sink_clock_ns() + output->backoff_ns;
	output->backoff_ns = LULL_MIN(2 * output->backoff_ns, BACKOFF_NS_MAX);
	if (output->address != NULL && output->address->ai_next != NULL)
		output->address = output->address->ai_next;
	else
		output->address = output->addresses;
}

static void
connect_begin(struct sink_output *output)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	const struct addrinfo *address = output->address;
	bool is_unix = output->destination.way == SINK_UNIX;
	int rc;

	output->fd = socket(is_unix ? AF_UNIX : address->ai_family,
			    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (output->fd < 0) {
		sink_connect_lost(output, errno);
		return;
	}
	if (is_unix) {
		memcpy(local.sun_path, output->destination.path,
		       strlen(output->destination.path) + 1);
		rc = connect(output->fd, (const struct sockaddr *)&local, sizeof(local));
	} else {
		rc = connect(output->fd, address->ai_addr, address->ai_addrlen);
	}
	if (rc != 0 && errno != EINPROGRESS)
		sink_connect_lost(output, errno);
	else
		output->connecting = true;
}

static void
connect_end(struct sink_output *output)
{
	struct pollfd poll_fd = { .fd = output->fd, .events = POLLOUT };
	int code = 0;
	socklen_t size = sizeof(code);

	if (poll(&poll_fd, 1, 0) <= 0)
		return;
	if (getsockopt(output->fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0)
		code = errno;
	if (code != 0) {
		sink_connect_lost(output, code);
		return;
	}
	output->connecting = false;
	output->backoff_ns = BACKOFF_NS_MIN;
	LULL_COUNTER_ADD(output->counters->connects, 1);
}

bool
sink_connect_ready(struct sink_output *output)
{
	if (output->fd < 0 && sink_clock_ns() >= output->retry_ns)
		connect_begin(output);
	if (output->connecting)
		connect_end(output);
	return output->fd >= 0 && !output->connecting;
}

int
sink_connect_wait(struct sink_output *output, struct lull_error *error)
{
	const struct addrinfo *address = output->addresses;

	do {
		output->retry_ns = 0;
		if (!sink_connect_ready(output) && output->connecting) {
			struct pollfd poll_fd = { .fd = output->fd, .events = POLLOUT };

			if (poll(&poll_fd, 1, CONNECT_WAIT_MS) == 0)
				sink_connect_lost(output, ETIMEDOUT);
			else
				(void)sink_connect_ready(output);
		}
		if (output->fd >= 0 && !output->connecting) {
			output->trouble.text[0] = '\0';
			return 0;
		}
		address = address == NULL ? NULL : address->ai_next;
	} while (address != NULL);
	*error = output->trouble;
	return -ECONNREFUSED;
}
