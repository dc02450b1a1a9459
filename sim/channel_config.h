/* SPDX-License-Identifier: BSD-3-Clause */
/** @file Config: which worlds there can be. For sim/channel*.c alone. */
#ifndef LULL_SIM_CHANNEL_CONFIG_H
#define LULL_SIM_CHANNEL_CONFIG_H

#include "channel.h"

bool channel_config_valid(const struct lull_sim_channel_config *config);

#endif
