/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting and ending EAL. It starts once per process, so each attempt runs in a child, which
 * tells its return code and sentence through shared memory.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/dpdk/eal_args.h"
#include "stand.h"

struct attempt {
	int rc;
	struct lull_error error;
	char runtime_dir[512];
	char printed[8192]; /* on stdout and stderr */
};

static struct attempt *attempt;

/* ---- arguments ---- */

static void
expect_args(const struct lull_engine_config *config, bool hugepages, const char *const *expected)
{
	struct lull_eal_args args;
	struct lull_error error = { "" };
	int count = 0;

	assert_int_equal(lull_eal_args_build(&args, config, 42, hugepages, &error), 0);
	for (; expected[count] != NULL; count++) {
		assert_true(count < args.argc);
		assert_string_equal(args.argv[count], expected[count]);
	}
	assert_int_equal(args.argc, count);
	lull_eal_args_free(&args);
}

TEST(eal_args__without_hugepages)
{
	static const int cpus[] = { 1, 3 };
	static const char *const vdevs[] = { "net_null0,size=64" };
	const struct lull_engine_config config = {
		.program = "lull-fwd",
		.cpus = cpus,
		.cpu_count = 2,
		.vdevs = vdevs,
		.vdev_count = 1,
		.memory_mb = 99,
	};
	static const char *const expected[] = { "lull-fwd",
						"--file-prefix=lull-fwd-42",
						"--lcores",
						"0@0,1@1,2@3",
						"--no-huge",
						"--no-shconf",
						"-m",
						"99",
						"--no-pci",
						"--vdev",
						"net_null0,size=64",
						NULL };

	expect_args(&config, false, expected);
}

TEST(eal_args__sets_memory_aside_for_ports_that_come_later)
{
	const struct lull_engine_config config = {
		.program = "lull-cam",
		.memory_mb = 99,
		.later_mb = 500,
	};
	static const char *const expected[] = { "lull-cam",  "--file-prefix=lull-cam-42",
						"--lcores",  "0@0",
						"--no-huge", "--no-shconf",
						"-m",        "500",
						"--no-pci",  NULL };

	expect_args(&config, false, expected);
}

TEST(eal_args__with_hugepages_and_pci)
{
	static const int cpus[] = { 1 };
	static const char *const pcis[] = { "0000:03:00.0" };
	const struct lull_engine_config config = {
		.program = "p",
		.cpus = cpus,
		.cpu_count = 1,
		.pcis = pcis,
		.pci_count = 1,
	};
	static const char *const expected[] = {
		"p",  "--file-prefix=p-42", "--lcores", "0@0,1@1", "--in-memory",
		"-a", "0000:03:00.0",       NULL
	};

	expect_args(&config, true, expected);
}

TEST(eal_args__users_words_win)
{
	const struct lull_engine_config config = {
		.program = "p",
		.eal = " --file-prefix=x -m 64\t'-a' \"00:1.0,a=b c\" --log-level lib\\ eal:8 ''",
	};
	static const char *const expected[] = { "p",  "--file-prefix=x", "-m",          "64",
						"-a", "00:1.0,a=b c",    "--log-level", "lib eal:8",
						"",   "--lcores",        "0@0",         NULL };

	expect_args(&config, false, expected);
}

TEST(eal_args__refuses)
{
	static const char *const refused[] = { "-l 1-3", "--lcores=1", "-c3",
					       "'open",  "a \"b",      "--main-lcore 2" };

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct lull_engine_config config = { .program = "p", .eal = refused[i] };
		struct lull_eal_args args;
		struct lull_error error = { "" };

		assert_int_equal(lull_eal_args_build(&args, &config, 1, false, &error), -EINVAL);
		assert_memory_equal(error.text, "eal: ", 5);
	}
}

/* ---- the real thing ---- */

static void
attempt_run(const struct lull_engine_config *config)
{
	int printed_fd = memfd_create("printed", 0);
	pid_t child;
	int status;

	memset(attempt, 0, sizeof(*attempt));
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const char *base = getenv("XDG_RUNTIME_DIR");

		dup2(printed_fd, STDOUT_FILENO);
		dup2(printed_fd, STDERR_FILENO);
		snprintf(attempt->runtime_dir, sizeof(attempt->runtime_dir), "%s/dpdk/%s-%d",
			 getuid() == 0 ? "/var/run" :
			 base != NULL  ? base :
					 "/tmp",
			 config->program, getpid());
		attempt->rc = lull_engine_init(config, &attempt->error);
		if (attempt->rc == 0)
			lull_engine_fini();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_true(pread(printed_fd, attempt->printed, sizeof(attempt->printed) - 1, 0) >= 0);
	close(printed_fd);
	/* Nothing stays behind, whatever happened. */
	assert_int_not_equal(access(attempt->runtime_dir, F_OK), 0);
}

static void
expect_failure(const struct lull_engine_config *config, int rc, const char *words)
{
	attempt_run(config);
	if (attempt->rc == 0 || (rc != 0 && attempt->rc != rc) ||
	    strstr(attempt->error.text, words) == NULL)
		fail_msg("%d: %s", attempt->rc, attempt->error.text);
	print_message("   %s\n", attempt->error.text);
	/* One sentence, nothing else. */
	assert_string_equal(attempt->printed, "");
}

TEST(init__starts_quietly_and_leaves_nothing)
{
	static const char *const vdevs[] = { "net_null0", "net_ring0" };
	const struct lull_engine_config config = { .program = "lull-test",
						   .vdevs = vdevs,
						   .vdev_count = 2 };

	attempt_run(&config);
	assert_string_equal(attempt->error.text, "");
	assert_int_equal(attempt->rc, 0);
	assert_string_equal(attempt->printed, "");
}

TEST(init__names_the_vdev_at_fault)
{
	static const char *const unknown[] = { "net_null0", "net_nonsense7,a=1" };
	static const char *const wrong[] = { "net_af_packet0,iface=no-such-if" };
	struct lull_engine_config config = { .program = "lull-test",
					     .vdevs = unknown,
					     .vdev_count = 2 };

	expect_failure(&config, -ENODEV, "vdev net_nonsense7,a=1: ");
	config.vdevs = wrong;
	config.vdev_count = 1;
	expect_failure(&config, -ENODEV, "vdev net_af_packet0,iface=no-such-if: ");
	assert_non_null(strstr(attempt->error.text, "no-such-if"));
}

TEST(init__names_the_pci_address_at_fault)
{
	static const char *const missing[] = { "0000:fe:1f.7" };
	static const char *const wrong[] = { "eth0" };
	struct lull_engine_config config = { .program = "lull-test",
					     .pcis = missing,
					     .pci_count = 1 };

	expect_failure(&config, -ENODEV, "pci 0000:fe:1f.7: ");
	config.pcis = wrong;
	expect_failure(&config, 0, "eth0");
}

TEST(init__names_the_arguments_at_fault)
{
	struct lull_engine_config config = { .program = "lull-test", .eal = "--no-such-option" };

	expect_failure(&config, -EINVAL, "--no-such-option");
	/* What is wrong with it, not the alert after that. */
	assert_null(strstr(attempt->error.text, "command line"));
	config.eal = "--no-huge --in-memory";
	expect_failure(&config, -EINVAL, "--no-huge --in-memory");
}

TEST(init__refuses_a_cpu_that_is_not_there)
{
	static const int cpus[] = { 1000 };
	const struct lull_engine_config config = { .program = "lull-test",
						   .cpus = cpus,
						   .cpu_count = 1 };

	expect_failure(&config, -EINVAL, "CPU 1000 ");
}

static int
share(void **state)
{
	(void)state;
	attempt = mmap(NULL, sizeof(*attempt), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	return attempt == MAP_FAILED ? -1 : 0;
}

TEST_GROUP(share, NULL);
