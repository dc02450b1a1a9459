/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gen.h"

static int
control_post(struct gen *gen, const struct lull_arrival_config *arrival)
{
	const struct lull_traffic_command command = { .arrival = *arrival };

	return lull_loop_post_stage(gen->loop, &command, sizeof(command));
}

/* Why nothing can be changed, NULL when it can. */
static const char *
control_refusal(const struct gen *gen)
{
	if (gen->settings.rx_only)
		return "rx-only sends nothing";
	return gen->replay != NULL ? "a replay keeps to its file" : NULL;
}

static int
control_change(struct gen *gen, const char *assignment, struct lull_error *error)
{
	struct gen_settings settings = gen->settings;
	char loop[LULL_OPTION_LOOP_MAX];
	int rc;

	rc = lull_options_change(gen_program.options, &settings, assignment, loop, error);
	if (rc != 0)
		return rc;
	if (loop[0] != '\0' && strcmp(loop, lull_loop_name(gen->loop)) != 0)
		return lull_error_set(error, -ENOENT, "no loop '%.*s', there is %s",
				      LULL_ERROR_SHOWN, loop, lull_loop_name(gen->loop));
	if (control_refusal(gen) != NULL)
		return lull_error_set(error, -EPERM, "traffic: %s", control_refusal(gen));
	rc = control_post(gen, &settings.arrival);
	if (rc != 0)
		return lull_error_set(error, rc,
				      "traffic: the loop has not yet taken the change "
				      "before, try again");
	gen->settings = settings;
	return 0;
}

static int
control_set(void *arg, const char *assignment, char *text, size_t text_size)
{
	struct lull_error error = { .text = "" };
	struct gen *gen = arg;
	int rc;

	pthread_mutex_lock(&gen->lock);
	rc = control_change(gen, assignment, &error);
	pthread_mutex_unlock(&gen->lock);
	if (rc != 0)
		snprintf(text, text_size, "%s", error.text);
	return rc;
}

static void
control_settings(void *arg, void (*put)(void *put_arg, const char *key, const char *value),
		 void *put_arg)
{
	const struct lull_option *option = gen_program.options;
	char text[LULL_OPTION_VALUE_TEXT];
	struct gen *gen = arg;

	pthread_mutex_lock(&gen->lock);
	for (; option->key != NULL; option++)
		if (option->live)
			put(put_arg, option->key,
			    lull_option_print(option, &gen->settings, text, sizeof(text)));
	pthread_mutex_unlock(&gen->lock);
}

static void
control_traffic(void *arg, const struct lull_loop *loop,
		void (*put)(void *put_arg, const char *key, uint64_t value), void *put_arg)
{
	(void)arg;
	lull_traffic_report(lull_loop_stage_state(loop), put, put_arg);
}

static const struct lull_histogram *
control_latency(void *arg, const struct lull_loop *loop)
{
	(void)arg;
	return lull_traffic_histogram(lull_loop_stage_state(loop), LULL_TRAFFIC_LATENCY);
}

void
gen_control_init(struct gen *gen)
{
	gen->telemetry = (struct lull_telemetry_config){
		.program = gen_program.name,
		.version = gen_program.version,
		.loops = gen->loops,
		.loop_count = 1,
		.set = control_set,
		.settings = control_settings,
		.traffic = control_traffic,
		.latency = control_latency,
		.arg = gen,
	};
}

void
gen_control_off(struct gen *gen)
{
	const struct timespec moment = { .tv_nsec = (long)LULL_NS_PER_MS };
	struct lull_arrival_config arrival;

	pthread_mutex_lock(&gen->lock);
	arrival = gen->settings.arrival;
	arrival.kind = LULL_ARRIVAL_OFF;
	while (control_post(gen, &arrival) == -EAGAIN)
		nanosleep(&moment, NULL);
	pthread_mutex_unlock(&gen->lock);
}
