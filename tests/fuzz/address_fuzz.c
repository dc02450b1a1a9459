/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "channel/address.h"
#include "fuzz.h"

static void
same(const struct lull_bundle_target *target, const struct lull_bundle_target *again)
{
	FUZZ_CHECK(strcmp(again->name, target->name) == 0);
	FUZZ_CHECK(again->address_count == target->address_count);
	for (uint32_t i = 0; i < target->address_count; i++) {
		const struct lull_bundle_address *place = &target->addresses[i].address;

		FUZZ_CHECK(again->addresses[i].kind == target->addresses[i].kind);
		FUZZ_CHECK(again->addresses[i].address.len_bytes == place->len_bytes);
		FUZZ_CHECK(memcmp(again->addresses[i].address.bytes, place->bytes,
				  place->len_bytes) == 0);
	}
}

/*
 * What a program gives to fi_av_insert() or lull_channel_connect_address(). What is taken is
 * written the same way, with no byte behind the last looked at.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t address[LULL_CHANNEL_ADDRESS_SIZE];
	struct lull_bundle_target target, again;
	uint32_t bytes = (uint32_t)(size < sizeof(address) ? size : sizeof(address));
	uint8_t *exact = malloc(bytes + (bytes == 0)); /* so that a sanitizer sees its end */
	int rc;

	if (exact == NULL)
		return 0;
	memcpy(exact, data, bytes);
	rc = channel_address_read(exact, bytes, &target);
	if (rc == 0) {
		uint32_t used = channel_address_write(&target, address);

		FUZZ_CHECK(used <= bytes && memcmp(address, exact, used) == 0);
		FUZZ_CHECK(channel_address_read(address, used, &again) == 0);
		same(&target, &again);
		FUZZ_CHECK(channel_address_read(address, used - 1, &again) != 0);
	}
	free(exact);
	return 0;
}
