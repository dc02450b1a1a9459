/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Write a capture of many flows whose number of records is known:
 *
 *     soak-flows FILE FLOWS SECONDS SEED
 *
 * FLOWS flows begin evenly over SECONDS. Of a hundred, 90 have up to 4 packets within seconds, 9 go
 * on for a minute or two, and one is silent for longer than 30 s again and again: each such silence
 * begins a new record. No silence lies between 25 s and 40 s. Packets are in the order of their
 * stamps, link type raw IPv4, payload random. Prints "PACKETS RECORDS FLOWS".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lull/base.h>

#include "base/prng.h"

#define BEGIN_NS (1700000000 * LULL_NS_PER_S)
#define FLOWS_MAX (1u << 24) /* an address each */
#define PAYLOAD_BYTES 16
#define FLIGHT_MAX (1u << 22) /* flows that go on at once */
#define TCP 6
#define UDP 17

struct flight {
	uint64_t time_ns; /* of its next packet */
	uint32_t flow;
	uint16_t left, sent; /* packets */
};

struct soak {
	FILE *file;
	struct lull_prng prng;
	struct flight *heap; /* next packet first */
	uint32_t heap_count;
	uint64_t packets, records;
};

/* ---- heap ---- */

static void
heap_push(struct soak *soak, struct flight flight)
{
	uint32_t place = soak->heap_count++;

	while (place > 0 && soak->heap[(place - 1) / 2].time_ns > flight.time_ns) {
		soak->heap[place] = soak->heap[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	soak->heap[place] = flight;
}

static struct flight
heap_pop(struct soak *soak)
{
	struct flight first = soak->heap[0], last = soak->heap[--soak->heap_count];
	uint32_t place = 0;

	for (uint32_t child; (child = 2 * place + 1) < soak->heap_count; place = child) {
		if (child + 1 < soak->heap_count &&
		    soak->heap[child + 1].time_ns < soak->heap[child].time_ns)
			child++;
		if (soak->heap[child].time_ns >= last.time_ns)
			break;
		soak->heap[place] = soak->heap[child];
	}
	soak->heap[place] = last;
	return first;
}

/* ---- packets ---- */

static void
put_be(uint8_t *at, uint32_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
}

/* Behind the IP header; returns its bytes. Every other packet comes from the server. */
static uint32_t
packet_transport(uint8_t *at, const struct flight *flight, bool tcp)
{
	uint32_t ports[2] = { 1024 + flight->flow % 60000, tcp ? 443 : 53 };
	uint32_t back = flight->sent % 2;

	memset(at, 0, 20);
	put_be(at, ports[back], 2);
	put_be(at + 2, ports[!back], 2);
	if (!tcp) {
		put_be(at + 4, 8 + PAYLOAD_BYTES, 2);
		return 8;
	}
	at[12] = 5 << 4;
	at[13] = flight->sent == 0 ? 2 : 16;
	return 20;
}

static uint32_t
packet_fill(struct soak *soak, uint8_t *at, const struct flight *flight)
{
	bool tcp = flight->flow % 2 == 0;
	uint32_t client = 10u << 24 | flight->flow, server = 192u << 24 | 168u << 16 | 1;
	uint32_t len = 20 + packet_transport(at + 20, flight, tcp);

	for (uint32_t i = 0; i < PAYLOAD_BYTES; i += 4)
		put_be(at + len + i, (uint32_t)lull_prng_u64(&soak->prng), 4);
	len += PAYLOAD_BYTES;
	memset(at, 0, 20);
	at[0] = 0x45;
	put_be(at + 2, len, 2);
	at[8] = 64;
	at[9] = tcp ? TCP : UDP;
	put_be(at + 12, flight->sent % 2 == 0 ? client : server, 4);
	put_be(at + 16, flight->sent % 2 == 0 ? server : client, 4);
	return len;
}

static bool
packet_write(struct soak *soak, const struct flight *flight)
{
	uint8_t frame[64];
	uint32_t len = packet_fill(soak, frame, flight);
	uint32_t head[4] = { (uint32_t)(flight->time_ns / LULL_NS_PER_S),
			     (uint32_t)(flight->time_ns % LULL_NS_PER_S), len, len };

	soak->packets++;
	return fwrite(head, sizeof(head), 1, soak->file) == 1 &&
	       fwrite(frame, len, 1, soak->file) == 1;
}

/* ---- flows ---- */

static uint64_t
soak_gap_ns(struct soak *soak, uint32_t flow)
{
	uint32_t kind = flow % 100;

	if (kind < 90)
		return lull_prng_below(&soak->prng, LULL_NS_PER_S);
	if (kind < 99)
		return lull_prng_below(&soak->prng, 25 * LULL_NS_PER_S);
	soak->records++;
	return 40 * LULL_NS_PER_S + lull_prng_below(&soak->prng, 20 * LULL_NS_PER_S);
}

static struct flight
soak_begin(struct soak *soak, uint32_t flow, uint64_t time_ns)
{
	uint32_t most = flow % 100 < 90 ? 4 : 12;

	soak->records++;
	return (struct flight){
		.time_ns = time_ns,
		.flow = flow,
		.left = (uint16_t)(1 + lull_prng_below(&soak->prng, most)),
	};
}

/* All packets before @p until_ns. */
static bool
soak_go_on(struct soak *soak, uint64_t until_ns)
{
	while (soak->heap_count > 0 && soak->heap[0].time_ns < until_ns) {
		struct flight flight = heap_pop(soak);

		if (!packet_write(soak, &flight))
			return false;
		flight.sent++;
		if (--flight.left == 0)
			continue;
		flight.time_ns += soak_gap_ns(soak, flight.flow);
		heap_push(soak, flight);
	}
	return true;
}

static bool
soak_write(struct soak *soak, uint32_t flows, uint64_t span_ns)
{
	/* stamps in ns, version 2.4, whole packets, raw IP */
	uint32_t head[6] = { 0xa1b23c4d, 4u << 16 | 2, 0, 0, 65535, 101 };
	uint64_t step_ns = span_ns / flows;

	if (fwrite(head, sizeof(head), 1, soak->file) != 1)
		return false;
	for (uint32_t flow = 0; flow < flows; flow++) {
		uint64_t time_ns = BEGIN_NS + flow * step_ns;

		if (!soak_go_on(soak, time_ns) || soak->heap_count == FLIGHT_MAX)
			return false;
		heap_push(soak, soak_begin(soak, flow, time_ns));
	}
	return soak_go_on(soak, UINT64_MAX);
}

int
main(int argc, char **argv)
{
	struct soak soak = { .packets = 0 };
	uint64_t flows = argc == 5 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t seconds = argc == 5 ? strtoull(argv[3], NULL, 10) : 0;
	bool good;

	if (flows == 0 || flows > FLOWS_MAX || seconds == 0) {
		fprintf(stderr, "usage: soak-flows FILE FLOWS SECONDS SEED, flows up to %u\n",
			FLOWS_MAX);
		return 1;
	}
	lull_prng_init(&soak.prng, strtoull(argv[4], NULL, 10), 0);
	soak.heap = calloc(FLIGHT_MAX, sizeof(*soak.heap));
	soak.file = fopen(argv[1], "wb");
	good = soak.heap != NULL && soak.file != NULL &&
	       soak_write(&soak, (uint32_t)flows, seconds * LULL_NS_PER_S);
	if (soak.file != NULL && fclose(soak.file) != 0)
		good = false;
	free(soak.heap);
	if (!good) {
		fprintf(stderr, "soak-flows: %s: cannot be written, or too many flows at once\n",
			argv[1]);
		return 1;
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", soak.packets, soak.records, flows);
	return 0;
}
