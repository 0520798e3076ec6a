/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of libspeed-preload: each body runs in a process of its own, without the library
 * and then under it, and must see the same. The library must say that it took part.
 */
#ifndef SPEED_SELFTESTS_UNDER_H
#define SPEED_SELFTESTS_UNDER_H

#include "harness.h"

#define UNDER_FUSED	(1u << 0)	/* on a fused TCP connection */
#define UNDER_SPEED	(1u << 1)	/* on an AF_SPEED one */
#define UNDER_BOTH	(UNDER_FUSED | UNDER_SPEED)
#define UNDER_LONG	(1u << 2)	/* ten times the time; its transcript tells no number of rounds */
#define UNDER_IDLE	-1		/* for @sent and @received: it may have nothing to tell */

struct under_case;
typedef void (*under_body)(const struct transport *t, const struct under_case *c);

/**
 * struct under_case - a body
 * @name: of the case
 * @body: the body
 * @flags: UNDER_*
 * @sent: at least so many sends must have been mapped in the body's process
 * @received: and so many receives
 * @env: another variable for the library, or NULL
 * @counter: another number of that process's line, or NULL: "epoll events", "evicted"
 * @least: what that must be
 */
struct under_case {
	const char *name;
	under_body body;
	unsigned int flags;
	long sent;
	long received;
	const char *env;
	const char *counter;
	long least;
};

int under_main(int argc, char **argv, const struct under_case *cases, size_t n);

#define UNDER_CASES(cases)							\
	int main(int argc, char **argv)						\
	{									\
		return under_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));	\
	}

/* A connection of the kind; over TCP it is fused. */
void under_pair(const struct transport *t, int fd[2]);
/* The same with all four roles mapped, where the library is: so many transfers each way. */
#define UNDER_WARM	4
void under_mapped_pair(const struct transport *t, int fd[2]);
/* Sends until it would block, and once more, by the mode of the socket. Return: the last send(). */
ssize_t under_fill(int fd);
/* Regions of sockets that this process maps. */
int under_regions(void);
/* Is this process under the library? */
bool under_library(void);
/* Where the library is: what LD_PRELOAD will be. */
const char *under_path(void);
/* The C library's own function, which the preloaded one does not stand before. */
void *under_plain(const char *name);
ssize_t plain_send(int fd, const void *buf, size_t len, int flags);
ssize_t plain_recv(int fd, void *buf, size_t len, int flags);
int plain_close(int fd);

/* A number of the line that the library wrote at its end; -1: it wrote none. */
long under_number(const char *text, const char *before, const char *after);

#endif
