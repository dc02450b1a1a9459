/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What protecting packets costs, by each security: sealing at one side and opening at the other, of
 * full packets of an MTU of 1500 bytes and of small ones, and a whole handshake of both sides. One
 * thread; packets lie in a ring in memory as a driver would leave them. CPU time of that thread
 * only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel/seal.h"
#include "figure.h"

#define ROUNDS 15
#define RING_PKTS 256
#define SLOT_BYTES 2048
#define TURNS 64 /* of the ring, each round */
#define HANDSHAKES 200
#define HEADER_BYTES 28
#define STATE_BYTES 512
#define MESSAGE_BYTES 1024

struct side {
	void *arg;
	uint64_t handshake[STATE_BYTES / 8], keys[STATE_BYTES / 8];
};
struct bench {
	const struct lull_bundle_security *security;
	struct side asks, answers;
	uint8_t *ring;
	uint64_t psn;
	uint64_t wrong;
};

/* Not random: open needs no secret here. */
static void
bench_random(void *arg, uint8_t *bytes, uint32_t count)
{
	(void)arg;
	memset(bytes, 0x5a, count);
}

static bool
bench_handshake(struct bench *bench)
{
	static const uint8_t prologue[16], payload[300];
	const struct lull_bundle_security *security = bench->security;
	uint8_t hello[MESSAGE_BYTES], answer[MESSAGE_BYTES], got[MESSAGE_BYTES];
	struct side *asks = &bench->asks, *answers = &bench->answers;
	int len = security->hello_write(asks->arg, asks->handshake, prologue, sizeof(prologue),
					payload, sizeof(payload), hello, sizeof(hello));

	if (len < 0 || security->hello_read(answers->arg, answers->handshake,
					    security->key_id(asks->arg), prologue, sizeof(prologue),
					    hello, (uint32_t)len, got, sizeof(got)) < 0)
		return false;
	len = security->answer_write(answers->arg, answers->handshake, answers->keys, payload,
				     sizeof(payload), answer, sizeof(answer));
	return len >= 0 && security->answer_read(asks->arg, asks->handshake, asks->keys, answer,
						 (uint32_t)len, got, sizeof(got)) >= 0;
}

static void
bench_forget(struct bench *bench)
{
	struct side *sides[] = { &bench->asks, &bench->answers };

	for (int i = 0; i < 2; i++)
		bench->security->forget(sides[i]->arg, sides[i]->handshake, sides[i]->keys);
}

/* ns per packet: sealing, then opening, of the ring's packets in turn. */
static void
bench_round(struct bench *bench, uint32_t len_bytes, double *seal_ns, double *open_ns)
{
	const struct lull_bundle_security *security = bench->security;
	uint64_t seals = 0, opens = 0;

	for (uint32_t turn = 0; turn < TURNS; turn++) {
		uint64_t begin_ns = figure_cpu_ns(), middle_ns;

		for (uint32_t i = 0; i < RING_PKTS; i++) {
			struct lull_bundle_nonce nonce = { .psn = bench->psn + i, .path = 0x11 };

			security->seal(bench->asks.keys, &nonce, bench->ring + i * SLOT_BYTES,
				       HEADER_BYTES, len_bytes);
		}
		middle_ns = figure_cpu_ns();
		for (uint32_t i = 0; i < RING_PKTS; i++) {
			struct lull_bundle_nonce nonce = { .psn = bench->psn + i, .path = 0x11 };

			bench->wrong += !security->open(bench->answers.keys, &nonce,
							bench->ring + i * SLOT_BYTES, HEADER_BYTES,
							len_bytes);
		}
		opens += figure_cpu_ns() - middle_ns;
		seals += middle_ns - begin_ns;
		bench->psn += RING_PKTS;
	}
	*seal_ns = (double)seals / (TURNS * RING_PKTS);
	*open_ns = (double)opens / (TURNS * RING_PKTS);
}

static void
bench_row(struct bench *bench, uint32_t payload_bytes)
{
	struct figure seal = { .count = 0 }, open = { .count = 0 };
	double seal_ns, open_ns;

	bench_round(bench, HEADER_BYTES + payload_bytes, &seal_ns, &open_ns);
	for (int round = 0; round < ROUNDS; round++) {
		bench_round(bench, HEADER_BYTES + payload_bytes, &seal_ns, &open_ns);
		figure_add(&seal, seal_ns);
		figure_add(&open, open_ns);
	}
	printf("| %s | %u | %.0f | %.0f | %.0f | %.0f | %.2f |\n", bench->security->name,
	       payload_bytes, figure_median(&seal), figure_least(&seal), figure_median(&open),
	       figure_least(&open), payload_bytes / figure_median(&seal));
}

static void
bench_handshakes(struct bench *bench)
{
	struct figure cost = { .count = 0 };

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = figure_cpu_ns();

		for (int i = 0; i < HANDSHAKES; i++) {
			bench->wrong += !bench_handshake(bench);
			bench_forget(bench);
		}
		figure_add(&cost, (double)(figure_cpu_ns() - begin_ns) / HANDSHAKES / 1000);
	}
	printf("| %s | %.1f | %.1f |\n", bench->security->name, figure_median(&cost),
	       figure_least(&cost));
}

int
main(void)
{
	static const uint32_t sizes[] = { 64, 1456 };
	static struct lull_bundle_open open = { .random = bench_random };
	static struct channel_keys keys;
	static struct bench benches[] = {
		{ .security = &lull_bundle_open_security },
		{ .security = &lull_channel_signed_security },
		{ .security = &lull_channel_sealed_security },
	};
	uint8_t *ring = calloc(RING_PKTS, SLOT_BYTES), key[CHANNEL_KEY_BYTES] = { 1 };
	uint64_t wrong = ring == NULL;

	channel_keys_set(&keys, key);
	figure_print_machine(LULL_TREE);
	printf("| security | bytes | seal ns | least | open ns | least | GB/s |\n"
	       "|---|---:|---:|---:|---:|---:|---:|\n");
	for (uint32_t i = 0; i < sizeof(benches) / sizeof(benches[0]) && wrong == 0; i++) {
		struct bench *bench = &benches[i];

		bench->asks.arg = i == 0 ? (void *)&open : (void *)&keys;
		bench->answers.arg = bench->asks.arg;
		bench->ring = ring;
		bench->psn = 1;
		bench->wrong = bench->security->keys_bytes > STATE_BYTES ||
			       bench->security->handshake_bytes > STATE_BYTES ||
			       !bench_handshake(bench);
		for (uint32_t j = 0; j < 2 && bench->wrong == 0; j++)
			bench_row(bench, sizes[j]);
		bench_forget(bench);
		wrong += bench->wrong;
	}
	printf("\n| security | handshake us | least |\n|---|---:|---:|\n");
	for (uint32_t i = 0; i < sizeof(benches) / sizeof(benches[0]) && wrong == 0; i++) {
		bench_handshakes(&benches[i]);
		wrong += benches[i].wrong;
	}
	free(ring);
	if (wrong > 0)
		fprintf(stderr, "seal-cost: %llu packets or handshakes failed\n",
			(unsigned long long)wrong);
	return wrong > 0;
}
