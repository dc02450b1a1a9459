/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FI_LULL_REPORT: figures of each endpoint that has closed, as JSON in one file per process. It is
 * written anew with each of them, so what is there is whole.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lull/bundle.h>

#include "channel/telemetry.h"
#include "fi.h"
#include "host/report_file.h"
#include "host/telemetry_json.h"

#define REPORT_FIRST "{\"report\":\"lull-fi\","

/* Of all endpoints that have closed so far. */
static struct {
	pthread_mutex_t lock;
	char *text;
	size_t used;
	uint32_t forks; /* a fork's child begins with none */
} report = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- text ---- */

static bool
report_add(const char *text, size_t size)
{
	char *more = realloc(report.text, report.used + size + 1);

	if (more == NULL)
		return false;
	report.text = more;
	memcpy(report.text + report.used, text, size);
	report.used += size;
	report.text[report.used] = '\0';
	return true;
}

static const struct lull_telemetry_command *
report_command(const char *name)
{
	const struct lull_telemetry_command *command = channel_commands;

	while (command->name != NULL && strcmp(command->name, name) != 0)
		command++;
	return command;
}

/* {"NAME":{...}}: what telemetry would tell. */
static void
report_reply(struct lull_telemetry_json *json, const char *command, const char *name,
	     uint32_t number)
{
	struct lull_telemetry_reply reply = { .writer = &lull_telemetry_json_writer, .to = json };
	char params[16];

	snprintf(params, sizeof(params), "%" PRIu32, number);
	lull_telemetry_json_begin(json, name, "{");
	report_command(command)->reply(NULL, params, &reply);
	lull_telemetry_json_end(json, "}}");
}

/* ,"NAME":{...} */
static bool
report_member(struct lull_telemetry_json *json, const char *command, const char *name)
{
	report_reply(json, command, name, 0);
	return report_add(",", 1) && report_add(json->bytes + 1, json->used - 2);
}

/* Each of them, as an element of a list. */
static bool
report_element(struct lull_telemetry_json *json, const char *command, uint32_t number, bool *first)
{
	static const char name[] = "{\"x\":";

	report_reply(json, command, "x", number);
	if (!*first && !report_add(",", 1))
		return false;
	*first = false;
	return report_add(json->bytes + sizeof(name) - 1, json->used - sizeof(name));
}

/* A reply has so many; "next" is where the next one goes on, 0 in the last. */
static bool
report_peers(struct lull_telemetry_json *json)
{
	const char *next;
	uint32_t number = 0;
	bool first = true, good = report_add(",\"peers\":[", 10);

	do {
		good = good && report_element(json, "/lull/channel_peers", number, &first);
		json->bytes[json->used] = '\0';
		next = strstr(json->bytes, "\"next\":");
		number = next != NULL ? (uint32_t)strtoul(next + 7, NULL, 10) : 0;
	} while (good && number > 0);
	return good && report_add("]", 1);
}

static bool
report_paths(struct lull_fi_ep *ep, struct lull_telemetry_json *json)
{
	bool first = true, good = report_add(",\"paths\":[", 10);
	struct lull_bundle_peer_look look;

	for (uint32_t i = 0; i < ep->domain->settings.peers_max && good; i++)
		if (lull_channel_peer_look(ep->channel, i, &look) == 0 && look.path_count > 0)
			good = report_element(json, "/lull/channel_paths", i, &first);
	return good && report_add("]}", 2);
}

static bool
report_endpoint(struct lull_fi_ep *ep, struct lull_telemetry_json *json)
{
	char begin[64];
	int length =
		snprintf(begin, sizeof(begin), "%s{\"automatic\":%s",
			 report.used > 0 ? ",\n" : "\n", ep->domain->automatic ? "true" : "false");
	bool good = report_add(begin, (size_t)length);

	channel_telemetry(ep->channel);
	good = good && report_member(json, "/lull/channel", "channel") &&
	       report_member(json, "/lull/channel_rails", "rails") && report_peers(json) &&
	       report_paths(ep, json);
	channel_telemetry(NULL);
	return good;
}

/* ---- file ---- */

/* What starts the ranks of a job says which one this is. */
static const char *
report_rank(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					     "SLURM_PROCID" };
	const char *rank = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && rank == NULL; i++)
		rank = getenv(names[i]);
	return rank != NULL && rank[0] != '\0' && strspn(rank, "0123456789") == strlen(rank) ?
		       rank :
		       NULL;
}

/* %p is the process, %r the rank; without either a rank's file has its number behind it. */
static bool
report_path(const char *pattern, char *path, size_t size)
{
	const char *rank = report_rank();
	bool told = false;
	size_t used = 0;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	for (const char *at = pattern; *at != '\0' && used < size; at++) {
		const char *word = NULL;

		if (at[0] == '%' && (at[1] == 'p' || at[1] == 'r'))
			word = at[1] == 'p' || rank == NULL ? pid : rank;
		used += (size_t)snprintf(path + used, size - used, "%.*s",
					 word != NULL ? (int)strlen(word) : 1,
					 word != NULL ? word : at);
		told |= word != NULL;
		at += word != NULL;
	}
	if (!told && rank != NULL && used < size)
		used += (size_t)snprintf(path + used, size - used, ".%s", rank);
	return used < size;
}

static void
report_write(int file)
{
	char head[160];
	const char *rank = report_rank();
	int length = snprintf(head, sizeof(head),
			      REPORT_FIRST
			      "\"version\":\"%s\",\"process\":%d,\"rank\":%s,\"endpoints\":[",
			      LULL_VERSION, (int)getpid(), rank != NULL ? rank : "null");

	if (write(file, head, (size_t)length) != length ||
	    write(file, report.text, report.used) != (ssize_t)report.used ||
	    write(file, "\n]}\n", 4) != 4)
		LULL_FI_WARN("FI_LULL_REPORT: not all of it could be written: %s\n",
			     strerror(errno));
}

static void
report_save(const char *pattern)
{
	char path[2 * LULL_FI_PATH_SIZE];
	const char *why = "the name is too long";
	int file = -1;

	if (report_path(pattern, path, sizeof(path)))
		file = lull_report_file_open(path, REPORT_FIRST, &why);
	else
		path[0] = '\0';
	if (file < 0) {
		LULL_FI_WARN("FI_LULL_REPORT: %s: %s\n", path, why);
		return;
	}
	report_write(file);
	close(file);
}

void
lull_fi_report(struct lull_fi_ep *ep)
{
	const char *pattern = ep->domain->settings.report;
	struct lull_telemetry_json *json;
	size_t before;

	if (pattern[0] == '\0' || ep->channel == NULL)
		return;
	pthread_mutex_lock(&report.lock);
	if (report.forks != lull_fi_forks())
		report.used = 0;
	report.forks = lull_fi_forks();
	before = report.used;
	json = malloc(sizeof(*json));
	if (json != NULL && report_endpoint(ep, json)) {
		report_save(pattern);
	} else {
		report.used = before;
		LULL_FI_WARN("FI_LULL_REPORT: no memory\n");
	}
	free(json);
	pthread_mutex_unlock(&report.lock);
}

void
lull_fi_report_end(void)
{
	free(report.text);
	report.text = NULL;
	report.used = 0;
}
