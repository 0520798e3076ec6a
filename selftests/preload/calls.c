// SPDX-License-Identifier: GPL-2.0
/* A call of each name: see calls.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"

static int beside[4], besides;	/* other numbers that a maker made */

static int and_beside(int fd)
{
	beside[besides++] = fd;
	return fd;
}

void call_made_end(void)
{
	while (besides)
		plain_close(beside[--besides]);
}

#define MOVE(name, type, ...)								\
	static ssize_t move_##name(void *f, int fd, char *buf, size_t len)		\
	{										\
		struct iovec iov[2] = { { buf, len / 2 }, { buf + len / 2, len - len / 2 } }; \
		struct mmsghdr msg = { .msg_hdr = { .msg_iov = iov, .msg_iovlen = 2 } };	\
		ssize_t ret = ((type)f)(fd, __VA_ARGS__);				\
											\
		trace_num(msg.msg_len, "msg_len");					\
		trace_num(msg.msg_hdr.msg_flags, "msg_flags");				\
		return ret;								\
	}

MOVE(plain, ssize_t (*)(int, void *, size_t), buf, len)
MOVE(vector, ssize_t (*)(int, const struct iovec *, int), iov, 2)
MOVE(flags, ssize_t (*)(int, void *, size_t, int), buf, len, MSG_NOSIGNAL)
MOVE(address, ssize_t (*)(int, void *, size_t, int, void *, void *), buf, len, MSG_NOSIGNAL,
     NULL, NULL)
MOVE(message, ssize_t (*)(int, struct msghdr *, int), &msg.msg_hdr, MSG_NOSIGNAL)
MOVE(messages, int (*)(int, struct mmsghdr *, unsigned int, int, void *), &msg, 1, MSG_NOSIGNAL,
     NULL)
MOVE(read_chk, ssize_t (*)(int, void *, size_t, size_t), buf, len, 32)
MOVE(recv_chk, ssize_t (*)(int, void *, size_t, size_t, int), buf, len, 32, 0)
MOVE(recvfrom_chk, ssize_t (*)(int, void *, size_t, size_t, int, void *, void *), buf, len, 32,
     0, NULL, NULL)

#define MAKE(name, type, ...)								\
	static int make_##name(void *f)							\
	{										\
		return ((type)f)(__VA_ARGS__);						\
	}

typedef int (*int_fn)(int);
typedef int (*path_fn)(const char *, int, ...);
typedef int (*at_fn)(int, const char *, int, ...);

MAKE(open, path_fn, "/dev/zero", O_RDWR)
MAKE(openat, at_fn, AT_FDCWD, "/dev/zero", O_RDWR)
MAKE(creat, path_fn, "/dev/null", 0600)
MAKE(epoll_create, int_fn, 1)
MAKE(flag, int_fn, 0)
MAKE(two, int (*)(int, int), 0, 0)
MAKE(timerfd, int (*)(int, int), CLOCK_MONOTONIC, 0)
MAKE(memfd, path_fn, "name", 0)
MAKE(nothing, int (*)(void))
MAKE(pidfd_open, int (*)(int, unsigned int), getpid(), 0)
MAKE(socket, int (*)(int, int, int), AF_UNIX, SOCK_DGRAM, 0)
MAKE(syscall, long (*)(long, ...), SYS_openat, AT_FDCWD, "/dev/zero", O_RDWR)

static int make_pipe(void *f)
{
	int fd[2];

	MUST(((int (*)(int *, int))f)(fd, 0) == 0);
	and_beside(fd[1]);
	return fd[0];
}

static int make_socketpair(void *f)
{
	int fd[2];

	MUST(((int (*)(int, int, int, int *))f)(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	and_beside(fd[1]);
	return fd[0];
}

static int make_signalfd(void *f)
{
	sigset_t none;

	sigemptyset(&none);
	return ((int (*)(int, const sigset_t *, int))f)(-1, &none, 0);
}

/* A number that the library does not hear of, and that lies higher. */
static int high_beside(int low)
{
	int (*duplicate)(int, int, ...) = under_plain("fcntl");
	int high = duplicate(low, F_DUPFD, 200);

	MUST(low >= 0 && high >= 0);
	plain_close(low);
	return and_beside(high);
}

/* Its own standard input. */
static int make_pidfd_getfd(void *f)
{
	long (*call)(long, ...) = under_plain("syscall");
	int high = high_beside(call(SYS_pidfd_open, getpid(), 0));

	return ((int (*)(int, int, unsigned int))f)(high, 0, 0);
}

static int make_accept(void *f)
{
	struct address a = { .sa.ss_family = AF_UNIX, .len = sizeof(sa_family_t) };
	int (*make)(int, int, int) = under_plain("socket");
	int on = high_beside(make(AF_UNIX, SOCK_STREAM, 0));
	int client = high_beside(make(AF_UNIX, SOCK_STREAM, 0));

	MUST(bind_to(on, &a) == 0 && listen(on, 1) == 0);
	MUST(get_sockname(on, &a) == 0);
	MUST(connect_to(client, &a) == 0);
	return ((int (*)(int, void *, void *, int))f)(on, NULL, NULL, 0);
}

static int make_dup(void *f)
{
	return ((int_fn)f)(0);
}

static int make_fcntl(void *f)
{
	return ((int (*)(int, int, ...))f)(0, F_DUPFD, 0);
}

#define SHUT(name, type, ...)								\
	static int shut_##name(void *f, int fd, int other)				\
	{										\
		return ((type)f)(__VA_ARGS__);						\
	}

SHUT(close, int_fn, fd)
SHUT(close_range, int (*)(unsigned int, unsigned int, int), fd, fd, 0)
SHUT(syscall, long (*)(long, ...), SYS_close, fd)

/* All that this test has lies lower than what closefrom() closes. */
static int shut_closefrom(void *f, int fd, int other)
{
	int (*duplicate)(int, int) = under_plain("dup2");
	int high = fcntl(fd, F_DUPFD, 500);

	MUST(high >= 500 && send(high, "hi", 2, 0) == 2 && send(high, "hi", 2, 0) == 2);
	((void (*)(int))f)(high);
	MUST(fcntl(high, F_GETFD) == -1 && duplicate(other, high) == high);
	trace_num(send(high, "H", 1, 0), "closefrom: by the number that it closed");
	return close(fd) + close(high);
}

static int shut_dup2(void *f, int fd, int other)
{
	return ((int (*)(int, int, int))f)(other, fd, 0) == fd ? 0 : -1;
}

static int shut_fclose(void *f, int fd, int other)
{
	FILE *file = fdopen(fd, "r+");

	MUST(file);
	return ((int (*)(FILE *))f)(file);
}

static int shut_freopen(void *f, int fd, int other)
{
	FILE *file = fdopen(fd, "r+");

	MUST(file);
	file = ((FILE *(*)(const char *, const char *, FILE *))f)("/dev/zero", "r+", file);
	MUST(file);
	MUST(fileno(file) == fd);
	trace_num(send(fd, "x", 1, 0), "freopen: not a socket");
	return ((int (*)(int, int))under_plain("dup2"))(other, fd) == fd ? 0 : -1;
}

/* It is not a close; but what it returns must be right, and the number still works. */
static int shut_unshare(void *f, int fd, int other)
{
	int ret = ((int (*)(int))f)(CLONE_FS);

	return close(fd) + ret;
}

static int watch_named(int ep, int n, const struct epoll_event *e, uint64_t name)
{
	return ep >= 0 && n == 1 && e->events == EPOLLIN && e->data.u64 == name;
}

static int watch_ctl(void *f, int ep, int fd)
{
	int (*fn)(int epfd, int op, int fd, struct epoll_event *e) = f;
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = 5 };

	MUST(fn(ep, EPOLL_CTL_MOD, fd, &e) == 0);
	return watch_named(ep, epoll_wait(ep, &e, 1, 0), &e, 5);
}

static int watch_wait(void *f, int ep, int fd)
{
	int (*fn)(int epfd, struct epoll_event *e, int max, int ms) = f;
	struct epoll_event e = { 0 };

	return watch_named(ep, fn(ep, &e, 1, 0), &e, fd);
}

static int watch_pwait(void *f, int ep, int fd)
{
	int (*fn)(int epfd, struct epoll_event *e, int max, int ms, const sigset_t *mask) = f;
	struct epoll_event e = { 0 };

	return watch_named(ep, fn(ep, &e, 1, 0, NULL), &e, fd);
}

static int watch_pwait2(void *f, int ep, int fd)
{
	int (*fn)(int epfd, struct epoll_event *e, int max, const struct timespec *ts,
		  const sigset_t *mask) = f;
	struct epoll_event e = { 0 };

	return watch_named(ep, fn(ep, &e, 1, NULL, NULL), &e, fd);
}

#define RECEIVES(name, how)	{ #name, true, move_##how }
#define SENDS(name, how)	{ #name, false, move_##how }
#define MAKES(name, how)	{ #name, .make = make_##how }
#define SHUTS(name, how)	{ #name, .shut = shut_##how }
#define JOINS(name, how)	{ #name, .join = call_join_##how }
#define WATCHES(name, how)	{ #name, .watch = watch_##how }

const struct call_name call_names[] = {
	RECEIVES(read, plain), RECEIVES(__read, plain), RECEIVES(__read_chk, read_chk),
	RECEIVES(readv, vector), RECEIVES(recv, flags), RECEIVES(__recv_chk, recv_chk),
	RECEIVES(recvfrom, address), RECEIVES(__recvfrom_chk, recvfrom_chk),
	RECEIVES(recvmsg, message), RECEIVES(recvmmsg, messages),
	SENDS(write, plain), SENDS(__write, plain), SENDS(writev, vector), SENDS(send, flags),
	SENDS(__send, flags), SENDS(sendto, address), SENDS(sendmsg, message),
	SENDS(sendmmsg, messages),
	MAKES(open, open), MAKES(open64, open), MAKES(__open, open), MAKES(__open64, open),
	MAKES(__open_2, open), MAKES(__open64_2, open), MAKES(openat, openat),
	MAKES(openat64, openat), MAKES(__openat_2, openat), MAKES(__openat64_2, openat),
	MAKES(creat, creat), MAKES(creat64, creat), MAKES(pipe, pipe), MAKES(__pipe, pipe),
	MAKES(pipe2, pipe), MAKES(socket, socket), MAKES(socketpair, socketpair),
	MAKES(accept, accept), MAKES(accept4, accept), MAKES(dup, dup), MAKES(fcntl, fcntl),
	MAKES(fcntl64, fcntl), MAKES(__fcntl, fcntl), MAKES(epoll_create, epoll_create),
	MAKES(epoll_create1, flag), MAKES(eventfd, two), MAKES(signalfd, signalfd),
	MAKES(timerfd_create, timerfd), MAKES(memfd_create, memfd),
	MAKES(inotify_init, nothing), MAKES(inotify_init1, flag),
	MAKES(pidfd_open, pidfd_open), MAKES(pidfd_getfd, pidfd_getfd),
	{ "syscall", .make = make_syscall, .shut = shut_syscall, .join = call_join_syscall },
	JOINS(connect, plain), JOINS(__connect, plain),
	SHUTS(close, close), SHUTS(__close, close), SHUTS(close_range, close_range),
	SHUTS(closefrom, closefrom), SHUTS(dup2, dup2), SHUTS(__dup2, dup2), SHUTS(dup3, dup2),
	SHUTS(fclose, fclose), SHUTS(freopen, freopen), SHUTS(freopen64, freopen),
	SHUTS(unshare, unshare),
	WATCHES(epoll_ctl, ctl), WATCHES(epoll_wait, wait), WATCHES(epoll_pwait, pwait),
	WATCHES(epoll_pwait2, pwait2),
};

const size_t call_names_count = sizeof(call_names) / sizeof(call_names[0]);

const struct call_name *call_find(const char *name)
{
	size_t i;

	for (i = 0; i < call_names_count; i++)
		if (!strcmp(call_names[i].name, name))
			return &call_names[i];
	return NULL;
}

void *call_function(const char *name)
{
	void *f = dlsym(RTLD_DEFAULT, name);

	MUST(f);
	return f;
}
