/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- heap ---- */

static bool
files_before(const struct flow_files *files, uint32_t a, uint32_t b)
{
	uint64_t a_ns = files->files[a].time_ns, b_ns = files->files[b].time_ns;

	return a_ns != b_ns ? a_ns < b_ns : a < b;
}

/* The file at @p place may be later than those below it. */
static void
files_sink(struct flow_files *files, uint32_t place)
{
	uint32_t *heap = files->heap, file = heap[place];

	for (uint32_t child; (child = 2 * place + 1) < files->heap_count; place = child) {
		if (child + 1 < files->heap_count &&
		    files_before(files, heap[child + 1], heap[child]))
			child++;
		if (!files_before(files, heap[child], file))
			break;
		heap[place] = heap[child];
	}
	heap[place] = file;
}

/* ---- files ---- */

/* Look at the next packet of a file; false: it has none. */
static bool
files_next(struct flow_files *files, struct flow_file *file)
{
	if (lull_capture_next(&file->capture, &file->packet) != LULL_CAPTURE_PACKET)
		return false;
	if (!file->packet.timed)
		LULL_COUNTER_ADD(files->untimed, 1);
	else if (file->packet.timestamp_ns < file->time_ns)
		LULL_COUNTER_ADD(files->back, 1);
	if (file->packet.timed)
		file->time_ns = file->packet.timestamp_ns;
	return true;
}

static struct flow_file *
files_add(struct flow_files *files)
{
	if (files->file_count == files->file_room) {
		uint32_t room = files->file_room == 0 ? 16 : 2 * files->file_room;
		struct flow_file *list = realloc(files->files, room * sizeof(*list));

		if (list == NULL)
			return NULL;
		files->files = list;
		files->file_room = room;
	}
	memset(&files->files[files->file_count], 0, sizeof(*files->files));
	files->files[files->file_count].fd = -1;
	return &files->files[files->file_count++];
}

/* Map what @p fd is open on; found in a folder, what is no capture is passed over. */
static int
files_map(struct flow_files *files, const char *path, int fd, size_t size, bool found,
	  struct lull_error *error)
{
	struct lull_capture capture;
	struct flow_file *file;
	void *data = MAP_FAILED;

	if (size > 0)
		data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (size > 0 && data == MAP_FAILED)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (size > 0)
		lull_capture_open(&capture, data, size);
	if (size == 0 || capture.result == LULL_CAPTURE_UNSUPPORTED) {
		if (size > 0)
			munmap(data, size);
		files->skipped += found;
		return found ? 0 :
			       lull_error_set(error, -EINVAL, "%s: %s", path,
					      size == 0 ? "it is empty, not even a file header" :
							  "neither pcap nor pcapng");
	}
	file = files_add(files);
	if (file == NULL || (file->path = strdup(path)) == NULL) {
		munmap(data, size);
		return lull_error_set(error, -ENOMEM, "%s: no memory", path);
	}
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0) {
		lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
		munmap(data, size);
		return -EMFILE;
	}
	madvise(data, size, MADV_SEQUENTIAL);
	file->data = data;
	file->size = size;
	file->capture = capture;
	return 0;
}

/* ---- paths ---- */

static int files_open_folder(struct flow_files *files, const char *path, struct lull_error *error);

static int
files_open_path(struct flow_files *files, const char *path, bool found, struct lull_error *error)
{
	/* Not to wait for a writer, should it be a pipe. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct stat stat;

	if (fd < 0)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &stat) != 0)
		rc = lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	else if (S_ISREG(stat.st_mode))
		rc = files_map(files, path, fd, (size_t)stat.st_size, found, error);
	else if (found)
		rc = 0; /* a folder in a folder, a socket: none of our business */
	else if (S_ISDIR(stat.st_mode))
		rc = files_open_folder(files, path, error);
	else
		rc = lull_error_set(error, -EINVAL, "%s: neither a file nor a folder", path);
	close(fd);
	return rc;
}

static int
files_is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int
files_open_folder(struct flow_files *files, const char *path, struct lull_error *error)
{
	uint32_t before = files->file_count;
	struct dirent **entries;
	char *name;
	int count = scandir(path, &entries, files_is_visible, alphasort), rc = 0;

	if (count < 0)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (rc == 0 && asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0)
			rc = lull_error_set(error, -ENOMEM, "%s: no memory", path);
		else if (rc == 0) {
			rc = files_open_path(files, name, true, error);
			free(name);
		}
		free(entries[i]);
	}
	free(entries);
	if (rc == 0 && files->file_count == before)
		rc = lull_error_set(error, -ENOENT, "%s: no capture in this folder", path);
	return rc;
}

/* Every capture stays open: as many as this process may ever have. */
static void
files_allow_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int
flow_files_open(struct flow_files *files, const struct lull_option_list *paths,
		struct lull_error *error)
{
	int rc = 0;

	memset(files, 0, sizeof(*files));
	files_allow_many();
	for (uint32_t i = 0; rc == 0 && i < paths->count; i++)
		rc = files_open_path(files, paths->items[i], false, error);
	if (rc != 0)
		return rc;
	files->heap = calloc(LULL_MAX(files->file_count, 1u), sizeof(*files->heap));
	if (files->heap == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for %u files", files->file_count);
	for (uint32_t i = 0; i < files->file_count; i++) {
		if (files_next(files, &files->files[i]))
			files->heap[files->heap_count++] = i;
		else
			files->faults += files->files[i].capture.result != LULL_CAPTURE_END;
	}
	for (uint32_t place = files->heap_count / 2; place > 0; place--)
		files_sink(files, place - 1);
	return 0;
}

void
flow_files_close(struct flow_files *files)
{
	for (uint32_t i = 0; i < files->file_count; i++) {
		struct flow_file *file = &files->files[i];

		if (file->data != NULL)
			munmap((void *)(uintptr_t)file->data, file->size);
		if (file->fd >= 0)
			close(file->fd);
		free(file->path);
	}
	free(files->files);
	free(files->heap);
	memset(files, 0, sizeof(*files));
}

/* ---- packets ---- */

/* Bytes behind the end of a file that has been cut cannot be read: that would end the program. */
static bool
files_shrunk(const struct flow_files *files, struct flow_file *file)
{
	struct stat stat = { .st_size = 0 };

	if (file->looked == files->calls)
		return false;
	file->looked = files->calls;
	if (fstat(file->fd, &stat) == 0 && (uint64_t)stat.st_size >= file->size)
		return false;
	file->capture.result = LULL_CAPTURE_TRUNCATED;
	file->capture.offset = (size_t)stat.st_size;
	file->capture.reason = "it became shorter while it was read";
	return true;
}

/* The file that the next packet came from has no more, or may not be read any more. */
static void
files_end(struct flow_files *files, const struct flow_file *file)
{
	if (file->capture.result != LULL_CAPTURE_END)
		LULL_COUNTER_ADD(files->faults, 1);
	files->heap[0] = files->heap[--files->heap_count];
	if (files->heap_count > 0)
		files_sink(files, 0);
}

uint32_t
flow_files_read(void *arg, struct lull_pipeline_frame *frames, uint32_t count, bool *end)
{
	struct flow_files *files = arg;
	uint64_t bytes = 0;
	uint32_t taken;

	if (__atomic_load_n(&files->stop, __ATOMIC_RELAXED)) {
		*end = true;
		return 0;
	}
	files->calls++;
	for (taken = 0; taken < count && files->heap_count > 0;) {
		struct flow_file *file = &files->files[files->heap[0]];
		const struct lull_capture_packet *packet = &file->packet;

		if (files_shrunk(files, file)) {
			files_end(files, file);
			continue;
		}
		frames[taken] = (struct lull_pipeline_frame){
			.data = packet->data,
			.captured_bytes = packet->captured_bytes,
			.original_bytes = LULL_MAX(packet->original_bytes, packet->captured_bytes),
			.time_ns = file->time_ns,
			.link_type = packet->link_type,
			.interface = (uint16_t)LULL_MIN(packet->interface_index + 1u, UINT16_MAX),
		};
		bytes += frames[taken++].original_bytes;
		if (files_next(files, file))
			files_sink(files, 0);
		else
			files_end(files, file);
	}
	LULL_COUNTER_ADD(files->pkts, taken);
	LULL_COUNTER_ADD(files->bytes, bytes);
	*end = taken == 0;
	return taken;
}

const char *
flow_files_fault(const struct flow_files *files, uint32_t index, struct lull_error *text)
{
	const struct flow_file *file = &files->files[index];

	if (file->capture.result == LULL_CAPTURE_PACKET || file->capture.result == LULL_CAPTURE_END)
		return NULL;
	lull_error_set(text, -EBADMSG, "%s: %s at byte %zu: %s", file->path,
		       lull_capture_result_name(file->capture.result), file->capture.offset,
		       file->capture.reason);
	return text->text;
}
