/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "apps/lull-channel-copy/message.h"
#include "fuzz.h"

/* The first byte: which message. What is taken, is written the same and stays below its folder. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct copy_item item, again;
	static struct copy_note note;
	enum copy_kind kind;
	uint8_t *out;
	uint32_t len;

	if (size == 0)
		return 0;
	kind = (enum copy_kind)data[0];
	data++;
	size--;
	(void)copy_note_read(data, size, &note);
	FUZZ_CHECK(strlen(note.text) < sizeof(note.text));
	if (copy_item_read(data, size, kind, &item) != 0)
		return 0;
	FUZZ_CHECK(strlen(item.path) < sizeof(item.path) && (item.mode & ~0777) == 0);
	FUZZ_CHECK(item.accessed.tv_nsec < 1000000000 && item.modified.tv_nsec < 1000000000);
	FUZZ_CHECK(kind != COPY_SMALL || item.bytes + item.size == data + size);
	if (copy_path_check(item.path) == 0)
		FUZZ_CHECK(item.path[0] != '/' && strstr(item.path, "/../") == NULL);
	out = malloc(COPY_HEAD_BYTES + (kind == COPY_SMALL ? item.size : 0));
	FUZZ_CHECK(out != NULL);
	len = copy_item_write(out, kind, &item);
	FUZZ_CHECK(copy_item_read(out, len, kind, &again) == 0);
	FUZZ_CHECK(strcmp(again.path, item.path) == 0 && again.size == item.size);
	free(out);
	return 0;
}
