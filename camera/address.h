/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Address: where packets are sent to and come from, in one form for all back ends.
 *
 * IPv4 is kept as an IPv4-mapped IPv6 address, so that comparing is comparing 16 bytes.
 */
#ifndef LULL_CAMERA_ADDRESS_H
#define LULL_CAMERA_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CAMERA_MAC_SIZE 6

/** All zero: any. */
struct camera_ip {
	uint8_t bytes[16];
};

enum camera_source_kind { CAMERA_SOURCE_ANY, CAMERA_SOURCE_IP, CAMERA_SOURCE_MAC };
/** Who may send. */
struct camera_source {
	enum camera_source_kind kind;
	struct camera_ip ip;
	uint8_t mac[CAMERA_MAC_SIZE];
};

static inline bool
camera_ip_same(const struct camera_ip *a, const struct camera_ip *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/** The IPv4 address of four bytes in network order. */
struct camera_ip camera_ip_from4(const uint8_t *bytes);
bool camera_ip_is_any(const struct camera_ip *ip);
bool camera_ip_is4(const struct camera_ip *ip);
bool camera_ip_is_multicast(const struct camera_ip *ip);
/** "192.0.2.1", "2001:db8::1"; 0 or -EINVAL. NULL and "" are any. */
int camera_ip_parse(const char *text, struct camera_ip *ip);
/** Written into @p text of at least 46 bytes. */
const char *camera_ip_format(const struct camera_ip *ip, char *text);
/** IP or MAC ("02:00:00:00:00:01"); 0 or -EINVAL. NULL and "" are any. */
int camera_source_parse(const char *text, struct camera_source *source);

#endif
