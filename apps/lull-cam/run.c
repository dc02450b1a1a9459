/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <lull/rest.h>

#include "cam.h"

/* A signal, or the stop of a stream, is seen after so long at the latest. */
#define STEP_NS (20 * LULL_NS_PER_MS)

/* ---- frames ---- */

/* What the settings want of a frame, before it goes back. */
static int
run_take(struct cam *cam, const struct lull_camera_image *image, struct lull_error *error)
{
	const char *name = cam->specs[image->stream].name;
	int rc = 0;

	/* The first thing: its own figure is the time until here. */
	cam_sent_take(&cam->sent, image);
	cam->fetched++;
	if (image->frame.reason != LULL_FRAME_COMPLETE) {
		cam->partial++;
		if (cam->missing != NULL)
			cam_record_line(cam->missing, name, NULL, image);
		if (cam->settings.packets_when == CAM_PACKETS_PARTIAL)
			cam_packets_ask(&cam->packets);
	}
	if (cam->record.folder != NULL)
		rc = cam_record_frame(&cam->record, &cam->specs[image->stream], image, error);
	if (rc == 0 && cam->missing != NULL && ferror(cam->missing))
		rc = lull_error_set(error, -EIO, "cannot write %s", cam->settings.missing);
	return rc;
}

/* A stream that ran out of buffers under this policy: what came since is lost. */
static bool
run_stopped(struct cam *cam, struct lull_error *error)
{
	for (uint32_t i = 0; i < cam->spec_count; i++) {
		struct lull_assembler_counters assembler;
		struct lull_camera_counters counters;

		if (cam->specs[i].policy != LULL_FRAME_FAIL_STOP ||
		    lull_receiver_counters(cam->receiver, i, &counters, &assembler) != 0 ||
		    assembler.stopped == 0)
			continue;
		lull_error_set(error, -ENOBUFS,
			       "stream %s: stopped, all its buffers were in use; raise buffers, or "
			       "choose another policy",
			       cam->specs[i].name);
		cam->run.end = "fail-stop";
		cam->run.result_anyway = true;
		return true;
	}
	return false;
}

/* Once: the receiving thread may not have the class that was asked for. */
static void
run_tell_class(struct cam *cam)
{
	struct lull_rest_thread_info info;
	char text[LULL_ERROR_SIZE];

	if (cam->class_reported ||
	    lull_receiver_class(cam->receiver, &info, text, sizeof(text)) != 0 || info.refused == 0)
		return;
	fprintf(stderr, "lull-cam: the receiving thread %s\n", text);
	cam->class_reported = true;
}

/* ---- the run ---- */

/* Signals that came; false: one of them ends the run. */
static bool
run_signals(struct cam *cam)
{
	int number = lull_run_signal(&cam->run, 0);

	if (number == SIGUSR1)
		cam_packets_ask(&cam->packets);
	else if (number != 0)
		cam->run.end = "signal";
	return cam->run.end == NULL;
}

/* Has the run come to its end? Else until when the next image may be waited for. */
static bool
run_over(struct cam *cam, uint64_t now_ns, uint64_t *wait_ns)
{
	const struct cam_settings *settings = &cam->settings;
	uint64_t passed_ns = now_ns - cam->run.begin_ns;

	*wait_ns = STEP_NS;
	if (!run_signals(cam))
		return true;
	if (settings->frames > 0 && cam->fetched >= settings->frames)
		cam->run.end = "frames";
	else if (settings->duration_ns > 0 && passed_ns >= settings->duration_ns)
		cam->run.end = "duration";
	else if (settings->duration_ns > 0)
		*wait_ns = LULL_MIN(STEP_NS, settings->duration_ns - passed_ns);
	return cam->run.end != NULL;
}

static int
run_until_end(struct cam *cam, struct lull_error *error)
{
	struct cam_progress progress = { .now_ns = cam->run.begin_ns };
	uint64_t now_ns = cam->run.begin_ns, looked_ns = now_ns, wait_ns;
	struct lull_camera_image *image;
	int rc = 0;

	while (rc == 0 && !run_over(cam, now_ns, &wait_ns)) {
		int got = lull_receiver_get(cam->receiver, LULL_CAMERA_ANY, &image, wait_ns);

		if (got == -ENODEV)
			cam->run.end = "input";
		if (got == -ENODEV || got == -ENOBUFS)
			break;
		if (image != NULL) {
			rc = run_take(cam, image, error);
			if (!camera_view_take(cam->view, image))
				lull_receiver_put(cam->receiver, image);
		}
		now_ns = lull_clock_ns();
		if (now_ns - looked_ns >= STEP_NS) {
			looked_ns = now_ns;
			run_tell_class(cam);
			if (rc == 0 && run_stopped(cam, error))
				return -ENOBUFS;
		}
		if (lull_run_shows(&cam->run, cam->settings.stats_ns))
			cam_progress_print(cam, &progress);
	}
	return rc == 0 && run_stopped(cam, error) ? -ENOBUFS : rc;
}

/* Files are whole before the result says so. */
static int
run_files(struct cam *cam, struct lull_error *error)
{
	int rc = cam_record_close(&cam->record, error);

	if (rc == 0)
		rc = cam_packets_end(&cam->packets, error);
	if (rc == 0 && cam->missing != NULL && fflush(cam->missing) != 0)
		rc = lull_error_set(error, -errno, "cannot write %s: %s", cam->settings.missing,
				    strerror(errno));
	return rc;
}

int
cam_run(void *state, struct lull_error *error)
{
	struct cam *cam = state;
	int rc = lull_receiver_start(cam->receiver, error);

	if (rc != 0)
		return rc;
	rc = cam_control_start(cam, error);
	/* Who starts a sender waits for this line. */
	fprintf(stderr, "lull-cam: receiving %u stream%s from %s\n", cam->spec_count,
		cam->spec_count == 1 ? "" : "s", cam->settings.backend);
	if (rc != 0)
		fprintf(stderr, "lull-cam: %s\n", error->text);
	lull_run_begin(&cam->run);
	rc = run_until_end(cam, error);
	/* Signals stay blocked: the camera is about to go. */
	cam->run.end_ns = lull_clock_ns();
	if (rc != 0)
		return rc;
	cam_summary_print(cam);
	rc = run_files(cam, error);
	/* Who ends a run by hand knows that it was short. */
	if (rc == 0 && cam->fetched == 0 && strcmp(cam->run.end, "signal") != 0) {
		cam->run.result_anyway = true;
		rc = cam_nothing(cam, error);
	}
	return rc;
}
