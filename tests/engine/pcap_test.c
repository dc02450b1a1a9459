/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replay of captures: files written here, stepped through by a cursor and sent by the traffic
 * stage.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <lull/generator.h>

#include "engine/dpdk/port_watch.h"
#include "engine/traffic/replay.h"
#include "stand.h"

#define RING_PKTS 64
#define BURST_PKTS 32
#define BEGIN_NS 5000000000ULL

/* ---- a capture file ---- */

struct file {
	char path[64];
	FILE *stream;
};

static void
file_u32(const struct file *file, uint32_t value)
{
	assert_int_equal(fwrite(&value, sizeof(value), 1, file->stream), 1);
}

/* Classic pcap with times in ns. */
static void
file_begin(struct file *file, uint32_t link_type)
{
	int fd;

	strcpy(file->path, "/tmp/lull-pcap-XXXXXX");
	fd = mkstemp(file->path);
	assert_true(fd >= 0);
	file->stream = fdopen(fd, "w");
	assert_non_null(file->stream);
	file_u32(file, 0xa1b23c4d);
	file_u32(file, 4 << 16 | 2);
	file_u32(file, 0);
	file_u32(file, 0);
	file_u32(file, 65535);
	file_u32(file, link_type);
}

/* The bytes of a frame follow from its first one. */
static uint8_t
frame_byte(uint8_t first, uint32_t at)
{
	return (uint8_t)(first + 7 * at);
}

static void
file_frame(const struct file *file, uint64_t time_ns, uint8_t first, uint32_t captured_bytes,
	   uint32_t original_bytes)
{
	uint64_t stamp_ns = 1700000000 * LULL_NS_PER_S + time_ns;

	file_u32(file, (uint32_t)(stamp_ns / LULL_NS_PER_S));
	file_u32(file, (uint32_t)(stamp_ns % LULL_NS_PER_S));
	file_u32(file, captured_bytes);
	file_u32(file, original_bytes);
	for (uint32_t at = 0; at < captured_bytes; at++)
		fputc(frame_byte(first, at), file->stream);
}

static void
file_end(struct file *file)
{
	assert_int_equal(fclose(file->stream), 0);
	file->stream = NULL;
}

/* Opens and forgets it: an open replay needs no name. */
static int
file_open(struct file *file, double speed, uint64_t loop_count, struct lull_replay **replay,
	  struct lull_error *error)
{
	const struct lull_replay_config config = { .path = file->path,
						   .speed = speed,
						   .loop_count = loop_count };
	int rc;

	if (file->stream != NULL)
		file_end(file);
	rc = lull_replay_open(&config, replay, error);
	unlink(file->path);
	return rc;
}

static void
expect_refusal(struct file *file, int rc, const char *words)
{
	struct lull_error error = { "" };
	struct lull_replay *replay;

	assert_int_equal(file_open(file, 1, 1, &replay, &error), rc);
	if (strstr(error.text, file->path) == NULL || strstr(error.text, words) == NULL)
		fail_msg("%s", error.text);
}

/* ---- open ---- */

TEST(replay_open__refuses)
{
	struct file file = { .path = "/tmp/lull-pcap-absent" };

	expect_refusal(&file, -ENOENT, "No such file");
	strcpy(file.path, "/tmp");
	expect_refusal(&file, -EINVAL, "not a regular file");

	file_begin(&file, 1);
	file_end(&file);
	assert_int_equal(truncate(file.path, 0), 0);
	expect_refusal(&file, -EINVAL, "empty");

	file_begin(&file, 1);
	expect_refusal(&file, -ENODATA, "no frame");

	file_begin(&file, 113);
	file_frame(&file, 0, 1, 60, 60);
	expect_refusal(&file, -ENOTSUP, "link type 113");

	file_begin(&file, 1);
	file_frame(&file, 0, 1, 60, 60);
	file_u32(&file, 1);
	expect_refusal(&file, -EBADMSG, "truncated at byte 100");
}

TEST(replay_open__refuses_odd_speeds)
{
	static const double speeds[] = { -1, 0.0001, 1e7, 0.0 / 0.0 };
	struct lull_error error;
	struct lull_replay *replay;
	struct file file;

	for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
		file_begin(&file, 1);
		file_frame(&file, 0, 1, 60, 60);
		assert_int_equal(file_open(&file, speeds[i], 1, &replay, &error), -EINVAL);
	}
}

TEST(replay_open__takes_stock)
{
	const struct lull_replay_info *info;
	struct lull_error error = { "" };
	struct lull_replay *replay;
	struct file file;

	file_begin(&file, 1);
	file_frame(&file, 0, 1, 13, 60); /* too short */
	file_frame(&file, 1000, 2, 60, 60);
	file_frame(&file, 3000, 3, 128, 1514);
	file_frame(&file, 2000, 4, 9601, 9601); /* too long */
	file_frame(&file, 2500, 5, 1514, 1514);
	if (file_open(&file, 1, 1, &replay, &error) != 0)
		fail_msg("%s", error.text);
	info = lull_replay_info(replay);
	assert_int_equal(info->frames, 3);
	assert_int_equal(info->bytes, 60 + 128 + 1514);
	assert_int_equal(info->truncated, 1);
	assert_int_equal(info->skipped_short, 1);
	assert_int_equal(info->skipped_long, 1);
	assert_int_equal(info->duration_ns, 2000);
	assert_int_equal(info->frame_max_bytes, 1514);
	lull_replay_close(replay);
}

/* ---- cursor ---- */

/* Three frames, 2 ms apart, the last one's time goes back; a mean gap of 1 ms. */
static struct lull_replay *
open_three(double speed, uint64_t loop_count)
{
	struct lull_error error = { "" };
	struct lull_replay *replay;
	struct file file;

	file_begin(&file, 1);
	file_frame(&file, 0, 1, 60, 60);
	file_frame(&file, 2 * LULL_NS_PER_MS, 2, 70, 70);
	file_frame(&file, LULL_NS_PER_MS, 3, 80, 80);
	if (file_open(&file, speed, loop_count, &replay, &error) != 0)
		fail_msg("%s", error.text);
	return replay;
}

static void
expect_due(double speed, const uint64_t *due_us, size_t count)
{
	struct lull_replay *replay = open_three(speed, count / 3);
	struct lull_replay_cursor cursor;

	lull_replay_begin(&cursor, replay, BEGIN_NS);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(cursor.due_ns, BEGIN_NS + due_us[i] * LULL_NS_PER_US);
		assert_int_equal(cursor.len_bytes, 60 + 10 * (i % 3));
		assert_int_equal(cursor.data[0], 1 + i % 3);
		lull_replay_step(&cursor);
	}
	assert_int_equal(cursor.due_ns, UINT64_MAX);
	lull_replay_close(replay);
}

TEST(replay_cursor__keeps_the_timing)
{
	static const uint64_t original_us[] = { 0, 2000, 2000, 3000, 5000, 5000 };
	static const uint64_t twice_us[] = { 0, 1000, 1000, 1500, 2500, 2500 };
	static const uint64_t tenth_us[] = { 0, 20000, 20000 };
	static const uint64_t max_us[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };

	expect_due(1, original_us, 6);
	expect_due(2, twice_us, 6);
	expect_due(0.1, tenth_us, 3);
	expect_due(0, max_us, 9);
}

TEST(replay_cursor__goes_on_for_ever)
{
	struct lull_replay *replay = open_three(1, 0);
	struct lull_replay_cursor cursor;

	lull_replay_begin(&cursor, replay, BEGIN_NS);
	for (int i = 0; i < 3000; i++)
		lull_replay_step(&cursor);
	assert_int_equal(cursor.due_ns, BEGIN_NS + 3000 * LULL_NS_PER_MS);
	assert_int_equal(cursor.loops, 1000);
	lull_replay_close(replay);
}

/* ---- sent by the stage ---- */

struct bench {
	struct lull_port near, far;
	struct lull_traffic_config config;
	struct lull_replay *replay;
	const struct lull_traffic_counters *counters;
	void *state;
};

static void
bench_open(struct bench *bench, struct lull_replay *replay)
{
	const struct lull_stage *stage = &lull_stage_traffic;
	size_t size = (stage->state_size + LULL_CACHE_LINE - 1) & ~(size_t)(LULL_CACHE_LINE - 1);
	static unsigned int count;
	char name[16];
	struct lull_error error = { "" };

	snprintf(name, sizeof(name), "pcap%u", count++);
	stand_pair(name, 1, RING_PKTS, &bench->near, &bench->far);
	bench->replay = replay;
	bench->config = (struct lull_traffic_config){
		.source = true,
		.sink = true,
		.tx_port_id = bench->near.port_id,
		.burst_pkts = BURST_PKTS,
		.flow_count = 1,
		.replay = replay,
	};
	bench->config.pool = lull_traffic_pool_create(name, 4 * RING_PKTS, NULL, replay, &error);
	if (bench->config.pool == NULL)
		fail_msg("%s", error.text);
	bench->state = aligned_alloc(LULL_CACHE_LINE, size);
	assert_non_null(bench->state);
	memset(bench->state, 0, size);
	assert_int_equal(stage->init(bench->state, &bench->config, lull_clock_ns()), 0);
	bench->counters = lull_traffic_counters(bench->state);
}

static void
bench_close(struct bench *bench)
{
	lull_port_close(&bench->near);
	lull_port_close(&bench->far);
	assert_int_equal(rte_mempool_in_use_count(bench->config.pool), 0);
	rte_mempool_free(bench->config.pool);
	lull_replay_close(bench->replay);
	free(bench->state);
}

static uint64_t
bench_iterate(struct bench *bench)
{
	struct rte_mbuf *pkts[BURST_PKTS];
	uint64_t now_ns = lull_clock_ns();
	uint16_t count = rte_eth_rx_burst(bench->near.port_id, 0, pkts, BURST_PKTS);

	if (count > 0)
		lull_stage_traffic.burst(bench->state, 0, pkts, count, now_ns);
	return lull_stage_traffic.iterate(bench->state, now_ns);
}

/* Turn, sending back all that comes, until the source is done and everything is back. */
static void
bench_finish(struct bench *bench)
{
	struct rte_mbuf *pkts[BURST_PKTS];
	uint16_t count;

	while (!lull_traffic_done(bench->state) ||
	       lull_traffic_received(bench->state) < bench->counters->sent) {
		count = rte_eth_rx_burst(bench->far.port_id, 0, pkts, BURST_PKTS);
		assert_int_equal(rte_eth_tx_burst(bench->far.port_id, 0, pkts, count), count);
		bench_iterate(bench);
	}
}

/* Frames are rejected instead of kept for later, so the source comes to its end. */
TEST(replay_send__a_device_that_has_gone_is_sent_nothing)
{
	struct rte_mbuf *pkts[6];
	struct bench bench;

	bench_open(&bench, open_three(100, 2));
	__atomic_store_n(&lull_port_watch_gone[bench.near.port_id], true, __ATOMIC_RELAXED);
	while (!lull_traffic_done(bench.state))
		bench_iterate(&bench);
	__atomic_store_n(&lull_port_watch_gone[bench.near.port_id], false, __ATOMIC_RELAXED);
	assert_int_equal(rte_eth_rx_burst(bench.far.port_id, 0, pkts, 6), 0);
	assert_int_equal(bench.counters->sent, 0);
	assert_int_equal(bench.counters->rejected, 6);
	bench_close(&bench);
}

TEST(replay_send__sends_what_was_captured)
{
	struct rte_mbuf *pkts[6];
	struct bench bench;

	bench_open(&bench, open_three(100, 2));
	while (!lull_traffic_done(bench.state))
		bench_iterate(&bench);
	assert_int_equal(rte_eth_rx_burst(bench.far.port_id, 0, pkts, 6), 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(pkts[i]->pkt_len, 60 + 10 * (i % 3));
		for (uint32_t at = 0; at < pkts[i]->pkt_len; at++)
			assert_int_equal(*rte_pktmbuf_mtod_offset(pkts[i], uint8_t *, at),
					 frame_byte((uint8_t)(1 + i % 3), at));
	}
	assert_int_equal(rte_eth_tx_burst(bench.far.port_id, 0, pkts, 6), 6);
	bench_finish(&bench);
	assert_int_equal(bench.counters->sent, 6);
	assert_int_equal(bench.counters->sent_bytes, 2 * (60 + 70 + 80));
	assert_int_equal(bench.counters->rx_pkts, 6);
	assert_int_equal(bench.counters->rx_bytes, bench.counters->sent_bytes);
	assert_int_equal(lull_traffic_lost(bench.state), 0);
	/* no probe, no judgement */
	assert_int_equal(lull_traffic_tally(bench.state)->foreign, 0);
	assert_int_equal(lull_traffic_histogram(bench.state, LULL_TRAFFIC_LATENCY)->count, 0);
	bench_close(&bench);
}

TEST(replay_send__full_speed_waits_for_the_driver)
{
	struct bench bench;

	bench_open(&bench, open_three(0, 1000));
	/* nobody listens: the ring fills and the rest waits */
	for (int i = 0; i < 20; i++)
		assert_true(bench_iterate(&bench) > 0);
	assert_int_equal(bench.counters->sent, RING_PKTS);
	assert_true(bench.counters->retried > 0);
	bench_finish(&bench);
	assert_int_equal(bench.counters->offered, 3000);
	assert_int_equal(bench.counters->sent, 3000);
	assert_int_equal(bench.counters->rejected, 0);
	bench_close(&bench);
}

TEST(replay_send__can_be_ended)
{
	const struct lull_traffic_command command = { .arrival.kind = LULL_ARRIVAL_OFF };
	struct bench bench;

	bench_open(&bench, open_three(0, 0));
	for (int i = 0; i < 10; i++)
		bench_iterate(&bench);
	lull_stage_traffic.command(bench.state, &command, sizeof(command), lull_clock_ns());
	assert_int_equal(bench_iterate(&bench), 0);
	assert_true(lull_traffic_done(bench.state));
	/* what waited for the driver never left */
	assert_int_equal(bench.counters->sent + bench.counters->rejected, bench.counters->offered);
	bench_finish(&bench);
	bench_close(&bench);
}

TEST_GROUP(stand_setup, stand_stop);
