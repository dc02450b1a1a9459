/* SPDX-License-Identifier: BSD-3-Clause */
#include "flow.h"

static const char *const flow_examples[] = {
	"lull-flow --pcap capture.pcap --workers 4 --records -",
	"lull-flow --pcap captures/ --workers 4 --scheduler hrw --ipfix udp://127.0.0.1:4739",
	"lull-flow --vdev net_af_packet0,iface=eth1 --workers 2 --records flows.json --stats 1",
	"lull-flow --pci 0000:01:00.0 --cpus 1-8 --workers 6 --ipfix tcp://collector:4739",
	NULL,
};

static const struct lull_program flow_program = {
	.name = "lull-flow",
	.version = LULL_VERSION,
	.summary = "Turn packets of DPDK ports or capture files into exact flow records, on as "
		   "many workers as wanted.",
	.examples = flow_examples,
	.options = flow_options,
	LULL_PROGRAM_STATE(struct flow),
	.preset = flow_preset,
	.check = flow_check,
	.instead = flow_replay,
	.open = flow_open,
	.run = flow_run,
	.close = flow_close,
	.hangup = flow_hangup,
	.result = flow_result,
	.print = flow_print,
	.dpdk = lull_engine_dpdk_version,
};

int
main(int argc, char **argv)
{
	return lull_program_main(&flow_program, argc, argv);
}
