// SPDX-License-Identifier: GPL-2.0
/* The functions that a shared object defines, from its file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"

static int read_symbols(const char *file, const ElfW(Shdr) *section, const char *text,
			char names[][64], int most)
{
	const ElfW(Sym) *sym = (const void *)(file + section->sh_offset);
	size_t i, count = section->sh_size / sizeof(*sym);
	int n = 0;

	for (i = 0; i < count && n < most; i++)
		if (sym[i].st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC)
			snprintf(names[n++], 64, "%s", text + sym[i].st_name);
	return n;
}

int call_exports(const char *path, char names[][64], int most)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), i, n = -1;
	const ElfW(Shdr) *section;
	const ElfW(Ehdr) *head;
	const char *file;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return -1;
	head = (const void *)file;
	section = (const void *)(file + head->e_shoff);
	for (i = 0; i < head->e_shnum; i++)
		if (section[i].sh_type == SHT_DYNSYM)
			n = read_symbols(file, &section[i],
					 file + section[section[i].sh_link].sh_offset, names, most);
	munmap((void *)file, st.st_size);
	return n;
}
