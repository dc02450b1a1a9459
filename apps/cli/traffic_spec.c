/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic_spec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

#define RATE_MIN 0.001 /* slower than one packet in 17 minutes is off */
#define RATE_MAX 2e8

#define HOUR_NS (3600 * LULL_NS_PER_S)

/* One field between the commas. */
enum field_kind {
	FIELD_NONE,
	FIELD_RATE,     /* RATE, above 0 */
	FIELD_LOW_HIGH, /* LOW-HIGH, either may be 0 */
	FIELD_TIME,
};

struct field {
	enum field_kind kind;
	const char *name;
	size_t offset; /* FIELD_TIME: of the member */
	uint64_t low_ns, high_ns;
};

#define FIELD_COUNT 3

/* What stands behind each kind: parser, printer and messages walk it. */
struct shape {
	const char *name;
	enum lull_arrival_kind kind;
	const char *grammar;
	struct field fields[FIELD_COUNT];
};

#define TIME_FIELD(field_name, member, low, high)                                                  \
	{                                                                                          \
		FIELD_TIME, field_name, offsetof(struct lull_arrival_config, member), low, high    \
	}
#define PERIOD_FIELD(field_name) TIME_FIELD(field_name, period_ns, LULL_NS_PER_MS, 24 * HOUR_NS)

static const struct shape shapes[] = {
	{ .name = "off", .kind = LULL_ARRIVAL_OFF, .grammar = "off" },
	{
		.name = "constant",
		.kind = LULL_ARRIVAL_CONSTANT,
		.grammar = "constant:RATE, like constant:300k",
		.fields = { { .kind = FIELD_RATE, .name = "RATE" } },
	},
	{
		.name = "poisson",
		.kind = LULL_ARRIVAL_POISSON,
		.grammar = "poisson:RATE, like poisson:1M",
		.fields = { { .kind = FIELD_RATE, .name = "RATE" } },
	},
	{
		.name = "onoff",
		.kind = LULL_ARRIVAL_ONOFF,
		.grammar = "onoff:RATE,ON,OFF, like onoff:1M,5ms,20ms",
		.fields = { { .kind = FIELD_RATE, .name = "RATE" },
			    TIME_FIELD("ON", on_ns, LULL_NS_PER_US, HOUR_NS),
			    TIME_FIELD("OFF", off_ns, LULL_NS_PER_US, HOUR_NS) },
	},
	{
		.name = "tidal",
		.kind = LULL_ARRIVAL_TIDAL,
		.grammar = "tidal:LOW-HIGH,PERIOD, like tidal:0-1M,60s",
		.fields = { { .kind = FIELD_LOW_HIGH }, PERIOD_FIELD("PERIOD") },
	},
	{
		.name = "ramp",
		.kind = LULL_ARRIVAL_RAMP,
		.grammar = "ramp:LOW-HIGH,TIME, like ramp:1k-1M,10s",
		.fields = { { .kind = FIELD_LOW_HIGH }, PERIOD_FIELD("TIME") },
	},
	{
		.name = "step",
		.kind = LULL_ARRIVAL_STEP,
		.grammar = "step:LOW-HIGH,TIME, like step:1k-1M,5s",
		.fields = { { .kind = FIELD_LOW_HIGH }, PERIOD_FIELD("TIME") },
	},
};
#define SHAPE_COUNT (sizeof(shapes) / sizeof(shapes[0]))

static uint64_t *
time_member(struct lull_arrival_config *config, const struct field *field)
{
	return (uint64_t *)((char *)config + field->offset);
}

static int
rate_parse(const char *name, const char *text, size_t length, double low, double *rate,
	   struct lull_error *error)
{
	int shown = (int)LULL_MIN(length, (size_t)LULL_ERROR_SHOWN);
	double value = 0;

	if (lull_number_parse_real(text, length, &value) != 0)
		return lull_error_set(
			error, -EINVAL,
			"%s '%.*s' is not a rate: give packets/s like 500, 300k or 14.88M", name,
			shown, text);
	if ((value < RATE_MIN && value > 0) || value < low || value > RATE_MAX)
		return lull_error_set(error, -ERANGE, "%s %.*s is not in %s0.001..200M (packets/s)",
				      name, shown, text, low > 0 ? "" : "0 or ");
	*rate = value;
	return 0;
}

static int
low_high_parse(const char *text, size_t length, struct lull_arrival_config *config,
	       struct lull_error *error)
{
	const char *minus = memchr(text, '-', length);
	size_t low_length;
	int result;

	if (minus == NULL)
		return lull_error_set(error, -EINVAL, "'%.*s' is not LOW-HIGH",
				      (int)LULL_MIN(length, (size_t)LULL_ERROR_SHOWN), text);
	low_length = (size_t)(minus - text);
	result = rate_parse("LOW", text, low_length, 0, &config->pps, error);
	if (result == 0)
		result = rate_parse("HIGH", minus + 1, length - low_length - 1, 0,
				    &config->pps_high, error);
	if (result == 0 && config->pps == 0 && config->pps_high == 0)
		return lull_error_set(error, -ERANGE,
				      "LOW and HIGH are both 0: for silence give off");
	return result;
}

static int
time_parse(const struct field *field, const char *text, size_t length,
	   struct lull_arrival_config *config, struct lull_error *error)
{
	char low[LULL_NUMBER_TEXT], high[LULL_NUMBER_TEXT];
	int shown = (int)LULL_MIN(length, (size_t)LULL_ERROR_SHOWN);
	uint64_t ns = 0;
	int result = lull_number_parse(text, length, lull_time_units, 0, &ns);

	if (result != 0 && result != -ERANGE)
		return lull_error_set(
			error, result,
			"%s '%.*s' is not a time: give a number with ns, us, ms, s, m or h",
			field->name, shown, text);
	if (result == -ERANGE || ns < field->low_ns || ns > field->high_ns)
		return lull_error_set(error, -ERANGE, "%s %.*s is not in %s..%s", field->name,
				      shown, text, lull_time_print(field->low_ns, low, sizeof(low)),
				      lull_time_print(field->high_ns, high, sizeof(high)));
	*time_member(config, field) = ns;
	return 0;
}

static int
field_parse(const struct field *field, const char *text, size_t length,
	    struct lull_arrival_config *config, struct lull_error *error)
{
	switch (field->kind) {
	case FIELD_RATE:
		return rate_parse(field->name, text, length, RATE_MIN, &config->pps, error);
	case FIELD_LOW_HIGH:
		return low_high_parse(text, length, config, error);
	default:
		return time_parse(field, text, length, config, error);
	}
}

/* The fields behind the colon; -ENODATA: too few or too many of them. */
static int
fields_parse(const struct shape *shape, const char *text, struct lull_arrival_config *config,
	     struct lull_error *error)
{
	for (size_t i = 0; i < FIELD_COUNT && shape->fields[i].kind != FIELD_NONE; i++) {
		size_t length;
		int result;

		/* Before the first field a colon, before the others a comma. */
		if (*text != (i == 0 ? ':' : ','))
			return -ENODATA;
		text++;
		length = strcspn(text, ",");
		if (length == 0)
			return -ENODATA;
		result = field_parse(&shape->fields[i], text, length, config, error);
		if (result != 0)
			return result;
		text += length;
	}
	return *text == '\0' ? 0 : -ENODATA;
}

int
lull_traffic_spec_parse(const char *text, void *arrival_config, struct lull_error *error)
{
	struct lull_arrival_config *config = arrival_config, parsed = *config;
	const struct shape *shape = NULL;
	size_t length = strcspn(text, ":");
	int result;

	for (size_t i = 0; i < SHAPE_COUNT; i++) {
		if (strlen(shapes[i].name) == length && memcmp(shapes[i].name, text, length) == 0)
			shape = &shapes[i];
	}
	if (shape == NULL)
		return lull_error_set(error, -EINVAL,
				      "'%.*s' is no traffic spec: give " LULL_TRAFFIC_SPEC_GRAMMAR,
				      LULL_ERROR_SHOWN, text);
	parsed.kind = shape->kind;
	parsed.pps = parsed.pps_high = 0;
	parsed.on_ns = parsed.off_ns = parsed.period_ns = 0;
	result = fields_parse(shape, text + length, &parsed, error);
	if (result == -ENODATA)
		return lull_error_set(error, -EINVAL, "'%.*s' is not %s", LULL_ERROR_SHOWN, text,
				      shape->grammar);
	if (result != 0) {
		lull_error_prefix(error, "'%.*s': ", LULL_ERROR_SHOWN, text);
		return result;
	}
	*config = parsed;
	return 0;
}

static size_t
field_print(const struct field *field, const struct lull_arrival_config *config, char *text,
	    size_t size)
{
	char one[LULL_NUMBER_TEXT], two[LULL_NUMBER_TEXT];
	struct lull_arrival_config copy = *config;

	lull_real_print(config->pps, one, sizeof(one));
	if (field->kind == FIELD_RATE)
		return (size_t)snprintf(text, size, "%s", one);
	if (field->kind == FIELD_LOW_HIGH)
		return (size_t)snprintf(text, size, "%s-%s", one,
					lull_real_print(config->pps_high, two, sizeof(two)));
	return (size_t)snprintf(text, size, "%s",
				lull_time_print(*time_member(&copy, field), one, sizeof(one)));
}

char *
lull_traffic_spec_print(const void *arrival_config, char *text, size_t size)
{
	const struct lull_arrival_config *config = arrival_config;
	const struct shape *shape = &shapes[0];
	size_t used;

	for (size_t i = 0; i < SHAPE_COUNT; i++) {
		if (shapes[i].kind == config->kind)
			shape = &shapes[i];
	}
	used = (size_t)snprintf(text, size, "%s", shape->name);
	for (size_t i = 0; i < FIELD_COUNT && shape->fields[i].kind != FIELD_NONE; i++) {
		if (used + 1 >= size)
			break;
		text[used++] = i == 0 ? ':' : ',';
		used += field_print(&shape->fields[i], config, text + used, size - used);
	}
	return text;
}
