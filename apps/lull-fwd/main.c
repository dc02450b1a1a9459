/* SPDX-License-Identifier: BSD-3-Clause */
#include "fwd.h"

static const char *const fwd_examples[] = {
	"lull-fwd --traffic poisson:300k --governor objective --max-latency 200 --duration 10",
	"lull-fwd --vdev net_af_packet0,iface=veth0 --vdev net_af_packet1,iface=veth1",
	"lull-fwd --pci 0000:01:00.0 --pci 0000:01:00.1 --cpus 2,3 --threads 2 --queues 2",
	NULL,
};

static const struct lull_program fwd_program = {
	.name = "lull-fwd",
	.version = LULL_VERSION,
	.summary = "Forward packets between DPDK ports with threads that rest as far as a latency "
		   "and loss objective allows.",
	.examples = fwd_examples,
	.options = fwd_options,
	LULL_PROGRAM_STATE(struct fwd),
	.check = fwd_check,
	.open = fwd_open,
	.run = fwd_run,
	.close = fwd_close,
	.result = fwd_result,
	.print = fwd_print,
	.dpdk = lull_engine_dpdk_version,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&fwd_program, argc, argv);
}
