/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Settings: what lull-flow can be told, and the table that tells it.
 *
 * Threads: plain data. Memory: the caller's struct.
 */
#ifndef LULL_FLOW_SETTINGS_H
#define LULL_FLOW_SETTINGS_H

#include <lull/pipeline.h>

#include "program/cpus.h"
#include "program/options.h"
#include "program/resting.h"
#include "program/rows.h"

#define FLOW_PATH_SIZE 4096
#define FLOW_FILTER_SIZE 1024
#define FLOW_USER_SIZE 128
/* Of scheduler and governor: the program decides. */
#define FLOW_NOT_CHOSEN UINT32_MAX
#define FLOW_SEED_NOT_CHOSEN UINT64_MAX

/** Where packets go behind the workers. */
struct flow_way_out {
	bool wanted; /* an output loop sends to ... */
	uint16_t port_index;
};

struct flow_settings {
	struct lull_option_list pcap;
	struct lull_devices devices;
	bool keep_going;
	char filter[FLOW_FILTER_SIZE]; /* "": none */
	uint32_t mtu;                  /* 0: as it is */

	uint32_t io, workers, aggregators;
	struct lull_cpu_list cpus;

	uint32_t scheduler;  /* index in lull_schedulers */
	uint32_t shadow;     /* that plus one, 0: none */
	uint32_t order;      /* enum lull_order */
	double threshold;    /* percent */
	double enter, leave; /* percent, 0: from what is measured */
	uint32_t pin;
	uint32_t weights; /* enum lull_weights */
	uint64_t seed;    /* FLOW_SEED_NOT_CHOSEN until flow_open() */
	uint32_t ring, burst, flush_burst;
	uint64_t flush_ns;
	uint64_t resequence_delay_ns;
	uint32_t resequence_window;
	struct flow_way_out output;

	uint64_t idle_ns;
	uint64_t active_ns; /* UINT64_MAX until flow_check() */
	uint64_t closed_ns;
	uint64_t late_ns; /* the same */
	uint32_t flows_max, payload_bytes;
	uint32_t half_open_rate; /* FLOW_NOT_CHOSEN until flow_check() */
	uint32_t prefix4, prefix6;
	bool inner, identify;
	uint64_t fragment_wait_ns;
	uint32_t key; /* LULL_FLOW_KEY_... */

	struct lull_option_list records, ipfix, kafka;
	bool facts;
	uint32_t observation_point; /* 0: not told */
	uint32_t export_rate;       /* 0: by what waits */
	uint32_t export_queue_bytes;
	uint64_t export_timeout_ns;
	uint64_t rotate_ns, rotate_bytes; /* 0: never */
	uint32_t ipfix_domain, ipfix_enterprise, ipfix_message_bytes;
	uint64_t ipfix_template_ns;
	uint64_t ipfix_totals_ns; /* UINT64_MAX: by the kind of destination */
	struct lull_option_list kafka_properties;
	char kafka_file[FLOW_PATH_SIZE];

	struct lull_resting resting;

	char trace[FLOW_PATH_SIZE], replay[FLOW_PATH_SIZE];
	char user[FLOW_USER_SIZE]; /* "": as it was started */
	uint64_t duration_ns, stats_ns, worker_delay_ns;
	char json[FLOW_PATH_SIZE];
};

extern const struct lull_option flow_options[];

/** Ports named by the user. */
static inline uint32_t
flow_settings_ports(const struct flow_settings *settings)
{
	return settings->devices.vdev.count + settings->devices.pci.count;
}
/** Are packets read from files? */
bool flow_settings_from_files(const struct flow_settings *settings);
/** Is nothing of DPDK needed: no ports, no output loop, no arguments for it? */
bool flow_settings_bare(const struct flow_settings *settings);
/** Does one thread do all that further workers do not? */
bool flow_settings_whole(const struct flow_settings *settings);
/** May workers read captures themselves? A dispatcher sees all packets, one after the other. */
bool flow_settings_undispatched(const struct flow_settings *settings);
/** Does an output loop run? */
bool flow_settings_has_output(const struct flow_settings *settings);
const struct lull_scheduler *flow_settings_scheduler(const struct flow_settings *settings);
/** Governor that was chosen, or one that suits threads which share CPUs, or do not. */
void flow_settings_choose_governor(struct flow_settings *settings, bool shared);
/** NULL: none. */
const struct lull_scheduler *flow_settings_shadow(const struct flow_settings *settings);
/** What the dispatchers are to do; worker_count is filled in. */
struct lull_dispatch_config flow_settings_dispatch(const struct flow_settings *settings);

#endif
