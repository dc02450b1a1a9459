/* SPDX-License-Identifier: BSD-3-Clause */
#include "spec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <lull/base.h>

#include "camera/emulator/attack.h"
#include "program/number.h"

#define REORDER_MOST 4096

static int
spec_wrong(struct lull_error *error, const char *text, const char *wanted)
{
	return lull_error_set(error, -EINVAL, "'%.*s' is not %s", LULL_ERROR_SHOWN, text, wanted);
}

/* A whole number up to @p most that ends at @p end or, when that is NULL, with the text. */
static bool
spec_number(const char *text, const char *end, uint64_t most, uint64_t *value)
{
	size_t length = end != NULL ? (size_t)(end - text) : strlen(text);

	return lull_number_parse(text, length, lull_count_units, 1, value) == 0 && *value <= most;
}

/* ---- addresses ---- */

static bool
spec_mac(const char *text, uint8_t mac[6])
{
	int length = 0;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		      &mac[3], &mac[4], &mac[5], &length) == 6 &&
	       text[length] == '\0';
}

int
spec_address_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_emulator_address address = { .given = true };
	const char *colon = strchr(text, ':');
	char ip[INET_ADDRSTRLEN] = "";
	struct in_addr in;
	uint64_t port = 0;
	size_t length;

	if (spec_mac(text, address.mac)) {
		address.ethernet = true;
		*(struct lull_emulator_address *)member = address;
		return 0;
	}
	length = colon != NULL ? (size_t)(colon - text) : strlen(text);
	if (length < sizeof(ip))
		memcpy(ip, text, length);
	if (inet_pton(AF_INET, ip, &in) != 1 ||
	    (colon != NULL && !spec_number(colon + 1, NULL, UINT16_MAX, &port)))
		return spec_wrong(error, text,
				  "ADDRESS:PORT (IPv4) or an Ethernet address like "
				  "91:e0:f0:00:fe:00");
	address.ip = ntohl(in.s_addr);
	address.port = (uint16_t)port;
	*(struct lull_emulator_address *)member = address;
	return 0;
}

char *
spec_address_print(const void *member, char *text, size_t size)
{
	const struct lull_emulator_address *address = member;
	const uint8_t *mac = address->mac;
	struct in_addr in = { .s_addr = htonl(address->ip) };
	char ip[INET_ADDRSTRLEN];

	if (!address->given)
		snprintf(text, size, "none");
	else if (address->ethernet)
		snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
			 mac[3], mac[4], mac[5]);
	else
		snprintf(text, size, "%s:%u", inet_ntop(AF_INET, &in, ip, sizeof(ip)),
			 address->port);
	return text;
}

/* ---- pace ---- */

int
spec_pace_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_emulator_pace pace = { .kind = LULL_EMULATOR_PACE_BURST };
	bool good = true;

	if (strncmp(text, "spread:", 7) == 0) {
		pace.kind = LULL_EMULATOR_PACE_SPREAD;
		good = lull_number_parse(text + 7, strlen(text + 7), lull_time_units, 0,
					 &pace.value) == 0 &&
		       pace.value <= 3600 * LULL_NS_PER_S;
	} else if (strncmp(text, "rate:", 5) == 0) {
		pace.kind = LULL_EMULATOR_PACE_RATE;
		good = spec_number(text + 5, NULL, 1000 * LULL_NS_PER_S, &pace.value) &&
		       pace.value >= 1000;
	} else
		good = strcmp(text, "burst") == 0;
	if (!good)
		return spec_wrong(error, text,
				  "burst, spread:TIME (up to 1h) or rate:BITS per second "
				  "(1k..1000G)");
	*(struct lull_emulator_pace *)member = pace;
	return 0;
}

char *
spec_pace_print(const void *member, char *text, size_t size)
{
	const struct lull_emulator_pace *pace = member;
	char value[LULL_NUMBER_TEXT];

	if (pace->kind == LULL_EMULATOR_PACE_SPREAD)
		snprintf(text, size, "spread:%s",
			 lull_time_print(pace->value, value, sizeof(value)));
	else if (pace->kind == LULL_EMULATOR_PACE_RATE)
		snprintf(text, size, "rate:%" PRIu64, pace->value);
	else
		snprintf(text, size, "burst");
	return text;
}

/* ---- what goes wrong on purpose ---- */

int
spec_attack_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_emulator_attack attack = { .kind = LULL_EMULATOR_ATTACK_NONE };
	const char *at = strchrnul(text, '@'), *name;
	uint32_t kind = 0;

	while ((name = attack_name(kind)) != NULL &&
	       (strncmp(name, text, (size_t)(at - text)) != 0 || name[at - text] != '\0'))
		kind++;
	if (name == NULL || (*at == '\0') != (kind == LULL_EMULATOR_ATTACK_NONE) ||
	    (*at != '\0' && !spec_number(at + 1, NULL, UINT64_MAX / 4, &attack.frame)))
		return spec_wrong(error, text,
				  "none or KIND@FRAME, such as restart@10; --help lists the kinds");
	attack.kind = (enum lull_emulator_attack_kind)kind;
	*(struct lull_emulator_attack *)member = attack;
	return 0;
}

char *
spec_attack_print(const void *member, char *text, size_t size)
{
	const struct lull_emulator_attack *attack = member;

	if (attack->kind == LULL_EMULATOR_ATTACK_NONE)
		snprintf(text, size, "none");
	else
		snprintf(text, size, "%s@%" PRIu64, attack_name(attack->kind), attack->frame);
	return text;
}

/* FRAME/PACKET or FRAME/PACKET-PACKET up to @p end. */
static bool
spec_lost(const char *text, const char *end, struct lull_emulator_lost *lost)
{
	const char *slash = memchr(text, '/', (size_t)(end - text)), *dash;
	uint64_t first, last;

	if (slash == NULL || !spec_number(text, slash, UINT64_MAX, &lost->frame))
		return false;
	slash++;
	dash = memchr(slash, '-', (size_t)(end - slash));
	if (!spec_number(slash, dash != NULL ? dash : end, UINT32_MAX, &first))
		return false;
	last = first;
	if (dash != NULL && !spec_number(dash + 1, end, UINT32_MAX, &last))
		return false;
	lost->first = (uint32_t)first;
	lost->last = (uint32_t)last;
	return first <= last;
}

int
spec_loss_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_emulator_loss loss = { .ppm = 0 };
	const char *at = text, *end;
	uint64_t ppm;

	if (strchr(text, '/') == NULL) {
		if (!spec_number(text, NULL, LULL_PPM, &ppm))
			return spec_wrong(error, text,
					  "parts per million (0..1M), nor a list like "
					  "3/10-12,5/0: frame and packets");
		loss.ppm = (uint32_t)ppm;
		*(struct lull_emulator_loss *)member = loss;
		return 0;
	}
	for (;; at = end + 1) {
		end = strchrnul(at, ',');
		if (loss.count == LULL_EMULATOR_LOSSES_MAX)
			return lull_error_set(error, -EINVAL, "more than %d losses are too many",
					      LULL_EMULATOR_LOSSES_MAX);
		if (!spec_lost(at, end, &loss.list[loss.count++]))
			return spec_wrong(error, text,
					  "a list like 3/10-12,5/0: frame and packets");
		if (*end == '\0')
			break;
	}
	*(struct lull_emulator_loss *)member = loss;
	return 0;
}

char *
spec_loss_print(const void *member, char *text, size_t size)
{
	const struct lull_emulator_loss *loss = member;
	size_t used = 0;

	if (loss->count == 0)
		snprintf(text, size, "%" PRIu32, loss->ppm);
	for (uint32_t i = 0; i < loss->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used,
					 "%s%" PRIu64 "/%" PRIu32 "-%" PRIu32, i > 0 ? "," : "",
					 loss->list[i].frame, loss->list[i].first,
					 loss->list[i].last);
	return text;
}

/* PPM and where the rest begins. */
static const char *
spec_ppm(const char *text, uint32_t *ppm)
{
	const char *comma = strchr(text, ',');
	uint64_t value;

	if (comma == NULL || !spec_number(text, comma, LULL_PPM, &value))
		return NULL;
	*ppm = (uint32_t)value;
	return comma + 1;
}

int
spec_reorder_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_emulator_delay delay = { .ppm = 0 };
	const char *rest = spec_ppm(text, &delay.ppm);

	if (strcmp(text, "0") != 0 &&
	    (rest == NULL || !spec_number(rest, NULL, REORDER_MOST, &delay.much) ||
	     delay.much == 0))
		return spec_wrong(error, text,
				  "PPM,DEPTH: parts per million and how many packets pass "
				  "(1..4096)");
	*(struct lull_emulator_delay *)member = delay;
	return 0;
}

char *
spec_reorder_print(const void *member, char *text, size_t size)
{
	const struct lull_emulator_delay *delay = member;

	if (delay->ppm == 0)
		snprintf(text, size, "0");
	else
		snprintf(text, size, "%" PRIu32 ",%" PRIu64, delay->ppm, delay->much);
	return text;
}

int
spec_late_parse(const char *text, void *member, struct lull_error *error)
{
	struct lull_emulator_delay delay = { .ppm = 0 };
	const char *rest = spec_ppm(text, &delay.ppm);

	if (strcmp(text, "0") != 0 &&
	    (rest == NULL ||
	     lull_number_parse(rest, strlen(rest), lull_time_units, 0, &delay.much) != 0 ||
	     delay.much == 0 || delay.much > 60 * LULL_NS_PER_S))
		return spec_wrong(error, text,
				  "PPM,TIME: parts per million and how long they are kept "
				  "(up to 60s)");
	*(struct lull_emulator_delay *)member = delay;
	return 0;
}

char *
spec_late_print(const void *member, char *text, size_t size)
{
	const struct lull_emulator_delay *delay = member;
	char time[LULL_NUMBER_TEXT];

	if (delay->ppm == 0)
		snprintf(text, size, "0");
	else
		snprintf(text, size, "%" PRIu32 ",%s", delay->ppm,
			 lull_time_print(delay->much, time, sizeof(time)));
	return text;
}
