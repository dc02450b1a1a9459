/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"

#include <errno.h>
#include <string.h>

#include <lull/rest.h>

#include "channel/telemetry.h"
#include "net/module.h"

#define FINDINGS_MAX 128
/* A signal is seen after so long while a node is looked for. */
#define LOOK_NS (LULL_NS_PER_S / 2)

const char *const lull_link_securities[] = { "sealed", "signed", "open", NULL };

/* ---- choices ---- */

const char *
lull_link_spread_name(uint32_t index)
{
	return lull_bundle_spreads[index] != NULL ?
		       lull_bundle_spread_name(lull_bundle_spreads[index]) :
		       NULL;
}

const char *
lull_link_spread_help(uint32_t index)
{
	return lull_bundle_spread_summary(lull_bundle_spreads[index]);
}

const char *
lull_link_control_name(uint32_t index)
{
	return lull_bundle_controls[index] != NULL ?
		       lull_bundle_control_name(lull_bundle_controls[index]) :
		       NULL;
}

const char *
lull_link_control_help(uint32_t index)
{
	return lull_bundle_control_summary(lull_bundle_controls[index]);
}

/* ---- settings ---- */

int
lull_link_settings_check(const struct lull_link_settings *settings, struct lull_error *error)
{
	bool open = settings->security == LULL_CHANNEL_OPEN;

	if (settings->rails.count == 0)
		return lull_error_set(error, -EINVAL,
				      "no rail: name the ports of this node, like --rail "
				      "kernel:eth0 --rail kernel:eth1");
	for (uint32_t i = 0; i < settings->rails.count; i++)
		if (strncmp(settings->rails.items[i], "pair:", 5) == 0)
			return lull_error_set(error, -EINVAL,
					      "rail %.*s: both ends of a pair are in one process; "
					      "name a port, like kernel:eth0",
					      LULL_ERROR_SHOWN, settings->rails.items[i]);
	if (settings->key_file[0] == '\0' && !open)
		return lull_error_set(
			error, -EINVAL,
			"no key: make one with `lull channel key > FILE`, give it to "
			"all nodes and name it with --key-file; --security open needs "
			"none, and protects nothing");
	if (settings->key_file[0] != '\0' && open)
		return lull_error_set(error, -EINVAL,
				      "security open uses no key: leave out --key-file or choose "
				      "sealed or signed");
	if (settings->cpu.count > 1)
		return lull_error_set(error, -EINVAL, "cpu: one thread moves packets, so one CPU");
	return 0;
}

static struct lull_channel_config
link_config(const struct lull_link_settings *settings)
{
	struct lull_channel_config config = {
		.name = settings->name[0] != '\0' ? settings->name : NULL,
		.rail_count = settings->rails.count,
		.key_file = settings->key_file[0] != '\0' ? settings->key_file : NULL,
		.security = (enum lull_channel_security)settings->security,
		.endpoint = settings->endpoint,
		.governor = lull_resting_governor_name(settings->governor),
		.max_latency_ns = settings->max_latency_ns,
		.spread = lull_link_spread_name(settings->spread),
		.control = lull_link_control_name(settings->control),
		.peer_timeout_ns = settings->peer_timeout_ns,
		.own_loop = settings->own_loop,
		.cpu = settings->cpu.count > 0 ? (int)settings->cpu.cpus[0] + 1 : 0,
		.unchecked = settings->unchecked,
		.eal = settings->eal[0] != '\0' ? settings->eal : NULL,
	};

	for (uint32_t i = 0; i < settings->rails.count; i++)
		config.rails[i] = settings->rails.items[i];
	return config;
}

/* ---- open, start, close ---- */

int
lull_link_open(struct lull_link *link, const struct lull_run *run,
	       const struct lull_link_settings *settings, struct lull_error *error)
{
	const struct lull_channel_config config = link_config(settings);

	link->settings = settings;
	if (settings->security == LULL_CHANNEL_OPEN)
		fprintf(stderr,
			"%s: security open: whoever reaches the rails can read, change and forge "
			"what is sent\n",
			run->program->name);
	return lull_channel_open(&config, &link->channel, error);
}

static int
link_findings_print(struct lull_channel *channel, FILE *out, struct lull_error *error)
{
	static const char *const grades[] = { "fine", "note", "WRONG" };
	static struct lull_finding lines[FINDINGS_MAX];
	uint32_t count = LULL_MIN(lull_channel_check(channel, lines, FINDINGS_MAX), FINDINGS_MAX);
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct lull_finding *line = &lines[i];

		fprintf(out, "%-5s  %s: %s\n", grades[LULL_CLAMP(line->grade, 0, 2)], line->subject,
			line->text);
		if (line->remedy[0] != '\0')
			fprintf(out, "       -> %s\n", line->remedy);
		wrong += line->grade >= LULL_GRADE_WRONG;
	}
	if (wrong > 0)
		return lull_error_set(error, -EPERM,
				      "%u of %u findings are wrong: packets would be lost", wrong,
				      count);
	return fflush(out) == 0 ? 0 : -EIO;
}

int
lull_link_check_print(const struct lull_run *run, const struct lull_link_settings *settings,
		      FILE *out, struct lull_error *error)
{
	struct lull_link link = { .channel = NULL };
	int rc = lull_link_open(&link, run, settings, error);

	if (rc == 0)
		rc = link_findings_print(link.channel, out, error);
	lull_link_close(&link, 0);
	return rc;
}

static int
link_telemetry(struct lull_link *link, struct lull_run *run, struct lull_error *error)
{
	const struct lull_net_module *module = lull_net_module_loaded();
	int rc;

	lull_live_describe(&link->live, run);
	rc = module != NULL ? module->telemetry_start(&link->live.telemetry) :
			      lull_telemetry_start(&link->live.telemetry);
	link->telemetry_runs = rc == 0;
	return rc == 0 ? 0 :
			 lull_error_set(error, rc,
					"no telemetry, lull channel top does not show this: %s",
					strerror(-rc));
}

int
lull_link_start(struct lull_link *link, struct lull_run *run,
		int (*apply)(void *state, const struct lull_live_change *change,
			     struct lull_error *error),
		struct lull_error *error)
{
	int rc = lull_channel_start(link->channel, error);

	if (rc != 0)
		return rc;
	link->loop = channel_loop(link->channel);
	link->live = (struct lull_live){
		.apply = apply,
		.telemetry = { .loops = &link->loop,
			       .loop_count = link->loop != NULL,
			       .commands = channel_commands },
	};
	channel_telemetry(link->channel);
	if (link_telemetry(link, run, error) != 0)
		fprintf(stderr, "%s: %s\n", run->program->name, error->text);
	return 0;
}

static bool
link_waits(int rc)
{
	return rc == -ETIMEDOUT || rc == -ECONNRESET;
}

int
lull_link_connect(struct lull_link *link, struct lull_run *run, const char *name, uint32_t *peer,
		  struct lull_error *error)
{
	uint64_t wait_ns = link->settings->wait_ns, begin_ns = lull_clock_ns(), passed_ns = 0;
	struct lull_error fell = { .text = "" };
	int rc;

	do {
		rc = lull_channel_connect(link->channel, name,
					  LULL_CLAMP(wait_ns - passed_ns, LULL_NS_PER_MS, LOOK_NS),
					  peer, error);
		passed_ns = lull_clock_ns() - begin_ns;
		/* It ended while it was asked: it may begin again, as one that is not there yet. */
		if (rc == -ECONNRESET)
			fell = *error;
		if (link_waits(rc) && lull_run_signal(run, 0) != 0) {
			run->end = "signal";
			return lull_error_set(error, -EINTR, "a signal came before %.*s answered",
					      LULL_ERROR_SHOWN, name);
		}
	} while (link_waits(rc) && passed_ns < wait_ns);
	if (link_waits(rc) && fell.text[0] != '\0')
		*error = fell;
	else if (rc == -ETIMEDOUT)
		lull_error_set(
			error, rc,
			"%.*s did not answer within %.1f s: it does not run, no rail of it is "
			"on the same link as one of ours, or it has another key",
			LULL_ERROR_SHOWN, name, (double)wait_ns / LULL_NS_PER_S);
	return rc;
}

int
lull_link_change(struct lull_link *link, const struct lull_live_change *change,
		 const struct lull_link_settings *changed, struct lull_error *error)
{
	if (change->loop[0] != '\0' &&
	    (link->loop == NULL || strcmp(change->loop, lull_loop_name(link->loop)) != 0))
		return lull_error_set(error, -ENOENT, "no loop '%.*s': the one loop is %s",
				      LULL_ERROR_SHOWN, change->loop,
				      link->loop != NULL ? lull_loop_name(link->loop) : "none");
	if (strcmp(change->option->key, "governor") == 0)
		return lull_channel_change(link->channel,
					   lull_resting_governor_name(changed->governor), 0, error);
	return lull_channel_change(link->channel, NULL, changed->max_latency_ns, error);
}

void
lull_link_close(struct lull_link *link, uint64_t linger_ns)
{
	const struct lull_net_module *module = lull_net_module_loaded();

	if (link->telemetry_runs && module != NULL)
		module->telemetry_stop();
	else if (link->telemetry_runs)
		lull_telemetry_stop();
	link->telemetry_runs = false;
	channel_telemetry(NULL);
	lull_channel_close(link->channel, linger_ns);
	link->channel = NULL;
}

const char *
lull_link_dpdk(void)
{
	const struct lull_net_module *module = lull_net_module_loaded();

	return module != NULL ? module->dpdk_version() : "";
}
