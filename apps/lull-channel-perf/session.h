/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Session: one job with one node, of either side.
 *
 * A session has a role: source, sink, asker or echo. The role posts sends and receives in its
 * turns and gets their completions; the session does what all roles need: control messages,
 * figures, the end.
 * Threads: main thread. Memory: allocated when it begins; buffers stay until every operation on
 *          them has ended.
 */
#ifndef LULL_CHANNEL_PERF_SESSION_H
#define LULL_CHANNEL_PERF_SESSION_H

#include <lull/bundle.h>
#include <lull/channel.h>
#include <lull/histogram.h>

#include "plan.h"
#include "program/link/link.h"

enum perf_slot_kind {
	PERF_SLOT_DATA,    /* the role's */
	PERF_SLOT_CONTROL, /* a control message on its way */
	PERF_SLOT_READY,   /* READY or REPORT is waited for */
	PERF_SLOT_REPORT,
	PERF_SLOT_ASK, /* the listener waits for anybody */
	PERF_SLOT_KINDS
};
/** The context of an operation. */
struct perf_slot {
	struct perf_session *session; /* NULL: of the listener */
	enum perf_slot_kind kind;
	uint32_t index;
	uint8_t *bytes;
	uint64_t number, begin_ns;
	uint32_t under_way; /* operations that use it */
	bool unsent;        /* asker: its answer is waited for, the request found no room yet */
};

/** What goes out before anything else; a bit each in perf_session.wants. */
enum perf_control { PERF_CONTROL_ASK, PERF_CONTROL_READY, PERF_CONTROL_STOP, PERF_CONTROL_REPORT };
#define PERF_CONTROL_COUNT 4

enum perf_phase {
	PERF_PHASE_WAITS, /* for READY */
	PERF_PHASE_RUNS,
	PERF_PHASE_OVER, /* the role has ended, the report is on its way */
	PERF_PHASE_ENDED
};

struct perf_session {
	struct lull_channel *channel;
	uint32_t peer;
	uint16_t endpoint; /* there */
	char name[LULL_BUNDLE_NAME_SIZE];
	bool caller; /* it has asked for the job */
	enum perf_role_id role;
	struct perf_plan plan;

	enum perf_phase phase;
	int failed;         /* negative errno; it only waits for its operations to end */
	bool stopped;       /* send no more */
	uint32_t under_way; /* operations of all its slots */
	uint32_t wants;     /* control messages that found no room yet */
	uint64_t refused;   /* READY: errno */
	uint64_t asked_ns;

	struct perf_slot *slots; /* plan.window */
	uint8_t *memory;
	struct perf_slot end; /* the empty message at the end */
	bool end_wanted, end_sent;
	struct perf_slot controls[PERF_CONTROL_COUNT], ready, report;
	uint8_t control_bytes[PERF_CONTROL_COUNT + 2][PERF_CONTROL_BYTES];

	uint64_t next;     /* number of the next message, or receive */
	uint64_t messages; /* done */
	uint64_t bytes;
	uint64_t total; /* messages that the other side has sent, UINT64_MAX: not told yet */
	uint64_t bad_messages, misordered_messages;
	uint64_t begin_ns, end_ns, cpu_begin_ns, cpu_end_ns;
	uint64_t burst_begin_ns, burst_ns, bursts; /* periodic: of bursts that have ended */
	bool in_burst;
	uint64_t pause_ns; /* latency: between an answer and the next message */
	struct lull_histogram latency;
	struct perf_report far;
	bool reported; /* `far` is known */
	/* Of the peer, which may go as soon as it has told its figures. */
	struct lull_link_look first, last;
};

/** What a role does. */
struct perf_role {
	const char *name;
	/** Bytes of buffers that a slot needs. */
	uint64_t (*slot_bytes)(const struct perf_plan *plan);
	/** Fill buffers; receives that must be there before the other side sends. */
	void (*begin)(struct perf_session *session);
	/** Post what has room. */
	void (*turn)(struct perf_session *session, uint64_t now_ns);
	/** An operation on a slot has ended well. */
	void (*done)(struct perf_session *session, struct perf_slot *slot,
		     const struct lull_channel_completion *completion, uint64_t now_ns);
	/** All of it is through. */
	bool (*over)(const struct perf_session *session);
	/** When a turn has something to do although nothing ended; UINT64_MAX: never. */
	uint64_t (*due_ns)(const struct perf_session *session);
};
extern const struct perf_role perf_source, perf_sink, perf_asker, perf_echo;
const struct perf_role *perf_session_role(const struct perf_session *session);

/** Memory and receives; the caller's first message too. NULL: no memory. */
struct perf_session *perf_session_create(struct lull_channel *channel, uint32_t peer,
					 uint16_t endpoint, const struct perf_plan *plan,
					 bool caller);
/** Only when nothing of it is under way. */
void perf_session_free(struct perf_session *session);
/** Post what has room, send control messages. */
void perf_session_turn(struct perf_session *session, uint64_t now_ns);
/** An operation of it has ended. */
void perf_session_done(struct perf_session *session, struct perf_slot *slot,
		       const struct lull_channel_completion *completion, uint64_t now_ns);
/** Send no more, and tell the other side so. */
void perf_session_stop(struct perf_session *session);
/** End it; what is posted is cancelled. */
void perf_session_fail(struct perf_session *session, int rc);
/** When it wants a turn. */
uint64_t perf_session_due_ns(const struct perf_session *session);
/** Has everything ended, operations too? */
bool perf_session_ended(const struct perf_session *session);
/** What this side has measured. */
struct perf_report perf_session_report(const struct perf_session *session);

/* ---- for roles ---- */

/** Post an operation on a slot. False: no room now, or the session has failed. */
bool perf_session_send(struct perf_session *session, struct perf_slot *slot, uint64_t tag,
		       const void *bytes, uint64_t len, uint64_t user);
bool perf_session_receive(struct perf_session *session, struct perf_slot *slot, uint64_t tag,
			  uint64_t ignore, void *bytes, uint64_t size);
/** Cancel receives of slots that wait. */
void perf_session_cancel(struct perf_session *session);
/** May another message begin? Counts bursts too. */
bool perf_session_may_send(struct perf_session *session, uint64_t now_ns);
/** Will there never be another one? */
bool perf_session_is_last(const struct perf_session *session, uint64_t now_ns);
/** Send the empty message that says how many there were. */
void perf_session_send_end(struct perf_session *session, uint64_t tag);
/** Now, in time of this process on CPUs. */
uint64_t perf_cpu_ns(void);

#endif
