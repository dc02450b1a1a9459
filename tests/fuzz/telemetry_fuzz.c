/* SPDX-License-Identifier: BSD-3-Clause */
/* Telemetry requests: what a client sends over the socket, and settings in it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "host/loop.h"
#include "host/telemetry_request.h"
#include "program/resting.h"
#include "fuzz.h"

#define LULL_SETTINGS struct settings

struct settings {
	struct lull_resting resting;
};
static const struct lull_option options[] = {
	LULL_RESTING_OPTIONS(resting, .value = "objective"),
	{ .key = NULL },
};
static struct settings settings;

/* ---- a program with one loop, which does not run ---- */

static void
receive_nothing(struct lull_loop *loop, struct lull_iteration *iteration)
{
	(void)loop;
	(void)iteration;
}

static void
audit_nothing(struct lull_loop *loop, bool last, struct lull_loss_charge *charge)
{
	(void)loop;
	(void)last;
	(void)charge;
}

static void
ignore(struct lull_loop *loop)
{
	(void)loop;
}

static uint64_t
iteration_nothing(void *state, uint64_t now_ns)
{
	(void)state;
	(void)now_ns;
	return 0;
}

static const struct lull_loop_source source = {
	.receive = receive_nothing,
	.begin = ignore,
	.end = ignore,
	.audit = audit_nothing,
	.kick = ignore,
};
static const struct lull_stage stage = { .name = "fuzz", .iterate = iteration_nothing };

static int
set(void *arg, const char *assignment, struct lull_error *error)
{
	struct settings copy = settings;
	char loop[LULL_OPTION_LOOP_MAX];
	int rc = lull_options_change(options, &copy, assignment, loop, error);

	(void)arg;
	if (rc == 0)
		settings = copy;
	return rc;
}

static void
settings_put(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
	     void *put_arg)
{
	char text[LULL_OPTION_LIST_TEXT];

	(void)arg;
	for (const struct lull_option *option = options; option->key != NULL; option++)
		put(put_arg, option->key, lull_option_print(option, &settings, text, sizeof(text)));
}

/* Its own command says the parameters again: any bytes become JSON. */
static void
echo(void *arg, const char *params, struct lull_telemetry_reply *reply)
{
	(void)arg;
	lull_telemetry_put_text(reply, "params", params != NULL ? params : "none");
}

static const struct lull_telemetry_command commands[] = {
	{ .name = "/fuzz/echo", .help = "The parameters. Parameters: TEXT", .reply = echo },
	{ .name = NULL },
};

static void *
memory(size_t size)
{
	size = (size + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	return memset(aligned_alloc(LULL_CACHE_LINE, size), 0, size);
}

static const struct lull_telemetry_config *
program(void)
{
	static struct lull_loop *loops[1];
	static const struct lull_telemetry_config config = {
		.program = "lull-fuzz",
		.version = "0",
		.loops = loops,
		.loop_count = 1,
		.set = set,
		.settings = settings_put,
		.commands = commands,
	};
	struct lull_loop_parts parts = {
		.name = "one0",
		.kind = "pretended",
		.cpu = -1,
		.burst_pkts = 32,
		.source = &source,
		.stage = &stage,
		.ways = lull_loop_ways,
		.governor = lull_idle_governor_find("fixed"),
		.sched_policy = LULL_SCHED_OTHER,
	};

	if (loops[0] == NULL) {
		loops[0] = memory(sizeof(*loops[0]));
		parts.idle_memory = memory(lull_idle_size());
		FUZZ_CHECK(lull_loop_init(loops[0], &parts) == 0);
	}
	return &config;
}

/* ---- one request ---- */

/* One line of JSON whose only member is the command, as far as it is shown. */
static void
check_reply(const struct lull_telemetry_json *json)
{
	json_t *reply;

	FUZZ_CHECK(json->used > 0 && json->used <= LULL_TELEMETRY_REPLY_BYTES);
	reply = json_loadb(json->bytes, json->used, JSON_DECODE_INT_AS_REAL, NULL);
	FUZZ_CHECK(reply != NULL && json_object_size(reply) == 1);
	json_decref(reply);
}

/* Requests with a line feed between them, to one program. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lull_telemetry_json json;
	const char *begin = (const char *)data, *end = begin + size;
	const struct lull_telemetry_config *config = program();

	settings = (struct settings){ .resting = { .percentile = 99 } };
	lull_telemetry_begin(config, &lull_telemetry_own_loops, "");
	while (begin < end) {
		const char *next = memchr(begin, '\n', (size_t)(end - begin));
		size_t length = (size_t)((next != NULL ? next : end) - begin);
		char *request = malloc(length + (length == 0));

		if (request == NULL)
			abort();
		memcpy(request, begin, length);
		if (lull_telemetry_request(request, length, config->version, &json))
			check_reply(&json);
		else
			FUZZ_CHECK(length == 0 || length > LULL_TELEMETRY_REQUEST_BYTES ||
				   memchr(request, '\0', length) != NULL);
		free(request);
		begin += length + 1;
	}
	lull_telemetry_end();
	return 0;
}
