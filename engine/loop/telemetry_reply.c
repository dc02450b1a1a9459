/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All of telemetry that calls DPDK: how commands come and what goes into a reply. DPDK 22.11 takes
 * names of letters, digits, "_" and "/", strings of 127 bytes, and nests nothing but lists: a
 * longer sentence goes on in a second member with "_more" after its name.
 */
#include "telemetry.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_telemetry.h>

#include <lull/engine.h>

#include "engine/dpdk/dpdk_version.h"

#define TEXT_MAX LULL_TELEMETRY_TEXT_MAX
static_assert(TEXT_MAX == RTE_TEL_MAX_STRING_LEN - 1, "as DPDK has it");

const char *
lull_telemetry_dpdk(void)
{
	return lull_dpdk_version();
}

/* DPDK hands handlers no pointer of ours. */
static lull_telemetry_answer *reply_answer;

static int
reply_handle(const char *command, const char *params, struct rte_tel_data *data)
{
	rte_tel_data_start_dict(data);
	return reply_answer(command, params, (struct lull_telemetry_reply *)data);
}

int
lull_telemetry_register(const char *command, const char *help, lull_telemetry_answer *answer)
{
	int rc;

	reply_answer = answer;
	rc = rte_telemetry_register_cmd(command, reply_handle, help);

	/* after a stop; DPDK never forgets a command */
	return rc == -EEXIST ? 0 : rc;
}

static struct rte_tel_data *
reply_data(struct lull_telemetry_reply *reply)
{
	return (struct rte_tel_data *)reply;
}

void
lull_telemetry_put_count(struct lull_telemetry_reply *reply, const char *name, uint64_t value)
{
	lull_dpdk_dict_add_uint(reply_data(reply), name, value);
}

/* A sentence of up to two members, parted in front of a blank. */
void
lull_telemetry_put_text(struct lull_telemetry_reply *reply, const char *name, const char *text)
{
	char first[TEXT_MAX + 1], more_name[LULL_NAME_SIZE];
	size_t cut = strlen(text);

	if (cut <= TEXT_MAX) {
		rte_tel_data_add_dict_string(reply_data(reply), name, text);
		return;
	}
	cut = TEXT_MAX;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	if (cut == 0)
		cut = TEXT_MAX;
	snprintf(first, sizeof(first), "%.*s", (int)cut, text);
	snprintf(more_name, sizeof(more_name), "%s_more", name);
	rte_tel_data_add_dict_string(reply_data(reply), name, first);
	rte_tel_data_add_dict_string(reply_data(reply), more_name, text + cut);
}

void
lull_telemetry_put_table(struct lull_telemetry_reply *reply, const struct lull_counter_info *table,
			 const void *counters)
{
	for (; table->name != NULL; table++) {
		const uint64_t *counter = (const void *)((const uint8_t *)counters + table->offset);

		lull_telemetry_put_count(reply, table->name, LULL_COUNTER_READ(*counter));
	}
}

void
lull_telemetry_put_counts(struct lull_telemetry_reply *reply, const char *name,
			  const uint64_t *values, uint32_t count)
{
	struct rte_tel_data *list = rte_tel_data_alloc();

	if (list == NULL)
		return;
	rte_tel_data_start_array(list, LULL_DPDK_UINT_VAL);
	for (uint32_t i = 0; i < count; i++)
		lull_dpdk_array_add_uint(list, values[i]);
	rte_tel_data_add_dict_container(reply_data(reply), name, list, 0);
}

void
lull_telemetry_put_texts(struct lull_telemetry_reply *reply, const char *name,
			 const char *const *texts, uint32_t count)
{
	struct rte_tel_data *list = rte_tel_data_alloc();

	if (list == NULL)
		return;
	rte_tel_data_start_array(list, RTE_TEL_STRING_VAL);
	for (uint32_t i = 0; i < count; i++)
		rte_tel_data_add_array_string(list, texts[i]);
	rte_tel_data_add_dict_container(reply_data(reply), name, list, 0);
}
