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
#define XDP_ROOM 3456 /* with headroom and mbuf it fits a page, which is what a umem takes */
#define QUEUE_MAX 4095

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

static int
device_take_ours(struct lull_rx_port_device *device, char *text, bool *has_queue,
		 struct lull_error *error)
{
	char number[8], *end = number;
	unsigned long queue;

	if (device_take(text, ",exception=", device->exception, sizeof(device->exception)) != 0)
		return lull_error_set(error, -EINVAL,
				      "device %s: exception: give the name of an interface, 1..%d "
				      "bytes",
				      text, IFNAMSIZ - 1);
	if (device_take(text, ",queue=", number, sizeof(number)) != 0)
		number[0] = '-'; /* no number */
	*has_queue = number[0] != '\0';
	if (!*has_queue)
		return 0;
	queue = strtoul(number, &end, 10);
	if (number[0] == '-' || *end != '\0' || queue > QUEUE_MAX)
		return lull_error_set(error, -EINVAL, "device %s: queue: give a number in 0..%d",
				      text, QUEUE_MAX);
	device->queue = (uint32_t)queue;
	return 0;
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

static void
device_af_xdp(struct lull_rx_port_device *device, const char *interface)
{
	snprintf(device->args, sizeof(device->args), "iface=%s,start_queue=%u", interface,
		 device->queue);
	device->ring_pkts = XDP_DESCRIPTORS;
	if (device->mtu > MTU_USUAL)
		device->buffer_bytes = XDP_ROOM;
}

static int
device_interface(struct lull_rx_port_device *device, const char *kind, const char *interface,
		 uint32_t ring_pkts, struct lull_error *error)
{
	static unsigned int number;

	device->mtu = device_mtu(interface);
	if (device->mtu == 0 && strcmp(kind, "tap") != 0)
		return lull_error_set(error, -ENODEV, "interface %s does not exist", interface);
	snprintf(device->name, sizeof(device->name), "net_%s9%u", kind, number++);
	if (strcmp(kind, "af_packet") == 0)
		device_af_packet(device, interface, ring_pkts);
	else if (strcmp(kind, "af_xdp") == 0)
		device_af_xdp(device, interface);
	else
		snprintf(device->args, sizeof(device->args), "iface=%s", interface);
	return 0;
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
	if (strncmp(device->name, "net_af_xdp", 10) == 0)
		device->queue = lull_port_driver_argument(device->args, "start_queue", 0);
	return 0;
}

int
lull_rx_port_device_parse(const struct lull_rx_port_config *config,
			  struct lull_rx_port_device *device, struct lull_error *error)
{
	static const char *const kinds[] = { "af_packet", "af_xdp", "tap" };
	char text[LULL_RX_PORT_DEVICE_SIZE];
	const char *kind = NULL;
	bool has_queue;
	int rc;

	memset(device, 0, sizeof(*device));
	device->ring_pkts = (uint16_t)LULL_MIN(config->ring_pkts, 32768u);
	if (strlen(config->device) >= sizeof(text))
		return lull_error_set(error, -EINVAL, "device %.64s...: too long", config->device);
	strcpy(text, config->device);
	rc = device_take_ours(device, text, &has_queue, error);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(text, kinds[i], strlen(kinds[i])) == 0 && text[strlen(kinds[i])] == '=')
			kind = kinds[i];
	if (has_queue && (kind == NULL || strcmp(kind, "af_xdp") != 0))
		return lull_error_set(error, -EINVAL, "device %s: queue is only for af_xdp=IF",
				      config->device);
	if (kind != NULL)
		rc = device_interface(device, kind, text + strlen(kind) + 1, config->ring_pkts,
				      error);
	else
		rc = device_own_words(device, text, error);
	if (rc == 0 && device->exception[0] != '\0' &&
	    strncmp(device->name, "net_af_packet", 13) == 0)
		rc = lull_error_set(error, -EINVAL,
				    "device %s: leave exception out: the kernel gets the other "
				    "packets anyway",
				    config->device);
	device->xdp = strncmp(device->name, "net_af_xdp", 10) == 0 &&
		      strstr(device->args, "xdp_prog=") == NULL;
	return rc;
}
