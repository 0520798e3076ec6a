/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs of socket operations for the two ends of one TCP connection, as the
 * differential tester makes, runs, prints and shrinks them.
 *
 * As text, a program is a list of steps between semicolons or newlines:
 *
 *	net v6; b listen; a socket; a set nodelay 1; a connect; b accept;
 *	a send 100 more; b recv 10 peek dontwait
 *
 * The first word of a step is its actor, the second the operation, then a number
 * (or an option and its value) and words. "a/1" works on the actor's second
 * descriptor, which dup made.
 */
#ifndef SPEED_SELFTESTS_DIFF_OP_H
#define SPEED_SELFTESTS_DIFF_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIFF_STEPS_MAX	64
#define DIFF_TEXT_MAX	4096

/*
 * Who does it. Each end has a process with two threads, a process that has the
 * descriptor only if it was passed, and a child that only a fork makes. X stands
 * for the machine: what it does happens in the fused run alone, and must not show.
 */
enum diff_actor {
	DA_A, DA_A2, DA_AQ, DA_AF,
	DA_B, DA_B2, DA_BQ, DA_BF,
	DIFF_ACTORS,
	DA_X = DIFF_ACTORS,
	DIFF_NAMES
};

#define DIFF_PROCS	6

static inline int diff_end(int actor)
{
	return actor / 4;
}

/* The processes: of end a 0 (both threads), 1 (passed to), 2 (forked), of b 3 to 5. */
static inline int diff_proc(int actor)
{
	static const int of[] = { 0, 0, 1, 2 };

	return diff_end(actor) * 3 + of[actor % 4];
}

enum diff_code {
	/* the connection */
	DO_LISTEN, DO_LSET, DO_SOCKET, DO_CONNECT, DO_ACCEPT, DO_LCLOSE,
	/* bytes out */
	DO_SEND, DO_WRITE, DO_WRITEV, DO_SENDMSG, DO_SENDTO, DO_SENDMMSG, DO_SENDFILE, DO_SPLICEIN,
	/* bytes in */
	DO_RECV, DO_READ, DO_READV, DO_RECVMSG, DO_RECVFROM, DO_RECVMMSG, DO_SPLICEOUT, DO_DRAIN,
	DO_ZCRECV,
	/* who holds it */
	DO_SHUTDOWN, DO_CLOSE, DO_DISCONNECT, DO_DUP, DO_FORK, DO_PASS, DO_KILL, DO_SIGNAL, DO_JOIN,
	/* readiness */
	DO_POLL, DO_SELECT, DO_EPADD, DO_EPMOD, DO_EPDEL, DO_EPWAIT,
	/* options and questions */
	DO_SET, DO_GET, DO_INQ, DO_OUTQ, DO_ATMARK, DO_NAMES, DO_INFO, DO_ERRQ, DO_ZCDONE,
	/* of the machine, and of an end: seen by no program */
	DO_OFF, DO_ON, DO_TAP, DO_UNTAP, DO_FUSE,
	/* of the tester: the second half of a pass, and the end of a program */
	DO_TAKE, DO_FINISH, DO_RESET,
	DIFF_CODES
};

/* What an operation is, for the model and for the settling before it. */
#define DC_SEND		(1u << 0)	/* offers bytes */
#define DC_READ		(1u << 1)	/* may take bytes */
#define DC_LOOK		(1u << 2)	/* its result depends on what has arrived */
#define DC_ABORT	(1u << 3)	/* may end the connection */
#define DC_LENGTH	(1u << 4)	/* has a number of bytes */
#define DC_OPTION	(1u << 5)	/* has an option */
#define DC_VALUE	(1u << 6)	/* and a value */
#define DC_HIDDEN	(1u << 7)	/* of the fused run alone */
#define DC_TESTER	(1u << 8)	/* not in programs */
#define DC_OUTWARD	(1u << 9)	/* its result depends on acknowledgments */
#define DC_ACCEPT	(1u << 10)	/* takes a connection */

struct diff_code_info {
	const char *name;
	unsigned int is;
};

extern const struct diff_code_info diff_codes[DIFF_CODES];
extern const char *const diff_actors[DIFF_NAMES];

/* Words: flags of all operations in one space. */
#define DW_PEEK		(1u << 0)
#define DW_WAITALL	(1u << 1)
#define DW_DONTWAIT	(1u << 2)
#define DW_TRUNC	(1u << 3)
#define DW_OOB		(1u << 4)
#define DW_MORE		(1u << 5)
#define DW_NOSIGNAL	(1u << 6)
#define DW_ZEROCOPY	(1u << 7)
#define DW_EOR		(1u << 8)
#define DW_FASTOPEN	(1u << 9)
#define DW_ERRQUEUE	(1u << 10)
#define DW_BAD		(1u << 11)	/* the buffer is not there */
#define DW_TAIL		(1u << 12)	/* the second half of it is not */
#define DW_NULL		(1u << 13)	/* its address is NULL */
#define DW_WAIT		(1u << 14)	/* poll and the like: without a time limit */
#define DW_IN		(1u << 15)
#define DW_OUT		(1u << 16)
#define DW_PRI		(1u << 17)
#define DW_RDHUP	(1u << 18)
#define DW_HUP		(1u << 19)
#define DW_ERR		(1u << 20)
#define DW_ET		(1u << 21)
#define DW_ONESHOT	(1u << 22)
#define DW_NONBLOCK	(1u << 23)
#define DW_REFUSED	(1u << 24)	/* connect to where nobody listens */
#define DW_DEFER	(1u << 25)	/* TCP_DEFER_ACCEPT */
#define DW_RD		(1u << 26)
#define DW_WR		(1u << 27)
#define DW_RESTART	(1u << 28)	/* a signal whose handler has SA_RESTART */
#define DIFF_WORDS	29

extern const char *const diff_words[DIFF_WORDS];
/* MSG_* of the words. */
int diff_msg_flags(uint32_t words);
/* POLL* and EPOLL* of the words, and back. */
uint32_t diff_poll_events(uint32_t words);
uint32_t diff_poll_words(uint32_t events);

enum diff_net { DN_V4, DN_V6, DN_MAPPED, DN_DUAL, DN_ALIAS, DIFF_NETS };

extern const char *const diff_nets[DIFF_NETS];

/* How an option is set: most by an int. */
enum diff_opt_kind {
	DK_INT, DK_TIME, DK_LINGER, DK_NONBLOCK, DK_ASYNC, DK_FILTER, DK_REPAIR, DK_ULP
};

/* What the model must know of an option. */
enum diff_opt_id {
	OI_OTHER, OI_SNDBUF, OI_RCVBUF, OI_LOWAT, OI_RCVTIMEO, OI_SNDTIMEO, OI_NONBLOCK, OI_LINGER,
	OI_URGINLINE, OI_PEEKOFF, OI_CORK, OI_MAXSEG, OI_FASTOPEN
};

#define DIFF_OPT_VALUES	5

/**
 * struct diff_opt - an option
 * @values: some that are worth trying
 * @n: how many of them
 * @get: its value is the program's own, so that it can be compared
 */
struct diff_opt {
	const char *name;
	int level;
	int optname;
	enum diff_opt_kind kind;
	enum diff_opt_id id;
	bool get;
	int n;
	int values[DIFF_OPT_VALUES];
};

extern const struct diff_opt diff_opts[];
extern const int diff_opts_n;

/**
 * struct diff_step - an operation
 * @fd: which of the actor's descriptors
 * @opt: index into diff_opts
 * @number: bytes, or the option's value
 */
struct diff_step {
	uint8_t actor;
	uint8_t code;
	uint8_t fd;
	uint8_t opt;
	uint32_t words;
	int32_t number;
};

struct diff_program {
	enum diff_net net;
	int n;
	struct diff_step step[DIFF_STEPS_MAX];
};

/* Text of a step, and of a program; both return the length. */
int diff_print_step(const struct diff_step *s, char *out, size_t size);
int diff_print(const struct diff_program *p, char *out, size_t size);
/* Returns NULL, or what is wrong. */
const char *diff_parse(struct diff_program *p, const char *text);

/* The program of a seed. */
void diff_generate(struct diff_program *p, uint64_t seed);

#endif
