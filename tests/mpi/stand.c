/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand.h"

#include <stdlib.h>
#include <string.h>

#define BYTES 300

void
open_end(struct end *end)
{
	int rc = end_open(end);

	if (rc != 0)
		fail_msg("open: %s", fi_strerror(-rc));
}

void
close_end(struct end *end)
{
	assert_int_equal(end_close(end), 0);
}

int
set_up(void **state)
{
	(void)state;
	/* With the rights of tests/netns/rights.py a port of DPDK, else what anybody has. */
	setenv("FI_LULL_RAILS",
	       getenv("LULL_TEST_RIGHTS") != NULL ? "dpdk:af_packet=lo" : "kernel:lo", 1);
	setenv("FI_LULL_SECURITY", "open", 1);
	unsetenv("FI_LULL_MAX_REST");
	unsetenv("FI_LULL_GOVERNOR");
	unsetenv("FI_LULL_CONNECT_TIMEOUT");
	return 0;
}

void
exchange(struct end *here, struct end *there, fi_addr_t address, uint64_t tag)
{
	uint8_t out[BYTES], in[BYTES] = { 0 };
	struct fi_cq_tagged_entry entry;
	uint64_t end_ns = end_clock_ns() + WAIT_NS;
	uint32_t left = 2;

	memset(out, (int)tag, sizeof(out));
	assert_int_equal(fi_trecv(there->ep, in, sizeof(in), NULL, FI_ADDR_UNSPEC, tag, 0, in), 0);
	assert_int_equal(fi_tsend(here->ep, out, sizeof(out), NULL, address, tag, out), 0);
	while (left > 0) {
		ssize_t got[] = { fi_cq_read(here->cq, &entry, 1),
				  fi_cq_read(there->cq, &entry, 1) };

		for (size_t i = 0; i < COUNT(got); i++) {
			assert_true(got[i] == 1 || got[i] == -FI_EAGAIN);
			left -= got[i] == 1;
		}
		assert_true(end_clock_ns() < end_ns);
	}
	assert_memory_equal(in, out, sizeof(in));
}
