/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * DPDK version: what differs between the releases of DPDK that lull builds with, 22.11 and later.
 *
 * The only file that asks RTE_VERSION (devtools/check-layers). Elsewhere the code reads as if there
 * were one DPDK. What can be written so that each release takes it is no matter for this file.
 */
#ifndef LULL_ENGINE_DPDK_VERSION_H
#define LULL_ENGINE_DPDK_VERSION_H

#include <stdint.h>
#include <string.h>

#include <rte_telemetry.h>
#include <rte_version.h>

/** The release whose headers this was compiled with. */
#define LULL_DPDK_YEAR RTE_VER_YEAR
#define LULL_DPDK_MONTH RTE_VER_MONTH

/**
 * The number in the names of a release's libraries: 22.11, 23.03 and 23.07 are 23. Such releases
 * take each other's place under a program, others do not.
 */
#define LULL_DPDK_ABI_OF(year, month) ((month) >= 11 ? (year) + 1 : (year))
#define LULL_DPDK_ABI_FIRST 23 /* of 22.11, the first release that lull knows */
#define LULL_DPDK_ABI LULL_DPDK_ABI_OF(LULL_DPDK_YEAR, LULL_DPDK_MONTH)

/** "22.11.11", of the DPDK that runs. */
static inline const char *
lull_dpdk_version(void)
{
	const char *version = rte_version(), *number = strpbrk(version, "0123456789");

	return number != NULL ? number : version;
}

/** Of a buffer, the device fills no more (struct rte_eth_dev_info); before 24.03 none says so. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 3, 0, 0)
#define lull_dpdk_buffer_max(info) ((info)->max_rx_bufsize)
#else
#define lull_dpdk_buffer_max(info) ((void)(info), UINT32_MAX)
#endif

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)

/* 23.03 renamed u64 to uint, 25.11 has the old names no more. */
#define LULL_DPDK_UINT_VAL RTE_TEL_UINT_VAL
#define LULL_DPDK_WEAK_UINT                                                                        \
	_Pragma("weak rte_tel_data_add_array_uint") _Pragma("weak rte_tel_data_add_dict_uint")

static inline int
lull_dpdk_array_add_uint(struct rte_tel_data *data, uint64_t value)
{
	return rte_tel_data_add_array_uint(data, value);
}

static inline int
lull_dpdk_dict_add_uint(struct rte_tel_data *data, const char *name, uint64_t value)
{
	return rte_tel_data_add_dict_uint(data, name, value);
}

#else

/** The type of an array of unsigned numbers. */
#define LULL_DPDK_UINT_VAL RTE_TEL_U64_VAL
/** Declares weak what the functions below call; the plugin does so with all that it calls. */
#define LULL_DPDK_WEAK_UINT                                                                        \
	_Pragma("weak rte_tel_data_add_array_u64") _Pragma("weak rte_tel_data_add_dict_u64")

static inline int
lull_dpdk_array_add_uint(struct rte_tel_data *data, uint64_t value)
{
	return rte_tel_data_add_array_u64(data, value);
}

static inline int
lull_dpdk_dict_add_uint(struct rte_tel_data *data, const char *name, uint64_t value)
{
	return rte_tel_data_add_dict_u64(data, name, value);
}

#endif
#endif
