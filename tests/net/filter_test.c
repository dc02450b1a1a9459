/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The XDP filter, run by the kernel on packets of the test: what is claimed goes to the socket,
 * all else on. Sockets are stood in for by a map of interfaces. Root only.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/dpdk/rx_port_filter.h"
#include "stand.h"

#define SKIP 77
#define PORT 5004
#define OTHER_PORT 5005
#define TYPE 0x99fe
#define FRAME_BYTES 128

static int program, all;

struct frame {
	uint8_t bytes[FRAME_BYTES];
	uint32_t size;
};

static uint32_t
verdict_of(int of, const struct frame *frame)
{
	struct bpf_test_run_opts options = { .sz = sizeof(options),
					     .data_in = frame->bytes,
					     .data_size_in = frame->size,
					     .repeat = 1 };

	assert_int_equal(bpf_prog_test_run_opts(of, &options), 0);
	return options.retval;
}

static bool
taken(const struct frame *frame)
{
	uint32_t verdict = verdict_of(program, frame);

	assert_true(verdict == XDP_REDIRECT || verdict == XDP_PASS);
	return verdict == XDP_REDIRECT;
}

static void
add_16(struct frame *frame, uint32_t value)
{
	frame->bytes[frame->size++] = (uint8_t)(value >> 8);
	frame->bytes[frame->size++] = (uint8_t)value;
}

static struct frame
ethernet(uint32_t tags, uint32_t type)
{
	struct frame frame = { .size = 12 };

	for (uint32_t i = 0; i < tags; i++) {
		add_16(&frame, i == 0 && tags > 1 ? 0x88a8 : 0x8100);
		add_16(&frame, 7);
	}
	add_16(&frame, type);
	return frame;
}

static void
add_udp(struct frame *frame, uint16_t port)
{
	add_16(frame, 1);
	add_16(frame, port);
	add_16(frame, 12);
	add_16(frame, 0);
	add_16(frame, 0);
	add_16(frame, 0);
}

static struct frame
ipv4(uint32_t tags, uint32_t option_words, uint32_t protocol, uint32_t fragment, uint16_t port)
{
	struct frame frame = ethernet(tags, 0x0800);
	uint8_t *ip = frame.bytes + frame.size;

	ip[0] = (uint8_t)(0x45 + option_words);
	ip[6] = (uint8_t)(fragment >> 8);
	ip[7] = (uint8_t)fragment;
	ip[9] = (uint8_t)protocol;
	frame.size += 20 + 4 * option_words;
	add_udp(&frame, port);
	return frame;
}

static struct frame
ipv6(uint32_t next, uint16_t port)
{
	struct frame frame = ethernet(0, 0x86dd);

	frame.bytes[frame.size] = 0x60;
	frame.bytes[frame.size + 6] = (uint8_t)next;
	frame.size += 40;
	add_udp(&frame, port);
	return frame;
}

TEST(filter__takes_udp_ports)
{
	for (uint32_t tags = 0; tags <= 2; tags++) {
		struct frame ours = ipv4(tags, 0, 17, 0, PORT);
		struct frame other = ipv4(tags, 0, 17, 0, OTHER_PORT);

		assert_true(taken(&ours));
		assert_false(taken(&other));
	}
	for (uint32_t words = 1; words <= 10; words++) {
		struct frame ours = ipv4(0, words, 17, 0, PORT);
		struct frame other = ipv4(0, words, 17, 0, OTHER_PORT);

		assert_true(taken(&ours));
		assert_false(taken(&other));
	}
	assert_true(taken((struct frame[]){ ipv6(17, PORT) }));
	assert_false(taken((struct frame[]){ ipv6(17, OTHER_PORT) }));
}

TEST(filter__takes_ether_types)
{
	for (uint32_t tags = 0; tags <= 2; tags++) {
		struct frame ours = ethernet(tags, TYPE), arp = ethernet(tags, 0x0806);

		ours.size = arp.size = 60;
		assert_true(taken(&ours));
		assert_false(taken(&arp));
	}
	/* A number that is both: each counts for its kind alone. */
	assert_false(taken((struct frame[]){ ipv4(0, 0, 17, 0, TYPE) }));
	assert_false(taken(
		(struct frame[]){ { .bytes = { [12] = PORT >> 8, PORT & 0xff }, .size = 60 } }));
}

TEST(filter__passes_what_it_does_not_know)
{
	assert_false(taken((struct frame[]){ ipv4(3, 0, 17, 0, PORT) })); /* tags */
	assert_false(taken((struct frame[]){ ipv4(0, 0, 6, 0, PORT) }));
	assert_false(taken((struct frame[]){ ipv4(0, 0, 1, 0, PORT) }));
	assert_false(taken((struct frame[]){ ipv4(0, 0, 17, 0x2000, PORT) })); /* more follow */
	assert_false(taken((struct frame[]){ ipv4(0, 0, 17, 100, PORT) }));
	assert_true(taken((struct frame[]){ ipv4(0, 0, 17, 0x4000, PORT) })); /* do not */
	assert_false(taken((struct frame[]){ ipv6(0, PORT) }));
	assert_false(taken((struct frame[]){ ipv6(44, PORT) }));
}

/* Cut anywhere: it passes, or its ports are there. */
TEST(filter__looks_at_what_is_there)
{
	for (uint32_t tags = 0; tags <= 2; tags++) {
		struct frame frame = ipv4(tags, 3, 17, 0, PORT);
		uint32_t least = 14 + 4 * tags + 32 + 8;

		for (frame.size = 14; frame.size < FRAME_BYTES; frame.size++)
			assert_int_equal(taken(&frame), frame.size >= least);
	}
}

TEST(filter__may_take_all)
{
	struct frame arp = ethernet(0, 0x0806);

	arp.size = 60;
	assert_int_equal(verdict_of(all, &arp), XDP_REDIRECT);
}

static int
load(int table, int sockets)
{
	struct bpf_insn insns[LULL_RX_PORT_FILTER_MAX];
	uint32_t count = lull_rx_port_filter(insns, table, sockets);

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "filter", "Dual BSD/GPL", insns, count, NULL);
}

static int
prepare(void **state)
{
	int table =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "table", 4, 4, LULL_RX_PORT_FILTER_KEYS, NULL);
	int sockets = bpf_map_create(BPF_MAP_TYPE_DEVMAP, "sockets", 4, 4, 4, NULL);
	uint32_t key = PORT, value = LULL_RX_PORT_FILTER_PORT, queue = 0, lo = 1;

	(void)state;
	if (table < 0 || sockets < 0) {
		printf("skipped: needs the right to load BPF programs\n");
		exit(SKIP);
	}
	bpf_map_update_elem(table, &key, &value, 0);
	key = TYPE;
	value = LULL_RX_PORT_FILTER_TYPE;
	bpf_map_update_elem(table, &key, &value, 0);
	bpf_map_update_elem(sockets, &queue, &lo, 0);
	program = load(table, sockets);
	all = load(-1, sockets);
	if (program < 0 || all < 0) {
		fprintf(stderr, "the kernel refuses the filter: %s\n", strerror(errno));
		return -1;
	}
	return 0;
}

TEST_GROUP(prepare, NULL);
