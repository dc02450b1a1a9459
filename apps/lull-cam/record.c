/* SPDX-License-Identifier: BSD-3-Clause */
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "picture.h"

#define INDEX "frames.jsonl"
#define FILE_TEXT 96

static int
record_complain(const struct cam_record *record, const char *file, int code,
		struct lull_error *error)
{
	return lull_error_set(error, code, "cannot write %s/%s: %s", record->folder, file,
			      strerror(-code));
}

static FILE *
record_create(const struct cam_record *record, const char *file)
{
	char path[PATH_MAX + FILE_TEXT];

	snprintf(path, sizeof(path), "%s/%s", record->folder, file);
	return fopen(path, "we");
}

int
cam_record_open(struct cam_record *record, const char *folder, enum cam_format format,
		struct lull_error *error)
{
	record->folder = folder;
	record->format = format;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return lull_error_set(error, -errno, "cannot make the folder %s: %s", folder,
				      strerror(errno));
	record->index = record_create(record, INDEX);
	return record->index != NULL ? 0 : record_complain(record, INDEX, -errno, error);
}

/* ---- one frame ---- */

static int
record_rgb(struct cam_record *record, const struct cam_spec *spec, const struct lull_frame *frame)
{
	const struct lull_pixel_view view = cam_spec_view(spec);
	uint64_t bytes = 3 * (uint64_t)frame->geometry.width * frame->geometry.height;

	if (bytes > record->rgb_bytes) {
		free(record->rgb);
		record->rgb = malloc(bytes);
		record->rgb_bytes = record->rgb != NULL ? bytes : 0;
	}
	if (record->rgb == NULL)
		return -ENOMEM;
	return lull_pixel_to_rgb(&frame->geometry, frame->data, record->rgb, &view);
}

static int
record_png(struct cam_record *record, const struct cam_spec *spec, FILE *out,
	   const struct lull_frame *frame)
{
	const struct lull_frame_geometry *geometry = &frame->geometry;
	uint32_t width = geometry->width, height = geometry->height;
	int rc;

	if (geometry->pixel == LULL_PIXEL_MONO8)
		return cam_picture_write(out, frame->data, width, height, 1,
					 geometry->row_bytes != 0 ? geometry->row_bytes : width);
	rc = record_rgb(record, spec, frame);
	return rc != 0 ? rc :
			 cam_picture_write(out, record->rgb, width, height, 3, 3 * (uint64_t)width);
}

static int
record_write(struct cam_record *record, const struct cam_spec *spec, FILE *out,
	     const struct lull_frame *frame)
{
	if (record->format == CAM_FORMAT_PNG)
		return record_png(record, spec, out, frame);
	errno = 0;
	if (fwrite(frame->data, 1, frame->bytes, out) == frame->bytes)
		return 0;
	return errno != 0 ? -errno : -EIO;
}

/* No picture can be made of it: its bytes are kept, and the run goes on. */
static int
record_instead(struct cam_record *record, const struct cam_spec *spec, const char *file,
	       const struct lull_camera_image *image, struct lull_error *error)
{
	const struct lull_frame_geometry *geometry = &image->frame.geometry;
	struct cam_record raw = *record;
	char path[PATH_MAX + FILE_TEXT];
	int rc;

	if (!record->instead)
		fprintf(stderr,
			"lull-cam: no picture can be made of pixels %s, %u x %u: such frames are "
			"recorded raw\n",
			lull_pixel_name(geometry->pixel), geometry->width, geometry->height);
	record->instead = true;
	snprintf(path, sizeof(path), "%s/%s", record->folder, file);
	unlink(path);
	raw.format = CAM_FORMAT_RAW;
	rc = cam_record_frame(&raw, spec, image, error);
	record->files = raw.files;
	record->bytes = raw.bytes;
	return rc;
}

int
cam_record_frame(struct cam_record *record, const struct cam_spec *spec,
		 const struct lull_camera_image *image, struct lull_error *error)
{
	const struct lull_frame *frame = &image->frame;
	char file[FILE_TEXT];
	FILE *out;
	int rc;

	snprintf(file, sizeof(file), "%s-%08" PRIu64 ".%s", spec->name, frame->number,
		 record->format == CAM_FORMAT_PNG ? "png" : "raw");
	out = record_create(record, file);
	if (out == NULL)
		return record_complain(record, file, -errno, error);
	rc = record_write(record, spec, out, frame);
	if (fclose(out) != 0 && rc == 0)
		rc = -errno;
	if (rc == -ENOTSUP || rc == -EINVAL)
		return record_instead(record, spec, file, image, error);
	if (rc != 0)
		return record_complain(record, file, rc, error);
	cam_record_line(record->index, spec->name, file, image);
	record->files++;
	record->bytes += frame->bytes;
	return ferror(record->index) ? record_complain(record, INDEX, -EIO, error) : 0;
}

int
cam_record_close(struct cam_record *record, struct lull_error *error)
{
	int rc = 0;

	if (record->index != NULL && (ferror(record->index) | fclose(record->index)) != 0)
		rc = record_complain(record, INDEX, -EIO, error);
	record->index = NULL;
	free(record->rgb);
	record->rgb = NULL;
	return rc;
}

/* ---- lines ---- */

static void
record_geometry(FILE *out, const struct lull_frame_geometry *geometry)
{
	fprintf(out, ", \"width\": %u, \"height\": %u, \"row_bytes\": %u, \"pixel\": \"%s\"",
		geometry->width, geometry->height, geometry->row_bytes,
		lull_pixel_name(geometry->pixel));
}

void
cam_record_line(FILE *out, const char *name, const char *file,
		const struct lull_camera_image *image)
{
	const struct lull_frame *frame = &image->frame;
	const struct lull_frame_stamps *stamps = &frame->stamps;

	fprintf(out, "{\"stream\": \"%s\", \"number\": %" PRIu64 ", \"key\": %" PRIu64, name,
		frame->number, frame->key);
	if (file != NULL)
		fprintf(out, ", \"file\": \"%s\"", file);
	fprintf(out,
		", \"reason\": \"%s\", \"damaged\": %s, \"presumed\": %s, \"bytes\": %" PRIu64
		", \"bytes_there\": %" PRIu64,
		lull_frame_reason_name(frame->reason), frame->damaged ? "true" : "false",
		frame->presumed ? "true" : "false", frame->bytes, frame->bytes_there);
	record_geometry(out, &frame->geometry);
	fprintf(out,
		", \"clock\": \"%s\", \"device_time\": %" PRIu64 ", \"first_ns\": %" PRIu64
		", \"last_ns\": %" PRIu64 ", \"done_ns\": %" PRIu64,
		lull_camera_clock_name(image->packet_clock), stamps->device_time, stamps->first_ns,
		stamps->last_ns, stamps->done_ns);
	fprintf(out, ", \"missing_more\": %s, \"missing\": [",
		frame->missing_more ? "true" : "false");
	for (uint32_t i = 0; i < frame->missing_count; i++)
		fprintf(out, "%s[%" PRIu64 ", %" PRIu64 "]", i > 0 ? ", " : "",
			frame->missing[i].offset, frame->missing[i].bytes);
	fputs("]}\n", out);
}
