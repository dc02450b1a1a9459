/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Options: one table per program, and everything that follows from it.
 *
 * The table names each setting once: its key, type, range, default and help.
 * The command line, the YAML file, changes at run time, --help, the man page
 * and bash completion all walk the same rows, so they cannot disagree.
 *
 * The settings are the program's own struct, and plain data throughout: texts
 * and lists live inside it. Copying the struct copies everything, and nothing
 * is ever to be freed. To change a running program, change a copy and hand the
 * copy over.
 * Threads: no state of its own; any thread on settings of its own.
 * Memory:  the caller's structs; only reading a file allocates, and frees again.
 */
#ifndef LULL_CLI_OPTIONS_H
#define LULL_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/error.h"

enum lull_option_type {
	LULL_OPTION_BOOL,     /**< bool; the key alone means yes */
	LULL_OPTION_COUNT,    /**< unsigned integer of 1, 2, 4 or 8 bytes; takes k, M, G */
	LULL_OPTION_DURATION, /**< uint64_t in ns; takes ns, us, ms, s, m, h */
	LULL_OPTION_REAL,     /**< double; takes k, M, G */
	LULL_OPTION_TEXT,     /**< char[size] */
	LULL_OPTION_LIST,     /**< struct lull_option_list; repeating the option appends */
	LULL_OPTION_CHOICE,   /**< unsigned integer or enum: index of the name chosen */
	LULL_OPTION_CUSTOM,   /**< whatever parse() writes */
};

#define LULL_OPTION_LIST_MAX 16
#define LULL_OPTION_LIST_TEXT 512

/** Member behind a LULL_OPTION_LIST. */
struct lull_option_list {
	uint32_t count;
	char items[LULL_OPTION_LIST_MAX][LULL_OPTION_LIST_TEXT];
};

/** Enough for any value lull_option_print() writes, short of lists and long texts. */
#define LULL_OPTION_VALUE_TEXT 512

/** One row. Members that do not concern the type stay zero. */
struct lull_option {
	const char *key;   /**< long option, YAML key and name in lull set; NULL ends the table */
	const char *group; /**< headline above this row in --help; NULL: as the row before */
	const char *argument; /**< placeholder in --help; NULL: one that suits the type */
	const char *help;     /**< whole sentences without range and default */
	enum lull_option_type type;
	uint32_t offset, size; /**< LULL_OPTION_MEMBER() */

	/** Default, as typed; NULL: the member keeps what the program put there. */
	const char *value;
	/** Default in words, where a value does not tell it: "the last CPUs". */
	const char *value_help;

	/** Range of COUNT and DURATION (in ns); both 0: whatever the member holds. */
	uint64_t low, high;
	/** Range of REAL; both 0: any. */
	double real_low, real_high;
	/** DURATION: unit of a bare number, NULL: none. COUNT and REAL: what is counted. */
	const char *unit;

	const char *const *choices;                 /**< CHOICE: names, NULL at the end, or ... */
	const char *(*choice)(uint32_t index);      /**< ... the same from a list kept elsewhere */
	const char *(*choice_help)(uint32_t index); /**< one line about a choice; may be NULL */

	/**
	 * CUSTOM: 0 and the member written, or a negative errno, the sentence
	 * and the member as it was. The sentence goes without the key.
	 */
	int (*parse)(const char *text, void *member, struct lull_error *error);
	/** CUSTOM: the reverse, in words that parse() reads; returns @p text. */
	char *(*print)(const void *member, char *text, size_t size);

	bool live;   /**< may be changed while the program runs */
	bool file;   /**< the value is a file name: complete it as one */
	bool joined; /**< a YAML sequence is fine: it becomes one value with commas */
	bool action; /**< makes the program do something else and leave: not part of a result */
	bool hidden; /**< not in --help, man page and completion */
};

/** Offset and size of a settings member, for a designated initializer. */
#define LULL_OPTION_MEMBER(settings, member)                                                       \
	.offset = offsetof(settings, member), .size = sizeof(((settings *)0)->member)

/** Most rows of a table. */
#define LULL_OPTIONS_MAX 96

struct lull_program; /* program.h */

/** What the command line asks for. */
enum lull_options_action {
	LULL_OPTIONS_RUN,
	LULL_OPTIONS_CHECK,      /**< --check-config: all is read as for a run */
	LULL_OPTIONS_HELP,       /**< --help */
	LULL_OPTIONS_VERSION,    /**< --version */
	LULL_OPTIONS_COMPLETION, /**< --completion-bash: a bash script */
	LULL_OPTIONS_MAN,        /**< --man: the OPTIONS section of the man page */
};

/**
 * Read the command line: first the defaults, then each --config file, then
 * the other options, so that the command line wins. Options given twice: the
 * last wins, lists append (to what the command line said, not to the file).
 * For anything but RUN and CHECK, hand the action to lull_options_print() and leave.
 *
 * @param settings  the program's struct, preset where rows have no default
 * @return 0 or -errno and the sentence; then the settings are half-filled
 */
int lull_options_parse(const struct lull_program *program, int argc, char *const *argv,
		       void *settings, enum lull_options_action *action, struct lull_error *error);

/**
 * The words of the command line that are neither options nor their values, where a program has
 * operands. "-" is one, and all behind "--" are.
 *
 * @param operands  out: borrowed from @p argv; room for argc; NULL: only count
 * @return how many, of a command line that lull_options_parse() has accepted
 */
uint32_t lull_options_operands(const struct lull_program *program, int argc, char *const *argv,
			       const char **operands);

/** Does a command line, right or wrong, have --check-config? */
bool lull_options_asks_check(const struct lull_program *program, int argc, char *const *argv);

/** Carry out an action other than RUN and CHECK. The one function here that prints. 0 or -errno. */
int lull_options_print(const struct lull_program *program, enum lull_options_action action,
		       FILE *out);

/** Read one YAML file, as --config does: a mapping with the keys of the table. */
int lull_options_load(const struct lull_program *program, const char *path, void *settings,
		      struct lull_error *error);

/** Set one key from text. A list is replaced. The member changes only when 0 is returned. */
int lull_options_set(const struct lull_option *options, void *settings, const char *key,
		     const char *value, struct lull_error *error);

#define LULL_OPTION_LOOP_MAX 32

/**
 * Carry out "KEY=VALUE" or "KEY@LOOP=VALUE" of a running program; only live
 * rows take it.
 *
 * @param settings  a copy that the caller hands over on success
 * @param loop      out: LOOP, or "" for all of them; LULL_OPTION_LOOP_MAX bytes
 */
int lull_options_change(const struct lull_option *options, void *settings, const char *assignment,
			char *loop, struct lull_error *error);

/** Row with this key, or NULL. */
const struct lull_option *lull_options_find(const struct lull_option *options, const char *key);

/**
 * The value as text that lull_options_set() takes; the items of a list with
 * blanks between them, for people only. Returns @p text.
 */
char *lull_option_print(const struct lull_option *option, const void *settings, char *text,
			size_t size);

/**
 * Has the member a value? A duration of UINT64_MAX, a real that is not a number and a choice
 * beyond the last name stand for "not told".
 */
bool lull_option_is_set(const struct lull_option *option, const void *settings);

/** Look for mistakes in a table: keys, sizes, ranges, defaults. parse() begins with it. */
int lull_options_check(const struct lull_option *options, struct lull_error *error);

#endif
