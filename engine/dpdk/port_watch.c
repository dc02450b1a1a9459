/* SPDX-License-Identifier: BSD-3-Clause */
#include "port_watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include <lull/rest.h>

#include "host/background.h"
#include "port.h"

#define NAME "lull-ports"
#define COST_SHARE 100 /* one part in a hundred of a CPU */
#define LINK_NS LULL_NS_PER_S

struct watch_port {
	struct lull_port_readings readings; /* its lock is the port's */
	bool watched;                       /* under that lock */
	bool look;                          /* atomic: an event of its link */
	uint64_t link_ns;                   /* the thread's: next look at it */
	uint64_t link;                      /* atomic: 2 x Mbit/s + up */
};

uint32_t lull_port_watch_epoch_now;
bool lull_port_watch_gone[RTE_MAX_ETHPORTS];

static struct {
	pthread_t thread;
	bool runs;
	bool forks_known;
	bool stop;      /* atomic */
	uint32_t kick;  /* futex word: changes when the next look shall not wait */
	uint32_t count; /* atomic: ports watched */
	struct watch_port ports[RTE_MAX_ETHPORTS];
} watch;

/* ---- asking: the port's lock is held ---- */

static int
watch_count(uint16_t port_id, struct lull_port_counts *counts)
{
	struct rte_eth_stats stats;
	int rc = rte_eth_stats_get(port_id, &stats);

	if (rc != 0)
		return rc;
	counts->missed =
		stats.imissed + lull_port_pair_missed(port_id) + lull_port_packet_missed(port_id);
	counts->nombuf = stats.rx_nombuf;
	counts->errors = stats.ierrors;
	return 0;
}

static const struct lull_port_asker watch_asker = { .count = watch_count };

static int
watch_ask(uint16_t port_id)
{
	uint64_t count = __atomic_load_n(&watch.count, __ATOMIC_RELAXED);

	return lull_port_readings_ask(&watch.ports[port_id].readings, &watch_asker, port_id,
				      COST_SHARE * LULL_MAX(count, 1));
}

static void
watch_raise_epoch(void)
{
	__atomic_fetch_add(&lull_port_watch_epoch_now, 1, __ATOMIC_RELEASE);
}

/* A port that does not tell keeps the link that it had. */
static void
watch_ask_link(uint16_t port_id)
{
	struct watch_port *port = &watch.ports[port_id];
	struct rte_eth_link link;
	uint64_t word;

	if (rte_eth_link_get_nowait(port_id, &link) != 0)
		return;
	word = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : 2ULL * link.link_speed;
	word += link.link_status == RTE_ETH_LINK_UP;
	if (__atomic_exchange_n(&port->link, word, __ATOMIC_RELAXED) != word)
		watch_raise_epoch();
}

/* ---- the thread ---- */

static void
watch_look_port(uint16_t port_id, uint64_t now_ns)
{
	struct watch_port *port = &watch.ports[port_id];

	pthread_mutex_lock(&port->readings.lock);
	if (port->watched && !lull_port_is_gone(port_id)) {
		if (__atomic_exchange_n(&port->look, false, __ATOMIC_ACQUIRE) ||
		    now_ns >= port->link_ns) {
			watch_ask_link(port_id);
			port->link_ns = now_ns + LINK_NS;
		}
		if (lull_port_readings_due(&port->readings, now_ns))
			watch_ask(port_id);
	}
	pthread_mutex_unlock(&port->readings.lock);
}

/* Returns when to come again. */
static uint64_t
watch_look(uint64_t now_ns)
{
	uint64_t next_ns = now_ns + LINK_NS;

	for (uint16_t port_id = 0; port_id < RTE_MAX_ETHPORTS; port_id++) {
		struct watch_port *port = &watch.ports[port_id];
		uint64_t due_ns;

		if (!__atomic_load_n(&port->watched, __ATOMIC_RELAXED) ||
		    lull_port_is_gone(port_id))
			continue;
		watch_look_port(port_id, now_ns);
		due_ns = __atomic_load_n(&port->readings.due_ns, __ATOMIC_RELAXED);
		next_ns = LULL_MIN(next_ns, due_ns);
	}
	return next_ns;
}

static void
watch_wait(uint32_t seen, uint64_t ns)
{
	const struct timespec limit = { .tv_sec = (time_t)(ns / LULL_NS_PER_S),
					.tv_nsec = (long)(ns % LULL_NS_PER_S) };

	syscall(SYS_futex, &watch.kick, FUTEX_WAIT_PRIVATE, seen, &limit, NULL, 0);
}

static void *
watch_run(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&watch.stop, __ATOMIC_ACQUIRE)) {
		uint32_t seen = __atomic_load_n(&watch.kick, __ATOMIC_ACQUIRE);
		uint64_t next_ns = watch_look(lull_clock_ns()), now_ns = lull_clock_ns();

		if (next_ns > now_ns)
			watch_wait(seen, next_ns - now_ns);
	}
	return NULL;
}

static void
watch_kick(void)
{
	__atomic_fetch_add(&watch.kick, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &watch.kick, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The child of a fork has no thread, and a lock may have been taken for good. */
static void
watch_forked(void)
{
	watch.runs = false;
	for (int i = 0; i < RTE_MAX_ETHPORTS; i++)
		pthread_mutex_init(&watch.ports[i].readings.lock, NULL);
}

int
lull_port_watch_start(void)
{
	int rc;

	for (int i = 0; i < RTE_MAX_ETHPORTS; i++)
		lull_port_readings_init(&watch.ports[i].readings);
	if (!watch.forks_known)
		pthread_atfork(NULL, NULL, watch_forked);
	watch.forks_known = true;
	__atomic_store_n(&watch.stop, false, __ATOMIC_RELEASE);
	rc = lull_background_start(&watch.thread, NULL, NAME, watch_run);
	watch.runs = rc == 0;
	return rc;
}

void
lull_port_watch_stop(void)
{
	if (!watch.runs)
		return;
	__atomic_store_n(&watch.stop, true, __ATOMIC_RELEASE);
	watch_kick();
	pthread_join(watch.thread, NULL);
	watch.runs = false;
}

/* ---- events: on DPDK's interrupt thread ---- */

static int
watch_link_event(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *more)
{
	(void)event;
	(void)arg;
	(void)more;
	__atomic_store_n(&watch.ports[port_id].look, true, __ATOMIC_RELEASE);
	watch_kick();
	return 0;
}

static int
watch_removal(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *more)
{
	(void)event;
	(void)arg;
	(void)more;
	__atomic_store_n(&lull_port_watch_gone[port_id], true, __ATOMIC_RELAXED);
	watch_raise_epoch();
	return 0;
}

/* ---- ports ---- */

void
lull_port_watch_add(uint16_t port_id)
{
	struct watch_port *port = &watch.ports[port_id];

	pthread_mutex_lock(&port->readings.lock);
	__atomic_store_n(&lull_port_watch_gone[port_id], false, __ATOMIC_RELAXED);
	__atomic_store_n(&port->link, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&watch.count, !port->watched, __ATOMIC_RELAXED);
	__atomic_store_n(&port->watched, true, __ATOMIC_RELAXED);
	lull_port_readings_begin(&port->readings);
	watch_ask(port_id);
	watch_ask_link(port_id);
	pthread_mutex_unlock(&port->readings.lock);
	rte_eth_dev_callback_register(port_id, RTE_ETH_EVENT_INTR_LSC, watch_link_event, NULL);
	rte_eth_dev_callback_register(port_id, RTE_ETH_EVENT_INTR_RMV, watch_removal, NULL);
	watch_kick();
}

void
lull_port_watch_remove(uint16_t port_id)
{
	struct watch_port *port = &watch.ports[port_id];

	if (!__atomic_load_n(&port->watched, __ATOMIC_RELAXED))
		return;
	rte_eth_dev_callback_unregister(port_id, RTE_ETH_EVENT_INTR_LSC, watch_link_event, NULL);
	rte_eth_dev_callback_unregister(port_id, RTE_ETH_EVENT_INTR_RMV, watch_removal, NULL);
	pthread_mutex_lock(&port->readings.lock);
	__atomic_store_n(&port->watched, false, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&watch.count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&port->readings.lock);
}

/* ---- read ---- */

void
lull_port_reading(uint16_t port_id, struct lull_port_reading *reading)
{
	lull_port_readings_read(&watch.ports[port_id].readings, reading);
}

bool
lull_port_reading_try(uint16_t port_id, struct lull_port_reading *reading)
{
	return lull_port_readings_try(&watch.ports[port_id].readings, reading);
}

int
lull_port_read(uint16_t port_id, struct lull_port_reading *reading)
{
	struct watch_port *port = &watch.ports[port_id];
	int rc = -ENODEV;

	pthread_mutex_lock(&port->readings.lock);
	if (port->watched && !lull_port_is_gone(port_id)) {
		rc = watch_ask(port_id);
		if (rc == -EAGAIN)
			rc = watch_ask(port_id);
	}
	pthread_mutex_unlock(&port->readings.lock);
	lull_port_reading(port_id, reading);
	return rc;
}

struct lull_port_link
lull_port_link(uint16_t port_id)
{
	uint64_t word = __atomic_load_n(&watch.ports[port_id].link, __ATOMIC_RELAXED);

	return (struct lull_port_link){ .mbps = (uint32_t)(word / 2), .up = word % 2 != 0 };
}

struct lull_port_link
lull_port_read_link(uint16_t port_id)
{
	struct watch_port *port = &watch.ports[port_id];

	pthread_mutex_lock(&port->readings.lock);
	if (port->watched && !lull_port_is_gone(port_id))
		watch_ask_link(port_id);
	pthread_mutex_unlock(&port->readings.lock);
	return lull_port_link(port_id);
}
