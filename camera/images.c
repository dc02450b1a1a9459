/* SPDX-License-Identifier: BSD-3-Clause */
/* Images on their way: assembler -> ready -> out -> returned -> assembler. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "receiver.h"

void
camera_queue_init(struct camera_queue *queue)
{
	*queue = (struct camera_queue){ .end = &queue->first };
}

static void
queue_push(struct camera_queue *queue, struct camera_image *image)
{
	image->next = NULL;
	*queue->end = image;
	queue->end = &image->next;
	queue->count++;
}

static struct camera_image *
queue_pop(struct camera_queue *queue)
{
	struct camera_image *image = queue->first;

	if (image == NULL)
		return NULL;
	queue->first = image->next;
	if (queue->first == NULL)
		queue->end = &queue->first;
	queue->count--;
	return image;
}

/* ---- waking ---- */

static void
images_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void
camera_images_wake(struct lull_receiver *receiver)
{
	atomic_fetch_add(&receiver->events, 1);
	if (atomic_load(&receiver->waiters) > 0)
		images_futex_wake(&receiver->events);
}

/* With the lock: the descriptor is readable while images wait, and from the end on. */
static void
images_descriptor_set(struct lull_receiver *receiver)
{
	uint64_t one = 1;

	if (atomic_load(&receiver->event_asked))
		(void)!write(receiver->event_fd, &one, sizeof(one));
}

static void
images_descriptor_clear(struct lull_receiver *receiver)
{
	uint64_t count;

	if (atomic_load(&receiver->event_asked) && !atomic_load(&receiver->ended))
		(void)!read(receiver->event_fd, &count, sizeof(count));
}

void
camera_images_end(struct lull_receiver *receiver)
{
	atomic_store(&receiver->ended, true);
	pthread_mutex_lock(&receiver->lock);
	images_descriptor_set(receiver);
	pthread_mutex_unlock(&receiver->lock);
	camera_images_wake(receiver);
}

int
lull_receiver_fd(struct lull_receiver *receiver)
{
	if (receiver->config.direct)
		return -ENOTSUP;
	pthread_mutex_lock(&receiver->lock);
	if (!atomic_exchange(&receiver->event_asked, true) &&
	    (receiver->ready_count > 0 || atomic_load(&receiver->ended)))
		images_descriptor_set(receiver);
	pthread_mutex_unlock(&receiver->lock);
	return receiver->event_fd;
}

/* ---- the receiving thread ---- */

void
camera_images_stop(struct lull_receiver *receiver, struct camera_stream *stream)
{
	if (!atomic_exchange(&stream->stopped, true))
		camera_images_wake(receiver);
}

static void
images_resume(struct camera_stream *stream)
{
	atomic_store(&stream->resume_asked, false);
	lull_assembler_resume(stream->assembler);
	atomic_store(&stream->stopped, false);
}

void
camera_images_take_back(struct lull_receiver *receiver, struct camera_stream *stream)
{
	struct camera_image *image, *next;

	if (atomic_load_explicit(&stream->resume_asked, memory_order_relaxed))
		images_resume(stream);
	if (atomic_load_explicit(&stream->returned_count, memory_order_relaxed) == 0)
		return;
	pthread_mutex_lock(&receiver->lock);
	image = stream->returned.first;
	camera_queue_init(&stream->returned);
	atomic_store(&stream->returned_count, 0);
	for (struct camera_image *each = image; each != NULL; each = each->next)
		each->state = CAMERA_IMAGE_AWAY;
	pthread_mutex_unlock(&receiver->lock);
	for (; image != NULL; image = next) {
		next = image->next;
		camera_buffers_supply(stream, image);
	}
}

bool
camera_images_replace(struct lull_receiver *receiver, struct camera_stream *stream)
{
	struct camera_image *image;

	pthread_mutex_lock(&receiver->lock);
	image = queue_pop(&stream->ready);
	if (image != NULL) {
		image->state = CAMERA_IMAGE_AWAY;
		receiver->ready_count--;
		if (receiver->ready_count == 0)
			images_descriptor_clear(receiver);
	}
	pthread_mutex_unlock(&receiver->lock);
	if (image == NULL)
		return false;
	LULL_COUNTER_ADD(stream->replaced, 1);
	camera_buffers_supply(stream, image);
	return true;
}

bool
camera_images_waiting(struct lull_receiver *receiver, struct camera_stream *stream)
{
	bool waiting;

	pthread_mutex_lock(&receiver->lock);
	waiting = stream->ready.count > 0;
	pthread_mutex_unlock(&receiver->lock);
	return waiting;
}

static uint64_t
images_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* From its last packet to @p end_ns, by the clock that stamped it if that still runs. */
static uint64_t
images_latency_ns(const struct camera_stream *stream, const struct camera_arrival *arrival,
		  uint64_t end_ns)
{
	uint64_t now_ns;

	if (stream->receiver->origin != LULL_CAMERA_ORIGIN_KERNEL)
		return end_ns > arrival->since_ns ? end_ns - arrival->since_ns : 0;
	now_ns = images_clock_ns(CLOCK_REALTIME);
	return now_ns > arrival->last_ns ? now_ns - arrival->last_ns : 0;
}

static void
images_fill(struct lull_receiver *receiver, struct camera_image *image,
	    const struct lull_frame *frame, const struct camera_arrival *arrival)
{
	struct lull_camera_image *out = &image->image;

	out->frame = *frame;
	out->frame.missing = image->spans;
	out->frame.buffer_user = NULL;
	memcpy(image->spans, frame->missing, frame->missing_count * sizeof(*frame->missing));
	out->stream = image->stream->claim.index;
	out->packet_clock = receiver->clock;
	out->frame.stamps.first_ns = arrival->first_ns;
	out->frame.stamps.last_ns = arrival->last_ns;
	out->frame.stamps.done_ns = lull_clock_ns();
	out->latency_from = receiver->origin;
	out->latency_ns = images_latency_ns(image->stream, arrival, out->frame.stamps.done_ns);
}

static void
images_measure(struct camera_stream *stream, const struct lull_camera_image *image)
{
	const struct lull_frame_stamps *stamps = &image->frame.stamps;
	struct lull_histogram *figures = stream->figures;

	if (stamps->last_ns != 0)
		lull_histogram_add(&figures[LULL_CAMERA_LATENCY], image->latency_ns, 1);
	if (stamps->last_ns >= stamps->first_ns)
		lull_histogram_add(&figures[LULL_CAMERA_ASSEMBLY],
				   stamps->last_ns - stamps->first_ns, 1);
	if (stream->period_first_ns != 0 && stamps->first_ns > stream->period_first_ns)
		lull_histogram_add(&figures[LULL_CAMERA_PERIOD],
				   stamps->first_ns - stream->period_first_ns, 1);
	stream->period_first_ns = stamps->first_ns;
}

void
camera_images_give(struct lull_receiver *receiver, struct camera_stream *stream,
		   const struct lull_frame *frame, const struct camera_arrival *arrival)
{
	struct camera_image *image = frame->buffer_user;

	stream->away--;
	images_fill(receiver, image, frame, arrival);
	pthread_mutex_lock(&receiver->lock);
	image->state = CAMERA_IMAGE_READY;
	image->order = receiver->order++;
	queue_push(&stream->ready, image);
	if (receiver->ready_count++ == 0)
		images_descriptor_set(receiver);
	pthread_mutex_unlock(&receiver->lock);
	camera_images_wake(receiver);
	images_measure(stream, &image->image);
	LULL_COUNTER_ADD(stream->counters.given, 1);
}

/* ---- the application ---- */

/* With the lock. */
static struct camera_stream *
images_choose(struct lull_receiver *receiver, uint32_t index)
{
	struct camera_stream *oldest = NULL;

	if (index != LULL_CAMERA_ANY) {
		struct camera_stream *stream = receiver->streams[index];

		return stream->ready.first != NULL ? stream : NULL;
	}
	for (uint32_t i = 0; i < camera_stream_count(receiver); i++) {
		struct camera_stream *stream = receiver->streams[i];

		if (stream->ready.first != NULL &&
		    (oldest == NULL || stream->ready.first->order < oldest->ready.first->order))
			oldest = stream;
	}
	return oldest;
}

/* With the lock: it is the application's from here on. */
static void
images_measure_fetched(struct camera_stream *stream, const struct lull_camera_image *image)
{
	const struct lull_frame_stamps *stamps = &image->frame.stamps;
	uint64_t now_ns = lull_clock_ns();

	atomic_fetch_add(&stream->fetched, 1);
	if (stamps->last_ns != 0 && now_ns >= stamps->done_ns)
		lull_histogram_add(&stream->figures[LULL_CAMERA_FETCHED],
				   image->latency_ns + (now_ns - stamps->done_ns), 1);
}

struct lull_camera_image *
camera_images_take(struct lull_receiver *receiver, uint32_t index)
{
	struct camera_image *image = NULL;
	struct camera_stream *stream;

	pthread_mutex_lock(&receiver->lock);
	stream = images_choose(receiver, index);
	if (stream != NULL) {
		image = queue_pop(&stream->ready);
		image->state = CAMERA_IMAGE_OUT;
		if (--receiver->ready_count == 0)
			images_descriptor_clear(receiver);
		images_measure_fetched(stream, &image->image);
	}
	pthread_mutex_unlock(&receiver->lock);
	return image == NULL ? NULL : &image->image;
}

/* Nothing will come before somebody says to go on. */
bool
camera_images_stopped(const struct lull_receiver *receiver, uint32_t index)
{
	uint32_t count = camera_stream_count(receiver);

	if (index != LULL_CAMERA_ANY)
		return atomic_load(&receiver->streams[index]->stopped);
	for (uint32_t i = 0; i < count; i++)
		if (!atomic_load(&receiver->streams[i]->stopped))
			return false;
	return count > 0;
}

int
lull_receiver_resume(struct lull_receiver *receiver, uint32_t stream)
{
	if (stream >= camera_stream_count(receiver))
		return -EINVAL;
	atomic_store(&receiver->streams[stream]->resume_asked, true);
	return 0;
}

/* The image of ours at this address; NULL: there is none. Nothing is read from it. */
static struct camera_image *
images_find(struct lull_receiver *receiver, const struct lull_camera_image *address)
{
	for (uint32_t i = 0; i < camera_stream_count(receiver); i++) {
		struct camera_stream *stream = receiver->streams[i];
		uintptr_t from = (uintptr_t)stream->images;
		uintptr_t at = (uintptr_t)address;

		if (at >= from && at < from + stream->image_count * sizeof(*stream->images) &&
		    (at - from) % sizeof(*stream->images) == 0)
			return &stream->images[(at - from) / sizeof(*stream->images)];
	}
	return NULL;
}

int
lull_receiver_put(struct lull_receiver *receiver, struct lull_camera_image *address)
{
	struct camera_image *image = images_find(receiver, address);
	bool out;

	if (image == NULL) {
		atomic_fetch_add(&receiver->foreign, 1);
		return -EINVAL;
	}
	pthread_mutex_lock(&receiver->lock);
	out = image->state == CAMERA_IMAGE_OUT;
	if (out) {
		image->state = CAMERA_IMAGE_RETURNED;
		queue_push(&image->stream->returned, image);
		atomic_fetch_add(&image->stream->returned_count, 1);
	}
	pthread_mutex_unlock(&receiver->lock);
	atomic_fetch_add(out ? &image->stream->put : &image->stream->refused, 1);
	return out ? 0 : -EINVAL;
}

uint32_t
camera_images_out(struct lull_receiver *receiver)
{
	uint32_t count = 0;

	pthread_mutex_lock(&receiver->lock);
	for (uint32_t i = 0; i < camera_stream_count(receiver); i++)
		for (uint32_t j = 0; j < receiver->streams[i]->image_count; j++)
			count += receiver->streams[i]->images[j].state == CAMERA_IMAGE_OUT;
	pthread_mutex_unlock(&receiver->lock);
	return count;
}
