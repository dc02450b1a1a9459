/* SPDX-License-Identifier: BSD-3-Clause */
#include "rx_port_filter.h"

#include <endian.h>
#include <stddef.h>

#include "base/assert.h"

#define ETHER_SIZE 14
#define VLAN_SIZE 4
#define IPV4_SIZE 20
#define IPV6_SIZE 40
#define UDP_SIZE 8
#define UDP 17
#define KEY (-4) /* on the stack */

enum { VALUE = BPF_REG_2, TEMPORARY = BPF_REG_3, CONTEXT = BPF_REG_6, AT, END, KIND };
enum label { NONE, VLAN, INNER, PLAIN, IPV4, IPV6, DATAGRAM, LOOK, PASS, LABEL_COUNT };

struct filter {
	struct bpf_insn *insns;
	uint32_t count;
	uint32_t at[LABEL_COUNT];
};

/* ---- instructions ---- */

static void
filter_emit(struct filter *filter, uint32_t code, int to, int from, int offset, int value)
{
	LULL_ASSERT(filter->count < LULL_RX_PORT_FILTER_MAX);
	filter->insns[filter->count++] = (struct bpf_insn){
		.code = (uint8_t)code,
		.dst_reg = (uint8_t)to & 15u,
		.src_reg = (uint8_t)from & 15u,
		.off = (int16_t)offset,
		.imm = value,
	};
}

static void
filter_load(struct filter *filter, uint32_t size, int to, int from, size_t offset)
{
	filter_emit(filter, BPF_LDX | size | BPF_MEM, to, from, (int)offset, 0);
}

static void
filter_set(struct filter *filter, uint32_t operation, int to, int value)
{
	filter_emit(filter, BPF_ALU64 | operation | BPF_K, to, 0, 0, value);
}

static void
filter_copy(struct filter *filter, int to, int from)
{
	filter_emit(filter, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void
filter_map(struct filter *filter, int to, int map)
{
	filter_emit(filter, BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, map);
	filter_emit(filter, 0, 0, 0, 0, 0);
}

/* A label stands in for the distance until all are known. */
static void
filter_jump(struct filter *filter, uint32_t condition, int value, int against, enum label label)
{
	filter_emit(filter, BPF_JMP | condition | BPF_K, value, 0, (int)label, against);
}

static void
filter_label(struct filter *filter, enum label label)
{
	filter->at[label] = filter->count;
}

static void
filter_resolve(struct filter *filter)
{
	for (uint32_t i = 0; i < filter->count; i++) {
		struct bpf_insn *insn = &filter->insns[i];

		if ((insn->code & 7) == BPF_JMP && insn->off != NONE)
			insn->off = (int16_t)(filter->at[insn->off] - i - 1);
	}
}

/* ---- the program ---- */

/* On to the kernel, unless so many bytes follow. */
static void
filter_need(struct filter *filter, int bytes)
{
	filter_copy(filter, TEMPORARY, AT);
	filter_set(filter, BPF_ADD, TEMPORARY, bytes);
	filter_emit(filter, BPF_JMP | BPF_JGT | BPF_X, TEMPORARY, END, PASS, 0);
}

static void
filter_vlan(struct filter *filter, enum label tagged, enum label otherwise)
{
	filter_jump(filter, BPF_JEQ, VALUE, htobe16(0x8100), tagged);
	filter_jump(filter, BPF_JNE, VALUE, htobe16(0x88a8), otherwise);
	filter_label(filter, tagged);
	filter_need(filter, VLAN_SIZE);
	filter_load(filter, BPF_H, VALUE, AT, 2);
	filter_set(filter, BPF_ADD, AT, VLAN_SIZE);
}

static void
filter_ethernet(struct filter *filter)
{
	filter_load(filter, BPF_W, AT, CONTEXT, offsetof(struct xdp_md, data));
	filter_load(filter, BPF_W, END, CONTEXT, offsetof(struct xdp_md, data_end));
	filter_need(filter, ETHER_SIZE);
	filter_load(filter, BPF_H, VALUE, AT, 12);
	filter_set(filter, BPF_ADD, AT, ETHER_SIZE);
	filter_vlan(filter, VLAN, PLAIN);
	filter_vlan(filter, INNER, PLAIN);
	filter_label(filter, PLAIN);
	filter_jump(filter, BPF_JEQ, VALUE, htobe16(0x0800), IPV4);
	filter_jump(filter, BPF_JEQ, VALUE, htobe16(0x86dd), IPV6);
	filter_set(filter, BPF_MOV, KIND, LULL_RX_PORT_FILTER_TYPE);
	filter_jump(filter, BPF_JA, 0, 0, LOOK);
}

static void
filter_ip(struct filter *filter)
{
	filter_label(filter, IPV4);
	filter_need(filter, IPV4_SIZE);
	filter_load(filter, BPF_B, VALUE, AT, 9);
	filter_jump(filter, BPF_JNE, VALUE, UDP, PASS);
	filter_load(filter, BPF_H, VALUE, AT, 6);
	filter_jump(filter, BPF_JSET, VALUE, htobe16(0x3fff), PASS); /* fragments */
	filter_load(filter, BPF_B, VALUE, AT, 0);
	filter_set(filter, BPF_AND, VALUE, 15);
	filter_set(filter, BPF_LSH, VALUE, 2);
	filter_jump(filter, BPF_JLT, VALUE, IPV4_SIZE, PASS);
	filter_emit(filter, BPF_ALU64 | BPF_ADD | BPF_X, AT, VALUE, 0, 0);
	filter_jump(filter, BPF_JA, 0, 0, DATAGRAM);
	filter_label(filter, IPV6);
	filter_need(filter, IPV6_SIZE);
	filter_load(filter, BPF_B, VALUE, AT, 6);
	filter_jump(filter, BPF_JNE, VALUE, UDP, PASS);
	filter_set(filter, BPF_ADD, AT, IPV6_SIZE);
	filter_label(filter, DATAGRAM);
	filter_need(filter, UDP_SIZE);
	filter_load(filter, BPF_H, VALUE, AT, 2);
	filter_set(filter, BPF_MOV, KIND, LULL_RX_PORT_FILTER_PORT);
}

static void
filter_lookup(struct filter *filter, int table)
{
	filter_label(filter, LOOK);
	filter_emit(filter, BPF_ALU | BPF_END | BPF_TO_BE, VALUE, 0, 0, 16);
	filter_emit(filter, BPF_STX | BPF_W | BPF_MEM, BPF_REG_10, VALUE, KEY, 0);
	filter_map(filter, BPF_REG_1, table);
	filter_copy(filter, BPF_REG_2, BPF_REG_10);
	filter_set(filter, BPF_ADD, BPF_REG_2, KEY);
	filter_emit(filter, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem);
	filter_jump(filter, BPF_JEQ, BPF_REG_0, 0, PASS);
	filter_load(filter, BPF_W, TEMPORARY, BPF_REG_0, 0);
	filter_emit(filter, BPF_ALU64 | BPF_AND | BPF_X, TEMPORARY, KIND, 0, 0);
	filter_jump(filter, BPF_JEQ, TEMPORARY, 0, PASS);
}

static void
filter_take(struct filter *filter, int sockets)
{
	filter_map(filter, BPF_REG_1, sockets);
	filter_load(filter, BPF_W, BPF_REG_2, CONTEXT, offsetof(struct xdp_md, rx_queue_index));
	filter_set(filter, BPF_MOV, BPF_REG_3, XDP_PASS); /* when the queue has no socket */
	filter_emit(filter, BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_redirect_map);
	filter_emit(filter, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

uint32_t
lull_rx_port_filter(struct bpf_insn *insns, int table, int sockets)
{
	struct filter filter = { .insns = insns };

	filter_copy(&filter, CONTEXT, BPF_REG_1);
	if (table < 0) {
		filter_take(&filter, sockets);
		return filter.count;
	}
	filter_ethernet(&filter);
	filter_ip(&filter);
	filter_lookup(&filter, table);
	filter_take(&filter, sockets);
	filter_label(&filter, PASS);
	filter_set(&filter, BPF_MOV, BPF_REG_0, XDP_PASS);
	filter_emit(&filter, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	filter_resolve(&filter);
	return filter.count;
}
