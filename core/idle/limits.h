/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Limits: defaults for what the user left at zero; the public check is in lull/idle.h.
 */
#ifndef LULL_LIMITS_H
#define LULL_LIMITS_H

#include <lull/idle.h>

void lull_limits_default(struct lull_idle_limits *limits);

#endif
