/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTACH_MAGIC 0x4e4c554cu /* "LULN" */
#define ATTACH_VERSION 2u
#define ATTACH_FOLDER "lull-channel"
#define ATTACH_FILE "node"
#define ATTACH_FDS_MAX 8 /* of a message, before the kernel closes the others */

/* ---- place ---- */

/* Of this user alone: somebody else's folder would let that one in. */
static int
attach_folder(const char *folder, bool make, struct lull_error *error)
{
	struct stat seen;

	if (make && mkdir(folder, 0700) != 0 && errno != EEXIST)
		return lull_error_set(error, -errno, "cannot make %s: %s", folder, strerror(errno));
	if (lstat(folder, &seen) != 0)
		return make ? lull_error_set(error, -errno, "%s: %s", folder, strerror(errno)) : 0;
	if (!S_ISDIR(seen.st_mode) || seen.st_uid != geteuid())
		return lull_error_set(error, -EPERM, "%s is not a folder of this user", folder);
	return 0;
}

int
channel_attach_path(const char *words, bool make, char path[CHANNEL_ATTACH_PATH_SIZE],
		    struct lull_error *error)
{
	const char *directory = getenv("RUNTIME_DIRECTORY");
	char folder[CHANNEL_ATTACH_PATH_SIZE];
	int length, rc;

	if (words[0] != '\0') {
		if (strlen(words) >= CHANNEL_ATTACH_PATH_SIZE)
			return lull_error_set(error, -EINVAL, "socket: more than %zu characters",
					      CHANNEL_ATTACH_PATH_SIZE - 1);
		strcpy(path, words);
		return 0;
	}
	if (directory == NULL)
		directory = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	if (directory == NULL)
		directory = "/tmp";
	length = snprintf(folder, sizeof(folder), "%s/" ATTACH_FOLDER "-%u", directory,
			  (unsigned int)geteuid());
	if (length + sizeof("/" ATTACH_FILE) > sizeof(folder))
		return lull_error_set(error, -ENAMETOOLONG,
				      "the runtime directory has a long name; name the socket");
	rc = attach_folder(folder, make, error);
	if (rc == 0) {
		strcpy(path, folder);
		strcat(path, "/" ATTACH_FILE);
	}
	return rc;
}

int
channel_attach_uid(int fd, uint32_t *uid)
{
	struct ucred other;
	socklen_t size = sizeof(other);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0)
		return -errno;
	*uid = other.uid;
	return 0;
}

int
channel_attach_allowed(int fd)
{
	uint32_t uid;
	int rc = channel_attach_uid(fd, &uid);

	if (rc != 0)
		return rc;
	return uid == geteuid() || uid == 0 ? 0 : -EPERM;
}

/* ---- the process ---- */

int
channel_attach_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = fd < 0 ? -errno : 0;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (rc == 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0)
		rc = -errno;
	if (rc == 0)
		rc = channel_attach_allowed(fd);
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

int
channel_attach_ask(int fd, uint32_t rail, uint32_t port)
{
	const struct channel_attach_request request = {
		.magic = ATTACH_MAGIC, .version = ATTACH_VERSION, .rail = rail, .port = port
	};

	return send(fd, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request) ? 0 : -errno;
}

/* ---- messages with descriptors ---- */

static void
attach_close(int *fds, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
}

/* Those that came with a message: as many as were wanted, or none. How many came. */
static uint32_t
attach_fds(struct msghdr *message, int fds[CHANNEL_LANE_FDS])
{
	int came[ATTACH_FDS_MAX];
	uint32_t count = 0;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
	     part = CMSG_NXTHDR(message, part)) {
		uint32_t more = (uint32_t)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
		    more > ATTACH_FDS_MAX - count)
			continue;
		memcpy(&came[count], CMSG_DATA(part), more * sizeof(int));
		count += more;
	}
	if (count == CHANNEL_LANE_FDS)
		memcpy(fds, came, sizeof(came[0]) * CHANNEL_LANE_FDS);
	else
		attach_close(came, count);
	return count;
}

/* The length of the message, or a negative errno; @p fds are -1 unless all came. */
static ssize_t
attach_receive(int fd, void *bytes, size_t size, int fds[CHANNEL_LANE_FDS], uint32_t *fd_count)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(ATTACH_FDS_MAX * sizeof(int))];
	struct iovec part = { .iov_base = bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t length = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);

	for (uint32_t i = 0; i < CHANNEL_LANE_FDS; i++)
		fds[i] = -1;
	*fd_count = 0;
	if (length < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	*fd_count = attach_fds(&message, fds);
	return length > 0 ? length : -ECONNRESET;
}

static int
attach_send(int fd, const void *bytes, size_t size, const int *fds)
{
	_Alignas(struct cmsghdr)
		uint8_t control[CMSG_SPACE(CHANNEL_LANE_FDS * sizeof(int))] = { 0 };
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (fds != NULL) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(CHANNEL_LANE_FDS * sizeof(int));
		memcpy(CMSG_DATA(head), fds, CHANNEL_LANE_FDS * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size ? 0 : -errno;
}

/* ---- the process ---- */

/* Nothing is kept of a message that is refused. */
static int
attach_refuse(int rc, int fds[CHANNEL_LANE_FDS], uint32_t fd_count)
{
	if (rc != 0 && fd_count == CHANNEL_LANE_FDS) {
		attach_close(fds, fd_count);
		for (uint32_t i = 0; i < CHANNEL_LANE_FDS; i++)
			fds[i] = -1;
	}
	return rc;
}

int
channel_attach_read(int fd, struct channel_attach_answer *answer, int fds[CHANNEL_LANE_FDS])
{
	uint32_t fd_count, wanted;
	ssize_t size = attach_receive(fd, answer, sizeof(*answer), fds, &fd_count);
	int rc = 0;

	if (size < 0) {
		rc = (int)size;
	} else if (size != sizeof(*answer) || answer->magic != ATTACH_MAGIC || answer->error > 0) {
		rc = -EPROTO;
	} else if (answer->version != ATTACH_VERSION) {
		rc = -EPROTONOSUPPORT;
	} else {
		wanted = answer->error == 0 && answer->port != 0 ? CHANNEL_LANE_FDS : 0;
		rc = fd_count == wanted ? 0 : -EPROTO;
	}
	return attach_refuse(rc, fds, fd_count);
}

int
channel_attach_meeting_read(int fd, struct channel_attach_meeting *meeting,
			    int fds[CHANNEL_LANE_FDS])
{
	uint32_t fd_count;
	ssize_t size = attach_receive(fd, meeting, sizeof(*meeting), fds, &fd_count);
	int rc = 0;

	if (size < 0)
		rc = (int)size;
	else if (size != sizeof(*meeting) || meeting->magic != ATTACH_MAGIC ||
		 meeting->version != ATTACH_VERSION || meeting->port == 0 ||
		 meeting->port > UINT16_MAX || meeting->side > 1 || fd_count > CHANNEL_LANE_FDS)
		rc = -EPROTO;
	else if (fd_count < CHANNEL_LANE_FDS)
		rc = -EMFILE;
	return attach_refuse(rc, fds, fd_count);
}

/* ---- the node's program ---- */

int
channel_attach_request_read(int fd, struct channel_attach_request *request)
{
	ssize_t size = recv(fd, request, sizeof(*request), MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (size == 0)
		return -ECONNRESET;
	if (size != sizeof(*request) || request->magic != ATTACH_MAGIC)
		return -EPROTO;
	return request->version == ATTACH_VERSION ? 0 : -EPROTONOSUPPORT;
}

int
channel_attach_reply(int fd, struct channel_attach_answer *answer, const int *fds)
{
	answer->magic = ATTACH_MAGIC;
	answer->version = ATTACH_VERSION;
	return attach_send(fd, answer, sizeof(*answer), fds);
}

int
channel_attach_meet(int fd, struct channel_attach_meeting *meeting, const int *fds)
{
	meeting->magic = ATTACH_MAGIC;
	meeting->version = ATTACH_VERSION;
	return attach_send(fd, meeting, sizeof(*meeting), fds);
}
