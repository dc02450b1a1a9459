/* SPDX-License-Identifier: BSD-3-Clause */
#include "torn.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files.h"

static struct flow_files *torn_files; /* NULL: none are watched */
static uintptr_t torn_page_bytes;
static struct sigaction torn_before;

/* One page of zeros in the place of one that is gone; only calls that a handler may make. */
static bool
torn_mend(struct flow_file *file, uintptr_t at)
{
	uintptr_t begin = (uintptr_t)file->data;
	void *page = (void *)(at & ~(torn_page_bytes - 1));

	if (file->data == NULL || at < begin || at - begin >= file->size)
		return false;
	if (mmap(page, torn_page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		return false;
	__atomic_store_n(&file->torn, true, __ATOMIC_RELAXED);
	return true;
}

static void
torn_handle(int number, siginfo_t *info, void *context)
{
	struct flow_files *files = __atomic_load_n(&torn_files, __ATOMIC_ACQUIRE);

	(void)context;
	for (uint32_t i = 0; files != NULL && i < files->file_count; i++) {
		if (torn_mend(&files->files[i], (uintptr_t)info->si_addr))
			return;
	}
	/* Not ours: it comes again, and does what it did without us. */
	sigaction(number, &torn_before, NULL);
}

void
flow_torn_watch(struct flow_files *files)
{
	struct sigaction action = { .sa_sigaction = torn_handle, .sa_flags = SA_SIGINFO };

	torn_page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	__atomic_store_n(&torn_files, files, __ATOMIC_RELEASE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &torn_before);
}

void
flow_torn_forget(void)
{
	if (torn_files == NULL)
		return;
	sigaction(SIGBUS, &torn_before, NULL);
	__atomic_store_n(&torn_files, NULL, __ATOMIC_RELEASE);
}
