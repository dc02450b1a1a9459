/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Encode: flow records as bytes that others read: JSON lines and IPFIX.
 *
 * Plain state machines: records and the time come in, bytes go out; sockets and
 * files are the caller's.
 * Threads: an exporter belongs to one loop.
 * Memory:  the caller's.
 */
#ifndef LULL_ENCODE_H
#define LULL_ENCODE_H

#include "flow.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Names of the identifier's protocols; writes at most @p size bytes, returns @p text. */
typedef const char *lull_encode_app(void *arg, uint16_t app, uint16_t app_master, char *text,
				    size_t size);

/** Conservation counters for the options record: packets, but for the last two. */
struct lull_encode_totals {
	uint64_t rx;                                 /**< received by the I/O loops */
	uint64_t dispatched;                         /**< taken by workers' rings */
	uint64_t not_ip, malformed, truncated, link; /**< no flow */
	uint64_t drop_ring;                          /**< all rings full */
	uint64_t missed, nombuf, errors;             /**< lost by the ports before rx */
	uint64_t unrecorded;                         /**< no room in a flow table */
	uint64_t recorded;                           /**< in records given so far */
	uint64_t records;
	uint64_t evicted;
};
/** Name, unit and meaning of each member of struct lull_encode_totals, ended by a NULL name. */
extern const struct lull_counter_info lull_encode_totals_table[];

/* ---- JSON lines ---- */

/** What a line of JSON has. */
struct lull_encode_json_config {
	bool facts;             /**< scheduling facts too: workers, moves, reordered, end, exact */
	uint32_t payload_bytes; /**< as the records', written in hex when > 0 */
	uint32_t observation_point; /**< where all packets were observed; 0: it is not told */
	lull_encode_app *app;
	void *app_arg;
};
/** A line of any record fits. */
#define LULL_ENCODE_JSON_MAX 2048
/**
 * Write a record as one JSON object and a line feed. Members always come in this order: src_ip,
 * src_port, dst_ip, dst_port, proto, vlan_id, packets, bytes, packets_rev, bytes_rev, first_us,
 * last_us, app, payload_bytes, payload_bytes_rev, tcp_flags, tcp_flags_rev, tcp_state; of ICMP
 * icmp_type, icmp_code; where it belongs to the key: tunnel, tunnel_id, mpls_label, interface;
 * observation_point, if there is one; of a sample: sampling_interval; with payload: payload,
 * payload_rev; with facts: workers, moves, reordered, fragments, end, exact.
 * @param line  out: room for LULL_ENCODE_JSON_MAX bytes; no zero at its end
 * @return its bytes
 * Threads: any.
 */
size_t lull_encode_json(const struct lull_encode_json_config *config,
			const struct lull_flow_record *record, char *line);

/* ---- IPFIX (RFC 7011, biflows RFC 5103) ---- */

/** Longest text about an interface; longer ones are cut. */
#define LULL_IPFIX_TEXT_MAX 96
/** An interface, for the options records that name them. */
struct lull_ipfix_interface {
	uint32_t number;         /**< as the keys of records have it */
	const char *name;        /**< UTF-8; "": it has none */
	const char *description; /**< UTF-8; "": there is none */
};
/**
 * Tell interface @p index, 0 and on, of those known so far; more may become known later.
 * @return false: no so many are known
 */
typedef bool lull_ipfix_interfaces(void *arg, uint32_t index,
				   struct lull_ipfix_interface *interface);

/** Zero means the default in brackets. */
struct lull_ipfix_config {
	uint32_t domain_id;         /**< observation domain [1] */
	uint32_t message_bytes;     /**< longest message, 512..65535 [1420] */
	uint64_t template_ns;       /**< templates again after so long; stream: only once [60 s] */
	bool stream;                /**< TCP or file: templates once */
	bool facts;                 /**< scheduling facts as enterprise elements [false] */
	bool segment;               /**< numbers of tunnels, as layer2SegmentId [false] */
	bool interface;             /**< interfaces of keys, as ingressInterface [false] */
	bool sampling;              /**< samplingProbability, 1 but for samples [false] */
	uint32_t observation_point; /**< observationPointId of all records; 0: it is not told */
	uint32_t enterprise;  /**< private enterprise number of those [32473, documentation] */
	lull_encode_app *app; /**< applicationName; NULL: none */
	void *app_arg;
	lull_ipfix_interfaces *interfaces; /**< sent behind the templates; NULL: none */
	void *interfaces_arg;
};
/**
 * Check a configuration. A member that is zero stands for its default.
 * @param error  gets the first member that is out of range; may be NULL
 * @return 0; -EINVAL: a member is out of range
 * Threads: any.
 */
int lull_ipfix_config_check(const struct lull_ipfix_config *config, struct lull_range *error);
/** Counters of one exporter. */
struct lull_ipfix_counters {
	uint64_t messages;  /**< given to send */
	uint64_t records;   /**< data records in them, options records included */
	uint64_t options;   /**< options records in them */
	uint64_t templates; /**< template records in them */
	uint64_t bytes;     /**< of the messages */
};
/** Name, unit and meaning of each member of struct lull_ipfix_counters, ended by a NULL name. */
extern const struct lull_counter_info lull_ipfix_counter_table[];
struct lull_ipfix; /* opaque */
/**
 * Tell how much memory an exporter of this configuration needs.
 * @return bytes; align them to LULL_CACHE_LINE
 * Threads: any.
 */
size_t lull_ipfix_size(const struct lull_ipfix_config *config);
/** Take a whole message: borrow it during the call. */
typedef void lull_ipfix_send(void *arg, const uint8_t *message, size_t bytes);
/**
 * Set up an exporter in memory of the caller. It lives until the caller frees that memory.
 * @param memory    lull_ipfix_size() bytes, aligned to LULL_CACHE_LINE
 * @param config    copied
 * @param send      called with each whole message
 * @param send_arg  passed to @p send
 * @param ipfix     out: the object; it is at @p memory
 * @return 0; -EINVAL: a member of @p config is out of range
 */
int lull_ipfix_init(void *memory, const struct lull_ipfix_config *config, lull_ipfix_send *send,
		    void *send_arg, struct lull_ipfix **ipfix);
/**
 * Add a record to the message that is begun, and send it when it is full.
 * @param time_ns  now, since 1970: for the message header and for the resending of templates
 * @param record   not kept
 */
void lull_ipfix_add(struct lull_ipfix *ipfix, uint64_t time_ns,
		    const struct lull_flow_record *record);
/**
 * Write the options record, behind all records added so far.
 * @param time_ns  now, since 1970
 * @param totals   not kept
 */
void lull_ipfix_totals(struct lull_ipfix *ipfix, uint64_t time_ns,
		       const struct lull_encode_totals *totals);
/**
 * Send the message that is begun, if there is one.
 * @param time_ns  now, since 1970
 */
void lull_ipfix_flush(struct lull_ipfix *ipfix, uint64_t time_ns);
/**
 * Begin anew for a new connection: the message that is begun is forgotten, sequence numbers begin
 * at 0, and templates come first.
 */
void lull_ipfix_restart(struct lull_ipfix *ipfix);
/**
 * Give access to the counters. Read members with LULL_COUNTER_READ().
 * @return borrowed for the life of the exporter
 * Threads: any.
 */
const struct lull_ipfix_counters *lull_ipfix_counters(const struct lull_ipfix *ipfix);

#ifdef __cplusplus
}
#endif

#endif
