/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "channel/keys.h"
#include "fuzz.h"

/* What stands in a key file. A key that was taken, written as a line, is taken again. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct channel_keys keys, again;
	struct lull_error error = { { 0 } };
	int rc = channel_keys_parse(&keys, (const char *)data, size, &error);

	FUZZ_CHECK(rc == 0 ? keys.count >= 1 && keys.count <= CHANNEL_KEYS_MAX :
			     keys.count == 0 && error.text[0] != '\0');
	for (uint32_t i = 0; i < keys.count; i++) {
		char line[CHANNEL_KEY_LINE];

		for (size_t j = 0; j < CHANNEL_KEY_BYTES; j++) {
			line[2 * j] = "0123456789abcdef"[keys.keys[i].bytes[j] >> 4];
			line[2 * j + 1] = "0123456789ABCDEF"[keys.keys[i].bytes[j] & 15];
		}
		FUZZ_CHECK(channel_keys_parse(&again, line, sizeof(line) - 1, NULL) == 0);
		FUZZ_CHECK(again.count == 1 && again.keys[0].id == keys.keys[i].id);
		FUZZ_CHECK(memcmp(again.keys[0].bytes, keys.keys[i].bytes, CHANNEL_KEY_BYTES) == 0);
	}
	return 0;
}
