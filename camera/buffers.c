/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where pictures lie: in one memory for all, as large as the first ones; then each buffer in one of
 * its own that grows with the pictures, within the user's bound.
 */
#include <errno.h>
#include <sys/mman.h>

#include "host/error.h"
#include "receiver.h"

#define PAGE_BYTES 4096u

/* How large each buffer may become. */
static uint64_t
buffers_bytes_max(const struct camera_stream *stream)
{
	uint64_t bytes = stream->config.memory_bytes / stream->image_count;
	uint64_t told_bytes = lull_frame_bytes(&stream->config.settings.geometry);

	if (stream->config.buffer_bytes != 0) /* that, and no other */
		return stream->config.buffer_bytes;
	return LULL_MIN(LULL_MAX(bytes, told_bytes), LULL_FRAME_BYTES_MAX);
}

bool
camera_buffers_allow(struct camera_stream *stream, uint64_t bytes)
{
	uint64_t known = stream->oversize_bytes;

	if (bytes <= buffers_bytes_max(stream))
		return true;
	if (bytes > known)
		LULL_COUNTER_ADD(stream->oversize_bytes, bytes - known);
	return false;
}

/* NUMA node of the port, plus 1; 0: not known, or a capture. */
static int
buffers_node(const struct camera_stream *stream)
{
	const struct lull_receiver *receiver = stream->receiver;
	struct lull_net_link link = { .node = 0 };

	if (receiver->backend->file || receiver->backend->link == NULL)
		return 0;
	receiver->backend->link(receiver->backend_state, &link);
	return link.node;
}

static void
buffers_lent(struct camera_stream *stream)
{
	for (uint32_t i = 0; i < stream->image_count; i++) {
		stream->images[i].data = stream->config.lent.data[i];
		stream->images[i].bytes = stream->assembly.buffer_bytes;
	}
}

int
camera_buffers_make(struct camera_stream *stream, struct lull_error *error)
{
	uint64_t bytes = stream->assembly.buffer_bytes;
	uint64_t step = (bytes + LULL_CACHE_LINE - 1) & ~(uint64_t)(LULL_CACHE_LINE - 1);
	uint64_t whole = step * stream->image_count;
	bool known = stream->claim.burst_bytes != 0; /* not a bound, or what a leader says */

	if (stream->config.lent.data != NULL) {
		buffers_lent(stream);
		return 0;
	}
	if (camera_memory_take(&stream->memory, whole, stream->config.pages, buffers_node(stream),
			       known || whole <= CAMERA_LEARNED_FILL_MAX,
			       &camera_memory_kernel) != 0)
		return lull_error_set(error, -ENOMEM, "no memory for %u buffers of %llu bytes",
				      stream->image_count, (unsigned long long)bytes);
	for (uint32_t i = 0; i < stream->image_count; i++) {
		stream->images[i].data = stream->memory.data + i * step;
		stream->images[i].bytes = step;
	}
	return 0;
}

void
camera_buffers_free(struct camera_stream *stream)
{
	for (uint32_t i = 0; i < stream->image_count; i++)
		camera_memory_free(&stream->images[i].own);
	camera_memory_free(&stream->memory);
}

/* Whole pages of what it had in the memory of all, which the kernel may have back. */
static void
buffers_release(const struct camera_image *image)
{
	uintptr_t begin = ((uintptr_t)image->data + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
	uintptr_t end = ((uintptr_t)image->data + image->bytes) & ~(uintptr_t)(PAGE_BYTES - 1);

	if (end > begin)
		(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/* A buffer as large as pictures are now; false: there is no memory. */
static bool
buffers_fit(struct camera_stream *stream, struct camera_image *image)
{
	uint64_t bytes = stream->assembly.buffer_bytes;
	bool filled = bytes * stream->image_count <= CAMERA_LEARNED_FILL_MAX;
	struct camera_memory larger;

	if (image->bytes >= bytes)
		return true;
	if (camera_memory_take(&larger, bytes, stream->config.pages, buffers_node(stream), filled,
			       &camera_memory_kernel) != 0)
		return false;
	if (image->own.data != NULL)
		camera_memory_free(&image->own);
	else
		buffers_release(image);
	image->own = larger;
	image->data = larger.data;
	image->bytes = larger.bytes;
	return true;
}

void
camera_buffers_supply(struct camera_stream *stream, struct camera_image *image)
{
	image->state = CAMERA_IMAGE_AWAY;
	if (buffers_fit(stream, image) &&
	    lull_assembler_supply(stream->assembler, image->data, image) == 0)
		stream->away++;
	else
		LULL_COUNTER_ADD(stream->receiver->errors, 1);
}

void
camera_buffers_renew(struct camera_stream *stream)
{
	struct camera_image *image;
	uint8_t *data;
	void *user;

	while (lull_assembler_reclaim(stream->assembler, &data, &user)) {
		image = user;
		stream->away--;
		camera_buffers_supply(stream, image);
	}
}

bool
camera_buffers_grow(struct camera_stream *stream, uint64_t bytes)
{
	if (!camera_buffers_allow(stream, bytes) || stream->config.lent.data != NULL)
		return false;
	stream->assembly.buffer_bytes = bytes;
	stream->claim.burst_bytes = bytes;
	lull_assembler_resize(stream->assembler, bytes);
	LULL_COUNTER_ADD(stream->counters.grown, 1);
	camera_buffers_renew(stream);
	return true;
}
