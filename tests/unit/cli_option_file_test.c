/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "cli_program.h"

static struct cli_settings settings;
static struct lull_error error;
static char path[64];

static int
make_file(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/lull-config-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int
drop_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void
write_file(const char *text, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	fclose(file);
}

static int
load(const char *text)
{
	write_file(text, strlen(text));
	memset(&settings, 0, sizeof(settings));
	error.text[0] = '\0';
	return lull_options_load(&cli_program, path, &settings, &error);
}

/* The sentence without the name of the file. */
static const char *
sentence(void)
{
	size_t length = strlen(path);

	assert_memory_equal(error.text, path, length);
	return error.text + length;
}

#define assert_refused(words, text)                                                                \
	do {                                                                                       \
		assert_int_not_equal(load(text), 0);                                               \
		assert_string_equal(sentence(), words);                                            \
	} while (0)

TEST(options_load__every_type)
{
	assert_int_equal(load("# lull\n"
			      "vdev:\n"
			      "  - net_ring0\n"
			      "  - \"net_memif0,role=server\"\n"
			      "rx-only: true\n"
			      "queues: 4\n"
			      "max-latency: 1.5 ms\n"
			      "percentile: 99.9\n"
			      "loss: tolerate\n"
			      "governor: 'spin'\n"
			      "cpus: [1, 3-5]\n"
			      "traffic: off\n"
			      "traffic-size: [64:7, 594:4]\n"
			      "json: '-'\n"),
			 0);
	assert_int_equal(settings.vdev.count, 2);
	assert_string_equal(settings.vdev.items[1], "net_memif0,role=server");
	assert_true(settings.rx_only);
	assert_int_equal(settings.queues, 4);
	assert_int_equal(settings.max_latency_ns, 1500000);
	assert_true(settings.percentile == 99.9);
	assert_int_equal(settings.loss, CLI_LOSS_TOLERATE);
	assert_int_equal(settings.governor, 0);
	assert_int_equal(settings.cpus.count, 4);
	assert_int_equal(settings.traffic.size_bytes[1], 590);
	assert_string_equal(settings.json, "-");
}

TEST(options_load__single_value_for_list)
{
	assert_int_equal(load("vdev: net_ring0\ncpus: 1,2\n"), 0);
	assert_int_equal(settings.vdev.count, 1);
	assert_string_equal(settings.vdev.items[0], "net_ring0");
	assert_int_equal(settings.cpus.count, 2);
}

TEST(options_load__nothing_in_it)
{
	assert_int_equal(load(""), 0);
	assert_int_equal(load("# only a comment\n"), 0);
	assert_int_equal(load("---\n{}\n"), 0);
	assert_int_equal(load("vdev: []\n"), 0);
	assert_int_equal(settings.vdev.count, 0);
}

TEST(options_load__bad_keys)
{
	assert_refused(": unknown key 'max-latancy': did you mean max-latency? "
		       "lull-try --help lists all keys",
		       "queues: 1\nmax-latancy: 3\n");
	assert_refused(": unknown key 'xyzzy': lull-try --help lists all keys",
		       "xyzzy: {a: [b]}\n");
	assert_refused(": unknown key 'config': lull-try --help lists all keys", "config: x\n");
	assert_refused(": queues: is there twice: keep one", "queues: 1\nqueues: 2\n");
	assert_refused(": vdev: is there twice: keep one", "vdev: [a]\nvdev: [b]\n");
	assert_refused(": vdev: is there twice: keep one", "vdev: a\nvdev: [b]\n");
}

TEST(options_load__bad_values)
{
	assert_refused(": max-latency: 0 is not in 1..1000000 (us)", "max-latency: 0\n");
	assert_refused(": queues: 'many' is not a whole number: give one in 1..16, k, M and G may "
		       "follow",
		       "queues: many\n");
	assert_refused(
		": queues: '' is not a whole number: give one in 1..16, k, M and G may follow",
		"queues:\n");
	assert_refused(": queues: takes one value, not a list", "queues: [1, 2]\n");
	assert_refused(": queues: takes a value, not a nested structure", "queues: {a: 1}\n");
	assert_refused(": vdev: takes a value or a list of values, not a nested structure",
		       "vdev: {a: 1}\n");
	assert_refused(": vdev: takes a value or a list of values, not a nested structure",
		       "vdev: [[a], b]\n");
	assert_refused(": vdev: takes a value or a list of values, not a nested structure",
		       "vdev: [a, {b: c}]\n");
	assert_refused(": vdev: empty value: give one, or leave the option out", "vdev:\n");
	assert_refused(": traffic: 'constant:9G': RATE 9G is not in 0.001..200M (packets/s)",
		       "traffic: constant:9G\n");
	assert_refused(": loss: 'a?b' is not one of zero, tolerate", "loss: \"a\\nb\"\n");
}

TEST(options_load__bad_yaml)
{
	static const char *const bad[] = {
		"queues: [1\n",
		"a: b: c\n",
		"\tqueues: 1\n",
		"- a\n- b\n",
		"just words\n",
		"queues: 'x\n",
		"queues: *one\n",
		"queues: &x 1\nloss: *x\n",
		"%YAML 9.9\n---\nqueues: 1\n",
		"queues: 1\n---\nqueues: 2\n",
		"? [a, b]\n: c\n",
		"? {a: b}\n: c\n",
		"{",
		"[",
		"&",
		"*",
		"!",
		"|",
		"? ",
		": ",
		"queues: !!int\n- 1\n",
		"\xef\xbb\xbf\xff",
		"\xff\xff",
		"\x01",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(load(bad[i]), 0);
		assert_memory_equal(sentence(), ": ", 2);
		assert_null(strchr(error.text, '\n'));
	}
	assert_refused(": bad YAML near line 2: did not find expected ',' or ']' (values like '-' "
		       "need quotes)",
		       "loss: zero\nqueues: [1\nvdev: a\n");
	assert_refused(": not a YAML mapping: write lines like 'key: value'", "- a\n");
	assert_refused(": YAML aliases (*name) are not supported: write the value out",
		       "queues: &x 1\nloss: *x\n");
	assert_refused(": more than one YAML document: keep one, without '---' lines",
		       "queues: 1\n---\nqueues: 2\n");
}

TEST(options_load__unreadable)
{
	static char large[(1 << 20) + 1];

	assert_int_equal(lull_options_load(&cli_program, "/nonexistent/x.yaml", &settings, &error),
			 -ENOENT);
	assert_string_equal(error.text,
			    "/nonexistent/x.yaml: cannot open: No such file or directory");
	assert_int_equal(lull_options_load(&cli_program, "/tmp", &settings, &error), -EISDIR);
	assert_string_equal(error.text, "/tmp: cannot read: Is a directory");
	memset(large, '#', sizeof(large));
	write_file(large, sizeof(large));
	assert_int_equal(lull_options_load(&cli_program, path, &settings, &error), -EFBIG);
	assert_int_equal(lull_options_load(&cli_program, "/dev/zero", &settings, &error), -EFBIG);
}

TEST(options_parse__command_line_wins)
{
	char name[] = "lull-try", config[80], queues[] = "--queues=8", vdev[] = "--vdev=cli";
	char *argv[] = { name, vdev, queues, config, NULL };
	enum lull_options_action action;

	snprintf(config, sizeof(config), "--config=%s", path);
	assert_int_equal(load("queues: 2\nmax-latency: 70\nvdev: [a, b]\n"), 0);
	memset(&settings, 0, sizeof(settings));
	assert_int_equal(lull_options_parse(&cli_program, 4, argv, &settings, &action, &error), 0);
	assert_int_equal(settings.queues, 8);
	assert_int_equal(settings.max_latency_ns, 70000);
	assert_int_equal(settings.vdev.count, 1);
	assert_string_equal(settings.vdev.items[0], "cli");
	assert_int_equal(load("max-latency: 0\n"), -ERANGE);
	assert_int_equal(lull_options_parse(&cli_program, 4, argv, &settings, &action, &error),
			 -ERANGE);
	assert_string_equal(sentence(), ": max-latency: 0 is not in 1..1000000 (us)");
}

/* Bytes thrown at the reader: it may refuse, never crash, leak or forget the sentence. */
TEST(options_load__any_bytes)
{
	static const char alphabet[] = "queues: vdevloss12[]{}-,:\n\n  '\"&*!|>?#%@`\t\\\x80\xff~";
	uint64_t random = 1;
	char text[64];

	for (int round = 0; round < 500; round++) {
		size_t size = (size_t)round % sizeof(text);

		for (size_t i = 0; i < size; i++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			text[i] = alphabet[(random >> 33) % (sizeof(alphabet) - 1)];
		}
		if (round % 3 == 0 && size > 8)
			memcpy(text, "vdev: ", 6);
		write_file(text, size);
		error.text[0] = '\0';
		if (lull_options_load(&cli_program, path, &settings, &error) != 0)
			assert_int_not_equal(strlen(error.text), 0);
	}
}

TEST_GROUP(make_file, drop_file);
