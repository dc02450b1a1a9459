/* SPDX-License-Identifier: BSD-3-Clause */
/* The self-check: what is provoked is found, and has a remedy. */
#include "stand.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lull/rest.h>

#define FINDINGS_MAX 16

struct check {
	struct lull_receiver *receiver;
	struct sender sender;
	uint32_t count;
	struct lull_finding findings[FINDINGS_MAX];
};

static void
check_open(struct check *check, const struct lull_receiver_config *config)
{
	struct lull_camera_stream stream;

	sender_init(&check->sender, "gvsp", LULL_PIXEL_MONO8, 640, 480);
	stream = stand_stream(&check->sender, stand_free_port());
	check->receiver = stand_open(config);
	stand_add(check->receiver, &stream);
}

/* Each line that is not fine says what to do about it. */
static const struct lull_finding *
check_find(struct check *check, const char *subject)
{
	const struct lull_finding *found = NULL;

	check->count = lull_receiver_check(check->receiver, check->findings, FINDINGS_MAX);
	assert_in_range(check->count, 1, FINDINGS_MAX);
	for (uint32_t i = 0; i < check->count; i++) {
		const struct lull_finding *finding = &check->findings[i];

		assert_true(finding->text[0] != '\0');
		assert_int_equal(finding->grade == 0, finding->remedy[0] == '\0');
		if (strcmp(finding->subject, subject) == 0)
			found = finding;
	}
	return found;
}

static void
check_close(struct check *check)
{
	assert_int_equal(lull_receiver_close(check->receiver), 0);
	sender_free(&check->sender);
}

static int
first_cpu(void)
{
	cpu_set_t allowed;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET((unsigned int)cpu, &allowed))
		cpu++;
	return cpu;
}

/* A process that does nothing but run there. */
static pid_t
spin_on(int cpu)
{
	pid_t parent = getpid(), child = fork();
	cpu_set_t only;

	assert_true(child >= 0);
	if (child > 0)
		return child;
	CPU_ZERO(&only);
	CPU_SET((unsigned int)cpu, &only);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
	    sched_setaffinity(0, sizeof(only), &only) != 0)
		_exit(1);
	while (getppid() == parent)
		continue;
	_exit(0);
}

TEST(check__names_who_shares_the_core)
{
	int cpu = first_cpu();
	struct lull_receiver_config config = { .backend = "kernel-busy:lo", .cpu = cpu + 1 };
	uint64_t begin_ns = lull_clock_ns();
	const struct lull_finding *found = NULL;
	struct check check;
	char text[32];
	pid_t child;

	child = spin_on(cpu);
	check_open(&check, &config);
	while (found == NULL && lull_clock_ns() - begin_ns < STAND_WAIT_NS)
		found = check_find(&check, "shared core");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_non_null(found);
	snprintf(text, sizeof(text), "CPU %d", cpu);
	assert_non_null(strstr(found->text, text));
	assert_non_null(strstr(found->remedy, "isolcpus"));
	check_close(&check);
}

TEST(check__tells_of_iterations_that_began_late)
{
	struct lull_receiver_config config = { .backend = "kernel-busy:lo",
					       .own_loop = true,
					       .unchecked = true };
	uint64_t now_ns = lull_clock_ns(), rest_ns;
	const struct lull_finding *found;
	struct check check;

	check_open(&check, &config);
	assert_null(check_find(&check, "gaps")); /* nothing has run yet */
	stand_start(check.receiver);
	lull_receiver_poll(check.receiver, now_ns, &rest_ns);
	lull_receiver_poll(check.receiver, now_ns + 10 * LULL_NS_PER_US, &rest_ns);
	found = check_find(&check, "gaps");
	assert_non_null(found);
	assert_int_equal(found->grade, 0);
	lull_receiver_poll(check.receiver, now_ns + LULL_NS_PER_MS, &rest_ns);
	found = check_find(&check, "gaps");
	assert_int_equal(found->grade, 1);
	assert_int_equal(strncmp(found->text, "1 poll iterations", 17), 0);
	check_close(&check);
}

TEST(check__tells_of_a_ring_that_is_too_small)
{
	struct lull_receiver_config config = { .backend = "kernel:lo", .socket_bytes = 65536 };
	const struct lull_finding *found;
	struct check check;

	check_open(&check, &config);
	found = check_find(&check, "ring");
	assert_non_null(found);
	assert_int_equal(found->grade, 1);
	found = check_find(&check, "receive buffer");
	assert_non_null(found);
	assert_int_equal(found->grade, 2);
	assert_non_null(strstr(found->remedy, "rmem_max"));
	check_close(&check);
}

TEST(check__tells_of_a_core_that_is_not_pinned)
{
	struct lull_receiver_config config = { .backend = "kernel-busy:lo" };
	const struct lull_finding *found;
	struct check check;

	check_open(&check, &config);
	found = check_find(&check, "core");
	assert_non_null(found);
	assert_int_equal(found->grade, 1);
	check_close(&check);
}
