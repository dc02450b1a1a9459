/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_port_exception.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <poll.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_ring.h>
#include <rte_spinlock.h>

#include <lull/engine.h>

#include "host/error.h"
#include "rx_port_life.h"

#define BURST 32
#define FRAME_EXTRA 64 /* Ethernet, VLAN tags */
#define SEGMENTS_MAX 8
#define MTU_MAX 16000u
#define PORT_WAIT_MS 1
#define HAND_WAIT_US 50

struct lull_rx_port_exception {
	uint16_t port_id;
	unsigned int if_index;
	int tap, kick;
	pthread_t thread;
	bool stop, asleep;
	bool handed;           /* somebody receives: asked for */
	bool resting;          /* the own thread leaves the port alone: so it is */
	struct rte_ring *ring; /* to the kernel */
	struct rte_mempool *pool;
	uint32_t frame_bytes;
	rte_spinlock_t sends; /* on the port */
	bool given;           /* since the last flush: the receiving thread's */
	uint64_t full;
	alignas(LULL_CACHE_LINE) struct lull_net_exceptions counters; /* the own thread's */
};

/* ---- the interface ---- */

static int
exception_ioctl(int fd, unsigned long what, struct ifreq *request)
{
	return ioctl(fd, what, request) == 0 ? 0 : -errno;
}

static int
exception_dress(struct lull_rx_port_exception *exception, struct ifreq *request, uint32_t mtu)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
	struct rte_ether_addr mac;

	if (fd < 0)
		return -errno;
	rc = rte_eth_macaddr_get(exception->port_id, &mac);
	request->ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request->ifr_hwaddr.sa_data, &mac, sizeof(mac));
	if (rc == 0)
		rc = exception_ioctl(fd, SIOCSIFHWADDR, request);
	request->ifr_mtu = (int)mtu;
	if (rc == 0)
		rc = exception_ioctl(fd, SIOCSIFMTU, request);
	if (rc == 0)
		rc = exception_ioctl(fd, SIOCGIFFLAGS, request);
	request->ifr_flags |= IFF_UP;
	if (rc == 0)
		rc = exception_ioctl(fd, SIOCSIFFLAGS, request);
	if (rc == 0)
		rc = exception_ioctl(fd, SIOCGIFINDEX, request);
	if (rc == 0)
		exception->if_index = (unsigned int)request->ifr_ifindex;
	close(fd);
	return rc;
}

static int
exception_tap(struct lull_rx_port_exception *exception, const char *name, uint32_t mtu,
	      struct lull_error *error)
{
	struct ifreq request = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int rc;

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	exception->tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	rc = exception->tap < 0 ? -errno : exception_ioctl(exception->tap, TUNSETIFF, &request);
	if (rc == 0)
		rc = exception_dress(exception, &request, mtu);
	if (rc == 0)
		return 0;
	return lull_error_set(error, rc, "exception=%s: cannot make the TAP interface: %s%s", name,
			      strerror(-rc),
			      rc == -EPERM ? "; this needs root or CAP_NET_ADMIN" : "");
}

/* ---- packets ---- */

static void
exception_write(struct lull_rx_port_exception *exception, const struct rte_mbuf *pkt)
{
	struct iovec parts[SEGMENTS_MAX];
	int count = 0;

	for (const struct rte_mbuf *part = pkt; part != NULL && count < SEGMENTS_MAX;
	     part = part->next)
		parts[count++] = (struct iovec){ .iov_base = rte_pktmbuf_mtod(part, void *),
						 .iov_len = part->data_len };
	if (pkt->nb_segs <= SEGMENTS_MAX && writev(exception->tap, parts, count) > 0)
		LULL_COUNTER_ADD(exception->counters.to_kernel, 1);
	else
		LULL_COUNTER_ADD(exception->counters.refused, 1);
}

static uint32_t
exception_to_kernel(struct lull_rx_port_exception *exception)
{
	struct rte_mbuf *pkts[BURST];
	uint32_t count = rte_ring_sc_dequeue_burst(exception->ring, (void **)pkts, BURST, NULL);

	for (uint32_t i = 0; i < count; i++)
		exception_write(exception, pkts[i]);
	rte_pktmbuf_free_bulk(pkts, count);
	return count;
}

static uint32_t
exception_from_kernel(struct lull_rx_port_exception *exception)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t count = 0, sent;

	while (count < BURST) {
		struct rte_mbuf *pkt = rte_pktmbuf_alloc(exception->pool);
		ssize_t got = -1;

		if (pkt != NULL)
			got = read(exception->tap, rte_pktmbuf_mtod(pkt, void *),
				   exception->frame_bytes);
		if (got <= 0) {
			rte_pktmbuf_free(pkt);
			break;
		}
		pkt->data_len = (uint16_t)got;
		pkt->pkt_len = (uint32_t)got;
		pkts[count++] = pkt;
	}
	rte_spinlock_lock(&exception->sends);
	sent = rte_eth_tx_burst(exception->port_id, 0, pkts, count);
	rte_spinlock_unlock(&exception->sends);
	LULL_COUNTER_ADD(exception->counters.from_kernel, sent);
	LULL_COUNTER_ADD(exception->counters.refused, count - sent);
	rte_pktmbuf_free_bulk(pkts + sent, (unsigned int)(count - sent));
	return count;
}

/* Nobody receives yet, or any more. */
static uint32_t
exception_from_port(struct lull_rx_port_exception *exception)
{
	struct rte_mbuf *pkts[BURST];
	uint16_t count = rte_eth_rx_burst(exception->port_id, 0, pkts, BURST);

	for (uint32_t i = 0; i < count; i++)
		exception_write(exception, pkts[i]);
	rte_pktmbuf_free_bulk(pkts, count);
	return count;
}

/* ---- the thread ---- */

/* Both directions, once; 0: nothing was there. */
static uint32_t
exception_iterate(struct lull_rx_port_exception *exception)
{
	bool handed = __atomic_load_n(&exception->handed, __ATOMIC_ACQUIRE);
	uint32_t count = exception_to_kernel(exception) + exception_from_kernel(exception);

	if (!handed)
		count += exception_from_port(exception);
	__atomic_store_n(&exception->resting, handed, __ATOMIC_RELEASE);
	return count;
}

static void
exception_sleep(struct lull_rx_port_exception *exception)
{
	struct pollfd polls[] = { { .fd = exception->tap, .events = POLLIN },
				  { .fd = exception->kick, .events = POLLIN } };
	uint64_t kicks;

	__atomic_store_n(&exception->asleep, true, __ATOMIC_SEQ_CST);
	if (rte_ring_empty(exception->ring) &&
	    !__atomic_load_n(&exception->stop, __ATOMIC_ACQUIRE) &&
	    poll(polls, 2, exception->resting ? -1 : PORT_WAIT_MS) > 0 && polls[1].revents != 0)
		(void)!read(exception->kick, &kicks, sizeof(kicks));
	__atomic_store_n(&exception->asleep, false, __ATOMIC_SEQ_CST);
}

static void *
exception_run(void *arg)
{
	struct lull_rx_port_exception *exception = arg;

	lull_rx_port_register(true);
	while (!__atomic_load_n(&exception->stop, __ATOMIC_ACQUIRE) && !lull_rx_port_over())
		if (exception_iterate(exception) == 0)
			exception_sleep(exception);
	lull_rx_port_register(false);
	return NULL;
}

static void
exception_kick(struct lull_rx_port_exception *exception)
{
	uint64_t one = 1;

	(void)!write(exception->kick, &one, sizeof(one));
}

void
lull_rx_port_exception_hand(struct lull_rx_port_exception *exception, bool begins)
{
	__atomic_store_n(&exception->handed, begins, __ATOMIC_RELEASE);
	exception_kick(exception);
	/* To sleep, not to yield: the caller may be a real time thread on the same CPU. */
	while (begins && !__atomic_load_n(&exception->resting, __ATOMIC_ACQUIRE) &&
	       !lull_rx_port_over())
		usleep(HAND_WAIT_US);
}

bool
lull_rx_port_exception_give(struct lull_rx_port_exception *exception, struct rte_mbuf *pkt)
{
	if (rte_ring_sp_enqueue(exception->ring, pkt) != 0) {
		LULL_COUNTER_ADD(exception->full, 1);
		return false;
	}
	exception->given = true;
	return true;
}

void
lull_rx_port_exception_flush(struct lull_rx_port_exception *exception)
{
	if (!exception->given)
		return;
	exception->given = false;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&exception->asleep, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&exception->asleep, false, __ATOMIC_SEQ_CST))
		exception_kick(exception);
}

uint16_t
lull_rx_port_exception_send(struct lull_rx_port_exception *exception, struct rte_mbuf **pkts,
			    uint16_t count)
{
	uint16_t sent;

	if (!rte_spinlock_trylock(&exception->sends))
		return 0;
	sent = rte_eth_tx_burst(exception->port_id, 0, pkts, count);
	rte_spinlock_unlock(&exception->sends);
	return sent;
}

/* ---- open and close ---- */

void
lull_rx_port_exception_stop(struct lull_rx_port_exception *exception)
{
	__atomic_store_n(&exception->stop, true, __ATOMIC_RELEASE);
	exception_kick(exception);
	pthread_join(exception->thread, NULL);
}

void
lull_rx_port_exception_free(struct lull_rx_port_exception *exception)
{
	struct rte_mbuf *pkt;

	while (exception->ring != NULL && rte_ring_sc_dequeue(exception->ring, (void **)&pkt) == 0)
		rte_pktmbuf_free(pkt);
	rte_ring_free(exception->ring);
	rte_mempool_free(exception->pool);
	if (exception->kick >= 0)
		close(exception->kick);
	if (exception->tap >= 0)
		close(exception->tap);
	free(exception);
}

static int
exception_memory(struct lull_rx_port_exception *exception, const char *name,
		 struct lull_error *error)
{
	char label[RTE_RING_NAMESIZE];

	snprintf(label, sizeof(label), "lx%u", exception->port_id);
	exception->ring = rte_ring_create(label, LULL_RX_PORT_EXCEPTION_PKTS, SOCKET_ID_ANY,
					  RING_F_SP_ENQ | RING_F_SC_DEQ);
	exception->pool = lull_pool_create(label, 4 * LULL_RX_PORT_EXCEPTION_PKTS,
					   (uint16_t)exception->frame_bytes, error);
	exception->kick = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (exception->ring != NULL && exception->pool != NULL && exception->kick >= 0)
		return 0;
	return lull_error_set(error, -ENOMEM, "exception=%s: no memory for packets", name);
}

int
lull_rx_port_exception_open(uint16_t port_id, const char *name, uint32_t mtu,
			    struct lull_rx_port_exception **out, struct lull_error *error)
{
	struct lull_rx_port_exception *exception =
		aligned_alloc(LULL_CACHE_LINE, sizeof(*exception));
	int rc;

	if (exception == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for packets");
	memset(exception, 0, sizeof(*exception));
	exception->port_id = port_id;
	exception->tap = exception->kick = -1;
	mtu = LULL_MIN(mtu, MTU_MAX);
	exception->frame_bytes = mtu + FRAME_EXTRA;
	rc = exception_tap(exception, name, mtu, error);
	if (rc == 0)
		rc = exception_memory(exception, name, error);
	if (rc == 0 && pthread_create(&exception->thread, NULL, exception_run, exception) != 0)
		rc = lull_error_set(error, -EAGAIN, "exception=%s: cannot start a thread", name);
	if (rc != 0) {
		lull_rx_port_exception_free(exception);
		return rc;
	}
	*out = exception;
	return 0;
}

unsigned int
lull_rx_port_exception_index(const struct lull_rx_port_exception *exception)
{
	return exception->if_index;
}

void
lull_rx_port_exception_count(const struct lull_rx_port_exception *exception,
			     struct lull_net_exceptions *counters)
{
	*counters = (struct lull_net_exceptions){
		.to_kernel = LULL_COUNTER_READ(exception->counters.to_kernel),
		.from_kernel = LULL_COUNTER_READ(exception->counters.from_kernel),
		.refused = LULL_COUNTER_READ(exception->counters.refused) +
			   LULL_COUNTER_READ(exception->full),
	};
}
