/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From being loaded to having a callback in front of every queue.
 *
 * DPDK tells nobody when a port starts. But rte_eth_dev_start() publishes the port's fast path last
 * and stopping takes it back first, so a thread that compares each port's receive function with the
 * placeholder it saw at load time knows which ports run. It touches no driver and no heap but the
 * one call that adds the callback.
 */
#include "plugin.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_version.h>

#include "telemetry.h"

#define WATCH_NS (2 * LULL_NS_PER_MS)
#define VERSION_WANTED "DPDK 22.11."

static struct plugin_queue queues[PLUGIN_PORTS_MAX][PLUGIN_QUEUES_MAX];
static bool port_runs[PLUGIN_PORTS_MAX];
static const void *placeholder; /* what a stopped port receives with */
static bool active;
static struct lull_telemetry_config telemetry_config;

void
plugin_say(const char *format, ...)
{
	va_list args;
	char text[512];

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "lull: %s\n", text);
}

void
plugin_attach_seen(uint32_t poller_count)
{
	__atomic_store_n(&telemetry_config.loop_count, poller_count, __ATOMIC_RELEASE);
}

/*
 * Queues are counted by trying: the call refuses the first one that is not there and reads only the
 * port's shared data. Callbacks outlive ports, so a queue that has one keeps it.
 */
static void
attach_port(uint16_t port_id)
{
	uint16_t queue_id;

	for (queue_id = 0; queue_id < PLUGIN_QUEUES_MAX; queue_id++) {
		struct plugin_queue *queue = &queues[port_id][queue_id];

		/* The port may be another one by now: whoever polls it asks it again. */
		__atomic_store_n(&queue->poller, NULL, __ATOMIC_RELAXED);
		if (queue->attached)
			continue;
		queue->port_id = port_id;
		queue->queue_id = queue_id;
		if (rte_eth_add_first_rx_callback(port_id, queue_id, plugin_seen, queue) == NULL)
			return;
		queue->attached = true;
	}
}

static void
attach_look(void)
{
	uint16_t port_id;

	for (port_id = 0; port_id < PLUGIN_PORTS_MAX; port_id++) {
		const void *receive = (const void *)(uintptr_t)__atomic_load_n(
			&rte_eth_fp_ops[port_id].rx_pkt_burst, __ATOMIC_ACQUIRE);
		bool runs = receive != NULL && receive != placeholder;

		if (runs && !port_runs[port_id])
			attach_port(port_id);
		port_runs[port_id] = runs;
	}
}

static void *
attach_watch(void *arg)
{
	const struct timespec pause = { .tv_nsec = WATCH_NS };

	(void)arg;
	pthread_setname_np(pthread_self(), "lull-watch");
	for (;;) {
		attach_look();
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- telemetry ---- */

static int
attach_set(void *arg, const char *assignment, char *error, size_t size)
{
	struct plugin_settings settings = plugin_settings_now();
	char name[LULL_NAME_SIZE];
	int rc;

	(void)arg;
	rc = plugin_settings_change(&settings, assignment, name, error, size);
	if (rc != 0)
		return rc;
	rc = plugin_pollers_change(&settings, name);
	if (rc == -ENOENT)
		snprintf(error, size, "no loop %s; lull show lists them", name);
	else if (rc != 0)
		snprintf(error, size,
			 "a thread that does not poll has too many changes waiting; "
			 "try again when its port runs");
	return rc;
}

static void
attach_settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
		void *put_arg)
{
	struct plugin_settings settings = plugin_settings_now();

	(void)arg;
	plugin_settings_print(&settings, put, put_arg);
}

/* ---- life ---- */

static int
attach_start_thread(void)
{
	pthread_t thread;
	sigset_t all, before;
	int rc;

	/* The program's signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, attach_watch, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		pthread_detach(thread);
	return rc;
}

static void
attach_begin(const struct plugin_settings *settings)
{
	int rc;

	plugin_pollers_init(settings);
	placeholder = (const void *)(uintptr_t)rte_eth_fp_ops[0].rx_pkt_burst;
	telemetry_config = (struct lull_telemetry_config){
		.program = program_invocation_short_name,
		.version = LULL_VERSION,
		.loops = plugin_poller_places(),
		.set = attach_set,
		.settings = attach_settings,
	};
	rc = lull_telemetry_start(&telemetry_config);
	if (rc != 0)
		plugin_say("telemetry refused the /lull commands: %s; resting all the same",
			   strerror(-rc));
	rc = attach_start_thread();
	if (rc != 0) {
		plugin_say("no thread to watch for ports: %s; doing nothing", strerror(rc));
		return;
	}
	active = true;
}

__attribute__((constructor)) static void
plugin_load(void)
{
	struct plugin_settings settings;
	char error[512];
	int rc = plugin_settings_load(&settings, error, sizeof(error));

	if (rc == 1)
		return;
	if (rc != 0) {
		plugin_say("%s; doing nothing", error);
		return;
	}
	if (strncmp(rte_version(), VERSION_WANTED, strlen(VERSION_WANTED)) != 0) {
		plugin_say("this program runs on %s, the plugin is for 22.11; doing nothing",
			   rte_version());
		return;
	}
	attach_begin(&settings);
}

__attribute__((destructor)) static void
plugin_unload(void)
{
	if (active)
		plugin_report();
}
