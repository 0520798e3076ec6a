/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generator's own idea of a program's state. It is only good enough to make programs
 * that do something: whatever it gets wrong, the run copes with.
 */
#ifndef SPEED_SELFTESTS_DIFF_GEN_H
#define SPEED_SELFTESTS_DIFF_GEN_H

#include "diff_op.h"

/* What a program is about; each has a few. */
#define GF_WAITS	(1u << 0)
#define GF_READY	(1u << 1)
#define GF_OPTIONS	(1u << 2)
#define GF_URGENT	(1u << 3)
#define GF_ZEROCOPY	(1u << 4)
#define GF_BIG		(1u << 5)
#define GF_HOLDERS	(1u << 6)
#define GF_ENDS		(1u << 7)
#define GF_FAULTS	(1u << 8)
#define GF_SMALL	(1u << 9)	/* small buffers */
#define GF_CORK		(1u << 10)
#define GF_TIME		(1u << 11)	/* time limits */
#define GF_NONBLOCK	(1u << 12)
#define GF_QUESTIONS	(1u << 13)
#define GF_HIDDEN	(1u << 14)
#define GF_SETUP	(1u << 15)	/* an unusual beginning */
#define GF_N		16

/**
 * struct diff_gen - a program being made
 * @features: GF_*
 * @unread: by each end
 * @has: the actor has a descriptor; @has1 a second one
 * @waits: the actor of each end that waits, or -1, for so many bytes
 * @shut: the end has shut its writing side
 * @gone: the end is closed
 */
struct diff_gen {
	struct diff_program *p;
	uint64_t chance;
	uint32_t features;
	long unread[2];
	bool has[DIFF_ACTORS];
	bool has1[DIFF_ACTORS];
	int waits[2];
	long needs[2];
	bool shut[2];
	bool gone[2];
	bool nonblock[2];
	bool zerocopy[2];
	bool epoll[2];
};

uint32_t diff_below(struct diff_gen *g, uint32_t n);
bool diff_percent(struct diff_gen *g, uint32_t percent);
/* Adds a step; what has no room is left out. */
struct diff_step *diff_emit(struct diff_gen *g, int actor, int code, int number, uint32_t words);
void diff_emit_option(struct diff_gen *g, int actor, int code, const char *name, int value);
void diff_emit_any_option(struct diff_gen *g, int actor, int code);
/* An actor of the end that has a descriptor and does not wait, or -1. */
int diff_pick_actor(struct diff_gen *g, int end);
int diff_pick_length(struct diff_gen *g);

void diff_gen_setup(struct diff_gen *g);
void diff_gen_send(struct diff_gen *g, int end);
void diff_gen_recv(struct diff_gen *g, int end);
void diff_gen_big(struct diff_gen *g, int end);
void diff_gen_ready(struct diff_gen *g, int end);
void diff_gen_holder(struct diff_gen *g, int end);
void diff_gen_end(struct diff_gen *g, int end);
void diff_gen_hidden(struct diff_gen *g);
/* For one that waits: something that ends it. */
void diff_gen_relief(struct diff_gen *g, int end);

#endif
