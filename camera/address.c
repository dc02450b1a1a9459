/* SPDX-License-Identifier: BSD-3-Clause */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

static const uint8_t address_mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

struct camera_ip
camera_ip_from4(const uint8_t *bytes)
{
	struct camera_ip ip;

	memcpy(ip.bytes, address_mapped, sizeof(address_mapped));
	memcpy(ip.bytes + sizeof(address_mapped), bytes, 4);
	return ip;
}

bool
camera_ip_is_any(const struct camera_ip *ip)
{
	static const struct camera_ip any;

	return camera_ip_same(ip, &any);
}

bool
camera_ip_is4(const struct camera_ip *ip)
{
	return memcmp(ip->bytes, address_mapped, sizeof(address_mapped)) == 0;
}

bool
camera_ip_is_multicast(const struct camera_ip *ip)
{
	return camera_ip_is4(ip) ? (ip->bytes[12] & 0xf0) == 0xe0 : ip->bytes[0] == 0xff;
}

int
camera_ip_parse(const char *text, struct camera_ip *ip)
{
	uint8_t bytes[4];

	memset(ip, 0, sizeof(*ip));
	if (text == NULL || text[0] == '\0')
		return 0;
	if (inet_pton(AF_INET, text, bytes) == 1) {
		/* 0.0.0.0 says "any" as well. */
		if (memcmp(bytes, ip->bytes, sizeof(bytes)) != 0)
			*ip = camera_ip_from4(bytes);
		return 0;
	}
	return inet_pton(AF_INET6, text, ip->bytes) == 1 ? 0 : -EINVAL;
}

const char *
camera_ip_format(const struct camera_ip *ip, char *text)
{
	if (camera_ip_is4(ip))
		inet_ntop(AF_INET, ip->bytes + sizeof(address_mapped), text, INET6_ADDRSTRLEN);
	else
		inet_ntop(AF_INET6, ip->bytes, text, INET6_ADDRSTRLEN);
	return text;
}

int
camera_source_parse(const char *text, struct camera_source *source)
{
	unsigned int byte[CAMERA_MAC_SIZE];
	int end = 0;

	memset(source, 0, sizeof(*source));
	if (text == NULL || text[0] == '\0')
		return 0;
	if (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &byte[0], &byte[1], &byte[2], &byte[3],
		   &byte[4], &byte[5], &end) == CAMERA_MAC_SIZE &&
	    text[end] == '\0') {
		source->kind = CAMERA_SOURCE_MAC;
		for (uint32_t i = 0; i < CAMERA_MAC_SIZE; i++)
			source->mac[i] = (uint8_t)byte[i];
		return 0;
	}
	source->kind = CAMERA_SOURCE_IP;
	return camera_ip_parse(text, &source->ip);
}
