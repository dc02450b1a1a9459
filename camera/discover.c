/* SPDX-License-Identifier: BSD-3-Clause */
#include "discover.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <lull/rest.h>

#include "host/error.h"
#include "gige/gvcp_message.h"
#include "net/address.h"

#define PORTS_MAX 64
#define ASKED_TIMES 3 /* within the first half: messages may be lost */
#define NAMED_NS (2 * LULL_NS_PER_S)
#define NAMED_MAX 256
#define STEP_NS LULL_NS_PER_S

/* A socket for each interface. */
struct discover {
	struct ifaddrs *addresses;
	uint32_t port_count;
	int fds[PORTS_MAX];
	const char *names[PORTS_MAX]; /* of addresses */

	struct lull_camera_found *found;
	uint32_t found_max, found_count;
	const char *wanted; /* a MAC address; NULL: all */
	uint16_t id;        /* of our question: only answers to it count */
};

static const struct sockaddr_in *
discover_in(const struct sockaddr *address)
{
	return (const struct sockaddr_in *)(const void *)address;
}

/* ---- sockets ---- */

/* To the interface, so that it is asked there, and cameras of other networks are heard. */
static int
discover_socket(const struct ifaddrs *address)
{
	struct sockaddr_in own = *discover_in(address->ifa_addr);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;

	if (fd < 0)
		return -1;
	own.sin_port = 0;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, address->ifa_name,
		       (socklen_t)strlen(address->ifa_name)) == 0 &&
	    (address->ifa_flags & IFF_LOOPBACK) == 0)
		own.sin_addr.s_addr = htonl(INADDR_ANY);
	if (setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof(yes)) == 0 &&
	    bind(fd, (const struct sockaddr *)&own, sizeof(own)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool
discover_has(const struct discover *discover, const char *name)
{
	for (uint32_t i = 0; i < discover->port_count; i++)
		if (strcmp(discover->names[i], name) == 0)
			return true;
	return false;
}

static int
discover_open(struct discover *discover, const char *interface, struct lull_error *error)
{
	if (getifaddrs(&discover->addresses) != 0)
		return lull_error_set(error, -errno, "cannot list the interfaces: %s",
				      strerror(errno));
	for (const struct ifaddrs *each = discover->addresses; each != NULL;
	     each = each->ifa_next) {
		int fd;

		if (each->ifa_addr == NULL || each->ifa_addr->sa_family != AF_INET ||
		    (each->ifa_flags & IFF_UP) == 0 || discover->port_count == PORTS_MAX ||
		    (interface != NULL && strcmp(interface, each->ifa_name) != 0) ||
		    discover_has(discover, each->ifa_name))
			continue;
		fd = discover_socket(each);
		if (fd < 0)
			continue;
		discover->fds[discover->port_count] = fd;
		discover->names[discover->port_count++] = each->ifa_name;
	}
	if (discover->port_count > 0)
		return 0;
	if (interface == NULL)
		return lull_error_set(error, -ENODEV,
				      "no interface is up and has an IPv4 "
				      "address");
	return lull_error_set(
		error, -ENODEV,
		"interface %s is not up or has no IPv4 address; see 'ip address show'", interface);
}

static void
discover_close(struct discover *discover)
{
	for (uint32_t i = 0; i < discover->port_count; i++)
		close(discover->fds[i]);
	if (discover->addresses != NULL)
		freeifaddrs(discover->addresses);
}

/* ---- questions and answers ---- */

static void
discover_ask(const struct discover *discover)
{
	const struct sockaddr_in all = {
		.sin_family = AF_INET,
		.sin_port = htons(LULL_GVCP_PORT),
		.sin_addr.s_addr = htonl(INADDR_BROADCAST),
	};
	uint8_t message[LULL_GVCP_HEADER_BYTES];
	size_t length = lull_gvcp_write_discovery(message, discover->id, true);

	for (uint32_t i = 0; i < discover->port_count; i++)
		(void)!sendto(discover->fds[i], message, length, 0, (const struct sockaddr *)&all,
			      sizeof(all));
}

/* Is this address in a network of the interface? */
static bool
discover_reaches(const struct discover *discover, const char *name, uint32_t address)
{
	for (const struct ifaddrs *each = discover->addresses; each != NULL;
	     each = each->ifa_next) {
		uint32_t own, mask;

		if (each->ifa_addr == NULL || each->ifa_addr->sa_family != AF_INET ||
		    each->ifa_netmask == NULL || strcmp(each->ifa_name, name) != 0)
			continue;
		own = ntohl(discover_in(each->ifa_addr)->sin_addr.s_addr);
		mask = ntohl(discover_in(each->ifa_netmask)->sin_addr.s_addr);
		if (((own ^ address) & mask) == 0)
			return true;
	}
	return false;
}

static void
discover_add(struct discover *discover, const char *name, const struct lull_gvcp_device *device)
{
	const struct in_addr address = { .s_addr = htonl(device->address) };
	const uint8_t *mac = device->mac;
	struct lull_camera_found found = {
		.reachable = discover_reaches(discover, name, device->address),
	};

	snprintf(found.interface, sizeof(found.interface), "%s", name);
	inet_ntop(AF_INET, &address, found.address, sizeof(found.address));
	snprintf(found.mac, sizeof(found.mac), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
	snprintf(found.maker, sizeof(found.maker), "%s", device->maker);
	snprintf(found.model, sizeof(found.model), "%s", device->model);
	snprintf(found.version, sizeof(found.version), "%s", device->version);
	snprintf(found.serial, sizeof(found.serial), "%s", device->serial);
	snprintf(found.name, sizeof(found.name), "%s", device->name);
	/* Whoever answers writes these: nothing in them moves a terminal. */
	lull_text_clean(found.maker);
	lull_text_clean(found.model);
	lull_text_clean(found.version);
	lull_text_clean(found.serial);
	lull_text_clean(found.name);
	for (uint32_t i = 0; i < LULL_MIN(discover->found_count, discover->found_max); i++)
		if (strcmp(discover->found[i].interface, name) == 0 &&
		    strcmp(discover->found[i].mac, found.mac) == 0 &&
		    strcmp(discover->found[i].address, found.address) == 0)
			return;
	if (discover->found_count < discover->found_max)
		discover->found[discover->found_count] = found;
	discover->found_count++;
}

/* An answer to our question, from the camera that it tells of? */
static bool
discover_is_answer(const struct discover *discover, const uint8_t *message, size_t len,
		   const struct sockaddr_in *from, struct lull_gvcp_device *device)
{
	struct lull_gvcp_header header;

	return lull_gvcp_header_read(message, len, &header) && header.id == discover->id &&
	       lull_gvcp_read_discovery(message, len, device) &&
	       from->sin_port == htons(LULL_GVCP_PORT) &&
	       ntohl(from->sin_addr.s_addr) == device->address;
}

static void
discover_hear(struct discover *discover, uint32_t port)
{
	uint8_t message[LULL_GVCP_BYTES_MAX];
	struct sockaddr_in from;
	socklen_t size = sizeof(from);
	struct lull_gvcp_device device;
	ssize_t got;

	while ((got = recvfrom(discover->fds[port], message, sizeof(message), 0,
			       (struct sockaddr *)&from, &size)) > 0) {
		if (discover_is_answer(discover, message, (size_t)got, &from, &device))
			discover_add(discover, discover->names[port], &device);
		size = sizeof(from);
	}
}

/* The one that was asked for, where it can be talked to; NULL: it has not answered. */
static const struct lull_camera_found *
discover_wanted(const struct discover *discover)
{
	for (uint32_t i = 0; i < LULL_MIN(discover->found_count, discover->found_max); i++)
		if (discover->wanted != NULL && discover->found[i].reachable &&
		    strcmp(discover->found[i].mac, discover->wanted) == 0)
			return &discover->found[i];
	return NULL;
}

static uint16_t
discover_new_id(void)
{
	uint16_t id = 0;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) != sizeof(id) || id == 0)
		id = (uint16_t)lull_clock_ns() | 1; /* 0 is no id */
	return id;
}

static void
discover_run(struct discover *discover, uint64_t wait_ns)
{
	uint64_t begin_ns = lull_clock_ns(), now_ns = begin_ns, due_ns;
	struct pollfd polls[PORTS_MAX];
	uint32_t asked = 0;

	discover->id = discover_new_id();
	for (uint32_t i = 0; i < discover->port_count; i++)
		polls[i] = (struct pollfd){ .fd = discover->fds[i], .events = POLLIN };
	while (now_ns - begin_ns < wait_ns && discover_wanted(discover) == NULL) {
		due_ns = begin_ns + asked * (wait_ns / (2 * ASKED_TIMES));
		if (asked < ASKED_TIMES && now_ns >= due_ns) {
			discover_ask(discover);
			asked++;
			continue;
		}
		if (asked == ASKED_TIMES)
			due_ns = begin_ns + wait_ns;
		(void)poll(polls, discover->port_count,
			   (int)(LULL_MIN(due_ns - now_ns, STEP_NS) / LULL_NS_PER_MS) + 1);
		for (uint32_t i = 0; i < discover->port_count; i++)
			discover_hear(discover, i);
		now_ns = lull_clock_ns();
	}
}

static int
discover_compare(const void *left, const void *right)
{
	const struct lull_camera_found *a = left, *b = right;
	struct in_addr one, other;
	int order = strcmp(a->interface, b->interface);

	inet_pton(AF_INET, a->address, &one);
	inet_pton(AF_INET, b->address, &other);
	if (order == 0 && one.s_addr != other.s_addr)
		order = ntohl(one.s_addr) < ntohl(other.s_addr) ? -1 : 1;
	return order != 0 ? order : strcmp(a->mac, b->mac);
}

int
lull_camera_discover(const char *interface, uint64_t wait_ns, struct lull_camera_found *found,
		     uint32_t found_max, struct lull_error *error)
{
	struct discover discover = { .found = found, .found_max = found_max };
	int rc = discover_open(&discover, interface, error);

	if (rc == 0) {
		discover_run(&discover, wait_ns);
		qsort(found, LULL_MIN(discover.found_count, found_max), sizeof(*found),
		      discover_compare);
		rc = (int)discover.found_count;
	}
	discover_close(&discover);
	return rc;
}

/* ---- one by its name ---- */

/* As lull_camera_found has it; false: it is none. */
static bool
discover_mac(const char *text, char mac[18])
{
	struct lull_net_source source;
	const uint8_t *bytes = source.mac;

	if (lull_net_source_parse(text, &source) != 0 || source.kind != LULL_NET_SOURCE_MAC)
		return false;
	snprintf(mac, 18, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3],
		 bytes[4], bytes[5]);
	return true;
}

static int
discover_named(struct discover *discover, struct in_addr *address, struct lull_error *error)
{
	const struct lull_camera_found *found;
	int rc = discover_open(discover, NULL, error);

	if (rc != 0)
		return rc;
	discover_run(discover, NAMED_NS);
	found = discover_wanted(discover);
	if (found != NULL) {
		inet_pton(AF_INET, found->address, address);
		return 0;
	}
	for (uint32_t i = 0; i < LULL_MIN(discover->found_count, discover->found_max); i++)
		if (strcmp(discover->found[i].mac, discover->wanted) == 0)
			return lull_error_set(
				error, -EHOSTUNREACH,
				"camera %s has the address %s, which is in no network "
				"of %s",
				discover->wanted, discover->found[i].address,
				discover->found[i].interface);
	return lull_error_set(error, -EHOSTUNREACH,
			      "no camera %s answers on any interface: check its power",
			      discover->wanted);
}

int
camera_discover_address(const char *text, struct in_addr *address, struct lull_error *error)
{
	struct discover discover = { .found_max = NAMED_MAX };
	char mac[18];
	int rc;

	if (inet_pton(AF_INET, text, address) == 1)
		return 0;
	if (!discover_mac(text, mac))
		return lull_error_set(error, -EINVAL,
				      "control: '%s' is neither an IPv4 nor a MAC address", text);
	discover.wanted = mac;
	discover.found = calloc(NAMED_MAX, sizeof(*discover.found));
	rc = discover.found != NULL ?
		     discover_named(&discover, address, error) :
		     lull_error_set(error, -ENOMEM, "no memory for the search for cameras");
	discover_close(&discover);
	free(discover.found);
	return rc;
}
