/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <string.h>

#include "message.h"

#define LULL_SETTINGS struct copy_settings

const struct lull_option copy_options[] = {
	LULL_ROW_BOOL("listen", listen, "Take what other nodes send, until a signal.",
		      .group = "Copy"),
	LULL_ROW_FILE("into", "FOLDER", into,
		      "--listen: folder for what comes; nothing is written elsewhere. -: write the "
		      "bytes of the first sender to stdout, then end."),
	LULL_ROW_TEXT("to", "NAME", to, "Node to copy to, which listens."),
	LULL_ROW_TEXT("as", "NAME", as, "Name there for what comes from stdin (the file -).",
		      .value = "stdin"),
	LULL_ROW_BOOL("once", once, "--listen: end after one sender."),
	LULL_ROW_BOOL("restart", restart,
		      "Throw away a NAME.part there that is not the beginning of the file."),
	LULL_ROW_BOOL("discard-parts", discard_parts,
		      "--listen: remove the NAME.part of a file that breaks off. Without this it "
		      "stays, and a second copy goes on where it ends."),
	LULL_ROW_COUNT("window", "N", window, "Messages of 1 MiB under way at once.", .value = "8",
		       .low = 2, .high = 64),
	LULL_LINK_OPTIONS(link),
	LULL_ROW_TIME("stats", stats_ns, "Time between progress lines on stderr; 0: no lines.",
		      .value_help = "1 s, as a bar, on a terminal, otherwise 0", .unit = "s",
		      .group = "Run"),
	LULL_JSON_OPTION,
	{ .key = NULL },
};

static int
settings_check_listen(const struct copy_settings *settings, uint32_t file_count,
		      struct lull_error *error)
{
	if (settings->to[0] != '\0')
		return lull_error_set(error, -EINVAL,
				      "listen and to: one side listens, the other names it");
	if (file_count > 0)
		return lull_error_set(error, -EINVAL,
				      "listen: the side with --to names the files; say --into "
				      "FOLDER here");
	if (settings->into[0] == '\0')
		return lull_error_set(error, -EINVAL,
				      "no folder: say where files go with --into FOLDER, or --into "
				      "- for stdout");
	if (strcmp(settings->into, "-") == 0 && strcmp(settings->json, "-") == 0)
		return lull_error_set(error, -EINVAL,
				      "into and json: only one of them fits on stdout");
	return 0;
}

static int
settings_check_send(const struct copy_settings *settings, const char *const *files,
		    uint32_t file_count, struct lull_error *error)
{
	uint32_t standard = 0;

	if (settings->to[0] == '\0')
		return lull_error_set(error, -EINVAL,
				      "no node: start one side with --listen --into FOLDER, and "
				      "name it here with --to NAME");
	if (file_count == 0)
		return lull_error_set(error, -EINVAL,
				      "nothing to copy: name files or folders behind the options, "
				      "- for stdin");
	if (settings->into[0] != '\0')
		return lull_error_set(error, -EINVAL,
				      "into: the side with --listen says where "
				      "files go");
	for (uint32_t i = 0; i < file_count; i++)
		standard += strcmp(files[i], "-") == 0;
	if (standard > 1)
		return lull_error_set(error, -EINVAL, "stdin (-) is there %u times", standard);
	if (strchr(settings->as, '/') != NULL || copy_path_check(settings->as) != 0)
		return lull_error_set(error, -EINVAL, "as: '%.*s' is no name of a file",
				      LULL_ERROR_SHOWN, settings->as);
	return 0;
}

int
copy_settings_check(const struct copy_settings *settings, const char *const *files,
		    uint32_t file_count, struct lull_error *error)
{
	int rc = lull_link_settings_check(&settings->link, error);

	if (rc != 0 || settings->link.check)
		return rc;
	return settings->listen ? settings_check_listen(settings, file_count, error) :
				  settings_check_send(settings, files, file_count, error);
}
