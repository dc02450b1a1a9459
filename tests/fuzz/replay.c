/* SPDX-License-Identifier: BSD-3-Clause */
/* Feed every file of the directories named to the target: the corpus as a plain test. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

/* In memory of exactly its size, so that a sanitizer sees a read outside. */
static int
replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int rc = -1;

	if (file == NULL)
		return -1;
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
		data = malloc((size_t)size + (size == 0));
	if (data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size)
		rc = LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	fclose(file);
	return rc;
}

static unsigned int
replay_directory(const char *name)
{
	DIR *directory = opendir(name);
	unsigned int count = 0;
	struct dirent *entry;

	if (directory == NULL)
		return 0;
	while ((entry = readdir(directory)) != NULL) {
		char path[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
		printf("%s\n", path);
		fflush(stdout); /* the last line names the culprit */
		if (replay_file(path) != 0) {
			fprintf(stderr, "%s: cannot read\n", path);
			exit(1);
		}
		count++;
	}
	closedir(directory);
	return count;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (replay_directory(argv[i]) == 0) {
			fprintf(stderr, "%s: no corpus here\n", argv[i]);
			return 1;
		}
	return argc > 1 ? 0 : 1;
}
