/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who polls: one place per thread, kept for the life of the process and used again by later
 * threads. Also what lull/engine.h promises about loops, so that the engine's telemetry shows
 * pollers.
 */
#include "plugin.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_version.h>

static struct {
	pthread_mutex_t lock;
	pthread_key_t key; /* gives the place back when its thread ends */
	bool key_made;
	struct plugin_settings settings;
	uint32_t count;
	bool full_said;
	struct lull_loop *places[LULL_LOOPS_MAX];
} pollers = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
pollers_give_back(void *place)
{
	struct lull_loop *poller = place;

	pthread_mutex_lock(&pollers.lock);
	poller->used = false;
	pthread_mutex_unlock(&pollers.lock);
}

void
plugin_pollers_init(const struct plugin_settings *settings)
{
	pollers.settings = *settings;
	pollers.key_made = pthread_key_create(&pollers.key, pollers_give_back) == 0;
}

/* A new place; NULL when there is no room or memory. The lock is held. */
static struct lull_loop *
pollers_grow(void)
{
	struct lull_loop *poller;
	void *memory;

	if (pollers.count == LULL_LOOPS_MAX) {
		if (!pollers.full_said)
			plugin_say("more than %d threads poll; the others run as if lull were not "
				   "there",
				   LULL_LOOPS_MAX);
		pollers.full_said = true;
		return NULL;
	}
	if (posix_memalign(&memory, LULL_CACHE_LINE, sizeof(*poller)) != 0)
		return NULL;
	poller = memory;
	memset(poller, 0, sizeof(*poller));
	if (posix_memalign(&memory, LULL_CACHE_LINE, lull_idle_size()) != 0) {
		free(poller);
		return NULL;
	}
	poller->idle = memory;
	lull_mailbox_init(&poller->mailbox);
	poller->ways[LULL_REST_PAUSE] = &lull_rest_pause;
	poller->ways[LULL_REST_SLEEP] = &lull_rest_sleep_timer;
	snprintf(poller->name, sizeof(poller->name), "poll%u", pollers.count);
	return poller;
}

/* What a thread before may have left is forgotten, its place in the mailbox included. */
static void
poller_begin(struct lull_loop *poller)
{
	struct lull_idle_limits limits = { 0 };
	uint64_t now_ns = lull_clock_ns();

	while (lull_mailbox_peek(&poller->mailbox) != NULL)
		lull_mailbox_pop(&poller->mailbox);
	poller->settings = pollers.settings;
	poller->mode = pollers.settings.mode;
	poller->governor = plugin_settings_governor(&pollers.settings);
	lull_idle_init(poller->idle, poller->governor, &limits, now_ns, &poller->idle);
	poller->timed = false;
	poller->queue_count = 0;
	poller->port_count = 0;
	poller->burst_pkts = 0;
	poller->round_pkts = 0;
	poller->turns = 0;
	poller->turns_empty = 0;
	poller->pkts = 0;
	poller->empty_need = 1;
	poller->round_begin_ns = now_ns;
	poller->window_begin_ns = now_ns;
	poller->tid = gettid();
	if (pthread_getname_np(pthread_self(), poller->thread, sizeof(poller->thread)) != 0)
		poller->thread[0] = '\0';
	lull_rest_thread_init();
	plugin_publish(poller, now_ns);
}

struct lull_loop *
plugin_poller_take(void)
{
	struct lull_loop *poller = NULL;
	uint32_t i;

	pthread_mutex_lock(&pollers.lock);
	for (i = 0; i < pollers.count && poller == NULL; i++)
		if (!pollers.places[i]->used)
			poller = pollers.places[i];
	if (poller == NULL) {
		poller = pollers_grow();
		i = pollers.count;
	}
	if (poller != NULL) {
		poller->used = true;
		poller_begin(poller);
		if (i == pollers.count) {
			pollers.places[i] = poller;
			__atomic_store_n(&pollers.count, i + 1, __ATOMIC_RELEASE);
			plugin_attach_seen(i + 1);
		}
		if (pollers.key_made)
			pthread_setspecific(pollers.key, poller);
	}
	pthread_mutex_unlock(&pollers.lock);
	return poller;
}

uint32_t
plugin_poller_count(void)
{
	return __atomic_load_n(&pollers.count, __ATOMIC_ACQUIRE);
}

struct lull_loop *
plugin_poller(uint32_t index)
{
	return pollers.places[index];
}

struct lull_loop *const *
plugin_poller_places(void)
{
	return pollers.places;
}

struct plugin_settings
plugin_settings_now(void)
{
	struct plugin_settings settings;

	pthread_mutex_lock(&pollers.lock);
	settings = pollers.settings;
	pthread_mutex_unlock(&pollers.lock);
	return settings;
}

int
plugin_pollers_change(const struct plugin_settings *settings, const char *name)
{
	bool all = name[0] == '\0';
	int rc = all ? 0 : -ENOENT;
	uint32_t i;

	pthread_mutex_lock(&pollers.lock);
	if (all)
		pollers.settings = *settings;
	for (i = 0; i < pollers.count; i++) {
		struct lull_loop *poller = pollers.places[i];
		int posted;

		if (!poller->used || (!all && strcmp(poller->name, name) != 0))
			continue;
		posted = lull_mailbox_post(&poller->mailbox, PLUGIN_MESSAGE_CHANGE, settings,
					   sizeof(*settings));
		rc = posted != 0 ? posted : (rc == -ENOENT ? 0 : rc);
	}
	pthread_mutex_unlock(&pollers.lock);
	return rc;
}

/* ---- lull/engine.h ---- */

const char *
lull_loop_name(const struct lull_loop *loop)
{
	return loop->name;
}

const char *
lull_loop_kind(const struct lull_loop *loop)
{
	(void)loop;
	return "plugin";
}

/* Threads of others may move. */
int
lull_loop_cpu(const struct lull_loop *loop)
{
	(void)loop;
	return -1;
}

int
lull_loop_tid(const struct lull_loop *loop)
{
	return loop->tid;
}

void
lull_loop_snapshot(const struct lull_loop *loop, struct lull_loop_snapshot *snapshot)
{
	lull_snapshot_read(&loop->snapshot, snapshot);
}

const struct lull_idle_counters *
lull_loop_counters(const struct lull_loop *loop)
{
	return lull_idle_counters(loop->idle);
}

const struct lull_histogram *
lull_loop_wait_histogram(const struct lull_loop *loop)
{
	return lull_idle_wait_histogram(loop->idle);
}

const struct lull_histogram *
lull_loop_rest_histogram(const struct lull_loop *loop)
{
	return lull_idle_rest_histogram(loop->idle);
}

int
lull_loop_depth_probe(const struct lull_loop *loop, enum lull_rest_depth depth)
{
	return depth == LULL_REST_NONE || loop->ways[depth] != NULL ? 0 : -ENOTSUP;
}

int
lull_loop_post_mark(struct lull_loop *loop, uint32_t window)
{
	if (!loop->used)
		return 0;
	return lull_mailbox_post(&loop->mailbox, PLUGIN_MESSAGE_MARK, &window, sizeof(window));
}

const struct lull_counter_info *
lull_loop_stage_counters(const struct lull_loop *loop, const void **counters)
{
	static const struct lull_counter_info none[] = { { .name = NULL } };

	*counters = loop;
	return none;
}

void
lull_loop_missed(const struct lull_loop *loop, uint64_t *missed, uint64_t *nombuf)
{
	*missed = LULL_COUNTER_READ(loop->missed);
	*nombuf = 0; /* the audit counts both together */
}

bool
lull_loop_alive(const struct lull_loop *loop)
{
	return loop->used;
}

const char *
lull_loop_thread(const struct lull_loop *loop)
{
	return loop->thread;
}

uint64_t
lull_link_pps(uint32_t link_mbps)
{
	return link_mbps * 1000000ULL / (84 * 8);
}

const char *
lull_engine_dpdk_version(void)
{
	return rte_version() + strlen("DPDK ");
}
