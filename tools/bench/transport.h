/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A transport: how two processes on one machine can exchange bytes.
 *
 * A link has two ends. open() makes both before the processes part; enter() is
 * called in the process that uses an end; put(), get() and the rest end the
 * program on any error, so that no figure can come from a failed call.
 */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <stdint.h>

#include "bare.h"

struct speed;

/* What a transport is able to do. */
#define ABLE_LINK	(1u << 0)	/* latency */
#define ABLE_STREAM	(1u << 1)
#define ABLE_DOOR	(1u << 2)	/* listen, connect and accept */
#define ABLE_MEMORY	(1u << 3)
#define ABLE_EPOLL	(1u << 4)
#define ABLE_NATIVE	(1u << 5)	/* needs no kernel but for sleeping; only if named */
#define ABLE_NONBLOCKING (1u << 6)	/* heeds --nonblocking */

struct rival;	/* what a library keeps for an end */

struct end {
	const struct transport *transport;
	int in;			/* read here; -1: none */
	int out;		/* write here; may be the same as in */
	int side;
	struct speed *speed;
	struct bare_end bare;
	uint64_t bytes[2];	/* by sockets: sent, received */
	unsigned char *buffer;	/* BUFFER_MAX bytes or a message's, private */
	struct rival *rival;
	unsigned int thread;	/* which of several */
	pthread_barrier_t *meet;	/* of all threads of both sides */
	size_t size;		/* of a message */
	uint64_t calls;		/* speedrun: transfers that this end has made */
};

#define BUFFER_MAX	(1u << 20)
#define MESSAGE_MAX	(64u << 20)
#define PACKET_MAX	65536u	/* packet_put() sends more in several */

struct link {
	struct end end[2];
};

struct transport {
	const char *name;
	unsigned int able;
	int (*family)(void);	/* of its sockets; NULL: none */
	int type;		/* of its sockets; 0: SOCK_STREAM */
	bool preload;		/* its trials are programs of their own, under libspeed-preload */
	bool maps;		/* works on rings in user space, and looks before it sleeps */
	const char *spin;	/* so many microseconds; NULL: as long as is the default */
	const char *why_unable;	/* to be what experiments of all transports need; NULL: a variant */
	size_t most;		/* bytes a message; 0: any number */
	const char *why_most;
	/* Why there is no such transport here, or NULL; may end the program. NULL: it is here. */
	const char *(*missing)(void);
	bool fused;		/* made while net.speed.loopback is 1, and checked */
	void (*open)(const struct transport *t, struct link *l);
	void (*enter)(struct end *e);
	void (*leave)(struct end *e);
	/* All of len bytes, however many calls it takes. */
	void (*put)(struct end *e, const void *from, size_t len);
	void (*get)(struct end *e, void *to, size_t len);
	/* What is there, at least one byte and at most len; waits if there is none. */
	size_t (*get_some)(struct end *e, void *to, size_t len);
	/* Write or read every byte; NULL: fill a buffer and put, get and sum a buffer. */
	void (*put_filled)(struct end *e, size_t len, uint64_t seed);
	size_t (*get_summed)(struct end *e, size_t len, uint64_t *sum);
	/* A round trip as client, and the server's part; NULL: by put and get. */
	void (*call)(struct end *e, void *data, size_t len);
	void (*reply_wait)(struct end *e, void *data, size_t len);
};

extern const struct transport *const transports[];

/* ---- door.c: listening, connecting, accepting ---- */
struct door {
	int family;
	int type;
	int fd;
	struct sockaddr_storage address;
	socklen_t len;
};

/* For TCP sets net.speed.loopback as t wants it, for all connections through d. */
void door_open(struct door *d, const struct transport *t, int backlog);
int door_connect(const struct door *d);
int door_accept(const struct door *d);
void door_close(struct door *d);
/* A connected pair of sockets by way of a door of its own. */
void socket_link(const struct transport *t, struct link *l);

/* ---- loopback.c: the switch of fused TCP, and whether it did ---- */
void loopback_set(bool on);
/* As it was before the first loopback_set(); async-signal-safe. */
void loopback_restore(void);
/* What it is; and so again after a child that may have ended without restoring it. */
char loopback_remember(void);
void loopback_repair(char was);
/* Dies unless what this TCP socket sends (and receives) goes by a ring. */
void fused_check(int fd, const char *name);
void fused_check_sender(int fd, const char *name);
/*
 * Dies unless nearly all that an end has sent and received went by its rings; of one that
 * fills them, unless some did, and the rest found them full.
 */
void fused_check_share(const struct end *e);
/*
 * From now on one that waits, and yet met a ring that was full for too long, does not die of
 * it; and whether that was so since, of either side of a trial that was begun later.
 */
void fused_lets_off(bool on);
bool fused_let_off(void);
/* Whether an end fills its ring by how it sends messages of that size. */
bool fused_fills(size_t size);
/* How much of it did, 0 to 1, of the end that this process has checked last. */
double fused_share(void);
/* How often the library of this process's last trial was lent a ring. */
uint64_t speedrun_leased(void);
/* A counter of /proc/net/speed_stat; 0 without the module. */
uint64_t fused_count(const char *counter);

/* ---- transport_fd.c ---- */
int family_inet(void);
void socket_put(struct end *e, const void *from, size_t len);
size_t socket_get_some(struct end *e, void *to, size_t len);
void packet_put(struct end *e, const void *from, size_t len);
void packet_get(struct end *e, void *to, size_t len);
void pipe_open(const struct transport *t, struct link *l);
void pipe_put(struct end *e, const void *from, size_t len);
size_t pipe_get_some(struct end *e, void *to, size_t len);
void pipe_get(struct end *e, void *to, size_t len);
void socket_get(struct end *e, void *to, size_t len);

/* ---- touch.c: programs that write and read every byte ---- */
void fill(void *to, size_t len, uint64_t seed);
uint64_t sum(const void *from, size_t len);
/* Ends the program unless messages of that size can be filled and summed. */
void touch_check(size_t size);

/* ---- transport_uring.c ---- */
/* Of a ring that leaves what is to be done to who waits for it. */
#define URING_DEFERRED	(IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)

/* Why there is no io_uring here, or no such ring, or NULL. */
const char *uring_missing(void);
const char *uring_deferred_missing(void);

/* ---- transport_mapped.c ---- */
int speed_family_or_die(void);

extern const struct transport transport_pipe, transport_unix, transport_tcp, transport_speed;
extern const struct transport transport_fused, transport_fused_poll;
extern const struct transport transport_mapped, transport_mapped_sleep;
extern const struct transport transport_zc, transport_call;
extern const struct transport transport_ring, transport_bare, transport_onecopy;
extern const struct transport transport_unix_packet, transport_speed_packet;
extern const struct transport transport_speedrun;
extern const struct transport transport_speedrun_sleep;
/* The rivals. */
extern const struct transport transport_vmsplice, transport_smc, transport_sockmap;
extern const struct transport transport_uring, transport_zmq;

#endif /* TRANSPORT_H */
