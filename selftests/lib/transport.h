/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Transports: the same verbs over AF_UNIX, TCP on 127.0.0.1, AF_SPEED and fused
 * TCP, and for the last two by either path.
 *
 * A connection has two ends. Side 0 connects, side 1 is accepted. On AF_SPEED and
 * fused TCP each end works by system calls, through its mapping (libspeed), or by
 * the one and the other in turn.
 */
#ifndef SPEED_SELFTESTS_TRANSPORT_H
#define SPEED_SELFTESTS_TRANSPORT_H

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "speed.h"

enum path { PATH_KERNEL, PATH_MAPPED, PATH_ALTERNATE };

/**
 * struct transport - what a test body runs on
 * @name: in results and exceptions
 * @family: for socket()
 * @type: SOCK_STREAM or SOCK_SEQPACKET, chosen by the runner
 * @path: how each side works
 * @speed: whether it is AF_SPEED
 * @fused: whether it is TCP in a namespace with net.speed.loopback on
 */
struct transport {
	const char *name;
	int family;
	int type;
	enum path path[2];
	bool speed;
	bool fused;
};

#define TRANSPORTS	12
extern const struct transport transports[TRANSPORTS];

bool tp_is_unix(const struct transport *t);
bool tp_is_tcp(const struct transport *t);
bool tp_is_mapped(const struct transport *t);	/* any end of it */

/* The family's number, or -1 where the module is not there. */
int speed_family_number(void);

struct address {
	struct sockaddr_storage sa;
	socklen_t len;
};

/* A fresh address, bound by nobody. Of AF_UNIX an abstract one, or a path. */
void tp_address(const struct transport *t, struct address *a);
void tp_path_address(const struct transport *t, struct address *a);
bool address_unnamed(const struct address *a);
bool address_equal(const struct address *a, const struct address *b);
int get_sockname(int fd, struct address *a);
int get_peername(int fd, struct address *a);

int tp_socket(const struct transport *t, int flags);
int bind_to(int fd, const struct address *a);
int connect_to(int fd, const struct address *a);
int tp_listen(const struct transport *t, int backlog, struct address *a);
int tp_connect(const struct transport *t, const struct address *a);
/* Waits until what one side did is seen by the other: TCP's needs a moment. */
void tp_settle(const struct transport *t);

/**
 * struct end - one end of a connection
 * @fd: the socket
 * @map: libspeed's view of it, or NULL
 * @path: how it works
 * @turn: calls made, for PATH_ALTERNATE
 */
struct end {
	int fd;
	struct speed *map;
	enum path path;
	atomic_uint turn;
};

void end_init(const struct transport *t, struct end *e, int fd, int side);
void end_close(struct end *e);
/* Connected by connect and accept; buffers of this many bytes (0: default). */
#define TP_MOVED(t)	((t)->fused ? 9u : 0u)	/* bytes that have gone each way by then */
void tp_pair(const struct transport *t, struct end e[2]);
void tp_pair_sized(const struct transport *t, struct end e[2], int bytes);
void pair_close(struct end e[2]);

ssize_t end_send(struct end *e, const void *buf, size_t len, int flags);
ssize_t end_recv(struct end *e, void *buf, size_t len, int flags);
ssize_t end_sendv(struct end *e, const struct iovec *iov, int n, int flags);
ssize_t end_recvv(struct end *e, const struct iovec *iov, int n, int flags);

/* All of it, or the error; a short count only at end-of-file. */
ssize_t end_send_all(struct end *e, const void *buf, size_t len);
ssize_t end_recv_all(struct end *e, void *buf, size_t len);
/* Non-blocking sends of chunk bytes until EAGAIN; what was taken. */
size_t end_fill(struct end *e, size_t chunk);
/* Receives all that is there, without waiting, and checks it, or does not. */
size_t end_drain(struct end *e, size_t offset);
/* The same until so many bytes have come: TCP's wait for its window to open. */
size_t end_drain_late(struct end *e, size_t offset, size_t want);
size_t end_discard(struct end *e);

unsigned int poll_now(int fd, short events);
unsigned int poll_wait(int fd, short events, int ms);
#define POLL_ALL	(POLLIN | POLLPRI | POLLOUT | POLLRDHUP)
#define POLL_EVERY	(POLL_ALL | POLLRDNORM | POLLRDBAND | POLLWRNORM | POLLWRBAND)
/* The address of pages that cannot be read or written. */
void *bad_pointer(void);
int set_nonblock(int fd, bool on);
int set_int(int fd, int level, int name, int value);
/* Tried for ten seconds more where it is EBUSY: the other end sends just now. */
int set_int_soon(int fd, int level, int name, int value);
int get_soon(int fd, int level, int name, void *value, socklen_t len);
int get_int(int fd, int level, int name);
int set_timeout(int fd, int name, int ms);

/* The bytes of a known stream, so that a reader knows where it is. */
void stream_fill(void *buf, size_t len, size_t offset);
bool stream_check(const void *buf, size_t len, size_t offset);

#endif
