/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return feed("rfc4175", data, size);
}
