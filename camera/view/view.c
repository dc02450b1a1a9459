/* SPDX-License-Identifier: BSD-3-Clause */
#include "view.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lull/rest.h>

#include "client.h"
#include "message.h"
#include "socket.h"
#include "statistics.h"

#define CLIENTS_MAX 8
#define NICENESS 10 /* pictures for the eye may come later, those of the receiver not */

struct camera_view {
	struct camera_view_config config;
	int listen_fd, kick_fd;
	pthread_t thread;
	bool runs;
	atomic_bool stop;

	/* between the application and the thread */
	struct view_slot {
		_Atomic(struct lull_camera_image *) image; /* NULL: free */
		/* when a client wants a preview, of a whole and of a partial frame */
		_Atomic uint64_t due_ns, partial_due_ns;
	} slots[LULL_CAMERA_STREAMS_MAX];

	/* the thread's */
	struct view_client clients[CLIENTS_MAX];
	struct view_picture picture;
	struct view_missing missing;
	struct view_statistics statistics; /* its missing bytes are the application's */
	uint64_t statistics_due_ns;
};

/* ---- the application ---- */

static void
view_kick(const struct camera_view *view)
{
	uint64_t one = 1;

	(void)!write(view->kick_fd, &one, sizeof(one));
}

bool
camera_view_take(struct camera_view *view, struct lull_camera_image *image)
{
	bool partial = image->frame.reason != LULL_FRAME_COMPLETE;
	struct view_slot *slot;
	uint64_t due_ns;

	if (view == NULL)
		return false;
	view_statistics_image(&view->statistics, image);
	slot = &view->slots[image->stream];
	due_ns = atomic_load(partial ? &slot->partial_due_ns : &slot->due_ns);
	if (due_ns == UINT64_MAX || atomic_load(&slot->image) != NULL || lull_clock_ns() < due_ns)
		return false;
	atomic_store(&slot->image, image);
	view_kick(view);
	return true;
}

/* ---- clients ---- */

static uint32_t
view_client_count(const struct camera_view *view)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < CLIENTS_MAX; i++)
		count += view->clients[i].fd >= 0;
	return count;
}

static void
view_accept(struct camera_view *view)
{
	struct view_client *client = view->clients;
	int fd = accept4(view->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (view_client_count(view) == 0) { /* what was long ago is no rate */
		view->statistics.taken = 0;
		view->statistics_due_ns = lull_clock_ns();
	}
	while (client->fd >= 0)
		client++;
	view_client_open(client, fd);
	if (!view_client_send(client, view_message_hello(&view->config), NULL, 0))
		view_client_close(client);
}

/* Wait for something to do, take new clients and hear the others. */
static void
view_look(struct camera_view *view)
{
	struct pollfd fds[2 + CLIENTS_MAX] = { { .fd = view->listen_fd, .events = POLLIN },
					       { .fd = view->kick_fd, .events = POLLIN } };
	uint32_t count = view_client_count(view);
	uint64_t now_ns = lull_clock_ns(), kicks;
	int wait_ms = -1;

	if (count == CLIENTS_MAX)
		fds[0].fd = -1; /* they wait for one to go */
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		const struct view_client *client = &view->clients[i];

		fds[2 + i].fd = client->fd;
		fds[2 + i].events = view_client_has_output(client) ? POLLIN | POLLOUT : POLLIN;
	}
	if (count > 0)
		wait_ms = view->statistics_due_ns > now_ns ?
				  (int)((view->statistics_due_ns - now_ns) / LULL_NS_PER_MS) + 1 :
				  0;
	(void)poll(fds, 2 + CLIENTS_MAX, wait_ms);
	if (fds[1].revents != 0)
		(void)!read(view->kick_fd, &kicks, sizeof(kicks));
	for (uint32_t i = 0; i < CLIENTS_MAX; i++)
		if (fds[2 + i].fd >= 0 && (fds[2 + i].revents & ~POLLOUT) != 0 &&
		    !view_client_read(&view->clients[i]))
			view_client_close(&view->clients[i]);
	if (fds[0].fd >= 0 && fds[0].revents != 0)
		view_accept(view);
}

static void
view_flush(struct camera_view *view)
{
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		struct view_client *client = &view->clients[i];

		if (client->fd >= 0 && !view_client_flush(client))
			view_client_close(client);
	}
}

/* ---- what they are told ---- */

static void
view_show(struct camera_view *view, uint32_t stream, const struct lull_camera_image *image)
{
	bool partial = image->frame.reason != LULL_FRAME_COMPLETE;
	uint64_t now_ns = lull_clock_ns();

	view_picture_forget(&view->picture);
	view_missing_find(&image->frame, &view->missing);
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		struct view_client *client = &view->clients[i];
		json_t *header;

		if (client->fd < 0 || !view_client_wants(client, stream, partial, now_ns))
			continue;
		view_picture_make(&view->picture, &image->frame,
				  cam_spec_view(&view->config.specs[image->stream]),
				  client->request.width, client->request.quality);
		header = view_message_image(image, &view->picture, &view->missing);
		if (!view_client_send(client, header, view->picture.jpeg.bytes,
				      view->picture.bytes))
			view_client_close(client);
		else
			view_client_served(client, stream, partial, now_ns);
	}
}

/* An image stays in its slot until it is put back, so there is never a second one. */
static void
view_images(struct camera_view *view)
{
	for (uint32_t i = 0; i < view->config.spec_count; i++) {
		struct lull_camera_image *image = atomic_load(&view->slots[i].image);

		if (image == NULL)
			continue;
		view_show(view, i, image);
		lull_receiver_put(view->config.receiver, image);
		atomic_store(&view->slots[i].image, NULL);
	}
}

static void
view_tell_statistics(struct camera_view *view)
{
	uint64_t now_ns = lull_clock_ns();
	json_t *header;

	if (view_client_count(view) == 0 || now_ns < view->statistics_due_ns)
		return;
	view->statistics_due_ns = now_ns + VIEW_STATISTICS_NS;
	header = view_statistics_take(&view->statistics, view->config.receiver, now_ns);
	for (uint32_t i = 0; i < CLIENTS_MAX; i++)
		if (view->clients[i].fd >= 0 &&
		    !view_client_send(&view->clients[i], json_incref(header), NULL, 0))
			view_client_close(&view->clients[i]);
	json_decref(header);
}

/* When the next image of each stream is wanted. */
static void
view_publish(struct camera_view *view)
{
	for (uint32_t i = 0; i < view->config.spec_count; i++) {
		uint64_t due_ns = UINT64_MAX, partial_due_ns = UINT64_MAX;

		for (uint32_t k = 0; k < CLIENTS_MAX; k++) {
			const struct view_client *client = &view->clients[k];

			if (client->fd < 0 || client->request.rate == 0 ||
			    !view_client_ready(client))
				continue;
			due_ns = LULL_MIN(due_ns, client->due_ns[i]);
			partial_due_ns = LULL_MIN(partial_due_ns, client->partial_due_ns[i]);
		}
		atomic_store(&view->slots[i].due_ns, due_ns);
		atomic_store(&view->slots[i].partial_due_ns, partial_due_ns);
	}
}

static void *
view_run(void *arg)
{
	struct camera_view *view = arg;

	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
	while (!atomic_load(&view->stop)) {
		view_images(view);
		view_tell_statistics(view);
		view_flush(view);
		view_publish(view);
		view_look(view);
	}
	return NULL;
}

/* ---- open and close ---- */

static int
view_start(struct camera_view *view, struct lull_error *error)
{
	int rc = view_picture_open(&view->picture);

	if (rc != 0)
		return lull_error_set(error, rc, "view: %s",
				      rc == -ENOTSUP ? "this program was built without "
						       "libturbojpeg" :
						       strerror(-rc));
	view->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (view->kick_fd < 0)
		return lull_error_set(error, -errno, "view: %s", strerror(errno));
	view->listen_fd = view_socket_listen(view->config.path, error);
	if (view->listen_fd < 0)
		return view->listen_fd;
	rc = -pthread_create(&view->thread, NULL, view_run, view);
	view->runs = rc == 0;
	return rc == 0 ? 0 : lull_error_set(error, rc, "view: no thread: %s", strerror(-rc));
}

int
camera_view_open(struct camera_view **view, const struct camera_view_config *config,
		 struct lull_error *error)
{
	struct camera_view *new = calloc(1, sizeof(*new));
	int rc;

	*view = NULL;
	if (new == NULL)
		return lull_error_set(error, -ENOMEM, "view: no memory");
	new->config = *config;
	new->listen_fd = new->kick_fd = -1;
	for (uint32_t i = 0; i < CLIENTS_MAX; i++)
		new->clients[i].fd = -1;
	for (uint32_t i = 0; i < LULL_CAMERA_STREAMS_MAX; i++)
		new->slots[i].due_ns = new->slots[i].partial_due_ns = UINT64_MAX;
	rc = view_start(new, error);
	if (rc != 0)
		camera_view_close(new);
	else
		*view = new;
	return rc;
}

static void
view_put_back(struct camera_view *view)
{
	for (uint32_t i = 0; i < LULL_CAMERA_STREAMS_MAX; i++)
		if (view->slots[i].image != NULL)
			lull_receiver_put(view->config.receiver, view->slots[i].image);
}

void
camera_view_close(struct camera_view *view)
{
	if (view == NULL)
		return;
	if (view->runs) {
		atomic_store(&view->stop, true);
		view_kick(view);
		pthread_join(view->thread, NULL);
	}
	view_put_back(view);
	if (view->listen_fd >= 0) {
		(void)unlink(view->config.path);
		close(view->listen_fd);
	}
	if (view->kick_fd >= 0)
		close(view->kick_fd);
	for (uint32_t i = 0; i < CLIENTS_MAX; i++)
		view_client_close(&view->clients[i]);
	view_picture_close(&view->picture);
	free(view);
}
