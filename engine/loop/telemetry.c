/* SPDX-License-Identifier: BSD-3-Clause */
/* The /lull commands on DPDK's telemetry socket. DPDK calls the handler on threads of its own. */
#include "telemetry.h"

#include <errno.h>

#include <rte_telemetry.h>

#include <lull/engine.h>

#include "engine/dpdk/dpdk_version.h"

_Static_assert(LULL_TELEMETRY_TEXT_MAX < RTE_TEL_MAX_STRING_LEN, "texts fit");

/* ---- reply ---- */

static void
reply_count(void *data, const char *name, uint64_t value)
{
	lull_dpdk_dict_add_uint(data, name, value);
}

static void
reply_text(void *data, const char *name, const char *text)
{
	rte_tel_data_add_dict_string(data, name, text);
}

static void
reply_counts(void *data, const char *name, const uint64_t *values, uint32_t count)
{
	struct rte_tel_data *list = rte_tel_data_alloc();

	if (list == NULL)
		return;
	rte_tel_data_start_array(list, LULL_DPDK_UINT_VAL);
	for (uint32_t i = 0; i < count; i++)
		lull_dpdk_array_add_uint(list, values[i]);
	rte_tel_data_add_dict_container(data, name, list, 0);
}

static void
reply_texts(void *data, const char *name, const char *const *texts, uint32_t count)
{
	struct rte_tel_data *list = rte_tel_data_alloc();

	if (list == NULL)
		return;
	rte_tel_data_start_array(list, RTE_TEL_STRING_VAL);
	for (uint32_t i = 0; i < count; i++)
		rte_tel_data_add_array_string(list, texts[i]);
	rte_tel_data_add_dict_container(data, name, list, 0);
}

static const struct lull_telemetry_writer reply_writer = {
	.count = reply_count,
	.text = reply_text,
	.counts = reply_counts,
	.texts = reply_texts,
};

/* ---- commands ---- */

static int
telemetry_handle(const char *name, const char *params, struct rte_tel_data *data)
{
	struct lull_telemetry_reply reply = { .writer = &reply_writer, .to = data };

	rte_tel_data_start_dict(data);
	return lull_telemetry_answer(name, params, &reply);
}

int
lull_telemetry_register(const struct lull_telemetry_config *config,
			const struct lull_telemetry_loops *loops)
{
	const char *name, *help;
	int rc = 0;

	lull_telemetry_begin(config, loops, lull_dpdk_version());
	for (uint32_t i = 0; rc == 0 && lull_telemetry_command(i, &name, &help); i++) {
		rc = rte_telemetry_register_cmd(name, telemetry_handle, help);
		/* after a stop; DPDK never forgets a command */
		if (rc == -EEXIST)
			rc = 0;
	}
	return rc;
}
