/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conservation, judged while all loops run. Within a cell identities are exact. Between cells:
 * what was taken out of a ring, read first, is at most what was put in; what was put in is at most
 * what was taken out, read last, and the room of the ring with the hands of the taker. Neither
 * bound can fail while nothing is lost or made, however the reader is delayed.
 */
#include <errno.h>
#include <inttypes.h>

#include "host/error.h"
#include "pipeline_reading.h"

#define PKTS "%" PRIu64

static int
check_equal(struct lull_error *error, const char *who, uint32_t index, const char *what,
	    uint64_t left, uint64_t right)
{
	if (left == right)
		return 0;
	return lull_error_set(error, -EPROTO, "%s %u: %s: " PKTS " is not " PKTS, who, index, what,
			      left, right);
}

/* @p before was taken when @p given was read, @p after later still. */
static int
check_ring(struct lull_error *error, const char *who, const uint32_t *pair, uint64_t before,
	   uint64_t given, uint64_t after, uint64_t room)
{
	if (before <= given && given <= after + room)
		return 0;
	return lull_error_set(error, -EPROTO,
			      "%s %u to %u: " PKTS " given, " PKTS " taken before, " PKTS
			      " after, room for " PKTS,
			      who, pair[0], pair[1], given, before, after, room);
}

/* ---- within ---- */

static int
check_io(struct lull_error *error, uint32_t index, const struct flow_io_words *words,
	 uint32_t worker_count)
{
	uint64_t causes = 0, sent = 0;
	int rc;

	for (int i = 0; i < LULL_FLOW_CAUSE_COUNT; i++)
		causes += words->causes[i];
	for (uint32_t i = 0; i < worker_count; i++)
		sent += words->sent[i];
	rc = check_equal(error, "io", index, "rx = by cause", words->rx, causes);
	if (rc == 0)
		rc = check_equal(error, "io", index, "with a flow = staged + dispatched + dropped",
				 words->causes[LULL_FLOW_OK],
				 words->staged + words->dispatched + words->dropped);
	if (rc == 0)
		rc = check_equal(error, "io", index, "dispatched = sent to workers",
				 words->dispatched, sent);
	return rc;
}

static int
check_worker(struct lull_error *error, const uint32_t *pair, const struct flow_worker_words *words,
	     uint32_t aggregator_count)
{
	uint32_t index = pair[0], io_count = pair[1];
	uint64_t finished = words->pkts + words->unrecorded;
	uint64_t put_pkts = 0, taken = 0;
	int rc;

	for (uint32_t i = 0; i < aggregator_count; i++)
		put_pkts += words->put_pkts[i];
	for (uint32_t i = 0; i < io_count; i++)
		taken += words->taken[i];
	rc = check_equal(error, "worker", index, "recorded = in entries + handed over", words->pkts,
			 words->entry_pkts + words->handed_pkts);
	if (rc == 0)
		rc = check_equal(error, "worker", index, "handed over = put into aggregator rings",
				 words->handed_pkts, put_pkts);
	if (rc == 0 && (finished > taken || taken > finished + FLOW_HANDS(io_count)))
		rc = lull_error_set(error, -EPROTO, "worker %u: " PKTS " taken, " PKTS " finished",
				    index, taken, finished);
	return rc;
}

static int
check_aggregator(struct lull_error *error, uint32_t index,
		 const struct flow_aggregator_words *words, uint32_t worker_count)
{
	uint64_t got_pkts = 0;

	for (uint32_t i = 0; i < worker_count; i++)
		got_pkts += words->got_pkts[i];
	return check_equal(error, "aggregator", index, "taken = recorded + open", got_pkts,
			   words->pkts + words->open_pkts);
}

static int
check_within(const struct lull_pipeline *pipeline, const struct pipeline_reading *reading,
	     struct lull_error *error)
{
	const struct lull_pipeline_config *config = &pipeline->config;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < config->io_count; i++)
		rc = check_io(error, i, &reading->ios[i], config->worker_count);
	for (uint32_t i = 0; rc == 0 && i < config->worker_count; i++) {
		const uint32_t pair[] = { i, config->io_count };

		rc = check_worker(error, pair, &reading->workers[i], config->aggregator_count);
	}
	for (uint32_t i = 0; rc == 0 && i < config->aggregator_count; i++)
		rc = check_aggregator(error, i, &reading->aggregators[i], config->worker_count);
	return rc;
}

/* ---- between ---- */

/* Packets that can be between the two. */
static uint64_t
check_room(const struct lull_pipeline *pipeline, uint32_t io, uint32_t worker)
{
	if (pipeline->feed != NULL)
		return flow_feed_room(pipeline);
	return rte_ring_get_capacity(pipeline->ios[io]->rings[worker]) + FLOW_BATCH;
}

static int
check_packets(const struct lull_pipeline *pipeline, const struct pipeline_reading *before,
	      const struct pipeline_reading *after, struct lull_error *error)
{
	int rc = 0;

	for (uint32_t i = 0; i < pipeline->config.io_count; i++) {
		for (uint32_t j = 0; rc == 0 && j < pipeline->config.worker_count; j++) {
			const uint32_t pair[] = { i, j };

			rc = check_ring(error, "packets of io and worker", pair,
					before->workers[j].taken[i], before->ios[i].sent[j],
					after->workers[j].taken[i], check_room(pipeline, i, j));
		}
	}
	return rc;
}

/* When all messages were taken there is nothing on the way, and packets must agree too. */
static int
check_messages(const struct lull_pipeline *pipeline, const struct pipeline_reading *before,
	       const struct pipeline_reading *after, struct lull_error *error)
{
	const uint64_t room = pipeline->config.aggregator_ring + FLOW_RECORDS;
	int rc = 0;

	for (uint32_t i = 0; i < pipeline->config.worker_count; i++) {
		const struct flow_worker_words *words = &before->workers[i];

		for (uint32_t j = 0; rc == 0 && j < pipeline->config.aggregator_count; j++) {
			const struct flow_aggregator_words *early = &before->aggregators[j];
			const uint32_t pair[] = { i, j };

			rc = check_ring(error, "records of worker and aggregator", pair,
					early->got[i], words->put[j], after->aggregators[j].got[i],
					room);
			if (rc == 0 && early->got[i] == words->put[j])
				rc = check_equal(error, "aggregator", j, "packets taken = put",
						 early->got_pkts[i], words->put_pkts[j]);
		}
	}
	return rc;
}

int
lull_pipeline_check(const struct lull_pipeline *pipeline, struct lull_error *error)
{
	struct pipeline_reading before, after;
	int rc;

	pipeline_read_aggregators(pipeline, &before);
	pipeline_read_workers(pipeline, &before);
	pipeline_read_ios(pipeline, &before);
	pipeline_read_workers(pipeline, &after);
	pipeline_read_aggregators(pipeline, &after);
	rc = check_within(pipeline, &before, error);
	if (rc == 0)
		rc = check_packets(pipeline, &before, &after, error);
	if (rc == 0)
		rc = check_messages(pipeline, &before, &after, error);
	return rc;
}
