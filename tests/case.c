/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of every test program that has cases. */
#include "case.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_STATUS 2

static struct test_case *cases;
static CMFixtureFunction group_set_up, group_tear_down;

/* Compilers are free to register cases in another order than that of the file. */
void
test_case_add(struct test_case *added)
{
	struct test_case **at = &cases;

	while (*at != NULL && (*at)->line <= added->line)
		at = &(*at)->next;
	added->next = *at;
	*at = added;
}

void
test_group_add(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	group_set_up = set_up;
	group_tear_down = tear_down;
}

static void
body_run(void **state)
{
	const struct test_case *test = *state;

	test->body();
}

/* No name stands for every case. */
static bool
wanted(const struct test_case *test, int count, char *const *names)
{
	for (int i = 0; i < count; i++)
		if (strcmp(test->name, names[i]) == 0)
			return true;
	return count == 0;
}

static bool
known(char *const *name)
{
	for (const struct test_case *test = cases; test != NULL; test = test->next)
		if (wanted(test, 1, name))
			return true;
	return false;
}

static int
cases_run(int count, char *const *names)
{
	struct CMUnitTest *tests = NULL;
	size_t length = 0;
	int failed;

	for (struct test_case *test = cases; test != NULL; test = test->next) {
		if (!wanted(test, count, names))
			continue;
		tests = realloc(tests, (length + 1) * sizeof(*tests));
		if (tests == NULL)
			return EXIT_FAILURE;
		tests[length++] = (struct CMUnitTest){
			.name = test->name,
			.test_func = test->run != NULL ? test->run : body_run,
			.setup_func = test->set_up,
			.teardown_func = test->tear_down,
			.initial_state = test->run != NULL ? NULL : test,
		};
	}
	failed = _cmocka_run_group_tests(program_invocation_short_name, tests, length, group_set_up,
					 group_tear_down);
	free(tests);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE; /* meson takes 77 for a skip */
}

int
main(int argc, char **argv)
{
	const char *program = program_invocation_short_name;

	if (cases == NULL) {
		fprintf(stderr, "%s: has no case\n", program);
		return EXIT_FAILURE;
	}
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (const struct test_case *test = cases; test != NULL; test = test->next)
			puts(test->name);
		return EXIT_SUCCESS;
	}
	for (int i = 1; i < argc; i++) {
		if (!known(&argv[i])) {
			fprintf(stderr, "%s: has no case '%s'; --list names them\n", program,
				argv[i]);
			return USAGE_STATUS;
		}
	}
	return cases_run(argc - 1, argv + 1);
}
