/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libspeed: send and receive on an AF_SPEED socket without a system call.
 *
 * A handle (struct speed) stands beside a connected socket. It works on the
 * rings of the connection through a mapping and does by plain system call, on
 * the same descriptor, whatever it cannot do there. It is never a second kind
 * of socket: handles, read(), write(), poll() and other processes that hold the
 * descriptor may be mixed in any order, and the stream of bytes is exact.
 *
 * What holds for every function here:
 *
 * Errors. Unless its comment says otherwise a function returns -1 and sets
 * errno. speed_send() and the other transfers return what the socket calls
 * return, and fail with their errno; SIGPIPE is raised where they raise it. A
 * peer that breaks the ring's rules yields ECONNRESET. One thing differs: a bad
 * pointer is a SIGSEGV where the system call says EFAULT, because the copy is
 * made here.
 *
 * Threads. A handle may be used by any number of threads at once. Each
 * direction is exercised by one of them at a time; a thread that finds the
 * direction taken for more than an instant makes the plain system call instead.
 * speed_detach() must be the last call on its handle.
 *
 * Signals. Functions marked "Signal-safe" may be called from a signal handler,
 * also one that interrupted any function of this library on the same handle:
 * the interrupted transfer goes on afterwards and nothing is lost or doubled. A
 * handler may leave by siglongjmp(): the interrupted direction is then served
 * by plain system calls until the handle is detached. Transfers that sleep end
 * with EINTR, or go on, as the socket calls do. The functions are not
 * cancellation points.
 *
 * Processes. After fork() a handle works in the parent and in the child. The
 * child has no mapping; it begins with plain system calls and asks for its own.
 * (A signal handler that interrupted a transfer and forks must not return in
 * the child.) Nothing survives exec; attach again to an inherited descriptor.
 */
#ifndef SPEED_H
#define SPEED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <linux/speed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPEED_VERSION_MAJOR	0
#define SPEED_VERSION_MINOR	1

struct speed;

/* ---- family and addresses --------------------------------------------- */

/**
 * speed_family() - the number of the address family AF_SPEED
 *
 * Reads /proc/sys/net/speed/family, once with success; where it cannot be read
 * (the module is not loaded yet) the answer is SPEED_FAMILY_DEFAULT.
 *
 * Return: the number; never fails. errno is kept. Signal-safe.
 */
int speed_family(void);

/**
 * speed_socket() - an AF_SPEED socket
 * @type: SOCK_STREAM or SOCK_SEQPACKET, with SOCK_CLOEXEC and SOCK_NONBLOCK
 *
 * Errors: as socket(); EAFNOSUPPORT also where something other than speed
 * answers to the family's number.
 *
 * Return: a descriptor, to be closed with close(). Signal-safe.
 */
int speed_socket(int type);

/**
 * speed_addr_number() - make an address of a number
 * @sa: filled in
 * @number: 1 to 4294967295; 0 makes the address that asks bind() for a free one
 *
 * Return: the address's length in bytes. Signal-safe.
 */
socklen_t speed_addr_number(struct speed_sockaddr *sa, uint32_t number);

/**
 * speed_addr_name() - make an address of a name
 * @sa: filled in
 * @name: 1 to SPEED_NAME_MAX bytes, ended by NUL
 * @len: filled in with the address's length in bytes
 *
 * Errors: EINVAL (empty), ENAMETOOLONG.
 *
 * Return: 0. Signal-safe.
 */
int speed_addr_name(struct speed_sockaddr *sa, const char *name, socklen_t *len);

/**
 * speed_addr_parse() - make an address of what a user typed
 * @sa: filled in
 * @text: "42" is a number, "*" asks for a free one, anything else is a name;
 *	"@42" is the name "42". In a name \xNN stands for one byte.
 * @len: filled in with the address's length in bytes
 *
 * Errors: EINVAL (empty, \x wrong or \x00, number 0), ERANGE (number too large),
 * ENAMETOOLONG.
 *
 * Return: 0. Signal-safe.
 */
int speed_addr_parse(struct speed_sockaddr *sa, const char *text, socklen_t *len);

/**
 * speed_addr_format() - the text that speed_addr_parse() takes
 * @sa: as accept(), getsockname() or getpeername() filled it in
 * @len: its length in bytes
 * @buf: the text, ended by NUL; SPEED_ADDR_TEXT bytes are always enough
 * @size: of @buf in bytes
 *
 * An address without number and name (an unbound socket's) is "*".
 *
 * Errors: EINVAL (not an AF_SPEED address), ENOSPC.
 *
 * Return: the text's length without the NUL. Signal-safe.
 */
int speed_addr_format(const struct speed_sockaddr *sa, socklen_t len, char *buf, size_t size);

#define SPEED_ADDR_TEXT		(1 + 4 * SPEED_NAME_MAX + 1)

/* ---- handles ----------------------------------------------------------- */

/* The caller promises that at most one thread sends and at most one receives. */
#define SPEED_ATTACH_SINGLE	(1u << 0)
/* Never map: every transfer is a plain system call. */
#define SPEED_ATTACH_NOMAP	(1u << 1)

/**
 * speed_attach() - a handle for a socket
 * @fd: a socket, connected now or later. The handle does not own it: detach
 *	first, then close. A socket without a pair of rings (TCP that is not
 *	fused, say) is served by plain system calls.
 * @flags: SPEED_ATTACH_*
 *
 * Each direction is mapped after its first few transfers, see speed_map().
 *
 * Errors: EBADF, ENOTSOCK, EINVAL, ENOMEM.
 *
 * Return: the handle, or NULL and errno. Thread-safe, not signal-safe.
 */
struct speed *speed_attach(int fd, unsigned int flags);

/**
 * speed_detach() - give mappings and leases back and free the handle
 * @s: a handle that no one uses any more, or NULL
 *
 * The socket stays open and usable. One end of a speed_pair() is closed by it:
 * the other end reads what was sent and then end-of-file. errno is kept. Not
 * signal-safe.
 */
void speed_detach(struct speed *s);

/**
 * speed_fd() - the descriptor that a handle stands beside
 * @s: a handle
 *
 * Return: the descriptor, or -1 (errno is kept) for an end of a speed_pair().
 * Signal-safe.
 */
int speed_fd(const struct speed *s);

/* bits of speed_map() */
#define SPEED_MAP_TX		(1u << SPEED_ROLE_TX)
#define SPEED_MAP_RX		(1u << SPEED_ROLE_RX)
#define SPEED_MAP_BOTH		(SPEED_MAP_TX | SPEED_MAP_RX)

/**
 * speed_map() - map directions now
 * @s: a handle
 * @roles: SPEED_MAP_* bits; what is mapped already stays so
 *
 * Never needed: transfers do it by themselves. It spares the first transfers
 * their system calls and tells why a direction cannot be mapped, while transfers
 * work all the same.
 *
 * Errors: ENOTCONN, EAGAIN (the direction was taken back lately, or before it
 * was mapped, has overflowed or is in use just now; of TCP: goes by TCP, or was
 * not used for a second; or receiving: SO_RCVLOWAT is more than 1 or SO_PEEK_OFF
 * is set), EBUSY (another process, thread or handle holds it), EACCES (another
 * user has sent, received or mapped by this descriptor), EPIPE (closed or shut
 * down), ENOBUFS or ENOMEM, EOPNOTSUPP (the socket has no rings, or
 * SPEED_ATTACH_NOMAP), EINVAL.
 * With more than one bit those before the one that failed, TX first, are mapped.
 *
 * Return: 0. Signal-safe.
 */
int speed_map(struct speed *s, unsigned int roles);

/* ---- transfers --------------------------------------------------------- */

/**
 * speed_send() - send(2)
 * @s: a handle
 * @buf: the bytes, or the message of a SOCK_SEQPACKET
 * @len: bytes
 * @flags: as send(); MSG_DONTWAIT, MSG_NOSIGNAL, MSG_MORE and MSG_EOR keep to the
 *	mapping, others take the plain call
 *
 * Return: as send(): bytes taken, or -1 and errno. Signal-safe.
 */
ssize_t speed_send(struct speed *s, const void *buf, size_t len, int flags);

/**
 * speed_recv() - recv(2)
 * @s: a handle
 * @buf: where to
 * @len: bytes at most; the rest of a longer message is discarded
 * @flags: as recv(); MSG_DONTWAIT, MSG_WAITALL, MSG_NOSIGNAL, MSG_CMSG_CLOEXEC and, for
 *	messages, MSG_TRUNC keep to the mapping, others (MSG_PEEK) take the plain call
 *
 * Return: as recv(): bytes, 0 at end-of-file, or -1 and errno. Signal-safe.
 */
ssize_t speed_recv(struct speed *s, void *buf, size_t len, int flags);

/**
 * speed_sendv() - sendmsg(2) without address and control data
 * @s: a handle
 * @iov: buffers
 * @n: how many, 0 to IOV_MAX
 * @flags: as in speed_send()
 *
 * Return: as sendmsg(). Signal-safe.
 */
ssize_t speed_sendv(struct speed *s, const struct iovec *iov, int n, int flags);

/**
 * speed_recvv() - recvmsg(2) without address and control data
 * @s: a handle
 * @iov: buffers
 * @n: how many, 0 to IOV_MAX
 * @flags: as in speed_recv()
 *
 * Return: as recvmsg(). Signal-safe.
 */
ssize_t speed_recvv(struct speed *s, const struct iovec *iov, int n, int flags);

/* ---- zero copy ----------------------------------------------------------
 *
 * The spans are the ring itself. What is written to a reserved span can be
 * seen by the peer at once, committed or not; what is read from a peeked span
 * can be changed by a hostile peer at any time until it is released, so read
 * each byte once, or copy before you check.
 *
 * From reserve to commit, and from peek to release, the calling thread holds
 * that direction; other threads' transfers of that direction are plain system
 * calls meanwhile. Such a call, by whatever thread, process or signal handler,
 * takes the direction back: the commit or the release then fails with ESTALE
 * and has had no effect. Where a direction cannot be mapped a private buffer
 * takes the ring's place.
 */

/**
 * speed_reserve() - a span of the ring to write to
 * @s: a handle
 * @len: bytes wanted, at least 1 (0 is a message of no bytes)
 * @span: filled in with the span's address
 * @flags: 0 or MSG_DONTWAIT
 *
 * A stream gives what is free, up to @len, and waits as send() does while
 * nothing is. A message is given whole.
 *
 * Errors: as send(), and EDEADLK (this thread holds the direction already:
 * reserved twice, or a signal handler interrupted it), EBUSY (another thread
 * holds it), EMSGSIZE, ENOMEM, EINVAL.
 *
 * Return: the span's length in bytes; follow with speed_commit(). Not
 * signal-safe.
 */
ssize_t speed_reserve(struct speed *s, size_t len, void **span, int flags);

/**
 * speed_commit() - send what was written to the reserved span
 * @s: a handle on which this thread has reserved
 * @len: bytes from the span's beginning, at most what was reserved. 0 gives a
 *	stream's span back without sending; for messages use SPEED_CANCEL.
 * @flags: 0, MSG_DONTWAIT, MSG_NOSIGNAL
 *
 * Errors: as send(), and ESTALE (the direction was taken back meanwhile; nothing
 * was sent and the span's content is gone: produce it again and speed_send() it),
 * EINVAL (nothing reserved, or too long; the reservation stays).
 *
 * Return: bytes sent: @len, or less where a private buffer was sent with a
 * signal or a time limit in between. Not signal-safe.
 */
ssize_t speed_commit(struct speed *s, size_t len, int flags);

#define SPEED_CANCEL		((size_t)-1)

/**
 * speed_peek() - a span of received bytes
 * @s: a handle
 * @want: bytes wanted, at least 1; of a SOCK_SEQPACKET the next message is given
 *	whole, whatever @want says
 * @span: filled in with the span's address
 * @flags: 0, MSG_DONTWAIT, or MSG_WAITALL: wait for @want bytes, or for half a ring
 *	where that is less
 *
 * The bytes can be changed by a hostile peer until they are released.
 *
 * Errors: as recv(), and EDEADLK, EBUSY, ENOMEM, EINVAL as in speed_reserve().
 *
 * Return: the span's length in bytes, at most @want for a stream; 0 at end-of-file
 * (nothing to release) and for a message of no bytes (release it). Not
 * signal-safe.
 */
ssize_t speed_peek(struct speed *s, size_t want, const void **span, int flags);

/**
 * speed_release() - take bytes that were peeked at
 * @s: a handle on which this thread has peeked
 * @len: bytes from the span's beginning, at most what was peeked; 0 leaves a
 *	stream's bytes where they are. A message is taken whole, or left where it
 *	is with SPEED_CANCEL.
 *
 * Errors: ESTALE (the direction was taken back meanwhile: nothing was taken, the
 * bytes come again, here or to whoever took it), EINVAL (nothing peeked at, or too
 * long; the peek stays). After end-of-file there is nothing to release, and a
 * release of 0 bytes is no error.
 *
 * Return: 0. Not signal-safe.
 */
int speed_release(struct speed *s, size_t len);

/* ---- call and reply ------------------------------------------------------ */

/**
 * speed_call() - send a request, receive the reply
 * @s: a handle
 * @req: the request
 * @reqlen: its bytes
 * @rep: where the reply goes
 * @replen: bytes at most, at least 1
 * @flags: 0, MSG_NOSIGNAL, MSG_WAITALL (of a stream, wait for @replen bytes)
 *
 * Like speed_send() followed by speed_recv(), but waking the peer and going to
 * sleep is one entry into the kernel. Both block. A SOCK_SEQPACKET replies with a
 * message; a stream with what is there, at least one byte.
 *
 * Errors: as send() and recv(), EINVAL (flags, @replen). After an error of the
 * sending half that came in the middle of a request, how much was sent is not
 * known: the connection is of no more use.
 *
 * Return: the reply's length in bytes, 0 at end-of-file. Signal-safe.
 */
ssize_t speed_call(struct speed *s, const void *req, size_t reqlen,
		   void *rep, size_t replen, int flags);

/**
 * speed_reply_wait() - send a reply, receive the next request
 * @s: a handle
 * @rep: the reply, or NULL: there is none to send (before the first request)
 * @replen: its bytes
 * @req: where the request goes
 * @reqlen: bytes at most, at least 1
 * @flags: as in speed_call()
 *
 * Return: the request's length in bytes, 0 at end-of-file, or -1 and errno as
 * speed_call(). Signal-safe.
 */
ssize_t speed_reply_wait(struct speed *s, const void *rep, size_t replen,
			 void *req, size_t reqlen, int flags);

/* ---- tuning and counting -------------------------------------------------- */

#define SPEED_SPIN_DEFAULT	UINT32_MAX	/* what net.speed.spin_us says */
#define SPEED_SPIN_MAX		1000000u

/**
 * speed_set_spin() - how long to look before sleeping
 * @s: a handle
 * @us: microseconds at most before a transfer that must wait sleeps, 0 (sleep at
 *	once) to SPEED_SPIN_MAX, or SPEED_SPIN_DEFAULT
 *
 * This is a limit: spinning that does not pay stops by itself. With one processor
 * there is none; there a transfer leaves the processor to the peer once before it
 * sleeps, if that pays, unless @us is 0.
 *
 * Errors: EINVAL.
 *
 * Return: 0. Signal-safe.
 */
int speed_set_spin(struct speed *s, unsigned int us);

/**
 * struct speed_stats - what a handle did since it was attached
 * @mapped_sends: transfers, or parts of one, done in the mapping
 * @mapped_recvs: the same, receiving
 * @calls: plain system calls
 * @wakes: entries into the kernel to wake the peer
 * @waits: entries into the kernel to sleep
 * @spins: waits that spinning made unnecessary
 * @revocations: times that a direction was taken back
 * @leases: times that a direction was given
 * @reserved: zero
 *
 * After fork() parent and child count on from the same numbers.
 */
struct speed_stats {
	uint64_t mapped_sends;
	uint64_t mapped_recvs;
	uint64_t calls;
	uint64_t wakes;
	uint64_t waits;
	uint64_t spins;
	uint64_t revocations;
	uint64_t leases;
	uint64_t reserved[8];
};

/**
 * speed_get_stats() - read a handle's counters
 * @s: a handle
 * @stats: filled in; not one instant's picture while other threads transfer
 *
 * Return: 0. Signal-safe.
 */
int speed_get_stats(struct speed *s, struct speed_stats *stats);

/* ---- without the module ---------------------------------------------------- */

/* in speed_pair()'s type: as SPEED_ATTACH_SINGLE for both ends */
#define SPEED_PAIR_SINGLE	(1 << 16)

/**
 * speed_pair() - two connected handles over shared memory, without the module
 * @type: SOCK_STREAM or SOCK_SEQPACKET, with SPEED_PAIR_SINGLE
 * @ring_bytes: size of each ring, rounded up to a power of two and a page, at most
 *	SPEED_RING_MAX
 * @out: the ends
 *
 * For tests and benchmarks only: there is no descriptor, nothing to poll, no
 * protection from a peer that stops or dies, and no plain call to fall back to.
 * A signal handler that interrupts a transfer gets EDEADLK; flags that need the
 * kernel are EOPNOTSUPP. The ends may be used by threads of one process; after
 * fork() each end, or each direction of an end, by one process. speed_detach()
 * closes an end for every process: leave alone the end that another one uses.
 *
 * Errors: EINVAL, ENOMEM, EMFILE, ENFILE.
 *
 * Return: 0. Not signal-safe.
 */
int speed_pair(int type, size_t ring_bytes, struct speed *out[2]);

#ifdef __cplusplus
}
#endif

#endif /* SPEED_H */
