/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The transcript: what a test body saw, one labelled line a result.
 *
 * A body runs once for each transport and writes down every return value,
 * errno, byte and poll mask. Nothing is judged while it runs; the runner
 * compares the transcripts afterwards. A body must therefore follow one
 * straight path, whatever the results are, so that lines stand against lines.
 */
#ifndef SPEED_SELFTESTS_TRACE_H
#define SPEED_SELFTESTS_TRACE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define TRACE_TEXT_MAX	(1 << 20)
#define TRACE_WHY_MAX	512

/**
 * struct trace - a transcript in shared memory, so that it outlives the body
 * @used: bytes of @text
 * @failed: a result was wrong by itself, without any comparison
 * @skipped: the body cannot run here
 * @done: the body came to its end
 * @moved: calls through libspeed that moved bytes
 * @mapped: of all those, the ones that libspeed did in the ring
 * @why: the reason of @failed or @skipped
 * @text: lines of "label<TAB>value"
 */
struct trace {
	size_t used;
	bool failed;
	bool skipped;
	bool done;
	unsigned long moved;
	unsigned long mapped;
	char why[TRACE_WHY_MAX];
	char text[TRACE_TEXT_MAX];
};

extern struct trace *trace;

struct trace *trace_create(void);
void trace_clear(struct trace *t);

/*
 * SIGPIPE comes to the thread that sent. The next line of that thread shows it; a
 * task's are handed to the thread that joins it.
 */
void trace_sigpipe(int n);
int trace_take_sigpipes(void);

#define TRACE_PRINTF(f)	__attribute__((format(printf, f, f + 1)))

/* One line each. A negative result is written with its errno. */
void trace_ret(long ret, int err, const char *fmt, ...) TRACE_PRINTF(3);
void trace_num(long value, const char *fmt, ...) TRACE_PRINTF(2);
void trace_str(const char *value, const char *fmt, ...) TRACE_PRINTF(2);
void trace_bytes(const void *bytes, size_t len, const char *fmt, ...) TRACE_PRINTF(3);
void trace_mask(unsigned int mask, const char *fmt, ...) TRACE_PRINTF(2);

/* Evaluates a call and writes down what it returned. */
#define NOTE(call, ...)						\
	do {							\
		long note_ret_;					\
								\
		errno = 0;					\
		note_ret_ = (long)(call);			\
		trace_ret(note_ret_, errno, __VA_ARGS__);	\
	} while (0)

/* As NOTE, and the result must be this one on any transport. */
void trace_want(long ret, int err, long want, int want_err, const char *fmt, ...)
	TRACE_PRINTF(5);

#define WANT(call, want, want_err, ...)						\
	do {									\
		long note_ret_;							\
										\
		errno = 0;							\
		note_ret_ = (long)(call);					\
		trace_want(note_ret_, errno, want, want_err, __VA_ARGS__);	\
	} while (0)
#define WANT_OK(call, ...)	WANT(call, 0, 0, __VA_ARGS__)
#define WANT_ERR(call, err, ...)	WANT(call, -1, err, __VA_ARGS__)
#define WANT_TRUE(cond, ...)	WANT(!!(cond), 1, 0, __VA_ARGS__)

/* What a test needs before it can test: its failure ends the body. */
void trace_broken(const char *file, int line, const char *what)
	__attribute__((noreturn));

#define MUST(cond)						\
	do {							\
		if (!(cond))					\
			trace_broken(__FILE__, __LINE__, #cond);	\
	} while (0)

/* Ends the body: the machine lacks what it needs, and that is reported. */
void trace_skip(const char *fmt, ...) TRACE_PRINTF(1) __attribute__((noreturn));

#endif
