/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Error: one sentence with the way out, and the code that goes with it.
 */
#ifndef LULL_CAMERA_ERROR_H
#define LULL_CAMERA_ERROR_H

#include <lull/camera.h>

#include "net/error.h"

_Static_assert(LULL_CAMERA_ERROR_SIZE >= LULL_NET_ERROR_SIZE, "a sentence of net fits");

#define camera_error lull_net_error

#endif
