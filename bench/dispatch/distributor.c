/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_distributor in burst mode: the tag is the digest, the workers ask for packets. */
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_distributor.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include "peer.h"

#define GRAB_PKTS 8 /* most that a worker is given at once */

/*
 * A worker's request waits until the distributor has looked at it, and the distributor waits for
 * workers: a thread that is two workers stands still. So there are no more than CPUs.
 */
struct seat {
	uint32_t worker;
	bool asked; /* a request is out: lasts from pass to pass */
	uint64_t taken_pkts;
};

static struct {
	struct rte_distributor *distributor;
	uint32_t worker_count;
	bool stop;
	struct seat seats[LANE_WORKERS_MAX];
} state;

static int
seat_main(void *arg)
{
	struct rte_mbuf *pkts[GRAB_PKTS];
	struct seat *seat = arg;
	uint64_t taken_pkts = 0;

	while (!__atomic_load_n(&state.stop, __ATOMIC_ACQUIRE)) {
		int count;

		if (!seat->asked)
			rte_distributor_request_pkt(state.distributor, seat->worker, NULL, 0);
		seat->asked = true;
		count = rte_distributor_poll_pkt(state.distributor, seat->worker, pkts);
		if (count < 0)
			continue;
		taken_pkts += (uint32_t)count;
		seat->asked = false;
	}
	seat->taken_pkts = taken_pkts;
	return 0;
}

static int
distributor_open(uint32_t worker_count, char *note)
{
	char name[32];

	memset(&state, 0, sizeof(state));
	state.worker_count = LULL_MIN(worker_count, rte_lcore_count() - 1);
	if (state.worker_count == 0) {
		snprintf(note, PEER_NOTE_SIZE, "needs a second CPU");
		return -1;
	}
	/* There is no call to destroy one: each number of workers has its own to the end. */
	snprintf(name, sizeof(name), "distributor%u", worker_count);
	state.distributor = rte_distributor_create(name, rte_socket_id(), state.worker_count,
						   RTE_DIST_ALG_BURST);
	if (state.distributor == NULL) {
		snprintf(note, PEER_NOTE_SIZE, "could not be created");
		return -1;
	}
	snprintf(note, PEER_NOTE_SIZE, "%u worker%s on %s%s", state.worker_count,
		 state.worker_count > 1 ? "s" : "",
		 state.worker_count > 1 ? "a CPU each" : "a second CPU",
		 state.worker_count < worker_count ? ": TOO FEW CPUS FOR MORE" : "");
	return 0;
}

static double
distributor_pass(const struct lane *lane)
{
	const uint32_t burst_pkts = lane->config.burst_pkts;
	struct rte_mbuf *pkts[LANE_BURST_MAX];
	uint32_t digests[LANE_BURST_MAX], next_mbuf = 0;
	uint64_t begin, ticks, sent = 0, taken = 0;
	unsigned int lcore_id;
	uint32_t seat = 0;

	__atomic_store_n(&state.stop, false, __ATOMIC_RELEASE);
	RTE_LCORE_FOREACH_WORKER(lcore_id)
	{
		if (seat == state.worker_count)
			break;
		state.seats[seat].worker = seat;
		rte_eal_remote_launch(seat_main, &state.seats[seat++], lcore_id);
	}
	begin = rte_rdtsc_precise();
	for (uint32_t first = 0; first + burst_pkts <= lane->headers->count; first += burst_pkts) {
		lane_digests(lane, first, burst_pkts, digests, NULL);
		for (uint32_t i = 0; i < burst_pkts; i++) {
			pkts[i] = peer_mbufs[next_mbuf++ & (PEER_MBUFS - 1)];
			pkts[i]->hash.usr = digests[i];
		}
		rte_distributor_process(state.distributor, pkts, burst_pkts);
		sent += burst_pkts;
	}
	rte_distributor_flush(state.distributor);
	ticks = rte_rdtsc_precise() - begin;
	__atomic_store_n(&state.stop, true, __ATOMIC_RELEASE);
	rte_eal_mp_wait_lcore();
	rte_distributor_clear_returns(state.distributor);
	for (uint32_t i = 0; i < state.worker_count; i++)
		taken += state.seats[i].taken_pkts;
	return taken == sent ? (double)ticks / (double)sent : -1;
}

static void
distributor_close(void)
{
}

const struct peer peer_distributor = {
	.name = "rte_distributor",
	.open = distributor_open,
	.pass = distributor_pass,
	.close = distributor_close,
};
