// SPDX-License-Identifier: GPL-2.0
/*
 * Comparing a transcript with the reference's, and the exceptions to it.
 *
 * An exception that no line of its run matches is out of date, which is a
 * failure too: the list must not grow into a place where differences hide.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "../exceptions.h"

#define EXCEPTIONS	(sizeof(exceptions) / sizeof(exceptions[0]))

struct line {
	char label[256];
	char value[192];
};

/* Takes a line off *text; false at its end. */
static bool next_line(const char **text, struct line *l)
{
	const char *tab = strchr(*text, '\t');
	const char *end = strchr(*text, '\n');

	if (!tab || !end)
		return false;
	snprintf(l->label, sizeof(l->label), "%.*s", (int)(tab - *text), *text);
	snprintf(l->value, sizeof(l->value), "%.*s", (int)(end - tab - 1), tab + 1);
	*text = end + 1;
	return true;
}

static bool concerns(const struct exception *x, const char *test, const char *transport)
{
	return x->test && !fnmatch(x->test, test, 0) && !fnmatch(x->transport, transport, 0);
}

static bool excepted(const char *test, const char *transport, const struct line *got,
		     bool *used)
{
	size_t i;

	for (i = 0; i < EXCEPTIONS; i++) {
		const struct exception *x = &exceptions[i];

		if (!concerns(x, test, transport) || fnmatch(x->label, got->label, 0))
			continue;
		used[i] = true;
		if (!fnmatch(x->value, got->value, 0))
			return true;
	}
	return false;
}

static bool all_used(const char *test, const char *transport, const bool *used,
		     char *why, size_t size)
{
	size_t i;

	for (i = 0; i < EXCEPTIONS; i++) {
		if (used[i] || !concerns(&exceptions[i], test, transport))
			continue;
		snprintf(why, size, "the exception for \"%s\" matches no line: remove it",
			 exceptions[i].label);
		return false;
	}
	return true;
}

bool transcripts_agree(const char *test, const char *transport, const char *reference,
		       const char *got, char *why, size_t size)
{
	bool used[EXCEPTIONS] = { false };
	struct line a, b;

	for (;;) {
		bool more = next_line(&reference, &a);

		if (more != next_line(&got, &b)) {
			snprintf(why, size, "one transcript is longer, at \"%s\"",
				 more ? a.label : b.label);
			return false;
		}
		if (!more)
			return all_used(test, transport, used, why, size);
		if (strcmp(a.label, b.label)) {
			snprintf(why, size, "the paths part: \"%s\", the reference \"%s\"",
				 b.label, a.label);
			return false;
		}
		if (excepted(test, transport, &b, used) || !strcmp(a.value, b.value))
			continue;
		snprintf(why, size, "%s: got %s, the reference %s", b.label, b.value, a.value);
		return false;
	}
}
