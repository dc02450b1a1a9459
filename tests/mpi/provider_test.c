/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider by libfabric's own calls: what is left of it, error entries, forks, settings. */
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stand.h"

#define TIMES 1000
#define LEAK_BYTES 20000 /* of all times together */

static char context[16];

/* ---- what is left ---- */

static uint32_t
entries_of(const char *folder)
{
	DIR *all = opendir(folder);
	uint32_t count = 0;

	assert_non_null(all);
	while (readdir(all) != NULL)
		count++;
	closedir(all);
	return count;
}

struct traces {
	uint32_t threads, files;
	size_t bytes;
	cpu_set_t cpus;
};

static struct traces
traces_now(void)
{
	struct traces traces = { .threads = entries_of("/proc/self/task"),
				 .files = entries_of("/proc/self/fd"),
				 .bytes = mallinfo2().uordblks };

	assert_int_equal(sched_getaffinity(0, sizeof(traces.cpus), &traces.cpus), 0);
	return traces;
}

static void
same_traces(const struct traces *before)
{
	struct traces now = traces_now();

	assert_int_equal(now.threads, before->threads);
	assert_int_equal(now.files, before->files);
	assert_true(now.bytes < before->bytes + LEAK_BYTES);
	assert_true(CPU_EQUAL(&now.cpus, &before->cpus));
}

/* Rails that need DPDK, a node's program or an interface that is not there, a key that is none. */
TEST_WITH(getinfo__reads_settings_and_nothing_else, set_up, NULL)
{
	static const char *const rails[] = { "kernel:lo", "dpdk:af_packet=lo", "node:/nowhere",
					     "kernel:nosuch0,kernel:lo" };
	struct traces before;

	fi_freeinfo(end_info()); /* libfabric itself looks for providers */
	before = traces_now();
	for (size_t i = 0; i < COUNT(rails); i++) {
		struct fi_info *info;

		setenv("FI_LULL_RAILS", rails[i], 1);
		setenv("FI_LULL_SECURITY", "sealed", 1);
		setenv("FI_LULL_KEY", "/nowhere/key", 1);
		info = end_info();
		assert_non_null(info);
		assert_null(info->next);
		fi_freeinfo(info);
		same_traces(&before);
	}
	unsetenv("FI_LULL_KEY");
}

TEST_WITH(domain__leaves_nothing_behind, set_up, NULL)
{
	struct traces before = { 0 };
	struct end end;

	for (int i = 0; i < TIMES; i++) {
		assert_int_equal(end_domain(&end), 0);
		close_end(&end);
		if (i == 0)
			before = traces_now();
	}
	same_traces(&before);
}

TEST_WITH(endpoint__leaves_nothing_behind, set_up, NULL)
{
	struct traces before = { 0 };
	struct end ends[2];

	for (uint64_t i = 0; i < 12; i++) {
		open_end(&ends[0]);
		open_end(&ends[1]);
		exchange(&ends[0], &ends[1], end_know(&ends[0], ends[1].address), i + 1);
		close_end(&ends[0]);
		close_end(&ends[1]);
		if (i == 1)
			before = traces_now();
	}
	same_traces(&before);
}

/* EAL pins the thread that starts it: neither the rank nor who stands in for it stays there. */
TEST_WITH(endpoint__leaves_the_affinity_as_it_was, set_up, NULL)
{
	struct traces before = traces_now();
	struct dirent *thread;
	struct end end;
	cpu_set_t cpus;
	uint32_t found = 0;
	DIR *all;

	open_end(&end);
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	assert_true(CPU_EQUAL(&cpus, &before.cpus));
	all = opendir("/proc/self/task");
	assert_non_null(all);
	while ((thread = readdir(all)) != NULL) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", thread->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		if (fgets(name, sizeof(name), file) != NULL &&
		    strcmp(name, "lull-stand-in\n") == 0) {
			found++;
			assert_int_equal(
				sched_getaffinity(atoi(thread->d_name), sizeof(cpus), &cpus), 0);
			assert_true(CPU_EQUAL(&cpus, &before.cpus));
		}
		fclose(file);
	}
	closedir(all);
	assert_int_equal(found, 1);
	close_end(&end);
}

/* ---- error entries ---- */

static void *
readerr_run(void *arg)
{
	struct fi_cq_err_entry entry;
	struct end *end = arg;

	return fi_cq_readerr(end->cq, &entry, 0) == -FI_EAGAIN ? arg : NULL;
}

static void *
told_run(void *arg)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry error = { .op_context = NULL };
	struct end *end = arg;
	pthread_t thread;
	void *nothing;

	if (fi_cq_read(end->cq, &entry, 1) != -FI_EAVAIL)
		return NULL;
	/* Not to another thread, which was not told. */
	if (pthread_create(&thread, NULL, readerr_run, end) != 0 ||
	    pthread_join(thread, &nothing) != 0 || nothing == NULL)
		return NULL;
	if (fi_cq_readerr(end->cq, &error, 0) != 1 || error.op_context != context ||
	    error.err != FI_ENOMSG)
		return NULL;
	return fi_cq_readerr(end->cq, &error, 0) == -FI_EAGAIN ? arg : NULL;
}

static void
peek(struct end *end, uint64_t flags)
{
	const struct fi_msg_tagged message = { .addr = FI_ADDR_UNSPEC,
					       .tag = 5,
					       .context = context };

	assert_int_equal(fi_trecvmsg(end->ep, &message, flags), 0);
}

TEST_WITH(cq_readerr__belongs_to_the_thread_that_was_told, set_up, NULL)
{
	pthread_t threads[2];
	struct end end;
	void *good;

	open_end(&end);
	peek(&end, FI_PEEK);
	assert_int_equal(pthread_create(&threads[0], NULL, told_run, &end), 0);
	assert_int_equal(pthread_join(threads[0], &good), 0);
	assert_non_null(good);
	/* A thread each, at once. */
	peek(&end, FI_PEEK | FI_CLAIM);
	peek(&end, FI_PEEK | FI_CLAIM);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, told_run, &end), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], &good), 0);
		(void)good; /* the other's may have been there to be told of */
	}
	close_end(&end);
}

/* ---- forks ---- */

static int
child_status(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What it has of its parent it can close, and do nothing else with. */
static int
child_touches(struct end *end, fi_addr_t address)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry error;

	if (fi_cq_read(end->cq, &entry, 1) != -FI_EOPBADSTATE ||
	    fi_cq_readerr(end->cq, &error, 0) != -FI_EOPBADSTATE)
		return 1;
	if (fi_tsend(end->ep, NULL, 0, NULL, address, 1, context) != -FI_EOPBADSTATE ||
	    fi_trecv(end->ep, NULL, 0, NULL, FI_ADDR_UNSPEC, 1, 0, context) != -FI_EOPBADSTATE)
		return 2;
	return end_close(end) == 0 ? 0 : 3;
}

/* A child that goes on with endpoints of its own. */
static int
child_begins_anew(void)
{
	struct fi_cq_tagged_entry entry;
	uint64_t end_ns = end_clock_ns() + WAIT_NS;
	struct end end;
	ssize_t got;

	if (end_open(&end) != 0 ||
	    fi_tsend(end.ep, NULL, 0, NULL, end_know(&end, end.address), 1, context) != 0 ||
	    fi_trecv(end.ep, NULL, 0, NULL, FI_ADDR_UNSPEC, 1, 0, context) != 0)
		return 1;
	while ((got = fi_cq_read(end.cq, &entry, 1)) == -FI_EAGAIN)
		if (end_clock_ns() > end_ns)
			return 2;
	return got == 1 && end_close(&end) == 0 ? 0 : 3;
}

static pid_t
child(int (*what)(struct end *end, fi_addr_t address), struct end *end, fi_addr_t address)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) /* as a program ends that knows nothing of us */
		exit(what != NULL ? what(end, address) : child_begins_anew());
	return pid;
}

TEST_WITH(fork__a_child_touches_nothing, set_up, NULL)
{
	struct end ends[2];
	fi_addr_t address;

	open_end(&ends[0]);
	open_end(&ends[1]);
	address = end_know(&ends[0], ends[1].address);
	exchange(&ends[0], &ends[1], address, 1);
	assert_int_equal(child_status(child(child_touches, &ends[0], address)), 0);
	exchange(&ends[0], &ends[1], address, 2);
	assert_int_equal(child_status(child(NULL, &ends[0], address)), 0);
	exchange(&ends[0], &ends[1], address, 3);
	assert_int_equal(system("true"), 0);
	exchange(&ends[0], &ends[1], address, 4);
	close_end(&ends[0]);
	close_end(&ends[1]);
}

static int
files_of_a_child(void)
{
	FILE *shell = popen("ls /proc/self/fd | wc -l", "r");
	int count = -1;

	assert_non_null(shell);
	assert_int_equal(fscanf(shell, "%d", &count), 1);
	assert_int_equal(pclose(shell), 0);
	return count;
}

TEST_WITH(fork__a_program_gets_no_file, set_up, NULL)
{
	struct end end;
	int before;

	before = files_of_a_child();
	open_end(&end);
	assert_int_equal(files_of_a_child(), before);
	close_end(&end);
}

/* ---- settings ---- */

/* Whoever sends once and then computes calls nothing while the connection comes to stand. */
TEST_WITH(send__leaves_though_no_call_follows, set_up, NULL)
{
	struct end here, there;
	struct fi_cq_tagged_entry entry;
	fi_addr_t address;
	uint64_t end_ns;
	uint32_t in = 0;
	ssize_t got;

	open_end(&here);
	open_end(&there);
	address = end_know(&here, there.address);
	assert_int_equal(fi_trecv(there.ep, &in, sizeof(in), NULL, FI_ADDR_UNSPEC, 7, 0, &in), 0);
	assert_int_equal(fi_tinject(here.ep, &(uint32_t){ 4711 }, sizeof(in), address, 7), 0);
	end_ns = end_clock_ns() + WAIT_NS;
	while ((got = fi_cq_read(there.cq, &entry, 1)) == -FI_EAGAIN)
		assert_true(end_clock_ns() < end_ns);
	assert_int_equal(got, 1);
	assert_int_equal(in, 4711);
	close_end(&there);
	close_end(&here);
}

TEST_WITH(getinfo__offers_nothing_where_a_variable_is_wrong, set_up, NULL)
{
	static const char *const wrong[][2] = {
		{ "FI_LULL_GOVERNOR", "nosuch" },    { "FI_LULL_SECURITY", "none" },
		{ "FI_LULL_MAX_REST", "100001" },    { "FI_LULL_MAX_REST", "much" },
		{ "FI_LULL_PEER_TIMEOUT", "-1" },    { "FI_LULL_PEERS", "0" },
		{ "FI_LULL_CONNECT_TIMEOUT", "99" },
	};
	struct fi_info *info;

	for (size_t i = 0; i < COUNT(wrong); i++) {
		char before[64] = "";

		if (getenv(wrong[i][0]) != NULL)
			snprintf(before, sizeof(before), "%s", getenv(wrong[i][0]));
		setenv(wrong[i][0], wrong[i][1], 1);
		assert_null(end_info());
		if (before[0] != '\0')
			setenv(wrong[i][0], before, 1);
		else
			unsetenv(wrong[i][0]);
		info = end_info();
		assert_non_null(info);
		fi_freeinfo(info);
	}
}

/* Commas part rails too, and belong to one where no kind follows. */
TEST_WITH(rails__are_parted_by_blanks_or_commas, set_up, NULL)
{
	static const char *const rails[] = { "kernel:lo,port=0,kernel:lo,port=0",
					     " kernel:lo,port=0  kernel-busy:lo,port=0 ",
					     "kernel:lo,port=0, kernel:lo,port=0" };
	struct end ends[2];

	for (size_t i = 0; i < COUNT(rails); i++) {
		setenv("FI_LULL_RAILS", rails[i], 1);
		open_end(&ends[0]);
		open_end(&ends[1]);
		/* version, how many rails */
		assert_int_equal(ends[0].address[1], 2);
		exchange(&ends[0], &ends[1], end_know(&ends[0], ends[1].address), 7);
		close_end(&ends[0]);
		close_end(&ends[1]);
	}
}
