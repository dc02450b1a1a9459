/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include <lull/capture.h>

/* LINKTYPE_ values that are not the DLT_ values of this system. */
#define LINK_RAW 101
#define LINK_RAW_OPENBSD 14

struct filter_program {
	uint16_t link_type;
	bool good; /* else the expression has no answer to this link type */
	struct bpf_program code;
};

struct flow_filter {
	char *expression;
	uint32_t count; /* of programs; the first is for Ethernet */
	struct filter_program programs[FLOW_FILTER_LINKS];
	/* One line each: a loop is on a core of its own. */
	struct {
		_Alignas(LULL_CACHE_LINE) uint64_t pkts;
	} refused[LULL_PIPELINE_IO_MAX];
};

static int
filter_dlt(uint16_t link_type)
{
	return link_type == LINK_RAW || link_type == LINK_RAW_OPENBSD ? DLT_RAW : link_type;
}

static void
filter_compile(const struct flow_filter *filter, struct filter_program *program,
	       struct lull_error *error)
{
	pcap_t *pcap =
		pcap_open_dead(filter_dlt(program->link_type), LULL_CAPTURE_PACKET_BYTES_MAX);

	if (pcap == NULL) {
		lull_error_set(error, -ENOMEM, "filter: no memory");
		return;
	}
	program->good = pcap_compile(pcap, &program->code, filter->expression, 1,
				     PCAP_NETMASK_UNKNOWN) == 0;
	if (!program->good)
		lull_error_set(error, -EINVAL, "filter: %s", pcap_geterr(pcap));
	pcap_close(pcap);
}

int
flow_filter_open(struct flow_filter **filter, const char *expression, struct lull_error *error)
{
	struct flow_filter *made = aligned_alloc(LULL_CACHE_LINE, sizeof(*made));

	if (made == NULL)
		return lull_error_set(error, -ENOMEM, "filter: no memory");
	memset(made, 0, sizeof(*made));
	*filter = made;
	made->expression = strdup(expression);
	if (made->expression == NULL)
		return lull_error_set(error, -ENOMEM, "filter: no memory");
	made->programs[0].link_type = LULL_CAPTURE_LINK_ETHERNET;
	filter_compile(made, &made->programs[0], error);
	made->count = 1;
	return made->programs[0].good ? 0 : -EINVAL;
}

void
flow_filter_close(struct flow_filter *filter)
{
	if (filter == NULL)
		return;
	for (uint32_t i = 0; i < filter->count; i++) {
		if (filter->programs[i].good)
			pcap_freecode(&filter->programs[i].code);
	}
	free(filter->expression);
	free(filter);
}

/* The program for a link type; NULL: there is no room for another one. */
static const struct filter_program *
filter_program(struct flow_filter *filter, uint16_t link_type)
{
	struct filter_program *program = filter->programs;
	struct lull_error unheard;

	for (uint32_t i = 0; i < filter->count; i++, program++) {
		if (program->link_type == link_type)
			return program;
	}
	if (filter->count == FLOW_FILTER_LINKS)
		return NULL;
	program->link_type = link_type;
	filter_compile(filter, program, &unheard);
	filter->count++;
	return program;
}

bool
flow_filter_accept(void *arg, uint32_t io_index, uint16_t link_type, const uint8_t *data,
		   uint32_t captured_bytes, uint32_t original_bytes)
{
	struct flow_filter *filter = arg;
	const struct filter_program *program = filter_program(filter, link_type);

	if (program != NULL && program->good &&
	    bpf_filter(program->code.bf_insns, data, original_bytes, captured_bytes) != 0)
		return true;
	LULL_COUNTER_ADD(filter->refused[io_index].pkts, 1);
	return false;
}

uint64_t
flow_filter_count(const struct flow_filter *filter)
{
	uint64_t count = 0;

	for (uint32_t i = 0; filter != NULL && i < LULL_PIPELINE_IO_MAX; i++)
		count += LULL_COUNTER_READ(filter->refused[i].pkts);
	return count;
}
