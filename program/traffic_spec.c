/* SPDX-License-Identifier: BSD-3-Clause */
#include "traffic_spec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

#define RATE_MIN 0.001 /* slower than one packet in 17 minutes is off */
#define RATE_MAX 2e8
#define HURST_MIN 0.501
#define HURST_MAX 0.999
#define HURST_DEFAULT 0.8
#define SOURCES_DEFAULT 16
#define SENDER_PKTS_MAX 65535
#define PKT_NS_MIN 5 /* at RATE_MAX */

#define HOUR_NS (3600 * LULL_NS_PER_S)

/* One field between the commas. */
enum field_kind {
	FIELD_NONE,
	FIELD_RATE,     /* RATE, above 0 */
	FIELD_LOW_HIGH, /* LOW-HIGH, either may be 0 */
	FIELD_TIME,
	FIELD_HURST,
	FIELD_SOURCES,
	FIELD_SENDERS, /* SENDERSxPKTS */
};

struct field {
	enum field_kind kind;
	const char *name;
	size_t offset; /* FIELD_TIME: of the member */
	uint64_t low_ns, high_ns;
	bool optional; /* may be left out with what follows: a time is 0 then */
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
		FIELD_TIME, field_name, offsetof(struct lull_arrival_config, member), low, high,   \
			false                                                                      \
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
	{
		.name = "selfsimilar",
		.kind = LULL_ARRIVAL_SELFSIMILAR,
		.grammar = "selfsimilar:RATE[,HURST[,SOURCES]], like selfsimilar:1M or "
			   "selfsimilar:1M,0.8,16",
		.fields = { { .kind = FIELD_RATE, .name = "RATE" },
			    { .kind = FIELD_HURST, .optional = true },
			    { .kind = FIELD_SOURCES, .optional = true } },
	},
	{
		.name = "incast",
		.kind = LULL_ARRIVAL_INCAST,
		.grammar = "incast:SENDERSxPKTS,PERIOD[,JITTER], like incast:32x8,10ms or "
			   "incast:32x8,10ms,50us",
		.fields = { { .kind = FIELD_SENDERS },
			    TIME_FIELD("PERIOD", period_ns, LULL_NS_PER_US, 24 * HOUR_NS),
			    { .kind = FIELD_TIME,
			      .name = "JITTER",
			      .offset = offsetof(struct lull_arrival_config, jitter_ns),
			      .high_ns = 24 * HOUR_NS,
			      .optional = true } },
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
			"%s '%.*s' is not a rate: give packets/s such as 500, 300k or 14.88M", name,
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
				      "LOW and HIGH are both 0: for no traffic give off");
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
hurst_parse(const char *text, size_t length, struct lull_arrival_config *config,
	    struct lull_error *error)
{
	int shown = (int)LULL_MIN(length, (size_t)LULL_ERROR_SHOWN);
	double hurst = 0;

	if (lull_number_parse_real(text, length, &hurst) != 0)
		return lull_error_set(error, -EINVAL, "HURST '%.*s' is not a number like 0.8",
				      shown, text);
	if (hurst < HURST_MIN || hurst > HURST_MAX)
		return lull_error_set(error, -ERANGE, "HURST %.*s is not in %g..%g", shown, text,
				      HURST_MIN, HURST_MAX);
	config->hurst = hurst;
	return 0;
}

static int
count_parse(const char *name, const char *text, size_t length, uint32_t high, uint32_t *count,
	    struct lull_error *error)
{
	int shown = (int)LULL_MIN(length, (size_t)LULL_ERROR_SHOWN);
	uint64_t value = 0;
	int result = lull_number_parse(text, length, lull_count_units, 1, &value);

	if (result != 0 && result != -ERANGE)
		return lull_error_set(error, result, "%s '%.*s' is not a whole number", name, shown,
				      text);
	if (result == -ERANGE || value < 1 || value > high)
		return lull_error_set(error, -ERANGE, "%s %.*s is not in 1..%" PRIu32, name, shown,
				      text, high);
	*count = (uint32_t)value;
	return 0;
}

static int
senders_parse(const char *text, size_t length, struct lull_arrival_config *config,
	      struct lull_error *error)
{
	const char *times = memchr(text, 'x', length);
	size_t senders_length;
	int result;

	if (times == NULL)
		return lull_error_set(error, -EINVAL, "'%.*s' is not SENDERSxPKTS, like 32x8",
				      (int)LULL_MIN(length, (size_t)LULL_ERROR_SHOWN), text);
	senders_length = (size_t)(times - text);
	result = count_parse("SENDERS", text, senders_length, LULL_ARRIVAL_SENDERS_MAX,
			     &config->sender_count, error);
	if (result == 0)
		result = count_parse("PKTS", times + 1, length - senders_length - 1,
				     SENDER_PKTS_MAX, &config->sender_pkts, error);
	return result;
}

/* What no field can tell alone. */
static int
incast_check(const struct lull_arrival_config *config, struct lull_error *error)
{
	char one[LULL_NUMBER_TEXT], two[LULL_NUMBER_TEXT];
	uint64_t pkts = (uint64_t)config->sender_count * config->sender_pkts;

	lull_time_print(config->period_ns, one, sizeof(one));
	if (pkts * PKT_NS_MIN > config->period_ns)
		return lull_error_set(error, -ERANGE,
				      "%" PRIu64 " packets in %s are more than 200M packets/s",
				      pkts, one);
	if (config->jitter_ns > config->period_ns)
		return lull_error_set(error, -ERANGE, "JITTER %s is longer than PERIOD %s",
				      lull_time_print(config->jitter_ns, two, sizeof(two)), one);
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
	case FIELD_HURST:
		return hurst_parse(text, length, config, error);
	case FIELD_SOURCES:
		return count_parse("SOURCES", text, length, LULL_ARRIVAL_SOURCES_MAX,
				   &config->source_count, error);
	case FIELD_SENDERS:
		return senders_parse(text, length, config, error);
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

		if (shape->fields[i].optional && *text == '\0')
			return 0;
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
		return lull_error_set(
			error, -EINVAL,
			"'%.*s' is not a traffic spec: give " LULL_TRAFFIC_SPEC_GRAMMAR,
			LULL_ERROR_SHOWN, text);
	parsed.kind = shape->kind;
	parsed.pps = parsed.pps_high = 0;
	parsed.on_ns = parsed.off_ns = parsed.period_ns = parsed.jitter_ns = 0;
	parsed.sender_count = parsed.sender_pkts = 0;
	parsed.hurst = HURST_DEFAULT;
	parsed.source_count = SOURCES_DEFAULT;
	result = fields_parse(shape, text + length, &parsed, error);
	if (result == -ENODATA)
		return lull_error_set(error, -EINVAL, "'%.*s' is not %s", LULL_ERROR_SHOWN, text,
				      shape->grammar);
	if (result == 0 && parsed.kind == LULL_ARRIVAL_INCAST)
		result = incast_check(&parsed, error);
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

	switch (field->kind) {
	case FIELD_RATE:
		return (size_t)snprintf(text, size, "%s",
					lull_real_print(config->pps, one, sizeof(one)));
	case FIELD_LOW_HIGH:
		return (size_t)snprintf(text, size, "%s-%s",
					lull_real_print(config->pps, one, sizeof(one)),
					lull_real_print(config->pps_high, two, sizeof(two)));
	case FIELD_HURST:
		return (size_t)snprintf(text, size, "%s",
					lull_real_print(config->hurst, one, sizeof(one)));
	case FIELD_SOURCES:
		return (size_t)snprintf(text, size, "%" PRIu32, config->source_count);
	case FIELD_SENDERS:
		return (size_t)snprintf(text, size, "%" PRIu32 "x%" PRIu32, config->sender_count,
					config->sender_pkts);
	default:
		return (size_t)snprintf(
			text, size, "%s",
			lull_time_print(*time_member(&copy, field), one, sizeof(one)));
	}
}

/* Would it be the same without this field, if none followed? */
static bool
field_needless(const struct field *field, const struct lull_arrival_config *config)
{
	struct lull_arrival_config copy = *config;

	if (!field->optional)
		return false;
	if (field->kind == FIELD_HURST)
		return config->hurst >= HURST_DEFAULT && config->hurst <= HURST_DEFAULT;
	if (field->kind == FIELD_SOURCES)
		return config->source_count == SOURCES_DEFAULT;
	return *time_member(&copy, field) == 0;
}

/* Those to be written. */
static size_t
fields_needed(const struct shape *shape, const struct lull_arrival_config *config)
{
	size_t count = 0;

	while (count < FIELD_COUNT && shape->fields[count].kind != FIELD_NONE)
		count++;
	while (count > 0 && field_needless(&shape->fields[count - 1], config))
		count--;
	return count;
}

char *
lull_traffic_spec_print(const void *arrival_config, char *text, size_t size)
{
	const struct lull_arrival_config *config = arrival_config;
	const struct shape *shape = &shapes[0];
	size_t count, used;

	for (size_t i = 0; i < SHAPE_COUNT; i++) {
		if (shapes[i].kind == config->kind)
			shape = &shapes[i];
	}
	used = (size_t)snprintf(text, size, "%s", shape->name);
	count = fields_needed(shape, config);
	for (size_t i = 0; i < count; i++) {
		if (used + 1 >= size)
			break;
		text[used++] = i == 0 ? ':' : ',';
		used += field_print(&shape->fields[i], config, text + used, size - used);
	}
	return text;
}
