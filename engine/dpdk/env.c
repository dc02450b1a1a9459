/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "dpdk_version.h"
#include "eal_args.h"
#include "eal_log.h"
#include "eal_park.h"
#include "env.h"
#include "host/error.h"
#include "port_watch.h"

#define HUGEPAGES_DIR "/sys/kernel/mm/hugepages"
#define MEMORY_MB_DEFAULT 256
#define QUOTE_SIZE 160

/* One EAL per process. */
static struct {
	struct lull_eal_args args;
	bool running;
	bool own_prefix; /* its runtime directory is ours to remove */
	bool bare;
	uint32_t cpu_count; /* of a bare one: lcore i + 1 is on cpus[i] */
	int cpus[LULL_LOOPS_MAX];
} env;

/* ---- what the machine has ---- */

static uint64_t
env_read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long long value = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

/* Free hugepages of all sizes, in kB. */
static uint64_t
env_hugepages_free_kb(void)
{
	DIR *dir = opendir(HUGEPAGES_DIR);
	uint64_t free_kb = 0;
	struct dirent *entry;

	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		char path[sizeof(HUGEPAGES_DIR) + sizeof(entry->d_name) + 32];
		unsigned long long page_kb;

		if (sscanf(entry->d_name, "hugepages-%llukB", &page_kb) != 1)
			continue;
		snprintf(path, sizeof(path), HUGEPAGES_DIR "/%s/free_hugepages", entry->d_name);
		free_kb += page_kb * env_read_number(path);
	}
	closedir(dir);
	return free_kb;
}

/* EAL would panic over a CPU that this process must not use. */
static int
env_check_cpu(int cpu, struct lull_error *error)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET((unsigned int)cpu, &allowed))
		return lull_error_set(error, -EINVAL,
				      "CPU %d is not available to this process, which has %d", cpu,
				      CPU_COUNT(&allowed));
	return 0;
}

static int
env_check_cpus(const struct lull_engine_config *config, struct lull_error *error)
{
	int rc = env_check_cpu(config->main_cpu, error);

	for (uint32_t i = 0; rc == 0 && i < config->cpu_count; i++)
		rc = env_check_cpu(config->cpus[i], error);
	return rc;
}

/* ---- devices: EAL starts happily without the ones that failed ---- */

static bool
env_have_port(const char *device)
{
	uint16_t port_id;

	RTE_ETH_FOREACH_DEV(port_id)
	{
		struct rte_eth_dev_info info;

		if (rte_eth_dev_info_get(port_id, &info) == 0 &&
		    strcmp(rte_dev_name(info.device), device) == 0)
			return true;
	}
	return false;
}

/* The device's name is what stands before the first comma; PCI addresses get their domain. */
static void
env_device_name(const char *args, bool pci, char *name, size_t size)
{
	int length = (int)strcspn(args, ",");
	unsigned int domain, bus, device, function;

	if (pci && sscanf(args, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4)
		snprintf(name, size, "%04x:%02x:%02x.%x", domain, bus, device, function);
	else if (pci && sscanf(args, "%x:%x.%x", &bus, &device, &function) == 3)
		snprintf(name, size, "0000:%02x:%02x.%x", bus, device, function);
	else
		snprintf(name, size, "%.*s", length, args);
}

static int
env_check_device(const char *args, bool pci, struct lull_error *error)
{
	char name[RTE_ETH_NAME_MAX_LEN], quote[QUOTE_SIZE];

	env_device_name(args, pci, name, sizeof(name));
	if (env_have_port(name))
		return 0;
	if (pci)
		lull_eal_log_with(name, quote, sizeof(quote));
	else
		lull_eal_log_vdev(name, quote, sizeof(quote));
	if (quote[0] == '\0')
		snprintf(quote, sizeof(quote), "%s",
			 pci ? "no DPDK driver uses it; bind it to vfio-pci (dpdk-devbind.py -s "
			       "shows the drivers)" :
			       "its driver made no port");
	return lull_error_set(error, -ENODEV, "%s %s: %s", pci ? "pci" : "vdev", args, quote);
}

static int
env_check_devices(const struct lull_engine_config *config, struct lull_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < config->vdev_count; i++)
		rc = env_check_device(config->vdevs[i], false, error);
	for (uint32_t i = 0; rc == 0 && i < config->pci_count; i++)
		rc = env_check_device(config->pcis[i], true, error);
	return rc;
}

/* ---- start and end ---- */

/* Telemetry still holds its socket, but nobody shall find it. */
static void
env_remove_runtime_dir(void)
{
	const char *path = rte_eal_get_runtime_dir();
	DIR *dir = env.own_prefix ? opendir(path) : NULL;
	struct dirent *entry;

	if (dir == NULL)
		return;
	while ((entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0); /* refuses "." and ".." */
	closedir(dir);
	rmdir(path);
}

/* Is it this device that EAL could not even parse? Then no driver goes by its name. */
static bool
env_error_device(const char *kind, const char *args, struct lull_error *error)
{
	char words[LULL_ERROR_SIZE], quote[QUOTE_SIZE];

	snprintf(words, sizeof(words), "parse device '%s'", args);
	if (lull_eal_log_with(words, quote, sizeof(quote))[0] == '\0')
		return false;
	lull_error_set(error, 0, "%s %s: DPDK has no driver of this name (%s)", kind, args, quote);
	return true;
}

static int
env_error_eal(const struct lull_engine_config *config, struct lull_error *error)
{
	int rc = rte_errno > 0 ? -rte_errno : -EIO;
	char quote[QUOTE_SIZE];

	for (uint32_t i = 0; i < config->vdev_count; i++) {
		if (env_error_device("vdev", config->vdevs[i], error))
			return rc;
	}
	for (uint32_t i = 0; i < config->pci_count; i++) {
		if (env_error_device("pci", config->pcis[i], error))
			return rc;
	}
	lull_eal_log_last(quote, sizeof(quote));
	if (rc == -EINVAL && config->eal != NULL)
		return lull_error_set(error, rc, "eal: DPDK refuses \"%s\": %s", config->eal,
				      quote);
	return lull_error_set(error, rc, "DPDK does not start: %s: %s", strerror(-rc), quote);
}

/*
 * DPDK's telemetry writes to sockets whose reader may be gone; that must not end the program.
 */
static void
env_ignore_sigpipe(void)
{
	struct sigaction action;

	if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

static int
env_start(const struct lull_engine_config *config, struct lull_error *error)
{
	bool verbose = lull_eal_args_have(&env.args, "--log-level");
	int rc = lull_eal_log_hold(verbose);

	if (rc != 0)
		return lull_error_set(error, rc, "cannot divert DPDK's log: %s", strerror(-rc));
	if (rte_eal_init(env.args.argc, env.args.argv) < 0) {
		rc = env_error_eal(config, error);
		env_remove_runtime_dir();
	} else {
		rc = env_check_devices(config, error);
		if (rc != 0)
			lull_env_close();
	}
	lull_eal_log_release(rc == 0);
	return rc;
}

/* ---- without EAL ---- */

static int
env_open_bare(const struct lull_engine_config *config, struct lull_error *error)
{
	if (config->vdev_count + config->pci_count > 0 || config->eal != NULL)
		return lull_error_set(error, -EINVAL, "a bare engine has no devices");
	if (config->cpu_count > LULL_LOOPS_MAX)
		return lull_error_set(error, -E2BIG,
				      "%u CPUs were named, but at most %d loops can run",
				      config->cpu_count, LULL_LOOPS_MAX);
	env.cpu_count = config->cpu_count;
	for (uint32_t i = 0; i < config->cpu_count; i++)
		env.cpus[i] = config->cpus[i];
	env_ignore_sigpipe();
	env.bare = env.running = true;
	return 0;
}

bool
lull_env_bare(void)
{
	return env.bare;
}

int
lull_env_bare_cpu(unsigned int lcore_id)
{
	return lcore_id > 0 && lcore_id <= env.cpu_count ? env.cpus[lcore_id - 1] : -1;
}

/* ---- all of it ---- */

int
lull_env_open(const struct lull_engine_config *config, struct lull_error *error)
{
	uint32_t memory_mb = config->memory_mb != 0 ? config->memory_mb : MEMORY_MB_DEFAULT;
	bool hugepages = env_hugepages_free_kb() >= memory_mb * 1024ULL;
	int rc = env_check_cpus(config, error);

	if (rc == 0 && config->bare)
		return env_open_bare(config, error);
	if (rc == 0)
		rc = lull_eal_args_build(&env.args, config, getpid(), hugepages, error);
	if (rc != 0)
		return rc;
	env.own_prefix = config->eal == NULL || strstr(config->eal, "--file-prefix") == NULL;
	env_ignore_sigpipe();
	rc = env_start(config, error);
	if (rc != 0) {
		lull_eal_args_free(&env.args);
		return rc;
	}
	rc = lull_port_watch_start();
	if (rc != 0) {
		lull_env_close();
		return lull_error_set(error, rc, "no thread to ask ports: %s", strerror(-rc));
	}
	env.running = rc == 0;
	return rc;
}

bool
lull_engine_running(void)
{
	return env.running;
}

const char *
lull_engine_runtime_dir(void)
{
	return env.running && env.own_prefix ? rte_eal_get_runtime_dir() : NULL;
}

const char *
lull_engine_dpdk_version(void)
{
	return lull_dpdk_version();
}

void
lull_env_close(void)
{
	env.running = false;
	if (env.bare) {
		env.bare = false;
		return;
	}
	/* In reverse: later ports may be wired to earlier ones. */
	for (uint16_t id = RTE_MAX_ETHPORTS; id-- > 0;) {
		struct lull_port port = { .port_id = id };

		if (rte_eth_dev_is_valid_port(id))
			lull_port_close(&port);
	}
	lull_port_watch_stop();
	lull_eal_park_interrupts();
	env_remove_runtime_dir();
	rte_eal_cleanup();
	lull_eal_args_free(&env.args);
}
