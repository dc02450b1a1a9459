/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of memif and its server, two processes that start at the same time, in either order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>

#include "engine/dpdk/port.h"
#include "case.h"

#define LATE_US 400000

static char folder[] = "/tmp/lull-memif-XXXXXX";

static void
begin(const char *role)
{
	char vdev[128];
	char *args[] = { (char *)"memif",       (char *)"--no-huge",      (char *)"--no-pci",
			 (char *)"--no-shconf", (char *)"--no-telemetry", (char *)"-m",
			 (char *)"64",          (char *)"--log-level=3",  vdev };

	snprintf(vdev, sizeof(vdev), "--vdev=net_memif0,role=%s,socket-abstract=no,socket=%s/s",
		 role, folder);
	if (rte_eal_init(sizeof(args) / sizeof(args[0]), args) < 0)
		_exit(77);
}

/* Whether the port's link comes up. */
static int
runs(void)
{
	static const struct lull_port_config config = { .queues = 1,
							.ring_pkts = 256,
							.burst_pkts = 32 };
	struct lull_error error = { "" };
	struct rte_eth_link link = { 0 };
	struct lull_port port;

	if (lull_port_open(0, &config, &port, &error) != 0) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (int i = 0; i < 500 && link.link_status != RTE_ETH_LINK_UP; i++) {
		usleep(10000);
		(void)rte_eth_link_get_nowait(0, &link);
	}
	usleep(200000); /* the other side looks as well */
	return link.link_status == RTE_ETH_LINK_UP ? 0 : 2;
}

/* The server's socket is there after @p socket_us, its port runs after as long again. */
static void
meet(unsigned int client_us, unsigned int socket_us, unsigned int start_us)
{
	pid_t children[2];
	char path[64];

	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] != 0)
			continue;
		usleep(i == 0 ? client_us : socket_us);
		begin(i == 0 ? "client" : "server");
		usleep(i == 0 ? 0 : start_us);
		_exit(runs());
	}
	for (int i = 0; i < 2; i++) {
		int status = -1;

		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
	snprintf(path, sizeof(path), "%s/s", folder);
	(void)unlink(path);
	assert_int_equal(rmdir(folder), 0);
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
}

TEST(memif__client_comes_before_the_socket)
{
	meet(0, LATE_US, 0);
}

TEST(memif__client_comes_before_the_servers_port_runs)
{
	meet(LATE_US, 0, 2 * LATE_US);
}

TEST(memif__server_comes_first)
{
	meet(LATE_US, 0, 0);
}
