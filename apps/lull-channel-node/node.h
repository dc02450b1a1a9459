/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Node: the program that owns a node's rails and carries packets for its processes.
 *
 *     switch.c  packets between rails and processes     loop.c  the thread that moves them
 *     serve.c   who attaches, and who is gone           run.c   from settings to the result
 *
 * Threads: the main thread serves, the loop's thread moves packets; the lock of the switch is
 *          around what they share.
 */
#ifndef LULL_CHANNEL_NODE_NODE_H
#define LULL_CHANNEL_NODE_NODE_H

#include "host/loop.h"
#include "program/live/live.h"
#include "settings.h"
#include "switch.h"

#define NODE_ASKING_MAX 16 /* connected, and have not asked yet */
#define NODE_POLLS_MAX (LULL_CHANNEL_RAILS_MAX * CHANNEL_WATCH_MAX + NODE_PORTS_MAX + 1)

/** The thread that moves packets. */
struct node_loop {
	struct node_switch to;
	bool polled; /* a rail has no descriptor */
	int kick_fd;
	int told_fd; /* for the main thread: a port is broken */
	void *idle_memory;
	bool looped, runs;
	pthread_t thread;
	struct lull_loop loop;

	/* its rest */
	bool said; /* poll() has said something of the rails */
	uint32_t rail_polls, count, epoch;
	struct pollfd polls[NODE_POLLS_MAX];
	struct node_port *ports[NODE_PORTS_MAX]; /* behind those of the rails */
	uint64_t missed, missed_ns;
};

struct node_server {
	struct node_loop *loop;
	int listen_fd, lock_fd;
	char path[CHANNEL_ATTACH_PATH_SIZE];
	uint32_t asking_count;
	int asking[NODE_ASKING_MAX];
	uint64_t attached, refused; /* since the start */
	uint64_t facts_ns;          /* told last */
	struct pollfd polls[2 + NODE_ASKING_MAX + NODE_PORTS_MAX];
};

struct node {
	struct lull_run run; /* first: the state of a program */
	struct node_settings settings;
	struct node_loop loop;
	struct node_server server;
	struct lull_live live;
	struct lull_loop *loops[1];
	bool telemetry_runs;
	struct node_counters shown; /* at the last line of progress */
	uint64_t shown_ns;
};

/** Set up and start the thread; @p cpu -1: any. */
int node_loop_start(struct node_loop *loop, const struct node_settings *settings,
		    struct lull_error *error);
/** Change governor and longest rest. */
int node_loop_change(struct node_loop *loop, const struct node_settings *settings,
		     struct lull_error *error);
void node_loop_kick(const struct node_loop *loop);
void node_loop_stop(struct node_loop *loop);

/** Listen at @p words, or the usual place. -EADDRINUSE: another program serves there. */
int node_serve_open(struct node_server *server, const char *words, struct lull_error *error);
/** Wait for at most @p limit_ms and serve who asks. */
void node_serve(struct node_server *server, int limit_ms);
void node_serve_close(struct node_server *server);

int node_check(void *state, struct lull_error *error);
int node_instead(void *state, bool *done, struct lull_error *error);
int node_open(void *state, struct lull_error *error);
int node_run(void *state, struct lull_error *error);
void node_close(void *state);
void node_result(void *state, json_t *result);
const char *node_dpdk(void);

#endif
