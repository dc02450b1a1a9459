/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * View socket: a Unix socket to listen on, that only its owner may connect to.
 *
 * Threads: any.
 */
#ifndef LULL_CAMERA_VIEW_SOCKET_H
#define LULL_CAMERA_VIEW_SOCKET_H

#include "host/error.h"

/**
 * Listen at @p path. What a program left there that ended without removing it is replaced, any
 * other file is not.
 *
 * @return the descriptor, which does not block; or -errno and the sentence
 */
int view_socket_listen(const char *path, struct lull_error *error);

#endif
