/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Sink: where flow records leave the program: JSON lines, IPFIX, Kafka, all at once if asked.
 *
 * Destinations: FILE, "-" (stdout), udp://HOST:PORT, tcp://HOST:PORT, unix:PATH (a stream socket);
 * of Kafka BROKERS/TOPIC, brokers as HOST:PORT,HOST:PORT.
 *
 * Two orders. Live, records leave as they come and an aggregator loop never waits: what a
 * destination does not take at once stands in a bounded queue, what finds no room there is dropped
 * and counted, a stream that broke is opened again. Ordered, for files as input, records are
 * collected and flow_sink_finish() writes them in canonical order, waiting for the destination as
 * long as it moves on.
 *
 * Threads: open, finish and close from the main thread while no loop runs; each instance belongs to
 * its
 *          aggregator loop; counters from any thread.
 * Memory:  allocated; ordered, it grows with the records.
 */
#ifndef LULL_FLOW_SINK_H
#define LULL_FLOW_SINK_H

#include <lull/pipeline.h>

#include "host/error.h"

enum flow_sink_kind { FLOW_SINK_JSON, FLOW_SINK_IPFIX, FLOW_SINK_KAFKA, FLOW_SINK_KINDS };
/** "json", "ipfix", "kafka". */
const char *flow_sink_kind_name(enum flow_sink_kind kind);

/** Zero means the default in brackets. */
struct flow_sink_settings {
	const char *to[FLOW_SINK_KINDS]; /**< destinations; NULL or "": none. Borrowed */
	uint32_t instances;     /**< aggregator loops, 1..LULL_PIPELINE_AGGREGATOR_MAX [1] */
	bool ordered;           /**< collect, sort, write at the end [false] */
	bool facts;             /**< scheduling facts too [false] */
	bool segment;           /**< IPFIX: numbers of tunnels too [false] */
	bool interface;         /**< IPFIX: interfaces too [false] */
	uint32_t payload_bytes; /**< as the records' */
	lull_encode_app *app;   /**< names of protocols; NULL: none */
	void *app_arg;
	uint32_t queue_bytes;   /**< what waits for each destination [4 MiB] */
	uint32_t datagrams_pps; /**< most datagrams per second, so that receivers follow [10000] */
	uint32_t message_bytes; /**< longest IPFIX message [1420] */
	uint32_t domain_id;     /**< IPFIX: of the first instance, the next ones follow [1] */
	uint32_t enterprise;    /**< IPFIX: number of our own elements [32473] */
	uint64_t template_ns;   /**< IPFIX over UDP: templates again [60 s] */
	/**
	 * IPFIX: totals this often and at the end [10 s; over UDP only at the end, because nfcapd
	 * does not number options records and would call each a sequence error]
	 */
	uint64_t totals_ns;
	const char *kafka_extra; /**< properties of librdkafka, "name=value,..."; NULL: none */
};

/** taken = records + drops + what waits. Records, but for the last three. */
struct flow_sink_counters {
	uint64_t taken;    /**< from the aggregator loop */
	uint64_t records;  /**< given to the system or acknowledged by a broker */
	uint64_t drops;    /**< lost: no room, destination gone, write failed */
	uint64_t bytes;    /**< given to the system */
	uint64_t errors;   /**< calls that failed, connections lost and refused */
	uint64_t connects; /**< connections made */
};
extern const struct lull_counter_info flow_sink_counter_table[];

struct flow_sink; /* opaque */

/** Are the destinations well written? Opens nothing. 0 or -EINVAL/-ENOTSUP and the sentence. */
int flow_sink_check(const struct flow_sink_settings *settings, struct lull_error *error);
/**
 * Open all destinations. Files are truncated. A stream that nobody listens to is an error when
 * ordered; live it is tried again and again. Ignores SIGPIPE from here on.
 */
int flow_sink_open(const struct flow_sink_settings *settings, struct flow_sink **sink,
		   struct lull_error *error);
/** For struct lull_pipeline_config: what aggregator loop @p index calls. */
struct lull_pipeline_sink flow_sink_instance(struct flow_sink *sink, uint32_t index);
/**
 * After the loops have stopped: write what is left. Live it waits at most a few seconds.
 * @return 0, or -errno and the first thing that went wrong: records are missing
 */
int flow_sink_finish(struct flow_sink *sink, struct lull_error *error);
/** NULL is ignored. What flow_sink_finish() has not written is lost. */
void flow_sink_close(struct flow_sink *sink);
/** Sum over all instances; all zero for a kind that is not open. */
void flow_sink_read(const struct flow_sink *sink, enum flow_sink_kind kind,
		    struct flow_sink_counters *counters);

#endif
