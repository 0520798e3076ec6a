// SPDX-License-Identifier: GPL-2.0
/* Deliberate mistakes: see diff_break.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "diff_break.h"

const char *const diff_break_names[DIFF_BREAKS] = {
	[DB_BYTE] = "wrong byte",
	[DB_LOST] = "lost byte",
	[DB_ERRNO] = "wrong errno",
	[DB_MASK] = "wrong mask",
	[DB_SIGNAL] = "missing signal",
};

static bool is_read(const struct diff_call *c)
{
	return (diff_codes[c->s->code].is & DC_READ) && c->r->moved;
}

/* The first byte is another: in the memory, and so in its hash. */
static void spoil_byte(struct diff_call *c)
{
	unsigned char *at = diff_capture[c->end] + c->o->dst;

	if (!is_read(c))
		return;
	*at ^= 1;
	diff_hash_bytes(c->r, at, c->r->moved);
}

static void spoil_length(struct diff_call *c)
{
	unsigned char *at = diff_capture[c->end] + c->o->dst;

	if (!is_read(c) || c->r->moved < 2)
		return;
	c->r->moved--;
	c->r->ret--;
	memmove(at, at + 1, c->r->moved);
	diff_hash_bytes(c->r, at, c->r->moved);
}

static void spoil_errno(struct diff_call *c)
{
	if (c->r->err == EPIPE)
		c->r->err = ECONNRESET;
	else if (c->r->err == ECONNRESET)
		c->r->err = EPIPE;
}

void diff_spoil(struct diff_call *c)
{
	if (c->o->wrong == DB_BYTE)
		spoil_byte(c);
	else if (c->o->wrong == DB_LOST)
		spoil_length(c);
	else if (c->o->wrong == DB_ERRNO)
		spoil_errno(c);
	else if (c->o->wrong == DB_MASK)
		c->r->mask &= ~DW_OUT;
	else if (c->o->wrong == DB_SIGNAL)
		c->r->signals = 0;
}
