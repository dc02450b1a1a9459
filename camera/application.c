/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the application gets images: it waits for those of the receiving thread, or receives itself.
 * Who waits sleeps on a futex, so that waking costs nothing while nobody does, and can be done from
 * a signal handler.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "receiver.h"

/* Until the word has another value, at most wait_ns. */
static void
application_wait(struct lull_receiver *receiver, uint32_t seen, uint64_t wait_ns)
{
	struct timespec limit = { .tv_sec = (time_t)(wait_ns / LULL_NS_PER_S),
				  .tv_nsec = (long)(wait_ns % LULL_NS_PER_S) };

	atomic_fetch_add(&receiver->waiters, 1);
	syscall(SYS_futex, &receiver->events, FUTEX_WAIT_PRIVATE, seen,
		wait_ns == UINT64_MAX ? NULL : &limit, NULL, 0);
	atomic_fetch_sub(&receiver->waiters, 1);
}

void
lull_receiver_wake(struct lull_receiver *receiver)
{
	atomic_store(&receiver->woken, true);
	camera_images_wake(receiver);
	if (receiver->config.direct)
		camera_direct_kick(receiver);
}

/* The calling thread is the receiving one: it does what that does until there is an image. */
static int
application_receive(struct lull_receiver *receiver, uint32_t stream,
		    struct lull_camera_image **image, uint64_t timeout_ns)
{
	uint64_t now_ns = lull_clock_ns();
	uint64_t until_ns = timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
	bool looked = false;

	if (camera_in_callback(receiver))
		return -EDEADLK;
	while ((*image = camera_images_take(receiver, stream)) == NULL) {
		if (atomic_load(&receiver->ended))
			return -ENODEV;
		if (camera_images_stopped(receiver, stream) && looked)
			return -ENOBUFS;
		if (!camera_direct_is_here(receiver))
			return -EPERM;
		if (looked && (now_ns >= until_ns || atomic_exchange(&receiver->woken, false)))
			return 0;
		now_ns = camera_direct_iterate(receiver, stream, now_ns,
					       atomic_load(&receiver->woken) ? now_ns : until_ns);
		looked = true;
	}
	return 0;
}

int
lull_receiver_get(struct lull_receiver *receiver, uint32_t stream, struct lull_camera_image **image,
		  uint64_t timeout_ns)
{
	uint64_t begin_ns = timeout_ns == 0 ? 0 : lull_clock_ns();

	*image = NULL;
	if (stream != LULL_CAMERA_ANY && stream >= camera_stream_count(receiver))
		return -EINVAL;
	if (receiver->config.direct)
		return application_receive(receiver, stream, image, timeout_ns);
	for (;;) {
		uint32_t seen = atomic_load(&receiver->events);
		bool ended = atomic_load(&receiver->ended);
		bool stopped = camera_images_stopped(receiver, stream);
		uint64_t left_ns = UINT64_MAX;

		*image = camera_images_take(receiver, stream);
		if (*image != NULL)
			return 0;
		if (ended)
			return -ENODEV;
		if (stopped)
			return -ENOBUFS;
		if (timeout_ns == 0 || atomic_exchange(&receiver->woken, false))
			return 0;
		if (timeout_ns != UINT64_MAX) {
			uint64_t waited_ns = lull_clock_ns() - begin_ns;

			if (waited_ns >= timeout_ns)
				return 0;
			left_ns = timeout_ns - waited_ns;
		}
		application_wait(receiver, seen, left_ns);
	}
}
