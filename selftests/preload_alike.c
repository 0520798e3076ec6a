// SPDX-License-Identifier: GPL-2.0
/* What programs do with sockets besides: under the library it is as it is without. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/under.h"
#include "tcp_pair.h"

static char buf[65536];

static void note_got(int fd, size_t len, int flags, const char *what)
{
	ssize_t n;

	memset(buf, '.', 64);
	n = recv(fd, buf, len, flags);
	trace_ret(n, errno, "%s", what);
	trace_bytes(buf, 64, "%s: bytes", what);
}

/* O_NONBLOCK by any number of the socket, and by either call, is seen by the next transfer. */
static void nonblocking(const struct transport *t, const struct under_case *c)
{
	int fd[2], copy, on = 1, off = 0;

	under_mapped_pair(t, fd);
	copy = dup(fd[0]);
	MUST(set_nonblock(copy, true) == 0);
	note_got(fd[0], 8, 0, "late");
	MUST(set_nonblock(fd[0], false) == 0);
	NOTE(send(fd[1], "four", 4, 0), "sent");
	note_got(fd[0], 8, 0, "blocking again");
	MUST(ioctl(fd[0], FIONBIO, &on) == 0);
	note_got(fd[0], 8, 0, "by ioctl");
	NOTE(under_fill(fd[0]), "full");
	NOTE(poll_now(fd[0], POLLOUT), "poll");
	MUST(ioctl(fd[0], FIONBIO, &off) == 0);
	NOTE(send(fd[0], "x", 1, MSG_DONTWAIT), "with a flag");
	close(copy);
	tcp_close(fd);
}

static void stdio(const struct transport *t, const struct under_case *c)
{
	char line[64];
	FILE *in, *out;
	int fd[2], i;

	under_mapped_pair(t, fd);
	in = fdopen(fd[0], "r+");
	out = fdopen(dup(fd[1]), "r+");
	MUST(in && out);
	setvbuf(out, NULL, _IOLBF, 128);
	for (i = 0; i < 20; i++) {
		NOTE(fprintf(out, "line %d of many\n", i), "printed");
		MUST(fgets(line, sizeof(line), in));
		trace_str(strtok(line, "\n"), "read");
		NOTE(send(fd[1], "by send\n", 8, 0), "between");
		MUST(fgets(line, sizeof(line), in));
		trace_str(strtok(line, "\n"), "read");
		NOTE(fputs("back\n", in) >= 0 && fflush(in) == 0, "back");
		note_got(fd[1], 5, MSG_WAITALL, "come back");
	}
	fclose(out);
	close(fd[1]);
	NOTE(fgetc(in), "the end");
	NOTE(feof(in) != 0, "feof");
	fclose(in);
}

static void timeouts(const struct transport *t, const struct under_case *c)
{
	long begin;
	ssize_t n;
	int fd[2];

	under_mapped_pair(t, fd);
	MUST(set_timeout(fd[0], SO_RCVTIMEO, 60) == 0);
	begin = ticked_ms();
	note_got(fd[0], 8, 0, "nothing in time");
	WANT_TRUE(ticked_ms() - begin >= 50, "it waited");
	NOTE(send(fd[1], "abc", 3, 0), "sent");
	note_got(fd[0], 8, MSG_WAITALL, "a part in time");
	MUST(set_timeout(fd[0], SO_SNDTIMEO, 60) == 0);
	begin = ticked_ms();
	while ((n = send(fd[0], buf, sizeof(buf), 0)) > 0)
		;
	trace_ret(n, errno, "no room in time");
	WANT_TRUE(ticked_ms() - begin >= 50, "it waited");
	tcp_close(fd);
}

static void peeking(const struct transport *t, const struct under_case *c)
{
	int fd[2], i;

	under_mapped_pair(t, fd);
	for (i = 0; i < 4; i++) {
		NOTE(send(fd[1], "abcdef", 6, 0), "sent");
		note_got(fd[0], 3, MSG_PEEK, "peek");
		note_got(fd[0], 16, MSG_PEEK, "peek all");
		NOTE(read(fd[0], buf, 2), "read");
		trace_bytes(buf, 2, "read");
		note_got(fd[0], 16, MSG_PEEK | MSG_DONTWAIT, "peek the rest");
		note_got(fd[0], 16, 0, "the rest");
		note_got(fd[0], 16, MSG_PEEK | MSG_DONTWAIT, "peek at nothing");
	}
	tcp_close(fd);
}

static unsigned int ask_select(int fd)
{
	struct timeval none = { 0 };
	fd_set in, out;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(fd, &in);
	FD_SET(fd, &out);
	MUST(select(fd + 1, &in, &out, NULL, &none) >= 0);
	return FD_ISSET(fd, &in) | FD_ISSET(fd, &out) << 1;
}

static void note_ready(const int fd[2], const int ep[3], const char *when)
{
	struct epoll_event e;
	int i, n;

	trace_num(ask_select(fd[0]), "%s: select", when);
	trace_mask(poll_now(fd[0], POLL_ALL), "%s: poll", when);
	for (i = 0; i < 3; i++) {
		n = epoll_wait(ep[i], &e, 1, 0);
		trace_mask(n > 0 ? e.events : 0, "%s: epoll %d", when, i);
	}
}

/* Level, edge, one shot: each asked after every step. */
static void readiness(const struct transport *t, const struct under_case *c)
{
	static const uint32_t modes[] = { 0, EPOLLET, EPOLLONESHOT };
	int fd[2], ep[3], i;

	under_mapped_pair(t, fd);
	for (i = 0; i < 3; i++) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP | modes[i] };

		ep[i] = epoll_create1(0);
		MUST(ep[i] >= 0 && epoll_ctl(ep[i], EPOLL_CTL_ADD, fd[0], &e) == 0);
	}
	note_ready(fd, ep, "idle");
	for (i = 0; i < 3; i++) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };

		NOTE(send(fd[1], "abcd", 4, 0), "sent");
		MUST(poll_wait(fd[0], POLLIN, 20000));
		note_ready(fd, ep, "four there");
		note_got(fd[0], 2, 0, "two");
		note_ready(fd, ep, "two there");
		note_got(fd[0], 8, 0, "the rest");
		note_got(fd[0], 8, MSG_DONTWAIT, "none");
		note_ready(fd, ep, "empty");
		MUST(epoll_ctl(ep[2], EPOLL_CTL_MOD, fd[0], &e) == 0);
	}
	MUST(shutdown(fd[1], SHUT_WR) == 0);
	MUST(poll_wait(fd[0], POLLIN, 20000));
	note_ready(fd, ep, "the end");
	for (i = 0; i < 3; i++)
		close(ep[i]);
	tcp_close(fd);
}

static void questions(const struct transport *t, const struct under_case *c)
{
	struct stat st;
	int fd[2], n;

	under_mapped_pair(t, fd);
	NOTE(fstat(fd[0], &st), "fstat");
	trace_num(S_ISSOCK(st.st_mode), "a socket");
	trace_num(st.st_size, "size");
	NOTE(lseek(fd[0], 0, SEEK_CUR), "lseek");
	NOTE(send(fd[1], "abcdefg", 7, 0), "sent");
	NOTE(ioctl(fd[0], FIONREAD, &n), "FIONREAD");
	trace_num(n, "bytes to read");
	note_got(fd[0], 3, 0, "three");
	NOTE(ioctl(fd[0], FIONREAD, &n), "FIONREAD");
	trace_num(n, "bytes left");
	trace_num(get_int(fd[0], SOL_SOCKET, SO_ERROR), "SO_ERROR");
	trace_num(get_int(fd[0], SOL_SOCKET, SO_TYPE), "SO_TYPE");
	NOTE(fcntl(fd[0], F_GETFL), "flags");
	NOTE(pread(fd[0], buf, 1, 0), "pread");
	tcp_close(fd);
}

static void vectors(const struct transport *t, const struct under_case *c)
{
	char a[3], b[5], d[64];
	struct iovec in[] = { { a, 3 }, { NULL, 0 }, { b, 5 }, { d, 64 } };
	struct iovec out[] = { { "ab", 2 }, { "", 0 }, { "cdefghij", 8 }, { "klm", 3 } };
	volatile int wrong[] = { -1, 5000 };
	int fd[2], i;

	under_mapped_pair(t, fd);
	for (i = 0; i < 4; i++) {
		memset(d, '.', sizeof(d));
		NOTE(writev(fd[1], out, 4), "writev");
		NOTE(readv(fd[0], in, i + 1), "readv of %d", i + 1);
		trace_bytes(a, 3, "first");
		note_got(fd[0], 64, MSG_DONTWAIT, "what is left");
		trace_bytes(d, 64, "last");
	}
	NOTE(writev(fd[1], out, 0), "none");
	for (i = 0; i < 2; i++)
		NOTE(writev(fd[1], out, wrong[i]), "%d of them", wrong[i]);
	tcp_close(fd);
}

static void ends(const struct transport *t, const struct under_case *c)
{
	int fd[2];

	under_mapped_pair(t, fd);
	NOTE(send(fd[1], "last", 4, 0), "sent");
	NOTE(shutdown(fd[1], SHUT_WR), "shutdown");
	NOTE(send(fd[1], "x", 1, 0), "after it");
	note_got(fd[0], 2, 0, "two");
	note_got(fd[0], 8, 0, "two more");
	note_got(fd[0], 8, 0, "the end");
	note_got(fd[0], 8, MSG_DONTWAIT, "and again");
	NOTE(send(fd[0], "still", 5, 0), "the other way");
	note_got(fd[1], 8, 0, "goes on");
	NOTE(shutdown(fd[0], SHUT_RD), "nothing to read any more");
	note_got(fd[0], 8, 0, "nothing");
	NOTE(shutdown(fd[0], SHUT_RDWR), "all");
	note_got(fd[1], 8, 0, "the end there");
	tcp_close(fd);
}

static const struct under_case cases[] = {
	{ "nonblocking", nonblocking, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
	{ "stdio", stdio, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
	{ "timeouts", timeouts, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
	{ "peeking", peeking, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
	{ "readiness", readiness, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
	{ "questions", questions, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
	{ "vectors", vectors, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
	{ "ends", ends, UNDER_BOTH, UNDER_WARM, UNDER_WARM },
};

UNDER_CASES(cases)
