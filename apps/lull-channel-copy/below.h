/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Below: opening what lies below a folder, and nothing else: no link is followed.
 *
 * Threads: any. Memory: none.
 */
#ifndef LULL_CHANNEL_COPY_BELOW_H
#define LULL_CHANNEL_COPY_BELOW_H

#include <sys/types.h>

/** openat() of one component; a descriptor or a negative errno. A link gives -ELOOP. */
int copy_below_open(int folder, const char *name, int flags, mode_t mode);
/**
 * The folder that a path's last component lies in; folders that are missing are made.
 * @param name  out: that component, within @p path
 * @return a descriptor or a negative errno; -EPERM: copy_path_check() refuses the path
 */
int copy_below_parent(int folder, const char *path, const char **name);

#endif
