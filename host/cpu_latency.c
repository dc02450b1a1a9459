/* SPDX-License-Identifier: BSD-3-Clause */
#include "cpu_latency.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "idle/outlook.h"

#define FOLDER "/sys/devices/system/cpu"
#define FILE_NAME "power/pm_qos_resume_latency_us"
#define VALUE_SIZE 32
#define LATENCY_CPUS_MAX 128  /* more loops than one program has */
#define NOTHING_US UINT64_MAX /* "0" in the file: no limit */

/* A CPU whose file is ours for now, or was. */
struct latency_cpu {
	int cpu;
	bool used;  /* by holders */
	bool ours;  /* `written` stands in the file */
	bool taken; /* somebody else has written; nothing more is done to it until all have left */
	char original[VALUE_SIZE], written[VALUE_SIZE];
};

static struct {
	pthread_once_t once;
	pthread_mutex_t lock;
	const char *folder;
	struct cpu_latency *first; /* of those that hold */
	struct latency_cpu cpus[LATENCY_CPUS_MAX];
} latency = { .once = PTHREAD_ONCE_INIT, .folder = FOLDER };

/* ---- files ---- */

/* One line without its end. */
static int
file_read(const char *path, char *value, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t got;

	if (file < 0)
		return -errno;
	got = read(file, value, size - 1);
	if (got < 0)
		rc = -errno;
	close(file);
	value[got > 0 ? got : 0] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return rc;
}

static int
file_write(const char *path, const char *value)
{
	int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), rc = 0;

	if (file < 0)
		return -errno;
	if (write(file, value, strlen(value)) < 0)
		rc = -errno;
	close(file);
	return rc;
}

static void
latency_path(int cpu, char *path, size_t size)
{
	snprintf(path, size, "%s/cpu%d/" FILE_NAME, latency.folder, cpu);
}

/* "n/a" allows no C-state at all. */
static uint64_t
latency_of(const char *value)
{
	uint64_t us = strtoull(value, NULL, 10);

	if (value[0] == 'n')
		return 0;
	return us == 0 ? NOTHING_US : us;
}

/* ---- C-states ---- */

static bool
state_number(int cpu, uint32_t index, const char *name, uint64_t *number)
{
	char path[256], value[VALUE_SIZE];

	snprintf(path, sizeof(path), "%s/cpu%d/cpuidle/state%" PRIu32 "/%s", latency.folder, cpu,
		 index, name);
	*number = 0;
	if (file_read(path, value, sizeof(value)) != 0)
		return false;
	*number = strtoull(value, NULL, 10);
	return true;
}

static uint32_t
states_read(int cpu, struct cpu_state *states)
{
	uint32_t count = 0;

	while (count < CPU_STATES_MAX) {
		struct cpu_state *state = &states[count];
		uint64_t disabled;
		char path[256];

		if (!state_number(cpu, count, "latency", &state->exit_us))
			break;
		state_number(cpu, count, "residency", &state->residency_us);
		state_number(cpu, count, "disable", &disabled);
		state->disabled = disabled != 0;
		snprintf(path, sizeof(path), "%s/cpu%d/cpuidle/state%" PRIu32 "/name",
			 latency.folder, cpu, count);
		if (file_read(path, state->name, sizeof(state->name)) != 0)
			state->name[0] = '\0';
		count++;
	}
	return count;
}

uint64_t
cpu_latency_choose(const struct cpu_state *states, uint32_t count, uint64_t room_ns)
{
	uint64_t limit_us = 0, lightest_us = 0, deepest_us = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t exit_us = states[i].exit_us;

		if (exit_us == 0)
			continue;
		if (lightest_us == 0 || exit_us < lightest_us)
			lightest_us = exit_us;
		if ((exit_us + states[i].residency_us) * LULL_NS_PER_US <= room_ns)
			limit_us = LULL_MAX(limit_us, exit_us);
		if (!states[i].disabled)
			deepest_us = LULL_MAX(deepest_us, exit_us);
	}
	limit_us = LULL_MAX(limit_us, lightest_us);
	return deepest_us > limit_us ? limit_us : 0;
}

/* ---- one CPU: under the lock ---- */

static struct latency_cpu *
latency_find(int cpu)
{
	struct latency_cpu *free = NULL;

	for (uint32_t i = 0; i < LATENCY_CPUS_MAX; i++) {
		if (latency.cpus[i].used && latency.cpus[i].cpu == cpu)
			return &latency.cpus[i];
		if (!latency.cpus[i].used && free == NULL)
			free = &latency.cpus[i];
	}
	if (free != NULL)
		*free = (struct latency_cpu){ .cpu = cpu, .used = true };
	return free;
}

/* What its holders want: the strictest; 0: nothing. */
static uint64_t
latency_wanted(int cpu, bool *held)
{
	uint64_t limit_us = 0;

	*held = false;
	for (const struct cpu_latency *one = latency.first; one != NULL; one = one->next) {
		if (one->cpu != cpu)
			continue;
		*held = true;
		if (one->limit_us != 0 && (limit_us == 0 || one->limit_us < limit_us))
			limit_us = one->limit_us;
	}
	return limit_us;
}

/* Has somebody else written what stands there now? */
static void
latency_look(struct latency_cpu *place, const char *path)
{
	char value[VALUE_SIZE];

	if (!place->ours ||
	    (file_read(path, value, sizeof(value)) == 0 && strcmp(value, place->written) == 0))
		return;
	place->ours = false;
	place->taken = true;
}

static void
latency_restore(struct latency_cpu *place, const char *path)
{
	if (place->ours)
		file_write(path, place->original);
	place->ours = false;
}

static int
latency_write(struct latency_cpu *place, const char *path, uint64_t limit_us)
{
	char value[VALUE_SIZE];
	int rc;

	snprintf(value, sizeof(value), "%" PRIu64, limit_us);
	if (place->ours && strcmp(value, place->written) == 0)
		return 0;
	rc = file_write(path, value);
	if (rc != 0)
		return rc;
	place->ours = true;
	memcpy(place->written, value, sizeof(value));
	return 0;
}

/* Nobody wants a limit, or one that is not stricter than what was found; else write it. */
static enum cpu_latency_status
latency_apply(struct latency_cpu *place, uint64_t limit_us, int *rc)
{
	char path[256];

	latency_path(place->cpu, path, sizeof(path));
	*rc = 0;
	latency_look(place, path);
	if (place->taken)
		return CPU_LATENCY_TAKEN;
	if (limit_us == 0) {
		latency_restore(place, path);
		return CPU_LATENCY_UNNEEDED;
	}
	if (!place->ours)
		*rc = file_read(path, place->original, sizeof(place->original));
	if (*rc == 0 && latency_of(place->original) <= limit_us) {
		latency_restore(place, path);
		return CPU_LATENCY_STRICTER;
	}
	if (*rc == 0)
		*rc = latency_write(place, path, limit_us);
	return *rc == 0 ? CPU_LATENCY_HELD : CPU_LATENCY_REFUSED;
}

/* Who holds on this CPU has changed. */
static void
latency_settle(int cpu)
{
	struct latency_cpu *place = latency_find(cpu);
	enum cpu_latency_status status;
	uint64_t limit_us;
	int rc = -ENOSPC;
	bool held;

	limit_us = latency_wanted(cpu, &held);
	status = place != NULL ? latency_apply(place, limit_us, &rc) : CPU_LATENCY_REFUSED;
	for (struct cpu_latency *one = latency.first; one != NULL; one = one->next) {
		if (one->cpu != cpu || one->limit_us == 0)
			continue;
		one->status = status;
		one->refused = -rc;
		one->found_us =
			status == CPU_LATENCY_STRICTER ? latency_of(place->original) : limit_us;
	}
	if (place != NULL)
		place->used = held;
}

/* ---- locks and the end ---- */

/* The child has none of the threads, and the files are its parent's. */
static void
latency_forget(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	/* A program may exit out of a signal handler that came while its thread had the lock. */
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&latency.lock, &attr);
	pthread_mutexattr_destroy(&attr);
	latency.first = NULL;
	memset(latency.cpus, 0, sizeof(latency.cpus));
}

static void
latency_init(void)
{
	latency_forget();
	pthread_atfork(NULL, NULL, latency_forget);
	atexit(cpu_latency_give_back);
}

static bool
latency_lock(void)
{
	pthread_once(&latency.once, latency_init);
	return pthread_mutex_lock(&latency.lock) == 0;
}

void
cpu_latency_give_back(void)
{
	char path[256];

	if (!latency_lock())
		return;
	for (uint32_t i = 0; i < LATENCY_CPUS_MAX; i++) {
		struct latency_cpu *place = &latency.cpus[i];

		latency_path(place->cpu, path, sizeof(path));
		latency_look(place, path);
		latency_restore(place, path);
	}
	pthread_mutex_unlock(&latency.lock);
}

void
cpu_latency_use(const char *folder)
{
	latency.folder = folder != NULL ? folder : FOLDER;
}

/* ---- holders ---- */

static void
holder_remove(struct cpu_latency *holder)
{
	struct cpu_latency **place = &latency.first;
	int cpu = holder->cpu;

	while (*place != NULL && *place != holder)
		place = &(*place)->next;
	holder->status = CPU_LATENCY_OFF;
	if (*place == NULL)
		return;
	*place = holder->next;
	latency_settle(cpu);
}

static void
holder_choose(struct cpu_latency *holder, const struct cpu_latency_wish *wish)
{
	uint64_t room_ns = wish->latency_ns - wish->latency_ns / LULL_OUTLOOK_MARGIN_SHARE;
	struct cpu_state states[CPU_STATES_MAX];
	uint32_t count;

	if (wish->limit_ns != LULL_CPU_LATENCY_AUTO) {
		holder->limit_us = LULL_MAX(wish->limit_ns / LULL_NS_PER_US, 1);
		return;
	}
	count = states_read(holder->cpu, states);
	if (wish->ring_ns != 0)
		room_ns = LULL_MIN(room_ns, wish->ring_ns);
	holder->limit_us = cpu_latency_choose(states, count, room_ns);
	holder->status = count == 0 ? CPU_LATENCY_NO_STATES : CPU_LATENCY_UNNEEDED;
}

static void
holder_hold(struct cpu_latency *holder, int cpu, const struct cpu_latency_wish *wish)
{
	bool listed = false;

	for (const struct cpu_latency *one = latency.first; one != NULL; one = one->next)
		listed = listed || one == holder;
	/* On the same CPU the value passes from the old to the new without a gap. */
	if (listed && (holder->cpu != cpu || wish->limit_ns == 0)) {
		holder_remove(holder);
		listed = false;
	}
	holder->cpu = cpu;
	holder->limit_us = 0;
	if (wish->limit_ns == 0 || cpu < 0) {
		holder->status = wish->limit_ns == 0 ? CPU_LATENCY_OFF : CPU_LATENCY_UNBOUND;
		return;
	}
	holder_choose(holder, wish);
	if (!listed) {
		holder->next = latency.first;
		latency.first = holder;
	}
	latency_settle(cpu);
}

void
cpu_latency_hold(struct cpu_latency *holder, int cpu, const struct cpu_latency_wish *wish)
{
	__atomic_store_n(&holder->wants, wish->limit_ns != 0, __ATOMIC_RELAXED);
	/* Who never asks costs nothing. */
	if ((wish->limit_ns == 0 && holder->status == CPU_LATENCY_OFF) || !latency_lock())
		return;
	holder_hold(holder, cpu, wish);
	pthread_mutex_unlock(&latency.lock);
}

void
cpu_latency_release(struct cpu_latency *holder)
{
	if (holder->status == CPU_LATENCY_OFF || !latency_lock())
		return;
	holder_remove(holder);
	pthread_mutex_unlock(&latency.lock);
}

void
cpu_latency_read(const struct cpu_latency *holder, struct cpu_latency *copy)
{
	bool locked = latency_lock();

	*copy = (struct cpu_latency){
		.cpu = holder->cpu,
		.limit_us = holder->limit_us,
		.found_us = holder->found_us,
		.status = holder->status,
		.refused = holder->refused,
	};
	if (locked)
		pthread_mutex_unlock(&latency.lock);
}

/* ---- words ---- */

char *
cpu_latency_explain(const struct cpu_latency *told, char *text, size_t size)
{
	struct cpu_latency copy, *holder = &copy;

	cpu_latency_read(told, &copy);
	text[0] = '\0';
	switch (holder->status) {
	case CPU_LATENCY_HELD:
		snprintf(text, size,
			 "CPU %d uses no C-state that takes more than %" PRIu64
			 " us to leave, for this objective",
			 holder->cpu, holder->found_us);
		break;
	case CPU_LATENCY_UNNEEDED:
		snprintf(text, size, "each C-state of CPU %d fits the objective", holder->cpu);
		break;
	case CPU_LATENCY_STRICTER:
		snprintf(text, size,
			 "somebody else limits CPU %d to C-states of %" PRIu64
			 " us, which is enough",
			 holder->cpu, holder->found_us);
		break;
	case CPU_LATENCY_TAKEN:
		snprintf(text, size,
			 "somebody else has changed the limit on the C-states of CPU "
			 "%d, and it stays so",
			 holder->cpu);
		break;
	case CPU_LATENCY_UNBOUND:
		snprintf(text, size, "no limit on C-states: the thread may run on several CPUs");
		break;
	case CPU_LATENCY_NO_STATES:
		snprintf(text, size, "no limit on C-states: the kernel tells of none on CPU %d",
			 holder->cpu);
		break;
	case CPU_LATENCY_REFUSED:
		snprintf(text, size,
			 "no limit on C-states: %s/cpu%d/" FILE_NAME " is not "
			 "available: %s",
			 latency.folder, holder->cpu, strerror(holder->refused));
		break;
	default:
		break;
	}
	return text;
}
