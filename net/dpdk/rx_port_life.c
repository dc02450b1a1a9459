/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_port_life.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_lcore.h>

#include <lull/engine.h>

#include "host/error.h"
#include "rx_port_xdp.h"

#define LIFE_MB 1024       /* 16 ports of an MTU of 1500 */
#define EXIT_WAIT_US 10000 /* longer than an iteration */

/* The program ends with ports open: threads may still poll them. */
static bool life_over;
static pid_t life_pid; /* whose ports they are: not those of a fork's child */

static void
life_exit(void)
{
	if (getpid() != life_pid)
		return;
	__atomic_store_n(&life_over, true, __ATOMIC_SEQ_CST);
	usleep(EXIT_WAIT_US);
	lull_rx_port_xdp_end();
	lull_engine_fini();
}

bool
lull_rx_port_over(void)
{
	return __atomic_load_n(&life_over, __ATOMIC_RELAXED);
}

/* EAL pins the thread that starts it; ours goes on where it was. */
int
lull_rx_port_begin(const struct lull_rx_port_config *config,
		   const struct lull_rx_port_device *device, struct lull_error *error)
{
	struct lull_engine_config engine = {
		.program = config->program,
		.pcis = &config->device,
		.pci_count = device->pci,
		.eal = config->eal,
		.later_mb = LIFE_MB, /* the first port begins it; others follow */
	};
	cpu_set_t before;
	int rc;

	if (lull_engine_running())
		return 0;
	if (sched_getaffinity(0, sizeof(before), &before) != 0)
		return lull_error_set(error, -errno, "no CPUs: %s", strerror(errno));
	while (engine.main_cpu < CPU_SETSIZE - 1 &&
	       !CPU_ISSET((unsigned int)engine.main_cpu, &before))
		engine.main_cpu++;
	rc = lull_engine_init(&engine, error);
	sched_setaffinity(0, sizeof(before), &before);
	life_pid = getpid();
	if (rc == 0)
		atexit(life_exit);
	return rc;
}

/* Without a registration every buffer goes through the ring that all threads share. */
void
lull_rx_port_register(bool begins)
{
	if (begins)
		rte_thread_register();
	else if (rte_lcore_id() != LCORE_ID_ANY)
		rte_thread_unregister();
}
