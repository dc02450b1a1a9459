/* SPDX-License-Identifier: BSD-3-Clause */
/* Built without nDPI: nobody can be made to identify anything. */
#include <errno.h>

#include <lull/pipeline.h>

#include "host/error.h"
#include "identify.h"

const struct lull_counter_info lull_identify_counter_table[] = {
	{ .name = NULL },
};

int
lull_identify_create(uint32_t flows_max, struct lull_identify **identify, struct lull_error *error)
{
	(void)flows_max;
	*identify = NULL;
	return lull_error_set(
		error, -ENOTSUP,
		"no protocol identification: lull was built without nDPI (libndpi-dev)");
}

void
lull_identify_destroy(struct lull_identify *identify)
{
	(void)identify;
}

void
lull_identify_packet(struct lull_identify *identify, struct lull_identify_flow *flow,
		     const struct lull_flow_packet *packet, const uint8_t *ip, uint32_t ip_len)
{
	(void)identify;
	(void)flow;
	(void)packet;
	(void)ip;
	(void)ip_len;
}

void
lull_identify_end(struct lull_identify *identify, struct lull_identify_flow *flow,
		  const struct lull_flow_record *record)
{
	(void)identify;
	(void)flow;
	(void)record;
}

uint16_t
lull_identify_hint(const struct lull_identify_flow *flow)
{
	(void)flow;
	return 0;
}

const struct lull_identify_counters *
lull_identify_counters(const struct lull_identify *identify)
{
	(void)identify;
	return NULL;
}

const char *
lull_identify_version(void)
{
	return NULL;
}

const char *
lull_identify_name(void *unused, uint16_t app, uint16_t app_master, char *text, size_t size)
{
	(void)unused;
	(void)app_master;
	if (app == 0)
		text[0] = '\0';
	else
		snprintf(text, size, "%u", app);
	return text;
}
