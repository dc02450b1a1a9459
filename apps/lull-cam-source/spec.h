/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Spec: the values of options that are more than a number, read and written as text.
 *
 * Each parse and print is a pair for LULL_OPTION_CUSTOM.
 * Threads: any. Memory: the caller's structs.
 */
#ifndef LULL_CAM_SOURCE_SPEC_H
#define LULL_CAM_SOURCE_SPEC_H

#include <stddef.h>

#include "camera/emulator/config.h"
#include "host/error.h"

/** A struct lull_emulator_address: ADDRESS[:PORT], or the six bytes of an Ethernet address. */
int spec_address_parse(const char *text, void *address, struct lull_error *error);
char *spec_address_print(const void *address, char *text, size_t size);

/** A struct lull_emulator_pace: burst, spread:TIME or rate:BITS. */
int spec_pace_parse(const char *text, void *pace, struct lull_error *error);
char *spec_pace_print(const void *pace, char *text, size_t size);

/** A struct lull_emulator_loss: PPM, or FRAME/PACKET[-PACKET] with commas between. */
int spec_loss_parse(const char *text, void *loss, struct lull_error *error);
char *spec_loss_print(const void *loss, char *text, size_t size);

/** A struct lull_emulator_attack: none, or KIND@FRAME. */
int spec_attack_parse(const char *text, void *attack, struct lull_error *error);
char *spec_attack_print(const void *attack, char *text, size_t size);

/** A struct lull_emulator_delay: PPM,PACKETS or PPM,TIME. */
int spec_reorder_parse(const char *text, void *delay, struct lull_error *error);
char *spec_reorder_print(const void *delay, char *text, size_t size);
int spec_late_parse(const char *text, void *delay, struct lull_error *error);
char *spec_late_print(const void *delay, char *text, size_t size);

#endif
