/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Memory: that of the buffers of a stream, present before the first packet, on the node of its
 * port, in large pages.
 *
 * Threads: the owner. Memory: pages of the kernel, by camera_memory_free().
 */
#ifndef LULL_CAMERA_MEMORY_H
#define LULL_CAMERA_MEMORY_H

#include <lull/camera.h>

/** What it asks of the kernel, for tests. 0 or a negative errno. */
struct camera_memory_calls {
	void *(*map)(uint64_t bytes, bool huge); /**< NULL: there is none */
	int (*bind)(void *at, uint64_t bytes, int node);
	int (*large)(void *at, uint64_t bytes); /**< transparent huge pages */
	int (*fill)(void *at, uint64_t bytes);  /**< all pages are present afterwards */
	uint32_t (*nodes)(void);                /**< of the machine */
};
extern const struct camera_memory_calls camera_memory_kernel;

struct camera_memory {
	uint8_t *data; /* page aligned; NULL: none */
	uint64_t bytes;

	/* what was asked for, and what became of it */
	enum lull_camera_pages pages;
	int node;   /* asked for, plus 1; 0: none, or there is only one */
	bool huge;  /* reserved ones */
	bool large; /* the kernel was asked for transparent ones, and took it */
	bool full;  /* present */
	int bind_rc, fill_rc;
};

/**
 * @param node    plus 1; 0: any
 * @param filled  make its pages present
 * @return 0; -ENOMEM
 */
int camera_memory_take(struct camera_memory *memory, uint64_t bytes, enum lull_camera_pages pages,
		       int node, bool filled, const struct camera_memory_calls *calls);
void camera_memory_free(struct camera_memory *memory);
/** One sentence on it. Returns false where something was asked for and not granted. */
bool camera_memory_explain(const struct camera_memory *memory, char *text, size_t size);

#endif
