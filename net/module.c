/* SPDX-License-Identifier: BSD-3-Clause */
#include "module.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/error.h"

#define PLACE_MAX (2 * PATH_MAX)

static pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct lull_net_module *module_loaded;

/* Where modules are, seen from the folder of a program, of liblull-camera, of an element for
 * GStreamer or of the provider for libfabric: installed, then in the build folder. */
static const char *const module_places[] = {
	"../" LULL_NET_LIBDIR "/lull", "lull", "../lull", "..", "../net", "../../net",
};

/* The folder of the program or library that this code is in. */
static int
module_folder(char folder[PATH_MAX])
{
	const char *path = "/proc/self/exe";
	char *slash;
	Dl_info info;

	/* Of the program itself the linker knows no more than how it was called. */
	if (dladdr(&module_loaded, &info) != 0 && info.dli_fname != NULL &&
	    strcmp(info.dli_fname, program_invocation_name) != 0)
		path = info.dli_fname;
	if (realpath(path, folder) == NULL)
		return -errno;
	slash = strrchr(folder, '/');
	if (slash == NULL)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

static int
module_find(const char *file, char path[PLACE_MAX], struct lull_error *error)
{
	char folder[PATH_MAX] = "";
	int rc = module_folder(folder);

	for (size_t i = 0; rc == 0 && i < sizeof(module_places) / sizeof(module_places[0]); i++) {
		int used = snprintf(path, PLACE_MAX, "%s/%s/%s", folder, module_places[i], file);

		if (used < PLACE_MAX && access(path, F_OK) == 0)
			return 0;
	}
	return lull_error_set(error, -ENOENT,
			      "there is no %s in %.100s/../" LULL_NET_LIBDIR
			      "/lull; install lull as a whole (make install)",
			      file, folder);
}

static int
module_open(const char *path, const struct lull_net_module **module, struct lull_error *error)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	const struct lull_net_module *found;

	if (library == NULL)
		return lull_error_set(error, -ELIBBAD,
				      "%.150s; install the DPDK release that lull was built with",
				      dlerror());
	found = dlsym(library, LULL_NET_MODULE_SYMBOL);
	if (found != NULL && found->bytes == LULL_NET_MODULE_BYTES &&
	    strcmp(found->version, LULL_VERSION) == 0) {
		*module = found;
		return 0;
	}
	dlclose(library);
	return lull_error_set(error, -ELIBBAD,
			      "%.120s is not of the same build as this program, lull %s; install "
			      "both together (make install)",
			      path, LULL_VERSION);
}

int
lull_net_module_load(const char *file, const struct lull_net_module **module,
		     struct lull_error *error)
{
	char path[PLACE_MAX];
	int rc = 0;

	pthread_mutex_lock(&module_lock);
	if (module_loaded == NULL) {
		rc = module_find(file, path, error);
		if (rc == 0)
			rc = module_open(path, &module_loaded, error);
	}
	*module = module_loaded;
	pthread_mutex_unlock(&module_lock);
	return rc;
}

const struct lull_net_module *
lull_net_module_loaded(void)
{
	const struct lull_net_module *module;

	pthread_mutex_lock(&module_lock);
	module = module_loaded;
	pthread_mutex_unlock(&module_lock);
	return module;
}
