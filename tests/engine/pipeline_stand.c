/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline_stand.h"

#include <stdlib.h>

#include <arpa/inet.h>

#include <rte_ethdev.h>

#include <base/prng.h>

#include "engine/flow/stage.h"

#define ETHERNET_BYTES 14
#define IP_BYTES 20
#define UDP_BYTES 8
#define TCP_BYTES 20

/* ---- frames ---- */

static void
put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void
put32(uint8_t *at, uint32_t value)
{
	put16(at, value >> 16);
	put16(at + 2, value & 0xffff);
}

uint32_t
frame_write(uint8_t *data, uint32_t flow, uint32_t number, bool back, uint32_t payload)
{
	bool tcp = flow % 3 != 0;
	uint32_t transport = tcp ? TCP_BYTES : UDP_BYTES;
	uint32_t address[2] = { 0x0a000000 + flow, 0x0a800000 + flow % 97 };
	uint32_t port[2] = { 1024 + flow % 50000, 4000 + flow % 11 };
	uint8_t *ip = data + ETHERNET_BYTES;

	memset(data, 0, ETHERNET_BYTES + IP_BYTES + TCP_BYTES);
	put16(data + 12, 0x0800);
	ip[0] = 0x45;
	put16(ip + 2, IP_BYTES + transport + payload);
	put16(ip + 4, number);
	ip[8] = 64;
	ip[9] = tcp ? LULL_FLOW_PROTO_TCP : LULL_FLOW_PROTO_UDP;
	put32(ip + 12, address[back]);
	put32(ip + 16, address[!back]);
	put16(ip + IP_BYTES, port[back]);
	put16(ip + IP_BYTES + 2, port[!back]);
	if (tcp) {
		ip[IP_BYTES + 12] = TCP_BYTES / 4 << 4;
		ip[IP_BYTES + 13] = (uint8_t)(1u << number % 5);
	} else {
		put16(ip + IP_BYTES + 4, UDP_BYTES + payload);
	}
	memset(ip + IP_BYTES + transport, (int)number, payload);
	return ETHERNET_BYTES + IP_BYTES + transport + payload;
}

void
frames_make(struct frames *frames, uint64_t seed, uint32_t flow_count, uint32_t count,
	    uint64_t begin_ns, uint64_t step_ns)
{
	struct lull_prng prng;
	uint64_t time_ns = begin_ns;

	lull_prng_init(&prng, seed, 0);
	frames->count = count;
	frames->flow_count = flow_count;
	frames->list = calloc(count, sizeof(frames->list[0]));
	assert_non_null(frames->list);
	for (uint32_t i = 0; i < count; i++) {
		struct frame *frame = &frames->list[i];
		uint64_t any = lull_prng_u64(&prng);
		/* Some flows are much heavier than others. */
		uint32_t flow = (uint32_t)(any % flow_count * (any >> 32 & 0xff) / 256);

		/* Stamps may repeat, and go back a little as captures of several cores do. */
		time_ns += (any >> 40) % (2 * step_ns + 1);
		frame->time_ns = time_ns - ((any >> 60) == 0 ? LULL_MIN(step_ns, time_ns) : 0);
		frame->bytes = frame_write(frame->data, flow, i, (any >> 20 & 1) != 0,
					   (uint32_t)(any >> 24 & 63));
	}
}

void
frames_free(struct frames *frames)
{
	free(frames->list);
	frames->list = NULL;
}

uint32_t
reading_read(void *arg, struct lull_pipeline_frame *frames, uint32_t count, bool *end)
{
	struct reading *reading = arg;
	const struct frame *list = reading->frames->list;
	uint64_t round_ns = list[reading->frames->count - 1].time_ns - list[0].time_ns;
	uint32_t done = 0;

	while (done < count && (reading->rounds == 0 || reading->round < reading->rounds)) {
		const struct frame *frame = &list[reading->next];

		frames[done++] = (struct lull_pipeline_frame){
			.data = frame->data,
			.captured_bytes = frame->bytes,
			.original_bytes = frame->bytes,
			.time_ns = frame->time_ns + reading->round * round_ns,
			.link_type = 1,
		};
		if (++reading->next == reading->frames->count) {
			reading->next = 0;
			reading->round++;
		}
	}
	*end = done < count && !reading->hold;
	return done;
}

/* ---- records ---- */

static void
kept_record(void *arg, const struct lull_flow_record *record)
{
	struct kept *kept = arg;

	if (kept->count < RECORDS_MAX)
		kept->records[kept->count] = *record;
	__atomic_store_n(&kept->count, kept->count + 1, __ATOMIC_RELEASE);
	for (int i = 0; kept->slow && i < 10; i++)
		sched_yield();
}

static uint64_t
kept_iterate(void *arg, uint64_t now_ns, const struct lull_encode_totals *totals)
{
	struct kept *kept = arg;

	(void)now_ns;
	kept->iterations++;
	kept->totals = *totals;
	return 0;
}

static int
compare(const void *a, const void *b)
{
	return lull_flow_record_compare(a, b);
}

uint32_t
bench_records(const struct bench *bench, struct lull_flow_record *records)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < LULL_MAX(bench->config.aggregator_count, 1u); i++) {
		assert_in_range(bench->kept[i].count + count, 0, RECORDS_MAX);
		memcpy(records + count, bench->kept[i].records,
		       bench->kept[i].count * sizeof(records[0]));
		count += bench->kept[i].count;
	}
	for (uint32_t i = 0; i < count; i++) {
		records[i].workers = 0;
		records[i].moves = 0;
		records[i].reordered = 0;
		records[i].announced = 0;
		records[i].split = 0;
	}
	qsort(records, count, sizeof(records[0]), compare);
	return count;
}

void
bench_same(const struct lull_flow_record *a, uint32_t a_count, const struct lull_flow_record *b,
	   uint32_t b_count, const char *what)
{
	for (uint32_t i = 0; i < LULL_MIN(a_count, b_count); i++) {
		if (memcmp(&a[i], &b[i], sizeof(a[i])) != 0)
			fail_msg("%s: record %u of %u: %u + %u packets, %u + %u expected", what, i,
				 a_count, (unsigned int)b[i].packets[0],
				 (unsigned int)b[i].packets[1], (unsigned int)a[i].packets[0],
				 (unsigned int)a[i].packets[1]);
	}
	if (a_count != b_count)
		fail_msg("%s: %u records, %u expected", what, b_count, a_count);
}

/* ---- the pipeline ---- */

void
bench_init(struct bench *bench, const struct frames *frames)
{
	memset(bench, 0, sizeof(*bench));
	bench->config = (struct lull_pipeline_config){
		.ring_pkts = 64,
		.wait = true,
		.dispatch = { .scheduler = lull_scheduler_find("hrw"), .bucket_bits = 10 },
		.table = { .entries_max = 4096, .idle_ns = 20 * LULL_NS_PER_MS },
		.resequence = { .delay_ns = LULL_NS_PER_S, .window_pkts = 16384 },
	};
	for (int i = 0; i < LULL_PIPELINE_IO_MAX; i++)
		bench->readings[i] = (struct reading){ .frames = frames, .rounds = 1 };
	bench->config.sources[0] =
		(struct lull_pipeline_source){ reading_read, &bench->readings[0], true };
	for (int i = 0; i < LULL_PIPELINE_AGGREGATOR_MAX; i++) {
		bench->kept[i].records = calloc(RECORDS_MAX, sizeof(struct lull_flow_record));
		assert_non_null(bench->kept[i].records);
		bench->config.sinks[i] =
			(struct lull_pipeline_sink){ kept_record, kept_iterate, &bench->kept[i] };
	}
}

/* An I/O loop reads the queue of its index. */
static struct lull_loop *
bench_loop(struct bench *bench, const char *name, uint32_t index, const struct lull_stage *stage,
	   const struct lull_port *port)
{
	const struct lull_pipeline_place place = { bench->pipeline, index };
	struct lull_loop_config config = {
		.kind = "flow",
		.lcore_id = bench->loop_count + 1,
		.queue_count = port != NULL,
		.burst_pkts = 32,
		.governor = lull_idle_governor_find("ramp"),
		.limits = stand_limits(),
		.stage = stage,
		.stage_config = &place,
	};
	struct lull_loop *loop;

	if (port != NULL) {
		config.queues[0].port_id = port->port_id;
		config.queues[0].queue_id = (uint16_t)index;
	}
	snprintf(config.name, sizeof(config.name), "%s%u", name, index);
	assert_in_range(bench->loop_count, 0, PIPELINE_LOOPS - 1);
	loop = stand_run(&config);
	bench->loops[bench->loop_count++] = loop;
	return loop;
}

void
bench_start(struct bench *bench, const struct lull_port *port)
{
	struct lull_pipeline_config *config = &bench->config;
	struct lull_error error = { "" };

	if (lull_pipeline_create(config, &bench->pipeline, &error) != 0)
		fail_msg("%s", error.text);
	if (port != NULL)
		assert_int_equal(lull_pipeline_port(bench->pipeline, port), 0);
	for (uint32_t i = 0; config->workers_read && i < config->worker_count; i++)
		bench->workers[i] = bench_loop(bench, "flow", i, &lull_stage_flow_whole, NULL);
	if (config->workers_read)
		return;
	if (bench->whole) {
		bench->ios[0] = bench_loop(bench, "flow", 0, &lull_stage_flow_whole, NULL);
		bench->workers[0] = bench->ios[0];
		for (uint32_t i = 1; i < config->worker_count; i++)
			bench->workers[i] =
				bench_loop(bench, "worker", i, &lull_stage_flow_worker, NULL);
		return;
	}
	if (config->output || config->dispatch.order == LULL_ORDER_RESEQUENCE)
		bench->output = bench_loop(bench, "out", 0, &lull_stage_flow_output, NULL);
	for (uint32_t i = 0; i < LULL_MAX(config->aggregator_count, 1u); i++)
		bench_loop(bench, "aggregator", i, &lull_stage_flow_aggregator, NULL);
	for (uint32_t i = 0; i < LULL_MAX(config->worker_count, 1u); i++)
		bench->workers[i] = bench_loop(bench, "worker", i, &lull_stage_flow_worker, NULL);
	for (uint32_t i = 0; i < LULL_MAX(config->io_count, 1u); i++)
		bench->ios[i] = bench_loop(bench, "io", i, &lull_stage_flow_io,
					   port != NULL && i < port->queues ? port : NULL);
}

bool
bench_ended(const struct bench *bench)
{
	for (uint32_t i = 0; i < LULL_MAX(bench->config.io_count, 1u); i++) {
		if (!lull_pipeline_ended(bench->pipeline, i))
			return false;
	}
	return true;
}

void
bench_finish(struct bench *bench)
{
	struct lull_error error = { "" };

	if (lull_pipeline_finish(bench->pipeline, STAND_PATIENCE_NS, &error) != 0)
		fail_msg("%s", error.text);
}

void
bench_stop(struct bench *bench)
{
	for (uint32_t i = 0; i < bench->loop_count; i++)
		lull_loop_stop(bench->loops[i]);
	for (uint32_t i = 0; i < bench->loop_count; i++)
		lull_loop_destroy(bench->loops[i]);
	bench->loop_count = 0;
}

void
bench_close(struct bench *bench)
{
	bench_stop(bench);
	lull_pipeline_destroy(bench->pipeline);
	for (int i = 0; i < LULL_PIPELINE_AGGREGATOR_MAX; i++)
		free(bench->kept[i].records);
}

void
bench_check(const struct bench *bench)
{
	struct lull_error error = { "" };

	if (lull_pipeline_check(bench->pipeline, &error) != 0)
		fail_msg("%s", error.text);
}

void
bench_complete(struct bench *bench)
{
	struct lull_pipeline_totals all;
	const struct lull_encode_totals *totals = &all.totals;

	STAND_WAIT(bench_ended(bench));
	bench_finish(bench);
	bench_check(bench);
	lull_pipeline_totals(bench->pipeline, &all);
	assert_int_equal(all.staged, 0);
	assert_int_equal(all.in_flight, 0);
	assert_int_equal(all.open, 0);
	assert_int_equal(totals->rx, totals->dispatched + totals->drop_ring + totals->not_ip +
					     totals->malformed + totals->truncated + totals->link);
	assert_int_equal(totals->dispatched, totals->recorded + totals->unrecorded);
	assert_memory_equal(totals, &bench->kept[0].totals, sizeof(*totals));
	bench_stop(bench);
	/* No buffer has been forgotten. */
	if (bench->pipeline->pool != NULL)
		assert_int_equal(rte_mempool_in_use_count(bench->pipeline->pool), 0);
	for (uint32_t i = 0; i < bench->pipeline->config.io_count; i++) {
		if (bench->pipeline->ios[i]->frames != NULL)
			assert_int_equal(flow_frames_in_use(bench->pipeline->ios[i]->frames), 0);
	}
}

void
bench_post(struct lull_loop *loop, const struct lull_pipeline_command *command)
{
	STAND_WAIT(lull_loop_post_stage(loop, command, sizeof(*command)) == 0);
}

struct lull_pipeline_totals
totals_of(const struct bench *bench)
{
	struct lull_pipeline_totals totals;

	lull_pipeline_totals(bench->pipeline, &totals);
	return totals;
}

/* ---- ports ---- */

static struct rte_mbuf *
port_frame(uint32_t flow, uint32_t number)
{
	struct rte_mbuf *pkt = rte_pktmbuf_alloc(stand_pool());
	uint32_t bytes;

	if (pkt == NULL)
		return NULL;
	bytes = frame_write(rte_pktmbuf_mtod(pkt, uint8_t *), flow, number, number % 2 != 0, 20);
	if (flow % 3 != 0) /* one connection: a record for each flow */
		rte_pktmbuf_mtod(pkt, uint8_t *)[ETHERNET_BYTES + IP_BYTES + 13] = 16;
	pkt->data_len = (uint16_t)bytes;
	pkt->pkt_len = bytes;
	return pkt;
}

static struct rte_mempool *
port_pool(void)
{
	struct rte_mempool *pool = rte_mempool_lookup("stand");
	struct lull_error error = { "" };

	/* Frames pass through rings: their receiver writes behind the mbufs of their sender. */
	if (pool == NULL)
		pool = lull_pipeline_pool("stand", 8191, 0, &error);
	if (pool == NULL)
		fail_msg("%s", error.text);
	return pool;
}

void
port_send_one(const struct lull_port *near, uint16_t queue, uint32_t flow, uint32_t number)
{
	struct rte_mbuf *pkt = NULL;

	STAND_WAIT((pkt = port_frame(flow, number)) != NULL);
	STAND_WAIT(rte_eth_tx_burst(near->port_id, queue, &pkt, 1) == 1);
}

void
port_send(const struct lull_port *near, uint32_t flow_count, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		port_send_one(near, 0, i % flow_count, i);
}

void
port_send_from(const struct lull_port *near, uint32_t flow, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		port_send_one(near, 0, flow + i, i);
}

void
port_init(struct bench *bench, const struct frames *frames, const char *name,
	  struct lull_port *near, struct lull_port *far)
{
	port_init_queues(bench, frames, name, 1, near, far);
}

void
port_init_queues(struct bench *bench, const struct frames *frames, const char *name,
		 uint16_t queues, struct lull_port *near, struct lull_port *far)
{
	port_pool();
	stand_pair(name, queues, 1024, near, far);
	port_init_over(bench, frames, queues);
}

void
port_init_over(struct bench *bench, const struct frames *frames, uint16_t queues)
{
	port_pool();
	bench_init(bench, frames);
	bench->config.io_count = queues;
	memset(&bench->config.sources, 0, sizeof(bench->config.sources));
	bench->config.wait = false;
	bench->config.ring_pkts = 1024;
	bench->config.worker_count = 2;
	bench->config.dispatch.scheduler = lull_scheduler_find("rr-packet");
}
