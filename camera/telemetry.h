/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Telemetry: what a program shows of a camera by lull_telemetry_start().
 */
#ifndef LULL_CAMERA_TELEMETRY_H
#define LULL_CAMERA_TELEMETRY_H

#include <lull/camera.h>
#include <lull/loop.h>

/**
 * The loop of the receiving thread, from start to close; NULL: the application has its own. Stop
 * telemetry before the camera closes.
 */
struct lull_loop *camera_loop(struct lull_receiver *receiver);

#endif
