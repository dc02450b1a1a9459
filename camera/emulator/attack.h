/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Attack: what a camera, or a stranger in its name, does to a receiver from one frame on.
 *
 * Threads: one. Memory: that of the camera.
 */
#ifndef LULL_EMULATOR_ATTACK_H
#define LULL_EMULATOR_ATTACK_H

#include "camera.h"

/** Name of a kind; NULL beyond the last. */
const char *attack_name(uint32_t kind);
/** 0, or -EINVAL and the sentence: the protocol has nothing like it. */
int attack_check(const struct lull_emulator_config *config, struct lull_error *error);
/** A frame begins: are its packets others from here on? */
void attack_begin(struct emulator_camera *camera);
/** Is this packet not sent? */
bool attack_drops(const struct emulator_camera *camera, uint32_t index);
/** Before packet @p index of its frame: packets beside it. A packet of 0 bytes: there is none. */
size_t attack_beside(const struct emulator_camera *camera, const struct lull_packet_frame *frame,
		     uint8_t *bytes);
/** Should a packet of this older frame be sent again now? UINT64_MAX: no. */
uint64_t attack_stale(const struct emulator_camera *camera);
/** Change a packet of frame @p number on its way; its length then. */
size_t attack_spoil(const struct emulator_camera *camera, uint64_t number, uint32_t index,
		    uint8_t *bytes, size_t len);

#endif
