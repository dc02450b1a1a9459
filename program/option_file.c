/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The YAML file. libcyaml wants one fixed shape per key, but a list may also be
 * written as a single value. So the file is read into memory once and loaded
 * once for each row of the table: with a schema that knows this key alone, as
 * a value, and as a list if that fails. Values arrive as text and go through
 * the parser of the command line: one table, one set of rules. A load before
 * these knows all keys and no values; it finds everything wrong with the file
 * as a whole.
 */
#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "option.h"
#include "program.h"

/* Far above any configuration; keeps a device or a wrong file from filling the memory. */
#define FILE_BYTES_MAX (1 << 20)

struct yaml_file {
	const char *path;
	uint8_t *bytes;
	size_t size;
};

/* What one load fills in: either of them, or nothing when the key is not there. */
struct yaml_value {
	char *text;
	char **items;
	unsigned items_count;
};

/* What libcyaml said while loading. */
struct yaml_log {
	char problem[256]; /* the first complaint */
	unsigned line;     /* the last line it had understood; 0: unknown */
	bool more_documents;
};

static const struct cyaml_schema_value text_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED),
};

static void __attribute__((format(printf, 3, 0)))
yaml_log_line(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
	struct yaml_log *log = context;
	char line[256];
	const char *text = line, *number;

	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	if (level == CYAML_LOG_WARNING) {
		log->more_documents = log->more_documents || strstr(line, "documents") != NULL;
		return;
	}
	number = strstr(line, "(line: ");
	if (number != NULL && log->line == 0)
		log->line = (unsigned)strtoul(number + 7, NULL, 10);
	if (strncmp(text, "Load: ", 6) == 0)
		text += 6;
	if (strncmp(text, "libyaml: ", 9) == 0)
		text += 9;
	if (log->problem[0] == '\0')
		memcpy(log->problem, text, strlen(text) + 1);
}

static cyaml_err_t
yaml_load(const struct yaml_file *file, const struct cyaml_schema_field *fields, bool strict,
	  struct yaml_value **value, struct yaml_log *log)
{
	const struct cyaml_config config = {
		.log_fn = yaml_log_line,
		.log_ctx = log,
		.log_level = CYAML_LOG_WARNING,
		.mem_fn = cyaml_mem,
		.flags = CYAML_CFG_NO_ALIAS |
			 (unsigned)(strict ? CYAML_CFG_DEFAULT : CYAML_CFG_IGNORE_UNKNOWN_KEYS),
	};
	const struct cyaml_schema_value schema = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_value, fields),
	};

	*value = NULL;
	*log = (struct yaml_log){ .line = 0 };
	return cyaml_load_data(file->bytes, file->size, &config, &schema, (cyaml_data_t **)value,
			       NULL);
}

static void
yaml_free(struct yaml_value *value)
{
	static const struct cyaml_schema_field fields[] = {
		CYAML_FIELD_STRING_PTR("text", CYAML_FLAG_POINTER, struct yaml_value, text, 0,
				       CYAML_UNLIMITED),
		CYAML_FIELD_SEQUENCE("items", CYAML_FLAG_POINTER, struct yaml_value, items,
				     &text_schema, 0, CYAML_UNLIMITED),
		CYAML_FIELD_END,
	};
	static const struct cyaml_schema_value schema = {
		CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_value, fields),
	};
	static const struct cyaml_config config = { .mem_fn = cyaml_mem };

	cyaml_free(&config, &schema, value, 0);
}

static int
unknown_key(const struct lull_program *program, const struct yaml_file *file, const char *key,
	    struct lull_error *error)
{
	char hint[160];

	lull_options_suggest(program->options, key, "", hint, sizeof(hint));
	return lull_error_set(
		error, -EINVAL, "%s: unknown key '%.*s': %s%s%s --help lists all keys", file->path,
		LULL_ERROR_SHOWN, key, hint, hint[0] != '\0' ? " " : "", program->name);
}

/* Sentences about the file as a whole. */
static int
file_complain(const struct lull_program *program, const struct yaml_file *file, cyaml_err_t result,
	      const struct yaml_log *log, struct lull_error *error)
{
	static const char unexpected[] = "Unexpected key: ";
	const char *problem = log->problem[0] != '\0' ? log->problem : cyaml_strerror(result);

	switch (result) {
	case CYAML_ERR_OOM:
		return lull_error_set(error, -ENOMEM, "%s: out of memory", file->path);
	case CYAML_ERR_ALIAS:
		return lull_error_set(error, -EINVAL,
				      "%s: YAML aliases (*name) are not supported: write the "
				      "value out",
				      file->path);
	case CYAML_ERR_INVALID_KEY:
		if (strncmp(problem, unexpected, strlen(unexpected)) == 0)
			problem += strlen(unexpected);
		return unknown_key(program, file, problem, error);
	case CYAML_ERR_LIBYAML_PARSER:
		if (log->line == 0)
			return lull_error_set(error, -EINVAL, "%s: bad YAML: %s", file->path,
					      problem);
		return lull_error_set(error, -EINVAL,
				      "%s: bad YAML near line %u: %s (values like '-' need quotes)",
				      file->path, log->line, problem);
	default:
		return lull_error_set(error, -EINVAL,
				      "%s: not a YAML mapping: write lines like 'key: value'",
				      file->path);
	}
}

/* The file must be one mapping of known keys, whatever their values. */
static int
file_check(const struct lull_program *program, const struct yaml_file *file,
	   struct lull_error *error)
{
	struct cyaml_schema_field fields[LULL_OPTIONS_MAX + 1] = { { .key = NULL } };
	struct yaml_value *nothing;
	struct yaml_log log;
	cyaml_err_t result;

	for (size_t i = 0; i < LULL_OPTIONS_MAX && program->options[i].key != NULL; i++) {
		fields[i].key = program->options[i].key;
		fields[i].value.type = CYAML_IGNORE;
		fields[i].value.flags = CYAML_FLAG_OPTIONAL;
	}
	result = yaml_load(file, fields, true, &nothing, &log);
	yaml_free(nothing);
	if (result != CYAML_OK)
		return file_complain(program, file, result, &log, error);
	if (log.more_documents)
		return lull_error_set(
			error, -EINVAL,
			"%s: more than one YAML document: keep one, without '---' lines",
			file->path);
	return 0;
}

/* Load one key, as a value or as a list. */
static cyaml_err_t
key_load(const struct yaml_file *file, const char *key, struct yaml_value **value)
{
	const struct cyaml_schema_field as_text[] = {
		CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				       struct yaml_value, text, 0, CYAML_UNLIMITED),
		CYAML_FIELD_END,
	};
	const struct cyaml_schema_field as_list[] = {
		CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
				     struct yaml_value, items, &text_schema, 0, CYAML_UNLIMITED),
		CYAML_FIELD_END,
	};
	struct yaml_log log;
	cyaml_err_t result = yaml_load(file, as_text, false, value, &log);

	if (result == CYAML_ERR_INVALID_VALUE)
		result = yaml_load(file, as_list, false, value, &log);
	return result;
}

/* Several items as one value: "1, 2" is what cpus: [1, 2] means. */
static int
items_join(const struct lull_option *option, const struct yaml_value *value, void *settings,
	   struct lull_error *error)
{
	char joined[LULL_OPTION_VALUE_TEXT];
	size_t used = 0;

	joined[0] = '\0';
	for (unsigned i = 0; i < value->items_count && used < sizeof(joined); i++)
		used += (size_t)snprintf(joined + used, sizeof(joined) - used, "%s%s",
					 i > 0 ? "," : "", value->items[i]);
	if (used >= sizeof(joined))
		return lull_error_set(error, -E2BIG, "the list is too long");
	return lull_option_parse(option, joined, settings, error);
}

static int
key_apply(const struct lull_option *option, const struct yaml_value *value, void *settings,
	  struct lull_error *error)
{
	int result = 0;

	if (value->text == NULL && value->items == NULL && value->items_count == 0)
		return 0; /* not in this file */
	lull_option_clear(option, settings);
	if (value->text != NULL)
		return lull_option_parse(option, value->text, settings, error);
	if (option->joined)
		return items_join(option, value, settings, error);
	if (option->type != LULL_OPTION_LIST)
		return lull_error_set(error, -EINVAL, "takes one value, not a list");
	for (unsigned i = 0; i < value->items_count && result == 0; i++)
		result = lull_option_parse(option, value->items[i], settings, error);
	return result;
}

static int
key_read(const struct lull_option *option, const struct yaml_file *file, void *settings,
	 struct lull_error *error)
{
	struct yaml_value *value;
	cyaml_err_t loaded = key_load(file, option->key, &value);
	int result = 0;

	if (loaded == CYAML_ERR_UNEXPECTED_EVENT)
		result = lull_error_set(error, -EINVAL, "is there twice: keep one");
	else if (loaded == CYAML_ERR_OOM)
		result = lull_error_set(error, -ENOMEM, "out of memory");
	else if (loaded != CYAML_OK)
		result = lull_error_set(error, -EINVAL, "takes a value%s, not a nested structure",
					option->type == LULL_OPTION_LIST || option->joined ?
						" or a list of values" :
						"");
	else if (value != NULL)
		result = key_apply(option, value, settings, error);
	yaml_free(value);
	if (result != 0)
		lull_error_prefix(error, "%s: %s: ", file->path, option->key);
	return result;
}

/* All of the file into memory; file->bytes is the caller's to free, in any case. */
static int
file_slurp(struct yaml_file *file, struct lull_error *error)
{
	FILE *stream = fopen(file->path, "re");
	int code = 0;

	if (stream == NULL)
		return lull_error_set(error, -errno, "%s: cannot open: %s", file->path,
				      strerror(errno));
	file->bytes = malloc(FILE_BYTES_MAX);
	if (file->bytes == NULL) {
		fclose(stream);
		return lull_error_set(error, -ENOMEM, "%s: out of memory", file->path);
	}
	file->size = fread(file->bytes, 1, FILE_BYTES_MAX, stream);
	if (ferror(stream))
		code = lull_error_set(error, -errno, "%s: cannot read: %s", file->path,
				      strerror(errno));
	else if (file->size == FILE_BYTES_MAX)
		code = lull_error_set(error, -EFBIG,
				      "%s: too large for a configuration (%d bytes or more)",
				      file->path, FILE_BYTES_MAX);
	fclose(stream);
	return code;
}

int
lull_options_load(const struct lull_program *program, const char *path, void *settings,
		  struct lull_error *error)
{
	struct yaml_file file = { .path = path };
	int result = file_slurp(&file, error);

	if (result == 0)
		result = file_check(program, &file, error);
	for (const struct lull_option *option = program->options;
	     result == 0 && option->key != NULL; option++)
		result = key_read(option, &file, settings, error);
	free(file.bytes);
	return result;
}
