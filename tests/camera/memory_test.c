/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the pictures lie: present before the first packet, near the port, in large pages. */
#include "stand.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <lull/rest.h>

#include "camera/memory.h"

#define PAGE_BYTES 4096
#define HUGE_BYTES (2ULL << 20)
#define SMALL_BYTES 100000

/* ---- a kernel that is told what it has ---- */

static struct {
	uint32_t nodes;
	int huge_left, bind_rc, fill_rc;
	int node; /* bound to */
	char log[64];
} fake;

static void
fake_log(const char *what)
{
	strncat(fake.log, what, sizeof(fake.log) - strlen(fake.log) - 1);
}

static void *
fake_map(uint64_t bytes, bool huge)
{
	fake_log(huge ? "huge " : "map ");
	if (huge && fake.huge_left == 0)
		return NULL;
	return camera_memory_kernel.map(bytes, false);
}

static int
fake_bind(void *at, uint64_t bytes, int node)
{
	(void)at;
	(void)bytes;
	fake_log("bind ");
	fake.node = node;
	return fake.bind_rc;
}

static int
fake_large(void *at, uint64_t bytes)
{
	(void)at;
	(void)bytes;
	fake_log("large ");
	return 0;
}

static int
fake_fill(void *at, uint64_t bytes)
{
	(void)at;
	(void)bytes;
	fake_log("fill ");
	return fake.fill_rc;
}

static uint32_t
fake_nodes(void)
{
	return fake.nodes;
}

static const struct camera_memory_calls fake_calls = { .map = fake_map,
						       .bind = fake_bind,
						       .large = fake_large,
						       .fill = fake_fill,
						       .nodes = fake_nodes };

/* What is asked of the kernel, in which order, and what is said of it afterwards. */
static void
check_taken(uint64_t bytes, enum lull_camera_pages pages, int node, bool filled, const char *log,
	    bool granted, const char *said)
{
	struct camera_memory memory;
	char text[160];

	fake.log[0] = '\0';
	assert_int_equal(camera_memory_take(&memory, bytes, pages, node, filled, &fake_calls), 0);
	assert_string_equal(fake.log, log);
	assert_true(memory.bytes >= bytes);
	assert_int_equal(camera_memory_explain(&memory, text, sizeof(text)), granted);
	if (strstr(text, said) == NULL)
		fail_msg("'%s' is not in '%s'", said, text);
	camera_memory_free(&memory);
}

TEST(memory__is_bound_before_it_is_filled)
{
	fake.nodes = 2;
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_AUTO, 2, true, "map bind large fill ", true,
		    "pages of 2 MiB where the kernel has them, present, on node 1 of the port");
	assert_int_equal(fake.node, 1);
	fake.bind_rc = -ENOSYS;
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_AUTO, 1, true, "map bind large fill ", false,
		    "not on node 0 of the port");
	fake.bind_rc = 0;
	/* not known, or there is no other one */
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_AUTO, 0, true, "map large fill ", true,
		    "present");
	fake.nodes = 1;
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_AUTO, 1, true, "map large fill ", true,
		    "present");
}

TEST(memory__falls_back_and_says_so)
{
	fake.nodes = 1;
	fake.huge_left = 1;
	check_taken(SMALL_BYTES, LULL_CAMERA_PAGES_HUGE, 0, true, "huge fill ", true,
		    "2 MiB in reserved huge pages, present");
	fake.huge_left = 0;
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_HUGE, 0, true, "huge map large fill ", false,
		    "pages of 2 MiB where");
	fake.fill_rc = -ENOMEM;
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_AUTO, 0, true, "map large fill ", false,
		    "the kernel has no memory for them");
	fake.fill_rc = 0;
}

TEST(memory__asks_for_no_more_than_it_was_told)
{
	check_taken(SMALL_BYTES, LULL_CAMERA_PAGES_AUTO, 0, true, "map fill ", true,
		    "small pages, present");
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_AUTO, 0, false, "map large ", true,
		    "that come as they are written to");
	check_taken(HUGE_BYTES, LULL_CAMERA_PAGES_LAZY, 0, true, "map ", true,
		    "small pages, that come as they are written to");
}

/* ---- the real one ---- */

static uint64_t
minor_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return (uint64_t)usage.ru_minflt;
}

/* Not checked: the sanitizer's tables have pages, too. */
__attribute__((no_sanitize("address", "undefined"))) static void
write_pages(volatile uint8_t *data, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += PAGE_BYTES)
		data[i] = 1;
}

/* Of writing to each page. */
static uint64_t
faults_of_writing(enum lull_camera_pages pages)
{
	struct camera_memory memory;
	uint64_t before;

	assert_int_equal(camera_memory_take(&memory, 5 * HUGE_BYTES + 1, pages, 0, true,
					    &camera_memory_kernel),
			 0);
	assert_int_equal((uintptr_t)memory.data % HUGE_BYTES, 0);
	before = minor_faults();
	write_pages(memory.data, memory.bytes);
	before = minor_faults() - before;
	camera_memory_free(&memory);
	return before;
}

TEST(memory__is_present)
{
	uint64_t present = faults_of_writing(LULL_CAMERA_PAGES_AUTO),
		 lazy = faults_of_writing(LULL_CAMERA_PAGES_LAZY);

	print_message("faults: %llu, lazy %llu\n", (unsigned long long)present,
		      (unsigned long long)lazy);
	assert_true(lazy > 4); /* one per huge page at least, where all memory is such */
	assert_int_equal(present, 0);
	/* where there are none, as auto */
	assert_int_equal(faults_of_writing(LULL_CAMERA_PAGES_HUGE), 0);
}

/* While a picture comes into each buffer for the first time. */
static uint64_t
faults_of_receiving(enum lull_camera_pages pages)
{
	struct lull_receiver_config config = { .backend = "kernel-busy:lo",
					       .own_loop = true,
					       .unchecked = true };
	struct lull_camera_image *images[8];
	uint64_t rest_ns, before = 0;
	uint16_t port = stand_free_port();
	int fd = stand_socket("127.0.0.1", "127.0.0.1", port);
	struct lull_receiver *receiver = stand_open(&config);
	struct lull_camera_stream stream;
	struct sender sender;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 1000, 200);
	stream = stand_stream(&sender, port);
	stream.deadline_ns = STAND_WAIT_NS;
	stream.buffers = COUNT(images);
	stream.pages = pages;
	stand_add(receiver, &stream);
	stand_start(receiver);
	for (uint32_t i = 0; i < COUNT(images); i++) {
		if (i == 1) /* the code itself and its tables are there then */
			before = minor_faults();
		stand_send(fd, &sender, i + 1, NULL);
		do {
			lull_receiver_poll(receiver, lull_clock_ns(), &rest_ns);
			assert_int_equal(lull_receiver_get(receiver, 0, &images[i], 0), 0);
		} while (images[i] == NULL);
	}
	before = minor_faults() - before;
	for (uint32_t i = 0; i < COUNT(images); i++)
		lull_receiver_put(receiver, images[i]);
	assert_int_equal(lull_receiver_close(receiver), 0);
	close(fd);
	sender_free(&sender);
	return before;
}

/* Seven pictures of 49 pages. What the sanitizer's own tables take is in both. */
TEST(receiving__finds_its_pages_present)
{
	uint64_t present, lazy;

	(void)faults_of_receiving(LULL_CAMERA_PAGES_AUTO);
	present = faults_of_receiving(LULL_CAMERA_PAGES_AUTO);
	lazy = faults_of_receiving(LULL_CAMERA_PAGES_LAZY);
	print_message("faults: %llu, lazy %llu\n", (unsigned long long)present,
		      (unsigned long long)lazy);
	assert_true(lazy >= present + 250);
}

/* ---- what the self-check says ---- */

TEST(check__tells_of_the_memory)
{
	struct lull_receiver_config config = { .backend = "kernel:lo", .unchecked = true };
	struct lull_receiver *receiver = stand_open(&config);
	struct lull_finding findings[32];
	struct lull_camera_stream stream;
	uint32_t count, told = 0;
	struct sender sender;

	sender_init(&sender, "gvsp", LULL_PIXEL_MONO8, 1000, 200);
	stream = stand_stream(&sender, stand_free_port());
	stand_add(receiver, &stream);
	count = lull_receiver_check(receiver, findings, COUNT(findings));
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(findings[i].subject, "memory") == 0) {
			assert_int_equal(findings[i].grade, LULL_GRADE_FINE);
			assert_non_null(strstr(findings[i].text, "cam0: image buffers of 4 MiB"));
			told++;
		}
	assert_int_equal(told, 1);
	assert_int_equal(lull_receiver_close(receiver), 0);
	sender_free(&sender);
}
