/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <lull/traffic.h>

#include "fuzz.h"

/* What reads as a probe is one: written anew, the same fields come back. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t frame[LULL_PROBE_FRAME_MIN];
	struct lull_probe probe, again;

	if (size > UINT16_MAX || !lull_probe_read(data, (uint16_t)size, &probe))
		return 0;
	FUZZ_CHECK(size >= LULL_PROBE_FRAME_MIN);
	lull_probe_write(frame, sizeof(frame), &probe, 0);
	FUZZ_CHECK(lull_probe_read(frame, sizeof(frame), &again));
	FUZZ_CHECK(probe.run == again.run && probe.stream == again.stream);
	FUZZ_CHECK(probe.seq == again.seq && probe.stamp_ns == again.stamp_ns);
	return 0;
}
