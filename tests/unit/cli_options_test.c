/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "case.h"
#include "cli_program.h"

static struct cli_settings settings;
static struct lull_error error;
static enum lull_options_action action;

/* Parse up to 8 words. */
static int
parse(const char *one, ...)
{
	char *argv[10] = { "lull-try" };
	int argc = 1;
	va_list words;

	memset(&settings, 0, sizeof(settings));
	error.text[0] = '\0';
	va_start(words, one);
	for (const char *word = one; word != NULL && argc < 9; word = va_arg(words, const char *))
		argv[argc++] = strdup(word);
	va_end(words);
	action = LULL_OPTIONS_MAN;

	int result = lull_options_parse(&cli_program, argc, argv, &settings, &action, &error);

	while (argc > 1)
		free(argv[--argc]);
	return result;
}

static const char *
printed(const char *key)
{
	static char text[LULL_OPTION_VALUE_TEXT];

	return lull_option_print(lull_options_find(cli_options, key), &settings, text,
				 sizeof(text));
}

/* Everything print() makes of an action, cut to size. */
static char *
print(enum lull_options_action what)
{
	static char text[16384];
	FILE *out = tmpfile();
	size_t size;

	assert_non_null(out);
	assert_int_equal(lull_options_print(&cli_program, what, out), 0);
	rewind(out);
	size = fread(text, 1, sizeof(text) - 1, out);
	text[size] = '\0';
	fclose(out);
	return text;
}

TEST(options_parse__defaults)
{
	assert_int_equal(parse(NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_RUN);
	assert_int_equal(settings.queues, 1);
	assert_int_equal(settings.max_latency_ns, 200000);
	assert_true(settings.percentile == 99);
	assert_int_equal(settings.governor, 1);
	assert_int_equal(settings.loss, CLI_LOSS_ZERO);
	assert_int_equal(settings.traffic.kind, LULL_ARRIVAL_OFF);
	assert_int_equal(settings.traffic.size_bytes[0], 60);
	assert_int_equal(settings.vdev.count, 0);
	assert_int_equal(settings.cpus.count, 0);
	assert_string_equal(settings.json, "");
}

TEST(options_parse__keeps_presets)
{
	struct cli_settings preset = { .packets = 7, .cpus = { .count = 1, .cpus = { 3 } } };
	char name[] = "lull-try", *argv[] = { name, NULL };

	assert_int_equal(lull_options_parse(&cli_program, 1, argv, &preset, &action, &error), 0);
	assert_int_equal(preset.packets, 7);
	assert_int_equal(preset.cpus.cpus[0], 3);
}

TEST(options_parse__every_type)
{
	assert_int_equal(parse("--rx-only", "--queues=4", "--max-latency", "1.5ms", "--percentile",
			       "99.9", "--loss=tolerate", "--governor=spin", NULL),
			 0);
	assert_true(settings.rx_only);
	assert_int_equal(settings.queues, 4);
	assert_int_equal(settings.max_latency_ns, 1500000);
	assert_true(settings.percentile == 99.9);
	assert_int_equal(settings.loss, CLI_LOSS_TOLERATE);
	assert_int_equal(settings.governor, 0);
	assert_string_equal(printed("max-latency"), "1500us");
	assert_string_equal(printed("percentile"), "99.9");
	assert_string_equal(printed("loss"), "tolerate");
	assert_string_equal(printed("rx-only"), "yes");
	assert_int_equal(parse("--vdev=net_ring0", "--vdev", "a b,c=d", "--cpus", "2,4-6", "--json",
			       "-", "--traffic=poisson:1M", NULL),
			 0);
	assert_int_equal(settings.vdev.count, 2);
	assert_string_equal(settings.vdev.items[1], "a b,c=d");
	assert_string_equal(printed("vdev"), "net_ring0 a b,c=d");
	assert_string_equal(printed("cpus"), "2,4-6");
	assert_string_equal(printed("traffic"), "poisson:1M");
	assert_string_equal(settings.json, "-");
}

TEST(options_parse__last_wins)
{
	assert_int_equal(parse("--queues=4", "--queues=2", "--rx-only", "--rx-only=no", NULL), 0);
	assert_int_equal(settings.queues, 2);
	assert_false(settings.rx_only);
}

TEST(options_parse__bare_unit)
{
	assert_int_equal(parse("--max-latency=50", "--duration=1.5", NULL), 0);
	assert_int_equal(settings.max_latency_ns, 50000);
	assert_int_equal(settings.duration_ns, 1500000000);
}

#define assert_refused(sentence, ...)                                                              \
	do {                                                                                       \
		assert_int_not_equal(parse(__VA_ARGS__, NULL), 0);                                 \
		assert_string_equal(error.text, sentence);                                         \
	} while (0)

TEST(options_parse__bad_values)
{
	assert_refused("--max-latency: 0 is not in 1..1000000 (us)", "--max-latency=0");
	assert_refused("--max-latency: 2s is not in 1..1000000 (us)", "--max-latency", "2s");
	assert_refused("--max-latency: 'fast' is not a time: give a number in 1..1000000 (us) "
		       "with ns, us, ms, s, m or h",
		       "--max-latency", "fast");
	assert_refused("--max-latency: 1.5ns is not a whole number of ns", "--max-latency=1.5ns");
	assert_refused("--max-latency: 99999999999999999999 is not in 1..1000000 (us)",
		       "--max-latency=99999999999999999999");
	assert_refused("--duration: 25h is not in 0..86400 (s)", "--duration=25h");
	assert_refused("--queues: 17 is not in 1..16", "--queues=17");
	assert_refused(
		"--queues: '' is not a whole number: give one in 1..16, k, M and G may follow",
		"--queues=");
	assert_refused(
		"--queues: '-1' is not a whole number: give one in 1..16, k, M and G may follow",
		"--queues", "-1");
	assert_refused("--packets: 99999999999999999999 is too large",
		       "--packets=99999999999999999999");
	assert_refused("--percentile: 42 is not in 50..99.9999", "--percentile=42");
	assert_refused("--percentile: 'p99' is not a number: give one in 50..99.9999",
		       "--percentile=p99");
	assert_refused("--loss: 'some' is not one of zero, tolerate", "--loss=some");
	assert_refused("--governor: '' is not one of spin, objective, ramp", "--governor=");
	assert_refused("--rx-only: 'maybe' is neither yes nor no", "--rx-only=maybe");
	assert_refused("--vdev: empty value: give one, or leave the option out", "--vdev=");
	assert_refused("--json: '0123456789012345678901234567890123456789...' is 40 bytes long: at "
		       "most 31 fit",
		       "--json=0123456789012345678901234567890123456789");
	assert_refused("--cpus: '3-1' is not a list of CPUs: give CPU numbers and ranges like "
		       "1,3-5",
		       "--cpus=3-1");
	assert_refused("--traffic: 'onoff:1M' is not onoff:RATE,ON,OFF, like onoff:1M,5ms,20ms",
		       "--traffic=onoff:1M");
}

TEST(options_parse__bad_words)
{
	assert_refused("unknown option --max-latancy: did you mean --max-latency? "
		       "(--help lists all options)",
		       "--max-latancy", "3");
	assert_refused("unknown option --latency: did you mean --max-latency? "
		       "(--help lists all options)",
		       "--latency=3");
	assert_refused("unknown option --gov: did you mean --governor? (--help lists all options)",
		       "--gov=spin");
	assert_refused("unknown option --xyzzy: --help lists all options", "--xyzzy");
	assert_refused("unknown option --?[1m: --help lists all options", "--\033[1m");
	assert_refused("'queues' is not an option; options have the form --KEY=VALUE, and "
		       "'lull-try --help' lists them",
		       "queues");
	assert_refused("'-q' is not an option; options have the form --KEY=VALUE, and 'lull-try "
		       "--help' lists them",
		       "-q");
	assert_refused("'--' is not an option; options have the form --KEY=VALUE, and 'lull-try "
		       "--help' lists them",
		       "--");
	assert_refused("--queues needs a value: --queues=N", "--queues");
	assert_refused("--json needs a value, and '--queues=3' is an option: write "
		       "--json=--queues=3 if you mean it",
		       "--json", "--queues=3");
	assert_refused("--help takes no value", "--help=me");
	assert_int_equal(parse("--json=--queues=3", NULL), 0);
	assert_int_equal(parse("--json", "--log-level=8", NULL), 0);
	assert_string_equal(settings.json, "--log-level=8");
}

TEST(options_parse__too_many_items)
{
	char words[LULL_OPTION_LIST_MAX + 1][32], *argv[LULL_OPTION_LIST_MAX + 3] = { "lull-try" };

	for (int i = 0; i <= LULL_OPTION_LIST_MAX; i++) {
		snprintf(words[i], sizeof(words[i]), "--vdev=ring%d", i);
		argv[i + 1] = words[i];
	}
	assert_int_equal(lull_options_parse(&cli_program, LULL_OPTION_LIST_MAX + 1, argv, &settings,
					    &action, &error),
			 0);
	assert_int_equal(lull_options_parse(&cli_program, LULL_OPTION_LIST_MAX + 2, argv, &settings,
					    &action, &error),
			 -E2BIG);
	assert_string_equal(error.text, "--vdev: 'ring16' is one too many: at most 16 are "
					"possible");
}

TEST(options_parse__actions)
{
	assert_int_equal(parse("--queues=2", "--help", NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_HELP);
	assert_int_equal(parse("-h", "--bogus", NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_HELP);
	assert_int_equal(parse("--version", NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_VERSION);
	assert_int_equal(parse("--man", NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_MAN);
	assert_int_equal(parse("--completion-bash", NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_COMPLETION);
	/* A check reads everything, and finds what is wrong behind it. */
	assert_int_equal(parse("--check-config", "--queues=2", NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_CHECK);
	assert_int_equal(settings.queues, 2);
	assert_int_equal(parse("--check-config", "--bogus", NULL), -EINVAL);
	assert_true(lull_options_asks_check(&cli_program, 3,
					    (char *[]){ "x", "--bogus", "--check-config", NULL }));
	assert_false(
		lull_options_asks_check(&cli_program, 2, (char *[]){ "x", "--queues=2", NULL }));
	/* As a value it is none. */
	assert_int_equal(parse("--json=--help", NULL), 0);
	assert_int_equal(action, LULL_OPTIONS_RUN);
}

/* Which words of a command line are operands. */
static const char *
operands_of(const struct lull_program *program, int argc, char *const *argv)
{
	static char text[256];
	const char *words[16];
	uint32_t count = lull_options_operands(program, argc, argv, words);

	assert_int_equal(lull_options_operands(program, argc, argv, NULL), count);
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "<%s>", words[i]);
	return text;
}

TEST(options_operands__found_among_options)
{
	char *const argv[] = { (char[]){ "lull-try" },
			       (char[]){ "a" },
			       (char[]){ "--queues" },
			       (char[]){ "4" },
			       (char[]){ "-" },
			       (char[]){ "--json=-" },
			       (char[]){ "--" },
			       (char[]){ "--rx-only" },
			       (char[]){ "-b" },
			       (char[]){ "--" },
			       NULL };
	struct lull_program taking = cli_program;

	taking.operands = "[FILE]...";
	memset(&settings, 0, sizeof(settings));
	assert_int_equal(lull_options_parse(&taking, 10, argv, &settings, &action, &error), 0);
	assert_int_equal(settings.queues, 4);
	assert_string_equal(settings.json, "-");
	assert_false(settings.rx_only); /* it stands behind "--" */
	assert_string_equal(operands_of(&taking, 10, argv), "<a><-><--rx-only><-b><-->");
	assert_string_equal(operands_of(&taking, 4, argv), "<a>");
	/* Before "--" a word with a dash is an option still. */
	assert_int_equal(lull_options_parse(&taking, 2, (char *const[]){ argv[0], argv[8], NULL },
					    &settings, &action, &error),
			 -EINVAL);
	/* And whoever takes none refuses all. */
	assert_int_equal(lull_options_parse(&cli_program, 2, argv, &settings, &action, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "'a' is not an option"));
}

TEST(options_change__live)
{
	char loop[LULL_OPTION_LOOP_MAX];

	assert_int_equal(parse(NULL), 0);
	assert_int_equal(
		lull_options_change(cli_options, &settings, "max-latency=50", loop, &error), 0);
	assert_int_equal(settings.max_latency_ns, 50000);
	assert_string_equal(loop, "");
	assert_int_equal(
		lull_options_change(cli_options, &settings, "governor@fwd0=spin", loop, &error), 0);
	assert_string_equal(loop, "fwd0");
	assert_int_equal(settings.governor, 0);
	assert_int_equal(lull_options_change(cli_options, &settings, "traffic=onoff:1M,5ms,20ms",
					     loop, &error),
			 0);
	assert_int_equal(settings.traffic.off_ns, 20000000);
	assert_int_equal(settings.traffic.size_count, 1);
}

TEST(options_change__refuses)
{
	static const char *const bad[][2] = {
		{ "max-latency=0", "max-latency: 0 is not in 1..1000000 (us)" },
		{ "max-latency", "'max-latency' is not KEY=VALUE or KEY@LOOP=VALUE" },
		{ "", "'' is not KEY=VALUE or KEY@LOOP=VALUE" },
		{ "max-latency@=1", "'max-latency@=1' names no loop: write KEY@LOOP=VALUE" },
		{ "queues=2", "queues: cannot be changed while the program runs (only: governor, "
			      "max-latency, percentile, loss, traffic)" },
		{ "latency=1", "unknown key 'latency': did you mean max-latency?" },
		{ "=1", "unknown key ''" },
		{ "secret=1", "secret: cannot be changed while the program runs (only: governor, "
			      "max-latency, percentile, loss, traffic)" },
		{ "config=x", "unknown key 'config'" },
	};
	struct cli_settings before;
	char loop[LULL_OPTION_LOOP_MAX];

	assert_int_equal(parse(NULL), 0);
	before = settings;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(
			lull_options_change(cli_options, &settings, bad[i][0], loop, &error), 0);
		assert_string_equal(error.text, bad[i][1]);
	}
	assert_memory_equal(&before, &settings, sizeof(before));
}

TEST(options_set__lists_replaced)
{
	assert_int_equal(parse("--vdev=a", "--vdev=b", NULL), 0);
	assert_int_equal(lull_options_set(cli_options, &settings, "vdev", "", &error), -EINVAL);
	assert_string_equal(error.text, "vdev: empty value: give one, or leave the option out");
	assert_string_equal(printed("vdev"), "a b");
	assert_int_equal(lull_options_set(cli_options, &settings, "vdev", "c", &error), 0);
	assert_string_equal(printed("vdev"), "c");
	assert_int_equal(lull_options_set(cli_options, &settings, "vdevs", "c", &error), -ENOENT);
	assert_string_equal(error.text, "unknown key 'vdevs': did you mean vdev?");
}

/* What print() says is what set() takes, for every row with one value. */
TEST(options_print__reads_back)
{
	char text[LULL_OPTION_VALUE_TEXT], again[LULL_OPTION_VALUE_TEXT];

	assert_int_equal(parse("--max-latency=123456ns", "--percentile=99.9999", "--cpus=5,1-3",
			       "--traffic=tidal:0-1.25M,90s", "--traffic-size=64:7,594:4,1518:1",
			       NULL),
			 0);
	for (const struct lull_option *option = cli_options; option->key != NULL; option++) {
		if (option->type == LULL_OPTION_LIST)
			continue;
		lull_option_print(option, &settings, text, sizeof(text));
		assert_int_equal(
			lull_options_set(cli_options, &settings, option->key, text, &error), 0);
		lull_option_print(option, &settings, again, sizeof(again));
		assert_string_equal(text, again);
	}
	settings.loss = (enum cli_loss)99;
	assert_string_equal(printed("loss"), "?");
	/* A small buffer cuts, nothing else. */
	for (size_t size = 1; size < 24; size++) {
		for (const struct lull_option *option = cli_options; option->key != NULL;
		     option++) {
			memset(text, '#', sizeof(text));
			lull_option_print(option, &settings, text, size);
			assert_true(strlen(text) < size);
			assert_int_equal(text[size], '#');
		}
	}
}

TEST(options_print__help)
{
	char *help = print(LULL_OPTIONS_HELP);

	assert_non_null(strstr(help, "Usage: lull-try [--KEY VALUE]... [--config FILE]\n"));
	assert_non_null(strstr(help, "\nResting:\n  --governor NAME           How the loops rest. "
				     "[default objective; live]\n"));
	assert_non_null(strstr(help, "  --max-latency TIME        Added latency. [1..1000000 (us); "
				     "default 200; live]\n"));
	assert_non_null(strstr(help, "One of zero, tolerate."));
	assert_non_null(strstr(help, "[default the last CPUs]"));
	assert_non_null(strstr(help, "  --config FILE"));
	assert_non_null(strstr(help, "Examples:\n  lull-try --vdev net_ring0\n"));
	assert_null(strstr(help, "secret"));
	assert_null(strstr(help, "completion-bash"));
	for (char *line = strtok(help, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		assert_true(strlen(line) <= 80);
		assert_true(line[0] == '\0' || line[strlen(line) - 1] != ' ');
	}
}

TEST(options_print__others)
{
	FILE *full = fopen("/dev/full", "w");

	assert_string_equal(print(LULL_OPTIONS_VERSION), "lull-try 0.1.0\n");
	assert_non_null(strstr(print(LULL_OPTIONS_MAN),
			       ".TP\n\\fB\\-\\-max\\-latency\\fR \\fITIME\\fR\nAdded latency.\n"
			       "Range: 1..1000000 (us).\nDefault: 200.\n"));
	assert_non_null(strstr(print(LULL_OPTIONS_COMPLETION), "complete -F _lull_try lull-try\n"));
	assert_string_equal(print(LULL_OPTIONS_RUN), "");
	assert_non_null(full);
	assert_int_equal(lull_options_print(&cli_program, LULL_OPTIONS_HELP, full), -ENOSPC);
	fclose(full);
}

/* The script, asked as bash asks it. */
TEST(options_print__completion_works)
{
	static const char *const asked[][2] = {
		{ "lull-try --gov", "--governor" },
		{ "lull-try --governor o", "objective" },
		{ "lull-try --loss = ", "zero tolerate" },
		{ "lull-try --loss = t", "tolerate" },
		{ "lull-try --queues 1", "" },
	};
	char name[] = "/tmp/lull-completion-XXXXXX", command[512], answer[256];
	int fd = mkstemp(name);
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	assert_int_equal(lull_options_print(&cli_program, LULL_OPTIONS_COMPLETION, file), 0);
	fclose(file);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		FILE *bash;
		bool empty = asked[i][0][strlen(asked[i][0]) - 1] == ' ';

		snprintf(command, sizeof(command),
			 "bash -c 'source %s; COMP_WORDS=(%s %s); "
			 "COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _lull_try; "
			 "echo \"${COMPREPLY[@]}\"'",
			 name, asked[i][0], empty ? "\"\"" : "");
		bash = popen(command, "r");
		assert_non_null(bash);
		assert_non_null(fgets(answer, sizeof(answer), bash));
		answer[strcspn(answer, "\n")] = '\0';
		assert_string_equal(answer, asked[i][1]);
		assert_int_equal(pclose(bash), 0);
	}
	unlink(name);
}

TEST(options_check__finds_mistakes)
{
	static const struct lull_option good = {
		.key = "n",
		.type = LULL_OPTION_COUNT,
		.help = "N.",
		LULL_OPTION_MEMBER(struct cli_settings, queues),
	};
	struct lull_option options[3] = { good };

	assert_int_equal(lull_options_check(options, &error), 0);
	assert_int_equal(lull_options_check(cli_options, &error), 0);
	options[1] = good;
	assert_int_equal(lull_options_check(options, &error), -EINVAL);
	assert_string_equal(error.text, "option table: n: the key stands twice");
	options[1].key = NULL;
	options[0].value = "70k";
	assert_int_equal(lull_options_check(options, &error), -ERANGE);
	assert_string_equal(error.text, "option table: default of n: 70k is above 65535");
	options[0] = good;
	options[0].high = 65536;
	assert_int_equal(lull_options_check(options, &error), -EINVAL);
	options[0] = good;
	options[0].type = LULL_OPTION_CHOICE;
	assert_int_equal(lull_options_check(options, &error), -EINVAL);
	options[0] = good;
	options[0].key = "help";
	assert_int_equal(lull_options_check(options, &error), -EINVAL);
	options[0] = good;
	options[0].type = LULL_OPTION_CUSTOM;
	assert_int_equal(lull_options_check(options, &error), -EINVAL);
}
