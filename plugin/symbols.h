/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Symbols: what the plugin wants of the host's DPDK, each of them weak.
 *
 * Included in front of every file (meson.build). A plugin with a symbol that
 * the host lacks would not load, and EAL then ends the host. So all may be
 * missing, and life.c looks before anything is called.
 */
#ifndef LULL_PLUGIN_SYMBOLS_H
#define LULL_PLUGIN_SYMBOLS_H

#pragma weak rte_bus_name
#pragma weak rte_dev_bus
#pragma weak rte_dev_devargs
#pragma weak rte_eth_add_first_rx_callback
#pragma weak rte_eth_dev_callback_register
#pragma weak rte_eth_dev_info_get
#pragma weak rte_eth_fp_ops
#pragma weak rte_eth_link_get_nowait
#pragma weak rte_eth_rx_queue_info_get
#pragma weak rte_eth_stats_get
#pragma weak rte_tel_data_add_array_string
#pragma weak rte_tel_data_add_dict_container
#pragma weak rte_tel_data_add_dict_string
#pragma weak rte_tel_data_alloc
#pragma weak rte_tel_data_start_array
#pragma weak rte_tel_data_start_dict
#pragma weak rte_telemetry_register_cmd
#pragma weak rte_version

/* clang wants each of them declared in every file. */
#include <rte_bus.h>
#include <rte_cryptodev.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_eventdev.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#include "engine/dpdk/dpdk_version.h"

/* These have another name in each of two releases. */
LULL_DPDK_WEAK_UINT

#endif
