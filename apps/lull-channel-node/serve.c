/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who attaches, and who is gone. A lock file beside the socket tells whether another program serves
 * there: it holds as long as that program lives, so what a killed one left is just taken over.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lull/rest.h>

#include "node.h"

#define SERVE_BACKLOG 64
#define SERVE_FACTS_NS (500 * LULL_NS_PER_MS)

enum { SERVE_LISTEN, SERVE_TOLD, SERVE_ASKING };

/* ---- ports ---- */

static void
serve_free(struct node_port *port)
{
	channel_lane_close(&port->lane);
	if (port->process_fd >= 0)
		close(port->process_fd);
	free(port);
}

static void
serve_detach(struct node_server *server, struct node_port *port)
{
	node_switch_lock(&server->loop->to);
	node_switch_remove(&server->loop->to, port);
	node_switch_unlock(&server->loop->to);
	node_loop_kick(server->loop);
	serve_free(port);
}

static uint32_t
serve_packet_bytes(const struct node_server *server, const struct node_port *port)
{
	return server->loop->to.rails[port->rail].rail->bundle.packet_bytes;
}

static void
serve_close(const int fds[CHANNEL_LANE_FDS])
{
	for (uint32_t i = 0; i < CHANNEL_LANE_FDS; i++)
		close(fds[i]);
}

static void
serve_facts(const struct node_server *server, struct node_port *port)
{
	const struct channel_rail *rail = server->loop->to.rails[port->rail].rail;
	struct channel_rail_facts facts;

	rail->way->facts(rail->state, &facts);
	atomic_store(&port->lane.shared->mtu_bytes, facts.mtu_bytes);
	atomic_store(&port->lane.shared->mbps, facts.mbps);
	atomic_store(&port->lane.shared->up, facts.up);
}

/* The process's side of the lane is the caller's. */
static int
serve_attach(struct node_server *server, struct node_port *port, uint32_t wanted,
	     int fds[CHANNEL_LANE_FDS])
{
	uint32_t packet_bytes = serve_packet_bytes(server, port);
	int both[2][CHANNEL_LANE_FDS], rc = channel_lane_make(packet_bytes, both);
	struct node_switch *to = &server->loop->to;

	if (rc != 0)
		return rc;
	memcpy(fds, both[CHANNEL_ATTACH_PROCESS], sizeof(both[0]));
	rc = channel_lane_open(&port->lane, both[CHANNEL_ATTACH_NODE], CHANNEL_ATTACH_NODE,
			       packet_bytes);
	if (rc == 0) {
		serve_facts(server, port);
		node_switch_lock(to);
		rc = node_switch_number(to, port->rail, wanted);
		if (rc > 0) {
			port->number = (uint32_t)rc;
			rc = node_switch_add(to, port);
		}
		node_switch_unlock(to);
	}
	if (rc != 0)
		serve_close(fds);
	return rc;
}

/* ---- meetings ---- */

/*
 * Each gets a side of a lane. Whoever cannot be told goes on through this program, and so does the
 * other when it sees that nobody has the other end.
 */
static void
serve_meeting(const struct node_server *server, const struct node_meeting *meeting)
{
	int fds[2][CHANNEL_LANE_FDS];

	if (channel_lane_make(serve_packet_bytes(server, meeting->ports[0]), fds) != 0)
		return;
	for (uint32_t i = 0; i < 2; i++) {
		struct channel_attach_meeting told = { .port = meeting->ports[1 - i]->number,
						       .side = i };

		(void)channel_attach_meet(meeting->ports[i]->process_fd, &told, fds[i]);
	}
	serve_close(fds[0]);
	serve_close(fds[1]);
}

static void
serve_meetings(struct node_server *server)
{
	struct node_switch *to = &server->loop->to;
	struct node_meeting meeting;
	bool more;

	do {
		node_switch_lock(to);
		more = node_switch_meeting(to, &meeting);
		node_switch_unlock(to);
		if (more) /* this thread alone removes ports */
			serve_meeting(server, &meeting);
	} while (more);
}

/* ---- requests ---- */

static void
serve_answer_rail(const struct node_server *server, const struct node_port *port,
		  struct channel_attach_answer *answer)
{
	answer->port = port->number;
	answer->rail = server->loop->to.rails[port->rail].rail->bundle;
	answer->rail.ring_pkts = LULL_MIN(answer->rail.ring_pkts, CHANNEL_RING_PKTS);
	answer->rail.address.bytes[answer->rail.address.len_bytes++] = (uint8_t)port->number;
	answer->rail.address.bytes[answer->rail.address.len_bytes++] = (uint8_t)(port->number >> 8);
}

static int
serve_port(struct node_server *server, int fd, const struct channel_attach_request *request,
	   struct channel_attach_answer *answer)
{
	struct node_port *port = calloc(1, sizeof(*port));
	int fds[CHANNEL_LANE_FDS], rc;

	if (port == NULL)
		return -ENOMEM;
	port->rail = request->rail;
	port->process_fd = port->lane.bell_fd = -1;
	rc = channel_attach_uid(fd, &port->uid);
	if (rc == 0)
		rc = serve_attach(server, port, request->port, fds);
	if (rc != 0) {
		serve_free(port);
		return rc;
	}
	serve_answer_rail(server, port, answer);
	port->process_fd = fd;
	node_loop_kick(server->loop);
	rc = channel_attach_reply(fd, answer, fds);
	serve_close(fds);
	if (rc != 0)
		serve_detach(server, port); /* gone already */
	else
		server->attached++;
	return 0;
}

/* True: the connection is somebody else's now, or closed. */
static bool
serve_request(struct node_server *server, int fd)
{
	struct channel_attach_answer answer = { .rail_count = server->loop->to.rail_count };
	struct channel_attach_request request;
	int rc = channel_attach_request_read(fd, &request);

	if (rc == -EAGAIN)
		return false;
	if (rc == 0 && request.rail < server->loop->to.rail_count) {
		rc = serve_port(server, fd, &request, &answer);
		if (rc == 0)
			return true;
	} else if (rc == 0 && request.rail != CHANNEL_ATTACH_COUNT) {
		rc = -ENODEV;
	}
	server->refused += rc != 0;
	answer.error = rc;
	if (rc != -ECONNRESET)
		channel_attach_reply(fd, &answer, NULL);
	close(fd);
	return true;
}

/* Who came first and does not ask makes room. */
static void
serve_accept(struct node_server *server)
{
	int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (channel_attach_allowed(fd) != 0) {
		server->refused++;
		close(fd);
		return;
	}
	if (server->asking_count == NODE_ASKING_MAX) {
		close(server->asking[0]);
		memmove(&server->asking[0], &server->asking[1],
			--server->asking_count * sizeof(server->asking[0]));
	}
	server->asking[server->asking_count++] = fd;
}

static void
serve_asking(struct node_server *server, const struct pollfd *polls, uint32_t count)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++)
		if (polls[i].revents == 0 || !serve_request(server, server->asking[i]))
			server->asking[left++] = server->asking[i];
	server->asking_count = left;
}

/* ---- waiting ---- */

/* An attached process has nothing to say: what comes is its end. @p polls are of all, in order. */
static void
serve_ports(struct node_server *server, const struct pollfd *polls)
{
	struct node_switch *to = &server->loop->to;
	uint64_t now_ns = lull_clock_ns();
	bool facts = now_ns - server->facts_ns >= SERVE_FACTS_NS;

	for (uint32_t i = 0; i < to->port_high; i++) {
		struct node_port *port = to->ports[i]; /* this thread alone changes them */

		if (port == NULL)
			continue;
		if (polls++->revents != 0 || port->broken)
			serve_detach(server, port);
		else if (facts)
			serve_facts(server, port);
	}
	if (facts)
		server->facts_ns = now_ns;
}

void
node_serve(struct node_server *server, int limit_ms)
{
	const struct node_switch *to = &server->loop->to;
	struct pollfd *polls = server->polls;
	uint32_t asking = server->asking_count, count = SERVE_ASKING;
	uint64_t told;

	polls[SERVE_LISTEN] = (struct pollfd){ .fd = server->listen_fd, .events = POLLIN };
	polls[SERVE_TOLD] = (struct pollfd){ .fd = server->loop->told_fd, .events = POLLIN };
	for (uint32_t i = 0; i < asking; i++)
		polls[count++] = (struct pollfd){ .fd = server->asking[i], .events = POLLIN };
	for (uint32_t i = 0; i < to->port_high; i++)
		if (to->ports[i] != NULL)
			polls[count++] =
				(struct pollfd){ .fd = to->ports[i]->process_fd, .events = POLLIN };
	if (poll(polls, count, limit_ms) < 0)
		return;
	if (polls[SERVE_TOLD].revents != 0)
		(void)!read(server->loop->told_fd, &told, sizeof(told));
	serve_ports(server, &polls[SERVE_ASKING + asking]);
	serve_meetings(server);
	serve_asking(server, &polls[SERVE_ASKING], asking);
	if (polls[SERVE_LISTEN].revents != 0)
		serve_accept(server);
}

/* ---- open and close ---- */

static int
serve_lock(struct node_server *server, struct lull_error *error)
{
	char path[CHANNEL_ATTACH_PATH_SIZE + 8];

	snprintf(path, sizeof(path), "%s.lock", server->path);
	server->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (server->lock_fd < 0)
		return lull_error_set(error, -errno, "socket %s: cannot make its lock file: %s",
				      server->path, strerror(errno));
	if (flock(server->lock_fd, LOCK_EX | LOCK_NB) != 0)
		return lull_error_set(error, -EADDRINUSE,
				      "socket %s: another lull-channel-node serves there; end it, "
				      "or name another socket",
				      server->path);
	return 0;
}

static int
serve_listen(struct node_server *server, struct lull_error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat seen;
	mode_t mask;
	int rc;

	if (lstat(server->path, &seen) == 0 && !S_ISSOCK(seen.st_mode))
		return lull_error_set(error, -EEXIST, "socket %s: it is another kind of file",
				      server->path);
	unlink(server->path);
	strcpy(address.sun_path, server->path);
	server->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	rc = server->listen_fd < 0 ||
			     bind(server->listen_fd, (const struct sockaddr *)&address,
				  sizeof(address)) != 0 ||
			     listen(server->listen_fd, SERVE_BACKLOG) != 0 ?
		     -errno :
		     0;
	umask(mask);
	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "socket %s: %s", server->path, strerror(-rc));
}

int
node_serve_open(struct node_server *server, const char *words, struct lull_error *error)
{
	int rc = channel_attach_path(words, true, server->path, error);

	if (rc == 0)
		rc = serve_lock(server, error);
	return rc == 0 ? serve_listen(server, error) : rc;
}

void
node_serve_close(struct node_server *server)
{
	struct node_switch *to = &server->loop->to;

	for (uint32_t i = 0; i < server->asking_count; i++)
		close(server->asking[i]);
	for (uint32_t i = 0; i < to->port_high; i++)
		if (to->ports[i] != NULL)
			serve_detach(server, to->ports[i]);
	if (server->listen_fd >= 0) {
		unlink(server->path);
		close(server->listen_fd);
	}
	/* The lock file stays: who waits for it may have opened it. */
	if (server->lock_fd >= 0)
		close(server->lock_fd);
}
