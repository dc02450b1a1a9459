/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HUGE_BYTES (2ULL << 20)
#define NODES_MAX 1024
#define PAGE_BYTES 4096
#define MIB (1ULL << 20)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* ---- the kernel ---- */

/* Aligned to the size of a large page, so that its pages can be such. */
static void *
kernel_map_aligned(uint64_t bytes)
{
	uint8_t *at = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before;

	if (at == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)at % HUGE_BYTES;
	if (before > 0)
		munmap(at, before);
	munmap(at + before + bytes, HUGE_BYTES - before);
	return at + before;
}

static void *
kernel_map(uint64_t bytes, bool huge)
{
	void *at;

	if (!huge)
		return kernel_map_aligned(bytes);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		  -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

static int
kernel_bind(void *at, uint64_t bytes, int node)
{
	unsigned long mask[NODES_MAX / (8 * sizeof(long))] = { 0 };

	if (node < 0 || node >= NODES_MAX)
		return -EINVAL;
	mask[(size_t)node / (8 * sizeof(long))] = 1UL << ((size_t)node % (8 * sizeof(long)));
	/* Where that node has none left, those of another one. */
	return syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask, (unsigned long)NODES_MAX, 0UL) ==
			       0 ?
		       0 :
		       -errno;
}

static int
kernel_large(void *at, uint64_t bytes)
{
	return madvise(at, bytes, MADV_HUGEPAGE) == 0 ? 0 : -errno;
}

static int
kernel_fill(void *at, uint64_t bytes)
{
	volatile uint8_t *byte = at;

	if (madvise(at, bytes, MADV_POPULATE_WRITE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	for (uint64_t i = 0; i < bytes; i += PAGE_BYTES)
		byte[i] = 0;
	return 0;
}

static uint32_t
kernel_nodes(void)
{
	char path[64];
	uint32_t count = 0;

	for (uint32_t node = 0; node < 64; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u", node);
		count += access(path, F_OK) == 0;
	}
	return count;
}

const struct camera_memory_calls camera_memory_kernel = {
	.map = kernel_map,
	.bind = kernel_bind,
	.large = kernel_large,
	.fill = kernel_fill,
	.nodes = kernel_nodes,
};

/* ---- memory ---- */

int
camera_memory_take(struct camera_memory *memory, uint64_t bytes, enum lull_camera_pages pages,
		   int node, bool filled, const struct camera_memory_calls *calls)
{
	bool large = pages != LULL_CAMERA_PAGES_LAZY && bytes >= HUGE_BYTES;
	uint64_t page_bytes = large ? HUGE_BYTES : PAGE_BYTES;

	*memory = (struct camera_memory){ .pages = pages };
	memory->bytes = (bytes + page_bytes - 1) & ~(page_bytes - 1);
	if (pages == LULL_CAMERA_PAGES_HUGE) {
		memory->bytes = (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
		memory->data = calls->map(memory->bytes, true);
		memory->huge = memory->data != NULL;
	}
	if (memory->data == NULL)
		memory->data = calls->map(memory->bytes, false);
	if (memory->data == NULL)
		return -ENOMEM;
	/* In this order: pages keep the place and the size that they come with. */
	if (node > 0 && calls->nodes() > 1) {
		memory->node = node;
		memory->bind_rc = calls->bind(memory->data, memory->bytes, node - 1);
	}
	if (large && !memory->huge)
		memory->large = calls->large(memory->data, memory->bytes) == 0;
	if (pages != LULL_CAMERA_PAGES_LAZY && filled) {
		memory->fill_rc = calls->fill(memory->data, memory->bytes);
		memory->full = memory->fill_rc == 0;
	}
	return 0;
}

void
camera_memory_free(struct camera_memory *memory)
{
	if (memory->data != NULL)
		munmap(memory->data, memory->bytes);
	memory->data = NULL;
}

bool
camera_memory_explain(const struct camera_memory *memory, char *text, size_t size)
{
	const char *pages = memory->huge  ? "reserved huge pages" :
			    memory->large ? "pages of 2 MiB where the kernel has them" :
					    "small pages";
	const char *present = memory->full ? "present" : "that come as they are written to";
	char where[64] = "";
	bool granted = memory->bind_rc == 0 && memory->fill_rc == 0;

	if (memory->node > 0)
		snprintf(where, sizeof(where), ", %s node %d of the port",
			 memory->bind_rc == 0 ? "on" : "not on", memory->node - 1);
	snprintf(text, size, "image buffers of %llu MiB in %s, %s%s%s",
		 (unsigned long long)((memory->bytes + MIB - 1) / MIB), pages, present, where,
		 memory->fill_rc == 0 ? "" : ": the kernel has no memory for them");
	return granted && memory->huge == (memory->pages == LULL_CAMERA_PAGES_HUGE);
}
