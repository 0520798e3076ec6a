/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * AF_SPEED: the ABI between the speed module and user space.
 *
 * A connection is a pair: two endpoints joined by two rings of bytes, one a
 * direction. Each endpoint has two roles: it produces into one ring (TX) and
 * consumes from the other (RX). A role is exercised by the kernel, in the
 * socket calls, unless it is leased to one address space, which then works on
 * the ring's pages itself, through a mapping of the socket.
 *
 * Three kinds of page make up the control part of a ring, and each has one
 * writer:
 *
 *	struct speed_index	the producer's: "head", bytes ever published
 *	struct speed_index	the consumer's: "tail", bytes ever released
 *	struct speed_kern	the kernel's: epochs and flags
 *
 * A mapping of a role is made of three regions, each mapped with one mmap() of
 * the socket at the offset that SPEED_LEASE told:
 *
 *	OWN	one page: the role's own index, read and write
 *	PEER	two pages: struct speed_kern, then the other role's index,
 *		read-only
 *	DATA	the ring's bytes twice in a row, 2 * size; read and write for
 *		TX, read-only for RX
 *
 * Rules of this file: fields have fixed widths; what is reserved must be zero
 * when passed in and is zero when passed out; an unknown bit is EINVAL; new
 * abilities are announced in speed_info.features.
 */
#ifndef _UAPI_LINUX_SPEED_H
#define _UAPI_LINUX_SPEED_H

#include <linux/types.h>
#include <linux/ioctl.h>

/*
 * Linux has no free family number, so the family borrows one that Linux
 * reserves and never implemented (AF_ASH). The module parameter "family"
 * chooses another; /proc/sys/net/speed/family tells which one is in use.
 */
#define SPEED_FAMILY_DEFAULT	18

#define SOL_SPEED		21328	/* "SP" */
#define SPEED_MAGIC_VALUE	0x53504431u	/* "SPD1" */

/* ---- addresses ------------------------------------------------------- */

#define SPEED_NAME_MAX		64

/**
 * struct speed_sockaddr - an address in a network namespace
 * @sp_family: the family's number
 * @sp_reserved: zero
 * @sp_number: a number, or zero where the address is a name
 * @sp_name: a name, ended by the address's length or by a NUL byte
 *
 * An address is a number (sp_number is not zero and the name is empty), a name
 * (sp_number is zero and the name is not empty) or neither, which asks bind()
 * for a free number (autobind) and which an unbound socket reports. Its length
 * is 2 (family alone), 8 (no name) or 8 plus the length of the name, which may
 * include padding NUL bytes. Numbers below SPEED_NUMBER_RESERVED ask for
 * CAP_NET_BIND_SERVICE.
 */
struct speed_sockaddr {
	__u16	sp_family;
	__u16	sp_reserved;
	__u32	sp_number;
	char	sp_name[SPEED_NAME_MAX];
};

#define SPEED_NUMBER_RESERVED	1024
#define SPEED_NUMBER_AUTO	0x80000000u	/* first number of autobind */

/* ---- socket options, level SOL_SPEED ---------------------------------- */

enum {
	SPEED_MAGIC	= 1,	/* get: __u32, SPEED_MAGIC_VALUE */
	SPEED_INFO	= 2,	/* get: struct speed_info */
	SPEED_LEASE	= 3,	/* get, in and out: struct speed_lease */
	SPEED_SETTLE	= 4,	/* get, in and out: struct speed_settle */
	SPEED_UNLEASE	= 5,	/* set: __u32, a role; ESTALE: the caller does not hold it */
	SPEED_MODE	= 6,	/* get and set: __u32, permission bits */
	SPEED_FUSE	= 7,	/* TCP; get and set: __u32, 0: stay on TCP, 1: may fuse */
	SPEED_FUSION	= 8,	/* TCP; get: struct speed_fusion */
};

enum {
	SPEED_ROLE_TX	= 0,	/* producer of the ring to the peer */
	SPEED_ROLE_RX	= 1,	/* consumer of the ring from the peer */
	SPEED_ROLES	= 2,
};

/* speed_info.features */
#define SPEED_FEATURE_MAP	0x1	/* SPEED_LEASE and mmap() */
#define SPEED_FEATURE_CALL	0x2	/* SPEED_IOC_WAIT wakes and waits */
#define SPEED_FEATURE_EPOLL	0x4	/* SPEED_IOC_EPOLL */
#define SPEED_FEATURE_MOVED	0x8	/* SPEED_WAIT_MOVED */
#define SPEED_FEATURE_AGAIN	0x10	/* SPEED_WAIT_AGAIN */

/* speed_info.state */
enum {
	SPEED_STATE_UNCONNECTED	= 0,
	SPEED_STATE_LISTENING	= 1,
	SPEED_STATE_CONNECTED	= 2,
	SPEED_STATE_CLOSED	= 3,	/* reset, or shut down both ways */
};

/**
 * struct speed_info - what a socket's pair is like
 * @features: SPEED_FEATURE_*
 * @state: SPEED_STATE_*
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 * @spin_us: how long a mapped reader may spin before it sleeps, microseconds
 * @pair: the pair's number, never used again while the module is loaded; zero
 *	where there is none
 * @side: which endpoint this is, 0 (connected) or 1 (accepted)
 * @reserved: zero
 * @ring_bytes: the size of each role's ring in bytes, or zero if its data
 *	pages do not exist now
 * @bytes: bytes that each role has moved
 * @leased: each role's epoch while it is leased, or zero
 */
struct speed_info {
	__u32	features;
	__u32	state;
	__u32	type;
	__u32	spin_us;
	__u64	pair;
	__u32	side;
	__u32	reserved;
	__u64	ring_bytes[SPEED_ROLES];
	__u64	bytes[SPEED_ROLES];
	__u64	leased[SPEED_ROLES];
};

/**
 * struct speed_lease - take a role for the calling address space
 * @role: in: SPEED_ROLE_*
 * @flags: in: zero
 * @epoch: out: the lease's epoch, never zero. It is in force for as long as
 *	speed_kern.epoch[role] shows it.
 * @size: out: the ring's size in bytes, a power of two, the same for as long
 *	as the pair lives
 * @own: out: the role's own index now
 * @off_own: out: offset of the region OWN
 * @off_peer: out: offset of the region PEER
 * @off_data: out: offset of the region DATA
 * @retry: out, also with EAGAIN: operations of the role by system call after
 *	which to ask again
 * @spin_us: out: as in struct speed_info
 * @type: out: SOCK_STREAM or SOCK_SEQPACKET
 * @pair: out: the pair's number
 * @cookie: in: which user of the role within the address space asks: any
 *	number. Two users of one descriptor in one process are as foreign to each
 *	other as two processes.
 *
 * A region belongs to the cookie that held the lease when it was mapped.
 * Offsets and size stay the same for each lease of a role, so that regions once
 * mapped serve a later lease by the same address space and cookie.
 *
 * Errors: ENOTCONN (no pair), EAGAIN (the role was taken back lately, its
 * ring has overflowed, another operation is under way, or SO_RCVLOWAT or
 * SO_PEEK_OFF ask for what a mapping cannot do), EPIPE (closed or shut down),
 * EBUSY (another user holds it), EACCES (another effective user id has sent, received or
 * mapped at this endpoint: the ring would show what), ENOBUFS (memory, or more than 64 users of the
 * endpoint), EINVAL. A region is unmapped whole. Of a role's three a user has at most 16
 * mappings at a time: mmap() of one more fails with ENOMEM.
 */
struct speed_lease {
	__u32	role;
	__u32	flags;
	__u64	epoch;
	__u64	size;
	__u64	own;
	__u64	off_own;
	__u64	off_peer;
	__u64	off_data;
	__u32	retry;
	__u32	spin_us;
	__u32	type;
	__u32	reserved;
	__u64	pair;
	__u64	cookie;
};

/**
 * struct speed_settle - how much of a revoked lease counted
 * @role: in: SPEED_ROLE_*
 * @flags: in: zero
 * @epoch: in: the epoch of the lease that is no more
 * @index: out: the role's own index when the lease ended. What the holder
 *	published beyond it never counted.
 * @cookie: in: as given to SPEED_LEASE
 *
 * Whoever held the role meanwhile, a user may ask about its own last lease for
 * as long as it has the role mapped. Errors: ENOTCONN, EBUSY (that lease is
 * still in force), ESTALE (not this user's last), EINVAL.
 */
struct speed_settle {
	__u32	role;
	__u32	flags;
	__u64	epoch;
	__u64	index;
	__u64	cookie;
};

/* ---- TCP connections ---------------------------------------------------- */

/*
 * A TCP connection between two sockets of one namespace is fused when its bytes
 * go over a pair. Each direction moves between TCP and its ring by itself, in
 * the middle of the stream. A socket takes part once it has the ULP "speed",
 * which net.speed.loopback gives to new sockets and setsockopt(TCP_ULP) to any;
 * from then on it has all options but SPEED_MODE, and the ioctls.
 *
 * It is mapped as a connection of AF_SPEED is. A role is leased while its
 * direction is fused and has data pages, which go back when it was not used for
 * one to two seconds, and, to a consumer, nothing of TCP's comes first; else
 * SPEED_LEASE is EAGAIN. SPEED_OVERFLOW says that bytes go by TCP, or shall. Who
 * does not mind it loses the lease within 100 ms, the time in page faults not counted.
 */

/* Why bytes go by TCP. */
enum {
	SPEED_TCP_FUSED		= 0,	/* they do not */
	SPEED_TCP_OFF		= 1,	/* net.speed.loopback is 0 */
	SPEED_TCP_PORT		= 2,	/* net.speed.loopback_ports */
	SPEED_TCP_PEER		= 3,	/* the other end was not found or takes no part */
	SPEED_TCP_REQUEST	= 4,	/* SPEED_FUSE was set to 0 */
	SPEED_TCP_TAP		= 5,	/* somebody captures packets on the path */
	SPEED_TCP_FILTER	= 6,	/* a qdisc, tc or XDP program is on the path */
	SPEED_TCP_CGROUP	= 7,	/* a sock_ops program */
	SPEED_TCP_ULP		= 8,	/* another ULP, or a sockmap */
	SPEED_TCP_KERNEL	= 9,	/* a socket of the kernel's, or the kernel reads */
	SPEED_TCP_MPTCP		= 10,
	SPEED_TCP_SMC		= 11,
	SPEED_TCP_FASTOPEN	= 12,	/* bytes in the SYN */
	SPEED_TCP_SIGNED	= 13,	/* MD5 or AO signatures */
	SPEED_TCP_STAMP		= 14,	/* time stamps of packets are wanted */
	SPEED_TCP_REPAIR	= 15,	/* TCP_REPAIR */
	SPEED_TCP_ZEROCOPY	= 16,	/* TCP_ZEROCOPY_RECEIVE */
	SPEED_TCP_MEMORY	= 17,	/* no memory for a ring */
	SPEED_TCP_FULL		= 18,	/* the ring is full */
	SPEED_TCP_ODD		= 19,	/* a call that a ring does not carry */
	SPEED_TCP_BUSY		= 20,	/* calls of TCP are under way, or bytes unsent */
	SPEED_TCP_SHUT		= 21,	/* an end is closed, shut down or not connected */
	SPEED_TCP_REASONS	= 22,
};

/* speed_fusion.flags */
#define SPEED_FUSION_PAIRED	0x1	/* the other end was found */
#define SPEED_FUSION_TX		0x2	/* bytes sent use the ring now */
#define SPEED_FUSION_RX		0x4	/* bytes to receive use the ring now */

/**
 * struct speed_fusion - how a TCP socket's bytes travel
 * @flags: SPEED_FUSION_*
 * @reason: SPEED_TCP_*: why bytes sent go by TCP. While they go by the ring it is
 *	SPEED_TCP_FUSED, until the first that cannot
 * @fused: how often the sending direction moved to its ring
 * @unfused: how often it moved back
 * @ring_bytes: the size of each role's ring in bytes, or zero where its data
 *	pages do not exist now
 * @bytes: bytes that each role has moved through its ring
 * @pair: the pair's number, zero where there is none
 * @fill: bytes in each role's ring, which nobody has read yet
 */
struct speed_fusion {
	__u32	flags;
	__u32	reason;
	__u64	fused;
	__u64	unfused;
	__u64	ring_bytes[SPEED_ROLES];
	__u64	bytes[SPEED_ROLES];
	__u64	pair;
	__u64	fill[SPEED_ROLES];
};

/* ---- ioctls: the slow path of a mapped role --------------------------- */

/* speed_wait.flags and the argument of SPEED_IOC_WAKE */
#define SPEED_WAKE_READER	0x1	/* TX published: wake who waits for data */
#define SPEED_WAKE_WRITER	0x2	/* RX released: wake who waits for space */
/* speed_wait.flags alone */
#define SPEED_WAIT_DATA		0x4	/* wait until RX can take @want bytes */
#define SPEED_WAIT_SPACE	0x8	/* wait until TX can put @want bytes */
#define SPEED_WAIT_MOVED	0x10	/* the transfer has moved bytes already */
#define SPEED_WAIT_AGAIN	0x20	/* the transfer has waited before */

/**
 * struct speed_wait - wake the peer, then wait, in one entry
 * @flags: SPEED_WAKE_* and at most one of SPEED_WAIT_DATA and SPEED_WAIT_SPACE; with
 *	either, SPEED_WAIT_MOVED and SPEED_WAIT_AGAIN
 * @reserved: zero
 * @want: bytes to wait for, 1 to the ring's size; zero without a wait
 *
 * The caller keeps its lease. The wait ends with 0 when there is something to
 * do: the bytes or the space, an overflow, a shutdown or an error, which the
 * plain call then tells. Errors: EAGAIN (SO_RCVTIMEO or SO_SNDTIMEO passed),
 * EINTR, ESTALE (the caller does not hold the lease: use the plain call),
 * ENOBUFS (SPEED_WAIT_SPACE: the ring is full, and the socket's limits allow
 * more than the ring: use the plain call), ENOTCONN, EINVAL.
 *
 * A signal whose handler was set with SA_RESTART restarts the wait, as it restarts a
 * transfer. One that has moved bytes is not restarted but ends with them: then the wait
 * is EINTR, with SPEED_WAIT_MOVED and where a reader has some of the bytes it waits for.
 *
 * The time limit is for all waits of a transfer together: with SPEED_WAIT_AGAIN what the
 * role has waited since its last wait without it is taken off.
 */
struct speed_wait {
	__u32	flags;
	__u32	reserved;
	__u64	want;
};

#define SPEED_IOC_WAKE		_IO(0xB5, 1)	/* argument: SPEED_WAKE_* */
#define SPEED_IOC_WAIT		_IOW(0xB5, 2, struct speed_wait)

/*
 * The one that waits for data now is an epoll set: one wake-up is enough until the set
 * has asked again. Otherwise a mapped publisher wakes it each time, for the kernel
 * does not know what it is. While others wait, too, nothing changes. The caller
 * holds the lease of RX; the argument is the pair's number.
 *
 * Errors: EBUSY (not exactly one waits), ESTALE (another pair, or not the lease's
 * holder), ENOTCONN.
 */
#define SPEED_IOC_EPOLL		_IO(0xB5, 3)

/* ---- shared pages ------------------------------------------------------ */

#define SPEED_RING_MIN		4096u		/* bytes, and at least a page */
#define SPEED_RING_MAX		0x40000000u

/**
 * struct speed_index - a role's own index; written by the role alone
 * @index: bytes ever published (head) or released (tail)
 *
 * The rest of its page is not read.
 */
struct speed_index {
	__u64	index;
};

/* speed_kern.flags */
#define SPEED_NEED_DATA		0x1	/* a publisher must wake readers */
#define SPEED_NEED_SPACE	0x2	/* a releaser must wake writers, see wake_free */
#define SPEED_OVERFLOW		0x4	/* bytes wait beyond the ring: use system calls */
#define SPEED_CLOSED		0x8	/* shut down, closed or reset: use system calls */

/**
 * struct speed_kern - a ring's kernel page; written by the kernel alone
 * @epoch: the epoch of each role's lease; another value, zero too, means that
 *	the lease has been revoked
 * @flags: SPEED_NEED_DATA and the rest. With SPEED_CLOSED a producer uses system
 *	calls at once, as does the consumer of a SOCK_SEQPACKET; that of a stream
 *	takes what the ring holds first
 * @reserved0: zero
 * @wake_free: with SPEED_NEED_SPACE: free bytes from which on a releaser must
 *	wake
 *
 * The rest of its page is zero.
 */
struct speed_kern {
	__u64	epoch[SPEED_ROLES];
	__u32	flags;
	__u32	reserved0;
	__u64	wake_free;
};

/**
 * struct speed_record - precedes each message in the ring of a SOCK_SEQPACKET
 * @len: bytes of the message
 * @reserved: zero
 *
 * A record takes SPEED_RECORD_BYTES(len) bytes of the ring, a multiple of 8,
 * and is published as one.
 */
struct speed_record {
	__u32	len;
	__u32	reserved;
};

#define SPEED_RECORD_BYTES(len)	((8 + (__u64)(len) + 7) & ~(__u64)7)

#endif /* _UAPI_LINUX_SPEED_H */
