/* SPDX-License-Identifier: BSD-3-Clause */
/* What a receiver learns while frames come: how long to wait, and rows before the frame's end. */
#include "assembler.h"

void
lull_assembler_patience(struct lull_assembler *assembler, uint64_t deadline_ns, uint64_t silence_ns)
{
	assembler->config.deadline_ns = deadline_ns;
	assembler->config.silence_ns = silence_ns;
	assembler->due_ns = 0; /* too early is allowed, too late is not */
}

const uint8_t *
lull_assembler_picture(const struct lull_assembler *assembler, uint64_t key)
{
	for (uint32_t i = 0; i < assembler->open_count; i++)
		if (assembler->open[assembler->sorted[i]].key == key)
			return assembler->open[assembler->sorted[i]].data;
	return NULL;
}

uint32_t
lull_assembler_buffers(const struct lull_assembler *assembler)
{
	return assembler->ready.count;
}
