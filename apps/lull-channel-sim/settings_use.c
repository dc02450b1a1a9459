/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "settings.h"

#define MESSAGE_BYTES (1u << 20)
#define PING_BYTES 64
#define MESSAGES_MIN 256            /* default of the bundle */
#define UNTOLD_RING_PKTS (1u << 20) /* of which no window takes a noticeable part */

static int
settings_fault(const struct channel_sim_settings *settings, struct lull_sim_channel_config *config,
	       const struct channel_sim_events *events, enum lull_sim_channel_fault_type type,
	       struct lull_error *error)
{
	for (uint32_t i = 0; i < events->count; i++) {
		struct lull_sim_channel_fault fault = {
			.at_ns = events->items[i].at_ns,
			.type = type,
			.node = LULL_SIM_CHANNEL_ANY,
			.rail = events->items[i].rail,
			.value = events->items[i].value,
		};
		uint32_t place = config->fault_count;

		if (fault.rail >= settings->rails.count)
			return lull_error_set(error, -EINVAL,
					      "rail %u: --rails names %u, counted from 0",
					      fault.rail, settings->rails.count);
		if (place == LULL_SIM_CHANNEL_FAULTS_MAX)
			return lull_error_set(error, -EINVAL, "more than %d faults of rails",
					      LULL_SIM_CHANNEL_FAULTS_MAX);
		for (; place > 0 && config->faults[place - 1].at_ns > fault.at_ns; place--)
			config->faults[place] = config->faults[place - 1];
		config->faults[place] = fault;
		config->fault_count++;
	}
	return 0;
}

static void
settings_job(const struct channel_sim_settings *settings, struct lull_sim_channel_job *job)
{
	static const enum lull_sim_channel_job_type types[] = {
		[CHANNEL_SIM_BANDWIDTH] = LULL_SIM_CHANNEL_STREAM,
		[CHANNEL_SIM_LATENCY] = LULL_SIM_CHANNEL_PING,
		[CHANNEL_SIM_INCAST] = LULL_SIM_CHANNEL_STREAM,
		[CHANNEL_SIM_PERIODIC] = LULL_SIM_CHANNEL_PERIODIC,
	};

	job->type = types[settings->job];
	job->message_bytes = settings->message;
	if (settings->message == 0)
		job->message_bytes =
			settings->job == CHANNEL_SIM_LATENCY ? PING_BYTES : MESSAGE_BYTES;
	job->under_way = settings->under_way;
	job->period_ns = settings->period_ns;
	job->burst_ns = settings->burst_ns;
}

static int
settings_nodes(const struct channel_sim_settings *settings, struct lull_error *error)
{
	if (settings->job == CHANNEL_SIM_INCAST && settings->nodes < 3)
		return lull_error_set(error, -EINVAL, "nodes: incast needs 3 or more");
	if (settings->job != CHANNEL_SIM_INCAST && settings->nodes > 2)
		return lull_error_set(error, -EINVAL,
				      "nodes: only incast uses more than 2; say --job incast");
	return 0;
}

static int
settings_rests(const struct channel_sim_settings *settings, struct lull_sim_channel_config *config,
	       struct lull_error *error)
{
	if (settings->heedless && settings->governor == CHANNEL_SIM_STEADY)
		return lull_error_set(error, -EINVAL,
				      "heedless: it is the governor that decides alone; choose "
				      "one, such as --governor kalman");
	if (settings->governor != CHANNEL_SIM_STEADY && settings->rest_ns > 0 &&
	    settings->rest_ns < LULL_NS_PER_US)
		return lull_error_set(error, -EINVAL,
				      "rest: a governor takes 1 us or more; 0: loops poll");
	if (settings->event_rests && settings->governor != CHANNEL_SIM_STEADY)
		return lull_error_set(error, -EINVAL,
				      "event-rests: where packets end rests no governor decides; "
				      "leave --governor at steady");
	config->rest_ns = settings->rest_ns;
	if (settings->governor != CHANNEL_SIM_STEADY)
		config->governor = lull_idle_governors[settings->governor - 1];
	config->heedless_rests = settings->heedless;
	config->silent_rests = !settings->announce;
	config->event_rests = settings->event_rests;
	return 0;
}

/* Room for twice what is under way: messages wait there for their acknowledgement as well. */
static uint32_t
settings_messages(const struct channel_sim_settings *settings)
{
	uint32_t room = MESSAGES_MIN;

	while (room < 2 * settings->under_way && room < LULL_SIM_CHANNEL_UNDER_WAY_MAX)
		room *= 2;
	return room;
}

int
channel_sim_settings_config(const struct channel_sim_settings *settings,
			    struct lull_sim_channel_config *config, struct lull_error *error)
{
	int rc = settings_nodes(settings, error);

	if (rc != 0)
		return rc;
	lull_sim_channel_preset(config, settings->nodes, settings->rails.count, 0);
	for (uint32_t n = 0; n < settings->nodes; n++)
		for (uint32_t r = 0; r < settings->rails.count; r++) {
			struct lull_sim_channel_rail *rail = &config->nodes[n].rails[r];

			rail->rate_bps = settings->rails.rates_bps[r];
			rail->packet_bytes = settings->packet_bytes;
			rail->ring_pkts = settings->ring;
			rail->wire = settings->wire;
		}
	settings_job(settings, &config->job);
	config->bundle.spread = lull_bundle_spreads[settings->spread];
	config->bundle.control = lull_bundle_controls[settings->control];
	config->bundle.fixed_window_pkts = settings->window;
	config->machine = &lull_sim_machines[settings->machine];
	config->bundle.messages_max = settings_messages(settings);
	config->told_ring_pkts = settings->rail_credit ? 0 : UNTOLD_RING_PKTS;
	rc = settings_rests(settings, config, error);
	if (rc != 0)
		return rc;
	config->seed = settings->seed;
	config->warmup_ns = settings->warmup_ns;
	config->calm_ns = settings->warmup_ns + settings->time_ns;
	/* what the user asked for may end connections and fill rings: that is a result */
	config->may_fall = settings->kill.count > 0 || settings->wire.fade_ppm > 0;
	config->may_overflow = settings->wire.duplicate_ppm > 0 || !settings->rail_credit;
	rc = settings_fault(settings, config, &settings->kill, LULL_SIM_CHANNEL_SILENT, error);
	if (rc == 0)
		rc = settings_fault(settings, config, &settings->back, LULL_SIM_CHANNEL_RETURN,
				    error);
	if (rc == 0)
		rc = settings_fault(settings, config, &settings->speed, LULL_SIM_CHANNEL_RATE,
				    error);
	return rc;
}
