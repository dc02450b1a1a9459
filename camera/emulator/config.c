/* SPDX-License-Identifier: BSD-3-Clause */
#include "attack.h"

#include <errno.h>
#include <string.h>

bool
emulator_ethernet(const struct lull_emulator_config *config)
{
	return config->protocol == LULL_EMULATOR_CMP || config->protocol == LULL_EMULATOR_RVF;
}

bool
emulator_controlled(const struct lull_emulator_config *config)
{
	return config->protocol == LULL_EMULATOR_GVSP && !config->to.given;
}

static void
config_fill(struct lull_emulator_config *config)
{
	static const enum lull_pixel usual[] = {
		[LULL_EMULATOR_RFC4175] = LULL_PIXEL_UYVY8,
		[LULL_EMULATOR_GVSP] = LULL_PIXEL_BAYER_RG12P,
		[LULL_EMULATOR_CMP] = LULL_PIXEL_RAW12_CSI,
		[LULL_EMULATOR_RVF] = LULL_PIXEL_MONO8,
	};

	if (config->pixel == LULL_PIXEL_UNKNOWN)
		config->pixel = usual[config->protocol];
	if (emulator_ethernet(config) && !config->to.given) {
		config->to = (struct lull_emulator_address){ .given = true, .ethernet = true };
		memset(config->to.mac, 0xff, sizeof(config->to.mac));
	}
}

struct lull_frame_geometry
emulator_geometry(const struct lull_emulator_config *config)
{
	return (struct lull_frame_geometry){
		.width = config->width,
		.height = config->height,
		.row_bytes = config->row_bytes,
		.pixel = config->pixel,
	};
}

static int
config_addresses(const struct lull_emulator_config *config, struct lull_error *error)
{
	const struct lull_emulator_address *to = &config->to, *bind = &config->bind;

	if (emulator_ethernet(config)) {
		if (config->interface[0] == '\0')
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
	if (to->given && (to->port == 0 || to->port + config->cameras - 1 > UINT16_MAX))
		return lull_error_set(error, -EINVAL,
				      "to: give a port too, like 10.0.0.1:5004, and room for all "
				      "cameras above it");
	if (!to->given && config->protocol != LULL_EMULATOR_GVSP)
		return lull_error_set(error, -EINVAL, "to: where shall the packets go?");
	if (config->protocol == LULL_EMULATOR_GVSP && bind->ip == 0)
		return lull_error_set(error, -EINVAL,
				      "bind: gvsp needs the address that the camera shall have");
	return 0;
}

int
lull_emulator_config_check(struct lull_emulator_config *config, struct lull_error *error)
{
	uint32_t last = config->cameras - 1;
	struct lull_frame_geometry geometry;
	int rc;

	config_fill(config);
	geometry = emulator_geometry(config);
	rc = config_addresses(config, error);
	if (rc != 0)
		return rc;
	if (config->apart == LULL_EMULATOR_APART_ADDRESSES && config->bind.ip == 0)
		return lull_error_set(error, -EINVAL,
				      "apart: addresses count up from that of --bind");
	if (config->apart == LULL_EMULATOR_APART_PORTS &&
	    (config->control_port + last > UINT16_MAX || config->bind.port + last > UINT16_MAX))
		return lull_error_set(error, -EINVAL,
				      "apart: there are not enough ports above the first");
	if (lull_frame_bytes(&geometry) == 0)
		return lull_error_set(
			error, -EINVAL, "row-bytes: %u bytes do not hold a row of %u %s pixels",
			config->row_bytes, config->width, lull_pixel_name(geometry.pixel));
	if (config->sent_stamp && (config->row_bytes > 0 || config->interlaced ||
				   lull_frame_bytes(&geometry) < sizeof(uint64_t)))
		return lull_error_set(error, -EINVAL,
				      "sent-stamp: needs pictures of 8 bytes or more whose last "
				      "bytes are sent last: neither row-bytes nor interlaced");
	rc = attack_check(config, error);
	if (rc != 0)
		return rc;
	if (config->segment && emulator_ethernet(config))
		return lull_error_set(
			error, -EINVAL,
			"segment: the kernel cuts UDP packets apart, not those of this "
			"protocol");
	if (config->log_frames && (config->log == NULL || config->log[0] == '\0'))
		return lull_error_set(error, -EINVAL, "log-frames: name the file with --log");
	return 0;
}
