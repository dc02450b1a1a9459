/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nDPI 4.2 is asked as its own example program asks: the same packets, the same limits, the same
 * guess at the end, so that labels agree.
 */
#include "identify.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ndpi_api.h>

#include <lull/pipeline.h>

#include "host/error.h"

/* Packets of a flow after which the library will not find out any more. */
#define TCP_PKTS_MAX 80
#define UDP_PKTS_MAX 24
#define IP4_BYTES_MIN 20
#define IP6_BYTES 40
#define IP_BYTES_MAX 65535
/* Zeros behind the copy of a packet: a dissector that reads on finds the same bytes every time. */
#define COPY_TAIL_BYTES 1024
#define NAME_SIZE 24
#define NAMES_MAX (NDPI_MAX_SUPPORTED_PROTOCOLS + NDPI_MAX_NUM_CUSTOM_PROTOCOLS)
/* A hint: the protocol, and above it the place of its master in a list. */
#define HINT_APP_BITS 9
#define HINT_MASTERS 128
static_assert(NAMES_MAX <= 1 << HINT_APP_BITS, "a protocol's number fits a hint");

/* A state that is free begins with the next one. */
union state {
	struct ndpi_flow_struct flow;
	union state *next;
};

struct lull_identify {
	struct ndpi_detection_module_struct *module;
	union state *states, *freed;
	uint32_t states_max, states_begun; /* those behind have never been used */
	uint64_t last_ms;                  /* the library's clock must not go back */
	uint32_t copied_bytes;             /* of the packet before: to be zeros again */
	struct lull_identify_counters counters;
	uint8_t copy[IP_BYTES_MAX + COPY_TAIL_BYTES];
};

#define ROW(member, unit_text, help_text)                                                          \
	LULL_COUNTER_ROW(struct lull_identify_counters, member, unit_text, help_text)
const struct lull_counter_info lull_identify_counter_table[] = {
	ROW(pkts, "packets", "packets shown to the protocol identification"),
	ROW(skipped, "packets", "packets it could not be shown: cut, later fragments, bad lengths"),
	ROW(exhausted, "flows", "flows for which no state was left, guessed by port"),
	ROW(states, "flows", "flows being looked at now"),
	{ .name = NULL },
};

/* ---- names ---- */

/* The library keeps names in a module, and modules belong to workers; so they are copied once. */
static char identify_names[NAMES_MAX][NAME_SIZE];
static pthread_once_t identify_once = PTHREAD_ONCE_INIT;
/* A worker's module, while names are read for the first time: another takes 15 ms to make. */
static struct ndpi_detection_module_struct *identify_named;

static void
identify_read_names(void)
{
	struct ndpi_detection_module_struct *module = identify_named;
	uint32_t count;

	if (module == NULL)
		module = ndpi_init_detection_module(ndpi_no_prefs);
	if (module == NULL)
		return;
	count = ndpi_get_num_supported_protocols(module);
	for (uint32_t i = 0; i < count && i < NAMES_MAX; i++)
		snprintf(identify_names[i], NAME_SIZE, "%s",
			 ndpi_get_proto_name(module, (uint16_t)i));
	if (module != identify_named)
		ndpi_exit_detection_module(module);
}

const char *
lull_identify_version(void)
{
	return ndpi_revision();
}

const char *
lull_identify_name(void *unused, uint16_t app, uint16_t app_master, char *text, size_t size)
{
	(void)unused;
	pthread_once(&identify_once, identify_read_names);
	app = app < NAMES_MAX ? app : 0;
	app_master = app_master < NAMES_MAX ? app_master : 0;
	if (app == 0 && app_master == 0)
		text[0] = '\0';
	else if (app == 0 || app_master == 0 || app == app_master)
		snprintf(text, size, "%s", identify_names[app != 0 ? app : app_master]);
	else
		snprintf(text, size, "%s.%s", identify_names[app_master], identify_names[app]);
	return text;
}

/* ---- hints ---- */

/* In the order in which they were first met; few protocols carry others. */
static uint16_t identify_masters[HINT_MASTERS];

/* Place of a master, from 1 on; 0: none, or no place left. */
static uint16_t
identify_master_place(uint16_t master)
{
	for (uint16_t place = 1; master != 0 && place < HINT_MASTERS; place++) {
		uint16_t there = __atomic_load_n(&identify_masters[place], __ATOMIC_RELAXED);

		if (there == 0 &&
		    __atomic_compare_exchange_n(&identify_masters[place], &there, master, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return place;
		if (there == master)
			return place;
	}
	return 0;
}

uint16_t
lull_identify_hint(const struct lull_identify_flow *flow)
{
	if (flow->app == 0 || flow->app >= NAMES_MAX)
		return 0;
	return (uint16_t)(identify_master_place(flow->app_master) << HINT_APP_BITS | flow->app);
}

static void
identify_take_hint(struct lull_identify_flow *flow, uint16_t hint)
{
	flow->app = hint & ((1u << HINT_APP_BITS) - 1);
	flow->app_master =
		__atomic_load_n(&identify_masters[hint >> HINT_APP_BITS], __ATOMIC_RELAXED);
	flow->done = true;
}

/* ---- life ---- */

static struct ndpi_detection_module_struct *
identify_module(void)
{
	struct ndpi_detection_module_struct *module = ndpi_init_detection_module(ndpi_no_prefs);
	NDPI_PROTOCOL_BITMASK all;

	if (module == NULL)
		return NULL;
	NDPI_BITMASK_SET_ALL(all);
	ndpi_set_protocol_detection_bitmask2(module, &all);
	ndpi_finalize_initialization(module);
	return module;
}

int
lull_identify_create(uint32_t flows_max, struct lull_identify **created, struct lull_error *error)
{
	struct lull_identify *identify;

	*created = NULL;
	if (ndpi_detection_get_sizeof_ndpi_flow_struct() != sizeof(struct ndpi_flow_struct)) {
		return lull_error_set(
			error, -ENOTSUP,
			"the installed nDPI library is %s, but lull was built with another "
			"version",
			ndpi_revision());
	}
	identify = calloc(1, sizeof(*identify));
	if (identify != NULL) {
		identify->states_max = flows_max;
		identify->states = calloc(flows_max, sizeof(*identify->states));
		identify->module = identify_module();
	}
	if (identify == NULL || identify->states == NULL || identify->module == NULL) {
		lull_identify_destroy(identify);
		return lull_error_set(error, -ENOMEM,
				      "no memory to identify the protocols of %u flows", flows_max);
	}
	identify_named = identify->module;
	pthread_once(&identify_once, identify_read_names);
	identify_named = NULL;
	*created = identify;
	return 0;
}

void
lull_identify_destroy(struct lull_identify *identify)
{
	if (identify == NULL)
		return;
	/* What the library holds for flows that never ended; freed states hold nothing. */
	for (union state *state = identify->freed, *next; state != NULL; state = next) {
		next = state->next;
		memset(state, 0, sizeof(*state));
	}
	for (uint32_t i = 0; i < identify->states_begun; i++)
		ndpi_free_flow_data(&identify->states[i].flow);
	if (identify->module != NULL)
		ndpi_exit_detection_module(identify->module);
	free(identify->states);
	free(identify);
}

/* ---- states ---- */

static union state *
identify_take_state(struct lull_identify *identify)
{
	union state *state = identify->freed;

	if (state != NULL) {
		identify->freed = state->next;
		memset(state, 0, sizeof(*state));
	} else if (identify->states_begun < identify->states_max) {
		state = &identify->states[identify->states_begun++];
	} else {
		LULL_COUNTER_ADD(identify->counters.exhausted, 1);
		return NULL;
	}
	LULL_COUNTER_ADD(identify->counters.states, 1);
	return state;
}

static void
identify_give_state(struct lull_identify *identify, struct lull_identify_flow *flow)
{
	union state *state = flow->state;

	ndpi_free_flow_data(&state->flow);
	state->next = identify->freed;
	identify->freed = state;
	flow->state = NULL;
	LULL_COUNTER_ADD(identify->counters.states, -1);
}

/* ---- packets ---- */

/*
 * Does the library see the same transport protocol? It keeps the state of one for a whole flow and
 * would take it for that of another.
 */
static bool
identify_same_proto(const struct lull_flow_packet *packet, const uint8_t *ip, uint32_t bytes)
{
	uint16_t transport_bytes = (uint16_t)(bytes - IP6_BYTES);
	const uint8_t *transport = ip + IP6_BYTES;
	uint8_t proto = ip[6];

	if (packet->key.version == 4)
		return ip[9] == packet->key.proto;
	return ndpi_handle_ipv6_extension_headers(transport_bytes, &transport, &transport_bytes,
						  &proto) == 0 &&
	       proto == packet->key.proto;
}

/* Bytes of the packet by its own header; 0 when the capture has less, or the header is odd. */
static uint32_t
identify_packet_bytes(const struct lull_flow_packet *packet, const uint8_t *ip, uint32_t ip_len)
{
	uint32_t bytes, header_bytes;

	if (packet->flags & LULL_FLOW_LATER || ip_len < IP4_BYTES_MIN)
		return 0;
	if (packet->key.version == 4) {
		header_bytes = (ip[0] & 0x0fu) * 4u;
		bytes = (uint32_t)ip[2] << 8 | ip[3];
	} else {
		if (ip_len < IP6_BYTES)
			return 0;
		header_bytes = IP6_BYTES;
		bytes = IP6_BYTES + ((uint32_t)ip[4] << 8 | ip[5]);
	}
	if (ip[0] >> 4 != packet->key.version || header_bytes < IP4_BYTES_MIN ||
	    header_bytes > bytes || bytes > ip_len || bytes > IP_BYTES_MAX)
		return 0;
	return identify_same_proto(packet, ip, bytes) ? bytes : 0;
}

static const uint8_t *
identify_copy(struct lull_identify *identify, const uint8_t *ip, uint32_t bytes)
{
	memcpy(identify->copy, ip, bytes);
	if (identify->copied_bytes > bytes)
		memset(identify->copy + bytes, 0, identify->copied_bytes - bytes);
	identify->copied_bytes = bytes;
	return identify->copy;
}

static uint8_t
identify_confidence(ndpi_confidence_t confidence)
{
	switch (confidence) {
	case NDPI_CONFIDENCE_MATCH_BY_PORT:
		return 1;
	case NDPI_CONFIDENCE_MATCH_BY_IP:
		return 2;
	case NDPI_CONFIDENCE_DPI_CACHE:
	case NDPI_CONFIDENCE_DPI:
		return 3;
	default:
		return 0;
	}
}

static void
identify_answer(struct lull_identify *identify, struct lull_identify_flow *flow,
		ndpi_protocol protocol)
{
	union state *state = flow->state;

	flow->app = protocol.app_protocol;
	flow->app_master = protocol.master_protocol;
	flow->confidence = flow->app == 0 && flow->app_master == 0 ?
				   0 :
				   identify_confidence(state->flow.confidence);
	flow->done = true;
	identify_give_state(identify, flow);
}

static void
identify_give_up(struct lull_identify *identify, struct lull_identify_flow *flow)
{
	union state *state = flow->state;
	uint8_t guessed;

	identify_answer(identify, flow,
			ndpi_detection_giveup(identify->module, &state->flow, 1, &guessed));
}

/* Is this the last packet the library wants of the flow? */
static void
identify_judge(struct lull_identify *identify, struct lull_identify_flow *flow, uint8_t proto,
	       ndpi_protocol protocol)
{
	union state *state = flow->state;
	bool enough = (proto == LULL_FLOW_PROTO_UDP && flow->pkts > UDP_PKTS_MAX) ||
		      (proto == LULL_FLOW_PROTO_TCP && flow->pkts > TCP_PKTS_MAX);

	if (protocol.app_protocol == NDPI_PROTOCOL_UNKNOWN) {
		if (enough)
			identify_give_up(identify, flow);
		flow->final = enough;
	} else if (enough || !ndpi_extra_dissection_possible(identify->module, &state->flow)) {
		identify_answer(identify, flow, protocol);
		flow->final = true;
	}
}

void
lull_identify_packet(struct lull_identify *identify, struct lull_identify_flow *flow,
		     const struct lull_flow_packet *packet, const uint8_t *ip, uint32_t ip_len)
{
	union state *state = flow->state;
	uint32_t bytes;

	if (flow->done)
		return;
	if (flow->pkts == 0 && packet->hint != 0) {
		identify_take_hint(flow, packet->hint);
		return;
	}
	bytes = identify_packet_bytes(packet, ip, ip_len);
	if (bytes == 0) {
		LULL_COUNTER_ADD(identify->counters.skipped, 1);
		return;
	}
	if (state == NULL) {
		flow->state = state = identify_take_state(identify);
		if (state == NULL) {
			flow->done = true;
			return;
		}
	}
	identify->last_ms = LULL_MAX(identify->last_ms, packet->time_ns / LULL_NS_PER_MS);
	flow->pkts = flow->pkts < UINT8_MAX ? (uint8_t)(flow->pkts + 1) : UINT8_MAX;
	LULL_COUNTER_ADD(identify->counters.pkts, 1);
	identify_judge(identify, flow, packet->key.proto,
		       ndpi_detection_process_packet(identify->module, &state->flow,
						     identify_copy(identify, ip, bytes),
						     (uint16_t)bytes, identify->last_ms));
}

/* ---- end ---- */

/* Without a packet that could be looked at, ports and addresses are all there is. */
static void
identify_guess(struct lull_identify *identify, struct lull_identify_flow *flow,
	       const struct lull_flow_record *record)
{
	const struct lull_flow_key *key = &record->key;
	unsigned int source = record->first_direction != 0;
	uint32_t addr[2] = { 0, 0 };
	ndpi_protocol protocol;

	if (key->version == 4) {
		for (unsigned int i = 0; i < 2; i++) {
			memcpy(&addr[i], key->addr[i], sizeof(addr[i]));
			addr[i] = ntohl(addr[i]);
		}
	}
	protocol = ndpi_guess_undetected_protocol(identify->module, NULL, key->proto, addr[source],
						  key->port[source], addr[1 - source],
						  key->port[1 - source]);
	flow->app = protocol.app_protocol;
	flow->app_master = protocol.master_protocol;
	flow->confidence = flow->app != 0 || flow->app_master != 0;
	flow->done = true;
}

void
lull_identify_end(struct lull_identify *identify, struct lull_identify_flow *flow,
		  const struct lull_flow_record *record)
{
	if (flow->state != NULL)
		identify_give_up(identify, flow);
	else if (flow->app == 0 && flow->app_master == 0 && flow->pkts == 0)
		identify_guess(identify, flow, record);
}

const struct lull_identify_counters *
lull_identify_counters(const struct lull_identify *identify)
{
	return &identify->counters;
}
