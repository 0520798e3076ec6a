/* SPDX-License-Identifier: GPL-2.0 */
/*
 * TCP connections over local addresses, and how the loopback shim carries them.
 * Of a connection fd[0] is the end that connected, fd[1] the accepted one.
 */
#ifndef SPEED_SELFTESTS_TCP_PAIR_H
#define SPEED_SELFTESTS_TCP_PAIR_H

#include <linux/speed.h>

#include "transport.h"

#define LOCAL4		"127.0.0.1"
#define LOCAL6		"::1"
#define MAPPED		"::ffff:127.0.0.1"

/* Of a socket that takes no part: no option of ours. */
#define TCP_NO_PART	0xffffffffu

/* A network namespace of one's own with lo up; ends the body without root. */
void tcp_own_net(void);
/* The same with net.speed.loopback on. */
void tcp_shim_net(void);
/* net.speed.loopback of this namespace. */
void tcp_shim_set(int on);

/* An address by its text, "fe80::1%lo" too. */
void tcp_address(struct address *a, const char *host, int port);
int tcp_socket(const struct address *a);
/* A listener there; @a becomes its address. Port 0: any. */
int tcp_listen_at(const char *host, int port, struct address *a);
int tcp_accept(int listener);
/* A connection to a listener that is there, by a socket that is there. */
void tcp_join(int listener, const struct address *to, int client, int fd[2]);
/* To a listener of its own at one address, by way of another of the same port. */
void tcp_pair_via(const char *at, const char *to, int fd[2]);
void tcp_pair(int fd[2]);
void tcp_close(int fd[2]);

/* How its bytes travel; the reason is TCP_NO_PART where it takes no part. */
struct speed_fusion tcp_fusion(int fd);
unsigned int tcp_flags(int fd);
unsigned int tcp_reason(int fd);
bool tcp_takes_part(int fd);
/*
 * Until both ends know of each other: whether it came to that. connect() returns with the
 * handshake's second packet; another processor may still have to deal with the third, and
 * what is sent until then goes by TCP.
 */
bool tcp_met(int fd);
/* Do both ends' next bytes use a ring? */
bool tcp_fused(const int fd[2]);

/* So many bytes each way and back, blocking; whether they are the right ones. */
#define TCP_NOTE	9
bool tcp_exchange(const int fd[2]);
/* So many bytes of the known stream from there on, sent and received. */
bool tcp_put(int fd, size_t len, size_t offset);
bool tcp_get(int fd, size_t len, size_t offset);
/* The same from one end to the other, without blocking. */
bool tcp_pump(int from, int to, size_t len);
/* One way, and then the other. */
bool tcp_pump_both(const int fd[2], size_t len);
/* Until what went by TCP is acknowledged, and so has come: whether it came to that. */
bool tcp_settled(int fd);
/*
 * So long nothing is taken where nothing more will be. Where the reader's window is shut, the
 * next acknowledgement, by which the buffer may grow, is that of a probe, after TCP's timeout:
 * 200 ms, or what it has become where the first round trips were slow, on a machine that was
 * held up. This is twice that, and no less than 600; which it is where there is no TCP.
 */
unsigned int tcp_quiet_ms(int fd);
/* What is taken, of the known stream, until nothing more is, though TCP had time to move it. */
size_t tcp_fill(int fd);
/* Does this kernel have IPv6? */
bool tcp_has_ipv6(void);
/* As send(), with a control message of no effect: it goes by TCP. */
ssize_t tcp_send_odd(int fd, const void *buf, size_t len, int flags);
/* TCP_ULP: 0 or -1 and errno. */
int tcp_set_ulp(int fd, const char *name);
/* connect(AF_UNSPEC): 0 or -1 and errno. */
int tcp_give_up(int fd);
/* SPEED_FUSE: 0 or -1 and errno. */
int tcp_set_fuse(int fd, unsigned int wish);
/* Exchanges until both ends are fused, or are not: whether it came to that. */
bool tcp_fuses(const int fd[2]);
bool tcp_unfuses(const int fd[2]);
/* A connection that is fused; anything else is a failure. */
void tcp_fused_pair(int fd[2]);

#endif
