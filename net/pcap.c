/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap:FILE: a capture in the place of a network, with the times that it was recorded at. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lull/capture.h>

#include "backend.h"
#include "claims.h"
#include "host/error.h"

struct pcap {
	struct lull_capture capture;
	uint8_t *bytes;
	size_t size;
	uint64_t unclaimed, wrong;
	uint64_t cut;       /* packets that are there only in part */
	uint64_t cut_bytes; /* of the longest of these */
	bool ended;
	_Atomic(const char *) broken; /* why it ended early */
	size_t broken_at;
	struct lull_net_claims claims;
};

static int
pcap_map(struct pcap *pcap, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &info) != 0)
		rc = -errno;
	else if (!S_ISREG(info.st_mode) || info.st_size == 0)
		rc = -EINVAL;
	if (rc == 0) {
		void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (bytes == MAP_FAILED) {
			rc = -errno;
		} else {
			pcap->bytes = bytes;
			pcap->size = (size_t)info.st_size;
		}
	}
	close(fd);
	return rc;
}

static void
pcap_close(void *state)
{
	struct pcap *pcap = state;

	if (pcap->bytes != NULL)
		munmap(pcap->bytes, pcap->size);
	free(pcap);
}

static int
pcap_open(const struct lull_net_config *config, const char *argument, void **state,
	  struct lull_error *error)
{
	struct pcap *pcap = calloc(1, sizeof(*pcap));
	int rc;

	if (pcap == NULL)
		return lull_error_set(error, -ENOMEM, "no memory for a capture");
	pcap->claims.sums = config->sums;
	rc = pcap_map(pcap, argument);
	if (rc != 0) {
		lull_error_set(error, rc, "pcap:%s: %s", argument,
			       rc == -EINVAL ? "not a capture file" : strerror(-rc));
		pcap_close(pcap);
		return rc;
	}
	lull_capture_open(&pcap->capture, pcap->bytes, pcap->size);
	if (pcap->capture.reason != NULL) {
		rc = lull_error_set(error, -EINVAL, "pcap:%s: %s at byte %zu", argument,
				    pcap->capture.reason, pcap->capture.offset);
		pcap_close(pcap);
		return rc;
	}
	*state = pcap;
	return 0;
}

static int
pcap_claim(void *state, struct lull_net_claim *claim, struct lull_error *error)
{
	struct pcap *pcap = state;

	if (claim->port == 0 && !claim->ethernet)
		return lull_error_set(error, -EINVAL, "port: name it for a capture");
	lull_net_claims_add(&pcap->claims, claim);
	return 0;
}

static int
pcap_start(void *state, struct lull_error *error)
{
	(void)state;
	(void)error;
	return 0;
}

static void
pcap_end(struct pcap *pcap)
{
	pcap->broken_at = pcap->capture.offset;
	atomic_store_explicit(&pcap->broken, pcap->capture.reason, memory_order_release);
	pcap->ended = true;
}

static void
pcap_count_cut(struct pcap *pcap, const struct lull_capture_packet *packet)
{
	if (packet->captured_bytes > pcap->cut_bytes)
		LULL_COUNTER_ADD(pcap->cut_bytes, packet->captured_bytes - pcap->cut_bytes);
	LULL_COUNTER_ADD(pcap->cut, 1);
}

static uint32_t
pcap_receive(void *state, struct lull_net_packet *packets)
{
	struct pcap *pcap = state;
	struct lull_capture_packet packet;
	enum lull_net_found found;
	uint32_t count = 0;

	/* One at a time: between two the receiver may find that it has to wait. */
	while (count == 0 && !pcap->ended) {
		if (lull_capture_next(&pcap->capture, &packet) != LULL_CAPTURE_PACKET) {
			pcap_end(pcap);
			break;
		}
		found = LULL_NET_FOUND_NOBODY;
		if (packet.link_type == LULL_CAPTURE_LINK_ETHERNET)
			found = lull_net_claims_find(&pcap->claims, packet.data,
						     packet.captured_bytes, 0, &packets[count]);
		if (found == LULL_NET_FOUND_CLAIM && packet.captured_bytes < packet.original_bytes)
			found = LULL_NET_FOUND_CUT; /* without IP it does not tell itself */
		if (found == LULL_NET_FOUND_CLAIM)
			packets[count++].stamp_ns = packet.timestamp_ns;
		else if (found == LULL_NET_FOUND_WRONG)
			LULL_COUNTER_ADD(pcap->wrong, 1);
		else if (found == LULL_NET_FOUND_CUT)
			pcap_count_cut(pcap, &packet);
		else
			LULL_COUNTER_ADD(pcap->unclaimed, 1);
	}
	return count;
}

static void
pcap_release(void *state)
{
	(void)state;
}

static uint64_t
pcap_unclaimed(void *state)
{
	struct pcap *pcap = state;

	return LULL_COUNTER_READ(pcap->unclaimed);
}

static void
pcap_damaged(void *state, struct lull_net_damaged *damaged)
{
	const struct pcap *pcap = state;

	*damaged = (struct lull_net_damaged){ .cut = LULL_COUNTER_READ(pcap->cut),
					      .wrong = LULL_COUNTER_READ(pcap->wrong) };
}

static uint64_t
pcap_missed(void *state)
{
	(void)state;
	return 0;
}

static uint32_t
pcap_ring_pkts(void *state)
{
	(void)state;
	return 0;
}

static void
pcap_check(void *state, struct lull_findings *findings)
{
	struct pcap *pcap = state;
	const char *broken = atomic_load_explicit(&pcap->broken, memory_order_acquire);
	uint64_t cut = LULL_COUNTER_READ(pcap->cut);

	lull_finding_add(findings, "capture", LULL_GRADE_FINE, "%zu bytes to read", pcap->size);
	if (cut > 0) {
		lull_finding_add(findings, "capture", LULL_GRADE_NOTE,
				 "has only the first %llu bytes (snaplen) of %llu packets, which "
				 "are left out",
				 (unsigned long long)LULL_COUNTER_READ(pcap->cut_bytes),
				 (unsigned long long)cut);
		lull_finding_remedy(findings, "record whole packets: tcpdump -s 0");
	}
	if (broken != NULL) {
		lull_finding_add(findings, "capture", LULL_GRADE_NOTE, "ends early: %s at byte %zu",
				 broken, pcap->broken_at);
		lull_finding_remedy(findings, "end the program that records before the disk is "
					      "full, by SIGINT");
	}
}

static bool
pcap_ended(void *state)
{
	const struct pcap *pcap = state;

	return pcap->ended;
}

const struct lull_net_backend lull_net_pcap = {
	.name = "pcap",
	.summary = "a capture, as fast as possible",
	.polled = true,
	.file = true,
	.clock = LULL_NET_CLOCK_FILE,
	.open = pcap_open,
	.claim = pcap_claim,
	.start = pcap_start,
	.receive = pcap_receive,
	.release = pcap_release,
	.unclaimed = pcap_unclaimed,
	.damaged = pcap_damaged,
	.missed = pcap_missed,
	.ring_pkts = pcap_ring_pkts,
	.check = pcap_check,
	.ended = pcap_ended,
	.close = pcap_close,
};
