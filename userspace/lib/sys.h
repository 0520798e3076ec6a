/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls, past the C library's functions: those may be interposed, and an
 * interposer that is built on this library must not meet itself.
 */
#ifndef SPD_SYS_H
#define SPD_SYS_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "host.h"

static inline ssize_t spd_sys_sendto(int fd, const void *buf, size_t len, int flags)
{
	return spd_syscall(SYS_sendto, fd, buf, len, flags, NULL, 0);
}

static inline ssize_t spd_sys_recvfrom(int fd, void *buf, size_t len, int flags)
{
	return spd_syscall(SYS_recvfrom, fd, buf, len, flags, NULL, NULL);
}

static inline ssize_t spd_sys_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	return spd_syscall(SYS_sendmsg, fd, msg, flags);
}

static inline ssize_t spd_sys_recvmsg(int fd, struct msghdr *msg, int flags)
{
	return spd_syscall(SYS_recvmsg, fd, msg, flags);
}

static inline int spd_sys_getsockopt(int fd, int level, int name, void *val, socklen_t *len)
{
	return (int)spd_syscall(SYS_getsockopt, fd, level, name, val, len);
}

static inline int spd_sys_setsockopt(int fd, int level, int name, const void *val, socklen_t len)
{
	return (int)spd_syscall(SYS_setsockopt, fd, level, name, val, len);
}

static inline int spd_sys_ioctl(int fd, unsigned long cmd, uintptr_t arg)
{
	return (int)spd_syscall(SYS_ioctl, fd, cmd, arg);
}

static inline int spd_sys_close(int fd)
{
	return (int)spd_syscall(SYS_close, fd);
}

#endif /* SPD_SYS_H */
