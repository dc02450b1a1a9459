/* SPDX-License-Identifier: BSD-3-Clause */
#include "headers.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/prng.h"

#define HUGE_BYTES ((size_t)2 << 20)
#define SPARE_BYTES ((size_t)192 << 20) /* for pointers, dispatchers, parser */
#define LINE_BYTES 64
#define ETHERNET_BYTES 14
#define IPV4_BYTES 20
#define TCP_BYTES 20

/* How much of the mapping at @p memory is in huge pages, by what the kernel says. */
static size_t
huge_bytes(const void *memory)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	size_t kilobytes, found = 0;
	unsigned long begin, end;
	char line[512];
	bool inside = false;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			inside = (uintptr_t)memory >= begin && (uintptr_t)memory < end;
		else if (inside && sscanf(line, "AnonHugePages: %zu kB", &kilobytes) == 1)
			found += kilobytes << 10;
	}
	if (file != NULL)
		fclose(file);
	return found;
}

static int
headers_map(struct headers *headers, size_t frame_bytes)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	uintptr_t begin;

	headers->size = (frame_bytes + SPARE_BYTES + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	headers->memory = mmap(NULL, headers->size, protection, flags | MAP_HUGETLB, -1, 0);
	if (headers->memory != MAP_FAILED) {
		headers->pages = "2 MB (reserved)";
		return 0;
	}
	headers->memory = mmap(NULL, headers->size + HUGE_BYTES, protection, flags, -1, 0);
	if (headers->memory == MAP_FAILED)
		return -1;
	begin = ((uintptr_t)headers->memory + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	munmap(headers->memory, begin - (uintptr_t)headers->memory);
	munmap((uint8_t *)begin + headers->size, (uintptr_t)headers->memory + HUGE_BYTES - begin);
	headers->memory = (uint8_t *)begin;
	madvise(headers->memory, headers->size, MADV_HUGEPAGE);
	memset(headers->memory, 0, frame_bytes);
	headers->pages = huge_bytes(headers->memory) >= frame_bytes * 9 / 10 ?
				 "2 MB (transparent)" :
				 "4 kB: the system gave no 2 MB pages";
	return 0;
}

/* Ethernet, IPv4 and TCP of flow @p flow; the parser takes these for granted, checksums apart. */
static void
frame_write(uint8_t *frame, uint32_t flow, uint64_t random)
{
	uint8_t *ip = frame + ETHERNET_BYTES, *tcp = ip + IPV4_BYTES;
	const uint16_t ip_bytes = HEADERS_FRAME_BYTES - ETHERNET_BYTES;
	bool answer = random & 1;

	memset(frame, 0, HEADERS_FRAME_BYTES);
	frame[12] = 0x08; /* IPv4 */
	ip[0] = 0x45;
	ip[2] = ip_bytes >> 8;
	ip[3] = ip_bytes & 0xff;
	ip[8] = 64;
	ip[9] = 6;
	/* Client 10.x.y.z and port from the flow's number, server 192.168.1.1:443. */
	uint8_t client[] = { 10, (uint8_t)(flow >> 16), (uint8_t)(flow >> 8), (uint8_t)flow };
	static const uint8_t server[] = { 192, 168, 1, 1 };
	uint16_t port = (uint16_t)(1024 + flow * 2654435761u % 60000);

	memcpy(ip + (answer ? 16 : 12), client, 4);
	memcpy(ip + (answer ? 12 : 16), server, 4);
	tcp[answer ? 2 : 0] = (uint8_t)(port >> 8);
	tcp[answer ? 3 : 1] = (uint8_t)port;
	tcp[answer ? 0 : 2] = 443 >> 8;
	tcp[answer ? 1 : 3] = 443 & 0xff;
	tcp[12] = TCP_BYTES / 4 << 4;
	tcp[13] = 0x10; /* ACK */
}

int
headers_open(struct headers *headers, const struct headers_config *config)
{
	size_t frame_bytes = (size_t)config->megabytes << 20;
	struct lull_prng prng;

	memset(headers, 0, sizeof(*headers));
	headers->count = 1;
	while ((size_t)headers->count * 2 * HEADERS_FRAME_BYTES <= frame_bytes)
		headers->count *= 2;
	if (headers_map(headers, frame_bytes) != 0)
		return -1;
	headers->used = frame_bytes;
	headers->frames = headers_memory(headers, headers->count * sizeof(headers->frames[0]));
	if (headers->frames == NULL)
		return -1;
	lull_prng_init(&prng, config->seed, 0);
	for (uint32_t i = 0; i < headers->count; i++) {
		uint8_t *frame = headers->memory + (size_t)i * HEADERS_FRAME_BYTES;

		frame_write(frame, (uint32_t)lull_prng_below(&prng, config->flow_count),
			    lull_prng_u64(&prng));
		headers->frames[i] = frame;
	}
	for (uint32_t i = headers->count; !config->linear && i > 1; i--) {
		uint32_t other = (uint32_t)lull_prng_below(&prng, i);
		const uint8_t *frame = headers->frames[i - 1];

		headers->frames[i - 1] = headers->frames[other];
		headers->frames[other] = frame;
	}
	return 0;
}

void *
headers_memory(struct headers *headers, size_t size)
{
	size_t begin = headers->used;

	size = (size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	if (headers->size - begin < size)
		return NULL;
	headers->used += size;
	return headers->memory + begin;
}

void
headers_trim(struct headers *headers, size_t used)
{
	headers->used = used;
}

void
headers_close(struct headers *headers)
{
	munmap(headers->memory, headers->size);
}
