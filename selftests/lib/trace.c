// SPDX-License-Identifier: GPL-2.0
/* The transcript: see trace.h. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace.h"

struct trace *trace;

static __thread volatile int sigpipes;

void trace_sigpipe(int n)
{
	sigpipes += n;
}

int trace_take_sigpipes(void)
{
	int n = sigpipes;

	sigpipes = 0;
	return n;
}

struct trace *trace_create(void)
{
	void *at = mmap(NULL, sizeof(struct trace), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return at;
}

void trace_clear(struct trace *t)
{
	memset(t, 0, offsetof(struct trace, text));
	t->text[0] = '\0';
}

static void add(const char *text)
{
	size_t len = strlen(text);

	if (trace->used + len + 1 > TRACE_TEXT_MAX)
		trace_broken(__FILE__, __LINE__, "room for one more line");
	memcpy(trace->text + trace->used, text, len + 1);
	trace->used += len;
}

static void add_line(const char *value, const char *fmt, va_list ap)
{
	int pipes = trace_take_sigpipes();
	char label[256];

	vsnprintf(label, sizeof(label), fmt, ap);
	add(label);
	add("\t");
	add(value);
	while (pipes-- > 0)
		add(" +SIGPIPE");
	add("\n");
}

static void format_ret(char *out, size_t size, long ret, int err)
{
	const char *name = err > 0 ? strerrorname_np(err) : NULL;

	if (ret >= 0)
		snprintf(out, size, "%ld", ret);
	else if (name)
		snprintf(out, size, "-1 %s", name);
	else
		snprintf(out, size, "%ld errno %d", ret, err);
}

void trace_ret(long ret, int err, const char *fmt, ...)
{
	char value[64];
	va_list ap;

	format_ret(value, sizeof(value), ret, err);
	va_start(ap, fmt);
	add_line(value, fmt, ap);
	va_end(ap);
}

void trace_want(long ret, int err, long want, int want_err, const char *fmt, ...)
{
	char value[64], wanted[64], label[256];
	va_list ap;

	format_ret(value, sizeof(value), ret, err);
	format_ret(wanted, sizeof(wanted), want, want_err);
	va_start(ap, fmt);
	vsnprintf(label, sizeof(label), fmt, ap);
	va_end(ap);
	va_start(ap, fmt);
	add_line(value, fmt, ap);
	va_end(ap);
	if (strcmp(value, wanted) && !trace->failed) {
		trace->failed = true;
		snprintf(trace->why, sizeof(trace->why), "%s: got %s, want %s",
			 label, value, wanted);
	}
}

void trace_num(long value, const char *fmt, ...)
{
	char text[32];
	va_list ap;

	snprintf(text, sizeof(text), "%ld", value);
	va_start(ap, fmt);
	add_line(text, fmt, ap);
	va_end(ap);
}

void trace_str(const char *value, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_line(value, fmt, ap);
	va_end(ap);
}

void trace_bytes(const void *bytes, size_t len, const char *fmt, ...)
{
	const unsigned char *b = bytes;
	uint64_t hash = 0xcbf29ce484222325ull;	/* FNV-1a */
	char text[64];
	va_list ap;
	size_t i;

	for (i = 0; i < len; i++)
		hash = (hash ^ b[i]) * 0x100000001b3ull;
	snprintf(text, sizeof(text), "%zu bytes %016llx", len, (unsigned long long)hash);
	va_start(ap, fmt);
	add_line(text, fmt, ap);
	va_end(ap);
}

void trace_mask(unsigned int mask, const char *fmt, ...)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} names[] = {
		{ POLLIN, "IN" }, { POLLPRI, "PRI" }, { POLLOUT, "OUT" }, { POLLERR, "ERR" },
		{ POLLHUP, "HUP" }, { POLLNVAL, "NVAL" }, { POLLRDNORM, "RDNORM" },
		{ POLLRDBAND, "RDBAND" }, { POLLWRNORM, "WRNORM" }, { POLLWRBAND, "WRBAND" },
		{ POLLRDHUP, "RDHUP" },
	};
	char text[128] = "-";
	va_list ap;
	size_t i;

	if (mask)
		text[0] = '\0';
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(mask & names[i].bit))
			continue;
		mask &= ~names[i].bit;
		if (text[0])
			strcat(text, "|");
		strcat(text, names[i].name);
	}
	if (mask)
		snprintf(text + strlen(text), 16, "|%#x", mask);
	va_start(ap, fmt);
	add_line(text, fmt, ap);
	va_end(ap);
}

void trace_broken(const char *file, int line, const char *what)
{
	int err = errno;

	trace->failed = true;
	snprintf(trace->why, sizeof(trace->why), "%s:%d: could not get: %s (%s)",
		 file, line, what, strerror(err));
	_exit(1);
}

void trace_skip(const char *fmt, ...)
{
	va_list ap;

	trace->skipped = true;
	va_start(ap, fmt);
	vsnprintf(trace->why, sizeof(trace->why), fmt, ap);
	va_end(ap);
	_exit(0);
}
