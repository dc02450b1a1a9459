/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "flow.h"

#define LIVE_ACTIVE_NS (300 * LULL_NS_PER_S)
#define LIVE_LATE_NS LULL_NS_PER_S
#define LIVE_HALF_OPEN_RATE 10000
#define LATE_NS_MIN (100 * LULL_NS_PER_MS)
#define ACTIVE_NS_MAX (86400 * LULL_NS_PER_S)

void
flow_preset(void *presets)
{
	struct flow_settings *settings = presets;

	settings->scheduler = FLOW_NOT_CHOSEN;
	settings->resting.governor = FLOW_NOT_CHOSEN;
	settings->seed = FLOW_SEED_NOT_CHOSEN;
	settings->active_ns = UINT64_MAX;
	settings->late_ns = UINT64_MAX;
	settings->half_open_rate = FLOW_NOT_CHOSEN;
	settings->ipfix_totals_ns = UINT64_MAX;
	settings->identify = lull_identify_version() != NULL;
}

/* Is there something that a dispatcher is needed for, whatever the scheduler? */
static bool
settings_dispatches(const struct flow_settings *settings)
{
	return !flow_settings_whole(settings) || settings->shadow > 0 || settings->trace[0] != '\0';
}

/* A loop that polls keeps others off its CPU; one that sleeps lets them work. */
void
flow_settings_choose_governor(struct flow_settings *settings, bool shared)
{
	const struct lull_idle_governor *governor =
		lull_idle_governor_find(shared ? "ramp" : "objective");

	if (settings->resting.governor != FLOW_NOT_CHOSEN)
		return;
	settings->resting.governor = 0;
	while (lull_idle_governors[settings->resting.governor] != governor)
		settings->resting.governor++;
}

/*
 * Files wait for whoever is slow, so no flow needs to move: by hrw workers read them side by side.
 * All other inputs have loads to be balanced.
 */
static void
settings_choose_scheduler(struct flow_settings *settings)
{
	const struct lull_scheduler *scheduler =
		lull_scheduler_find(settings_dispatches(settings) ? "sticky" : "hrw");

	if (settings->scheduler != FLOW_NOT_CHOSEN)
		return;
	settings->scheduler = 0;
	while (lull_schedulers[settings->scheduler] != scheduler)
		settings->scheduler++;
}

bool
flow_settings_from_files(const struct flow_settings *settings)
{
	return settings->pcap.count > 0;
}

bool
flow_settings_bare(const struct flow_settings *settings)
{
	return flow_settings_from_files(settings) && !flow_settings_has_output(settings) &&
	       flow_settings_ports(settings) == 0 && settings->devices.eal[0] == '\0';
}

bool
flow_settings_whole(const struct flow_settings *settings)
{
	return flow_settings_bare(settings) && settings->aggregators == 1;
}

bool
flow_settings_undispatched(const struct flow_settings *settings)
{
	return !settings_dispatches(settings) &&
	       !lull_scheduler_splits(flow_settings_scheduler(settings));
}

bool
flow_settings_has_output(const struct flow_settings *settings)
{
	return settings->output.wanted || settings->order == LULL_ORDER_RESEQUENCE;
}

const struct lull_scheduler *
flow_settings_scheduler(const struct flow_settings *settings)
{
	return lull_schedulers[settings->scheduler];
}

const struct lull_scheduler *
flow_settings_shadow(const struct flow_settings *settings)
{
	return settings->shadow > 0 ? lull_schedulers[settings->shadow - 1] : NULL;
}

struct lull_dispatch_config
flow_settings_dispatch(const struct flow_settings *settings)
{
	return (struct lull_dispatch_config){
		.scheduler = flow_settings_scheduler(settings),
		.shadow = flow_settings_shadow(settings),
		.order = (enum lull_order)settings->order,
		.worker_count = settings->workers,
		.threshold_ppm = lull_resting_ppm(settings->threshold),
		.enter_ppm = lull_resting_ppm(settings->enter),
		.leave_ppm = lull_resting_ppm(settings->leave),
		/* A bucket is forgotten no sooner than its flow, or parts of it would be missed. */
		.idle_ns = settings->idle_ns,
		.pin_pkts = settings->identify ? settings->pin : 0,
		.weights = (enum lull_weights)settings->weights,
	};
}

/* ---- what rows cannot say about each other ---- */

static int
check_input(const struct flow_settings *settings, struct lull_error *error)
{
	uint32_t ports = flow_settings_ports(settings);

	if (!flow_settings_from_files(settings) && ports == 0)
		return lull_error_set(error, -EINVAL,
				      "no input: name a capture file with --pcap, or a port with "
				      "--vdev or --pci");
	if (flow_settings_from_files(settings) && settings->io > 1)
		return lull_error_set(error, -EINVAL, "io: files are read by one thread");
	if (settings->output.wanted && settings->output.port_index >= ports)
		return lull_error_set(error, -EINVAL, "output: there is no port %u, ports: %u",
				      settings->output.port_index, ports);
	if (flow_settings_from_files(settings) && ports > (settings->output.wanted ? 1u : 0u))
		return lull_error_set(error, -EINVAL,
				      "pcap: packets come from files or from ports, not from both; "
				      "a single port may take the --output");
	return 0;
}

static int
check_flows(const struct flow_settings *settings, struct lull_error *error)
{
	if (settings->active_ns > 0 &&
	    (settings->active_ns < LULL_NS_PER_S || settings->active_ns > ACTIVE_NS_MAX))
		return lull_error_set(error, -EINVAL, "active-timeout: it is 0 or 1 s to 24 h");
	if (settings->late_ns > 0 &&
	    (settings->late_ns < LATE_NS_MIN || settings->late_ns > ACTIVE_NS_MAX))
		return lull_error_set(error, -EINVAL, "late-timeout: it is 0 or 100 ms to 24 h");
	if (settings->late_ns > 0 && flow_settings_from_files(settings))
		return lull_error_set(error, -EINVAL,
				      "late-timeout: with files records wait for every worker");
	if (settings->identify && lull_identify_version() == NULL)
		return lull_error_set(error, -ENOTSUP,
				      "identify: lull was built without nDPI (libndpi-dev)");
	return 0;
}

static bool
check_names(const struct lull_option_list *list, const char *word)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i], word) == 0)
			return true;
	}
	return false;
}

/* Results and lists of processes show what options say. */
static int
check_secrets(const struct flow_settings *settings, struct lull_error *error)
{
	static const char *const secrets[] = { "password", "secret", ".pem", "oauthbearer.config" };

	for (uint32_t i = 0; i < settings->kafka_properties.count; i++) {
		const char *property = settings->kafka_properties.items[i];
		size_t len = strcspn(property, "=");

		for (size_t s = 0; s < sizeof(secrets) / sizeof(*secrets); s++) {
			const char *at = strstr(property, secrets[s]);

			if (at != NULL && at < property + len)
				return lull_error_set(error, -EINVAL,
						      "kafka-property: %.*s is a secret; write it "
						      "into a file for --kafka-properties",
						      (int)len, property);
		}
	}
	return 0;
}

static int
check_export(const struct flow_settings *settings, struct lull_error *error)
{
	struct flow_sink_settings sink;
	struct flow_sink_list list;
	int rc = check_secrets(settings, error);

	if (rc == 0)
		rc = flow_sink_settings_make(settings, &list, &sink, error);
	if (rc == 0)
		rc = flow_sink_check(&sink, error);
	if (rc == 0 && strcmp(settings->json, "-") == 0 && check_names(&settings->records, "-"))
		rc = lull_error_set(error, -EINVAL, "json: stdout is taken by --records");
	return rc;
}

int
flow_check(void *state, struct lull_error *error)
{
	struct flow *flow = state;
	struct flow_settings *settings = &flow->settings;
	int rc;

	if (settings->replay[0] != '\0')
		return 0;
	rc = lull_user_find(settings->user, &flow->user, error);
	if (rc != 0)
		return rc;
	settings_choose_scheduler(settings);
	if (settings->active_ns == UINT64_MAX)
		settings->active_ns = flow_settings_from_files(settings) ? 0 : LIVE_ACTIVE_NS;
	if (settings->late_ns == UINT64_MAX)
		settings->late_ns = flow_settings_from_files(settings) ? 0 : LIVE_LATE_NS;
	if (settings->half_open_rate == FLOW_NOT_CHOSEN)
		settings->half_open_rate =
			flow_settings_from_files(settings) ? 0 : LIVE_HALF_OPEN_RATE;
	if ((settings->ring & (settings->ring - 1)) != 0)
		return lull_error_set(error, -EINVAL, "ring: %u is not a power of two",
				      settings->ring);
	if (settings->enter > 0 && settings->leave > settings->enter)
		return lull_error_set(error, -EINVAL,
				      "sticky-leave: it must not be above sticky-enter");
	rc = check_input(settings, error);
	if (rc == 0)
		rc = check_flows(settings, error);
	return rc == 0 ? check_export(settings, error) : rc;
}

int
flow_replay(void *state, bool *done, struct lull_error *error)
{
	const struct flow_settings *settings = &((struct flow *)state)->settings;

	*done = settings->replay[0] != '\0';
	if (!*done)
		return 0;
	return flow_decisions_replay(
		settings->replay,
		settings->scheduler != FLOW_NOT_CHOSEN ? flow_settings_scheduler(settings) : NULL,
		error);
}
