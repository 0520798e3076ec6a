/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions behind the interposed ones: what the next library in the search
 * order, as a rule the C library, has by these names.
 */
#ifndef PRE_REAL_H
#define PRE_REAL_H

#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include "handle.h"

/* what it returns, its name, its arguments */
#define REAL_LIST(X)								\
	X(ssize_t, read, (int, void *, size_t))					\
	X(ssize_t, write, (int, const void *, size_t))				\
	X(ssize_t, readv, (int, const struct iovec *, int))			\
	X(ssize_t, writev, (int, const struct iovec *, int))			\
	X(ssize_t, recv, (int, void *, size_t, int))				\
	X(ssize_t, send, (int, const void *, size_t, int))			\
	X(ssize_t, recvfrom, (int, void *, size_t, int, void *, socklen_t *))	\
	X(ssize_t, sendto, (int, const void *, size_t, int, const void *, socklen_t)) \
	X(ssize_t, recvmsg, (int, struct msghdr *, int))			\
	X(ssize_t, sendmsg, (int, const struct msghdr *, int))			\
	X(int, recvmmsg, (int, struct mmsghdr *, unsigned int, int, struct timespec *)) \
	X(int, sendmmsg, (int, struct mmsghdr *, unsigned int, int))		\
	X(ssize_t, __read_chk, (int, void *, size_t, size_t))			\
	X(ssize_t, __recv_chk, (int, void *, size_t, size_t, int))		\
	X(ssize_t, __recvfrom_chk, (int, void *, size_t, size_t, int, void *, socklen_t *)) \
	X(int, close, (int))							\
	X(int, close_range, (unsigned int, unsigned int, int))			\
	X(void, closefrom, (int))						\
	X(int, dup, (int))							\
	X(int, dup2, (int, int))						\
	X(int, dup3, (int, int, int))						\
	X(int, fcntl, (int, int, ...))						\
	X(int, fcntl64, (int, int, ...))					\
	X(int, fclose, (FILE *))						\
	X(FILE *, freopen, (const char *, const char *, FILE *))		\
	X(FILE *, freopen64, (const char *, const char *, FILE *))		\
	X(int, unshare, (int))							\
	X(long, syscall, (long, ...))						\
	X(int, socket, (int, int, int))						\
	X(int, socketpair, (int, int, int, int *))				\
	X(int, accept, (int, void *, socklen_t *))				\
	X(int, accept4, (int, void *, socklen_t *, int))			\
	X(int, connect, (int, const void *, socklen_t))				\
	X(int, pipe, (int *))							\
	X(int, pipe2, (int *, int))						\
	X(int, open, (const char *, int, ...))					\
	X(int, open64, (const char *, int, ...))				\
	X(int, openat, (int, const char *, int, ...))				\
	X(int, openat64, (int, const char *, int, ...))				\
	X(int, __open_2, (const char *, int))					\
	X(int, __open64_2, (const char *, int))					\
	X(int, __openat_2, (int, const char *, int))				\
	X(int, __openat64_2, (int, const char *, int))				\
	X(int, creat, (const char *, mode_t))					\
	X(int, creat64, (const char *, mode_t))					\
	X(int, epoll_create, (int))						\
	X(int, epoll_create1, (int))						\
	X(int, epoll_ctl, (int, int, int, void *))				\
	X(int, epoll_wait, (int, void *, int, int))				\
	X(int, epoll_pwait, (int, void *, int, int, const void *))		\
	X(int, epoll_pwait2, (int, void *, int, const struct timespec *, const void *)) \
	X(int, eventfd, (unsigned int, int))					\
	X(int, signalfd, (int, const void *, int))				\
	X(int, timerfd_create, (int, int))					\
	X(int, memfd_create, (const char *, unsigned int))			\
	X(int, inotify_init, (void))						\
	X(int, inotify_init1, (int))						\
	X(int, pidfd_open, (int, unsigned int))					\
	X(int, pidfd_getfd, (int, int, unsigned int))

#define REAL_MEMBER(ret, name, args)	ret (*real_##name) args;
struct real {
	REAL_LIST(REAL_MEMBER)
};

#undef REAL_MEMBER

#define REAL_INDEX(ret, name, args)	REAL_##name,
enum {
	REAL_LIST(REAL_INDEX)
	REAL_COUNT
};

#undef REAL_INDEX

union real_table {
	struct real by_name;
	void (*by_index[REAL_COUNT])(void);
};

extern union real_table real __attribute__((visibility("hidden")));

void (*real_find(int index))(void);
void real_find_all(void);

/* The function, also before the constructor ran. */
#define REAL(name)								\
	(spd_likely(__atomic_load_n(&real.by_index[REAL_##name], __ATOMIC_RELAXED)) ?	\
	 real.by_name.real_##name :						\
	 (__typeof__(real.by_name.real_##name))real_find(REAL_##name))

#define PRE_EXPORT		__attribute__((visibility("default")))

#endif /* PRE_REAL_H */
