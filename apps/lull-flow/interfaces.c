/* SPDX-License-Identifier: BSD-3-Clause */
#include "interfaces.h"

#include <stdlib.h>
#include <string.h>

#include <lull/base.h>

#include "host/error.h"

static void
interface_text(char *text, const char *bytes, size_t count)
{
	count = LULL_MIN(count, (size_t)LULL_IPFIX_TEXT_MAX);
	if (count > 0)
		memcpy(text, bytes, count);
	text[count] = '\0';
	lull_text_clean(text);
}

static struct flow_interface *
interfaces_place(struct flow_interfaces *interfaces)
{
	if (interfaces->count == interfaces->room) {
		uint32_t room = interfaces->room == 0 ? 16 : 2 * interfaces->room;
		struct flow_interface *list =
			realloc(interfaces->list, room * sizeof(*interfaces->list));

		if (list == NULL)
			return NULL;
		interfaces->list = list;
		interfaces->room = room;
	}
	return &interfaces->list[interfaces->count++];
}

void
flow_interfaces_add(struct flow_interfaces *interfaces, uint32_t number, const char *name,
		    size_t name_bytes, const char *description, size_t description_bytes)
{
	struct flow_interface *interface;

	if (name_bytes + description_bytes == 0 || number > FLOW_INTERFACES_MAX ||
	    interfaces->known[number])
		return;
	/* Without memory for a name, records have the number still. */
	interface = interfaces_place(interfaces);
	if (interface == NULL)
		return;
	interface->number = number;
	interface_text(interface->name, name, name_bytes);
	interface_text(interface->description, description, description_bytes);
	interfaces->known[number] = true;
}

void
flow_interfaces_described(void *arg, const struct lull_capture_description *description)
{
	flow_interfaces_add(arg, description->index + 1, description->name, description->name_bytes,
			    description->text, description->text_bytes);
}

bool
flow_interfaces_tell(void *arg, uint32_t index, struct lull_ipfix_interface *interface)
{
	const struct flow_interfaces *interfaces = arg;

	if (index >= interfaces->count)
		return false;
	*interface = (struct lull_ipfix_interface){
		.number = interfaces->list[index].number,
		.name = interfaces->list[index].name,
		.description = interfaces->list[index].description,
	};
	return true;
}

void
flow_interfaces_free(struct flow_interfaces *interfaces)
{
	free(interfaces->list);
	memset(interfaces, 0, sizeof(*interfaces));
}
