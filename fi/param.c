/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/idle.h>

#include "fi.h"
#include "host/error.h"

#define PARAM_GOVERNOR "phase"
#define PARAM_REST_US 1000
#define PARAM_PEERS 64
#define PARAM_PEERS_MAX 1024
#define PARAM_CONNECT_MS 5000
#define PARAM_TIMEOUT_MS 5000
#define PARAM_HOUR_MS 3600000

/* `fi_info -e` lists them. */
void
lull_fi_params_define(void)
{
	fi_param_define(
		&lull_fi_provider, "rails", FI_PARAM_STRING,
		"network ports, as --rail of lull-channel-perf, parted by blanks or commas: "
		"kernel:eth0 kernel:eth1, dpdk:0000:01:00.0, node:. Without it the "
		"provider offers nothing (default: none)");
	fi_param_define(&lull_fi_provider, "key", FI_PARAM_STRING,
			"file with the key that all nodes share, of `lull channel key` "
			"(default: none)");
	fi_param_define(&lull_fi_provider, "security", FI_PARAM_STRING,
			"sealed, signed or open (default: sealed with a key; open has to be "
			"asked for)");
	fi_param_define(&lull_fi_provider, "governor", FI_PARAM_STRING,
			"policy of rests on ports that are polled: dpdk:, kernel-busy: and "
			"node-busy: (default: %s)",
			PARAM_GOVERNOR);
	fi_param_define(&lull_fi_provider, "report", FI_PARAM_STRING,
			"file for figures as JSON when an endpoint closes; %%p is the process, %%r "
			"the rank (default: none)");
	fi_param_define(&lull_fi_provider, "max_rest", FI_PARAM_INT,
			"longest rest in us while nothing comes, 0..100000; 0: spin (default: %d)",
			PARAM_REST_US);
	fi_param_define(&lull_fi_provider, "peer_timeout", FI_PARAM_INT,
			"silence in ms after which a peer is given up, 100..%d; 0: an hour. A "
			"process that computes is not silent (default: %d)",
			PARAM_HOUR_MS, PARAM_TIMEOUT_MS);
	fi_param_define(&lull_fi_provider, "connect_timeout", FI_PARAM_INT,
			"time in ms in which a peer has to answer for the first time, 100..%d "
			"(default: %d)",
			PARAM_HOUR_MS, PARAM_CONNECT_MS);
	fi_param_define(&lull_fi_provider, "peers", FI_PARAM_INT,
			"most peers of an endpoint, 1..%d (default: %d)", PARAM_PEERS_MAX,
			PARAM_PEERS);
}

static const char *
param_text(const char *name)
{
	char *text = NULL;

	return fi_param_get_str(&lull_fi_provider, name, &text) == 0 && text != NULL ? text : "";
}

/* All of it is a number. */
static bool
param_whole(const char *variable)
{
	const char *text = getenv(variable);
	char *end = NULL;

	if (text == NULL)
		return true;
	(void)strtol(text, &end, 0);
	return end != text && *end == '\0';
}

static int
param_number(const char *name, int otherwise, int low, int high, uint64_t *value,
	     struct lull_error *error)
{
	int number = otherwise, rc = fi_param_get_int(&lull_fi_provider, name, &number);
	char variable[48];

	snprintf(variable, sizeof(variable), "FI_LULL_%s", name);
	for (char *at = variable; *at != '\0'; at++)
		*at = (char)toupper((unsigned char)*at);
	if (rc == -FI_ENODATA)
		number = otherwise;
	else if (rc != 0 || !param_whole(variable) || number < low || number > high)
		return lull_error_set(error, -FI_EINVAL, "%s: give a number in %d..%d", variable,
				      low, high);
	*value = (uint64_t)number;
	return 0;
}

/* Blanks part rails, and commas in front of another kind: other commas are within one. */
static size_t
param_rail_bytes(const char *text)
{
	static const char *const kinds[] = { "kernel:", "kernel-busy:", "dpdk:",
					     "node:",   "node-busy:",   "pair:" };
	size_t bytes = strcspn(text, " ,");

	while (text[bytes] == ',' && strcspn(text + bytes + 1, " ,") > 0) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (strncmp(text + bytes + 1, kinds[i], strlen(kinds[i])) == 0)
				return bytes;
		bytes += 1 + strcspn(text + bytes + 1, " ,");
	}
	return bytes;
}

static int
param_rails(struct lull_fi_settings *settings, struct lull_error *error)
{
	const char *at = param_text("rails");

	for (at += strspn(at, " ,"); *at != '\0'; at += strspn(at, " ,")) {
		size_t length = param_rail_bytes(at);

		if (settings->rail_count == LULL_CHANNEL_RAILS_MAX)
			return lull_error_set(error, -FI_EINVAL,
					      "FI_LULL_RAILS: more than %d rails",
					      LULL_CHANNEL_RAILS_MAX);
		if (length >= LULL_FI_RAIL_SIZE)
			return lull_error_set(error, -FI_EINVAL,
					      "FI_LULL_RAILS: a rail is longer than %d characters",
					      LULL_FI_RAIL_SIZE - 1);
		snprintf(settings->rails[settings->rail_count++], LULL_FI_RAIL_SIZE, "%.*s",
			 (int)length, at);
		at += length;
	}
	return settings->rail_count > 0 ? 0 : -FI_ENODATA;
}

/* Names of files and of the governor. */
static int
param_names(struct lull_fi_settings *settings, struct lull_error *error)
{
	const char *key = param_text("key"), *report = param_text("report");
	const char *governor = param_text("governor");

	if (governor[0] == '\0')
		governor = PARAM_GOVERNOR;
	if (lull_idle_governor_find(governor) == NULL || strlen(governor) >= 32)
		return lull_error_set(error, -FI_EINVAL, "FI_LULL_GOVERNOR: '%.32s' does not exist",
				      governor);
	if (strlen(key) >= sizeof(settings->key_file) || strlen(report) >= sizeof(settings->report))
		return lull_error_set(error, -FI_EINVAL,
				      "FI_LULL_%s: its name is longer than %d characters",
				      strlen(key) >= sizeof(settings->key_file) ? "KEY" : "REPORT",
				      LULL_FI_PATH_SIZE - 1);
	strcpy(settings->key_file, key);
	strcpy(settings->report, report);
	strcpy(settings->governor, governor);
	return 0;
}

static int
param_security(struct lull_fi_settings *settings, struct lull_error *error)
{
	const char *text = param_text("security");

	settings->security = LULL_CHANNEL_SEALED;
	for (int i = LULL_CHANNEL_SEALED; i <= LULL_CHANNEL_OPEN; i++)
		if (strcmp(text, lull_channel_security_name((enum lull_channel_security)i)) == 0)
			settings->security = (enum lull_channel_security)i;
	if (text[0] != '\0' && strcmp(text, lull_channel_security_name(settings->security)) != 0)
		return lull_error_set(error, -FI_EINVAL,
				      "FI_LULL_SECURITY: '%.32s' is not one of sealed, signed, "
				      "open",
				      text);
	if (settings->security != LULL_CHANNEL_OPEN && settings->key_file[0] == '\0')
		return lull_error_set(error, -FI_EINVAL,
				      "FI_LULL_KEY: name the file of a key (lull channel key > "
				      "FILE), or set FI_LULL_SECURITY=open");
	return 0;
}

int
lull_fi_params_read(struct lull_fi_settings *settings, struct lull_error *error)
{
	uint64_t rest_us = 0, timeout_ms = 0, connect_ms = 0, peers = 0;
	int rc;

	memset(settings, 0, sizeof(*settings));
	rc = param_rails(settings, error);
	if (rc == 0)
		rc = param_names(settings, error);
	if (rc == 0)
		rc = param_security(settings, error);
	if (rc == 0)
		rc = param_number("max_rest", PARAM_REST_US, 0, 100000, &rest_us, error);
	if (rc == 0)
		rc = param_number("peer_timeout", PARAM_TIMEOUT_MS, 0, PARAM_HOUR_MS, &timeout_ms,
				  error);
	if (rc == 0)
		rc = param_number("connect_timeout", PARAM_CONNECT_MS, 100, PARAM_HOUR_MS,
				  &connect_ms, error);
	if (rc == 0)
		rc = param_number("peers", PARAM_PEERS, 1, PARAM_PEERS_MAX, &peers, error);
	settings->max_rest_ns = rest_us * LULL_NS_PER_US;
	settings->peer_timeout_ns =
		LULL_MAX(timeout_ms == 0 ? PARAM_HOUR_MS : timeout_ms, 100u) * LULL_NS_PER_MS;
	settings->connect_ns = connect_ms * LULL_NS_PER_MS;
	settings->peers_max = (uint32_t)peers;
	return rc;
}
