/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RFC 1071: the sum of 16 bit words does not depend on the order of their bytes, so words are taken
 * as they lie in memory, several at a time.
 */
#include "sums.h"

#include <string.h>

#include <lull/base.h>

#define UDP_SIZE 8
#define PROTOCOL_UDP 17
#define IPV4_SUM 10
#define IPV4_ADDRESSES 12
#define IPV6_ADDRESSES 8
#define WHOLE 0xffffu

static uint64_t
sums_add(uint64_t sum, const uint8_t *at, size_t size)
{
	uint64_t word = 0, carries = 0;

	for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum += word;
		carries += sum < word;
	}
	word = 0;
	memcpy(&word, at, size);
	sum += word;
	carries += sum < word;
	sum += carries;
	return sum + (sum < carries);
}

static uint32_t
sums_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & WHOLE) + (sum >> 16);
	sum = (sum & WHOLE) + (sum >> 16);
	return (uint32_t)((sum & WHOLE) + (sum >> 16));
}

/* Addresses, protocol and length. */
static uint64_t
sums_pseudo(const struct lull_net_walked *walked, bool four)
{
	uint32_t length = walked->len_bytes + UDP_SIZE;
	const uint8_t tail[] = { 0, PROTOCOL_UDP, (uint8_t)(length >> 8), (uint8_t)length };

	return sums_add(sums_add(0, tail, sizeof(tail)),
			walked->ip + (four ? IPV4_ADDRESSES : IPV6_ADDRESSES), four ? 8 : 32);
}

bool
lull_net_sums_hold(const struct lull_net_walked *walked, uint32_t known)
{
	const uint8_t *udp = walked->data - UDP_SIZE;
	uint64_t pseudo;
	uint16_t sum;
	bool four;

	if (walked->ip == NULL)
		return true; /* a routing header: the last destination is not in front */
	four = walked->ip[0] >> 4 == 4;
	memcpy(&sum, walked->ip + IPV4_SUM, sizeof(sum));
	if (four && sum != 0 && !(known & LULL_NET_SUMS_IP) &&
	    sums_fold(sums_add(0, walked->ip, (size_t)(udp - walked->ip))) != WHOLE)
		return false;
	memcpy(&sum, udp + 6, sizeof(sum));
	if (sum == 0 || (known & LULL_NET_SUMS_UDP))
		return true;
	pseudo = sums_pseudo(walked, four);
	if (sums_fold(sums_add(pseudo, udp, walked->len_bytes + UDP_SIZE)) == WHOLE)
		return true;
	return sum == sums_fold(pseudo);
}
