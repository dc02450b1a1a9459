/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Error: one sentence with the way out, and the code that goes with it.
 */
#ifndef LULL_NET_ERROR_H
#define LULL_NET_ERROR_H

#define LULL_NET_ERROR_SIZE 256

/** Write the sentence into @p error (LULL_NET_ERROR_SIZE bytes, or NULL); returns @p rc. */
__attribute__((format(printf, 3, 4))) int lull_net_error(char *error, int rc, const char *format,
							 ...);

#endif
