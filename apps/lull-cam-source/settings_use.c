/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "source.h"

#define PIXEL_NONE UINT32_MAX

void
source_preset(void *settings)
{
	((struct source_settings *)settings)->pixel_choice = PIXEL_NONE;
}

bool
source_settings_ethernet(const struct source_settings *settings)
{
	return settings->protocol == SOURCE_CMP || settings->protocol == SOURCE_RVF;
}

bool
source_settings_controlled(const struct source_settings *settings)
{
	return settings->protocol == SOURCE_GVSP && !settings->to.given;
}

static void
settings_fill(struct source_settings *settings)
{
	static const enum lull_pixel usual[] = {
		[SOURCE_RFC4175] = LULL_PIXEL_UYVY8,
		[SOURCE_GVSP] = LULL_PIXEL_BAYER_RG12P,
		[SOURCE_CMP] = LULL_PIXEL_RAW12_CSI,
		[SOURCE_RVF] = LULL_PIXEL_MONO8,
	};

	if (settings->pixel_choice == PIXEL_NONE)
		settings->pixel_choice = usual[settings->protocol] - 1u;
	if (source_settings_ethernet(settings) && !settings->to.given) {
		settings->to = (struct spec_address){ .given = true, .ethernet = true };
		memset(settings->to.mac, 0xff, sizeof(settings->to.mac));
	}
}

struct lull_frame_geometry
source_settings_geometry(const struct source_settings *settings)
{
	return (struct lull_frame_geometry){
		.width = settings->width,
		.height = settings->height,
		.row_bytes = settings->row_bytes,
		.pixel = (enum lull_pixel)(settings->pixel_choice + 1),
	};
}

static int
settings_addresses(const struct source_settings *settings, struct lull_error *error)
{
	const struct spec_address *to = &settings->to, *bind = &settings->bind;

	if (source_settings_ethernet(settings)) {
		if (settings->interface[0] == '\0')
			return lull_error_set(error, -EINVAL,
					      "interface: cmp and rvf are sent on one, name it");
		if (to->given && !to->ethernet)
			return lull_error_set(error, -EINVAL,
					      "to: cmp and rvf go to an Ethernet address like "
					      "91:e0:f0:00:fe:00");
		return bind->given ? lull_error_set(error, -EINVAL,
						    "bind: cmp and rvf have no address of IP") :
				     0;
	}
	if (to->ethernet || bind->ethernet)
		return lull_error_set(error, -EINVAL,
				      "%s: this protocol goes over UDP, give ADDRESS:PORT",
				      to->ethernet ? "to" : "bind");
	if (to->given && (to->port == 0 || to->port + settings->cameras - 1 > UINT16_MAX))
		return lull_error_set(error, -EINVAL,
				      "to: give a port too, like 10.0.0.1:5004, and room for all "
				      "cameras above it");
	if (!to->given && settings->protocol != SOURCE_GVSP)
		return lull_error_set(error, -EINVAL, "to: where shall the packets go?");
	if (settings->protocol == SOURCE_GVSP && bind->ip == 0)
		return lull_error_set(error, -EINVAL,
				      "bind: gvsp needs the address that the camera shall have");
	return 0;
}

int
source_check(void *state, struct lull_error *error)
{
	struct source_settings *settings = &((struct source *)state)->settings;
	uint32_t last = settings->cameras - 1;
	struct lull_frame_geometry geometry;
	int rc;

	settings_fill(settings);
	geometry = source_settings_geometry(settings);
	rc = settings_addresses(settings, error);
	if (rc != 0)
		return rc;
	if (settings->cpus.count > 1)
		return lull_error_set(error, -EINVAL, "cpus: one thread sends, so one CPU");
	if (settings->apart == SOURCE_APART_ADDRESSES && settings->bind.ip == 0)
		return lull_error_set(error, -EINVAL,
				      "apart: addresses count up from that of --bind");
	if (settings->apart == SOURCE_APART_PORTS &&
	    (settings->control_port + last > UINT16_MAX || settings->bind.port + last > UINT16_MAX))
		return lull_error_set(error, -EINVAL,
				      "apart: there are not enough ports above the first");
	if (lull_frame_bytes(&geometry) == 0)
		return lull_error_set(
			error, -EINVAL, "row-bytes: %u bytes do not hold a row of %u %s pixels",
			settings->row_bytes, settings->width, lull_pixel_name(geometry.pixel));
	if (settings->sent_stamp && (settings->row_bytes > 0 || settings->interlaced ||
				     lull_frame_bytes(&geometry) < sizeof(uint64_t)))
		return lull_error_set(error, -EINVAL,
				      "sent-stamp: needs pictures of 8 bytes or more whose last "
				      "bytes are sent last: neither row-bytes nor interlaced");
	if (settings->segment && source_settings_ethernet(settings))
		return lull_error_set(
			error, -EINVAL,
			"segment: the kernel cuts UDP packets apart, not those of this "
			"protocol");
	if (settings->log_frames && settings->log[0] == '\0')
		return lull_error_set(error, -EINVAL, "log-frames: name the file with --log");
	return 0;
}
