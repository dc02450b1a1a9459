/* SPDX-License-Identifier: BSD-3-Clause */
#include "connect.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKOFF_NS_MIN (100 * LULL_NS_PER_MS)
#define BACKOFF_NS_MAX (10 * LULL_NS_PER_S)
#define CONNECT_WAIT_MS 5000
/* A collector of datagrams may move: its name is looked up so often. */
#define NAMES_NS (60 * LULL_NS_PER_S)
/* Asked for; the system grants what it allows. */
#define SEND_BUFFER_BYTES (1 << 20)
/* A silent connection is probed after a third of its time, three times. */
#define KEEPALIVE_PROBES 3

/* ---- opening ---- */

/* What is neither a regular file nor to become one is written in place. */
static int
connect_device(struct sink_output *output, struct lull_error *error)
{
	const struct sink_destination *destination = &output->destination;

	if (destination->way == SINK_STDOUT)
		output->fd = dup(STDOUT_FILENO);
	else
		output->fd = open(destination->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
	if (output->fd < 0)
		return lull_error_set(error, -errno, "%s: %s", destination->text, strerror(errno));
	return 0;
}

static int
connect_resolve(struct sink_output *output, struct lull_error *error)
{
	const struct sink_destination *destination = &output->destination;
	int rc = sink_names_open(destination->host, destination->port,
				 destination->way == SINK_UDP ? SOCK_DGRAM : SOCK_STREAM,
				 !output->config.blocking, &output->names, error);

	if (rc != 0) {
		lull_error_prefix(error, "%s: ", destination->text);
		return rc;
	}
	output->address = sink_names_first(output->names);
	output->named_ns = sink_clock_ns();
	return 0;
}

/* Of the addresses the first that has a route; 0 or an errno. */
static int
connect_datagram(struct sink_output *output)
{
	int bytes = SEND_BUFFER_BYTES, code = EADDRNOTAVAIL;

	for (const struct addrinfo *address = sink_names_first(output->names); address != NULL;
	     address = address->ai_next) {
		int fd = socket(address->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd >= 0 && connect(fd, address->ai_addr, address->ai_addrlen) == 0) {
			(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
			if (output->fd >= 0)
				close(output->fd);
			output->fd = fd;
			LULL_COUNTER_ADD(output->counters->connects, 1);
			return 0;
		}
		code = errno;
		if (fd >= 0)
			close(fd);
	}
	return code;
}

static int
connect_open_datagram(struct sink_output *output, struct lull_error *error)
{
	int rc = connect_resolve(output, error), code;

	if (rc != 0)
		return rc;
	code = connect_datagram(output);
	/* Live, its network or its name server may come later. */
	if (code != 0 && output->config.blocking)
		return lull_error_set(error, -code, "%s: %s", output->destination.text,
				      strerror(code));
	if (code != 0)
		sink_connect_pause(output, code);
	return 0;
}

int
sink_connect_open(struct sink_output *output, struct lull_error *error)
{
	output->fd = -1;
	output->backoff_ns = BACKOFF_NS_MIN;
	switch (output->destination.way) {
	case SINK_UDP:
		return connect_open_datagram(output, error);
	case SINK_TCP:
		return connect_resolve(output, error);
	case SINK_UNIX:
		return 0;
	default:
		return connect_device(output, error);
	}
}

/* ---- trouble ---- */

void
sink_output_trouble(struct sink_output *output, int code)
{
	sink_count_error(output->counters, code);
	if (output->trouble.text[0] == '\0')
		lull_error_set(&output->trouble, -code, "%s: %s", output->destination.text,
			       strerror(code));
}

/* Not before some time has passed, and longer each time. */
static void
connect_later(struct sink_output *output, int code, const char *reason)
{
	sink_output_trouble(output, code);
	sink_health_down(output->health, reason != NULL ? reason : strerrordesc_np(code));
	output->retry_ns = sink_clock_ns() + output->backoff_ns;
	output->backoff_ns = LULL_MIN(2 * output->backoff_ns, BACKOFF_NS_MAX);
}

/* The next address; behind the last one the name is looked up anew. */
static void
connect_next_address(struct sink_output *output)
{
	if (output->names == NULL)
		return;
	if (output->address != NULL)
		output->address = output->address->ai_next;
	if (output->address == NULL)
		sink_names_ask(output->names);
}

static void
connect_close(struct sink_output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	output->connecting = false;
}

void
sink_connect_lost(struct sink_output *output, int code)
{
	connect_close(output);
	connect_later(output, code, NULL);
	connect_next_address(output);
}

/* ---- streams ---- */

/* A peer that vanished without a word is noticed, whether something is sent or not. */
static void
connect_guard(const struct sink_output *output)
{
	int yes = 1, probes = KEEPALIVE_PROBES;
	unsigned int ms = (unsigned int)(output->config.timeout_ns / LULL_NS_PER_MS);
	int part_s = (int)LULL_MAX(ms / 1000 / (KEEPALIVE_PROBES + 1), 1u);

	(void)setsockopt(output->fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
	(void)setsockopt(output->fd, IPPROTO_TCP, TCP_KEEPIDLE, &part_s, sizeof(part_s));
	(void)setsockopt(output->fd, IPPROTO_TCP, TCP_KEEPINTVL, &part_s, sizeof(part_s));
	(void)setsockopt(output->fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	(void)setsockopt(output->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

/* Use what was found meanwhile, else what was known before; false: there is no address yet. */
static bool
connect_address(struct sink_output *output)
{
	const char *reason;

	if (output->address != NULL)
		return true;
	(void)sink_names_take(output->names, &reason);
	output->address = sink_names_first(output->names);
	if (output->address != NULL)
		return true;
	connect_later(output, EADDRNOTAVAIL, reason);
	sink_names_ask(output->names);
	return false;
}

static void
connect_begin(struct sink_output *output)
{
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	bool is_unix = output->destination.way == SINK_UNIX;
	int rc;

	if (!is_unix && !connect_address(output))
		return;
	output->fd = socket(is_unix ? AF_UNIX : output->address->ai_family,
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
		connect_guard(output);
		rc = connect(output->fd, output->address->ai_addr, output->address->ai_addrlen);
	}
	if (rc != 0 && errno != EINPROGRESS) {
		sink_connect_lost(output, errno);
		return;
	}
	output->connecting = true;
	output->begun_ns = sink_clock_ns();
}

static void
connect_end(struct sink_output *output)
{
	struct pollfd poll_fd = { .fd = output->fd, .events = POLLOUT };
	int code = 0;
	socklen_t size = sizeof(code);

	if (poll(&poll_fd, 1, 0) <= 0) {
		if (sink_clock_ns() - output->begun_ns > output->config.timeout_ns)
			sink_connect_lost(output, ETIMEDOUT);
		return;
	}
	if (getsockopt(output->fd, SOL_SOCKET, SO_ERROR, &code, &size) != 0)
		code = errno;
	if (code != 0) {
		sink_connect_lost(output, code);
		return;
	}
	output->connecting = false;
	output->backoff_ns = BACKOFF_NS_MIN;
	sink_health_up(output->health);
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

/* Each address once; their list stays, because nothing is looked up again before all were tried. */
int
sink_connect_wait(struct sink_output *output, struct lull_error *error)
{
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
	} while (output->address != NULL);
	*error = output->trouble;
	return -ECONNREFUSED;
}

/* ---- datagrams ---- */

static bool
connect_is_peer(const struct sink_output *output, const struct addrinfo *address)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof(peer);

	return output->fd >= 0 &&
	       getpeername(output->fd, (struct sockaddr *)(void *)&peer, &size) == 0 &&
	       size == address->ai_addrlen && memcmp(&peer, address->ai_addr, size) == 0;
}

bool
sink_connect_moved(struct sink_output *output)
{
	uint64_t now_ns = sink_clock_ns();
	const char *reason;
	int code;

	if (now_ns - output->named_ns >= NAMES_NS) {
		output->named_ns = now_ns;
		sink_names_ask(output->names);
	}
	if (!sink_names_take(output->names, &reason) && output->fd >= 0)
		return false;
	for (const struct addrinfo *address = sink_names_first(output->names); address != NULL;
	     address = address->ai_next) {
		if (connect_is_peer(output, address))
			return false;
	}
	if (output->fd < 0 && now_ns < output->retry_ns)
		return false;
	code = connect_datagram(output);
	if (code != 0)
		sink_connect_pause(output, code);
	return code == 0;
}

void
sink_connect_pause(struct sink_output *output, int code)
{
	connect_later(output, code, NULL);
	output->probing = false;
	sink_names_ask(output->names);
}

void
sink_connect_sent(struct sink_output *output)
{
	if (!output->health->down)
		return;
	if (output->probing) {
		output->backoff_ns = BACKOFF_NS_MIN;
		sink_health_up(output->health);
		return;
	}
	output->probing = true;
	output->retry_ns = sink_clock_ns() + BACKOFF_NS_MIN;
}
