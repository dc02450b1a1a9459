/* SPDX-License-Identifier: BSD-3-Clause */
#include "net_stand.h"

#include <stdlib.h>
#include <unistd.h>

#include <lull/rest.h>

#include "host/error.h"

#define ITERATION_US 100

void
stand_open(struct stand *stand, const char *text)
{
	const struct lull_net_config config = { .program = "test",
						.own_loop = true,
						.send_pkts = STAND_SEND_PKTS };
	struct lull_error error = { "" };
	const char *argument;

	memset(stand, 0, sizeof(*stand));
	if (lull_net_choose(text, &stand->backend, &argument, &error) != 0 ||
	    stand->backend->open(&config, argument, &stand->state, &error) != 0)
		fail_msg("%s", error.text);
}

uint16_t
stand_claim(struct stand *stand, uint16_t port, const char *address)
{
	struct lull_net_claim *claim = &stand->claims[stand->claim_count];
	struct lull_error error = { "" };

	*claim = (struct lull_net_claim){
		.index = stand->claim_count,
		.first = stand->claim_count,
		.address = stand_ip(address),
		.port = port,
	};
	if (stand->backend->claim(stand->state, claim, &error) != 0)
		fail_msg("%s", error.text);
	stand->claim_count++;
	return claim->port;
}

void
stand_start(struct stand *stand)
{
	struct lull_error error = { "" };

	if (stand->backend->start(stand->state, &error) != 0)
		fail_msg("%s", error.text);
	if (stand->backend->thread != NULL)
		stand->backend->thread(stand->state, true);
}

void
stand_close(struct stand *stand)
{
	if (stand->backend->thread != NULL)
		stand->backend->thread(stand->state, false);
	stand->backend->close(stand->state);
}

struct lull_net_ip
stand_ip(const char *text)
{
	struct lull_net_ip ip;

	assert_int_equal(lull_net_ip_parse(text, &ip), 0);
	return ip;
}

uint32_t
stand_fill(uint32_t number, uint32_t bytes_max, uint8_t *bytes)
{
	uint32_t size = LULL_MAX(1 + number * 7 % bytes_max, 4u);

	for (uint32_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(number >> (8 * (i % 4)) ^ (i / 4));
	return size;
}

void
stand_send(struct stand *stand, const struct lull_net_outgoing *to, uint32_t count,
	   uint32_t bytes_max)
{
	static uint8_t bytes[LULL_NET_BURST][STAND_BYTES_MAX];
	struct lull_net_outgoing packets[LULL_NET_BURST];
	uint64_t begin_ns = lull_clock_ns();

	for (uint32_t sent = 0; sent < count;) {
		uint32_t ready = LULL_MIN(count - sent, LULL_NET_BURST);

		for (uint32_t i = 0; i < ready; i++) {
			packets[i] = *to;
			packets[i].data = bytes[i];
			packets[i].len_bytes = stand_fill(sent + i, bytes_max, bytes[i]);
		}
		sent += stand->backend->send(stand->state, packets, ready);
		if (lull_clock_ns() - begin_ns > STAND_WAIT_NS)
			fail_msg("%u of %u packets sent", sent, count);
		usleep(ITERATION_US);
	}
}

static uint32_t
stand_number(const struct lull_net_packet *packet)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < 4 && i < packet->len_bytes; i++)
		number |= (uint32_t)packet->data[i] << (8 * i);
	return number;
}

static void
stand_check(const struct lull_net_packet *packet, uint32_t count, uint32_t bytes_max, bool *seen)
{
	static uint8_t bytes[STAND_BYTES_MAX];
	uint32_t number = stand_number(packet);

	assert_true(number < count);
	assert_false(seen[number]);
	seen[number] = true;
	assert_int_equal(packet->len_bytes, stand_fill(number, bytes_max, bytes));
	assert_memory_equal(packet->data, bytes, packet->len_bytes);
}

struct lull_net_packet
stand_receive(struct stand *stand, uint32_t count, uint32_t bytes_max)
{
	struct lull_net_packet packets[LULL_NET_BURST] = { { .first = 0 } }, last = packets[0];
	uint64_t begin_ns = lull_clock_ns();
	bool *seen = calloc(count, sizeof(*seen));
	uint32_t got = 0;

	assert_non_null(seen);
	while (got < count) {
		uint32_t fetched = stand->backend->receive(stand->state, packets);

		for (uint32_t i = 0; i < fetched; i++)
			stand_check(&packets[i], count, bytes_max, seen);
		got += fetched;
		if (fetched > 0) {
			last = packets[fetched - 1];
			stand->backend->release(stand->state);
		} else if (lull_clock_ns() - begin_ns > STAND_WAIT_NS) {
			fail_msg("%u of %u packets came", got, count);
		} else {
			usleep(ITERATION_US);
		}
	}
	free(seen);
	return last;
}

struct lull_net_sent
stand_sent(struct stand *stand)
{
	struct lull_net_sent sent;

	stand->backend->sent(stand->state, &sent);
	return sent;
}
