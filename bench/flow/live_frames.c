/* SPDX-License-Identifier: BSD-3-Clause */
#include "live_frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lull/rest.h>

#include "base/prng.h"

#define LINK_ETHERNET 1
#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define TRIES_MAX 1000000u

/* What hrw and crc32 do is asked of them. */
struct asked {
	struct lull_flow_parser *parser;
	struct lull_dispatch *dispatch[2];
	void *memory[3];
};

static void *
lines(size_t size)
{
	return aligned_alloc(LULL_CACHE_LINE,
			     (size + LULL_CACHE_LINE - 1) / LULL_CACHE_LINE * LULL_CACHE_LINE);
}

static int
asked_open(struct asked *asked, uint32_t worker_count)
{
	static const char *const names[] = { "hrw", "crc32" };
	const struct lull_flow_parser_config parser = { .seed = 0 };

	memset(asked, 0, sizeof(*asked));
	asked->memory[2] = lines(lull_flow_parser_size(&parser));
	if (asked->memory[2] == NULL ||
	    lull_flow_parser_init(asked->memory[2], &parser, &asked->parser) != 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		const struct lull_dispatch_config config = {
			.scheduler = lull_scheduler_find(names[i]),
			.worker_count = worker_count,
			.bucket_bits = 8,
		};

		asked->memory[i] = lines(lull_dispatch_size(&config));
		if (asked->memory[i] == NULL ||
		    lull_dispatch_init(asked->memory[i], &config, &asked->dispatch[i]) != 0)
			return -1;
	}
	return 0;
}

static void
asked_close(struct asked *asked)
{
	for (int i = 0; i < 3; i++)
		free(asked->memory[i]);
}

static bool
asked_targeted(struct asked *asked, const uint8_t *frame, uint32_t target_count)
{
	struct lull_dispatch_load loads[LULL_DISPATCH_WORKERS_MAX] = { { 0 } };
	struct lull_flow_packet packet;
	uint16_t workers[2];
	uint32_t crc;

	if (target_count == 0)
		return true;
	for (int i = 0; i < LULL_DISPATCH_WORKERS_MAX; i++)
		loads[i].capacity_pkts = 1;
	lull_flow_parse(asked->parser, LINK_ETHERNET, frame, LIVE_FRAME_BYTES, LIVE_FRAME_BYTES, 0,
			&packet);
	crc = lull_flow_key_crc32(&packet.key);
	for (int i = 0; i < 2; i++)
		lull_dispatch_burst(asked->dispatch[i], 0, loads, &packet.digest, &crc, 1,
				    &workers[i], NULL);
	return workers[0] == workers[1] && workers[0] < target_count;
}

static void
frame_write(uint8_t *frame, uint64_t random)
{
	const uint16_t ip_bytes = LIVE_FRAME_BYTES - ETHERNET_BYTES;
	uint8_t *ip = frame + ETHERNET_BYTES, *udp = ip + IPV4_BYTES;

	memset(frame, 0, LIVE_FRAME_BYTES);
	frame[12] = 0x08;
	ip[0] = 0x45;
	ip[3] = (uint8_t)ip_bytes;
	ip[8] = 64;
	ip[9] = LULL_FLOW_PROTO_UDP;
	ip[12] = 10;
	memcpy(ip + 13, &random, 3);
	ip[16] = 192;
	ip[17] = 168;
	ip[19] = 1;
	udp[0] = (uint8_t)(random >> 24) | 4;
	udp[1] = (uint8_t)(random >> 32);
	udp[3] = 53;
	udp[5] = (uint8_t)(ip_bytes - IPV4_BYTES);
}

static int
frames_write(struct live_frames *frames, const struct live_traffic *traffic, struct lull_prng *prng,
	     struct asked *asked)
{
	uint32_t tries = 0;

	for (uint32_t i = 0; i < LIVE_FLOWS; i++) {
		do {
			if (tries++ == TRIES_MAX)
				return -1;
			frame_write(frames->frames[i], lull_prng_u64(prng));
		} while (!asked_targeted(asked, frames->frames[i], traffic->target_count));
	}
	return 0;
}

static void
frames_draw(struct live_frames *frames, const struct live_traffic *traffic, struct lull_prng *prng)
{
	static double sums[LIVE_FLOWS]; /* cumulated shares: too large for a stack */
	double sum = 0;

	for (uint32_t i = 0; i < LIVE_FLOWS; i++)
		sums[i] = sum += pow(i + 1.0, -traffic->zipf);
	for (uint32_t i = 0; i < LIVE_ORDER; i++) {
		double at = (double)(lull_prng_u64(prng) >> 11) * 0x1p-53 * sum;
		uint32_t low = 0, high = LIVE_FLOWS - 1;

		while (low < high) {
			uint32_t middle = (low + high) / 2;

			if (sums[middle] < at)
				low = middle + 1;
			else
				high = middle;
		}
		if (lull_prng_below(prng, LULL_PPM) < traffic->elephant_ppm)
			low = 0;
		frames->order[i] = (uint16_t)low;
	}
}

int
live_frames_make(struct live_frames *frames, const struct live_traffic *traffic,
		 uint32_t worker_count, uint64_t seed)
{
	struct lull_prng prng;
	struct asked asked;
	int rc = asked_open(&asked, worker_count);

	lull_prng_init(&prng, seed, 0);
	if (rc == 0)
		rc = frames_write(frames, traffic, &prng, &asked);
	asked_close(&asked);
	if (rc == 0)
		frames_draw(frames, traffic, &prng);
	return rc;
}

void
live_frames_rewind(struct live_frames *frames, double pps, uint64_t pkts)
{
	frames->pps = pps;
	frames->pkts = pkts;
	frames->begin_ns = 0;
	frames->passed = 0;
	frames->lost = 0;
}

uint32_t
live_frames_read(void *arg, struct lull_pipeline_frame *out, uint32_t count, bool *end)
{
	struct live_frames *frames = arg;
	uint64_t now_ns = lull_clock_ns(), due;
	uint32_t done = 0;

	if (frames->begin_ns == 0)
		frames->begin_ns = now_ns;
	due = (uint64_t)((double)(now_ns - frames->begin_ns) * frames->pps / 1e9);
	due = LULL_MIN(due, frames->pkts);
	if (due - frames->passed > LIVE_RX_PKTS) {
		frames->lost += due - frames->passed - LIVE_RX_PKTS;
		frames->passed = due - LIVE_RX_PKTS;
	}
	while (done < count && frames->passed < due)
		out[done++] = (struct lull_pipeline_frame){
			.data = frames->frames[frames->order[frames->passed++ % LIVE_ORDER]],
			.captured_bytes = LIVE_FRAME_BYTES,
			.original_bytes = LIVE_FRAME_BYTES,
			.time_ns = now_ns,
			.link_type = LINK_ETHERNET,
		};
	*end = frames->passed == frames->pkts;
	return done;
}
