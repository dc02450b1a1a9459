/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sized: structs of an application that was compiled with an older or a newer header.
 *
 * Their first member is a size_t, the size that the application knows. Members are only added at
 * the end. Threads: any. Memory: the caller's.
 */
#ifndef LULL_CAMERA_SIZED_H
#define LULL_CAMERA_SIZED_H

#include <stddef.h>

#include <lull/base.h>

/**
 * Copy @p from to @p to, of @p own bytes: what the application does not know is zero, which is the
 * default of every member.
 *
 * @param first  size of the struct in 0.1; stands for a size of 0, and none is smaller
 * @param name   of the struct, for the sentence
 * @return 0; -EINVAL: no such size, or a member is set that this library does not know
 */
int camera_sized_copy(void *to, size_t own, size_t first, const void *from, const char *name,
		      struct lull_error *error);

#endif
