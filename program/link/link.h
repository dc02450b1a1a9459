/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Link: the channel of a program, from its options to its part of the result.
 *
 * Programs with a channel have the same options about it, show the same over telemetry and write
 * the same about peers, paths and rails.
 * Threads: main thread; telemetry reads the channel, which any thread may look at.
 * Memory:  the caller's struct, which stays until lull_link_close().
 */
#ifndef LULL_LINK_H
#define LULL_LINK_H

#include <limits.h>
#include <stdio.h>

#include <lull/bundle.h>
#include <lull/channel.h>

#include "program/live/live.h"
#include "program/resting.h"
#include "program/rows.h"

struct lull_link_settings {
	char name[LULL_CHANNEL_NAME_SIZE];
	struct lull_option_list rails;
	char key_file[PATH_MAX];
	uint32_t security; /* enum lull_channel_security */
	uint16_t endpoint;
	uint32_t spread, control; /* index in lull_bundle_spreads, lull_bundle_controls */
	uint32_t governor;        /* index in lull_idle_governors */
	uint64_t max_latency_ns;
	uint64_t peer_timeout_ns;
	uint64_t wait_ns; /* for a node that is to be connected to */
	bool own_loop;
	struct lull_cpu_list cpu;
	char eal[512];
	bool check, unchecked;
};

/* Choices of the rows. */
extern const char *const lull_link_securities[];
const char *lull_link_spread_name(uint32_t index);
const char *lull_link_spread_help(uint32_t index);
const char *lull_link_control_name(uint32_t index);
const char *lull_link_control_help(uint32_t index);

/** Rows of all settings above; @p member is the struct. */
#define LULL_LINK_OPTIONS(member)                                                                  \
	LULL_ROW_LIST("rail", "RAIL", member.rails,                                                \
		      "One port of this node; repeat it for each, 16 at most: kernel:IF[,port=N] " \
		      "(UDP sockets, the thread sleeps in the kernel), kernel-busy:IF[,port=N] "   \
		      "(the same, polled), dpdk:DEVICE (a PCI address, a vdev, or af_packet=IF, "  \
		      "af_xdp=IF[,queue=N]), node:[SOCKET] (all rails of lull-channel-node), "     \
		      "node-busy:[SOCKET] (the same, polled).",                                    \
		      .group = "Channel"),                                                         \
		LULL_ROW_TEXT("name", "NAME", member.name,                                         \
			      "Name of this node: 1 to 31 printable characters without blanks.",   \
			      .value_help = "the host's name"),                                    \
		LULL_ROW_FILE("key-file", "FILE", member.key_file,                                 \
			      "Key that all nodes share; `lull channel key > FILE` makes one. "    \
			      "Nobody else may have the right to read it."),                       \
		LULL_ROW_CHOICE("security", member.security,                                       \
				"Protection of packets. sealed: encrypted and authenticated. "     \
				"signed: authenticated, readable by others. open: neither, "       \
				"without a key; keeps out accidents, not attackers.",              \
				.value = "sealed", .choices = lull_link_securities),               \
		LULL_ROW_COUNT("endpoint", "N", member.endpoint,                                   \
			       "Number of this program at its node, the same on both sides.",      \
			       .value = "0", .high = UINT16_MAX),                                  \
		LULL_ROW_CHOICE("spread", member.spread, "Rule that spreads packets over paths.",  \
				.value = "pull", .choice = lull_link_spread_name,                  \
				.choice_help = lull_link_spread_help),                             \
		LULL_ROW_CHOICE("control", member.control,                                         \
				"Congestion control: how much may be under way on a path.",        \
				.value = "delay", .choice = lull_link_control_name,                \
				.choice_help = lull_link_control_help),                            \
		LULL_ROW_TIME("peer-timeout", member.peer_timeout_ns,                              \
			      "Silence after which a node is given up.", .value = "10",            \
			      .unit = "s", .low = 100 * LULL_NS_PER_MS,                            \
			      .high = 3600 * LULL_NS_PER_S),                                       \
		LULL_ROW_TIME("wait", member.wait_ns,                                              \
			      "Longest wait for a node of --to to answer.", .value = "5",          \
			      .unit = "s", .high = 24 * 3600 * LULL_NS_PER_S),                     \
		LULL_ROW_BOOL("check", member.check,                                               \
			      "Print the self-check of rails and machine, with a remedy for each " \
			      "problem, and end.",                                                 \
			      .action = true),                                                     \
		LULL_ROW_BOOL("unchecked", member.unchecked,                                       \
			      "Start even if the self-check finds an error."),                     \
		LULL_ROW_TEXT("eal", "ARGUMENTS", member.eal,                                      \
			      "dpdk: further EAL arguments, split into words as in a shell."),     \
		LULL_GOVERNOR_OPTION(member.governor, .live = true, .value = "phase",              \
				     .group = "Resting"),                                          \
		LULL_CHANNEL_REST_OPTION(member.max_latency_ns,                                    \
					 "Longest rest of the thread that moves packets."),        \
		LULL_ROW_BOOL("own-loop", member.own_loop,                                         \
			      "Move packets on the program's own thread, not on another one."),    \
		LULL_CPUS_OPTION(member.cpu, "cpu", "CPU of the thread that moves packets.",       \
				 "any")

/** An open channel and what the program keeps beside it. */
struct lull_link {
	struct lull_channel *channel;
	const struct lull_link_settings *settings;
	struct lull_live live;
	struct lull_loop *loop; /* of the channel's thread; NULL: it has none */
	bool telemetry_runs;
};

/** What rows cannot say about each other. 0 or -EINVAL and the sentence. */
int lull_link_settings_check(const struct lull_link_settings *settings, struct lull_error *error);
/** Open the channel; says on stderr that security `open` protects nothing. */
int lull_link_open(struct lull_link *link, const struct lull_run *run,
		   const struct lull_link_settings *settings, struct lull_error *error);
/** Open it, print the self-check, close it; -EPERM and the sentence when something is wrong. */
int lull_link_check_print(const struct lull_run *run, const struct lull_link_settings *settings,
			  FILE *out, struct lull_error *error);
/**
 * Start the channel and telemetry. Without telemetry the program goes on, and a line on stderr
 * says so.
 * @param apply  as struct lull_live has it
 */
int lull_link_start(struct lull_link *link, struct lull_run *run,
		    int (*apply)(void *state, const struct lull_live_change *change,
				 struct lull_error *error),
		    struct lull_error *error);
/**
 * Connect to a node by its name, within the time of --wait.
 * @return 0, -ETIMEDOUT, -EINTR: a signal came; or that of lull_channel_connect(); and the sentence
 */
int lull_link_connect(struct lull_link *link, struct lull_run *run, const char *name,
		      uint32_t *peer, struct lull_error *error);
/** For @p apply: governor and max-latency of a change. */
int lull_link_change(struct lull_link *link, const struct lull_live_change *change,
		     const struct lull_link_settings *changed, struct lull_error *error);
/** End telemetry and the channel; what was accepted is sent for at most @p linger_ns. */
void lull_link_close(struct lull_link *link, uint64_t linger_ns);

/** Counters of the bundle and its rails, into a result. */
void lull_link_result(const struct lull_link *link, json_t *result);
/** A peer and its paths at some time; paths that are not there have the state NONE. */
struct lull_link_look {
	struct lull_bundle_peer_look peer;
	struct lull_bundle_path_look paths[LULL_BUNDLE_PATHS_MAX];
};
/** Look at a peer. One that has gone leaves @p look as it is: what was seen last stays. */
void lull_link_look(struct lull_channel *channel, uint32_t peer, struct lull_link_look *look);
/** Counters of a path from @p begin (NULL: ever) to @p end. */
struct lull_bundle_path_counters lull_link_since(const struct lull_bundle_path_look *begin,
						 const struct lull_bundle_path_look *end);
/** A peer and its paths as JSON, from one look (NULL: ever) to another. */
json_t *lull_link_peer_result(const struct lull_link_look *begin, const struct lull_link_look *end);
/** Version of DPDK, "" where no rail needs it. */
const char *lull_link_dpdk(void);

#endif
