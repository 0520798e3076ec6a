// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A pair without the module: rings in a memfd, sleeping by futex. For tests and
 * benchmarks.
 *
 * Each ring is laid out as the module's regions are: the kernel page, the
 * producer's index, the consumer's index, the data. The kernel page has no kernel
 * to write it; both ends do. Its epochs never change, and its flags are the futex:
 *
 *	sleeper				publisher
 *
 *	set NEED in the flags		store own index
 *	full barrier	(F)		full barrier	(E)
 *	look at the other index		look at NEED
 *	futex wait for the flags	  set: clear it, futex wake
 *	  to change
 *
 * A publisher that clears NEED between the sleeper's look and its futex call
 * changes the word, so the call does not sleep.
 */
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include "iov.h"
#include "role.h"
#include "sys.h"

#define MEMFD_EPOCH	1
#define MEMFD_SPIN_US	50
#define MEMFD_FLAGS	(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE | MSG_EOR | MSG_WAITALL | \
			 MSG_TRUNC | MSG_CMSG_CLOEXEC)

static struct speed_kern *memfd_kern(struct speed *s, int role)
{
	return (struct speed_kern *)s->role[role].side.kern;
}

static long memfd_futex(__u32 *word, int op, __u32 val)
{
	return spd_syscall(SYS_futex, word, op, val, NULL, NULL, 0);
}

static void memfd_wake_flag(struct speed *s, int role, __u32 clear, __u32 set)
{
	struct speed_kern *kern = memfd_kern(s, role);

	__atomic_fetch_and(&kern->flags, ~clear, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&kern->flags, set, __ATOMIC_SEQ_CST);
	memfd_futex(&kern->flags, FUTEX_WAKE, INT_MAX);
}

static void memfd_wake(struct speed *s, unsigned int which)
{
	if (which & SPEED_WAKE_READER)
		memfd_wake_flag(s, SPEED_ROLE_TX, SPEED_NEED_DATA, 0);
	if (which & SPEED_WAKE_WRITER)
		memfd_wake_flag(s, SPEED_ROLE_RX, SPEED_NEED_SPACE, 0);
}

static int memfd_wait(struct speed *s, int role, unsigned int wake, __u64 want)
{
	__u32 need = role == SPEED_ROLE_TX ? SPEED_NEED_SPACE : SPEED_NEED_DATA;
	struct speed_kern *kern = memfd_kern(s, role);
	struct spd_role *r = &s->role[role];
	int ret = 0;
	__u32 flags;

	memfd_wake(s, wake);
	if (role == SPEED_ROLE_TX)
		__atomic_store_n(&kern->wake_free, want, __ATOMIC_RELAXED);
	for (;;) {
		flags = __atomic_or_fetch(&kern->flags, need, __ATOMIC_SEQ_CST);
		speed_full_barrier();	/* F */
		if ((flags & SPEED_CLOSED) || spd_role_came(r, role, want))
			break;
		if (memfd_futex(&kern->flags, FUTEX_WAIT, flags) && errno == EINTR) {
			ret = -1;
			break;
		}
	}
	__atomic_fetch_and(&kern->flags, ~need, __ATOMIC_RELAXED);
	return ret;
}

/* Two indices, looked at without the role's lock. */
static bool memfd_sane(const struct speed_side *side, int role, __u64 *live)
{
	__u64 mine = speed_load_acquire(&side->mine->index);
	__u64 theirs = speed_load_acquire(&side->theirs->index);

	*live = role == SPEED_ROLE_TX ? mine - theirs : theirs - mine;
	return *live <= side->size;
}

static ssize_t memfd_fail(int err)
{
	errno = err;
	return -1;
}

/* What a kernel would say where the ring's code had to give up. */
static ssize_t memfd_send(struct speed *s, const struct iovec *iov, int n, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_TX];
	ssize_t len = spd_iov_bytes(iov, n);
	__u64 live;

	if (len < 0)
		return -1;
	if (flags & ~MEMFD_FLAGS)
		return memfd_fail(EOPNOTSUPP);
	if (speed_load(&r->side.kern->flags) & SPEED_CLOSED) {
		if (!(flags & MSG_NOSIGNAL))
			raise(SIGPIPE);
		return memfd_fail(EPIPE);
	}
	if (!memfd_sane(&r->side, SPEED_ROLE_TX, &live))
		return memfd_fail(ECONNRESET);
	if (s->type == SOCK_SEQPACKET && (__u64)len > r->record_max)
		return memfd_fail(EMSGSIZE);
	if (!len && s->type != SOCK_SEQPACKET)
		return 0;
	return memfd_fail(spd_role_mine(r) ? EDEADLK : EAGAIN);
}

static ssize_t memfd_recv(struct speed *s, const struct iovec *iov, int n, int flags)
{
	struct spd_role *r = &s->role[SPEED_ROLE_RX];
	ssize_t len = spd_iov_bytes(iov, n);
	__u32 now = speed_load_acquire(&r->side.kern->flags);
	__u64 live;

	if (len < 0)
		return -1;
	if (!memfd_sane(&r->side, SPEED_ROLE_RX, &live))
		return memfd_fail(ECONNRESET);
	if ((!live && (now & SPEED_CLOSED)) || (!len && s->type != SOCK_SEQPACKET))
		return 0;
	if (spd_role_mine(r) && !(flags & MSG_PEEK))
		return memfd_fail(EDEADLK);
	if (flags & ~MEMFD_FLAGS)
		return memfd_fail(EOPNOTSUPP);
	return memfd_fail(live ? ECONNRESET : EAGAIN);	/* a record's header that lies */
}

static int memfd_lease(struct speed *s, int role)
{
	(void)s;
	(void)role;
	errno = EAGAIN;
	return -1;
}

static int memfd_settle(struct speed *s, int role, __u64 *index)
{
	(void)s;
	(void)role;
	(void)index;
	errno = ESTALE;
	return -1;
}

static void memfd_ask(struct speed *s)
{
	(void)s;	/* no one polls a memfd pair */
}

static bool memfd_nonblock(struct speed *s)
{
	(void)s;
	return false;
}

/* Close both rings; who reads the end of one is refused by the other already. */
static void memfd_detach(struct speed *s)
{
	for (int i = SPEED_ROLES - 1; i >= 0; i--)
		if (s->role[i].map.at[0])
			memfd_wake_flag(s, i, 0, SPEED_CLOSED);
	for (int i = 0; i < SPEED_ROLES; i++)
		spd_map_drop(s, i);
}

static const struct spd_ops memfd_ops = {
	.send = memfd_send,
	.recv = memfd_recv,
	.lease = memfd_lease,
	.settle = memfd_settle,
	.wake = memfd_wake,
	.wait = memfd_wait,
	.ask = memfd_ask,
	.nonblock = memfd_nonblock,
	.detach = memfd_detach,
};

/* Map one ring for a role: three control pages, the data twice. */
static int memfd_map(struct spd_role *r, int role, int fd, off_t at, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t ctl = 3 * page;
	int prot = role == SPEED_ROLE_TX ? PROT_READ | PROT_WRITE : PROT_READ;
	unsigned char *base = mmap(NULL, ctl + 2 * size, PROT_NONE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return -1;
	if (mmap(base, ctl, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 at) == MAP_FAILED ||
	    mmap(base + ctl, size, prot, MAP_SHARED | MAP_FIXED, fd,
		 at + (off_t)ctl) == MAP_FAILED ||
	    mmap(base + ctl + size, size, prot, MAP_SHARED | MAP_FIXED, fd,
		 at + (off_t)ctl) == MAP_FAILED) {
		munmap(base, ctl + 2 * size);
		return -1;
	}
	r->map = (struct spd_map){ .at = { base }, .bytes = { ctl + 2 * size }, .size = size };
	r->side = (struct speed_side){
		.kern = (void *)base,
		.mine = (void *)(base + (role == SPEED_ROLE_TX ? page : 2 * page)),
		.theirs = (void *)(base + (role == SPEED_ROLE_TX ? 2 * page : page)),
		.data = base + ctl,
		.size = size,
	};
	spd_side_start(r, 0, role);
	r->record_max = size - sizeof(struct speed_record);
	spd_spin_setup(r, MEMFD_SPIN_US);
	((struct speed_kern *)base)->epoch[role] = MEMFD_EPOCH;
	r->epoch = MEMFD_EPOCH;
	return 0;
}

/* One end: it produces into ring @end and consumes from the other. */
static struct speed *memfd_end(int type, int fd, int end, size_t size)
{
	size_t ring = 3 * (size_t)sysconf(_SC_PAGESIZE) + size;
	struct speed *s = spd_handle_new(-1, type & ~SPEED_PAIR_SINGLE,
					 type & SPEED_PAIR_SINGLE ? SPEED_ATTACH_SINGLE : 0,
					 &memfd_ops);

	if (!s)
		return NULL;
	s->alive = &s->generation;	/* shared memory is a child's too */
	if (!memfd_map(&s->role[SPEED_ROLE_TX], SPEED_ROLE_TX, fd, end ? (off_t)ring : 0, size) &&
	    !memfd_map(&s->role[SPEED_ROLE_RX], SPEED_ROLE_RX, fd, end ? 0 : (off_t)ring, size))
		return s;
	speed_detach(s);
	return NULL;
}

static size_t memfd_size(size_t bytes)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	while (size < bytes)
		size *= 2;
	return size;
}

SPD_PUBLIC int speed_pair(int type, size_t ring_bytes, struct speed *out[2])
{
	int kind = type & ~SPEED_PAIR_SINGLE;
	size_t size;
	int fd;

	if ((kind != SOCK_STREAM && kind != SOCK_SEQPACKET) || ring_bytes > SPEED_RING_MAX) {
		errno = EINVAL;
		return -1;
	}
	size = memfd_size(ring_bytes);
	fd = (int)spd_syscall(SYS_memfd_create, "speed", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	out[0] = NULL;
	out[1] = NULL;
	if (!ftruncate(fd, (off_t)(2 * (3 * (size_t)sysconf(_SC_PAGESIZE) + size)))) {
		out[0] = memfd_end(type, fd, 0, size);
		out[1] = out[0] ? memfd_end(type, fd, 1, size) : NULL;
	}
	if (!out[1])
		speed_detach(out[0]);
	spd_sys_close(fd);
	return out[1] ? 0 : -1;
}
