/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded, asked by telemetry, unloaded: what the host program notices of the plugin. */
#include "plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_telemetry.h>
#include <rte_version.h>

#define MESSAGE_SIZE 640

static struct {
	bool active;
	pid_t pid; /* a forked child has no threads of ours, and reports nothing */
	struct lull_telemetry_config telemetry;
} life;

/* Not through stdio: the program may be ending inside of it. */
void
plugin_say(const char *format, ...)
{
	char text[MESSAGE_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dprintf(STDERR_FILENO, "lull: %s\n", text);
}

void
plugin_life_seen(uint32_t poller_count)
{
	__atomic_store_n(&life.telemetry.loop_count, poller_count, __ATOMIC_RELEASE);
}

/* ---- telemetry ---- */

static int
life_set(void *arg, const char *assignment, struct lull_error *error)
{
	(void)arg;
	return plugin_pollers_change(assignment, error);
}

static void
life_settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
	      void *put_arg)
{
	struct plugin_settings settings = plugin_settings_now();

	(void)arg;
	plugin_settings_print(&settings, put, put_arg);
}

/* /lull/plugin tells a plugin from lull's own programs. */
static void
life_reply(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	struct plugin_settings settings = plugin_settings_now();
	const char *unseen = plugin_unseen();

	(void)arg;
	(void)params;
	lull_telemetry_put_text(reply, "version", LULL_VERSION);
	lull_telemetry_put_text(reply, "mode", plugin_mode_name(settings.mode));
	lull_telemetry_put_count(reply, "threads", plugin_poller_count());
	lull_telemetry_put_count(reply, "vhost_queues", plugin_vhost_queues());
	lull_telemetry_put_text(reply, "unseen", unseen != NULL ? unseen : "");
}

static const struct lull_telemetry_command life_commands[] = {
	{ "/lull/plugin", "Version and mode of the lull plugin. No parameters", life_reply },
	{ NULL, NULL, NULL },
};

static void
life_info(const struct lull_telemetry_config *config, uint32_t index, struct lull_loop_info *info)
{
	(void)config;
	plugin_poller_info(plugin_poller(index), info);
}

/* A handler is no place to ask a driver: what the poller saw last. */
static void
life_lost(const struct lull_telemetry_config *config, uint32_t index, struct lull_port_loss *loss)
{
	const struct plugin_poller *poller = plugin_poller(index);

	(void)config;
	*loss = (struct lull_port_loss){ 0, 0 };
	for (uint32_t i = 0; i < PLUGIN_PORTS_MAX; i++)
		lull_loss_audit_add(&poller->audits[i], loss);
}

static int
life_mark(const struct lull_telemetry_config *config, uint32_t index, uint32_t window)
{
	(void)config;
	plugin_pollers_mark(plugin_poller(index), window);
	return 0;
}

static const struct lull_telemetry_loops life_loops = {
	.info = life_info,
	.lost = life_lost,
	.mark = life_mark,
};

/* ---- life ---- */

static bool
life_exported(void)
{
	return rte_version != NULL && rte_eth_fp_ops != NULL &&
	       rte_eth_add_first_rx_callback != NULL && rte_eth_stats_get != NULL &&
	       rte_eth_dev_callback_register != NULL && rte_eth_dev_info_get != NULL &&
	       rte_eth_rx_queue_info_get != NULL && rte_eth_link_get_nowait != NULL &&
	       rte_dev_bus != NULL && rte_bus_name != NULL && rte_dev_devargs != NULL;
}

bool
plugin_thread_exists(const char *part)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	bool found = false;

	while (tasks != NULL && !found && (task = readdir(tasks)) != NULL) {
		char path[sizeof("/proc/self/task//comm") + sizeof(task->d_name)], name[16] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		file = fopen(path, "re");
		if (file == NULL)
			continue;
		found = fscanf(file, "%15[^\n]", name) == 1 && strstr(name, part) != NULL;
		fclose(file);
	}
	if (tasks != NULL)
		closedir(tasks);
	return found;
}

/* ABI of a version such as "DPDK 24.11.3", 0 if it cannot be read. */
static unsigned int
life_abi_of(const char *version)
{
	unsigned int year, month;

	if (sscanf(version, "%*[^0-9]%u.%u", &year, &month) != 2)
		return 0;
	return LULL_DPDK_ABI_OF(year, month);
}

/*
 * Made for the DPDK that runs? The layout of its fast path is compiled in, and the rules of
 * docs/plugin.md are checked against it.
 */
static bool
life_fits(const char *version)
{
	unsigned int abi = life_abi_of(version);
	char remedy[96] = "lull has plugins only for 22.11 and later";

	if (abi == LULL_DPDK_ABI)
		return true;
	if (abi >= LULL_DPDK_ABI_FIRST)
		snprintf(remedy, sizeof(remedy),
			 "load dpdk-%u/liblull_plugin.so instead, as 'lull wrap' does", abi);
	plugin_say("this program runs on %s, this plugin is for DPDK %02u.%02u: %s; doing nothing",
		   version, LULL_DPDK_YEAR, LULL_DPDK_MONTH, remedy);
	return false;
}

/* Can the plugin work in this program? */
static bool
life_possible(void)
{
	if (rte_version != NULL && !life_fits(rte_version()))
		return false;
	if (!life_exported())
		plugin_say("this program does not export the functions of DPDK (one linked "
			   "statically needs --export-dynamic); doing nothing");
	else if (strncmp(program_invocation_short_name, "lull-", 5) == 0)
		plugin_say("this program already rests by lull; doing nothing");
	else if (plugin_thread_exists(PLUGIN_THREAD_NAME)) /* by another file: both would rest */
		plugin_say(
			"another copy of the plugin is loaded already; this one is doing nothing");
	else
		return true;
	return false;
}

static void
life_start_telemetry(void)
{
	int rc;

	life.telemetry = (struct lull_telemetry_config){
		.program = program_invocation_short_name,
		.version = LULL_VERSION,
		.set = life_set,
		.settings = life_settings,
		.commands = life_commands,
	};
	if (rte_telemetry_register_cmd == NULL)
		return;
	rc = lull_telemetry_register(&life.telemetry, &life_loops);
	if (rc != 0)
		plugin_say("telemetry refused the /lull commands: %s; continuing without them",
			   strerror(-rc));
}

/*
 * For programs that look lull_busy() up instead of being linked with liblull: EAL loads plugins so
 * that nobody finds what they export.
 */
static void
life_show_calls(void)
{
	Dl_info self;

	if (dladdr((const void *)(uintptr_t)lull_idle_state_name, &self) != 0)
		dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

static void
life_begin(const struct plugin_settings *settings)
{
	int rc;

	plugin_pollers_init(settings);
	life_start_telemetry();
	plugin_unseen_start();
	life_show_calls();
	rc = plugin_attach_start();
	if (rc != 0) {
		plugin_say("cannot start the control thread: %s; doing nothing", strerror(-rc));
		return;
	}
	pthread_atfork(NULL, NULL, plugin_pollers_forked);
	life.pid = getpid();
	life.active = true;
}

__attribute__((constructor)) static void
life_load(void)
{
	struct plugin_settings settings;
	struct lull_error error;
	int rc = plugin_settings_load(&settings, &error);

	if (rc == 1)
		return;
	if (rc != 0)
		plugin_say("%s; doing nothing", error.text);
	else if (life_possible())
		life_begin(&settings);
}

__attribute__((destructor)) static void
life_unload(void)
{
	if (!life.active || life.pid != getpid())
		return;
	plugin_report();
	plugin_pollers_give_classes_back();
}
