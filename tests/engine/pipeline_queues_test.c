/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One live port read by several I/O loops, a queue each: records are those of one loop, whichever
 * queue a packet comes to, by every scheduler, also beside a worker that stands still and with
 * rings that are full. Over rings, and over memif between the two ends in this process.
 */
#include "pipeline_stand.h"

#include <stdlib.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "engine/flow/stage.h"

#define QUEUES 2
#define FLOWS 60
#define ROUNDS 10 /* packets of each flow */
#define MORE 4    /* and these behind a stall: what was dropped is told with the next of the flow */
#define EACH (ROUNDS + MORE)
#define SERVER_PORTS 4000
#define QUIET_NS (3600 * LULL_NS_PER_S)

static struct lull_flow_record *records;

/* Of packet @p number of a flow: its queue. Symmetric RSS, RSS without a thought, and worse. */
enum deal { DEAL_FLOW, DEAL_DIRECTION, DEAL_PACKET, DEALS };
static const char *const deal_names[] = { "by flow", "by direction", "by packet" };

static uint16_t
deal_queue(enum deal deal, uint32_t flow, uint32_t number)
{
	uint32_t by[] = { flow, number % 2, number / 2 + flow };

	return (uint16_t)(by[deal] % QUEUES);
}

/* ---- memif ---- */

static char folder[] = "/tmp/lull-queues-XXXXXX";
static struct lull_port memif[2]; /* server, client: both ends */

static int
memif_open(void)
{
	static const struct lull_port_config config = { .queues = QUEUES,
							.ring_pkts = 256,
							.burst_pkts = 32,
							.private_bytes = LULL_PIPELINE_PRIVATE };
	struct rte_eth_link link[2] = { 0 };
	struct lull_error error = { "" };

	for (uint16_t i = 0; i < 2; i++) {
		if (lull_port_open(i, &config, &memif[i], &error) != 0) {
			fprintf(stderr, "%s\n", error.text);
			return -1;
		}
	}
	for (int i = 0; i < 2; i++)
		STAND_WAIT(rte_eth_link_get_nowait(memif[i].port_id, &link[i]) == 0 &&
			   link[i].link_status == RTE_ETH_LINK_UP);
	return 0;
}

static int
setup(void **state)
{
	static const char *const roles[] = { "server", "client" };
	char vdevs[2][96];
	const char *list[] = { vdevs[0], vdevs[1], NULL };

	(void)state;
	records = calloc(RECORDS_MAX, sizeof(records[0]));
	if (records == NULL || mkdtemp(folder) == NULL)
		return -1;
	for (int i = 0; i < 2; i++)
		snprintf(vdevs[i], sizeof(vdevs[i]),
			 "net_memif%d,role=%s,socket-abstract=no,socket=%s/s", i, roles[i], folder);
	if (stand_start_many(list, PIPELINE_LOOPS) != 0)
		return -1;
	return memif_open();
}

static int
teardown(void **state)
{
	char path[64];
	int rc;

	for (int i = 1; i >= 0; i--)
		lull_port_close(&memif[i]);
	free(records);
	rc = stand_stop(state);
	snprintf(path, sizeof(path), "%s/s", folder);
	(void)unlink(path);
	(void)rmdir(folder);
	return rc;
}

/* ---- cells ---- */

static void
stall(const struct bench *bench, uint32_t worker, uint64_t stall_ns)
{
	bench_post(bench->workers[worker], &(struct lull_pipeline_command){
						   .verb = LULL_PIPELINE_STALL,
						   .stall_ns = stall_ns,
					   });
}

struct cell {
	const struct lull_scheduler *scheduler;
	uint32_t workers;
	enum deal deal;
	bool stall;         /* a worker stands still while they come */
	uint32_t ring_pkts; /* so few that they are full then; 0: room for all */
	bool memif;         /* from the client to the server */
};

/* Packets of every flow from both ends. */
static void
cell_send(const struct bench *bench, const struct lull_port *near, const struct cell *cell,
	  uint32_t number, uint32_t end)
{
	for (; number < end; number++) {
		for (uint32_t flow = 0; flow < FLOWS; flow++)
			port_send_one(near, deal_queue(cell->deal, flow, number), flow, number);
		STAND_WAIT(totals_of(bench).totals.rx == (number + 1) * FLOWS);
		if (number >= ROUNDS)
			STAND_WAIT(totals_of(bench).staged + totals_of(bench).in_flight == 0);
	}
}

/* What is exact is whole; what is not lacks what was dropped, and no more. */
static void
cell_check(const struct bench *bench, enum deal deal, const char *what)
{
	uint32_t count = bench_records(bench, records), each = EACH / 2;
	uint64_t missing = 0;

	if (count != FLOWS)
		fail_msg("%s: %u records of %u flows", what, count, FLOWS);
	for (uint32_t i = 0; i < count; i++) {
		const struct lull_flow_record *record = &records[i];
		uint32_t here = (uint32_t)(record->packets[0] + record->packets[1]);
		bool whole = record->packets[0] == each && record->packets[1] == each;

		if (here > EACH || record->exact != whole || record->last_ns < record->first_ns)
			fail_msg("%s: record %u: %u packets, %sexact", what, i, here,
				 record->exact ? "" : "not ");
		/* Who sent the first packet; which of two queues had it nobody knows for sure. */
		if (deal == DEAL_FLOW && whole &&
		    record->key.port[record->first_direction] >= SERVER_PORTS)
			fail_msg("%s: record %u: the server began", what, i);
		missing += EACH - here;
	}
	if (missing != totals_of(bench).totals.drop_ring)
		fail_msg("%s: %u packets are missing, not as many as were dropped", what,
			 (uint32_t)missing);
}

/* Returns how many packets were dropped. */
static uint64_t
cell_run(const struct cell *cell)
{
	static uint32_t runs;
	struct lull_port near = memif[1], far = memif[0];
	struct bench bench;
	uint64_t dropped;
	char name[16], what[96];

	snprintf(name, sizeof(name), "queues%u", runs++);
	snprintf(what, sizeof(what), "%s, %u workers, dealt %s%s",
		 lull_scheduler_name(cell->scheduler), cell->workers, deal_names[cell->deal],
		 cell->stall ? ", one stands still" : "");
	if (cell->memif)
		port_init_over(&bench, NULL, QUEUES);
	else
		port_init_queues(&bench, NULL, name, QUEUES, &near, &far);
	bench.config.worker_count = cell->workers;
	bench.config.dispatch.scheduler = cell->scheduler;
	bench.config.dispatch.bucket_bits = 8;
	bench.config.table.idle_ns = QUIET_NS;
	bench.config.ring_pkts = cell->ring_pkts != 0 ? cell->ring_pkts : 1024;
	bench_start(&bench, &far);
	if (cell->stall)
		stall(&bench, 0, STAND_PATIENCE_NS);
	cell_send(&bench, &near, cell, 0, ROUNDS);
	if (cell->stall)
		stall(&bench, 0, 0);
	STAND_WAIT(totals_of(&bench).staged + totals_of(&bench).in_flight == 0);
	cell_send(&bench, &near, cell, ROUNDS, EACH);
	bench_finish(&bench);
	bench_check(&bench);
	for (uint32_t i = 0; i < QUEUES; i++)
		assert_int_equal(bench.pipeline->ios[i]->counters.rx_pkts, EACH * FLOWS / QUEUES);
	assert_int_equal(totals_of(&bench).open, 0);
	dropped = totals_of(&bench).totals.drop_ring;
	cell_check(&bench, cell->deal, what);
	bench_close(&bench);
	if (!cell->memif) {
		lull_port_close(&near);
		lull_port_close(&far);
	}
	return dropped;
}

TEST(queues__records_do_not_depend_on_who_reads_a_packet)
{
	static const uint32_t worker_counts[] = { 1, 2, 4 };

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		for (uint32_t j = 0; j < 9; j++) {
			const struct cell cell = {
				.scheduler = lull_schedulers[i],
				.workers = worker_counts[j / 3],
				.deal = j % 3,
			};

			assert_int_equal(cell_run(&cell), 0);
		}
	}
}

TEST(queues__a_worker_that_stands_still_costs_nothing)
{
	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		const struct cell cell = {
			.scheduler = lull_schedulers[i],
			.workers = 3,
			.deal = i % DEALS,
			.stall = true,
		};

		assert_int_equal(cell_run(&cell), 0);
	}
}

TEST(queues__what_full_rings_drop_is_told)
{
	uint64_t dropped = 0;

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		const struct cell cell = {
			.scheduler = lull_schedulers[i],
			.workers = 2,
			.deal = i % DEALS,
			.stall = true,
			.ring_pkts = 64,
		};

		dropped += cell_run(&cell);
	}
	assert_true(dropped > 100);
}

/* Packets are copied into buffers of the receiver, through rings that are full at times. */
TEST(queues__over_memif)
{
	uint64_t dropped = 0;

	for (uint32_t i = 0; lull_schedulers[i] != NULL; i++) {
		for (uint32_t way = 0; way < 3; way++) {
			const struct cell cell = {
				.scheduler = lull_schedulers[i],
				.workers = 2 + i % 2,
				.deal = (i + way) % DEALS,
				.stall = way > 0,
				.ring_pkts = way == 2 ? 64 : 0,
				.memif = true,
			};
			uint64_t here = cell_run(&cell);

			assert_true(way == 2 || here == 0);
			dropped += here;
		}
	}
	assert_true(dropped > 100);
}

TEST_GROUP(setup, teardown);
