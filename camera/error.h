/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Error: one sentence with the way out, and the code that goes with it.
 */
#ifndef LULL_CAMERA_ERROR_H
#define LULL_CAMERA_ERROR_H

/** Write the sentence into @p error (LULL_CAMERA_ERROR_SIZE bytes, or NULL); returns @p rc. */
__attribute__((format(printf, 3, 4))) int camera_error(char *error, int rc, const char *format,
						       ...);

#endif
