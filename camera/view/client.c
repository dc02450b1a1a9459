/* SPDX-License-Identifier: BSD-3-Clause */
#include "client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LENGTHS_BYTES 8
/* So much may wait to be taken when a preview is added, and when anything else is. */
#define BACKLOG_PREVIEW (256U << 10)
#define BACKLOG_MAX (8U << 20)
#define PERIOD_NS_MAX 1e15

void
view_client_open(struct view_client *client, int fd)
{
	*client = (struct view_client){ .fd = fd, .request = VIEW_REQUEST_DEFAULT };
}

void
view_client_close(struct view_client *client)
{
	if (client->fd < 0)
		return;
	close(client->fd);
	free(client->out);
	*client = (struct view_client){ .fd = -1 };
}

/* ---- output ---- */

bool
view_client_has_output(const struct view_client *client)
{
	return client->out_begin < client->out_end;
}

bool
view_client_ready(const struct view_client *client)
{
	return client->out_end - client->out_begin <= BACKLOG_PREVIEW;
}

/* Room for so many bytes more behind what waits. */
static bool
client_grow(struct view_client *client, size_t bytes)
{
	size_t waiting = client->out_end - client->out_begin;
	uint8_t *out;

	if (waiting > BACKLOG_MAX)
		return false;
	if (waiting > 0)
		memmove(client->out, client->out + client->out_begin, waiting);
	client->out_begin = 0;
	client->out_end = waiting;
	if (waiting + bytes <= client->out_room)
		return true;
	out = realloc(client->out, waiting + bytes);
	if (out == NULL)
		return false;
	client->out = out;
	client->out_room = waiting + bytes;
	return true;
}

static void
client_put(struct view_client *client, const void *bytes, size_t count)
{
	if (count > 0)
		memcpy(client->out + client->out_end, bytes, count);
	client->out_end += count;
}

static void
client_put_length(struct view_client *client, size_t length)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		client->out[client->out_end++] = (uint8_t)(length >> shift);
}

bool
view_client_send(struct view_client *client, json_t *header, const uint8_t *body, size_t body_bytes)
{
	char *text = header != NULL ? json_dumps(header, JSON_COMPACT) : NULL;
	size_t length = text != NULL ? strlen(text) : 0;
	bool kept = text != NULL && client_grow(client, LENGTHS_BYTES + length + body_bytes);

	if (kept) {
		client_put_length(client, length);
		client_put_length(client, body_bytes);
		client_put(client, text, length);
		client_put(client, body, body_bytes);
	}
	free(text);
	json_decref(header);
	return kept;
}

bool
view_client_flush(struct view_client *client)
{
	while (view_client_has_output(client)) {
		ssize_t sent =
			send(client->fd, client->out + client->out_begin,
			     client->out_end - client->out_begin, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		client->out_begin += (size_t)sent;
	}
	return true;
}

/* ---- input ---- */

static bool
client_complain(struct view_client *client, const char *text)
{
	return view_client_send(client, json_pack("{ss ss}", "type", "error", "text", text), NULL,
				0);
}

static bool
client_line(struct view_client *client, size_t length)
{
	struct lull_error error = { .text = "" };

	if (client->line_lost) {
		client->line_lost = false;
		return true;
	}
	if (view_request_read(&client->request, client->line, length, &error) != 0)
		return client_complain(client, error.text);
	/* at once, not when the old rate would have it */
	memset(client->due_ns, 0, sizeof(client->due_ns));
	memset(client->partial_due_ns, 0, sizeof(client->partial_due_ns));
	return true;
}

/* All lines that are whole. */
static bool
client_lines(struct view_client *client)
{
	char *end;

	while ((end = memchr(client->line, '\n', client->line_bytes)) != NULL) {
		size_t length = (size_t)(end - client->line);

		if (!client_line(client, length))
			return false;
		client->line_bytes -= length + 1;
		memmove(client->line, end + 1, client->line_bytes);
	}
	if (client->line_bytes < sizeof(client->line))
		return true;
	client->line_bytes = 0;
	if (client->line_lost)
		return true;
	client->line_lost = true;
	return client_complain(client, "a line is too long");
}

bool
view_client_read(struct view_client *client)
{
	ssize_t got = recv(client->fd, client->line + client->line_bytes,
			   sizeof(client->line) - client->line_bytes, MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
	if (got == 0)
		return false;
	client->line_bytes += (size_t)got;
	return client_lines(client);
}

/* ---- previews ---- */

bool
view_client_wants(const struct view_client *client, uint32_t stream, bool partial, uint64_t now_ns)
{
	return client->request.rate > 0 && view_client_ready(client) &&
	       now_ns >= (partial ? client->partial_due_ns : client->due_ns)[stream];
}

/* From due to due: a frame that comes late for one does not make the next one late. */
static uint64_t
client_next(uint64_t due_ns, uint64_t period_ns, uint64_t now_ns)
{
	return due_ns + period_ns > now_ns ? due_ns + period_ns : now_ns + period_ns;
}

void
view_client_served(struct view_client *client, uint32_t stream, bool partial, uint64_t now_ns)
{
	double period_ns = LULL_MIN((double)LULL_NS_PER_S / client->request.rate, PERIOD_NS_MAX);

	client->due_ns[stream] = client_next(client->due_ns[stream], (uint64_t)period_ns, now_ns);
	if (partial)
		client->partial_due_ns[stream] = client->due_ns[stream];
}
