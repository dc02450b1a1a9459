/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Export: flow records as bytes that others read: JSON lines and IPFIX.
 *
 * Plain state machines: records and the time come in, bytes go out; sockets and
 * files are the caller's.
 * Threads: an exporter belongs to one loop.
 * Memory:  the caller's.
 */
#ifndef LULL_EXPORT_H
#define LULL_EXPORT_H

#include "flow.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Names of the identifier's protocols; writes at most @p size bytes, returns @p text. */
typedef const char *lull_export_app(void *arg, uint16_t app, uint16_t app_master, char *text,
				    size_t size);

/** Conservation counters for the options record: packets, but for the last two. */
struct lull_export_totals {
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
extern const struct lull_counter_info lull_export_totals_table[];

/* ---- JSON lines ---- */

struct lull_export_json_config {
	bool facts;             /**< scheduling facts too: workers, moves, reordered, end, exact */
	uint32_t payload_bytes; /**< as the records', written in hex when > 0 */
	lull_export_app *app;
	void *app_arg;
};
/** A line of any record fits. */
#define LULL_EXPORT_JSON_MAX 2048
/**
 * One object and a line feed, members always in this order: src_ip, src_port, dst_ip, dst_port,
 * proto, vlan_id, packets, bytes, packets_rev, bytes_rev, first_us, last_us, app, payload_bytes,
 * payload_bytes_rev, tcp_flags, tcp_flags_rev, tcp_state; with payload: payload, payload_rev; with
 * facts: workers, moves, reordered, fragments, end, exact. Returns its bytes.
 */
size_t lull_export_json(const struct lull_export_json_config *config,
			const struct lull_flow_record *record, char *line);

/* ---- IPFIX (RFC 7011, biflows RFC 5103) ---- */

/** Zero means the default in brackets. */
struct lull_ipfix_config {
	uint32_t domain_id;     /**< observation domain [1] */
	uint32_t message_bytes; /**< longest message, 512..65535 [1420] */
	uint64_t template_ns;   /**< templates again after so long; stream: only once [60 s] */
	bool stream;            /**< TCP or file: templates once */
	bool facts;             /**< scheduling facts as enterprise elements [false] */
	uint32_t enterprise;    /**< private enterprise number of those [32473, documentation] */
	lull_export_app *app;   /**< applicationName; NULL: none */
	void *app_arg;
};
int lull_ipfix_config_check(const struct lull_ipfix_config *config, struct lull_range *error);
struct lull_ipfix_counters {
	uint64_t messages;  /**< given to send */
	uint64_t records;   /**< data records in them, options records included */
	uint64_t options;   /**< options records in them */
	uint64_t templates; /**< template records in them */
	uint64_t bytes;     /**< of the messages */
};
extern const struct lull_counter_info lull_ipfix_counter_table[];
struct lull_ipfix; /* opaque */
size_t lull_ipfix_size(const struct lull_ipfix_config *config);
/** Take a whole message: borrow it during the call. */
typedef void lull_ipfix_send(void *arg, const uint8_t *message, size_t bytes);
int lull_ipfix_init(void *memory, const struct lull_ipfix_config *config, lull_ipfix_send *send,
		    void *send_arg, struct lull_ipfix **ipfix);
/** @p time_ns: since 1970, for the message header and the resending of templates. */
void lull_ipfix_add(struct lull_ipfix *ipfix, uint64_t time_ns,
		    const struct lull_flow_record *record);
/** The options record, now, behind all records added so far. */
void lull_ipfix_totals(struct lull_ipfix *ipfix, uint64_t time_ns,
		       const struct lull_export_totals *totals);
/** Send what is begun. */
void lull_ipfix_flush(struct lull_ipfix *ipfix, uint64_t time_ns);
/**
 * A new connection: what is begun is forgotten, numbers begin at 0 again, templates come first.
 */
void lull_ipfix_restart(struct lull_ipfix *ipfix);
const struct lull_ipfix_counters *lull_ipfix_counters(const struct lull_ipfix *ipfix);

#ifdef __cplusplus
}
#endif

#endif
