/* SPDX-License-Identifier: BSD-3-Clause */
#include "ipfix_template.h"

#include "ipfix_field.h"

#define SET_TEMPLATES 2
#define SET_OPTIONS_TEMPLATES 3
#define ENTERPRISE_BIT 0x8000u
#define PEN_REVERSE 29305

static void
ipfix_put_specifier(const struct lull_ipfix_config *config, struct lull_ipfix_message *message,
		    uint16_t element, uint16_t bytes, enum lull_ipfix_owner owner)
{
	if (owner == LULL_IPFIX_IANA) {
		lull_ipfix_message_number(message, element, 2);
		lull_ipfix_message_number(message, bytes, 2);
		return;
	}
	lull_ipfix_message_number(message, element | ENTERPRISE_BIT, 2);
	lull_ipfix_message_number(message, bytes, 2);
	lull_ipfix_message_number(
		message, owner == LULL_IPFIX_REVERSE ? PEN_REVERSE : config->enterprise, 4);
}

void
lull_ipfix_put_template(const struct lull_ipfix_config *config, struct lull_ipfix_message *message,
			enum lull_ipfix_template id)
{
	const struct lull_ipfix_field *field;
	unsigned int count = 0;

	for (field = lull_ipfix_fields; field->bytes != 0; field++)
		count += lull_ipfix_field_in(field, id, config);
	lull_ipfix_message_set(message, SET_TEMPLATES);
	lull_ipfix_message_number(message, id, 2);
	lull_ipfix_message_number(message, count, 2);
	for (field = lull_ipfix_fields; field->bytes != 0; field++) {
		if (lull_ipfix_field_in(field, id, config))
			ipfix_put_specifier(config, message, field->element, field->bytes,
					    field->owner);
	}
}

static unsigned int
totals_count(void)
{
	unsigned int count = 0;

	while (lull_encode_totals_table[count].name != NULL)
		count++;
	return count;
}

void
lull_ipfix_put_totals_template(const struct lull_ipfix_config *config,
			       struct lull_ipfix_message *message)
{
	unsigned int totals = totals_count();

	lull_ipfix_message_set(message, SET_OPTIONS_TEMPLATES);
	lull_ipfix_message_number(message, LULL_IPFIX_TOTALS, 2);
	lull_ipfix_message_number(message, 1 + LULL_IPFIX_TOTAL_COUNT + totals, 2);
	lull_ipfix_message_number(message, 1, 2); /* one of them is the scope */
	ipfix_put_specifier(config, message, LULL_IPFIX_ELEMENT_DOMAIN, 4, LULL_IPFIX_IANA);
	for (unsigned int i = 0; i < LULL_IPFIX_TOTAL_COUNT; i++)
		ipfix_put_specifier(config, message, lull_ipfix_total_elements[i], 8,
				    LULL_IPFIX_IANA);
	for (unsigned int i = 0; i < totals; i++)
		ipfix_put_specifier(config, message, (uint16_t)(LULL_IPFIX_ELEMENT_TOTALS + i), 8,
				    LULL_IPFIX_PRIVATE);
}

void
lull_ipfix_put_names_template(const struct lull_ipfix_config *config,
			      struct lull_ipfix_message *message)
{
	lull_ipfix_message_set(message, SET_OPTIONS_TEMPLATES);
	lull_ipfix_message_number(message, LULL_IPFIX_NAMES, 2);
	lull_ipfix_message_number(message, 3, 2);
	lull_ipfix_message_number(message, 1, 2); /* one of them is the scope */
	ipfix_put_specifier(config, message, LULL_IPFIX_ELEMENT_INTERFACE, 4, LULL_IPFIX_IANA);
	ipfix_put_specifier(config, message, LULL_IPFIX_ELEMENT_NAME, LULL_IPFIX_VARIABLE,
			    LULL_IPFIX_IANA);
	ipfix_put_specifier(config, message, LULL_IPFIX_ELEMENT_DESCRIPTION, LULL_IPFIX_VARIABLE,
			    LULL_IPFIX_IANA);
}
