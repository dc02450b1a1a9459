/* SPDX-License-Identifier: BSD-3-Clause */
#include "ingest.h"

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <rte_lcore.h>

#include "eal_log.h"
#include "error.h"

#define DEVICE_SIZE 256
#define MTU_USUAL 1500
#define FRAME_EXTRA 128 /* Ethernet, two VLAN tags, header of a slot */
#define BLOCK_BYTES 65536u
#define SLOT_MIN 2048u
#define SLOT_MAX 16384u
#define RING_BYTES_MAX (64u << 20) /* of an af_packet ring */
#define PACKET_DESCRIPTORS 512
#define XDP_DESCRIPTORS 2048
#define XDP_ROOM 3456 /* with headroom and mbuf it fits a page, which is what a umem takes */
#define QUOTE_SIZE 160
#define EXIT_WAIT_US 10000 /* longer than a turn */

struct lull_ingest {
	struct lull_port port;
	char bus[8], name[64]; /* of the device, for taking it away */
	unsigned int if_index;
	uint32_t mtu;
	uint64_t scattered;
	uint32_t count; /* packets out */
	struct rte_mbuf *pkts[LULL_INGEST_BURST];
};

/* What a device string says. */
struct ingest_device {
	char name[64], args[DEVICE_SIZE];
	bool pci;
	uint32_t mtu;
	uint16_t ring_pkts, buffer_bytes;
};

/* ---- device strings ---- */

static uint32_t
ingest_mtu(const char *interface)
{
	struct ifreq request = { .ifr_mtu = 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t mtu = 0;

	if (strlen(interface) < sizeof(request.ifr_name))
		memcpy(request.ifr_name, interface, strlen(interface));
	if (fd >= 0 && ioctl(fd, SIOCGIFMTU, &request) == 0)
		mtu = (uint32_t)request.ifr_mtu;
	if (fd >= 0)
		close(fd);
	return mtu;
}

static void
ingest_af_packet(struct ingest_device *device, const char *interface, uint32_t ring_pkts)
{
	uint32_t slot = SLOT_MIN, slots;

	while (slot < device->mtu + FRAME_EXTRA && slot < SLOT_MAX)
		slot *= 2;
	slots = LULL_MIN(ring_pkts, RING_BYTES_MAX / slot);
	slots = LULL_MAX(slots / (BLOCK_BYTES / slot), 1u) * (BLOCK_BYTES / slot);
	snprintf(device->args, sizeof(device->args),
		 "iface=%s,blocksz=%u,framesz=%u,framecnt=%u,qpairs=1", interface, BLOCK_BYTES,
		 slot, slots);
	device->ring_pkts = PACKET_DESCRIPTORS;
	device->buffer_bytes = (uint16_t)slot;
}

static int
ingest_interface(struct ingest_device *device, const char *kind, const char *interface,
		 uint32_t ring_pkts, char *error)
{
	static unsigned int number;

	device->mtu = ingest_mtu(interface);
	if (device->mtu == 0 && strcmp(kind, "tap") != 0)
		return lull_engine_error(error, -ENODEV, "interface %s does not exist here",
					 interface);
	snprintf(device->name, sizeof(device->name), "net_%s9%u", kind, number++);
	if (strcmp(kind, "af_packet") == 0) {
		ingest_af_packet(device, interface, ring_pkts);
		return 0;
	}
	snprintf(device->args, sizeof(device->args), "iface=%s", interface);
	if (strcmp(kind, "af_xdp") == 0) {
		device->ring_pkts = XDP_DESCRIPTORS;
		if (device->mtu > MTU_USUAL)
			device->buffer_bytes = XDP_ROOM;
	}
	return 0;
}

static int
ingest_parse(struct ingest_device *device, const struct lull_ingest_config *config, char *error)
{
	static const char *const kinds[] = { "af_packet", "af_xdp", "tap" };
	const char *text = config->device;
	size_t length = strcspn(text, ",");
	unsigned int bus, slot, function;

	memset(device, 0, sizeof(*device));
	device->ring_pkts = (uint16_t)LULL_MIN(config->ring_pkts, 32768u);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t size = strlen(kinds[i]);

		if (strncmp(text, kinds[i], size) == 0 && text[size] == '=')
			return ingest_interface(device, kinds[i], text + size + 1,
						config->ring_pkts, error);
	}
	device->pci = sscanf(text, "%*x:%x:%x.%x", &bus, &slot, &function) == 3 ||
		      sscanf(text, "%x:%x.%x", &bus, &slot, &function) == 3;
	if (length >= sizeof(device->name) || strlen(text) >= sizeof(device->args))
		return lull_engine_error(error, -EINVAL, "device %s: too long", text);
	memcpy(device->name, text, length);
	if (text[length] == ',')
		strcpy(device->args, text + length + 1);
	return 0;
}

/* ---- EAL ---- */

/* The program ends with ports open: threads may still poll them. */
static bool ingest_over;

static void
ingest_exit(void)
{
	__atomic_store_n(&ingest_over, true, __ATOMIC_SEQ_CST);
	usleep(EXIT_WAIT_US);
	lull_engine_fini();
}

/* EAL pins the thread that starts it; ours goes on where it was. */
static int
ingest_start(const struct lull_ingest_config *config, const struct ingest_device *device,
	     char *error)
{
	struct lull_engine_config engine = {
		.program = config->program,
		.pcis = &config->device,
		.pci_count = device->pci,
		.eal = config->eal,
	};
	cpu_set_t before;
	int rc;

	if (lull_engine_running())
		return 0;
	if (sched_getaffinity(0, sizeof(before), &before) != 0)
		return lull_engine_error(error, -errno, "no CPUs: %s", strerror(errno));
	while (engine.main_cpu < CPU_SETSIZE - 1 &&
	       !CPU_ISSET((unsigned int)engine.main_cpu, &before))
		engine.main_cpu++;
	rc = lull_engine_init(&engine, error);
	sched_setaffinity(0, sizeof(before), &before);
	if (rc == 0)
		atexit(ingest_exit);
	return rc;
}

static int
ingest_plug(const struct ingest_device *device, const char *bus, uint16_t *port_id, char *error)
{
	char quote[QUOTE_SIZE] = "";
	int rc;

	if (rte_eth_dev_get_port_by_name(device->name, port_id) == 0)
		return 0;
	rc = lull_eal_log_hold(false);
	if (rc != 0)
		return lull_engine_error(error, rc, "cannot divert DPDK's log: %s", strerror(-rc));
	rc = rte_eal_hotplug_add(bus, device->name, device->args);
	if (rc == 0 && rte_eth_dev_get_port_by_name(device->name, port_id) != 0)
		rc = -ENODEV;
	if (rc != 0)
		lull_eal_log_last(quote, sizeof(quote));
	lull_eal_log_release(rc == 0);
	if (rc != 0)
		return lull_engine_error(error, rc, "no port of %s,%s: %s", device->name,
					 device->args, quote[0] != '\0' ? quote : strerror(-rc));
	return 0;
}

static int
ingest_port(struct lull_ingest *ingest, const struct ingest_device *device, uint16_t port_id,
	    char *error)
{
	struct lull_port_config config = {
		.queues = 1,
		.ring_pkts = device->ring_pkts,
		.burst_pkts = LULL_INGEST_BURST,
		.buffer_bytes = device->buffer_bytes,
	};
	struct rte_eth_dev_info info;
	int rc = lull_port_open(port_id, &config, &ingest->port, error);

	if (rc != 0)
		return rc;
	rte_eth_allmulticast_enable(port_id); /* a driver without it receives all anyway */
	ingest->mtu = device->mtu != 0 ? device->mtu : MTU_USUAL;
	if (rte_eth_dev_info_get(port_id, &info) == 0)
		ingest->if_index = info.if_index;
	return 0;
}

static void
ingest_unplug(struct lull_ingest *ingest)
{
	if (ingest->bus[0] != '\0')
		rte_eal_hotplug_remove(ingest->bus, ingest->name);
	free(ingest);
}

int
lull_ingest_open(const struct lull_ingest_config *config, struct lull_ingest **out, char *error)
{
	struct lull_ingest *ingest = calloc(1, sizeof(*ingest));
	struct ingest_device device;
	uint16_t port_id = 0;
	int rc;

	if (ingest == NULL)
		return lull_engine_error(error, -ENOMEM, "no memory for a port");
	rc = ingest_parse(&device, config, error);
	if (rc == 0)
		rc = ingest_start(config, &device, error);
	if (rc == 0)
		rc = ingest_plug(&device, device.pci ? "pci" : "vdev", &port_id, error);
	if (rc != 0) {
		free(ingest);
		return rc;
	}
	snprintf(ingest->bus, sizeof(ingest->bus), "%s", device.pci ? "pci" : "vdev");
	memcpy(ingest->name, device.name, sizeof(ingest->name));
	rc = ingest_port(ingest, &device, port_id, error);
	if (rc != 0) {
		ingest_unplug(ingest);
		return rc;
	}
	*out = ingest;
	return 0;
}

void
lull_ingest_close(struct lull_ingest *ingest)
{
	struct rte_flow_error ignored;

	rte_flow_flush(ingest->port.port_id, &ignored); /* most drivers have none */
	lull_port_close(&ingest->port);
	ingest_unplug(ingest);
}

/* ---- packets ---- */

uint32_t
lull_ingest_receive(struct lull_ingest *ingest, struct lull_ingest_packet *packets)
{
	uint32_t count = 0;

	if (!__atomic_load_n(&ingest_over, __ATOMIC_RELAXED))
		count = rte_eth_rx_burst(ingest->port.port_id, 0, ingest->pkts, LULL_INGEST_BURST);
	ingest->count = count;
	for (uint32_t i = 0; i < count; i++) {
		const struct rte_mbuf *pkt = ingest->pkts[i];

		rte_prefetch0(rte_pktmbuf_mtod(pkt, const void *));
		packets[i].data = rte_pktmbuf_mtod(pkt, const uint8_t *);
		packets[i].len_bytes = pkt->nb_segs == 1 ? pkt->data_len : 0;
		if (pkt->nb_segs != 1)
			LULL_COUNTER_ADD(ingest->scattered, 1);
	}
	return count;
}

void
lull_ingest_release(struct lull_ingest *ingest)
{
	rte_pktmbuf_free_bulk(ingest->pkts, ingest->count);
	ingest->count = 0;
}

/* Without a registration every buffer goes through the ring that all threads share. */
void
lull_ingest_thread(bool begins)
{
	if (begins)
		rte_thread_register();
	else if (rte_lcore_id() != LCORE_ID_ANY)
		rte_thread_unregister();
}

uint64_t
lull_ingest_missed(const struct lull_ingest *ingest)
{
	return lull_port_missed(&ingest->port);
}

uint64_t
lull_ingest_scattered(const struct lull_ingest *ingest)
{
	return LULL_COUNTER_READ(ingest->scattered);
}

void
lull_ingest_look(const struct lull_ingest *ingest, struct lull_ingest_look *look)
{
	*look = (struct lull_ingest_look){
		.name = ingest->port.name,
		.driver = ingest->port.driver,
		.ring_pkts = ingest->port.ring_pkts,
		.if_index = ingest->if_index,
		.kernel_copies = strcmp(ingest->port.driver, "net_af_packet") == 0,
		.mtu = ingest->mtu,
	};
}

/* ---- rules ---- */

int
lull_ingest_steer(struct lull_ingest *ingest, const uint8_t *address4, uint16_t port)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	struct rte_flow_item_ipv4 ip = { .hdr = { .dst_addr = 0 } }, ip_mask = ip;
	const struct rte_flow_item_udp udp = { .hdr = { .dst_port = rte_cpu_to_be_16(port) } };
	const struct rte_flow_item_udp udp_mask = { .hdr = { .dst_port = UINT16_MAX } };
	const struct rte_flow_action_queue queue = { .index = 0 };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &ip_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action actions[] = {
		{ .type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error ignored;
	int rc;

	if (address4 != NULL) {
		memcpy(&ip.hdr.dst_addr, address4, sizeof(ip.hdr.dst_addr));
		ip_mask.hdr.dst_addr = UINT32_MAX;
	}
	rc = rte_flow_validate(ingest->port.port_id, &attr, pattern, actions, &ignored);
	if (rc != 0)
		return rc;
	return rte_flow_create(ingest->port.port_id, &attr, pattern, actions, &ignored) != NULL ?
		       0 :
		       -EIO;
}
