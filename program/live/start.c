/* SPDX-License-Identifier: BSD-3-Clause */
#include "start.h"

#include <unistd.h>

#include <lull/rest.h>

#define BYTES_PER_MB (1024 * 1024)
#define MEMORY_MB_LEAST 256

int
lull_live_engine(const struct lull_program *program, const struct lull_devices *devices,
		 const struct lull_placement *placement, uint64_t memory_bytes,
		 struct lull_error *error)
{
	const char *vdevs[LULL_OPTION_LIST_MAX], *pcis[LULL_OPTION_LIST_MAX];
	const struct lull_engine_config config = {
		.program = program->name,
		.vdevs = vdevs,
		.vdev_count = devices->vdev.count,
		.pcis = pcis,
		.pci_count = devices->pci.count,
		.cpus = placement->cpus,
		.cpu_count = placement->count,
		.main_cpu = placement->rest,
		.eal = devices->eal[0] != '\0' ? devices->eal : NULL,
		.memory_mb = LULL_MAX((uint32_t)(memory_bytes / BYTES_PER_MB) + MEMORY_MB_LEAST / 2,
				      MEMORY_MB_LEAST),
	};

	for (uint32_t i = 0; i < devices->vdev.count; i++)
		vdevs[i] = devices->vdev.items[i];
	for (uint32_t i = 0; i < devices->pci.count; i++)
		pcis[i] = devices->pci.items[i];
	return lull_engine_init(&config, error);
}

int
lull_live_engine_bare(const struct lull_program *program, const struct lull_placement *placement,
		      struct lull_error *error)
{
	const struct lull_engine_config config = {
		.program = program->name,
		.cpus = placement->cpus,
		.cpu_count = placement->count,
		.main_cpu = placement->rest,
		.bare = true,
	};

	return lull_engine_init(&config, error);
}

/* 0 is as good as any. */
uint16_t
lull_live_run_number(void)
{
	uint64_t mix = (lull_clock_ns() ^ (uint64_t)getpid() << 32) * 0x9e3779b97f4a7c15ULL;

	return (uint16_t)(mix >> 48);
}
