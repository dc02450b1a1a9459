/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Resting: how the receiving thread rests, as properties of the element.
 *
 * They are the rows of program/resting.h, as lull-cam has them: a row that is added there is a
 * property here. Times are numbers of ns, all else is text as an option takes it.
 * Threads: the caller holds the element's lock.
 * Memory:  texts belong to the struct; clear frees them.
 */
#ifndef LULL_GST_RESTING_H
#define LULL_GST_RESTING_H

#include <gst/gst.h>

#include "program/resting.h"

#define LULL_GST_RESTING_MAX 32 /* rows */

struct lull_gst_resting {
	char *texts[LULL_GST_RESTING_MAX]; /* NULL: not told */
};

/** Install the rows as properties @p first and following. */
void lull_gst_resting_install(GObjectClass *class, guint first);
/** Free the texts; nothing is told then. */
void lull_gst_resting_clear(struct lull_gst_resting *resting);
/** @p index: property less the first. False: no such row. */
bool lull_gst_resting_set(struct lull_gst_resting *resting, guint index, const GValue *value);
bool lull_gst_resting_get(const struct lull_gst_resting *resting, guint index, GValue *value);
/** Defaults, and what was told. 0; or -errno and the sentence, which begins with the property. */
int lull_gst_resting_read(const struct lull_gst_resting *resting, struct lull_resting *read,
			  struct lull_error *error);

#endif
