/* SPDX-License-Identifier: BSD-3-Clause */
#include "decisions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/result.h"

#define BUFFER_BYTES (1024 * 1024)

/* ---- writing ---- */

int
flow_decisions_open(struct flow_decisions *decisions, const char *path, struct lull_error *error)
{
	decisions->error = 0;
	decisions->file = fopen(path, "we");
	if (decisions->file == NULL)
		return lull_error_set(error, -errno, "trace: %s: %s", path, strerror(errno));
	setvbuf(decisions->file, NULL, _IOFBF, BUFFER_BYTES);
	return 0;
}

void
flow_decisions_write(void *arg, const uint8_t *bytes, size_t size)
{
	struct flow_decisions *decisions = arg;

	if (decisions->error == 0 && fwrite(bytes, 1, size, decisions->file) != size)
		decisions->error = errno;
}

int
flow_decisions_close(struct flow_decisions *decisions, const char *path, struct lull_error *error)
{
	int failed = decisions->error;

	if (decisions->file == NULL)
		return 0;
	if (fclose(decisions->file) != 0 && failed == 0)
		failed = errno;
	decisions->file = NULL;
	return failed == 0 ?
		       0 :
		       lull_error_set(error, -failed, "trace: %s: %s", path, strerror(failed));
}

/* ---- once more ---- */

static void
put_count(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, lull_result_count(value));
}

static int
replay_print(const struct lull_dispatch_replay *replay, const char *traced,
	     const struct lull_dispatch *dispatch, struct lull_error *error)
{
	const struct lull_dispatch_counters *counters = lull_dispatch_counters(dispatch);
	json_t *result = json_object(), *workers = json_array();
	int rc;

	json_object_set_new(result, "scheduler", lull_result_text(traced));
	json_object_set_new(result, "replayed",
			    lull_result_text(lull_scheduler_name(replay->config.scheduler)));
	json_object_set_new(result, "order",
			    lull_result_text(lull_order_name(replay->config.order)));
	put_count(result, "calls", replay->calls);
	put_count(result, "pkts", replay->pkts);
	put_count(result, "differences", replay->differences);
	json_object_set_new(result, "first_call",
			    replay->differences > 0 ? lull_result_count(replay->first_call) :
						      json_null());
	for (const struct lull_counter_info *row = lull_dispatch_counter_table; row->name != NULL;
	     row++)
		put_count(result, row->name,
			  *(const uint64_t *)(const void *)((const char *)counters + row->offset));
	for (uint32_t i = 0; i < replay->config.worker_count; i++)
		json_array_append_new(workers, lull_result_count(counters->worker_pkts[i]));
	json_object_set_new(result, "worker_pkts", workers);
	rc = lull_result_write("-", result, error);
	json_decref(result);
	return rc;
}

static int
replay_run(const char *path, const uint8_t *bytes, size_t size,
	   const struct lull_scheduler *scheduler, struct lull_error *error)
{
	struct lull_dispatch_replay replay;
	struct lull_dispatch *dispatch;
	const char *traced;
	size_t memory_size;
	void *memory;
	int rc;

	if (lull_dispatch_replay_open(bytes, size, &replay) != 0)
		return lull_error_set(error, -EINVAL, "replay: %s: %s at byte %zu", path,
				      replay.reason, replay.offset);
	traced = lull_scheduler_name(replay.config.scheduler);
	if (scheduler != NULL)
		replay.config.scheduler = scheduler;
	memory_size = lull_dispatch_size(&replay.config);
	memory = aligned_alloc(LULL_CACHE_LINE, (memory_size + LULL_CACHE_LINE - 1) /
							LULL_CACHE_LINE * LULL_CACHE_LINE);
	if (memory == NULL)
		return lull_error_set(error, -ENOMEM, "replay: no memory for a dispatcher");
	rc = lull_dispatch_init(memory, &replay.config, &dispatch);
	if (rc != 0)
		lull_error_set(error, rc, "replay: %s: its configuration is out of range", path);
	if (rc == 0) {
		rc = lull_dispatch_replay_run(bytes, size, dispatch, &replay);
		if (rc != 0)
			lull_error_set(error, rc, "replay: %s: %s at byte %zu", path, replay.reason,
				       replay.offset);
	}
	if (rc == 0)
		rc = replay_print(&replay, traced, dispatch, error);
	free(memory);
	return rc;
}

int
flow_decisions_replay(const char *path, const struct lull_scheduler *scheduler,
		      struct lull_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	void *bytes = MAP_FAILED;
	struct stat stat;

	if (fd < 0)
		return lull_error_set(error, -errno, "replay: %s: %s", path, strerror(errno));
	if (fstat(fd, &stat) == 0 && stat.st_size > 0)
		bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return lull_error_set(error, -EINVAL, "replay: %s: not a trace, or empty", path);
	rc = replay_run(path, bytes, (size_t)stat.st_size, scheduler, error);
	munmap(bytes, (size_t)stat.st_size);
	return rc;
}
