/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Registers xml: the camera's description, as far as clients need it to stream.
 */
#ifndef LULL_EMULATOR_REGISTERS_XML_H
#define LULL_EMULATOR_REGISTERS_XML_H

#include <stddef.h>
#include <stdint.h>

#include <lull/frame.h>

/** Write the description with its only pixel format; how long it is, without the 0. */
uint32_t registers_xml_write(char *text, size_t size, enum lull_pixel pixel);

#endif
