/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* monitor addresses, rte_eth_dev_conf_get */
#include "fake_port.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_power_intrinsics.h>

#include "stand.h"

struct fake_port fake_port;
static struct rte_eth_fp_ops real_ops;
static void *queue_data[FAKE_QUEUES];

static bool
is_fake(uint16_t port_id)
{
	return fake_port.queue_count > 0 && port_id == fake_port.far.port_id;
}

/* ---- fast path ---- */

static uint16_t
fake_receive(void *data, struct rte_mbuf **pkts, uint16_t count_max)
{
	struct fake_queue *queue = data;
	uint32_t taken = queue->taken;
	uint16_t count = 0;

	__atomic_fetch_add(&fake_port.polls, 1, __ATOMIC_RELAXED);
	while (count < count_max && taken != __atomic_load_n(&queue->sent, __ATOMIC_SEQ_CST))
		pkts[count++] = queue->slots[taken++ % FAKE_SLOTS];
	__atomic_store_n(&queue->taken, taken, __ATOMIC_SEQ_CST);
	return count;
}

static uint32_t
fake_count(void *data)
{
	const struct fake_queue *queue = data;

	return __atomic_load_n(&queue->sent, __ATOMIC_SEQ_CST) -
	       __atomic_load_n(&queue->taken, __ATOMIC_SEQ_CST);
}

bool
fake_port_send(uint32_t index, uint32_t number)
{
	struct fake_queue *queue = &fake_port.queues[index];
	uint32_t sent = queue->sent;
	struct rte_mbuf *pkt;

	if (sent - __atomic_load_n(&queue->taken, __ATOMIC_SEQ_CST) == FAKE_SLOTS)
		return false;
	pkt = stand_frame(stand_pool(), number);
	if (pkt == NULL)
		return false;
	queue->slots[sent % FAKE_SLOTS] = pkt;
	__atomic_store_n(&queue->sent, sent + 1, __ATOMIC_SEQ_CST);
	/* Only who is armed gets a word: one, as hardware that masks itself gives. */
	if (__atomic_exchange_n(&queue->armed, false, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&queue->words, 1, __ATOMIC_SEQ_CST);
		eventfd_write(queue->file, 1);
	}
	return true;
}

uint32_t
fake_port_waiting(void)
{
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < fake_port.queue_count; i++)
		waiting += fake_count(&fake_port.queues[i]);
	return waiting;
}

/* ---- the rest of the driver ---- */

/* A packet comes at this very moment. */
static void
fake_inject(int *queue, uint32_t turn)
{
	int into = *queue;

	if (into < 0 || (fake_port.at_queue >= 0 && (uint32_t)fake_port.at_queue != turn))
		return;
	*queue = -1;
	fake_port_send((uint32_t)into, 4711);
}

static int
address_changed(const uint64_t value, const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ])
{
	return value != opaque[0] ? -1 : 0;
}

int __real_rte_eth_get_monitor_addr(uint16_t port_id, uint16_t queue_id,
				    struct rte_power_monitor_cond *condition);
int __wrap_rte_eth_get_monitor_addr(uint16_t port_id, uint16_t queue_id,
				    struct rte_power_monitor_cond *condition);
int
__wrap_rte_eth_get_monitor_addr(uint16_t port_id, uint16_t queue_id,
				struct rte_power_monitor_cond *condition)
{
	struct fake_queue *queue = &fake_port.queues[queue_id];

	if (!is_fake(port_id))
		return __real_rte_eth_get_monitor_addr(port_id, queue_id, condition);
	if (queue->address_rc != 0)
		return queue->address_rc;
	fake_inject(&fake_port.at_address, queue_id);
	memset(condition, 0, sizeof(*condition));
	condition->addr = &queue->sent;
	condition->size = sizeof(queue->sent);
	condition->opaque[0] = __atomic_load_n(&queue->sent, __ATOMIC_SEQ_CST);
	condition->fn = address_changed;
	return 0;
}

int __real_rte_eth_dev_rx_intr_enable(uint16_t port_id, uint16_t queue_id);
int __wrap_rte_eth_dev_rx_intr_enable(uint16_t port_id, uint16_t queue_id);
int
__wrap_rte_eth_dev_rx_intr_enable(uint16_t port_id, uint16_t queue_id)
{
	struct fake_queue *queue = &fake_port.queues[queue_id];

	if (!is_fake(port_id))
		return __real_rte_eth_dev_rx_intr_enable(port_id, queue_id);
	if (queue->enable_rc != 0)
		return queue->enable_rc;
	fake_inject(&fake_port.at_arm, queue_id);
	queue->arms++;
	__atomic_store_n(&queue->armed, true, __ATOMIC_SEQ_CST);
	return 0;
}

int __real_rte_eth_dev_rx_intr_disable(uint16_t port_id, uint16_t queue_id);
int __wrap_rte_eth_dev_rx_intr_disable(uint16_t port_id, uint16_t queue_id);
int
__wrap_rte_eth_dev_rx_intr_disable(uint16_t port_id, uint16_t queue_id)
{
	if (!is_fake(port_id))
		return __real_rte_eth_dev_rx_intr_disable(port_id, queue_id);
	fake_port.queues[queue_id].disarms++;
	__atomic_store_n(&fake_port.queues[queue_id].armed, false, __ATOMIC_SEQ_CST);
	return 0;
}

int __real_rte_eth_dev_rx_intr_ctl_q_get_fd(uint16_t port_id, uint16_t queue_id);
int __wrap_rte_eth_dev_rx_intr_ctl_q_get_fd(uint16_t port_id, uint16_t queue_id);
int
__wrap_rte_eth_dev_rx_intr_ctl_q_get_fd(uint16_t port_id, uint16_t queue_id)
{
	if (!is_fake(port_id))
		return __real_rte_eth_dev_rx_intr_ctl_q_get_fd(port_id, queue_id);
	return fake_port.queues[queue_id].file;
}

int __real_rte_eth_dev_conf_get(uint16_t port_id, struct rte_eth_conf *config);
int __wrap_rte_eth_dev_conf_get(uint16_t port_id, struct rte_eth_conf *config);
int
__wrap_rte_eth_dev_conf_get(uint16_t port_id, struct rte_eth_conf *config)
{
	int rc = __real_rte_eth_dev_conf_get(port_id, config);

	if (rc == 0 && is_fake(port_id))
		config->intr_conf.rxq = fake_port.interrupts ? 1 : 0;
	return rc;
}

/* ---- open and close ---- */

void
fake_port_open(uint32_t queue_count, bool counts, bool shared)
{
	memset(&fake_port, 0, sizeof(fake_port));
	/* One real queue is enough: nobody gets to it. */
	stand_pair("fake", 1, 64, &fake_port.near, &fake_port.far);
	fake_port.counts = counts;
	fake_port.interrupts = true;
	fake_port.at_address = fake_port.at_arm = fake_port.at_queue = -1;
	for (uint32_t i = 0; i < queue_count; i++) {
		fake_port.queues[i].file = i > 0 && shared ? fake_port.queues[0].file :
							     eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		queue_data[i] = &fake_port.queues[i];
	}
	real_ops = rte_eth_fp_ops[fake_port.far.port_id];
	rte_eth_fp_ops[fake_port.far.port_id].rx_pkt_burst = fake_receive;
	rte_eth_fp_ops[fake_port.far.port_id].rx_queue_count = counts ? fake_count : NULL;
	rte_eth_fp_ops[fake_port.far.port_id].rxq.data = queue_data;
	fake_port.queue_count = queue_count;
}

void
fake_port_close(void)
{
	bool shared =
		fake_port.queue_count > 1 && fake_port.queues[0].file == fake_port.queues[1].file;

	rte_eth_fp_ops[fake_port.far.port_id] = real_ops;
	for (uint32_t i = 0; i < (shared ? 1 : fake_port.queue_count); i++)
		close(fake_port.queues[i].file);
	fake_port.queue_count = 0;
	lull_port_close(&fake_port.near);
	lull_port_close(&fake_port.far);
}

/* ---- with a rest device ---- */

void
fake_device_open(struct lull_rest_device *device, uint32_t queue_count, bool counts, bool shared)
{
	static struct lull_loop_queue queues[FAKE_QUEUES];

	fake_port_open(queue_count, counts, shared);
	for (uint32_t i = 0; i < queue_count; i++)
		queues[i] = (struct lull_loop_queue){ fake_port.far.port_id, (uint16_t)i };
	lull_rest_device_init(device, queues, queue_count, 32);
}

uint32_t
fake_device_drain(struct lull_rest_device *device)
{
	struct rte_mbuf *pkts[32];
	uint32_t count = device->stash_count;

	rte_pktmbuf_free_bulk(device->stash, device->stash_count);
	device->stash_count = 0;
	for (uint32_t i = 0; i < fake_port.queue_count; i++) {
		uint16_t got = rte_eth_rx_burst(fake_port.far.port_id, (uint16_t)i, pkts, 32);

		rte_pktmbuf_free_bulk(pkts, got);
		count += got;
	}
	return count;
}

void
fake_device_close(struct lull_rest_device *device)
{
	lull_rest_device_fini(device);
	fake_port_close();
}
