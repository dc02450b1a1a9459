/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <lull/dispatch.h>

#include "fuzz.h"

/* Larger tables take time and show nothing more. */
#define BUCKET_BITS_MAX 10

/* Whatever the bytes say: all is read, or there is a reason and a place. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lull_dispatch_replay replay;
	struct lull_dispatch *dispatch;
	void *memory;
	size_t bytes;
	int rc = lull_dispatch_replay_open(data, size, &replay);

	FUZZ_CHECK((rc == 0) == (replay.reason == NULL) && replay.offset <= size);
	if (rc != 0 || replay.config.bucket_bits > BUCKET_BITS_MAX)
		return 0;
	if (replay.config.bucket_bits == 0)
		replay.config.bucket_bits = BUCKET_BITS_MAX;
	bytes = (lull_dispatch_size(&replay.config) + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE *
		LULL_CACHE_LINE;
	memory = aligned_alloc(LULL_CACHE_LINE, bytes);
	FUZZ_CHECK(memory != NULL);
	FUZZ_CHECK(lull_dispatch_init(memory, &replay.config, &dispatch) == 0);
	rc = lull_dispatch_replay_run(data, size, dispatch, &replay);
	FUZZ_CHECK((rc == 0) == (replay.reason == NULL));
	FUZZ_CHECK((rc == 0) == (replay.offset == size));
	FUZZ_CHECK(replay.differences <= replay.pkts * 2);
	free(memory);
	return 0;
}
