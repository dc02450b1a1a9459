/* SPDX-License-Identifier: BSD-3-Clause */
#include "sized.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "host/error.h"

#define SIZE_MAX_BYTES 65536 /* more is a size that was not set */

int
camera_sized_copy(void *to, size_t own, size_t first, const void *from, const char *name,
		  struct lull_error *error)
{
	const uint8_t *bytes = from;
	size_t size;

	memcpy(&size, from, sizeof(size));
	if (size == 0)
		size = first;
	if (size < first || size > SIZE_MAX_BYTES)
		return lull_error_set(error, -EINVAL, "%s: size %zu is none of this struct", name,
				      size);
	for (size_t i = own; i < size; i++)
		if (bytes[i] != 0)
			return lull_error_set(error, -EINVAL,
					      "%s: a member is set that this library does not "
					      "know; install a newer one",
					      name);
	memset(to, 0, own);
	memcpy(to, from, LULL_MIN(size, own));
	return 0;
}
