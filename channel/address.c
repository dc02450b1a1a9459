/* SPDX-License-Identifier: BSD-3-Clause */
#include "address.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define ADDRESS_VERSION 1
/* Version, how many, length of the name, name, then of each kind, length, bytes. */
#define ADDRESS_HEAD 3

uint32_t
channel_address_write(const struct lull_bundle_target *target,
		      uint8_t address[LULL_CHANNEL_ADDRESS_SIZE])
{
	uint32_t used = ADDRESS_HEAD;

	memset(address, 0, LULL_CHANNEL_ADDRESS_SIZE);
	address[0] = ADDRESS_VERSION;
	address[2] = (uint8_t)strlen(target->name);
	memcpy(address + used, target->name, address[2]);
	used += address[2];
	for (uint32_t i = 0; i < target->address_count; i++) {
		const struct lull_bundle_address *place = &target->addresses[i].address;

		if (used + 2u + place->len_bytes > LULL_CHANNEL_ADDRESS_SIZE)
			continue;
		address[1]++;
		address[used++] = target->addresses[i].kind;
		address[used++] = place->len_bytes;
		memcpy(address + used, place->bytes, place->len_bytes);
		used += place->len_bytes;
	}
	return used;
}

static bool
address_name_good(const uint8_t *name, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return bytes > 0;
}

static bool
address_head_good(const uint8_t *address, uint32_t address_bytes)
{
	return address_bytes >= ADDRESS_HEAD && address[0] == ADDRESS_VERSION && address[1] > 0 &&
	       address[1] <= LULL_BUNDLE_TARGETS_MAX && address[2] < LULL_BUNDLE_NAME_SIZE &&
	       address[2] <= address_bytes - ADDRESS_HEAD &&
	       address_name_good(address + ADDRESS_HEAD, address[2]);
}

int
channel_address_read(const uint8_t *address, uint32_t address_bytes,
		     struct lull_bundle_target *target)
{
	uint32_t used = ADDRESS_HEAD;

	*target = (struct lull_bundle_target){ .name = "" };
	if (!address_head_good(address, address_bytes))
		return -EINVAL;
	memcpy(target->name, address + used, address[2]);
	used += address[2];
	target->address_count = address[1];
	for (uint32_t i = 0; i < target->address_count; i++) {
		uint32_t size;

		if (address_bytes - used < 2)
			return -EINVAL;
		target->addresses[i].kind = address[used];
		size = address[used + 1];
		used += 2;
		if (size == 0 || size > LULL_BUNDLE_ADDRESS_SIZE || size > address_bytes - used)
			return -EINVAL;
		target->addresses[i].address.len_bytes = (uint8_t)size;
		memcpy(target->addresses[i].address.bytes, address + used, size);
		used += size;
	}
	return 0;
}
