/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cam.h"
#include "program/result.h"

#define FOUND_MAX 1024
#define WAIT_NS LULL_NS_PER_S

/* The interface that was asked for; NULL: all. */
static int
discover_interface(const char *backend, const char **interface, struct lull_error *error)
{
	static const char *const kinds[] = { "kernel:", "kernel-busy:" };

	*interface = NULL;
	if (backend[0] == '\0')
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(backend, kinds[i], strlen(kinds[i])) == 0) {
			*interface = backend + strlen(kinds[i]);
			return 0;
		}
	return lull_error_set(error, -EINVAL,
			      "discover: asks on an interface of the kernel: --backend kernel:IF, "
			      "or none for all of them");
}

static void
discover_print(FILE *out, const struct lull_camera_found *found, uint32_t count)
{
	fprintf(out, "%-15s  %-17s  %-10s  %-24s  %-16s  %s\n", "ADDRESS", "MAC", "INTERFACE",
		"CAMERA", "SERIAL", "NAME");
	for (uint32_t i = 0; i < count; i++) {
		char camera[sizeof(found[i].maker) + sizeof(found[i].model)];

		snprintf(camera, sizeof(camera), "%s %s", found[i].maker, found[i].model);
		fprintf(out, "%-15s  %s  %-10s  %-24s  %-16s  %s%s\n", found[i].address,
			found[i].mac, found[i].interface, camera, found[i].serial, found[i].name,
			found[i].reachable ? "" : "  (in no network of this interface)");
	}
}

static json_t *
discover_camera(const struct lull_camera_found *found)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "interface", found->interface },
		{ "address", found->address },
		{ "mac", found->mac },
		{ "maker", found->maker },
		{ "model", found->model },
		{ "version", found->version },
		{ "serial", found->serial },
		{ "name", found->name },
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		lull_result_put_text(object, texts[i].key, texts[i].value);
	json_object_set_new(object, "reachable", json_boolean(found->reachable));
	return object;
}

static int
discover_write(const struct cam *cam, const struct lull_camera_found *found, uint32_t count,
	       struct lull_error *error)
{
	json_t *result = json_object(), *cameras = json_array();
	int rc;

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(cameras, discover_camera(&found[i]));
	lull_result_put_text(result, "program", cam->run.program->name);
	lull_result_put_text(result, "version", cam->run.program->version);
	json_object_set_new(result, "cameras", cameras);
	rc = lull_result_write(cam->settings.json, result, error);
	json_decref(result);
	return rc;
}

static int
discover_tell(const struct cam *cam, FILE *out, const struct lull_camera_found *found,
	      uint32_t count, struct lull_error *error)
{
	int rc = 0;

	if (count > 0 && strcmp(cam->settings.json, "-") != 0)
		discover_print(out, found, count);
	if (cam->settings.json[0] != '\0')
		rc = discover_write(cam, found, count, error);
	if (rc != 0 || count > 0)
		return rc != 0 || fflush(out) == 0 ? rc : -EIO;
	return lull_error_set(error, -ENODEV, "no GigE Vision camera answers");
}

int
cam_discover_print(const struct cam *cam, FILE *out, struct lull_error *error)
{
	const struct cam_settings *settings = &cam->settings;
	uint64_t wait_ns = settings->duration_ns != 0 ? settings->duration_ns : WAIT_NS;
	struct lull_camera_found *found = calloc(FOUND_MAX, sizeof(*found));
	const char *interface;
	int rc = discover_interface(settings->backend, &interface, error), count;

	if (rc == 0 && found == NULL)
		rc = lull_error_set(error, -ENOMEM, "no memory for a list of cameras");
	if (rc == 0) {
		count = lull_camera_discover(interface, wait_ns, found, FOUND_MAX, error);
		rc = count < 0 ? count :
				 discover_tell(cam, out, found,
					       LULL_MIN((uint32_t)count, FOUND_MAX), error);
	}
	free(found);
	return rc;
}
