/* SPDX-License-Identifier: BSD-3-Clause */
#include "sender.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdalign.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <netinet/udp.h>

#include "frame/rvf.h"

#define BUFFER_BYTES (8 << 20)
#define CMP_ETHER_TYPE 0x99fe
#define SEGMENTS_BYTES_MAX 65000 /* with headers an IP packet */

uint32_t
sender_ip(const struct lull_emulator_config *config, uint32_t camera)
{
	return config->bind.ip + (config->apart == LULL_EMULATOR_APART_ADDRESSES ? camera : 0);
}

static uint16_t
sender_bound_port(const struct lull_emulator_config *config, uint32_t camera)
{
	if (config->bind.port == 0 || config->apart == LULL_EMULATOR_APART_ADDRESSES)
		return config->bind.port;
	return (uint16_t)(config->bind.port + camera);
}

struct sender_target
sender_target_ip(uint32_t ip, uint16_t port)
{
	struct sender_target target = { .len = sizeof(target.ip) };

	target.ip.sin_family = AF_INET;
	target.ip.sin_addr.s_addr = htonl(ip);
	target.ip.sin_port = htons(port);
	return target;
}

uint16_t
sender_port(int fd)
{
	struct sockaddr_in ip = { .sin_port = 0 };
	socklen_t len = sizeof(ip);

	return getsockname(fd, (struct sockaddr *)&ip, &len) == 0 ? ntohs(ip.sin_port) : 0;
}

/* A frame should fit; less than asked for only means that sending waits. */
static void
sender_buffer(int fd)
{
	int bytes = BUFFER_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static int
sender_open_ethernet(const struct lull_emulator_config *config, int *fd,
		     struct sender_target *target, struct lull_error *error)
{
	uint16_t type = config->protocol == LULL_EMULATOR_RVF ? RVF_ETHER_TYPE : CMP_ETHER_TYPE;
	unsigned int index = if_nametoindex(config->interface);

	if (index == 0)
		return lull_error_set(error, -ENODEV, "interface: there is no '%s'",
				      config->interface);
	*fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* 0: sends only */
	if (*fd < 0)
		return lull_error_set(error, -errno,
				      "protocol %s needs the right to send raw "
				      "packets: %s",
				      config->protocol == LULL_EMULATOR_RVF ? "rvf" : "cmp",
				      strerror(errno));
	*target = (struct sender_target){ .len = sizeof(target->link) };
	target->link.sll_family = AF_PACKET;
	target->link.sll_protocol = htons(type);
	target->link.sll_ifindex = (int)index;
	target->link.sll_halen = 6;
	memcpy(target->link.sll_addr, config->to.mac, 6);
	return 0;
}

static int
sender_open_ip(const struct lull_emulator_config *config, uint32_t camera, int *fd,
	       struct lull_error *error)
{
	uint16_t port = sender_bound_port(config, camera);
	struct sender_target own = sender_target_ip(sender_ip(config, camera), port);
	struct ip_mreqn group = { .imr_ifindex = 0 };
	int yes = 1;

	*fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return lull_error_set(error, -errno, "no socket: %s", strerror(errno));
	(void)setsockopt(*fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof(yes));
	if (config->interface[0] != '\0') {
		group.imr_ifindex = (int)if_nametoindex(config->interface);
		if (group.imr_ifindex == 0)
			return lull_error_set(error, -ENODEV, "interface: there is no '%s'",
					      config->interface);
		if (setsockopt(*fd, SOL_SOCKET, SO_BINDTODEVICE, config->interface,
			       (socklen_t)strlen(config->interface)) != 0 ||
		    setsockopt(*fd, IPPROTO_IP, IP_MULTICAST_IF, &group, sizeof(group)) != 0)
			return lull_error_set(error, -errno, "interface: cannot use '%s': %s",
					      config->interface, strerror(errno));
	}
	if (bind(*fd, &own.any, own.len) != 0)
		return lull_error_set(error, -errno, "bind: camera %u cannot have %s port %u: %s",
				      camera, inet_ntoa(own.ip.sin_addr), port, strerror(errno));
	return 0;
}

int
sender_open(const struct lull_emulator_config *config, uint32_t camera, int *fd,
	    struct sender_target *target, struct lull_error *error)
{
	int rc;

	*fd = -1;
	if (emulator_ethernet(config)) {
		rc = sender_open_ethernet(config, fd, target, error);
	} else {
		*target = sender_target_ip(config->to.ip, (uint16_t)(config->to.port + camera));
		rc = sender_open_ip(config, camera, fd, error);
	}
	if (rc == 0)
		sender_buffer(*fd);
	return rc;
}

/* A message of the kernel: packets that follow each other and are cut apart by it. */
struct sender_message {
	struct iovec parts[SENDER_BATCH];
	alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(uint16_t))];
};

/* Packets from @p first on that may share a message: all of one length, the last may be shorter. */
static uint32_t
sender_run(const struct sender_batch *batch, uint32_t first)
{
	uint32_t len = batch->packets[first].len, bytes = len, count = 1;

	while (batch->segment && first + count < batch->count) {
		uint32_t next = batch->packets[first + count].len;

		if (next > len || bytes + next > SEGMENTS_BYTES_MAX)
			break;
		bytes += next;
		count++;
		if (next < len)
			break;
	}
	return count;
}

/* Fill in @p header with @p count packets from @p first on. */
static void
sender_fill(const struct sender_batch *batch, uint32_t first, uint32_t count,
	    struct sender_message *message, struct msghdr *header)
{
	struct cmsghdr *control;
	uint16_t len = (uint16_t)batch->packets[first].len;

	for (uint32_t i = 0; i < count; i++) {
		message->parts[i].iov_base = (void *)(uintptr_t)batch->bytes[first + i];
		message->parts[i].iov_len = batch->packets[first + i].len;
	}
	header->msg_iov = message->parts;
	header->msg_iovlen = count;
	header->msg_control = NULL;
	header->msg_controllen = 0;
	if (count == 1)
		return;
	header->msg_control = message->control;
	header->msg_controllen = sizeof(message->control);
	control = CMSG_FIRSTHDR(header);
	control->cmsg_level = IPPROTO_UDP;
	control->cmsg_type = UDP_SEGMENT;
	control->cmsg_len = CMSG_LEN(sizeof(len));
	memcpy(CMSG_DATA(control), &len, sizeof(len));
}

/* One message after the other; returns how many the kernel took. */
static uint32_t
sender_give(int fd, struct mmsghdr *messages, uint32_t count)
{
	uint32_t done = 0;

	while (done < count) {
		int sent = sendmmsg(fd, messages + done, count - done, 0);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			break;
		done += (uint32_t)sent;
	}
	return done;
}

/* Packets from @p first on in as few calls as possible; returns how many the kernel took. */
static uint32_t
sender_send(int fd, const struct sender_target *target, const struct sender_batch *batch,
	    uint32_t first)
{
	static struct sender_message parts[SENDER_BATCH]; /* 70 KiB; the one thread alone */
	struct mmsghdr messages[SENDER_BATCH];
	struct sender_target to = *target;
	uint32_t counts[SENDER_BATCH], count = 0, taken = 0, done;

	for (uint32_t next = first; next < batch->count; next += counts[count++]) {
		memset(&messages[count], 0, sizeof(messages[0]));
		messages[count].msg_hdr.msg_name = &to.any;
		messages[count].msg_hdr.msg_namelen = to.len;
		counts[count] = sender_run(batch, next);
		sender_fill(batch, next, counts[count], &parts[count], &messages[count].msg_hdr);
	}
	done = sender_give(fd, messages, count);
	for (uint32_t i = 0; i < done; i++)
		taken += counts[i];
	return taken;
}

/* The interface does not cut packets apart, or they are larger than it takes. */
static bool
sender_uncut(int wrong)
{
	return wrong == EINVAL || wrong == EMSGSIZE || wrong == EIO || wrong == EOPNOTSUPP;
}

void
sender_flush(int fd, const struct sender_target *target, struct sender_batch *batch,
	     bool taken[SENDER_BATCH])
{
	uint32_t done = 0;

	memset(taken, 0, SENDER_BATCH * sizeof(taken[0]));
	while (done < batch->count) {
		uint32_t count = sender_send(fd, target, batch, done);

		for (uint32_t i = 0; i < count; i++)
			taken[done++] = true;
		if (done == batch->count)
			break;
		/* This one is refused; the next may not be. A row of them may fit one by one. */
		if (sender_run(batch, done) > 1 && sender_uncut(errno))
			batch->segment = false;
		else
			done++;
	}
}
