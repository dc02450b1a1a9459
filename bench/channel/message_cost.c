/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the channel itself costs: two nodes in one process, over one rail in memory (pair:), turned
 * by one thread in turn. CPU time of that thread only, both sides together. A message of 64 bytes
 * goes there and back (half of that is the row), then 1-MiB messages go one way, per packet.
 *
 *     message-cost [RAIL]           another rail, like node-busy:SOCKET,rail=0 of lull-channel-node
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/channel.h>

#include "figure.h"

#define ROUNDS 15
#define EXCHANGES 20000
#define WARM 2000
#define IDLE_TURNS 100000
#define BULKS 40
#define BULK_BYTES (1u << 20)
#define SMALL_BYTES 64
#define WINDOW 4
#define CONNECT_NS (10 * LULL_NS_PER_S)

struct node {
	struct lull_channel *channel;
	uint32_t peer;
	uint64_t sent, received;
	uint8_t *buffers[WINDOW];
};

struct bench {
	struct node nodes[2];
	uint64_t wrong;
	atomic_bool connected;
};

static void
node_done(struct bench *bench, struct node *node)
{
	struct lull_channel_completion done[8];
	uint32_t count = lull_channel_done(node->channel, done, 8, 0);

	for (uint32_t i = 0; i < count; i++) {
		bench->wrong += done[i].error != 0;
		node->sent += done[i].sent;
		node->received += !done[i].sent;
	}
}

static void
node_send(struct bench *bench, struct node *node, uint64_t len_bytes)
{
	const struct lull_channel_message message = { .data = node->buffers[0],
						      .len_bytes = len_bytes };

	bench->wrong += lull_channel_send(node->channel, node->peer, &message, node) != 0;
}

static void
node_receive(struct bench *bench, struct node *node, uint32_t at)
{
	const struct lull_channel_receive receive = { .source = node->peer,
						      .buffer = node->buffers[at % WINDOW],
						      .size_bytes = BULK_BYTES };

	bench->wrong += lull_channel_recv(node->channel, &receive, node) != 0;
}

/* Until the node has received so many. */
static void
bench_until(struct bench *bench, const uint64_t *count, uint64_t wanted)
{
	while (*count < wanted && bench->wrong == 0)
		for (uint32_t i = 0; i < 2; i++)
			node_done(bench, &bench->nodes[i]);
}

static void
bench_exchange(struct bench *bench, uint32_t count)
{
	struct node *a = &bench->nodes[0], *b = &bench->nodes[1];

	for (uint32_t i = 0; i < count; i++) {
		node_receive(bench, a, 0);
		node_receive(bench, b, 0);
		node_send(bench, a, SMALL_BYTES);
		bench_until(bench, &b->received, b->received + 1);
		node_send(bench, b, SMALL_BYTES);
		bench_until(bench, &a->received, a->received + 1);
	}
}

static void
bench_bulk(struct bench *bench, uint32_t count)
{
	struct node *a = &bench->nodes[0], *b = &bench->nodes[1];
	uint64_t begin = b->received, sent = a->sent;

	for (uint32_t i = 0; i < WINDOW; i++) {
		node_receive(bench, b, i);
		node_send(bench, a, BULK_BYTES);
	}
	for (uint32_t i = 1; i <= count; i++) {
		bench_until(bench, &b->received, begin + i);
		if (i + WINDOW > count)
			continue;
		bench_until(bench, &a->sent, sent + i);
		node_receive(bench, b, i - 1);
		node_send(bench, a, BULK_BYTES);
	}
	bench_until(bench, &a->sent, sent + count);
}

/* Nothing is there, nothing is under way. */
static void
bench_idle(struct bench *bench)
{
	for (uint32_t i = 0; i < IDLE_TURNS; i++)
		lull_channel_poll(bench->nodes[0].channel);
}

static uint64_t
bench_packets(const struct bench *bench)
{
	struct lull_channel_rail_look look = { .tx_pkts = 0 };

	lull_channel_rail_look(bench->nodes[0].channel, 0, &look);
	return look.tx_pkts;
}

static int
bench_open(struct bench *bench, const char *rail)
{
	struct lull_channel_config config = { .rails = { rail },
					      .rail_count = 1,
					      .security = LULL_CHANNEL_OPEN,
					      .own_loop = true,
					      .peers_max = 2 };
	struct lull_error error;

	for (uint32_t i = 0; i < 2; i++) {
		struct node *node = &bench->nodes[i];
		int rc;

		config.name = i == 0 ? "a" : "b";
		rc = lull_channel_open(&config, &node->channel, &error);
		if (rc == 0)
			rc = lull_channel_start(node->channel, &error);
		if (rc != 0) {
			fprintf(stderr, "message-cost: %s\n", error.text);
			return rc;
		}
		for (uint32_t k = 0; k < WINDOW; k++) {
			node->buffers[k] = malloc(BULK_BYTES);
			if (node->buffers[k] == NULL)
				return -1;
			memset(node->buffers[k], (int)i, BULK_BYTES);
		}
	}
	return 0;
}

/* B answers meanwhile, until A has its answer too. */
static void *
node_accept(void *arg)
{
	struct bench *bench = arg;
	struct node *b = &bench->nodes[1];

	bench->wrong = lull_channel_accept(b->channel, CONNECT_NS, &b->peer) != 0;
	while (!atomic_load(&bench->connected))
		lull_channel_poll(b->channel);
	return NULL;
}

static int
bench_connect(struct bench *bench)
{
	struct node *a = &bench->nodes[0];
	struct lull_error error = { "no thread" };
	pthread_t thread;
	int rc = -pthread_create(&thread, NULL, node_accept, bench);

	if (rc == 0) {
		rc = lull_channel_connect(a->channel, "b", CONNECT_NS, &a->peer, &error);
		atomic_store(&bench->connected, true);
		pthread_join(thread, NULL);
	}
	if (rc != 0 || bench->wrong > 0)
		fprintf(stderr, "message-cost: %s\n", error.text);
	return rc;
}

int
main(int argc, char **argv)
{
	struct figure half = { .count = 0 }, packet = { .count = 0 }, rate = { .count = 0 };
	struct figure idle = { .count = 0 };
	struct bench bench = { .wrong = 0 };

	if (bench_open(&bench, argc > 1 ? argv[1] : "pair:cost") != 0 || bench_connect(&bench) != 0)
		return 1;
	bench_exchange(&bench, WARM);
	bench_bulk(&bench, WINDOW * 2);
	for (uint32_t round = 0; round < ROUNDS && bench.wrong == 0; round++) {
		uint64_t begin_ns = figure_cpu_ns(), pkts, cpu_ns;

		bench_exchange(&bench, EXCHANGES);
		figure_add(&half, (double)(figure_cpu_ns() - begin_ns) / (2.0 * EXCHANGES));
		pkts = bench_packets(&bench);
		begin_ns = figure_cpu_ns();
		bench_bulk(&bench, BULKS);
		cpu_ns = figure_cpu_ns() - begin_ns;
		figure_add(&packet, (double)cpu_ns / (double)(bench_packets(&bench) - pkts));
		begin_ns = figure_cpu_ns();
		bench_idle(&bench);
		figure_add(&idle, (double)(figure_cpu_ns() - begin_ns) / IDLE_TURNS);
		figure_add(&rate, 8.0 * BULKS * BULK_BYTES / (double)cpu_ns);
	}
	figure_print_machine(LULL_TREE);
	printf("| both sides together | median | least |\n|---|---:|---:|\n"
	       "| 64 bytes, half an exchange: ns | %.0f | %.0f |\n"
	       "| 1 MiB, a packet that A sends: ns | %.0f | %.0f |\n"
	       "| 1 MiB, one core for both: Gb/s | %.2f | |\n"
	       "| one side, an iteration without packets: ns | %.0f | %.0f |\n",
	       figure_median(&half), figure_least(&half), figure_median(&packet),
	       figure_least(&packet), figure_median(&rate), figure_median(&idle),
	       figure_least(&idle));
	for (uint32_t i = 0; i < 2; i++) {
		lull_channel_close(bench.nodes[i].channel, 0);
		for (uint32_t k = 0; k < WINDOW; k++)
			free(bench.nodes[i].buffers[k]);
	}
	if (bench.wrong > 0)
		fprintf(stderr, "message-cost: %llu operations failed\n",
			(unsigned long long)bench.wrong);
	return bench.wrong > 0;
}
