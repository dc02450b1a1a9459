/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cam.h"

#define FINDINGS_MAX 128

/* ---- specs ---- */

static int
specs_read(struct cam *cam, struct lull_error *error)
{
	const struct cam_settings *settings = &cam->settings;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < settings->streams.count; i++) {
		rc = cam_spec_parse(settings->streams.items[i], &cam->specs[cam->spec_count++],
				    error);
		if (rc != 0)
			lull_error_prefix(error, "stream %u: ", i);
	}
	for (uint32_t i = 0; rc == 0 && i < settings->controls.count; i++) {
		struct cam_spec *spec = &cam->specs[cam->spec_count++];

		rc = cam_spec_parse("protocol=gvsp", spec, error);
		if (rc == 0)
			rc = lull_options_set(cam_spec_keys, spec, "control",
					      settings->controls.items[i], error);
	}
	return rc;
}

/* The one stream, on port after port. */
static int
specs_multiply(struct cam *cam, struct lull_error *error)
{
	const struct cam_spec first = cam->specs[0];
	uint32_t count = cam->settings.cameras;

	if (count == 1)
		return 0;
	if (first.port == 0)
		return lull_error_set(error, -EINVAL,
				      "cameras: they differ by their UDP port, so the stream needs "
				      "port=");
	if (first.port + count - 1 > UINT16_MAX)
		return lull_error_set(error, -EINVAL, "cameras: ports %u..%u go beyond %u",
				      first.port, first.port + count - 1, UINT16_MAX);
	if (strlen(first.name) + 2 >= sizeof(first.name))
		return lull_error_set(error, -EINVAL, "name: '%s' leaves no room for a number",
				      first.name);
	for (uint32_t i = 0; i < count; i++) {
		struct cam_spec *spec = &cam->specs[i];

		*spec = first;
		spec->port = (uint16_t)(first.port + i);
		if (first.name[0] != '\0')
			snprintf(spec->name, sizeof(spec->name), "%.28s%u", first.name, i);
	}
	cam->spec_count = count;
	return 0;
}

/* Every stream has a name, and one of its own: files are called by it. */
static int
specs_name(struct cam *cam, struct lull_error *error)
{
	for (uint32_t i = 0; i < cam->spec_count; i++) {
		struct cam_spec *spec = &cam->specs[i];

		if (spec->name[0] == '\0')
			snprintf(spec->name, sizeof(spec->name), "cam%u", i);
		for (uint32_t j = 0; j < i; j++)
			if (strcmp(cam->specs[j].name, spec->name) == 0)
				return lull_error_set(
					error, -EINVAL,
					"name: streams %u and %u are both called '%s'", j, i,
					spec->name);
	}
	return 0;
}

int
cam_check(void *state, struct lull_error *error)
{
	struct cam *cam = state;
	const struct cam_settings *settings = &cam->settings;
	int rc;

	if (settings->help_stream || settings->man_stream || settings->discover)
		return 0;
	rc = cam_settings_check(settings, error);
	if (rc == 0)
		rc = specs_read(cam, error);
	if (rc == 0)
		rc = specs_multiply(cam, error);
	return rc != 0 ? rc : specs_name(cam, error);
}

/* ---- camera ---- */

/* What a port without an interface has to let through. */
static uint32_t
open_mtu(const struct cam *cam)
{
	uint32_t mtu = 0;

	for (uint32_t i = 0; i < cam->spec_count; i++)
		mtu = LULL_MAX(mtu, cam->specs[i].mtu);
	return mtu;
}

int
cam_open(struct cam *cam, struct lull_error *error)
{
	const struct cam_settings *settings = &cam->settings;
	const struct lull_receiver_config config = {
		.backend = settings->backend,
		.program = cam->run.program->name,
		.governor = lull_idle_governor_name(lull_resting_governor(&settings->resting)),
		/* The library knows the ring that it was granted. */
		.limits = lull_resting_limits(&settings->resting, NULL),
		.sched_policy = (enum lull_sched_policy)settings->resting.sched_policy,
		.cpu_latency_ns = settings->resting.cpu_latency_ns,
		.socket_bytes = settings->socket_bytes,
		.ring_pkts = settings->ring_pkts,
		.mtu = open_mtu(cam),
		.cpu = settings->cpu.count > 0 ? settings->cpu.cpus[0] + 1 : 0,
		.direct = settings->direct,
		.unchecked = settings->unchecked,
		.eal = settings->eal[0] != '\0' ? settings->eal : NULL,
		.packets = settings->packets[0] != '\0' ? cam_packets_take : NULL,
		.packets_arg = &cam->packets,
	};
	int rc = lull_receiver_open(&config, &cam->receiver, error);

	if (rc != 0)
		return rc;
	for (uint32_t i = 0; i < cam->spec_count; i++) {
		struct lull_camera_stream stream = cam_spec_stream(&cam->specs[i]);

		if (stream.control != NULL && settings->resend)
			stream.resend = true;
		rc = lull_receiver_stream_add(cam->receiver, &stream, error);
		if (rc < 0) {
			lull_error_prefix(error, "stream %s: ", cam->specs[i].name);
			return rc;
		}
	}
	return 0;
}

static int
open_view(struct cam *cam, struct lull_error *error)
{
	const struct camera_view_config config = {
		.path = cam->settings.view,
		.program = "lull-cam " LULL_VERSION,
		.backend = cam->settings.backend,
		.receiver = cam->receiver,
		.specs = cam->specs,
		.spec_count = cam->spec_count,
	};

	return config.path[0] == '\0' ? 0 : camera_view_open(&cam->view, &config, error);
}

static int
open_files(struct cam *cam, struct lull_error *error)
{
	const struct cam_settings *settings = &cam->settings;
	int rc;

	if (settings->sent_stamp && cam_sent_open(&cam->sent, cam->spec_count) != 0)
		return lull_error_set(error, -ENOMEM, "sent-stamp: no memory for histograms");
	if (strcmp(settings->missing, "-") == 0) {
		cam->missing = stdout;
	} else if (settings->missing[0] != '\0') {
		cam->missing = fopen(settings->missing, "we");
		if (cam->missing == NULL)
			return lull_error_set(error, -errno, "cannot write %s: %s",
					      settings->missing, strerror(errno));
	}
	rc = open_view(cam, error);
	if (rc == 0 && settings->packets[0] != '\0')
		rc = cam_packets_open(&cam->packets, settings->packets,
				      (enum cam_packets_when)settings->packets_when,
				      settings->packets_room, settings->backend, error);
	if (rc != 0 || settings->record[0] == '\0')
		return rc;
	return cam_record_open(&cam->record, settings->record, (enum cam_format)settings->format,
			       error);
}

int
cam_open_all(void *state, struct lull_error *error)
{
	struct cam *cam = state;
	int rc;

	/* Asks for packets. Threads of the camera must not take it either. */
	if (cam->settings.packets[0] != '\0') {
		sigaddset(&cam->run.signals, SIGUSR1);
		pthread_sigmask(SIG_BLOCK, &cam->run.signals, NULL);
	}
	rc = cam_open(cam, error);
	return rc == 0 ? open_files(cam, error) : rc;
}

void
cam_close(void *state)
{
	struct lull_error ignored;
	struct cam *cam = state;

	cam_control_stop(cam);
	camera_view_close(cam->view);
	cam_packets_end(&cam->packets, &ignored);
	/* Every image has been put back, so this is the end of it. */
	lull_receiver_close(cam->receiver);
	cam_packets_close(&cam->packets);
	if (cam->missing != NULL && cam->missing != stdout)
		fclose(cam->missing);
	cam_record_close(&cam->record, &ignored);
	cam_sent_close(&cam->sent);
}

/* ---- self-check ---- */

int
cam_check_print(struct cam *cam, FILE *out, struct lull_error *error)
{
	static const char *const grades[] = { "fine", "note", "WRONG" };
	static struct lull_finding findings[FINDINGS_MAX];
	uint32_t count = lull_receiver_check(cam->receiver, findings, FINDINGS_MAX), wrong = 0;

	count = LULL_MIN(count, FINDINGS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		const struct lull_finding *finding = &findings[i];

		fprintf(out, "%-5s  %s: %s\n", grades[LULL_CLAMP(finding->grade, 0, 2)],
			finding->subject, finding->text);
		if (finding->remedy[0] != '\0')
			fprintf(out, "       -> %s\n", finding->remedy);
		wrong += finding->grade >= 2;
	}
	if (wrong > 0)
		return lull_error_set(error, -EPERM,
				      "%u of %u findings are wrong: packets would be lost", wrong,
				      count);
	return fflush(out) == 0 ? 0 : -EIO;
}
