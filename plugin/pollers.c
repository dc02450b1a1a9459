/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who polls: one place per thread, kept for the life of the process and used again by later
 * threads.
 */
#include "plugin.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/loop.h"
#include "host/sched_class.h"

#define ALIVE_NS (2 * LULL_NS_PER_S)
#define ABSENCE_POLLS 64 /* empty polls of seen members before the others are taken for gone */

static struct {
	pthread_mutex_t lock;
	pthread_key_t key; /* gives the place back when its thread ends */
	bool key_made;
	bool forked;
	struct plugin_settings settings;
	uint32_t window;
	uint32_t count;
	bool full_said;
	struct plugin_poller *places[LULL_LOOPS_MAX];
} pollers = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
pollers_give_back(void *place)
{
	struct plugin_poller *poller = place;

	lull_rest_thread_leave(poller->class);
	plugin_audit_end(poller);
	plugin_queue_drop_all(poller);
	pthread_mutex_lock(&pollers.lock);
	__atomic_store_n(&poller->used, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&pollers.lock);
}

void
plugin_pollers_init(const struct plugin_settings *settings)
{
	pollers.settings = *settings;
	plugin_audit_init();
	pollers.key_made = pthread_key_create(&pollers.key, pollers_give_back) == 0;
}

/* Ordinary to begin with: what is wanted becomes known with the first queue. */
static int
poller_make_class(struct plugin_poller *poller)
{
	struct lull_idle_limits limits = { 0 };

	poller->class_config.policy = LULL_SCHED_OTHER;
	lull_idle_init(poller->idle, lull_idle_governors[0], &limits, lull_clock_ns(),
		       &poller->idle);
	return lull_rest_thread_create(poller->idle, &poller->class_config, &poller->class);
}

/* A new place; NULL when there is no room or memory. The lock is held. */
static struct plugin_poller *
pollers_grow(void)
{
	struct plugin_poller *poller;
	void *memory;

	if (pollers.count == LULL_LOOPS_MAX) {
		if (!pollers.full_said)
			plugin_say("more than %d threads poll; the others run as without lull",
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
	if (poller_make_class(poller) != 0) {
		free(poller->idle);
		free(poller);
		return NULL;
	}
	pthread_mutex_init(&poller->orders_lock, NULL);
	poller->ways[LULL_IDLE_PAUSE] = &lull_rest_pause;
	poller->ways[LULL_IDLE_SLEEP] = &lull_rest_sleep_sources;
	snprintf(poller->name, sizeof(poller->name), "poll%u", pollers.count);
	return poller;
}

static uint64_t
poller_clock_cost_ns(void)
{
	uint64_t begin_ns = lull_clock_ns(), cost_ns = UINT64_MAX;

	for (uint32_t i = 0; i < 8; i++) {
		uint64_t end_ns = lull_clock_ns();

		cost_ns = LULL_MIN(cost_ns, end_ns - begin_ns);
		begin_ns = end_ns;
	}
	return cost_ns;
}

static void
poller_begin_orders(struct plugin_poller *poller)
{
	pthread_mutex_lock(&poller->orders_lock);
	poller->ordered_settings = pollers.settings;
	poller->ordered_window = pollers.window;
	__atomic_store_n(&poller->ordered, false, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&poller->orders_lock);
	poller->settings = pollers.settings;
	poller->window = pollers.window;
}

/* On its thread. What a thread before has left is forgotten. */
static void
poller_begin(struct plugin_poller *poller)
{
	struct lull_idle_limits limits = { 0 };
	uint64_t now_ns = lull_clock_ns();

	plugin_queue_drop_all(poller);
	poller_begin_orders(poller);
	poller->mode = PLUGIN_OFF;
	poller->governor = plugin_settings_governor(&poller->settings);
	lull_idle_init(poller->idle, poller->governor, &limits, now_ns, &poller->idle);
	memset(&poller->limits, 0, sizeof(poller->limits));
	memset(poller->queue_pkts, 0, sizeof(poller->queue_pkts));
	poller->emptied = 0;
	memset(poller->audits, 0, sizeof(poller->audits));
	poller->timed = poller->crowded = poller->prepared = poller->sampling = false;
	poller->shadow.resting = false;
	poller->burst_pkts = poller->iteration_pkts = 0;
	poller->seen = poller->again = poller->empty_run = 0;
	poller->iterations = poller->iterations_empty = poller->pkts = 0;
	poller->charge = (struct lull_loss_charge){ 0, 0 };
	poller->sample_x256 = poller->housekeeping_ns = poller->rest_ns = 0;
	poller->stolen_ns = poller->report_ns = poller->wall_seen_ns = 0;
	poller->absence_polls = ABSENCE_POLLS;
	poller->sample_iterations = poller->clock_countdown = 1;
	poller->empty_need = UINT32_MAX;
	poller->iteration_begin_ns = poller->window_begin_ns = poller->accounted_ns = now_ns;
	poller->polled_ns = now_ns;
	poller->ports = 0;
	poller->clock_ns = poller_clock_cost_ns();

	poller->tid = gettid();
	poller->pinned_cpu = sched_only_cpu(poller->tid);
	if (pthread_getname_np(pthread_self(), poller->thread, sizeof(poller->thread)) != 0)
		poller->thread[0] = '\0';
	poller->class_config = (struct lull_rest_thread_config){ .policy = LULL_SCHED_OTHER };
	/* A thread may end in a way that gives nothing back. */
	lull_rest_thread_leave(poller->class);
	lull_rest_thread_change(poller->class, &poller->class_config);
	lull_rest_thread_enter(poller->class, 0);
	plugin_publish(poller, now_ns);
}

/* The lock is held. */
static struct plugin_poller *
pollers_take(void)
{
	uint32_t i = 0;
	struct plugin_poller *poller;

	while (i < pollers.count && pollers.places[i]->used)
		i++;
	poller = i < pollers.count ? pollers.places[i] : pollers_grow();
	if (poller == NULL)
		return NULL;
	poller_begin(poller);
	__atomic_store_n(&poller->used, true, __ATOMIC_RELAXED);
	if (i == pollers.count) {
		pollers.places[i] = poller;
		__atomic_store_n(&pollers.count, i + 1, __ATOMIC_RELEASE);
		plugin_life_seen(i + 1);
	}
	if (pollers.key_made)
		pthread_setspecific(pollers.key, poller);
	return poller;
}

struct plugin_poller *
plugin_poller_take(void)
{
	struct plugin_poller *poller;

	if (pollers.forked)
		return NULL;
	pthread_mutex_lock(&pollers.lock);
	poller = pollers_take();
	pthread_mutex_unlock(&pollers.lock);
	plugin_attach_kick();
	return poller;
}

void
plugin_pollers_forked(void)
{
	pollers.forked = true;
}

void
plugin_pollers_give_classes_back(void)
{
	for (uint32_t i = 0; i < plugin_poller_count(); i++)
		lull_rest_thread_leave(pollers.places[i]->class);
}

uint32_t
plugin_poller_count(void)
{
	return __atomic_load_n(&pollers.count, __ATOMIC_ACQUIRE);
}

struct plugin_poller *
plugin_poller(uint32_t index)
{
	return pollers.places[index];
}

/* Also asked at exit, perhaps out of a signal handler that found the lock taken: a change that is
 * half written is better than a program that does not end. */
struct plugin_settings
plugin_settings_now(void)
{
	bool locked = pthread_mutex_trylock(&pollers.lock) == 0;
	struct plugin_settings settings = pollers.settings;

	if (locked)
		pthread_mutex_unlock(&pollers.lock);
	return settings;
}

static void
pollers_order(struct plugin_poller *poller, const struct plugin_settings *settings)
{
	pthread_mutex_lock(&poller->orders_lock);
	if (settings != NULL)
		poller->ordered_settings = *settings;
	poller->ordered_window = pollers.window;
	__atomic_store_n(&poller->ordered, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&poller->orders_lock);
}

/* Each keeps what it was told alone, but for the one setting. The lock is held. */
static int
pollers_change(const char *assignment, const char *name, struct lull_error *error)
{
	struct plugin_settings settings;
	char again[LULL_NAME_SIZE];
	int rc = name[0] == '\0' ? 0 : -ENOENT;

	for (uint32_t i = 0; i < pollers.count; i++) {
		struct plugin_poller *poller = pollers.places[i];

		if (!poller->used || (name[0] != '\0' && strcmp(poller->name, name) != 0))
			continue;
		settings = poller->ordered_settings;
		rc = plugin_settings_change(&settings, assignment, again, error);
		if (rc != 0)
			return rc;
		pollers_order(poller, &settings);
	}
	if (rc != 0)
		lull_error_set(error, rc, "no loop '%s'; lull show lists them", name);
	return rc;
}

int
plugin_pollers_change(const char *assignment, struct lull_error *error)
{
	struct plugin_settings settings;
	char name[LULL_NAME_SIZE];
	int rc;

	pthread_mutex_lock(&pollers.lock);
	settings = pollers.settings;
	rc = plugin_settings_change(&settings, assignment, name, error);
	if (rc == 0)
		rc = pollers_change(assignment, name, error);
	if (rc == 0 && name[0] == '\0')
		pollers.settings = settings;
	pthread_mutex_unlock(&pollers.lock);
	if (rc == 0)
		plugin_attach_kick();
	return rc;
}

uint32_t
plugin_pollers_modes(void)
{
	uint32_t modes;

	pthread_mutex_lock(&pollers.lock);
	modes = 1u << pollers.settings.mode;
	for (uint32_t i = 0; i < pollers.count; i++)
		if (pollers.places[i]->used)
			modes |= 1u << pollers.places[i]->ordered_settings.mode;
	pthread_mutex_unlock(&pollers.lock);
	return modes;
}

void
plugin_pollers_mark(struct plugin_poller *poller, uint32_t window)
{
	pthread_mutex_lock(&pollers.lock);
	pollers.window = window;
	pollers_order(poller, NULL);
	pthread_mutex_unlock(&pollers.lock);
}

/* ---- what others are shown ---- */

/* A thread may live on and never poll again, as the one that set the ports up. */
static bool
poller_alive(const struct plugin_poller *poller)
{
	return __atomic_load_n(&poller->used, __ATOMIC_RELAXED) &&
	       lull_clock_ns() - __atomic_load_n(&poller->published_ns, __ATOMIC_RELAXED) <
		       ALIVE_NS;
}

const char *
plugin_poller_unseen(const struct plugin_poller *poller)
{
	if (__atomic_load_n(&poller->unseen, __ATOMIC_RELAXED) == PLUGIN_UNSEEN_REST)
		return NULL;
	return plugin_unseen();
}

void
plugin_poller_info(const struct plugin_poller *poller, struct lull_loop_info *info)
{
	static const char *const why[] = {
		[PLUGIN_OFF] = "off: the thread polls as without lull; mode=on lets it rest",
		[PLUGIN_PASSIVE] = "passive: lull only measures how busy the thread is; mode=on "
				   "lets it rest",
		[PLUGIN_SHADOW] = NULL,
		[PLUGIN_ON] = NULL,
	};
	uint32_t mode = __atomic_load_n(&poller->mode, __ATOMIC_RELAXED);
	const char *unseen = plugin_poller_unseen(poller);

	*info = (struct lull_loop_info){
		.name = poller->name,
		.kind = "plugin",
		.thread = poller->thread,
		.mode = plugin_mode_name(mode),
		.why = why[mode] != NULL ? why[mode] : unseen,
		.cpu = __atomic_load_n(&poller->cpu, __ATOMIC_RELAXED),
		.tid = poller->tid,
		.alive = poller_alive(poller),
		.idle_states = PLUGIN_IDLE_STATES,
		.idle = poller->idle,
		.class = poller->class,
		.snapshot = &poller->snapshot,
	};
}
