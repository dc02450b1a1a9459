/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"

#define ATTACH_MAGIC 0x4e4c554cu /* "LULN" */
#define ATTACH_VERSION 1u
#define ATTACH_FOLDER "lull-channel"
#define ATTACH_FILE "node"
#define ATTACH_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

size_t
channel_attach_ring_at(uint32_t ring, uint32_t packet_bytes)
{
	size_t facts = (sizeof(struct channel_attach_facts) + LULL_CACHE_LINE - 1) &
		       ~(size_t)(LULL_CACHE_LINE - 1);

	return facts + ring * channel_ring_bytes(packet_bytes);
}

size_t
channel_attach_bytes(uint32_t packet_bytes)
{
	return channel_attach_ring_at(2, packet_bytes);
}

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
channel_attach_allowed(int fd)
{
	struct ucred other;
	socklen_t size = sizeof(other);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0)
		return -errno;
	return other.uid == geteuid() || other.uid == 0 ? 0 : -EPERM;
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

/* The descriptors of a message; those that are too many are closed by the kernel. */
static uint32_t
attach_fds(struct msghdr *message, int fds[CHANNEL_ATTACH_FDS])
{
	uint32_t count = 0;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
	     part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		count = (uint32_t)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		count = LULL_MIN(count, (uint32_t)CHANNEL_ATTACH_FDS);
		memcpy(fds, CMSG_DATA(part), count * sizeof(int));
	}
	return count;
}

static int
attach_answer_check(const struct channel_attach_answer *answer, ssize_t size, uint32_t fd_count)
{
	uint32_t wanted = answer->error == 0 && answer->port != 0 ? CHANNEL_ATTACH_FDS : 0;

	if (size != sizeof(*answer) || answer->magic != ATTACH_MAGIC || fd_count != wanted ||
	    answer->error > 0)
		return -EPROTO;
	return answer->version == ATTACH_VERSION ? 0 : -EPROTONOSUPPORT;
}

int
channel_attach_read(int fd, struct channel_attach_answer *answer, int fds[CHANNEL_ATTACH_FDS])
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(CHANNEL_ATTACH_FDS * sizeof(int))];
	struct iovec part = { .iov_base = answer, .iov_len = sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t size = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	uint32_t count;
	int rc;

	for (uint32_t i = 0; i < CHANNEL_ATTACH_FDS; i++)
		fds[i] = -1;
	if (size < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	if (size == 0)
		return -ECONNRESET;
	count = attach_fds(&message, fds);
	rc = attach_answer_check(answer, size, count);
	for (uint32_t i = 0; rc != 0 && i < count; i++) {
		close(fds[i]);
		fds[i] = -1;
	}
	return rc;
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
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(CHANNEL_ATTACH_FDS * sizeof(int))];
	struct iovec part = { .iov_base = answer, .iov_len = sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *head;

	answer->magic = ATTACH_MAGIC;
	answer->version = ATTACH_VERSION;
	if (fds != NULL) {
		memset(control, 0, sizeof(control));
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(CHANNEL_ATTACH_FDS * sizeof(int));
		memcpy(CMSG_DATA(head), fds, CHANNEL_ATTACH_FDS * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*answer) ? 0 : -errno;
}

/* ---- memory ---- */

int
channel_attach_memory(size_t size)
{
	int fd = memfd_create("lull-channel-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) != 0 || fcntl(fd, F_ADD_SEALS, ATTACH_SEALS) != 0)
		rc = -errno;
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

void *
channel_attach_map(int fd, size_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat seen;
	void *memory;

	if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &seen) != 0 ||
	    seen.st_size != (off_t)size)
		return NULL;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory != MAP_FAILED ? memory : NULL;
}
