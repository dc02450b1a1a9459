/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rail is too small, too slow or without room: what was looked up is told, not there. */
#include "channel/check_rails.h"

#include <string.h>

#include <lull/finding.h>

#include "case.h"

#define LINES 16

static struct lull_finding lines[LINES];

static struct check_rail
good(const char *text)
{
	return (struct check_rail){ .text = text,
				    .mtu_bytes = 1500,
				    .packet_bytes = 1472,
				    .mbps = 1000,
				    .ring_pkts = 2900,
				    .up = true };
}

static const struct lull_finding *
about(const struct lull_findings *found, const char *subject)
{
	for (uint32_t i = 0; i < found->count; i++)
		if (strcmp(lines[i].subject, subject) == 0)
			return &lines[i];
	return NULL;
}

static struct lull_findings
alone(const struct check_rail *rail)
{
	struct lull_findings found = { .lines = lines, .count_max = LINES };

	memset(lines, 0, sizeof(lines));
	check_rail(rail, &found);
	assert_int_equal(found.count, 3);
	for (uint32_t i = 0; i < found.count; i++) {
		assert_non_null(strstr(lines[i].text, rail->text));
		assert_int_equal(lines[i].grade == LULL_GRADE_FINE, lines[i].remedy[0] == '\0');
	}
	return found;
}

static int
grade(const struct check_rail *rail, const char *subject)
{
	struct lull_findings found = alone(rail);

	return about(&found, subject)->grade;
}

TEST(check_rail__has_nothing_against_a_good_one)
{
	const struct check_rail rail = good("kernel:r0");
	struct lull_findings found = alone(&rail);

	for (uint32_t i = 0; i < found.count; i++)
		assert_int_equal(lines[i].grade, LULL_GRADE_FINE);
}

TEST(check_rail__names_one_that_is_too_small)
{
	struct check_rail rail = good("kernel:r0");

	rail.mtu_bytes = 1279;
	assert_int_equal(grade(&rail, "MTU"), LULL_GRADE_WRONG);
	rail.mtu_bytes = 1280;
	assert_int_equal(grade(&rail, "MTU"), LULL_GRADE_FINE);
}

TEST(check_rail__names_one_that_is_slow_or_down)
{
	struct check_rail rail = good("kernel:r0");

	rail.mbps = 99;
	assert_int_equal(grade(&rail, "link"), LULL_GRADE_NOTE);
	assert_non_null(strstr(lines[1].text, "99 Mb/s"));
	rail.mbps = 100;
	assert_int_equal(grade(&rail, "link"), LULL_GRADE_FINE);
	rail.mbps = 0; /* nobody tells: a virtual one */
	assert_int_equal(grade(&rail, "link"), LULL_GRADE_FINE);
	rail.up = false;
	assert_int_equal(grade(&rail, "link"), LULL_GRADE_NOTE);
	assert_non_null(strstr(lines[1].text, "is down"));
}

TEST(check_rail__names_one_without_room)
{
	struct check_rail rail = good("kernel:r0");

	rail.ring_pkts = 1023;
	assert_int_equal(grade(&rail, "receive buffer"), LULL_GRADE_NOTE);
	assert_non_null(strstr(lines[2].remedy, "net.core.rmem_max"));
	rail.own = true;
	assert_int_equal(grade(&rail, "receive buffer"), LULL_GRADE_FINE);
	rail.own = false;
	rail.ring_pkts = 1024;
	assert_int_equal(grade(&rail, "receive buffer"), LULL_GRADE_FINE);
}

static struct lull_findings
together(const struct check_rail *rails, uint32_t count)
{
	struct lull_findings found = { .lines = lines, .count_max = LINES };

	memset(lines, 0, sizeof(lines));
	check_rails(rails, count, &found);
	return found;
}

TEST(check_rails__names_the_one_with_short_packets)
{
	struct check_rail rails[] = { good("kernel:r0"), good("kernel:r1"), good("kernel:r2") };
	struct lull_findings found = together(rails, 3);

	assert_int_equal(found.count, 0);
	rails[1].packet_bytes -= 64; /* no more than two kinds of rails differ by */
	found = together(rails, 3);
	assert_int_equal(found.count, 0);
	rails[1].packet_bytes--;
	found = together(rails, 3);
	assert_int_equal(found.count, 1);
	assert_string_equal(lines[0].subject, "unequal MTU");
	assert_non_null(strstr(lines[0].text, "kernel:r1 takes packets of 1407 bytes"));
	found = together(rails, 1);
	assert_int_equal(found.count, 0);
	found = together(rails, 0);
	assert_int_equal(found.count, 0);
}

TEST(check_rails__names_the_one_that_is_slow_beside_another)
{
	struct check_rail rails[] = { good("kernel:r0"), good("kernel:r1"), good("kernel:r2") };
	struct lull_findings found;

	rails[2].mbps = 101;
	found = together(rails, 3);
	assert_int_equal(found.count, 0);
	rails[2].mbps = 100;
	found = together(rails, 3);
	assert_int_equal(found.count, 1);
	assert_string_equal(lines[0].subject, "unequal speed");
	assert_non_null(strstr(lines[0].text, "kernel:r2 has 100 Mb/s, kernel:r0 1000"));
	rails[2].up = false; /* which another line says */
	found = together(rails, 3);
	assert_int_equal(found.count, 0);
	rails[2].up = true;
	rails[2].mbps = 0;
	found = together(rails, 3);
	assert_int_equal(found.count, 0);
}
