/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPFIX template: the template records, as the table of fields has them.
 */
#ifndef LULL_IPFIX_TEMPLATE_H
#define LULL_IPFIX_TEMPLATE_H

#include "ipfix_field.h"
#include "ipfix_message.h"

/** Of flow records. */
void lull_ipfix_put_template(const struct lull_ipfix_config *config,
			     struct lull_ipfix_message *message, enum lull_ipfix_template id);
/** Of the options record of totals. */
void lull_ipfix_put_totals_template(const struct lull_ipfix_config *config,
				    struct lull_ipfix_message *message);
/** Of the options records that name interfaces. */
void lull_ipfix_put_names_template(const struct lull_ipfix_config *config,
				   struct lull_ipfix_message *message);

#endif
