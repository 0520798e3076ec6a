// SPDX-License-Identifier: GPL-2.0
/* Which transports an experiment measures: those named, or all that are able. */
#define _GNU_SOURCE
#include <string.h>

#include "bench.h"
#include "transport.h"

static const struct transport *transport_find(const char *name, size_t len)
{
	const struct transport *const *t;

	for (t = transports; *t; t++)
		if (strlen((*t)->name) == len && !memcmp((*t)->name, name, len))
			return *t;
	die("no transport is called '%.*s'", (int)len, name);
}

/* Why t is not measured with these options, or NULL. */
static const char *refused(const struct transport *t)
{
	if (opt.nonblocking && !(t->able & ABLE_NONBLOCKING))
		return "--nonblocking: its calls wait, or it waits in a way of its own";
	if ((opt.sendbuf || opt.recvbuf) && !t->family)
		return "--sendbufsz, --recvbufsz: it has no socket that they could be set for";
	if (t->most && opt.size > t->most)
		return t->why_most;
	return NULL;
}

static void series_add(struct series *all, unsigned int *count, const struct transport *t)
{
	const char *why = t->missing ? t->missing() : NULL;

	if (why) {
		emit_missing(t->name, why);
		return;
	}
	why = refused(t);
	if (why) {
		emit_impossible(t->name, why);
		return;
	}
	if (*count == SERIES_MAX)
		die("more than %d transports", SERIES_MAX);
	memset(&all[*count], 0, sizeof(all[*count]));
	all[*count].transport = t;
	all[*count].size = opt.size;
	all[*count].connections = opt.connections;
	++*count;
}

unsigned int series_make(struct series *all, unsigned int able)
{
	const struct transport *const *t;
	const char *name = opt.transports;
	unsigned int count = 0;

	for (t = transports; !name && *t; t++) {
		if ((*t)->able & ~able & ABLE_NATIVE)
			continue;
		if (((*t)->able & able) == able)
			series_add(all, &count, *t);
		else if ((*t)->why_unable)
			emit_impossible((*t)->name, (*t)->why_unable);
	}
	while (name) {
		const char *end = strchrnul(name, ',');
		const struct transport *one = transport_find(name, (size_t)(end - name));

		if ((one->able & able) != able)
			die("%s: not possible with %s", opt.experiment, one->name);
		series_add(all, &count, one);
		name = *end ? end + 1 : NULL;
	}
	return count;
}
