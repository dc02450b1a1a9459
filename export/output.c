/* SPDX-License-Identifier: BSD-3-Clause */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "connect.h"

/* Datagrams that may leave at once: small beside any receiver's buffer. */
#define PACE_BURST 16
/*
 * Datagrams per second, where nobody has said: flows that end together wait in the queue and leave
 * as a collector with an ordinary buffer can read them; only a queue more than half full hurries.
 */
#define PACE_PPS 1000
#define PACE_PPS_MAX 10000
/* Units per call: a bound on an iteration. */
#define ITERATION_UNITS 64
/* A full disk is asked again after so long. */
#define WRITE_RETRY_NS LULL_NS_PER_S
#define WAIT_MS 20
#define WAIT_DATAGRAM_NS (200 * LULL_NS_PER_US)
/* Nobody took anything for so long: a blocking output gives up, unless it is a pipe. */
#define STALL_NS (10 * LULL_NS_PER_S)

uint64_t
sink_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}

static bool
output_is_stream(const struct sink_output *output)
{
	return output->destination.way == SINK_TCP || output->destination.way == SINK_UNIX;
}

int
sink_output_open(struct sink_output *output, const struct sink_destination *destination,
		 const struct sink_job *job, bool linked, struct lull_error *error)
{
	const struct flow_sink_settings *settings = job->settings;
	int rc = 0;

	output->destination = *destination;
	output->config = (struct sink_output_config){
		.queue_bytes = settings->queue_bytes,
		.datagrams_pps = settings->datagrams_pps,
		.timeout_ns = settings->timeout_ns,
		.blocking = settings->ordered,
		.linked = linked,
	};
	output->counters = job->counters;
	output->health = job->health;
	output->file = job->file;
	output->fd = -1;
	if (output->file != NULL)
		output->volume = sink_volume_join(output->file);
	else
		rc = sink_connect_open(output, error);
	if (rc == 0 && output_is_stream(output) && settings->ordered)
		rc = sink_connect_wait(output, error);
	if (rc == 0 && sink_queue_open(&output->queue, settings->queue_bytes) != 0)
		rc = lull_error_set(error, -ENOMEM, "%s: no memory for its queue",
				    destination->text);
	if (rc != 0)
		sink_output_close(output);
	return rc;
}

static void
output_drop(struct sink_output *output, uint64_t *cause)
{
	sink_count_drops(output->counters, cause, sink_queue_front(&output->queue)->records);
	sink_queue_pop(&output->queue);
	output->part = 0;
}

void
sink_output_close(struct sink_output *output)
{
	while (output->queue.bytes != NULL && output->queue.count > 0)
		output_drop(output, &output->counters->drop_end);
	sink_queue_close(&output->queue);
	sink_names_close(output->names);
	if (output->fd >= 0)
		close(output->fd);
	if (output->volume != NULL)
		sink_volume_leave(output->file, output->volume);
	output->names = NULL;
	output->volume = NULL;
	output->fd = -1;
}

/* ---- sending ---- */

static ssize_t
output_send_stream(struct sink_output *output, const uint8_t *bytes, size_t len)
{
	uint8_t byte;

	/* The other end has closed: what is written now would vanish. */
	if (recv(output->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
		errno = EPIPE;
		return -1;
	}
	return send(output->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A pipe that poll() finds writable has room for PIPE_BUF bytes: writing does not block. */
static ssize_t
output_send_pipe(const struct sink_output *output, const uint8_t *bytes, size_t len)
{
	struct pollfd poll_fd = { .fd = output->fd, .events = POLLOUT };

	if (poll(&poll_fd, 1, 0) <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(output->fd, bytes, LULL_MIN(len, (size_t)PIPE_BUF));
}

static uint64_t
output_gap_ns(const struct sink_output *output)
{
	uint64_t used = output->queue.used, half = output->queue.size / 2, pps = PACE_PPS;

	if (output->config.datagrams_pps > 0)
		return LULL_NS_PER_S / output->config.datagrams_pps;
	/* What blocks fills its queue always, and has time. */
	if (!output->config.blocking && used > half)
		pps += (PACE_PPS_MAX - PACE_PPS) * (used - half) / half;
	return LULL_NS_PER_S / pps;
}

static ssize_t
output_send_datagram(struct sink_output *output, const uint8_t *bytes, size_t len)
{
	uint64_t now_ns = sink_clock_ns(), gap_ns = output_gap_ns(output);
	ssize_t sent;

	if (now_ns < output->pace_ns || output->fd < 0) {
		errno = EAGAIN;
		return -1;
	}
	sent = send(output->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0 && errno == ECONNREFUSED && output->config.blocking) {
		/* Tells of an earlier datagram and takes this one's place. */
		sink_output_trouble(output, errno);
		sent = send(output->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
	if (sent < 0)
		return sent;
	output->pace_ns =
		gap_ns + LULL_MAX(output->pace_ns, now_ns - LULL_MIN(now_ns, PACE_BURST * gap_ns));
	sink_connect_sent(output);
	return sent;
}

static ssize_t
output_send_file(struct sink_output *output, const uint8_t *bytes, size_t len)
{
	int code = sink_volume_write(output->volume, bytes, len);

	if (code == 0) {
		sink_health_up(output->health);
		return (ssize_t)len;
	}
	errno = code;
	return -1;
}

static ssize_t
output_send(struct sink_output *output, const uint8_t *bytes, size_t len)
{
	if (output->file != NULL)
		return output_send_file(output, bytes, len);
	if (output->destination.way == SINK_UDP)
		return output_send_datagram(output, bytes, len);
	if (output_is_stream(output))
		return output_send_stream(output, bytes, len);
	return output_send_pipe(output, bytes, len);
}

/* What waits depends on what was sent to somebody else. */
static void
output_cut(struct sink_output *output)
{
	while (output->config.linked && output->queue.count > 0)
		output_drop(output, &output->counters->drop_cut);
	output->stale = output->config.linked;
}

static void
output_broken(struct sink_output *output, int code)
{
	sink_connect_lost(output, code);
	/* Half of it has arrived; the rest would make no sense on the next connection. */
	if (output->part > 0)
		output_drop(output, &output->counters->drop_cut);
	output_cut(output);
}

/* Nobody takes datagrams, or there is no way to them: later they may. */
static bool
output_pauses(const struct sink_output *output, int code)
{
	return output->destination.way == SINK_UDP && !output->config.blocking &&
	       (code == ECONNREFUSED || code == EHOSTUNREACH || code == ENETUNREACH ||
		code == ENETDOWN || code == EPERM);
}

/* What an error of a send means; true: go on with the next unit. */
static bool
output_failed(struct sink_output *output, int code)
{
	if (code == EAGAIN || code == EINTR || code == ENOBUFS)
		return false;
	if (output_is_stream(output)) {
		output_broken(output, code);
		return false;
	}
	if (output_pauses(output, code)) {
		sink_connect_pause(output, code);
		return false;
	}
	/* Whoever read our output has had enough: head and less are no trouble. */
	if (code == EPIPE && output->destination.way == SINK_STDOUT) {
		sink_queue_pop(&output->queue);
		output->part = 0;
		return true;
	}
	sink_output_trouble(output, code);
	if (output->file != NULL) {
		sink_health_down(output->health, strerrordesc_np(code));
		output->retry_ns = sink_clock_ns() + WRITE_RETRY_NS;
		return false;
	}
	output_drop(output, &output->counters->drop_refused);
	return true;
}

static bool
output_ready(struct sink_output *output)
{
	if (output_is_stream(output))
		return sink_connect_ready(output);
	if (output->destination.way == SINK_UDP && !output->config.blocking &&
	    sink_connect_moved(output))
		output_cut(output);
	return output->retry_ns == 0 || sink_clock_ns() >= output->retry_ns;
}

bool
sink_output_iterate(struct sink_output *output)
{
	if (output->stale || !output_ready(output) || output->stale)
		return output->queue.count > 0;
	for (int i = 0; i < ITERATION_UNITS && output->queue.count > 0; i++) {
		const struct sink_unit *unit = sink_queue_front(&output->queue);
		const uint8_t *bytes = (const uint8_t *)(unit + 1);
		ssize_t sent = output_send(output, bytes + output->part, unit->len - output->part);

		if (sent < 0) {
			if (!output_failed(output, errno))
				break;
			continue;
		}
		LULL_COUNTER_ADD(output->counters->bytes, (uint64_t)sent);
		output->part += (size_t)sent;
		if (output->part < unit->len)
			continue;
		LULL_COUNTER_ADD(output->counters->records, unit->records);
		output->part = 0;
		sink_queue_pop(&output->queue);
		/* A probe: see what comes of it. */
		if (output->health->down && output->destination.way == SINK_UDP)
			break;
	}
	return output->queue.count > 0;
}

bool
sink_output_is_old(const struct sink_output *output)
{
	return output->file != NULL && sink_volume_is_old(output->file, output->volume);
}

bool
sink_output_move(struct sink_output *output)
{
	struct sink_volume *old = output->volume;

	if (output->config.linked && output->queue.count > 0 && sink_output_iterate(output))
		return false;
	output->volume = sink_volume_join(output->file);
	sink_volume_leave(output->file, old);
	output->retry_ns = 0;
	return true;
}

/* ---- waiting ---- */

/* false: the user wants to end. */
static bool
output_wait(const struct sink_output *output)
{
	struct pollfd poll_fd = { .fd = output->fd, .events = POLLOUT };
	struct timespec pause = { .tv_nsec = WAIT_DATAGRAM_NS };

	if (output->destination.way == SINK_UDP)
		return nanosleep(&pause, NULL) == 0;
	/* Without a descriptor this is only a pause; a dead pipe is found by the next write. */
	return poll(&poll_fd, 1, WAIT_MS) >= 0;
}

/* Gives up on an error of a file, on a signal, when nothing moves for too long. */
static void
output_drain(struct sink_output *output, uint64_t stall_ns)
{
	uint64_t moved_ns = sink_clock_ns(), errors = output->counters->errors;
	uint64_t bytes = output->counters->bytes;

	while (sink_output_iterate(output)) {
		if (output->counters->bytes != bytes) {
			bytes = output->counters->bytes;
			moved_ns = sink_clock_ns();
		} else if (output->file != NULL && output->counters->errors != errors) {
			break;
		} else if (stall_ns > 0 && sink_clock_ns() - moved_ns > stall_ns) {
			sink_output_trouble(output, ETIMEDOUT);
			break;
		} else if (!output_wait(output)) {
			sink_output_trouble(output, EINTR);
			break;
		}
	}
	output->given_up = output->queue.count > 0;
}

void
sink_output_drain(struct sink_output *output, uint64_t stall_ns)
{
	bool pipe = output->file == NULL && !output_is_stream(output) &&
		    output->destination.way != SINK_UDP;

	/* Somebody may read a pipe page by page. */
	output_drain(output, pipe && output->config.blocking ? 0 : stall_ns);
}

bool
sink_output_put(struct sink_output *output, const void *bytes, size_t len, uint32_t records)
{
	if (!output->stale && sink_queue_put(&output->queue, bytes, (uint32_t)len, records))
		return true;
	if (output->config.blocking && !output->given_up && !output->stale) {
		sink_output_drain(output, STALL_NS);
		if (!output->stale && sink_queue_put(&output->queue, bytes, (uint32_t)len, records))
			return true;
	}
	sink_count_drops(output->counters,
			 output->stale ? &output->counters->drop_cut : &output->counters->drop_full,
			 records);
	return false;
}

void
sink_output_renew(struct sink_output *output)
{
	output->stale = false;
}
