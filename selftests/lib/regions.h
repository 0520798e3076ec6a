/* SPDX-License-Identifier: GPL-2.0 */
/* SOL_SPEED by hand: options of an exact size, leases, and a role's regions mapped. */
#ifndef SPEED_SELFTESTS_REGIONS_H
#define SPEED_SELFTESTS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/speed.h>

#define PAGE	((size_t)sysconf(_SC_PAGESIZE))
#define RW	(PROT_READ | PROT_WRITE)

/* getsockopt() of exactly so many bytes; another length is written down. */
int get_exact(int fd, int name, void *value, socklen_t len);
int lease_role(int fd, int role, struct speed_lease *l);

struct regions {
	char *own, *peer, *data;
};

/* Maps the regions of a leased role as the ABI wants it; false: EPERM, the lease is gone. */
bool map_try(int fd, const struct speed_lease *l, struct regions *r);
/* The same where nobody can take the lease. */
void map_all(int fd, const struct speed_lease *l, struct regions *r);
void unmap_all(const struct speed_lease *l, const struct regions *r);

/* Reads or writes a byte there: the signal that it ends with, or 0. */
int touch(volatile char *at, bool write);

/* The flags that the kernel shows whoever has mapped a role, and the other role's index. */
static inline unsigned int regions_flags(const struct regions *r)
{
	return __atomic_load_n(&((struct speed_kern *)r->peer)->flags, __ATOMIC_ACQUIRE);
}

static inline uint64_t regions_other(const struct regions *r)
{
	return __atomic_load_n(&((struct speed_index *)(r->peer + PAGE))->index, __ATOMIC_ACQUIRE);
}

#endif
