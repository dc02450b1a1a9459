/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <lull/base.h>

/* A rotation that failed is tried again after so long. */
#define RETRY_NS (10 * LULL_NS_PER_S)
/* Names of one second, before the next one is waited for. */
#define NAMES_MAX 1000

struct sink_volume {
	pthread_mutex_t lock; /* of writing: instances share the file */
	int fd;
	dev_t device;
	ino_t inode;
	uint32_t holders;  /* instances, and one while it is the newest */
	uint64_t bytes;    /* in the file */
	uint64_t begun_ns; /* since 1970 */
	char hidden[PATH_MAX + 64], final[PATH_MAX + 64]; /* "": stays where it is */
};

struct sink_file {
	struct sink_file_config config;
	pthread_mutex_t lock; /* of newest */
	struct sink_volume *newest;
	uint64_t retry_ns;
	uint32_t turns;
};

bool
sink_file_suits(const char *path)
{
	struct stat status;

	return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

uint64_t
sink_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * LULL_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- one volume ---- */

static void
volume_free(struct sink_volume *volume)
{
	if (volume->fd >= 0)
		close(volume->fd);
	pthread_mutex_destroy(&volume->lock);
	free(volume);
}

static int
volume_look(struct sink_volume *volume, const struct sink_file_config *config, bool keep,
	    struct lull_error *error)
{
	struct stat status;
	int rc = 0;

	if (fstat(volume->fd, &status) != 0)
		return lull_error_set(error, -errno, "%s: %s", config->path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return lull_error_set(error, -EINVAL, "%s: it is no regular file any more",
				      config->path);
	if (keep && status.st_size > 0) {
		rc = config->mend(volume->fd, (uint64_t)status.st_size, error);
		if (rc != 0)
			lull_error_prefix(error, "%s: ", config->path);
		if (rc == 0 && fstat(volume->fd, &status) != 0)
			rc = lull_error_set(error, -errno, "%s: %s", config->path, strerror(errno));
		volume->begun_ns = (uint64_t)status.st_mtim.tv_sec * LULL_NS_PER_S;
	}
	volume->device = status.st_dev;
	volume->inode = status.st_ino;
	volume->bytes = (uint64_t)status.st_size;
	return rc;
}

static int
volume_open(const struct sink_file_config *config, bool keep, struct sink_volume **created,
	    struct lull_error *error)
{
	struct sink_volume *volume = calloc(1, sizeof(*volume));
	int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (keep ? 0 : O_TRUNC), rc;

	if (volume == NULL)
		return lull_error_set(error, -ENOMEM, "%s: no memory", config->path);
	pthread_mutex_init(&volume->lock, NULL);
	volume->holders = 1;
	volume->begun_ns = sink_time_ns();
	volume->fd = open(config->path, flags, 0666);
	if (volume->fd < 0)
		rc = lull_error_set(error, -errno, "%s: %s", config->path, strerror(errno));
	else
		rc = volume_look(volume, config, keep, error);
	if (rc != 0) {
		volume_free(volume);
		return rc;
	}
	*created = volume;
	return 0;
}

/* Nothing is ever replaced: a name that is taken gets a number. */
static void
volume_name(const struct sink_volume *volume)
{
	char name[sizeof(volume->final) + 8];
	size_t stem = (size_t)(strrchr(volume->final, '/') - volume->final) + 1;
	const char *dot = strrchr(volume->final + stem, '.');
	size_t before = dot == NULL ? strlen(volume->final) : (size_t)(dot - volume->final);

	for (int i = 1; i < NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "%s", volume->final);
		if (i > 1)
			snprintf(name + before, sizeof(name) - before, "-%d%s", i,
				 volume->final + before);
		if (link(volume->hidden, name) == 0) {
			unlink(volume->hidden);
			return;
		}
		if (errno == EEXIST)
			continue;
		/* A file system without links. */
		if (access(name, F_OK) != 0)
			(void)!rename(volume->hidden, name);
		return;
	}
}

static void
volume_drop(struct sink_volume *volume)
{
	if (__atomic_sub_fetch(&volume->holders, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (volume->final[0] != '\0')
		volume_name(volume);
	volume_free(volume);
}

int
sink_volume_write(struct sink_volume *volume, const void *bytes, size_t len)
{
	ssize_t sent;
	int code = 0;

	pthread_mutex_lock(&volume->lock);
	sent = write(volume->fd, bytes, len);
	if (sent < 0)
		code = errno;
	else if ((size_t)sent < len) {
		/* A file ends behind a whole unit: what a full disk cut is taken back. */
		off_t end = lseek(volume->fd, 0, SEEK_END);

		code = end >= sent && ftruncate(volume->fd, end - sent) == 0 ? ENOSPC : EIO;
	}
	if (code == 0)
		LULL_COUNTER_ADD(volume->bytes, len);
	pthread_mutex_unlock(&volume->lock);
	return code;
}

/* ---- the file ---- */

/* Rotation makes names in the folder of the file itself, not of a link to it. */
static int
file_check_folder(const struct sink_file_config *config, struct lull_error *error)
{
	char path[PATH_MAX];

	if (config->rotate_ns == 0 && config->rotate_bytes == 0)
		return 0;
	if (realpath(config->path, path) != NULL) {
		*(strrchr(path, '/') + 1) = '\0';
		if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0)
			return 0;
	}
	return lull_error_set(error, -errno, "%s: cannot be rotated: %s: %s", config->path, path,
			      strerror(errno));
}

int
sink_file_open(const struct sink_file_config *config, struct sink_file **created,
	       struct lull_error *error)
{
	struct sink_file *file = calloc(1, sizeof(*file));
	int rc;

	if (file == NULL)
		return lull_error_set(error, -ENOMEM, "%s: no memory", config->path);
	file->config = *config;
	rc = volume_open(config, config->append, &file->newest, error);
	if (rc == 0) {
		rc = file_check_folder(config, error);
		if (rc != 0)
			volume_drop(file->newest);
	}
	if (rc != 0) {
		free(file);
		return rc;
	}
	pthread_mutex_init(&file->lock, NULL);
	*created = file;
	return 0;
}

void
sink_file_close(struct sink_file *file)
{
	if (file == NULL)
		return;
	volume_drop(file->newest);
	pthread_mutex_destroy(&file->lock);
	free(file);
}

struct sink_volume *
sink_volume_join(struct sink_file *file)
{
	struct sink_volume *volume;

	pthread_mutex_lock(&file->lock);
	volume = file->newest;
	__atomic_add_fetch(&volume->holders, 1, __ATOMIC_ACQ_REL);
	pthread_mutex_unlock(&file->lock);
	return volume;
}

void
sink_volume_leave(struct sink_file *file, struct sink_volume *volume)
{
	(void)file;
	volume_drop(volume);
}

bool
sink_volume_is_old(const struct sink_file *file, const struct sink_volume *volume)
{
	return __atomic_load_n(&file->newest, __ATOMIC_RELAXED) != volume;
}

static void
file_replace(struct sink_file *file, struct sink_volume *volume)
{
	struct sink_volume *old = file->newest;

	pthread_mutex_lock(&file->lock);
	__atomic_store_n(&file->newest, volume, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&file->lock);
	volume_drop(old);
}

/* Does the path still lead to the newest volume? */
static bool
file_is_there(const struct sink_file *file)
{
	struct stat status;

	return stat(file->config.path, &status) == 0 && status.st_dev == file->newest->device &&
	       status.st_ino == file->newest->inode;
}

int
sink_file_reopen(struct sink_file *file, struct lull_error *error)
{
	struct sink_volume *volume;
	int rc;

	if (file_is_there(file))
		return 0;
	rc = volume_open(&file->config, true, &volume, error);
	if (rc != 0)
		return rc;
	file_replace(file, volume);
	return 1;
}

/* ---- rotation ---- */

/* "DIR/STEM-20261123T232000Z.EXT", and the hidden name that is used until it is whole. */
static void
turn_names(struct sink_volume *volume, const char *path, uint64_t time_ns, uint32_t turn)
{
	const char *base = strrchr(path, '/') + 1, *dot = strrchr(base, '.');
	int stem = dot == NULL || dot == base ? (int)strlen(base) : (int)(dot - base);
	time_t second = (time_t)(time_ns / LULL_NS_PER_S);
	char stamp[32];
	struct tm utc;

	gmtime_r(&second, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	snprintf(volume->final, sizeof(volume->final), "%.*s%.*s-%s%s", (int)(base - path), path,
		 stem, base, stamp, base + stem);
	snprintf(volume->hidden, sizeof(volume->hidden), "%.*s.%s.%s.%d.%u", (int)(base - path),
		 path, base, stamp, (int)getpid(), turn);
}

static bool
turn_due(const struct sink_file *file, uint64_t time_ns)
{
	const struct sink_volume *volume = file->newest;
	uint64_t bytes = LULL_COUNTER_READ(volume->bytes), every_ns = file->config.rotate_ns;

	if (time_ns < file->retry_ns)
		return false;
	return (file->config.rotate_bytes > 0 && bytes >= file->config.rotate_bytes) ||
	       (every_ns > 0 && time_ns / every_ns > volume->begun_ns / every_ns);
}

static int
turn_fail(struct sink_file *file, uint64_t time_ns, int code, struct lull_error *error)
{
	file->retry_ns = time_ns + RETRY_NS;
	return lull_error_set(error, -code, "%s: cannot rotate: %s", file->config.path,
			      strerror(code));
}

int
sink_file_turn(struct sink_file *file, uint64_t time_ns, struct lull_error *error)
{
	struct sink_volume *old = file->newest, *volume;
	char path[PATH_MAX];
	int rc;

	/* A volume begins with its first unit. */
	if (LULL_COUNTER_READ(old->bytes) == 0)
		old->begun_ns = time_ns;
	if (LULL_COUNTER_READ(old->bytes) == 0 || !turn_due(file, time_ns))
		return 0;
	if (!file_is_there(file))
		return sink_file_reopen(file, error);
	/* The file itself moves, not a link to it. */
	if (realpath(file->config.path, path) == NULL)
		return turn_fail(file, time_ns, errno, error);
	turn_names(old, path, time_ns, file->turns++);
	if (rename(path, old->hidden) != 0) {
		rc = turn_fail(file, time_ns, errno, error);
		old->final[0] = '\0';
		return rc;
	}
	rc = volume_open(&file->config, true, &volume, error);
	if (rc != 0) {
		(void)!rename(old->hidden, path);
		old->final[0] = '\0';
		file->retry_ns = time_ns + RETRY_NS;
		return rc;
	}
	volume->begun_ns = time_ns;
	file_replace(file, volume);
	return 1;
}
