/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Gvcp xml: find two registers in a camera's description, without reading XML as such.
 *
 * A command node names a value node and the number to write; that node, through up to three others,
 * is a register with a constant address. Anything else (formulas, ports, selectors) is not found.
 */
#ifndef LULL_GVCP_XML_H
#define LULL_GVCP_XML_H

#include "gvcp_message.h"

/** "Local:name.xml;ADDRESS;LENGTH" in hex, not packed; false: the description lies elsewhere. */
bool lull_gvcp_xml_place(const uint8_t *url, uint32_t len, uint32_t *address, uint32_t *bytes);
/** Which register command @p name writes, and what. */
bool lull_gvcp_xml_command(const uint8_t *xml, uint32_t len, const char *name,
			   struct lull_gvcp_register *reg);

#endif
