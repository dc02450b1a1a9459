/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <lull/rest.h>

#include "net/module.h"
#include "node.h"
#include "program/result.h"

/* A signal is seen after so long at the latest. */
#define RUN_STEP_MS 20
#define RUN_FINDINGS 64

int
node_check(void *state, struct lull_error *error)
{
	return node_settings_check(&((struct node *)state)->settings, error);
}

/* ---- rails ---- */

static int
run_rail(struct node *node, const char *text, struct lull_error *error)
{
	const struct channel_rail_config config = { .program = "lull-channel-node",
						    .eal = node->settings.eal[0] != '\0' ?
								   node->settings.eal :
								   NULL,
						    .unchecked = node->settings.unchecked,
						    .switched = true };
	struct node_rail *rail = &node->loop.to.rails[node->loop.to.rail_count];
	int rc = channel_rail_open(&config, text, &rail->rail, error);

	if (rc != 0)
		return rc;
	node->loop.to.rail_count++;
	rail->by_number = calloc(UINT16_MAX + 1, sizeof(*rail->by_number));
	return rail->by_number != NULL ? 0 : lull_error_set(error, -ENOMEM, "no memory for a rail");
}

static int
run_rails(struct node *node, struct lull_error *error)
{
	const struct lull_option_list *rails = &node->settings.rails;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < rails->count; i++)
		rc = run_rail(node, rails->items[i], error);
	return rc;
}

static void
run_rails_close(struct node *node)
{
	for (uint32_t i = 0; i < node->loop.to.rail_count; i++) {
		channel_rail_close(node->loop.to.rails[i].rail);
		free(node->loop.to.rails[i].by_number);
	}
	node->loop.to.rail_count = 0;
}

static uint32_t
run_findings(struct node *node, struct lull_finding *lines)
{
	struct lull_findings found = { .lines = lines, .count_max = RUN_FINDINGS };

	for (uint32_t i = 0; i < node->loop.to.rail_count; i++) {
		const struct channel_rail *rail = node->loop.to.rails[i].rail;
		struct channel_rail_facts facts;

		rail->way->facts(rail->state, &facts);
		lull_finding_add(&found, "link", facts.up ? LULL_GRADE_FINE : LULL_GRADE_NOTE,
				 "%.80s: %s, %u Mb/s (0: not told), packets of %u bytes",
				 rail->text, facts.up ? "up" : "the link is down", facts.mbps,
				 rail->bundle.packet_bytes);
		if (!facts.up)
			lull_finding_remedy(&found, "plug it in, or ip link set dev IF up");
		if (rail->bundle.packet_bytes < LULL_BUNDLE_PACKET_BYTES_MIN) {
			lull_finding_add(&found, "MTU", LULL_GRADE_WRONG, "%.80s: %u bytes",
					 rail->text, facts.mtu_bytes);
			lull_finding_remedy(&found, "ip link set dev IF mtu 1500");
		}
		if (rail->way->check != NULL)
			rail->way->check(rail->state, &found);
	}
	return LULL_MIN(found.count, (uint32_t)RUN_FINDINGS);
}

int
node_instead(void *state, bool *done, struct lull_error *error)
{
	static struct lull_finding lines[RUN_FINDINGS];
	static const char *const grades[] = { "fine", "note", "WRONG" };
	struct node *node = state;
	uint32_t count, wrong = 0;
	int rc;

	*done = node->settings.check;
	if (!*done)
		return 0;
	rc = run_rails(node, error);
	count = rc == 0 ? run_findings(node, lines) : 0;
	for (uint32_t i = 0; i < count; i++) {
		printf("%-5s  %s: %s\n", grades[LULL_CLAMP(lines[i].grade, 0, 2)], lines[i].subject,
		       lines[i].text);
		if (lines[i].remedy[0] != '\0')
			printf("       -> %s\n", lines[i].remedy);
		wrong += lines[i].grade >= LULL_GRADE_WRONG;
	}
	run_rails_close(node);
	if (rc == 0 && wrong > 0)
		rc = lull_error_set(error, -EPERM,
				    "%u of %u findings are wrong: packets would be lost", wrong,
				    count);
	return rc;
}

static int
run_checked(struct node *node, struct lull_error *error)
{
	static struct lull_finding lines[RUN_FINDINGS];
	uint32_t count = node->settings.unchecked ? 0 : run_findings(node, lines);

	for (uint32_t i = 0; i < count; i++)
		if (lines[i].grade == LULL_GRADE_WRONG)
			return lull_error_set(error, -EPERM, "%s: %.120s; %.100s", lines[i].subject,
					      lines[i].text, lines[i].remedy);
	return 0;
}

/* ---- open and close ---- */

int
node_open(void *state, struct lull_error *error)
{
	struct node *node = state;
	int rc;

	pthread_mutex_init(&node->loop.to.lock, NULL);
	node->server = (struct node_server){ .loop = &node->loop, .listen_fd = -1, .lock_fd = -1 };
	node->loop.kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	node->loop.told_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (node->loop.kick_fd < 0 || node->loop.told_fd < 0)
		return lull_error_set(error, -errno, "no eventfd: %s", strerror(errno));
	node->loop.to.neighbours_max = node->settings.neighbours;
	rc = run_rails(node, error);
	if (rc == 0)
		rc = run_checked(node, error);
	return rc == 0 ? node_serve_open(&node->server, node->settings.socket, error) : rc;
}

void
node_close(void *state)
{
	const struct lull_net_module *module = lull_net_module_loaded();
	struct node *node = state;

	if (node->telemetry_runs && module != NULL)
		module->telemetry_stop();
	else if (node->telemetry_runs)
		lull_telemetry_stop();
	node_loop_stop(&node->loop);
	node_serve_close(&node->server);
	run_rails_close(node);
	if (node->loop.kick_fd >= 0)
		close(node->loop.kick_fd);
	if (node->loop.told_fd >= 0)
		close(node->loop.told_fd);
	pthread_mutex_destroy(&node->loop.to.lock);
}

/* ---- run ---- */

static int
run_change(void *state, const struct lull_live_change *change, struct lull_error *error)
{
	struct node *node = state;

	if (change->loop[0] != '\0' && strcmp(change->loop, lull_loop_name(node->loops[0])) != 0)
		return lull_error_set(error, -ENOENT, "no loop '%.*s': the one loop is %s",
				      LULL_ERROR_SHOWN, change->loop,
				      lull_loop_name(node->loops[0]));
	return node_loop_change(&node->loop, change->settings, error);
}

static void
run_telemetry(struct node *node)
{
	const struct lull_net_module *module = lull_net_module_loaded();
	int rc;

	node->loops[0] = &node->loop.loop;
	node->live = (struct lull_live){
		.apply = run_change,
		.telemetry = { .loops = node->loops, .loop_count = 1 },
	};
	lull_live_describe(&node->live, &node->run);
	rc = module != NULL ? module->telemetry_start(&node->live.telemetry) :
			      lull_telemetry_start(&node->live.telemetry);
	node->telemetry_runs = rc == 0;
	if (rc != 0)
		fprintf(stderr,
			"lull-channel-node: no telemetry, lull top does not show this: %s\n",
			strerror(-rc));
}

static struct node_counters
run_counters(const struct node *node)
{
	struct node_counters now = { .rx_pkts = 0 };

	for (const struct lull_counter_info *row = node_counter_table; row->name != NULL; row++) {
		const char *from = (const char *)&node->loop.to.counters + row->offset;
		char *to = (char *)&now + row->offset;

		*(uint64_t *)(void *)to = LULL_COUNTER_READ(*(const uint64_t *)(const void *)from);
	}
	return now;
}

static uint32_t
run_ports(const struct node *node)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < node->loop.to.rail_count; i++)
		count += node->loop.to.rails[i].port_count;
	return count;
}

static void
run_progress(struct node *node, uint64_t now_ns)
{
	const struct node_counters now = run_counters(node), *last = &node->shown;
	double s = (double)(now_ns - node->shown_ns) / (double)LULL_NS_PER_S;

	fprintf(stderr,
		"%.1f s  %u attached  in %.0f/s  out %.0f/s  here %.0f/s  lost %" PRIu64 "\n",
		(double)(now_ns - node->run.begin_ns) / (double)LULL_NS_PER_S, run_ports(node),
		(double)(now.rx_pkts - last->rx_pkts) / s,
		(double)(now.tx_pkts - last->tx_pkts) / s,
		(double)(now.local_pkts - last->local_pkts) / s, now.full_pkts - last->full_pkts);
	node->shown = now;
	node->shown_ns = now_ns;
}

int
node_run(void *state, struct lull_error *error)
{
	struct node *node = state;
	int rc = node_loop_start(&node->loop, &node->settings, error);

	if (rc != 0)
		return rc;
	run_telemetry(node);
	lull_run_begin(&node->run);
	node->shown_ns = node->run.begin_ns;
	fprintf(stderr, "lull-channel-node: serving %u rails at %s\n", node->loop.to.rail_count,
		node->server.path);
	do {
		node_serve(&node->server, RUN_STEP_MS);
		if (lull_run_shows(&node->run, node->settings.stats_ns))
			run_progress(node, lull_clock_ns());
	} while (lull_run_wait(&node->run, 0, node->settings.duration_ns));
	node_loop_stop(&node->loop);
	lull_run_end(&node->run);
	return 0;
}

/* ---- result ---- */

void
node_result(void *state, json_t *result)
{
	const struct node *node = state;
	const struct node_counters counters = run_counters(node);
	json_t *rails = json_array();

	lull_result_put_count(result, "attached", node->server.attached);
	lull_result_put_count(result, "refused", node->server.refused);
	lull_result_put_table(result, node_counter_table, &counters);
	for (uint32_t i = 0; i < node->loop.to.rail_count; i++) {
		const struct channel_rail *rail = node->loop.to.rails[i].rail;
		json_t *object = json_object();

		lull_result_put_text(object, "rail", rail->text);
		lull_result_put_count(object, "missed_pkts", rail->way->missed(rail->state));
		json_array_append_new(rails, object);
	}
	json_object_set_new(result, "rails", rails);
}

const char *
node_dpdk(void)
{
	const struct lull_net_module *module = lull_net_module_loaded();

	return module != NULL ? module->dpdk_version() : "";
}
