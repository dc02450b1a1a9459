/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of the program that lead through a function of ours. Each object of the process keeps the
 * addresses of functions of others in a table of its own, and its list of relocations says where.
 * An entry is one aligned word, which a thread that is just calling reads whole.
 *
 * What is linked into one file calls without a table, and cannot be led elsewhere.
 */
#include "plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The three kinds of entry that hold an address and nothing else. */
#if defined(__x86_64__) && defined(__LP64__)
#define HOOK_ENTRY(type)                                                                           \
	((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#elif defined(__aarch64__) && defined(__LP64__)
#define HOOK_ENTRY(type)                                                                           \
	((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#elif defined(__powerpc64__)
#define HOOK_ENTRY(type)                                                                           \
	((type) == R_PPC64_JMP_SLOT || (type) == R_PPC64_GLOB_DAT || (type) == R_PPC64_ADDR64)
#elif defined(__riscv) && __riscv_xlen == 64
#define HOOK_ENTRY(type) ((type) == R_RISCV_JUMP_SLOT || (type) == R_RISCV_64)
#endif

#ifdef HOOK_ENTRY

/** A loaded file. */
struct object {
	ElfW(Addr) base;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * tables[2]; /* of functions, of all else */
	size_t counts[2];
	ElfW(Addr) kept_begin, kept_end; /* nobody may write here once it is loaded */
};

struct walk {
	struct plugin_hook *hooks;
	uint32_t count;
	uint64_t objects; /* that have been loaded: as many as when they were waited for */
	uint32_t index;   /* of the object; 0 is the program */
};

/* Most loaders turn the addresses of this list into those of the process, some do not. */
static ElfW(Addr) object_address(const struct object *object, ElfW(Addr) address)
{
	return address < object->base ? object->base + address : address;
}

static void
object_read_list(struct object *object, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		ElfW(Addr) at = object_address(object, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_SYMTAB:
			object->symbols = (const ElfW(Sym) *)at;
			break;
		case DT_STRTAB:
			object->names = (const char *)at;
			break;
		case DT_JMPREL:
			object->tables[0] = (const ElfW(Rela) *)at;
			break;
		case DT_PLTRELSZ:
			object->counts[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RELA:
			object->tables[1] = (const ElfW(Rela) *)at;
			break;
		case DT_RELASZ:
			object->counts[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
			break;
		}
	}
}

static bool
object_read(struct object *object, const struct dl_phdr_info *info)
{
	*object = (struct object){ .base = info->dlpi_addr };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		ElfW(Addr) pages = ~((ElfW(Addr))sysconf(_SC_PAGESIZE) - 1);

		if (part->p_type == PT_DYNAMIC)
			object_read_list(object,
					 (const ElfW(Dyn) *)(info->dlpi_addr + part->p_vaddr));
		if (part->p_type == PT_GNU_RELRO) {
			object->kept_begin = (info->dlpi_addr + part->p_vaddr) & pages;
			/* The page that it shares with what may be written stays open. */
			object->kept_end =
				(info->dlpi_addr + part->p_vaddr + part->p_memsz) & pages;
		}
	}
	return object->symbols != NULL && object->names != NULL;
}

static int
entry_write(const struct object *object, const void **entry, const void *value)
{
	ElfW(Addr) at = (ElfW(Addr))entry, page = (ElfW(Addr))sysconf(_SC_PAGESIZE);
	bool kept = at >= object->kept_begin && at < object->kept_end;
	void *begin = (void *)(at & ~(page - 1)); /* the word is aligned: in one page */

	if (kept && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0)
		return -errno;
	__atomic_store_n(entry, value, __ATOMIC_RELEASE);
	if (kept)
		mprotect(begin, page, PROT_READ);
	return 0;
}

static void
hook_entry(struct plugin_hook *hook, const struct object *object, const ElfW(Rela) * relocation)
{
	const void **entry = (const void **)(object->base + relocation->r_offset);

	if (!HOOK_ENTRY(ELF64_R_TYPE(relocation->r_info)) || relocation->r_addend != 0)
		return;
	if (hook->ours == NULL || (__atomic_load_n(entry, __ATOMIC_RELAXED) != hook->ours &&
				   entry_write(object, entry, hook->ours) != 0))
		hook->places_left++;
	else
		hook->places++;
}

static void
hook_object(const struct walk *walk, const struct object *object)
{
	for (uint32_t table = 0; table < 2; table++) {
		const ElfW(Rela) *relocation = object->tables[table];

		for (size_t i = 0; relocation != NULL && i < object->counts[table]; i++) {
			size_t symbol = ELF64_R_SYM(relocation[i].r_info);
			const char *name = object->names + object->symbols[symbol].st_name;

			for (uint32_t j = 0; symbol != 0 && j < walk->count; j++)
				if (strcmp(name, walk->hooks[j].function) == 0)
					hook_entry(&walk->hooks[j], object, &relocation[i]);
		}
	}
}

static int
walk_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct walk *walk = arg;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *file = slash != NULL ? slash + 1 : info->dlpi_name;
	struct object object;

	(void)size;
	if (info->dlpi_adds != walk->objects)
		return 1;
	/* Whoever the program polls as ports of ethdev is seen there. DPDK's own calls stay. */
	if (walk->index++ > 0 && strncmp(file, "librte_", strlen("librte_")) == 0)
		return 0;
	if (object_read(&object, info))
		hook_object(walk, &object);
	return 0;
}

int
plugin_hooks_set(struct plugin_hook *hooks, uint32_t count)
{
	struct walk walk = { .hooks = hooks, .count = count, .objects = plugin_hook_objects() };
	void *program;

	for (uint32_t i = 0; i < count; i++)
		hooks[i].places = hooks[i].places_left = 0;
	/*
	 * An object stands in the list before the loader has filled in its addresses, and must not
	 * be touched until then. This call waits for the loader; what is added later is left.
	 */
	program = dlopen(NULL, RTLD_LAZY);
	if (program != NULL)
		dlclose(program);
	return dl_iterate_phdr(walk_object, &walk) == 0 ? 0 : -EAGAIN;
}

#else

int
plugin_hooks_set(struct plugin_hook *hooks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		hooks[i].places = hooks[i].places_left = 0;
	return -ENOTSUP;
}

#endif

/* ---- where a function is ---- */

struct search {
	const char *function;
	const char *library;
	char path[256];
};

static int
search_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *search = arg;
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	if (slash == NULL || strncmp(slash + 1, search->library, strlen(search->library)) != 0)
		return 0;
	snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
	return 1;
}

/*
 * Of its library, where it has one: what the program's own table says of a function whose address
 * it took is a place in the program that calls through that table.
 */
void *
plugin_hook_find(const char *function, const char *library, bool *shared)
{
	struct search search = { .function = function, .library = library };
	void *handle = NULL;

	*shared = false;
	if (dl_iterate_phdr(search_object, &search) != 0)
		handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
	if (handle != NULL) {
		*shared = true;
		return dlsym(handle, function); /* never closed: it is called from here on */
	}
	return dlsym(RTLD_DEFAULT, function);
}

/* A program that was linked at fixed addresses has a copy, which all others use too. */
void *
plugin_hook_find_data(const char *name, const char *library)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	bool shared;

	return found != NULL ? found : plugin_hook_find(name, library, &shared);
}

/* ---- files that were loaded since ---- */

static int
count_first(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_adds;
	return 1;
}

uint64_t
plugin_hook_objects(void)
{
	uint64_t adds = 0;

	dl_iterate_phdr(count_first, &adds);
	return adds;
}
