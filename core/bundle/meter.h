/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Meter: round trip time and delivery rate of a path.
 *
 * A sample of the round trip is what the clocks say, less the time that the receiver held the
 * acknowledgement. Of what is left, the hosts may have added as much as they were absent: the
 * receiver did not look for `wait`, we did not look for our own last rest. A sample is therefore
 * known only within a range. srtt and the least round trip go by its upper end, the whole sample:
 * one look after a rest would make the least round trip nothing for 10 s. The round's own goes by
 * its lower end, so that no queue is seen where a host slept. An absence longer than the whole
 * round trip was ended by the packet, and counts as that long. A packet that overtook others need
 * not have seen the queue: the round takes srtt for it. A sample much longer than those
 * before it, as after a leap of the clock, counts as 8 times srtt and 10 ms.
 *
 * A *round* ends when a packet that was sent after its begin is acknowledged. The rate is the
 * Kalman estimate of core/base/filter.h over spans of rounds: bytes acknowledged by time, counted
 * only while there was always more to send (else it measures the sender). As in Alg. 2 of the sleep
 * model, the newest span is the measurement, the mean over the last 8 is the observation: a rate
 * that changed is believed at once, a steady one is smooth. Where nothing came back for longer than
 * a tail waits, there was nothing under way, and a span does not reach over that.
 *
 * Units: ns, bits/s. Memory: one struct, set up by bundle_meter_init(). Threads: one.
 */
#ifndef LULL_BUNDLE_METER_H
#define LULL_BUNDLE_METER_H

#include <stdbool.h>
#include <stdint.h>

/* An acknowledgement of packets, as the meter wants it. */
struct bundle_sample {
	uint64_t now_ns;
	uint64_t rtt_ns;    /* now - sent - hold of the largest newly acknowledged; 0: none */
	bool overtook;      /* that one left others behind: it may have seen no queue */
	uint64_t wait_ns;   /* the receiver's absence before its look */
	uint64_t absent_ns; /* our own before this look */
	uint64_t psn;       /* largest newly acknowledged */
	uint64_t psn_next;  /* that will be sent next */
	uint32_t acked_pkts, lost_pkts; /* by this acknowledgement */
	uint64_t acked_bytes;           /* whole packets */
	bool limited;                   /* the window was full, or is: more could have been sent */
};

/* A round that has ended. */
struct bundle_round {
	uint64_t now_ns;
	uint64_t rtt_ns;      /* least of the round, absences taken out, at least 1; 0: no sample */
	uint64_t base_rtt_ns; /* least of the last 10 s (two windows of 5 s) */
	uint64_t absent_ns;   /* longest absence of either side in the last 8 rounds */
	uint64_t packet_ns;   /* a packet of the path at the measured rate; 0: unknown */
	uint32_t acked_pkts, lost_pkts;
	bool limited; /* in any part of it */
	bool paused;  /* for a part of it there was nothing under way */
};

#define BUNDLE_METER_ABSENTS 8 /* rounds whose absences are remembered */
#define BUNDLE_METER_SPANS 8   /* of the mean rate */

struct bundle_meter {
	uint64_t srtt_ns, rttvar_ns; /* RFC 6298; 0: no sample yet */
	uint64_t base_rtt_ns;        /* least of the last 10 s; 0: no sample yet */
	uint64_t rate_bps;           /* 0: unknown */
	uint64_t packet_ns;          /* of a packet at this rate; 0: unknown */
	/* The implementation's own. */
	uint64_t base_now_ns, base_before_ns, base_since_ns;
	uint64_t round_psn, round_rtt_ns, round_absent_ns, round_bytes;
	uint64_t absents_ns[BUNDLE_METER_ABSENTS];
	uint32_t round_acked, round_lost, round_count;
	bool round_limited, round_paused, span_open;
	uint64_t span_begin_ns, span_last_ns, span_bytes;
	uint32_t span_pkts, span_count;
	uint64_t spans_ns[BUNDLE_METER_SPANS], spans_bytes[BUNDLE_METER_SPANS];
	double packet_bytes; /* mean length of a packet */
	double variance;     /* of the estimate, (bits/ns)^2 */
};

void bundle_meter_init(struct bundle_meter *meter, uint64_t now_ns);
/** @return true: a round has ended, and is in @p round */
bool bundle_meter_add(struct bundle_meter *meter, const struct bundle_sample *sample,
		      struct bundle_round *round);
/** When a tail is sent again: after max(2 srtt + 4 rttvar, 200 us); 10 ms without a sample. */
uint64_t bundle_meter_tail_ns(const struct bundle_meter *meter);
/**
 * When a packet that is sent behind @p under_way others is there: ns from now, an estimate. Half a
 * round trip, and what the others queue for; 0 without a sample.
 */
uint64_t bundle_meter_arrival_ns(const struct bundle_meter *meter, uint32_t under_way_pkts);

#endif
