/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread far from its port is told of; made-up nodes, for few machines have two. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include <lull/loop.h>

#include "node.h"

TEST(node__is_read_from_the_kernel_s_folder)
{
	char folder[] = "/tmp/lull-cpus-XXXXXX", command[160];

	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "mkdir -p %s/cpu0/node0 %s/cpu9/node1 %s/cpu9/cache "
		 "%s/cpu2",
		 folder, folder, folder, folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(lull_cpu_node_below(folder, 0), 0);
	assert_int_equal(lull_cpu_node_below(folder, 9), 1);
	assert_int_equal(lull_cpu_node_below(folder, 2), -1);
	assert_int_equal(lull_cpu_node_below(folder, 3), -1);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

TEST(text__names_thread_cpu_and_port)
{
	char text[LULL_ERROR_SIZE] = "";

	assert_true(lull_node_text("fwd0", 4, 0, "0000:3b:00.0", 1, text, sizeof(text)));
	assert_string_equal(text, "fwd0 on CPU 4 (node 0) polls port 0000:3b:00.0 of node 1: each "
				  "packet crosses between the nodes; choose a CPU of node 1");
	assert_false(lull_node_text("fwd0", 4, 1, "p", 1, text, sizeof(text)));
	assert_false(lull_node_text("fwd0", 4, -1, "p", 1, text, sizeof(text)));
	assert_false(lull_node_text("fwd0", 4, 0, "p", -1, text, sizeof(text)));
}
