/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* interrupt handles; nothing else reaches that thread */
#include "eal_park.h"

#include <stdbool.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_interrupts.h>

#define STEP_US 200
#define STEPS 25000 /* a loaded host takes its time */

static bool parked; /* one interrupt thread per process */

static void
park(void *arg)
{
	(void)arg;
	__atomic_store_n(&parked, true, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

/* The handle and its descriptor live as long as the thread that waits on them. */
void
lull_eal_park_interrupts(void)
{
	struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	int fd = eventfd(1, EFD_CLOEXEC);

	if (handle == NULL || fd < 0 || rte_intr_fd_set(handle, fd) != 0 ||
	    rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) != 0 ||
	    rte_intr_callback_register(handle, park, NULL) != 0)
		return;
	for (int i = 0; i < STEPS && !__atomic_load_n(&parked, __ATOMIC_ACQUIRE); i++)
		rte_delay_us_sleep(STEP_US);
}
