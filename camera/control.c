/* SPDX-License-Identifier: BSD-3-Clause */
#include "control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "discover.h"
#include "host/error.h"
#include "gige/gvcp.h"
#include "gige/resend_stream.h"

#define START_NS (5 * LULL_NS_PER_S)
#define AGAIN_NS LULL_NS_PER_S /* after the camera was lost */
#define STOP_NS (500 * LULL_NS_PER_MS)
#define REQUESTS_MAX 256 /* a power of two */
#define XML_BYTES_MAX (1u << 20)
#define TAIL_NS_MIN LULL_NS_PER_MS
#define TAIL_NS_MAX (20 * LULL_NS_PER_MS)

struct camera_control {
	/* its own thread */
	struct lull_gvcp_client client;
	int fd, kick_fd;
	uint8_t *xml;
	uint64_t again_ns; /* when to take a lost camera again; 0: it is not lost */
	uint64_t lost, requests, requested;
	_Atomic uint32_t state;
	_Atomic uint32_t packet_bytes;
	_Atomic uint32_t *source_port; /* of the stream; NULL: the user takes any source */
	pthread_t thread;
	atomic_bool stop;

	/* from the receiving thread to it */
	_Atomic uint32_t head, tail;
	struct lull_gvcp_resend queue[REQUESTS_MAX];

	/* the receiving thread */
	bool resends;
	struct lull_resend_stream resend;
};

/* ---- its own thread ---- */

static void
control_output(struct camera_control *control, uint64_t now_ns)
{
	uint8_t message[LULL_GVCP_BYTES_MAX];
	size_t len;

	while ((len = lull_gvcp_output(&control->client, now_ns, message)) > 0)
		(void)!send(control->fd, message, len, 0);
	atomic_store(&control->packet_bytes, control->client.packet_bytes);
	if (control->source_port != NULL)
		atomic_store(control->source_port, control->client.source_port);
	atomic_store(&control->state, (uint32_t)control->client.state);
}

static void
control_requests(struct camera_control *control)
{
	uint8_t message[LULL_GVCP_BYTES_MAX];
	uint32_t tail = atomic_load(&control->tail);

	for (; tail != atomic_load(&control->head); atomic_store(&control->tail, ++tail)) {
		const struct lull_gvcp_resend *request = &control->queue[tail % REQUESTS_MAX];
		size_t len = lull_gvcp_write_resend(message, lull_gvcp_next_id(&control->client),
						    request);

		if (send(control->fd, message, len, 0) < 0)
			continue;
		LULL_COUNTER_ADD(control->requests, 1);
		LULL_COUNTER_ADD(control->requested, request->last - request->first + 1);
	}
}

static void
control_wait(struct camera_control *control, uint64_t now_ns)
{
	struct pollfd polls[] = { { .fd = control->fd, .events = POLLIN },
				  { .fd = control->kick_fd, .events = POLLIN } };
	uint64_t due_ns = lull_gvcp_deadline_ns(&control->client), wait_ns, kicks;
	struct timespec limit;

	if (control->again_ns != 0)
		due_ns = LULL_MIN(due_ns, control->again_ns);
	wait_ns = LULL_MIN(due_ns > now_ns ? due_ns - now_ns : 0, LULL_NS_PER_S);
	limit.tv_sec = (time_t)(wait_ns / LULL_NS_PER_S);
	limit.tv_nsec = (long)(wait_ns % LULL_NS_PER_S);
	ppoll(polls, 2, &limit, NULL);
	if (polls[1].revents != 0)
		(void)!read(control->kick_fd, &kicks, sizeof(kicks));
}

static void
control_input(struct camera_control *control)
{
	uint8_t message[LULL_GVCP_BYTES_MAX + 64];
	ssize_t got;

	while ((got = recv(control->fd, message, sizeof(message), MSG_DONTWAIT)) > 0)
		lull_gvcp_input(&control->client, lull_clock_ns(), message, (size_t)got);
}

/* A camera that was lost is taken again, once a second. */
static void
control_recover(struct camera_control *control, uint64_t now_ns, bool *streamed)
{
	enum lull_gvcp_state state = control->client.state;

	if (state == LULL_GVCP_STREAMING) {
		*streamed = true;
		control->again_ns = 0;
	} else if (*streamed && state != LULL_GVCP_STARTING && control->again_ns == 0) {
		LULL_COUNTER_ADD(control->lost, 1);
		control->again_ns = now_ns + AGAIN_NS;
	} else if (control->again_ns != 0 && now_ns >= control->again_ns &&
		   state != LULL_GVCP_STARTING) {
		lull_gvcp_start(&control->client, now_ns);
		control->again_ns = now_ns + AGAIN_NS;
	}
}

static void *
control_run(void *arg)
{
	struct camera_control *control = arg;
	uint64_t now_ns = lull_clock_ns(), end_ns;
	bool streamed = false;

	lull_gvcp_start(&control->client, now_ns);
	while (!atomic_load(&control->stop)) {
		control_recover(control, now_ns, &streamed);
		control_output(control, now_ns);
		control_requests(control);
		control_wait(control, now_ns);
		control_input(control);
		now_ns = lull_clock_ns();
	}
	control->again_ns = 0;
	end_ns = now_ns + STOP_NS;
	lull_gvcp_stop(&control->client, now_ns);
	control_output(control, now_ns);
	while (control->client.state == LULL_GVCP_STOPPING && now_ns < end_ns) {
		control_wait(control, now_ns);
		control_input(control);
		now_ns = lull_clock_ns();
		control_output(control, now_ns);
	}
	return NULL;
}

/* ---- start and stop ---- */

static int
control_connect(struct camera_control *control, struct camera_stream *stream, uint32_t *host,
		struct lull_error *error)
{
	const char *text = stream->config.control;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(LULL_GVCP_PORT) };
	socklen_t size = sizeof(address);
	int rc;

	rc = camera_discover_address(text, &address.sin_addr, error);
	if (rc != 0)
		return rc;
	if (!stream->source_open) {
		stream->claim.source.kind = LULL_NET_SOURCE_IP;
		stream->claim.source.ip =
			lull_net_ip_from4((const uint8_t *)&address.sin_addr.s_addr);
		control->source_port = &stream->source_port;
	}
	control->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	control->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (control->fd < 0 || control->kick_fd < 0 ||
	    connect(control->fd, (struct sockaddr *)&address, size) != 0 ||
	    getsockname(control->fd, (struct sockaddr *)&address, &size) != 0)
		return lull_error_set(error, -errno, "control: cannot reach %s: %s", text,
				      strerror(errno));
	*host = ntohl(address.sin_addr.s_addr);
	return 0;
}

static void
control_free(struct camera_control *control)
{
	if (control->fd >= 0)
		close(control->fd);
	if (control->kick_fd >= 0)
		close(control->kick_fd);
	free(control->xml);
	free(control);
}

static int
control_outcome(const struct camera_control *control, const char *text, struct lull_error *error)
{
	switch (atomic_load(&control->state)) {
	case LULL_GVCP_STREAMING:
		return 0;
	case LULL_GVCP_DENIED:
		return lull_error_set(error, -EBUSY,
				      "camera %s is controlled by another "
				      "application",
				      text);
	case LULL_GVCP_REFUSED:
		return lull_error_set(error, -EPROTO, "camera %s refused register %#x, status %#x",
				      text, control->client.refused, control->client.status);
	default:
		return lull_error_set(error, -ETIMEDOUT,
				      "camera %s does not answer: check its power and its address",
				      text);
	}
}

static int
control_begin(struct camera_control *control, struct camera_stream *stream,
	      struct lull_error *error)
{
	struct lull_gvcp_config config = {
		.port = stream->claim.port,
		.packet_bytes = stream->config.settings.packet_bytes,
		.xml = control->xml,
		.xml_bytes_max = XML_BYTES_MAX,
	};
	uint64_t end_ns = lull_clock_ns() + START_NS;
	int rc = control_connect(control, stream, &config.address, error);

	if (rc != 0)
		return rc;
	rc = lull_gvcp_init(&control->client, &config);
	if (rc != 0)
		return lull_error_set(error, rc, "control: packet_bytes is out of range");
	/* Nobody guesses the numbers of our questions. */
	(void)!getrandom(&control->client.id, sizeof(control->client.id), GRND_NONBLOCK);
	rc = -pthread_create(&control->thread, NULL, control_run, control);
	if (rc != 0)
		return lull_error_set(error, rc, "no thread: %s", strerror(-rc));
	while (atomic_load(&control->state) <= LULL_GVCP_STARTING && lull_clock_ns() < end_ns)
		usleep(1000);
	return 0;
}

int
camera_control_start(struct camera_stream *stream, struct lull_error *error)
{
	struct camera_control *control = calloc(1, sizeof(*control));
	int rc;

	if (control == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for the control channel");
	control->fd = control->kick_fd = -1;
	control->xml = malloc(XML_BYTES_MAX);
	control->resends = stream->config.resend;
	lull_resend_stream_init(&control->resend, stream->config.resend_ppm);
	rc = control_begin(control, stream, error);
	if (rc != 0) {
		control_free(control);
		return rc;
	}
	rc = control_outcome(control, stream->config.control, error);
	if (rc != 0) {
		camera_control_stop(control);
		return rc;
	}
	pthread_mutex_lock(&stream->receiver->state_lock);
	stream->control = control;
	pthread_mutex_unlock(&stream->receiver->state_lock);
	return 0;
}

static void
control_kick(const struct camera_control *control)
{
	uint64_t one = 1;

	(void)!write(control->kick_fd, &one, sizeof(one));
}

void
camera_control_stop(struct camera_control *control)
{
	if (control == NULL)
		return;
	atomic_store(&control->stop, true);
	control_kick(control);
	pthread_join(control->thread, NULL);
	control_free(control);
}

/* ---- the receiving thread ---- */

void
camera_control_fragment(struct camera_control *control, uint64_t now_ns,
			const struct lull_frame_fragment *fragment)
{
	if (control->resends)
		lull_resend_stream_fragment(&control->resend, now_ns, fragment);
}

void
camera_control_anew(struct camera_control *control)
{
	lull_resend_stream_anew(&control->resend);
}

static bool
control_ask(void *arg, const struct lull_gvcp_resend *request)
{
	struct camera_control *control = arg;
	uint32_t head = atomic_load(&control->head);

	if (head - atomic_load(&control->tail) == REQUESTS_MAX)
		return false;
	control->queue[head % REQUESTS_MAX] = *request;
	atomic_store(&control->head, head + 1);
	return true;
}

/*
 * How long the sender may pause before the rest of its frame is held to be lost: so much less than
 * what ends the frame that there is time for an answer.
 */
static uint64_t
control_tail_ns(const struct camera_stream *stream)
{
	uint64_t timeout_ns = stream->assembly.deadline_ns != 0 ? stream->assembly.deadline_ns :
								  stream->assembly.silence_ns;

	return LULL_CLAMP(timeout_ns / 4, TAIL_NS_MIN, TAIL_NS_MAX);
}

uint64_t
camera_control_iterate(struct camera_control *control, struct camera_stream *stream,
		       uint64_t now_ns)
{
	uint32_t head = atomic_load(&control->head);
	uint64_t due_ns;

	if (!control->resends)
		return UINT64_MAX;
	control->resend.packet_bytes = atomic_load(&control->packet_bytes);
	control->resend.tail_ns = control_tail_ns(stream);
	if (control->resend.frame_bytes == 0)
		control->resend.frame_bytes = stream->claim.burst_bytes;
	due_ns = lull_resend_stream_iterate(&control->resend, now_ns, stream->assembler,
					    control_ask, control);
	if (atomic_load(&control->head) != head)
		control_kick(control);
	return due_ns;
}

void
camera_control_count(struct camera_control *control, struct lull_camera_counters *counters)
{
	counters->requests += LULL_COUNTER_READ(control->requests);
	counters->requested += LULL_COUNTER_READ(control->requested);
	counters->control_lost += LULL_COUNTER_READ(control->lost);
}
