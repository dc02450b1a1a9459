/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lull/capture.h>

#define FRAME_BYTES_MIN 60
#define FRAME_BYTES_MAX 9600

static int
capture_grow(struct sim_capture *capture, uint64_t *room)
{
	uint64_t more = *room == 0 ? 4096 : 2 * *room;
	uint64_t *times_ns = realloc(capture->times_ns, more * sizeof(*times_ns));
	uint16_t *bytes;

	if (times_ns == NULL)
		return -ENOMEM;
	capture->times_ns = times_ns;
	bytes = realloc(capture->bytes, more * sizeof(*bytes));
	if (bytes == NULL)
		return -ENOMEM;
	capture->bytes = bytes;
	*room = more;
	return 0;
}

/* Times are kept as they are stamped; sim_capture_open() moves them to 0. */
static void
capture_add(struct sim_capture *capture, const struct lull_capture_packet *packet)
{
	uint64_t index = capture->trace.count++;
	uint64_t time_ns = packet->timestamp_ns;

	if (index > 0 && time_ns < capture->times_ns[index - 1]) {
		time_ns = capture->times_ns[index - 1];
		capture->back_pkts++;
	}
	capture->times_ns[index] = time_ns;
	capture->bytes[index] = (uint16_t)LULL_CLAMP(
		packet->original_bytes, (uint32_t)FRAME_BYTES_MIN, (uint32_t)FRAME_BYTES_MAX);
}

static int
capture_read(struct sim_capture *capture, const uint8_t *data, size_t length, const char *path,
	     struct lull_error *error)
{
	struct lull_capture file;
	struct lull_capture_packet packet;
	enum lull_capture_result result;
	uint64_t room = 0;

	lull_capture_open(&file, data, length);
	while ((result = lull_capture_next(&file, &packet)) == LULL_CAPTURE_PACKET) {
		if (packet.link_type != LULL_CAPTURE_LINK_ETHERNET || !packet.timed) {
			capture->other_pkts++;
			continue;
		}
		if (capture->trace.count == room && capture_grow(capture, &room) != 0)
			return lull_error_set(error, -ENOMEM, "%s: no memory for its packets",
					      path);
		capture_add(capture, &packet);
	}
	if (result != LULL_CAPTURE_END)
		return lull_error_set(error, -EBADMSG, "%s: %s at byte %zu: %s", path,
				      lull_capture_result_name(result), file.offset, file.reason);
	if (capture->trace.count == 0)
		return lull_error_set(error, -ENODATA, "%s: no Ethernet frame with a time in it",
				      path);
	return 0;
}

static int
capture_map(struct sim_capture *capture, const char *path, int fd, struct lull_error *error)
{
	struct stat stat;
	void *data;
	int rc;

	if (fstat(fd, &stat) != 0)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(stat.st_mode) || stat.st_size == 0)
		return lull_error_set(error, -EINVAL, "%s: not a capture, it is %s", path,
				      S_ISREG(stat.st_mode) ? "empty" : "no file");
	data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	rc = capture_read(capture, data, (size_t)stat.st_size, path, error);
	munmap(data, (size_t)stat.st_size);
	return rc;
}

int
sim_capture_open(struct sim_capture *capture, const char *path, double speed,
		 struct lull_error *error)
{
	uint64_t first_ns;
	int fd, rc;

	memset(capture, 0, sizeof(*capture));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return lull_error_set(error, -errno, "%s: %s", path, strerror(errno));
	rc = capture_map(capture, path, fd, error);
	close(fd);
	if (rc != 0) {
		sim_capture_close(capture);
		return rc;
	}
	first_ns = capture->times_ns[0];
	for (uint64_t i = 0; i < capture->trace.count; i++)
		capture->times_ns[i] =
			(uint64_t)((double)(capture->times_ns[i] - first_ns) / speed);
	capture->trace.times_ns = capture->times_ns;
	capture->trace.bytes = capture->bytes;
	capture->length_ns = capture->times_ns[capture->trace.count - 1];
	return 0;
}

void
sim_capture_close(struct sim_capture *capture)
{
	free(capture->times_ns);
	free(capture->bytes);
	memset(capture, 0, sizeof(*capture));
}
