// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Can a library be preloaded into a program?
 *
 * Not without a dynamic loader, not with another machine's or another C library's,
 * and not where the program gains rights: there the loader leaves LD_PRELOAD alone.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "speedrun.h"

#define SCRIPTS_MAX	5	/* interpreters of interpreters that the kernel follows */

static ssize_t read_at(int fd, void *buf, size_t len, off_t at)
{
	ssize_t got = pread(fd, buf, len, at);

	return got < 0 ? 0 : got;
}

/* The dynamic loader that a program of this machine names. Return: whether it does. */
static bool loader_of(int fd, const ElfW(Ehdr) *head, char *loader)
{
	ElfW(Phdr) seg;
	ssize_t n;

	for (int i = 0; i < head->e_phnum; i++) {
		off_t at = (off_t)(head->e_phoff + (size_t)i * head->e_phentsize);

		if (read_at(fd, &seg, sizeof(seg), at) != sizeof(seg))
			return false;
		if (seg.p_type != PT_INTERP)
			continue;
		n = read_at(fd, loader, SPEEDRUN_PATH - 1, (off_t)seg.p_offset);
		loader[(size_t)n < seg.p_filesz ? (size_t)n : seg.p_filesz] = '\0';
		return true;
	}
	return false;
}

static bool is_elf(const ElfW(Ehdr) *head)
{
	return !memcmp(head->e_ident, ELFMAG, SELFMAG);
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What this program is, is what the library is. */
static bool own_image(ElfW(Ehdr) *head, char *loader)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && read_at(fd, head, sizeof(*head), 0) == sizeof(*head) &&
		  loader_of(fd, head, loader);

	if (fd >= 0)
		close(fd);
	return ok;
}

static const char *elf_refuses(int fd, const ElfW(Ehdr) *head)
{
	static char own_loader[SPEEDRUN_PATH], loader[SPEEDRUN_PATH];
	ElfW(Ehdr) own;

	if (!own_image(&own, own_loader))
		return "what speedrun itself is cannot be read";
	if (head->e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || head->e_machine != own.e_machine)
		return "it is a program for another machine than libspeed";
	if (!loader_of(fd, head, loader))
		return "it is statically linked";
	if (strcmp(name_of(loader), name_of(own_loader)))
		return "it uses another C library than libspeed";
	return NULL;
}

static const char *rights_refuse(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return "it cannot be looked at";
	if (st.st_mode & S_ISUID)
		return "it is setuid";
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return "it is setgid";
	if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "it has file capabilities";
	return NULL;
}

/* The interpreter in a script's first line, put into @path. Return: whether there is one. */
static bool script_interpreter(int fd, char *path)
{
	char line[SPEEDRUN_PATH];
	ssize_t n = read_at(fd, line, sizeof(line) - 1, 0);
	char *name;

	line[n] = '\0';
	if (strncmp(line, "#!", 2))
		return false;
	name = line + 2 + strspn(line + 2, " \t");
	name[strcspn(name, " \t\n")] = '\0';
	strcpy(path, name);
	return *path;
}

/* One file. @path: the file, and then the interpreter that is to be looked at next. */
static const char *file_refuses(int fd, char *path, bool *next)
{
	ElfW(Ehdr) head;
	const char *why;

	*next = false;
	if (read_at(fd, &head, sizeof(head), 0) == sizeof(head) && is_elf(&head)) {
		why = rights_refuse(fd);
		return why ? why : elf_refuses(fd, &head);
	}
	if (!script_interpreter(fd, path))
		strcpy(path, "/bin/sh");	/* as execvp() has it */
	*next = true;
	return NULL;
}

/**
 * image_refuses() - why a program cannot be preloaded into
 * @path: the program, or a script, whose interpreter is looked at then
 *
 * Return: a text that goes on from "it runs without:", or NULL.
 */
const char *image_refuses(const char *path)
{
	char at[SPEEDRUN_PATH];
	const char *why = NULL;
	bool next = true;

	snprintf(at, sizeof(at), "%s", path);
	for (int i = 0; next && !why && i < SCRIPTS_MAX; i++) {
		int fd = open(at, O_RDONLY | O_CLOEXEC);

		/* A program that may be run but not read is not known to be a wrong one. */
		if (fd < 0)
			return NULL;
		why = file_refuses(fd, at, &next);
		close(fd);
	}
	return why;
}
