/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A handle and its two roles; private to the library.
 *
 * Who may touch what. A role belongs to whoever holds its lock (role.h): ring
 * side, lease, spin estimate and reservation are that thread's alone. Outside
 * the lock only atomics are touched: owner, the counters of transfers and of plain
 * calls, and what is constant from attach on (ops, fd, type, flags).
 *
 * Who does what. The ring's code (send.c, recv.c, record.c, reserve.c, peek.c,
 * call.c) knows nothing of sockets: whatever leaves the ring goes through struct
 * spd_ops, which a socket (socket.c) and a memfd pair (memfd.c) implement.
 */
#ifndef SPD_HANDLE_H
#define SPD_HANDLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/speed_ring.h>
#include <speed.h>
#include "host.h"

#define SPD_PUBLIC		__attribute__((visibility("default")))
#define SPD_COLD		__attribute__((noinline, cold))
#define spd_likely(x)		__builtin_expect(!!(x), 1)
#define spd_unlikely(x)		__builtin_expect(!!(x), 0)

/* role.epoch without a lease: a kernel page never shows it */
#define SPD_NO_LEASE		(~(__u64)0)

/* A copy larger than this is published piece by piece, so both sides work. */
#define SPD_CHUNK		(32u * 1024)

struct speed;

/**
 * struct spd_ops - what lies outside the ring
 * @send: the plain call for all of @iov; as sendmsg()
 * @recv: the plain call for all of @iov; as recvmsg()
 * @lease: try to get a role, whose lock is held; 0, or -1, errno and
 *	role.countdown
 * @settle: the final index of the lease that a role lost; 0, or -1 and errno
 * @wake: wake the peer, SPEED_WAKE_*
 * @wait: wake the peer (@wake, may be 0, or SPEED_WAIT_MOVED and _AGAIN beside it), then
 *	sleep until a role has @want bytes; 0, or -1 and errno as SPEED_IOC_WAIT; EAGAIN
 *	with O_NONBLOCK
 * @ask: have NEED_DATA set, so that pollers hear of the next byte
 * @nonblock: has the descriptor O_NONBLOCK?
 * @error: the connection's pending error, which is taken, or 0; may be missing
 * @gone: has what the transfer began with gone, so that its rest is for nobody? May be missing
 * @unseen: is it certain that nobody looks at the peer's index of a receiving role that
 *	is entered? Where it is missing nobody does who has not entered it
 * @detach: give back what lease and attach took
 */
struct spd_ops {
	ssize_t (*send)(struct speed *s, const struct iovec *iov, int n, int flags);
	ssize_t (*recv)(struct speed *s, const struct iovec *iov, int n, int flags);
	int (*lease)(struct speed *s, int role);
	int (*settle)(struct speed *s, int role, __u64 *index);
	void (*wake)(struct speed *s, unsigned int which);
	int (*wait)(struct speed *s, int role, unsigned int wake, __u64 want);
	void (*ask)(struct speed *s);
	bool (*nonblock)(struct speed *s);
	int (*error)(struct speed *s);
	bool (*gone)(void);
	bool (*unseen)(void);
	void (*detach)(struct speed *s);
};

/**
 * struct spd_map - a role's regions in this address space
 * @at: OWN, PEER, DATA; NULL where there is none
 * @bytes: their lengths
 * @pair: the pair to which they belong
 * @size: the ring's
 * @off: the three offsets
 * @kept: zeros where PEER was once, for somebody who may yet look there, or NULL
 */
struct spd_map {
	unsigned char	*at[3];
	size_t		bytes[3];
	__u64		pair;
	__u64		size;
	__u64		off[3];
	unsigned char	*kept;
};

/**
 * struct spd_spin - does looking before sleeping pay? See spin.c.
 * @lease_us: the limit that came with the lease
 * @cpus: is there a second processor to run the peer?
 * @now_ns: the estimate, from 0 up
 * @slept: waits since looking was last tried, while it is not worth it
 * @again: waits until the next try
 * @whole: the look that just failed was as long as any
 * @alone: the peer seems to run only when this side sleeps
 * @soon: what was waited for last came within a few pauses
 * @flow: what the reader waits for comes in a row, without an answer
 * @shun: waits for which that is not believed, after it proved wrong once more
 * @shunned: how many of them are left
 * @sent: what had been sent, when it last waited
 * @came: bytes that were there when the last look ended
 * @one: as many, when it was no flow
 */
struct spd_spin {
	__u32	lease_us;
	bool	cpus;
	__u32	now_ns;
	__u32	slept;
	__u32	again;
	bool	whole;
	bool	alone;
	bool	soon;
	bool	flow;
	__u32	shun;
	__u32	shunned;
	__u64	sent;
	__u64	came;
	__u64	one;
};

/* role.resv: between reserve and commit, peek and release */
enum {
	SPD_RESV_NONE,
	SPD_RESV_RING,
	SPD_RESV_BOUNCE,
};

/**
 * struct spd_role - one direction of a handle
 * @owner: who exercises it now, 0 if no one
 * @epoch: of the lease, or SPD_NO_LEASE
 * @side: the ring, valid with a lease; @side.kern is always valid to read
 * @chunk: SPD_CHUNK, or less for a small ring
 * @record_max: bytes of the longest message that goes by the ring
 * @done: transfers in the mapping
 * @countdown: operations by plain call until the lease is asked for again
 * @owed: SPEED_WAKE_* not yet given to the peer
 * @defer: collect wakes in @owed
 * @nonblock: O_NONBLOCK was set when last looked, so do not spin
 * @resv: SPD_RESV_*
 * @resv_len: bytes handed out
 * @resv_bytes: bytes of the ring that go with them
 * @bounce: the buffer that stands in for a ring, @bounce_bytes long
 * @spin: estimate of spinning
 */
struct spd_role {
	uintptr_t		owner;
	__u64			epoch;
	struct speed_side	side;
	__u64			chunk;
	__u64			record_max;
	__u64			done;

	__u32			countdown;
	unsigned int		owed;
	bool			defer;
	bool			nonblock;
	int			resv;
	size_t			resv_len;
	__u64			resv_bytes;
	unsigned char		*bounce;
	size_t			bounce_bytes;
	struct spd_spin		spin;
	struct spd_map		map;

	__u64			wakes;
	__u64			waits;
	__u64			spins;
	__u64			revocations;
	__u64			leases;
} __attribute__((aligned(128)));

/**
 * struct speed - a handle
 * @alive: the word that a child process finds changed, see fork.c
 * @generation: what @alive must show
 * @ops: what lies outside the ring
 * @fd: the socket, or -1
 * @type: SOCK_STREAM, SOCK_SEQPACKET or another socket's
 * @flags: SPEED_ATTACH_*
 * @spin_us: from speed_set_spin()
 * @mending: the generation for which a thread resets the handle
 * @calls: plain calls made
 * @kept: an error for the next plain call to tell, or 0; see plain.c
 * @whole: a plain call takes a message that is not long as a whole or not at all: TCP's
 * @role: the two directions
 */
struct speed {
	const unsigned long	*alive;
	unsigned long		generation;
	const struct spd_ops	*ops;
	int			fd;
	int			type;
	unsigned int		flags;
	unsigned int		spin_us;
	unsigned long		mending;
	__u64			calls;
	int			kept;
	bool			whole;
	struct spd_role		role[SPEED_ROLES];
};

/* attach.c */
void spd_handle_uncount(struct speed *s);
void spd_handle_init(struct speed *s, int fd, int type, unsigned int flags,
		     const struct spd_ops *ops);
struct speed *spd_handle_new(int fd, int type, unsigned int flags, const struct spd_ops *ops);
void spd_handle_free(struct speed *s);
void spd_role_forget(struct spd_role *r);

/* lease.c */
int spd_lease(struct speed *s, int role);
int spd_socket_lease(struct speed *s, int role);
void spd_side_start(struct spd_role *r, __u64 own, int role);

/* map.c */
int spd_map_role(struct speed *s, int role, const struct speed_lease *lease);
void spd_map_drop(struct speed *s, int role);

/* fork.c */
int spd_fork_watch(struct speed *s);
bool spd_fork_mend(struct speed *s);

/* socket.c */
extern const struct spd_ops spd_socket_ops;

/* plain.c */
ssize_t spd_plain_send(struct speed *s, const struct iovec *iov, int n, size_t skip, int flags);
ssize_t spd_plain_recv(struct speed *s, const struct iovec *iov, int n, size_t skip, int flags);

/* For spd_wait(), in the place of MSG_SYN: bytes of the transfer were moved before. */
#define SPD_MOVED		0x400

/* What a transfer keeps between calls of spd_wait(); 0 at first. */
#define SPD_SLEPT		0x1	/* and has got nothing since: the caller clears it */
#define SPD_WAITED		0x2	/* at any time */

/* slow.c */
enum {
	SPD_LOOK,	/* look at the ring again */
	SPD_PLAIN,	/* make the plain call */
	SPD_FAIL,	/* errno says why */
};

bool spd_role_enter_slow(struct speed *s, int role);
int spd_published(struct speed *s, int role, __u64 start, __u64 *counted);
int spd_woken_by_end(struct speed *s);
int spd_wait(struct speed *s, int role, __u64 want, int flags, unsigned int *slept);
void spd_pay(struct speed *s, struct spd_role *r);

/* spin.c */
void spd_spin_setup(struct spd_role *r, unsigned int us);
__u64 spd_spin_now(void);
bool spd_spin(struct speed *s, int role, __u64 want, __u32 limit);
void spd_spin_slept(struct spd_role *r, __u64 since, __u32 limit);

/* How long a role may look before it sleeps, in nanoseconds; 0: not at all. */
static inline __u32 spd_spin_limit(const struct speed *s, const struct spd_role *r)
{
	__u32 us = __atomic_load_n(&s->spin_us, __ATOMIC_RELAXED);

	return 1000 * (us == SPEED_SPIN_DEFAULT ? r->spin.lease_us : us);
}

/* send.c, recv.c, record.c: with the role's lock, which they give back */
ssize_t spd_send_stream(struct speed *s, const struct iovec *iov, int n, size_t len, int flags,
			unsigned int *owed);
ssize_t spd_recv_stream(struct speed *s, const struct iovec *iov, int n, size_t len, int flags);
ssize_t spd_send_record(struct speed *s, const struct iovec *iov, int n, size_t len, int flags,
			unsigned int *owed);
ssize_t spd_recv_record(struct speed *s, const struct iovec *iov, int n, size_t len, int flags);

/* record.c, for zero copy: the lock stays */
int spd_record_room(struct speed *s, size_t len, int flags);
int spd_record_next(struct speed *s, struct speed_record *rec, __u64 *bytes, int flags);

#endif /* SPD_HANDLE_H */
