/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel:IF and kernel-busy:IF: sockets read 64 packets at a time into one slab.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/error.h"
#include "kernel_check.h"
#include "kernel_send.h"
#include "kernel_socket.h"

#define SOCKET_BYTES (32ULL << 20)
#define SLOT_BYTES_MIN 2048u
#define SLOT_BYTES_MAX 65600u
#define SLOT_EXTRA 64
#define BUSY_POLL_US 50

struct kernel {
	struct kernel_interface interface;
	uint64_t buffer_bytes;
	bool busy;  /* SO_BUSY_POLL */
	bool asked; /* each iteration asks all sockets: nobody waits for them */
	int kick_fd;
	uint32_t socket_count;
	uint32_t next; /* socket to ask first */
	uint64_t cut;
	struct kernel_sender *sender; /* NULL: it only receives */
	struct kernel_socket sockets[LULL_NET_CLAIMS_MAX];
	struct pollfd polls[LULL_NET_CLAIMS_MAX + 1]; /* the last: kick */
	bool ready[LULL_NET_CLAIMS_MAX];

	uint8_t *slab;
	struct mmsghdr messages[LULL_NET_BURST];
	struct iovec parts[LULL_NET_BURST];
	struct sockaddr_storage names[LULL_NET_BURST];
	_Alignas(struct cmsghdr)
		uint8_t controls[LULL_NET_BURST][CMSG_SPACE(sizeof(struct timespec))];
};

/* ---- open and claim ---- */

static void
kernel_close(void *state)
{
	struct kernel *kernel = state;

	for (uint32_t i = 0; i < kernel->socket_count; i++)
		close(kernel->sockets[i].fd);
	if (kernel->kick_fd >= 0)
		close(kernel->kick_fd);
	kernel_send_close(kernel->sender);
	free(kernel->slab);
	free(kernel);
}

static int
kernel_slab(struct kernel *kernel)
{
	size_t slot =
		LULL_CLAMP(kernel->interface.mtu + SLOT_EXTRA, SLOT_BYTES_MIN, SLOT_BYTES_MAX);

	slot = (slot + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	kernel->slab = aligned_alloc(LULL_CACHE_LINE, slot * LULL_NET_BURST);
	if (kernel->slab == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < LULL_NET_BURST; i++) {
		kernel->parts[i] =
			(struct iovec){ .iov_base = kernel->slab + i * slot, .iov_len = slot };
		kernel->messages[i].msg_hdr = (struct msghdr){
			.msg_name = &kernel->names[i],
			.msg_iov = &kernel->parts[i],
			.msg_iovlen = 1,
			.msg_control = kernel->controls[i],
		};
	}
	return 0;
}

static int
kernel_open_as(const struct lull_net_config *config, const char *argument, bool busy, void **state,
	       struct lull_error *error)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));
	int rc;

	if (kernel == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for sockets");
	kernel->busy = busy;
	kernel->asked = busy || config->own_loop;
	kernel->buffer_bytes = config->socket_bytes != 0 ? config->socket_bytes : SOCKET_BYTES;
	kernel->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	rc = kernel->kick_fd < 0 ? lull_error_set(error, -errno, "no eventfd") :
				   kernel_interface_find(argument, &kernel->interface, error);
	if (rc == 0 && kernel_slab(kernel) != 0)
		rc = lull_error_set(error, -ENOMEM, "no memory for packets");
	if (rc == 0 && config->send_pkts != 0)
		rc = kernel_send_open(&kernel->sender, &kernel->interface, config->send_pkts,
				      error);
	if (rc != 0) {
		kernel_close(kernel);
		return rc;
	}
	*state = kernel;
	return 0;
}

static int
kernel_open(const struct lull_net_config *config, const char *argument, void **state,
	    struct lull_error *error)
{
	return kernel_open_as(config, argument, false, state, error);
}

static int
kernel_open_busy(const struct lull_net_config *config, const char *argument, void **state,
		 struct lull_error *error)
{
	return kernel_open_as(config, argument, true, state, error);
}

/* Another camera of the same ether type, sent to another address perhaps. */
static int
kernel_claim_mac(const struct kernel *kernel, const struct kernel_socket *sock,
		 const struct lull_net_claim *claim, struct lull_error *error)
{
	int rc = kernel_socket_join_claim(sock->fd, kernel->interface.index, claim);

	return rc == 0 ? 0 :
			 lull_error_set(error, rc, "address: %s does not take it: %s",
					kernel->interface.name, strerror(-rc));
}

static int
kernel_claim(void *state, struct lull_net_claim *claim, struct lull_error *error)
{
	struct kernel *kernel = state;
	struct kernel_socket *sock = &kernel->sockets[kernel->socket_count];
	int usec = BUSY_POLL_US, rc;
	bool shared = false;

	if (claim->source.kind == LULL_NET_SOURCE_MAC && !claim->ethernet)
		return lull_error_set(
			error, -EINVAL,
			"source: a UDP socket does not report MAC addresses; give the IP address");
	for (uint32_t i = 0; i < kernel->socket_count; i++) {
		const struct kernel_socket *other = &kernel->sockets[i];

		if (other->ethernet != claim->ethernet || other->ether_type != claim->ether_type ||
		    other->port != claim->port || claim->port + claim->ether_type == 0)
			continue;
		if (claim->ethernet)
			return kernel_claim_mac(kernel, other, claim, error);
		if (lull_net_ip_same(&other->address, &claim->address))
			return 0;
		shared = true;
	}
	rc = kernel_socket_open(sock, &kernel->interface, claim, kernel->buffer_bytes, shared,
				error);
	if (rc != 0)
		return rc;
	if (kernel->busy)
		(void)setsockopt(sock->fd, SOL_SOCKET, SO_BUSY_POLL, &usec, sizeof(usec));
	if (kernel->sender != NULL)
		kernel_send_prepare(kernel->sender, sock);
	kernel->ready[kernel->socket_count++] = true;
	return 0;
}

static int
kernel_start(void *state, struct lull_error *error)
{
	struct kernel *kernel = state;

	(void)error;
	for (uint32_t i = 0; i < kernel->socket_count; i++)
		kernel->polls[i] = (struct pollfd){ .fd = kernel->sockets[i].fd, .events = POLLIN };
	kernel->polls[kernel->socket_count] =
		(struct pollfd){ .fd = kernel->kick_fd, .events = POLLIN };
	return 0;
}

/* ---- packets ---- */

static uint64_t
kernel_stamp_ns(struct msghdr *header)
{
	struct timespec when = { .tv_sec = 0 };

	for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part != NULL;
	     part = CMSG_NXTHDR(header, part))
		if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS)
			memcpy(&when, CMSG_DATA(part), sizeof(when));
	if (when.tv_sec == 0)
		clock_gettime(CLOCK_REALTIME, &when);
	return (uint64_t)when.tv_sec * LULL_NS_PER_S + (uint64_t)when.tv_nsec;
}

static void
kernel_source(const struct sockaddr_storage *name, struct lull_net_packet *packet)
{
	if (name->ss_family == AF_INET) {
		packet->source = lull_net_ip_from4(
			(const uint8_t *)&((const struct sockaddr_in *)name)->sin_addr);
		packet->source_port = ntohs(((const struct sockaddr_in *)name)->sin_port);
	} else if (name->ss_family == AF_INET6) {
		memcpy(packet->source.bytes, &((const struct sockaddr_in6 *)name)->sin6_addr,
		       sizeof(packet->source.bytes));
		packet->source_port = ntohs(((const struct sockaddr_in6 *)name)->sin6_port);
	} else if (name->ss_family == AF_PACKET) {
		packet->mac = ((const struct sockaddr_ll *)name)->sll_addr;
	}
}

static uint32_t
kernel_fill(struct kernel *kernel, const struct kernel_socket *sock, uint32_t count,
	    struct lull_net_packet *packets)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct msghdr *header = &kernel->messages[i].msg_hdr;

		if (header->msg_flags & MSG_TRUNC) {
			LULL_COUNTER_ADD(kernel->cut, 1);
			continue;
		}
		packets[used] = (struct lull_net_packet){
			.data = kernel->parts[i].iov_base,
			.len_bytes = kernel->messages[i].msg_len,
			.first = sock->first,
			.stamp_ns = kernel_stamp_ns(header),
			.destination = sock->address,
		};
		kernel_source(&kernel->names[i], &packets[used++]);
	}
	return used;
}

void
kernel_stamps_in_order(struct lull_net_packet *packets, uint32_t count)
{
	for (uint32_t i = count; i > 1; i--)
		packets[i - 2].stamp_ns =
			LULL_MIN(packets[i - 2].stamp_ns, packets[i - 1].stamp_ns);
}

static uint32_t
kernel_read(struct kernel *kernel, uint32_t index, struct lull_net_packet *packets)
{
	const struct kernel_socket *sock = &kernel->sockets[index];
	int count;

	for (uint32_t i = 0; i < LULL_NET_BURST; i++) {
		kernel->messages[i].msg_hdr.msg_namelen = sizeof(kernel->names[i]);
		kernel->messages[i].msg_hdr.msg_controllen = sizeof(kernel->controls[i]);
	}
	count = recvmmsg(sock->fd, kernel->messages, LULL_NET_BURST, MSG_DONTWAIT, NULL);
	if (count < LULL_NET_BURST)
		kernel->ready[index] = false;
	if (count <= 0)
		return 0;
	count = (int)kernel_fill(kernel, sock, (uint32_t)count, packets);
	kernel_stamps_in_order(packets, (uint32_t)count);
	return (uint32_t)count;
}

/* One socket after the other, so that a flood on one leaves the others their turns. */
static uint32_t
kernel_receive(void *state, struct lull_net_packet *packets)
{
	struct kernel *kernel = state;

	for (uint32_t i = 0; i < kernel->socket_count; i++) {
		uint32_t index = kernel->next, count;

		kernel->next = index + 1 < kernel->socket_count ? index + 1 : 0;
		if (!kernel->asked && !kernel->ready[index])
			continue;
		count = kernel_read(kernel, index, packets);
		if (count > 0)
			return count;
	}
	return 0;
}

static void
kernel_release(void *state)
{
	(void)state; /* the slab is written again by the next receive */
}

static uint32_t
kernel_watch(void *state, struct pollfd *polls)
{
	const struct kernel *kernel = state;

	memcpy(polls, kernel->polls, kernel->socket_count * sizeof(*polls));
	return kernel->socket_count;
}

static void
kernel_watched(void *state, const struct pollfd *polls)
{
	struct kernel *kernel = state;

	for (uint32_t i = 0; i < kernel->socket_count; i++)
		if (polls == NULL || polls[i].revents != 0)
			kernel->ready[i] = true;
}

static void
kernel_wait(void *state, uint64_t limit_ns)
{
	struct kernel *kernel = state;
	struct timespec limit = { .tv_sec = (time_t)(limit_ns / LULL_NS_PER_S),
				  .tv_nsec = (long)(limit_ns % LULL_NS_PER_S) };
	uint64_t kicks;

	if (ppoll(kernel->polls, kernel->socket_count + 1, &limit, NULL) <= 0)
		return;
	kernel_watched(kernel, kernel->polls);
	if (kernel->polls[kernel->socket_count].revents != 0)
		(void)!read(kernel->kick_fd, &kicks, sizeof(kicks));
}

static void
kernel_kick(void *state)
{
	const struct kernel *kernel = state;
	uint64_t one = 1;

	(void)!write(kernel->kick_fd, &one, sizeof(one));
}

static uint32_t
kernel_send_packets(void *state, const struct lull_net_outgoing *packets, uint32_t count)
{
	struct kernel *kernel = state;

	if (kernel->sender == NULL)
		return 0;
	return kernel_send(kernel->sender, kernel->sockets, kernel->socket_count, packets, count);
}

/* ---- looking ---- */

static void
kernel_sent(void *state, struct lull_net_sent *sent)
{
	const struct kernel *kernel = state;

	*sent = (struct lull_net_sent){ .pkts = 0 };
	if (kernel->sender != NULL)
		lull_net_sent_read(&kernel->sender->sent, sent);
}

static void
kernel_link(void *state, struct lull_net_link *link)
{
	const struct kernel *kernel = state;

	kernel_interface_link(&kernel->interface, link);
}

static uint64_t
kernel_missed(void *state)
{
	const struct kernel *kernel = state;
	uint64_t missed = 0;

	for (uint32_t i = 0; i < kernel->socket_count; i++)
		missed += kernel_socket_missed(&kernel->sockets[i]);
	return missed;
}

static void
kernel_damaged(void *state, struct lull_net_damaged *damaged)
{
	const struct kernel *kernel = state;

	*damaged = (struct lull_net_damaged){ .cut = LULL_COUNTER_READ(kernel->cut) };
}

static uint32_t
kernel_ring_pkts(void *state)
{
	const struct kernel *kernel = state;
	uint64_t least_bytes = UINT64_MAX;

	for (uint32_t i = 0; i < kernel->socket_count; i++)
		least_bytes = LULL_MIN(least_bytes, kernel->sockets[i].granted_bytes);
	if (kernel->socket_count == 0)
		return 0;
	return (uint32_t)LULL_CLAMP(least_bytes / kernel_check_truesize(kernel->interface.mtu), 64u,
				    1u << 20);
}

static void
kernel_check(void *state, const struct lull_net_claim *claim, struct lull_findings *findings)
{
	const struct kernel *kernel = state;

	for (uint32_t i = 0; i < kernel->socket_count; i++)
		if (kernel->sockets[i].first == claim->first + 1 &&
		    lull_net_ip_same(&kernel->sockets[i].address, &claim->address))
			kernel_check_buffer(&kernel->sockets[i], &kernel->interface, claim,
					    findings);
	kernel_check_mtu(&kernel->interface, claim, findings);
}

static void
kernel_check_all(void *state, struct lull_findings *findings)
{
	const struct kernel *kernel = state;

	kernel_check_interface(&kernel->interface, findings);
}

#define KERNEL_MEMBERS                                                                             \
	.clock = LULL_NET_CLOCK_KERNEL, .claim = kernel_claim, .start = kernel_start,              \
	.receive = kernel_receive, .release = kernel_release, .damaged = kernel_damaged,           \
	.missed = kernel_missed, .ring_pkts = kernel_ring_pkts, .check = kernel_check_all,         \
	.check_claim = kernel_check, .send = kernel_send_packets, .sent = kernel_sent,             \
	.link = kernel_link, .close = kernel_close

const struct lull_net_backend lull_net_kernel = {
	.name = "kernel",
	.summary = "kernel sockets; the thread sleeps in the kernel until packets come",
	.open = kernel_open,
	.wait = kernel_wait,
	.kick = kernel_kick,
	.watch = kernel_watch,
	.watched = kernel_watched,
	KERNEL_MEMBERS,
};
const struct lull_net_backend lull_net_kernel_busy = {
	.name = "kernel-busy",
	.summary = "the same sockets, polled",
	.polled = true,
	.open = kernel_open_busy,
	KERNEL_MEMBERS,
};
