/* SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"

#include <stdio.h>
#include <string.h>

#include "base/prng.h"

#define SEED 7011

void
record_make(struct lull_flow_record *record, uint32_t index)
{
	static const uint8_t protos[] = { LULL_FLOW_PROTO_TCP, LULL_FLOW_PROTO_UDP, 132 };
	struct lull_prng prng;
	bool v6 = index % 3 == 2, one_way = index % 5 == 4;

	lull_prng_init(&prng, SEED, index);
	memset(record, 0, sizeof(*record));
	record->key.version = v6 ? 6 : 4;
	record->key.proto = protos[lull_prng_below(&prng, 3)];
	record->key.vlan_id = (uint16_t)lull_prng_below(&prng, 2) * 100;
	for (unsigned int end = 0; end < 2; end++) {
		uint8_t *address = record->key.addr[end];

		memcpy(address,
		       v6 ? (uint8_t[]){ 0x20, 1, 0x0d, 0xb8 } : (uint8_t[]){ 10 + (uint8_t)end },
		       v6 ? 4 : 1);
		address[v6 ? 13 : 1] = (uint8_t)end;
		address[v6 ? 14 : 2] = (uint8_t)(index >> 8);
		address[v6 ? 15 : 3] = (uint8_t)index;
		record->key.port[end] = (uint16_t)(1 + lull_prng_below(&prng, 65535));
	}
	record->first_direction = (uint8_t)lull_prng_below(&prng, 2);
	for (unsigned int direction = 0; direction < 2; direction++) {
		if (one_way && direction != record->first_direction)
			continue;
		record->packets[direction] = 1 + lull_prng_below(&prng, 100000);
		record->bytes[direction] =
			record->packets[direction] * 40 + lull_prng_below(&prng, 1ULL << 33);
		record->tcp_flags[direction] = record->key.proto == LULL_FLOW_PROTO_TCP ?
						       (uint8_t)(1 + lull_prng_below(&prng, 63)) :
						       0;
	}
	record->first_ns = RECORDS_FIRST_NS + index * 1234567ULL;
	record->last_ns = record->first_ns + lull_prng_below(&prng, 20 * LULL_NS_PER_S);
	record->first_number = index;
	record->workers = 1 + lull_prng_below(&prng, 15);
	record->moves = (uint32_t)lull_prng_below(&prng, 9);
	record->app = (uint16_t)(index % 4);
	record->end = LULL_FLOW_END_IDLE;
	record->exact = 1;
}

const char *
record_app(void *arg, uint16_t app, uint16_t app_master, char *text, size_t size)
{
	(void)arg, (void)app_master;
	snprintf(text, size, "%s", (const char *[]){ "", "DNS", "TLS.Example", "SSH" }[app & 3]);
	return text;
}
