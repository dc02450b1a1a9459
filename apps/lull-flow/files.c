/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"
#include "torn.h"

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

/* The last file of the heap may be earlier than those above it. */
static void
files_rise(struct flow_files *files, uint32_t place)
{
	uint32_t *heap = files->heap, file = heap[place];

	for (uint32_t parent; place > 0; place = parent) {
		parent = (place - 1) / 2;
		if (!files_before(files, file, heap[parent]))
			break;
		heap[place] = heap[parent];
	}
	heap[place] = file;
}

/* ---- files ---- */

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
	files->files[files->file_count].interfaces = files->interfaces;
	return &files->files[files->file_count++];
}

/* Keep what @p fd is open on under its name. */
static struct flow_file *
files_keep(struct flow_files *files, const char *path, int fd, struct lull_error *error)
{
	struct flow_file *file = files_add(files);

	if (file == NULL || (file->path = strdup(path)) == NULL) {
		lull_error_set(error, -ENOMEM, "%s: no memory", path);
		return NULL;
	}
	file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (file->fd >= 0)
		return file;
	lull_error_set(error, -EMFILE, "%s: %s", path, strerror(errno));
	return NULL;
}

/* Found in a folder, what is no capture is passed over. */
static int
files_refuse(struct flow_files *files, const char *path, const char *reason, bool found,
	     struct lull_error *error)
{
	files->skipped += found;
	return found ? 0 : lull_error_set(error, -EINVAL, "%s: %s", path, reason);
}

/* Map what @p fd is open on. */
static int
files_map(struct flow_files *files, const char *path, int fd, size_t size, bool found,
	  struct lull_error *error)
{
	struct lull_capture capture;
	struct flow_file *file;
	void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (data == MAP_FAILED)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	lull_capture_open(&capture, data, size);
	/* A version that is not read here is no reason to pass a file over in silence. */
	if (capture.result == LULL_CAPTURE_UNSUPPORTED && (capture.foreign || !found)) {
		munmap(data, size);
		return files_refuse(files, path, capture.reason, found, error);
	}
	file = files_keep(files, path, fd, error);
	if (file == NULL) {
		munmap(data, size);
		return -ENOMEM;
	}
	/* Not MADV_SEQUENTIAL: the kernel would look for pages to read ahead that are all there. */
	posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	file->data = data;
	file->size = size;
	file->capture = capture;
	flow_file_describe(file);
	file->opened = true;
	return 0;
}

/* Read @p fd as it comes. A pipe is only looked at when it is read. */
static int
files_stream(struct flow_files *files, const char *path, int fd, bool regular, bool found,
	     struct lull_error *error)
{
	struct flow_file *file = files_keep(files, path, fd, error);
	enum flow_stream_result result;

	if (file == NULL)
		return -ENOMEM;
	file->stream = malloc(sizeof(*file->stream));
	if (file->stream == NULL || flow_stream_open(file->stream, file->fd, regular) != 0)
		return lull_error_set(error, -ENOMEM, "%s: no memory", path);
	if (!regular)
		return 0;
	do {
		result = flow_stream_fill(file->stream, 0);
		flow_file_resume(file);
	} while (result == FLOW_STREAM_MORE && !file->opened);
	if (result == FLOW_STREAM_BROKEN && file->stream->len == 0)
		return lull_error_set(error, -EINVAL, "%s: %s", path, file->stream->reason);
	if (file->capture.result != LULL_CAPTURE_UNSUPPORTED || (found && !file->capture.foreign))
		return 0;
	lull_error_set(error, -EINVAL, "%s: %s", path, file->capture.reason);
	flow_file_close(file);
	files->file_count--;
	files->skipped += found;
	return found ? 0 : -EINVAL;
}

static int
files_open_regular(struct flow_files *files, const char *path, int fd, size_t size, bool found,
		   struct lull_error *error)
{
	uint8_t first[FLOW_STREAM_FIRST_BYTES] = { 0 };

	if (size == 0)
		return files_refuse(files, path, "it is empty, not even a file header", found,
				    error);
	if (pread(fd, first, sizeof(first), 0) > 0 && flow_stream_is_packed(first))
		return files_stream(files, path, fd, true, found, error);
	return files_map(files, path, fd, size, found, error);
}

/* ---- paths ---- */

static int files_open_folder(struct flow_files *files, const char *path, struct lull_error *error);

static int
files_open_path(struct flow_files *files, const char *path, bool found, struct lull_error *error)
{
	bool input = !found && strcmp(path, "-") == 0;
	/* Not to wait for a writer, should it be a pipe. */
	int fd = input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) :
			 open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	int rc;

	if (fd < 0)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &stat) != 0)
		rc = lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	else if (S_ISREG(stat.st_mode))
		rc = files_open_regular(files, path, fd, (size_t)stat.st_size, found, error);
	else if (found)
		rc = 0; /* a folder in a folder, a socket: none of our business */
	else if (S_ISDIR(stat.st_mode))
		rc = files_open_folder(files, path, error);
	else if (input || S_ISFIFO(stat.st_mode))
		rc = files_stream(files, path, fd, false, false, error);
	else
		rc = lull_error_set(error, -EINVAL, "%s: neither a file nor a folder nor a pipe",
				    path);
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

/* A file that stands nowhere gets its place: by the time of its next packet, if it has one. */
static void
files_place(struct flow_files *files, uint32_t index, enum flow_file_next next)
{
	struct flow_file *file = &files->files[index];

	switch (next) {
	case FLOW_FILE_PACKET:
		files->heap[files->heap_count++] = index;
		files_rise(files, files->heap_count - 1);
		break;
	case FLOW_FILE_LATER:
		files->waiting[files->waiting_count++] = index;
		break;
	case FLOW_FILE_NONE:
		if (file->capture.result != LULL_CAPTURE_END)
			LULL_COUNTER_ADD(files->faults, 1);
		break;
	}
}

int
flow_files_open(struct flow_files *files, const struct lull_option_list *paths,
		struct flow_interfaces *interfaces, struct lull_error *error)
{
	int rc = 0;

	memset(files, 0, sizeof(*files));
	files->interfaces = interfaces;
	files_allow_many();
	for (uint32_t i = 0; rc == 0 && i < paths->count; i++)
		rc = files_open_path(files, paths->items[i], false, error);
	if (rc != 0)
		return rc;
	files->heap = calloc(LULL_MAX(files->file_count, 1u), sizeof(*files->heap));
	files->waiting = calloc(LULL_MAX(files->file_count, 1u), sizeof(*files->waiting));
	if (files->heap == NULL || files->waiting == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for %u files", files->file_count);
	for (uint32_t i = 0; i < files->file_count; i++) {
		if (files->files[i].stream != NULL)
			files->waiting[files->waiting_count++] = i;
		else
			files_place(files, i, flow_file_next(&files->stamps, &files->files[i]));
	}
	flow_torn_watch(files);
	return 0;
}

void
flow_files_close(struct flow_files *files)
{
	flow_torn_forget();
	for (uint32_t i = 0; i < files->file_count; i++)
		flow_file_close(&files->files[i]);
	free(files->files);
	free(files->heap);
	free(files->waiting);
	memset(files, 0, sizeof(*files));
}

/* ---- packets ---- */

/* Bytes behind the end of a file that has been cut cannot be read: that would end the program. */
static bool
files_shrunk(const struct flow_files *files, struct flow_file *file)
{
	struct stat stat = { .st_size = 0 };

	if (file->looked == files->calls || file->stream != NULL)
		return false;
	file->looked = files->calls;
	if (fstat(file->fd, &stat) == 0 && (uint64_t)stat.st_size >= file->size)
		return false;
	file->capture.result = LULL_CAPTURE_TRUNCATED;
	file->capture.offset = (size_t)stat.st_size;
	file->capture.reason = "it became shorter while it was read";
	return true;
}

/* The earliest file has given its packet: place it by the next one. */
static void
files_advance(struct flow_files *files, struct flow_file *file, enum flow_file_next next)
{
	uint32_t index = (uint32_t)(file - files->files);

	if (next == FLOW_FILE_PACKET) {
		files_sink(files, 0);
		return;
	}
	files->heap[0] = files->heap[--files->heap_count];
	if (files->heap_count > 0)
		files_sink(files, 0);
	files_place(files, index, next);
}

/* Streams get their next packets, where these have come; false: one of them has not. */
static bool
files_fill(struct flow_files *files)
{
	uint32_t count = files->waiting_count;

	files->waiting_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = files->waiting[i];

		files_place(files, index, flow_file_fill(&files->stamps, &files->files[index]));
	}
	return files->waiting_count == 0;
}

/* Hand over the earliest packet. */
static void
files_take(struct flow_files *files, struct flow_file *file, struct lull_pipeline_frame *frame)
{
	const struct lull_capture_packet *packet = &file->packet;

	*frame = (struct lull_pipeline_frame){
		.data = packet->data,
		.captured_bytes = packet->captured_bytes,
		.original_bytes = LULL_MAX(packet->original_bytes, packet->captured_bytes),
		.time_ns = file->time_ns,
		.link_type = packet->link_type,
		.interface = (uint16_t)LULL_MIN(packet->interface_index + 1u, UINT16_MAX),
	};
	files_advance(files, file, flow_file_next(&files->stamps, file));
}

uint32_t
flow_files_read(void *arg, struct lull_pipeline_frame *frames, uint32_t count, bool *end)
{
	struct flow_files *files = arg;
	uint64_t bytes = 0;
	uint32_t taken = 0;

	if (__atomic_load_n(&files->stop, __ATOMIC_RELAXED)) {
		*end = true;
		return 0;
	}
	files->calls++;
	if (files->waiting_count > 0 && !files_fill(files))
		return 0;
	/* A window moves when it is filled, so frames of it are handed over before. */
	while (taken < count && files->heap_count > 0 && files->waiting_count == 0) {
		struct flow_file *file = &files->files[files->heap[0]];

		if (files_shrunk(files, file)) {
			files_advance(files, file, FLOW_FILE_NONE);
			continue;
		}
		files_take(files, file, &frames[taken]);
		bytes += frames[taken++].original_bytes;
	}
	LULL_COUNTER_ADD(files->pkts, taken);
	LULL_COUNTER_ADD(files->bytes, bytes);
	*end = taken == 0 && files->waiting_count == 0;
	return taken;
}

bool
flow_files_stay(const struct flow_files *files)
{
	for (uint32_t i = 0; i < files->file_count; i++) {
		if (files->files[i].stream != NULL)
			return false;
	}
	return true;
}

const char *
flow_files_fault(const struct flow_files *files, uint32_t index, struct lull_error *text)
{
	const struct flow_file *file = &files->files[index];

	if (__atomic_load_n(&file->torn, __ATOMIC_RELAXED) &&
	    file->capture.result != LULL_CAPTURE_TRUNCATED) {
		lull_error_set(text, -EBADMSG, "%s: truncated: it became shorter while it was read",
			       file->path);
		return text->text;
	}
	if (file->capture.result == LULL_CAPTURE_PACKET || file->capture.result == LULL_CAPTURE_END)
		return NULL;
	lull_error_set(text, -EBADMSG, "%s: %s at byte %zu: %s", file->path,
		       lull_capture_result_name(file->capture.result),
		       file->base + file->capture.offset, file->capture.reason);
	return text->text;
}
