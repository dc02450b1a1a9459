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
 * and counted, a stream that broke is opened again, and names are looked up anew. Ordered, for
 * files as input, records are collected and flow_sink_finish() writes them in canonical order,
 * waiting for the destination as long as it moves on.
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

/** Destinations of one kind. */
#define FLOW_SINK_EACH_MAX 8

/** Zero means the default in brackets. */
struct flow_sink_settings {
	/** Destinations, in front; NULL or "": none. Borrowed. */
	const char *to[FLOW_SINK_KINDS][FLOW_SINK_EACH_MAX];
	uint32_t instances; /**< aggregator loops, 1..LULL_PIPELINE_AGGREGATOR_MAX [1] */
	bool ordered;       /**< collect, sort, write at the end [false] */
	bool facts;         /**< scheduling facts too [false] */
	bool segment;       /**< IPFIX: numbers of tunnels too [false] */
	bool sampling;      /**< IPFIX: the probability that a record is there [false] */
	bool interface;     /**< IPFIX: interfaces too [false] */
	/** IPFIX: their names; asked by any instance, ordered at the end only. NULL: none */
	lull_ipfix_interfaces *interfaces;
	void *interfaces_arg;
	uint32_t observation_point; /**< of all records; 0: it is not told */
	uint32_t payload_bytes;     /**< as the records' */
	lull_encode_app *app;       /**< names of protocols; NULL: none */
	void *app_arg;
	uint32_t queue_bytes; /**< what waits for each destination [32 MiB] */
	/**
	 * Datagrams per second [1000, which receivers with ordinary buffers follow; live it rises
	 * to 10000 as the queue fills beyond its half]
	 */
	uint32_t datagrams_pps;
	uint64_t timeout_ns;    /**< a connection that does not answer is given up [30 s] */
	uint64_t rotate_ns;     /**< files: a new one at each multiple since 1970; 0: never */
	uint64_t rotate_bytes;  /**< files: a new one when it has so many bytes; 0: never */
	uint32_t message_bytes; /**< longest IPFIX message [1420] */
	uint32_t domain_id;     /**< IPFIX: of the first instance, the next ones follow [1] */
	uint32_t enterprise;    /**< IPFIX: number of our own elements [32473] */
	uint64_t template_ns;   /**< IPFIX over UDP: templates again [60 s] */
	/**
	 * IPFIX: totals this often and at the end [10 s; over UDP 60 s, because nfcapd does not
	 * number options records and calls each a sequence error]; UINT64_MAX: only at the end
	 */
	uint64_t totals_ns;
	/** Properties of librdkafka, "name=value", NULL at the end; NULL: none. Borrowed. */
	const char *const *kafka_properties;
	const char *kafka_file; /**< with a property per line, such as a password; NULL: none */
	/**
	 * Files are opened between as_user(arg, true) and as_user(arg, false), with the rights that
	 * the process will have when it opens them anew; NULL: with those it has.
	 */
	void (*as_user)(void *arg, bool as_user);
	void *as_user_arg;
};

/** taken = records + drops + what waits; drops and errors are the sums of their causes. */
struct flow_sink_counters {
	uint64_t taken;             /**< from the aggregator loop */
	uint64_t records;           /**< given to the system or acknowledged by a broker */
	uint64_t drops;             /**< records that are lost */
	uint64_t drop_full;         /**< no room in the queue */
	uint64_t drop_cut;          /**< a connection broke on which they were, or depended */
	uint64_t drop_refused;      /**< the system or a broker refused them */
	uint64_t drop_end;          /**< they still waited at the end */
	uint64_t bytes;             /**< given to the system */
	uint64_t errors;            /**< calls that failed, connections lost and refused */
	uint64_t error_refused;     /**< nobody listens there */
	uint64_t error_reset;       /**< the other side ended the connection */
	uint64_t error_timeout;     /**< no answer */
	uint64_t error_unreachable; /**< no way to the host */
	uint64_t error_name;        /**< the name has no address */
	uint64_t error_denied;      /**< a certificate or a password was not accepted */
	uint64_t error_write;       /**< disk full, and whatever else */
	uint64_t connects;          /**< connections made */
	uint64_t volumes;           /**< files begun by rotation or SIGHUP */
};
extern const struct lull_counter_info flow_sink_counter_table[];

struct flow_sink; /* opaque */

/** Are the destinations well written? Opens nothing. 0 or -EINVAL/-ENOTSUP and the sentence. */
int flow_sink_check(const struct flow_sink_settings *settings, struct lull_error *error);
/**
 * Open all destinations. Ordered, files are replaced; live, they are continued. A stream that
 * nobody listens to is an error when ordered; live it is tried again and again. Ignores SIGPIPE
 * from here on.
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
/** Sum over all destinations and instances; all zero for a kind that is not open. */
void flow_sink_read(const struct flow_sink *sink, enum flow_sink_kind kind,
		    struct flow_sink_counters *counters);

/** One destination as it is now. */
struct flow_sink_state {
	enum flow_sink_kind kind;
	const char *to;     /**< as typed */
	bool up;            /**< false: it does not take records now */
	const char *reason; /**< why it does not, or did not when it was last down; NULL: never */
	struct flow_sink_counters counters;
};
/** Of destination @p index, 0 and on; false: there are no more. Threads: any. */
bool flow_sink_state(const struct flow_sink *sink, uint32_t index, struct flow_sink_state *state);

/** Takes a sentence for people, without line feed. */
typedef void flow_sink_tell(void *arg, const char *text);
/**
 * What wants doing from time to time while loops run, live: rotate files; tell who does not take
 * records, loses some, or is back, each at most once a minute. Threads: main.
 */
void flow_sink_watch(struct flow_sink *sink, flow_sink_tell *tell, void *arg);
/** Open files anew, because somebody may have moved them. Threads: main. */
void flow_sink_reopen(struct flow_sink *sink, flow_sink_tell *tell, void *arg);

#endif
