/* SPDX-License-Identifier: BSD-3-Clause */
#include "resting.h"

#include <string.h>

#define FLAGS ((GParamFlags)(G_PARAM_READWRITE | G_PARAM_STATIC_NAME | GST_PARAM_MUTABLE_READY))

#define LULL_SETTINGS struct rows

struct rows {
	struct lull_resting resting;
};
/* The program is not ours, so the class of its threads and C-states stay as they are. */
static const struct lull_option rows[] = {
	LULL_RESTING_OPTIONS_OF(resting, "200", "1000", "other", "off", .value = "phase"),
	{ .key = NULL },
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]) - 1)
_Static_assert(ROW_COUNT <= LULL_GST_RESTING_MAX, "each row has room for its text");

int
lull_gst_resting_read(const struct lull_gst_resting *resting, struct lull_resting *read,
		      struct lull_error *error)
{
	struct rows values = { .resting = { .governor = 0 } };
	int rc = 0;

	for (guint i = 0; rc == 0 && i < ROW_COUNT; i++) {
		const char *text = resting->texts[i];

		if (text == NULL)
			text = rows[i].value;
		rc = lull_options_set(rows, &values, rows[i].key, text, error);
	}
	*read = values.resting;
	return rc;
}

void
lull_gst_resting_clear(struct lull_gst_resting *resting)
{
	for (guint i = 0; i < ROW_COUNT; i++)
		g_clear_pointer(&resting->texts[i], g_free);
}

/* The value that @p text stands for, or the default. */
static guint64
resting_ns(const struct lull_option *row, const char *text)
{
	struct rows values = { .resting = { .governor = 0 } };
	struct lull_error ignored;
	guint64 ns;

	(void)lull_options_set(rows, &values, row->key, text != NULL ? text : row->value, &ignored);
	memcpy(&ns, (const char *)&values + row->offset, sizeof(ns));
	return ns;
}

static GParamSpec *
resting_property(const struct lull_option *row)
{
	GParamSpec *spec;
	char *help;

	if (row->type != LULL_OPTION_DURATION)
		return g_param_spec_string(row->key, row->key, row->help, row->value, FLAGS);
	help = g_strdup_printf("%s In ns.", row->help);
	spec = g_param_spec_uint64(row->key, row->key, help, row->low, row->high,
				   resting_ns(row, NULL), FLAGS);
	g_free(help);
	return spec;
}

void
lull_gst_resting_install(GObjectClass *class, guint first)
{
	for (guint i = 0; i < ROW_COUNT; i++)
		g_object_class_install_property(class, first + i, resting_property(&rows[i]));
}

bool
lull_gst_resting_set(struct lull_gst_resting *resting, guint index, const GValue *value)
{
	if (index >= ROW_COUNT)
		return false;
	g_free(resting->texts[index]);
	resting->texts[index] =
		rows[index].type == LULL_OPTION_DURATION ?
			g_strdup_printf("%" G_GUINT64_FORMAT "ns", g_value_get_uint64(value)) :
			g_value_dup_string(value);
	return true;
}

bool
lull_gst_resting_get(const struct lull_gst_resting *resting, guint index, GValue *value)
{
	const char *text;

	if (index >= ROW_COUNT)
		return false;
	text = resting->texts[index];
	if (rows[index].type == LULL_OPTION_DURATION)
		g_value_set_uint64(value, resting_ns(&rows[index], text));
	else
		g_value_set_string(value, text != NULL ? text : rows[index].value);
	return true;
}
