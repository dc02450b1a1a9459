/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes: a stream to and from a peer, for callers that wait. */
#include <errno.h>

#include "turn.h"
#include "wait.h"

/* The peer is, or was, connected. */
static struct channel_stream *
bytes_stream(struct lull_channel *channel, uint32_t peer, int *rc)
{
	struct channel_peer *at;

	*rc = -ENOTCONN;
	if (!channel->started || peer >= channel->config.peers_max)
		return NULL;
	at = &channel->peers[peer];
	if (!at->up && at->stream.in[0].bytes == NULL)
		return NULL;
	*rc = 0;
	return &at->stream;
}

int64_t
lull_channel_write(struct lull_channel *channel, uint32_t peer, const void *data,
		   uint64_t len_bytes, uint64_t limit_ns)
{
	struct channel_stream *stream;
	struct channel_wait wait;
	uint64_t written = 0;
	int64_t taken = 0;
	int rc;

	channel_lock(channel);
	wait = channel_wait_begin(channel, limit_ns);
	stream = bytes_stream(channel, peer, &rc);
	while (rc == 0 && written < len_bytes) {
		uint64_t now_ns = lull_clock_ns();

		taken = channel_stream_write(stream, channel->bundle, peer, now_ns,
					     channel->config.endpoint,
					     (const uint8_t *)data + written, len_bytes - written);
		if (taken < 0)
			break;
		written += (uint64_t)taken;
		if (taken > 0)
			channel_act(channel, now_ns);
		else
			rc = channel_wait(channel, &wait);
	}
	channel_unlock(channel);
	if (written > 0 || rc == -ETIMEDOUT || rc == -EINTR)
		return (int64_t)written;
	return taken < 0 ? taken : rc;
}

int64_t
lull_channel_read(struct lull_channel *channel, uint32_t peer, void *buffer, uint64_t size_bytes,
		  uint64_t limit_ns)
{
	struct channel_stream *stream;
	struct channel_wait wait;
	uint32_t count = 0;
	int rc;

	channel_lock(channel);
	wait = channel_wait_begin(channel, limit_ns);
	stream = bytes_stream(channel, peer, &rc);
	while (rc == 0 && size_bytes > 0) {
		uint64_t now_ns = lull_clock_ns();

		count = channel_stream_read(stream, channel->bundle, peer, now_ns, buffer,
					    size_bytes);
		if (count > 0 || channel_stream_read_all(stream))
			break;
		if (!channel->peers[peer].up)
			rc = -ECONNRESET;
		else
			rc = channel_wait(channel, &wait);
	}
	if (count > 0)
		channel_act(channel, lull_clock_ns());
	channel_unlock(channel);
	return rc != 0 ? rc : (int64_t)count;
}

int
lull_channel_shut(struct lull_channel *channel, uint32_t peer, uint64_t limit_ns)
{
	struct channel_stream *stream;
	struct channel_wait wait;
	int rc;

	channel_lock(channel);
	wait = channel_wait_begin(channel, limit_ns);
	stream = bytes_stream(channel, peer, &rc);
	while (rc == 0) {
		uint64_t now_ns = lull_clock_ns();

		rc = channel_stream_shut(stream, channel->bundle, peer, now_ns,
					 channel->config.endpoint);
		if (rc != 0 && rc != -EAGAIN)
			break;
		channel_act(channel, now_ns);
		if (rc == 0 && channel_stream_written(stream))
			break;
		rc = channel_wait(channel, &wait);
	}
	channel_unlock(channel);
	return rc;
}
