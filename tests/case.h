/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Case: the frame of a test program in C. Each case registers itself where it is defined. The main
 * function of the program comes from case.c and runs the cases with cmocka, in their order in the
 * file:
 *
 *     TEST(ring__is_empty_at_first)
 *     {
 *             assert_int_equal(ring_count(&ring), 0);
 *     }
 *
 * Two cases of one name do not compile. The program fails when it has no case.
 *
 *     PROGRAM            run all cases
 *     PROGRAM CASE ...   run these cases
 *     PROGRAM --list     write the names of the cases
 */
#ifndef LULL_TEST_CASE_H
#define LULL_TEST_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** Elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct test_case {
	const char *name;
	int line;
	void (*body)(void);     /* of TEST */
	CMUnitTestFunction run; /* of TEST_WITH */
	CMFixtureFunction set_up, tear_down;
	struct test_case *next;
};

/** A case. */
#define TEST(name)                                                                                 \
	static void name(void);                                                                    \
	TEST_REGISTER_(name, .body = name)                                                         \
	static void name(void)

/**
 * A case with fixtures: int set_up(void **state), and tear_down alike; either may be NULL. What
 * set_up writes to *state, the case finds there.
 */
#define TEST_WITH(name, set_up_, tear_down_)                                                       \
	static void name(void **state);                                                            \
	TEST_REGISTER_(name, .run = name, .set_up = set_up_, .tear_down = tear_down_)              \
	static void name(__attribute__((unused)) void **state)

/** Fixtures of the whole program, before its first case and after its last; either may be NULL. */
#define TEST_GROUP(set_up, tear_down)                                                              \
	__attribute__((constructor)) static void test_group_register(void)                         \
	{                                                                                          \
		test_group_add(set_up, tear_down);                                                 \
	}                                                                                          \
	_Static_assert(1, "takes the semicolon")

#define TEST_REGISTER_(case_name, ...)                                                             \
	__attribute__((constructor)) static void case_name##_register(void)                        \
	{                                                                                          \
		static struct test_case test_case = { .name = #case_name,                          \
						      .line = __LINE__,                            \
						      __VA_ARGS__ };                               \
		test_case_add(&test_case);                                                         \
	}

void test_case_add(struct test_case *added);
void test_group_add(CMFixtureFunction set_up, CMFixtureFunction tear_down);

#endif
