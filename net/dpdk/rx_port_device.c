/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_port_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lull/base.h>

#include "host/error.h"
#include "engine/dpdk/port.h"

#define FRAME_EXTRA 128 /* Ethernet, two VLAN tags, header of a slot */
/* An af_packet ring is of blocks of whole pages, and blocks are of slots without a rest: four slots
 * of whole KiB are whole pages. Slots hardly larger than packets: less memory to go through. */
#define BLOCK_BYTES_MAX (256u << 10)
#define BLOCK_SLOTS_STEP 4u
#define SLOT_STEP 1024u
#define SLOT_MIN 2048u
#define SLOT_MAX 16384u
#define RING_BYTES_MAX (192u << 20)
#define PACKET_DESCRIPTORS 512
#define XDP_DESCRIPTORS 2048
#define MTU_USUAL 1500
/*
 * A umem takes a page for each packet at most. Of it a pool uses an odd number of cache lines, for
 * header and mbuf (192 bytes), headroom (128), that of XDP (256), and the packet.
 */
#define XDP_ROOM 3712
#define XDP_MTU_MAX 3434u /* and Ethernet with two VLAN tags */
#define QUEUE_MAX 4095
#define QUEUE_NONE UINT32_MAX
#define QUEUES_MAX 64
#define MTU_MIN 576
#define MTU_MAX 16000 /* with headers and headroom it fits the buffer of a slot */

static uint32_t
device_mtu(const char *interface)
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

/* ---- the ends of the string that are ours ---- */

/* Cut ",KEY=VALUE" out of @p text; "" when it is not there. */
static int
device_take(char *text, const char *key, char *value, size_t size)
{
	char *at = strstr(text, key);
	size_t length;

	value[0] = '\0';
	if (at == NULL)
		return 0;
	length = strcspn(at + strlen(key), ",");
	if (length == 0 || length >= size)
		return -EINVAL;
	memcpy(value, at + strlen(key), length);
	value[length] = '\0';
	memmove(at, at + strlen(key) + length, strlen(at + strlen(key) + length) + 1);
	return 0;
}

/* ",KEY=NUMBER"; @p value stays as it is where it is not there. */
static int
device_take_number(char *text, const char *key, uint32_t low, uint32_t high, uint32_t *value,
		   struct lull_error *error)
{
	char number[8], *end = number;
	unsigned long given = 0;
	int rc = device_take(text, key, number, sizeof(number));

	if (rc == 0 && number[0] == '\0')
		return 0;
	if (rc == 0)
		given = strtoul(number, &end, 10);
	if (rc != 0 || number[0] == '-' || *end != '\0' || given < low || given > high)
		return lull_error_set(error, -EINVAL, "device %s: %.*s: give a number in %u..%u",
				      text, (int)strlen(key) - 2, key + 1, low, high);
	*value = (uint32_t)given;
	return 0;
}

static int
device_take_yes(char *text, const char *key, bool *value, struct lull_error *error)
{
	char word[4];
	int rc = device_take(text, key, word, sizeof(word));

	if (rc != 0 || (word[0] != '\0' && strcmp(word, "yes") != 0 && strcmp(word, "no") != 0))
		return lull_error_set(error, -EINVAL, "device %s: %.*s: say yes or no", text,
				      (int)strlen(key) - 2, key + 1);
	*value = strcmp(word, "yes") == 0;
	return 0;
}

static int
device_take_ip(struct lull_rx_port_device *device, char *text, struct lull_error *error)
{
	struct lull_net_ip ip;
	char word[48];

	if (device_take(text, ",ip=", word, sizeof(word)) != 0 ||
	    lull_net_ip_parse(word, &ip) != 0 ||
	    (!lull_net_ip_is_any(&ip) && !lull_net_ip_is4(&ip)))
		return lull_error_set(error, -EINVAL, "device %s: ip: give an IPv4 address", text);
	memcpy(device->ip, ip.bytes + sizeof(ip.bytes) - sizeof(device->ip), sizeof(device->ip));
	return 0;
}

static int
device_take_ours(struct lull_rx_port_device *device, char *text, struct lull_error *error)
{
	uint32_t queues = 1;
	int rc;

	if (device_take(text, ",exception=", device->exception, sizeof(device->exception)) != 0)
		return lull_error_set(error, -EINVAL,
				      "device %s: exception: give the name of an interface, 1..%d "
				      "bytes",
				      text, IFNAMSIZ - 1);
	device->queue = QUEUE_NONE;
	rc = device_take_number(text, ",queue=", 0, QUEUE_MAX, &device->queue, error);
	if (rc == 0)
		rc = device_take_number(text, ",mtu=", MTU_MIN, MTU_MAX, &device->mtu_asked, error);
	if (rc == 0)
		rc = device_take_ip(device, text, error);
	if (rc == 0)
		rc = device_take_yes(text, ",scatter=", &device->scatter, error);
	if (rc == 0)
		rc = device_take_yes(text, ",isolate=", &device->isolate, error);
	/* These drivers have such an argument themselves. */
	if (rc == 0 && strncmp(text, "net_vhost", 9) != 0 &&
	    strncmp(text, "net_virtio_user", 15) != 0)
		rc = device_take_number(text, ",queues=", 1, QUEUES_MAX, &queues, error);
	device->queues = (uint16_t)queues;
	return rc;
}

/* ---- kinds ---- */

static void
device_af_packet(struct lull_rx_port_device *device, const char *interface, uint32_t ring_pkts)
{
	uint32_t pkt = device->mtu + FRAME_EXTRA;
	uint32_t slot =
		LULL_CLAMP((pkt + SLOT_STEP - 1) / SLOT_STEP * SLOT_STEP, SLOT_MIN, SLOT_MAX);
	uint32_t in_block = BLOCK_BYTES_MAX / slot / BLOCK_SLOTS_STEP * BLOCK_SLOTS_STEP;
	uint32_t slots = LULL_MIN(ring_pkts, RING_BYTES_MAX / slot);

	slots = LULL_MAX(slots / in_block, 1u) * in_block;
	snprintf(device->args, sizeof(device->args),
		 "iface=%s,blocksz=%u,framesz=%u,framecnt=%u,qpairs=1", interface, slot * in_block,
		 slot, slots);
	device->ring_pkts = PACKET_DESCRIPTORS;
	device->buffer_bytes = (uint16_t)slot;
}

static int
device_af_xdp(struct lull_rx_port_device *device, const char *interface, struct lull_error *error)
{
	if (device->mtu > XDP_MTU_MAX)
		return lull_error_set(error, -EINVAL,
				      "device af_xdp=%s: its MTU is %u, and AF_XDP takes at most "
				      "%u; ip link set dev %s mtu %u, or use af_packet=%s",
				      interface, device->mtu, XDP_MTU_MAX, interface, XDP_MTU_MAX,
				      interface);
	snprintf(device->args, sizeof(device->args), "iface=%s,start_queue=%u", interface,
		 device->queue != QUEUE_NONE ? device->queue : 0);
	device->ring_pkts = XDP_DESCRIPTORS;
	if (device->mtu > MTU_USUAL)
		device->buffer_bytes = XDP_ROOM;
	return 0;
}

/* Of an interface that is there the kernel has the say; slots may be made for less. */
static int
device_kernel_mtu(struct lull_rx_port_device *device, const char *interface,
		  struct lull_error *error)
{
	device->mtu = device_mtu(interface);
	if (device->mtu == 0)
		return lull_error_set(error, -ENODEV, "interface %s does not exist", interface);
	if (device->mtu_asked > device->mtu)
		return lull_error_set(error, -EINVAL,
				      "mtu: %u is more than the %u of %s; ip link set dev %s mtu "
				      "%u",
				      device->mtu_asked, device->mtu, interface, interface,
				      device->mtu_asked);
	if (device->mtu_asked != 0)
		device->mtu = device->mtu_asked;
	device->mtu_asked = 0; /* nothing to set */
	return 0;
}

static int
device_interface(struct lull_rx_port_device *device, const char *kind, const char *interface,
		 uint32_t ring_pkts, struct lull_error *error)
{
	static unsigned int number;
	int rc = 0;

	if (strcmp(kind, "tap") != 0)
		rc = device_kernel_mtu(device, interface, error);
	if (rc != 0)
		return rc;
	snprintf(device->name, sizeof(device->name), "net_%s9%u", kind, number++);
	if (strcmp(kind, "af_packet") == 0)
		device_af_packet(device, interface, ring_pkts);
	else if (strcmp(kind, "af_xdp") == 0)
		rc = device_af_xdp(device, interface, error);
	else
		snprintf(device->args, sizeof(device->args), "iface=%s", interface);
	return rc;
}

/* A driver or an address, and arguments in the driver's own words. */
static int
device_own_words(struct lull_rx_port_device *device, const char *text, struct lull_error *error)
{
	size_t length = strcspn(text, ",");
	unsigned int bus, slot, function;

	device->pci = sscanf(text, "%*x:%x:%x.%x", &bus, &slot, &function) == 3 ||
		      sscanf(text, "%x:%x.%x", &bus, &slot, &function) == 3;
	if (length >= sizeof(device->name))
		return lull_error_set(error, -EINVAL, "device %s: too long", text);
	memcpy(device->name, text, length);
	if (text[length] == ',')
		snprintf(device->args, sizeof(device->args), "%s", text + length + 1);
	if (strncmp(device->name, "net_vhost", 9) == 0 ||
	    strncmp(device->name, "net_virtio_user", 15) == 0)
		device->queues = (uint16_t)LULL_CLAMP(
			lull_port_driver_argument(device->args, "queues", 1), 1u, QUEUES_MAX);
	if (strncmp(device->name, "net_af_xdp", 10) == 0)
		device->queue = lull_port_driver_argument(device->args, "start_queue", 0);
	if (device->mtu_asked != 0 && (strncmp(device->name, "net_af_xdp", 10) == 0 ||
				       strncmp(device->name, "net_af_packet", 13) == 0))
		return lull_error_set(error, -EINVAL,
				      "device %s: mtu: its interface has one; name the port "
				      "af_packet=IF or af_xdp=IF",
				      text);
	return 0;
}

static const char *
device_kind(const char *text)
{
	static const char *const kinds[] = { "af_packet", "af_xdp", "tap" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i], strlen(kinds[i])) == 0 && text[strlen(kinds[i])] == '=')
			return kinds[i];
	return NULL;
}

/* What the driver, whichever it is, has no use for. */
static int
device_check(const struct lull_rx_port_device *device, const char *text, struct lull_error *error)
{
	bool packet = strncmp(device->name, "net_af_packet", 13) == 0;

	if (device->exception[0] != '\0' && packet)
		return lull_error_set(error, -EINVAL,
				      "device %s: leave exception out: the kernel gets the other "
				      "packets anyway",
				      text);
	if (device->scatter && (packet || strncmp(device->name, "net_af_xdp", 10) == 0))
		return lull_error_set(error, -EINVAL,
				      "device %s: leave scatter out: the kernel wants each packet "
				      "in one buffer",
				      text);
	if (device->queues > 1 && (packet || strncmp(device->name, "net_af_xdp", 10) == 0))
		return lull_error_set(error, -EINVAL,
				      "device %s: leave queues out: no rule tells the queues of "
				      "an interface apart; see 'ethtool -N'",
				      text);
	if (device->isolate && device->exception[0] != '\0')
		return lull_error_set(error, -EINVAL,
				      "device %s: isolate and exception: nothing comes that the "
				      "TAP could pass on; leave one of them out",
				      text);
	return 0;
}

int
lull_rx_port_device_parse(const struct lull_rx_port_config *config,
			  struct lull_rx_port_device *device, struct lull_error *error)
{
	char text[LULL_RX_PORT_DEVICE_SIZE];
	const char *kind;
	int rc;

	memset(device, 0, sizeof(*device));
	device->sums = config->sums;
	device->ring_pkts = (uint16_t)LULL_MIN(config->ring_pkts, 32768u);
	if (strlen(config->device) >= sizeof(text))
		return lull_error_set(error, -EINVAL, "device %.64s...: too long", config->device);
	strcpy(text, config->device);
	rc = device_take_ours(device, text, error);
	if (rc != 0)
		return rc;
	kind = device_kind(text);
	if (device->queue != QUEUE_NONE && (kind == NULL || strcmp(kind, "af_xdp") != 0))
		return lull_error_set(error, -EINVAL, "device %s: queue is only for af_xdp=IF",
				      config->device);
	if (kind != NULL)
		rc = device_interface(device, kind, text + strlen(kind) + 1, config->ring_pkts,
				      error);
	else
		rc = device_own_words(device, text, error);
	if (rc == 0)
		rc = device_check(device, config->device, error);
	if (device->queue == QUEUE_NONE)
		device->queue = 0;
	if (device->mtu_asked == 0 && device->mtu == 0 && config->mtu > MTU_USUAL)
		device->mtu_asked = config->mtu;
	if (device->mtu == 0)
		device->mtu = device->mtu_asked;
	device->xdp = strncmp(device->name, "net_af_xdp", 10) == 0 &&
		      strstr(device->args, "xdp_prog=") == NULL;
	return rc;
}
