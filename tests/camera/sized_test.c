/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of an application that knows fewer members than the library, or more. */
#include "stand.h"

#include <errno.h>

#include "camera/sized.h"

/* Three versions of a struct: each has what the one before has. */
struct first {
	size_t size;
	uint64_t old;
};
struct second {
	struct first first;
	uint64_t added;
};
struct third {
	struct second second;
	uint64_t newest;
};

static int
copy(struct second *to, const void *from, struct lull_error *error)
{
	memset(to, 0xff, sizeof(*to));
	return camera_sized_copy(to, sizeof(*to), sizeof(struct first), from, "thing", error);
}

TEST(sized_copy__takes_older_ones)
{
	/* What lies behind an old struct is not read. */
	struct second old = { .first = { .size = sizeof(struct first), .old = 1 }, .added = 2 }, to;

	assert_int_equal(copy(&to, &old, NULL), 0);
	assert_int_equal(to.first.old, 1);
	assert_int_equal(to.added, 0);
	old.first.size = 0;
	assert_int_equal(copy(&to, &old, NULL), 0);
	assert_int_equal(to.added, 0);
	old.first.size = sizeof(old);
	assert_int_equal(copy(&to, &old, NULL), 0);
	assert_int_equal(to.added, 2);
}

TEST(sized_copy__takes_newer_ones_that_ask_for_nothing_new)
{
	struct third newer = {
		.second = { .first = { .size = sizeof(newer), .old = 1 }, .added = 2 },
	};
	struct lull_error error;
	struct second to;

	assert_int_equal(copy(&to, &newer, NULL), 0);
	assert_int_equal(to.added, 2);
	newer.newest = 3;
	assert_int_equal(copy(&to, &newer, &error), -EINVAL);
	assert_non_null(strstr(error.text, "thing: a member is set that this library does not"));
}

TEST(sized_copy__refuses_sizes_that_are_none)
{
	struct second to, from = { .first = { .size = sizeof(struct first) - 1 } };

	assert_int_equal(copy(&to, &from, NULL), -EINVAL);
	from.first.size = 1u << 20;
	assert_int_equal(copy(&to, &from, NULL), -EINVAL);
}

/* Both structs of the library go through it. */
TEST(receiver__checks_sizes)
{
	struct lull_receiver_config config = { .size = 8, .backend = "kernel:lo" };
	struct lull_receiver *receiver;
	struct lull_camera_stream stream;
	struct lull_error error;
	struct sender sender;

	assert_int_equal(lull_receiver_open(&config, &receiver, &error), -EINVAL);
	assert_non_null(strstr(error.text, "config: size 8"));
	config.size = sizeof(config);
	receiver = stand_open(&config);
	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 100, 50);
	stream = stand_stream(&sender, stand_free_port());
	stream.size = 8;
	assert_int_equal(lull_receiver_stream_add(receiver, &stream, &error), -EINVAL);
	assert_non_null(strstr(error.text, "stream: size 8"));
	stream.size = sizeof(stream);
	stand_add(receiver, &stream);
	assert_int_equal(lull_receiver_close(receiver), 0);
	sender_free(&sender);
}
