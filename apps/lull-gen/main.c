/* SPDX-License-Identifier: BSD-3-Clause */
#include "gen.h"

static const char *const gen_examples[] = {
	"lull-gen --vdev net_af_packet0,iface=veth0 --traffic poisson:50k --duration 10 --json -",
	"lull-gen --vdev net_memif0,role=client --traffic tidal:0-1M,60s --traffic-size "
	"64:7,594:4,1518:1",
	"lull-gen --vdev net_af_packet0,iface=veth0 --pcap dns.pcap --pcap-speed max",
	NULL,
};

static const struct lull_program gen_program = {
	.name = "lull-gen",
	.version = LULL_VERSION,
	.summary = "Send traffic through DPDK ports, take it back, and say what was lost, repeated,"
		   " reordered and how long it took.",
	.examples = gen_examples,
	.options = gen_options,
	LULL_PROGRAM_STATE(struct gen),
	.preset = gen_preset,
	.check = gen_check,
	.open = gen_open,
	.run = gen_run,
	.close = gen_close,
	.result = gen_result,
	.dpdk = lull_engine_dpdk_version,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&gen_program, argc, argv);
}
