/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of several processes with an endpoint each, by libfabric alone. They find each other by files
 * in a folder, and each says in lines what became of it.
 *
 *     peer FOLDER NUMBER COUNT WHAT
 *
 * compute SECONDS  number 0 computes without a call, then takes what the others sent
 * crash            number 1 ends without a word; the others have operations with it, and with
 *                  each other
 * alone            number 0 sends to number 1, which has another key
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "end.h"

#define NS_PER_S 1000000000ULL
#define LIMIT_NS (60 * NS_PER_S)
#define PEERS_MAX 4
#define LARGE (4u << 20)

static struct end own;
static fi_addr_t known[PEERS_MAX];
static uint32_t number, count;
static struct fi_context2 contexts[64];

static void
die(const char *what, ssize_t rc)
{
	printf("%u: %s: %s\n", number, what, fi_strerror((int)-rc));
	exit(1);
}

/* ---- others ---- */

static void
tell(const char *folder)
{
	char path[512], under[600];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%u", folder, number);
	snprintf(under, sizeof(under), "%s.new", path);
	file = fopen(under, "wb");
	if (file == NULL || fwrite(own.address, sizeof(own.address), 1, file) != 1 ||
	    fclose(file) != 0 || rename(under, path) != 0)
		die("address", -FI_EIO);
}

static void
know(const char *folder, uint32_t who)
{
	uint64_t end_ns = end_clock_ns() + LIMIT_NS;
	uint8_t address[END_ADDRESS_BYTES];
	FILE *file = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/%u", folder, who);
	while (file == NULL && end_clock_ns() < end_ns) {
		file = fopen(path, "rb");
		usleep(1000);
	}
	if (file == NULL || fread(address, sizeof(address), 1, file) != 1)
		die("no address", -FI_EIO);
	fclose(file);
	known[who] = end_know(&own, address);
}

/* ---- operations ---- */

struct ended {
	uint32_t good, failed, nameless; /* nameless: an error entry without its operation */
	int err;                         /* of the last */
};

static void
take_error(struct ended *ended)
{
	struct fi_cq_err_entry error = { .op_context = NULL };
	ssize_t got = fi_cq_readerr(own.cq, &error, 0);

	if (got != 1)
		die("told of an error, and there was none", got);
	ended->failed++;
	ended->nameless += error.op_context == NULL;
	ended->err = error.err;
}

/* Until so many have ended, one way or the other. */
static struct ended
await(uint32_t operations)
{
	uint64_t end_ns = end_clock_ns() + LIMIT_NS;
	struct ended ended = { .good = 0 };

	while (ended.good + ended.failed < operations) {
		struct fi_cq_tagged_entry entry;
		ssize_t got = fi_cq_read(own.cq, &entry, 1);

		if (got == -FI_EAVAIL)
			take_error(&ended);
		else if (got == 1)
			ended.good++;
		else if (got != -FI_EAGAIN)
			die("fi_cq_read", got);
		if (end_clock_ns() > end_ns)
			die("hangs", -FI_ETIMEDOUT);
	}
	return ended;
}

static void
send_to(uint32_t who, void *data, size_t bytes, uint64_t tag, void *context)
{
	struct fi_cq_tagged_entry entry;
	ssize_t rc;

	while ((rc = fi_tsend(own.ep, data, bytes, NULL, known[who], tag, context)) == -FI_EAGAIN)
		(void)fi_cq_read(own.cq, &entry, 0);
	if (rc != 0)
		die("fi_tsend", rc);
}

static void
receive_from(uint32_t who, void *data, size_t bytes, uint64_t tag, void *context)
{
	ssize_t rc = fi_trecv(own.ep, data, bytes, NULL, known[who], tag, 0, context);

	if (rc != 0)
		die("fi_trecv", rc);
}

/* A message to and from another one. */
static void
meet(uint32_t who, uint64_t tag)
{
	static uint8_t out[1000], in[1000];

	receive_from(who, in, sizeof(in), tag, &contexts[0]);
	send_to(who, out, sizeof(out), tag, &contexts[1]);
	if (await(2).failed != 0)
		die("meet", -FI_EIO);
}

/* ---- what they do ---- */

static void
compute(uint64_t seconds)
{
	uint64_t end_ns = end_clock_ns() + seconds * NS_PER_S;
	volatile uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		if (i != number)
			meet(i, 1);
	while (number == 0 && end_clock_ns() < end_ns)
		sum++;
	for (uint32_t i = 0; i < count; i++)
		if (i != number && (i == 0 || number == 0))
			meet(i, 2);
	printf("%u: goes on\n", number);
}

/* Pending: small and large both ways, one that nobody will receive, one from anybody. */
static void
crash(void)
{
	static uint8_t out[LARGE], in[LARGE];
	struct ended ended;
	uint64_t begin_ns;
	ssize_t rc;

	for (uint32_t i = 0; i < count; i++)
		if (i != number)
			meet(i, 1);
	if (number == 1) {
		usleep(100000);
		fflush(stdout);
		_exit(0); /* no close: as one that is killed */
	}
	for (uint32_t i = 0; i < 8; i++)
		receive_from(1, in, sizeof(in), 10 + i, &contexts[i]);
	for (uint32_t i = 0; i < 8; i++)
		send_to(1, out, sizeof(out), 20 + i, &contexts[8 + i]);
	begin_ns = end_clock_ns();
	ended = await(16);
	printf("%u: %u good, %u failed, %u nameless, %s, %.1f s\n", number, ended.good,
	       ended.failed, ended.nameless, fi_strerror(ended.err),
	       (double)(end_clock_ns() - begin_ns) / NS_PER_S);
	rc = fi_tsend(own.ep, out, 1, NULL, known[1], 1, &contexts[0]);
	printf("%u: later a send: %s\n", number, fi_strerror((int)-rc));
	rc = fi_trecv(own.ep, in, 1, NULL, known[1], 1, 0, &contexts[0]);
	printf("%u: later a receive: %s\n", number, fi_strerror((int)-rc));
	rc = fi_tinject(own.ep, out, 1, known[1], 1);
	printf("%u: later an inject: %s\n", number, fi_strerror((int)-rc));
	for (uint32_t i = 0; i < count; i++)
		if (i != number && i != 1)
			meet(i, 2);
	printf("%u: goes on\n", number);
}

static void
alone(void)
{
	struct ended ended;
	uint64_t begin_ns = end_clock_ns();
	static uint8_t in[8];

	if (number != 0)
		while (end_clock_ns() - begin_ns <
		       8 * NS_PER_S) /* it is there, and hears nothing */
			(void)fi_cq_read(own.cq, in, 0);
	if (number != 0)
		return;
	send_to(1, in, sizeof(in), 1, &contexts[0]);
	receive_from(1, in, sizeof(in), 1, &contexts[1]);
	ended = await(2);
	printf("0: %u good, %u failed, %u nameless, %s\n", ended.good, ended.failed, ended.nameless,
	       fi_strerror(ended.err));
}

int
main(int argc, char **argv)
{
	int rc;

	if (argc < 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	number = (uint32_t)atoi(argv[2]);
	count = (uint32_t)atoi(argv[3]);
	rc = end_open(&own);
	if (rc != 0)
		die("open", rc);
	tell(argv[1]);
	for (uint32_t i = 0; i < count && i < PEERS_MAX; i++)
		if (i != number)
			know(argv[1], i);
	if (strcmp(argv[4], "compute") == 0)
		compute((uint64_t)atoi(argv[5]));
	else if (strcmp(argv[4], "crash") == 0)
		crash();
	else
		alone();
	rc = end_close(&own);
	if (rc != 0)
		die("close", rc);
	return 0;
}
