/* SPDX-License-Identifier: BSD-3-Clause */
#include "attack.h"

#include <errno.h>

#include "base/bytes.h"

#define FORGED_SIDE 30000
#define FORGED_AHEAD 1000 /* blocks, so that it is new */
#define STALE_AFTER 8     /* frames */
#define GVSP_HEADER_BYTES 8
#define GVSP_HEADER_BYTES_EXTENDED 20
#define GVSP_PIXEL_AT 12 /* behind the header of a leader */
#define UNKNOWN_PIXEL 0x0fff

static const char *const names[] = {
	[LULL_EMULATOR_ATTACK_NONE] = "none",
	[LULL_EMULATOR_ATTACK_PACKET_SIZE] = "packet-size",
	[LULL_EMULATOR_ATTACK_REGION] = "region",
	[LULL_EMULATOR_ATTACK_RESTART] = "restart",
	[LULL_EMULATOR_ATTACK_FORGED_LEADER] = "forged-leader",
	[LULL_EMULATOR_ATTACK_STALE] = "stale",
	[LULL_EMULATOR_ATTACK_MIXED_FIELDS] = "mixed-fields",
	[LULL_EMULATOR_ATTACK_TRUNCATED] = "truncated",
	[LULL_EMULATOR_ATTACK_UNKNOWN_FORMAT] = "unknown-format",
};

const char *
attack_name(uint32_t kind)
{
	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

int
attack_check(const struct lull_emulator_config *config, struct lull_error *error)
{
	enum lull_emulator_attack_kind kind = config->attack.kind;
	bool gvsp = config->protocol == LULL_EMULATOR_GVSP;

	if (!gvsp && (kind == LULL_EMULATOR_ATTACK_FORGED_LEADER ||
		      kind == LULL_EMULATOR_ATTACK_UNKNOWN_FORMAT))
		return lull_error_set(error, -EINVAL, "attack: %s is for gvsp", names[kind]);
	if (kind == LULL_EMULATOR_ATTACK_MIXED_FIELDS &&
	    (config->protocol != LULL_EMULATOR_RFC4175 || !config->interlaced))
		return lull_error_set(error, -EINVAL, "attack: %s is for rfc4175 and interlaced",
				      names[kind]);
	if (kind == LULL_EMULATOR_ATTACK_REGION && config->protocol == LULL_EMULATOR_RFC4175)
		return lull_error_set(error, -EINVAL,
				      "attack: packets of rfc4175 do not tell the size");
	return 0;
}

static bool
attack_is(const struct emulator_camera *camera, enum lull_emulator_attack_kind kind)
{
	return camera->stage->config->attack.kind == kind;
}

void
attack_begin(struct emulator_camera *camera)
{
	const struct lull_emulator_config *config = camera->stage->config;
	uint64_t number = emulator_camera_number(camera, camera->frame);
	struct lull_packet_format format = camera->plan.format;

	if (camera->frame != config->attack.frame || camera->attacked)
		return;
	camera->attacked = true;
	switch (config->attack.kind) {
	case LULL_EMULATOR_ATTACK_PACKET_SIZE:
		format.packet_bytes = LULL_MAX(format.packet_bytes / 4 * 3, LULL_PACKET_BYTES_MIN);
		break;
	case LULL_EMULATOR_ATTACK_REGION:
		format.geometry.height = (format.geometry.height + 1) / 2;
		break;
	case LULL_EMULATOR_ATTACK_RESTART:
		number = config->first_packet;
		camera->key_frame = camera->frame - config->first;
		break;
	default:
		return;
	}
	if (camera->stage->writer->plan(&camera->plan, &format) != 0)
		return;
	camera->number_frame = camera->frame;
	camera->first_number = number;
}

bool
attack_drops(const struct emulator_camera *camera, uint32_t index)
{
	uint64_t frame = camera->stage->config->attack.frame;
	bool second = index >= camera->plan.first_count;

	return attack_is(camera, LULL_EMULATOR_ATTACK_MIXED_FIELDS) &&
	       ((camera->frame == frame && second) || (camera->frame == frame + 1 && !second));
}

size_t
attack_beside(const struct emulator_camera *camera, const struct lull_packet_frame *frame,
	      uint8_t *bytes)
{
	struct lull_packet_format format = camera->plan.format;
	struct lull_packet_frame forged = *frame;
	struct lull_packet_plan plan;

	if (!attack_is(camera, LULL_EMULATOR_ATTACK_FORGED_LEADER) ||
	    camera->frame != camera->stage->config->attack.frame || camera->index != 0)
		return 0;
	format.geometry.width = format.geometry.height = FORGED_SIDE;
	format.all_in = false;
	forged.key += FORGED_AHEAD;
	if (camera->stage->writer->plan(&plan, &format) != 0)
		return 0;
	return camera->stage->writer->write(&plan, &forged, 0, bytes);
}

uint64_t
attack_stale(const struct emulator_camera *camera)
{
	uint64_t frame = camera->stage->config->attack.frame;

	return attack_is(camera, LULL_EMULATOR_ATTACK_STALE) && camera->index == 0 &&
			       camera->frame >= frame + STALE_AFTER ?
		       frame :
		       UINT64_MAX;
}

size_t
attack_spoil(const struct emulator_camera *camera, uint64_t number, uint32_t index, uint8_t *bytes,
	     size_t len)
{
	uint32_t header =
		camera->plan.format.extended ? GVSP_HEADER_BYTES_EXTENDED : GVSP_HEADER_BYTES;

	if (number != camera->stage->config->attack.frame)
		return len;
	if (attack_is(camera, LULL_EMULATOR_ATTACK_TRUNCATED))
		return len / 2;
	/* The upper half says how many bits a pixel has. */
	if (attack_is(camera, LULL_EMULATOR_ATTACK_UNKNOWN_FORMAT) && index == 0)
		lull_bytes_put(bytes + header + GVSP_PIXEL_AT + 2, UNKNOWN_PIXEL, 2);
	return len;
}
