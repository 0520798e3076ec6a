// SPDX-License-Identifier: GPL-2.0
/* The socket options that programs set and get: see struct diff_opt. */
#define _GNU_SOURCE
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "diff_op.h"

#define COUNT(a)	((int)(sizeof(a) / sizeof((a)[0])))
#define BIG		300000
#define RENO		0x6f6e6572	/* "reno", as a number of four bytes */
#define VALUES(...)	COUNT(((int[]){ __VA_ARGS__ })), { __VA_ARGS__ }

#ifndef SO_PEEK_OFF
#define SO_PEEK_OFF	42
#endif

/*
 * Times in ms; a linger of -1 is off; the long times are as good as none. A window clamp
 * of what there is, and a pace, change how much comes at once, and when: of the first only
 * the value that is refused, of the second only the one that means none.
 */
const struct diff_opt diff_opts[] = {
	{ "nodelay", IPPROTO_TCP, TCP_NODELAY, DK_INT, OI_OTHER, true, VALUES(0, 1) },
	{ "cork", IPPROTO_TCP, TCP_CORK, DK_INT, OI_CORK, true, VALUES(0, 1) },
	{ "quickack", IPPROTO_TCP, TCP_QUICKACK, DK_INT, OI_OTHER, false, VALUES(0, 1) },
	{ "sndbuf", SOL_SOCKET, SO_SNDBUF, DK_INT, OI_SNDBUF, false, VALUES(1, 4096, 20000, BIG) },
	{ "rcvbuf", SOL_SOCKET, SO_RCVBUF, DK_INT, OI_RCVBUF, false, VALUES(1, 4096, 20000, BIG) },
	{ "lowat", SOL_SOCKET, SO_RCVLOWAT, DK_INT, OI_LOWAT, true, VALUES(0, 1, 2, 10, 200) },
	{ "rcvtimeo", SOL_SOCKET, SO_RCVTIMEO, DK_TIME, OI_RCVTIMEO, true, VALUES(0, 12, 100000) },
	{ "sndtimeo", SOL_SOCKET, SO_SNDTIMEO, DK_TIME, OI_SNDTIMEO, true, VALUES(0, 12, 100000) },
	{ "nonblock", 0, 0, DK_NONBLOCK, OI_NONBLOCK, true, VALUES(0, 1) },
	{ "async", 0, 0, DK_ASYNC, OI_OTHER, true, VALUES(0, 1) },
	{ "linger", SOL_SOCKET, SO_LINGER, DK_LINGER, OI_LINGER, true, VALUES(-1, 0) },
	{ "oobinline", SOL_SOCKET, SO_OOBINLINE, DK_INT, OI_URGINLINE, true, VALUES(0, 1) },
	{ "inq", IPPROTO_TCP, TCP_INQ, DK_INT, OI_OTHER, true, VALUES(0, 1) },
	{ "peekoff", SOL_SOCKET, SO_PEEK_OFF, DK_INT, OI_PEEKOFF, true, VALUES(-1, 0, 1, 40) },
	{ "zerocopy", SOL_SOCKET, SO_ZEROCOPY, DK_INT, OI_OTHER, true, VALUES(0, 1) },
	{ "keepalive", SOL_SOCKET, SO_KEEPALIVE, DK_INT, OI_OTHER, true, VALUES(0, 1) },
	{ "keepidle", IPPROTO_TCP, TCP_KEEPIDLE, DK_INT, OI_OTHER, true, VALUES(0, 100, 32767) },
	{ "keepintvl", IPPROTO_TCP, TCP_KEEPINTVL, DK_INT, OI_OTHER, true, VALUES(0, 75, 32767) },
	{ "keepcnt", IPPROTO_TCP, TCP_KEEPCNT, DK_INT, OI_OTHER, true, VALUES(0, 9, 127) },
	{ "syncnt", IPPROTO_TCP, TCP_SYNCNT, DK_INT, OI_OTHER, true, VALUES(0, 6, 127) },
	{ "linger2", IPPROTO_TCP, TCP_LINGER2, DK_INT, OI_OTHER, true, VALUES(0, 30, 60) },
	{ "clamp", IPPROTO_TCP, TCP_WINDOW_CLAMP, DK_INT, OI_OTHER, false, VALUES(0) },
	{ "congestion", IPPROTO_TCP, TCP_CONGESTION, DK_INT, OI_OTHER, true, VALUES(0, RENO) },
	{ "savesyn", IPPROTO_TCP, TCP_SAVE_SYN, DK_INT, OI_OTHER, true, VALUES(0, 1, 3) },
	{ "pacing", SOL_SOCKET, SO_MAX_PACING_RATE, DK_INT, OI_OTHER, true, VALUES(-1) },
	{ "mark", SOL_SOCKET, SO_MARK, DK_INT, OI_OTHER, true, VALUES(0, 7) },
	{ "reuseport", SOL_SOCKET, SO_REUSEPORT, DK_INT, OI_OTHER, true, VALUES(0, 1) },
	{ "usertimeout", IPPROTO_TCP, TCP_USER_TIMEOUT, DK_INT, OI_OTHER, true, VALUES(0, 30000) },
	{ "notsent", IPPROTO_TCP, TCP_NOTSENT_LOWAT, DK_INT, OI_OTHER, true, VALUES(0, 1000000) },
	{ "maxseg", IPPROTO_TCP, TCP_MAXSEG, DK_INT, OI_MAXSEG, false, VALUES(1, 600, 1400) },
	{ "priority", SOL_SOCKET, SO_PRIORITY, DK_INT, OI_OTHER, true, VALUES(0, 6) },
	{ "tos", IPPROTO_IP, IP_TOS, DK_INT, OI_OTHER, false, VALUES(0, 16) },
	{ "busypoll", SOL_SOCKET, SO_BUSY_POLL, DK_INT, OI_OTHER, true, VALUES(0, 20) },
	{ "timestamp", SOL_SOCKET, SO_TIMESTAMP, DK_INT, OI_OTHER, true, VALUES(0, 1) },
	{ "thin", IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, DK_INT, OI_OTHER, true, VALUES(0, 1, 2) },
	{ "error", SOL_SOCKET, SO_ERROR, DK_INT, OI_OTHER, true, VALUES(1) },
	{ "type", SOL_SOCKET, SO_TYPE, DK_INT, OI_OTHER, true, VALUES(1) },
	{ "protocol", SOL_SOCKET, SO_PROTOCOL, DK_INT, OI_OTHER, true, VALUES(1) },
	{ "domain", SOL_SOCKET, SO_DOMAIN, DK_INT, OI_OTHER, true, VALUES(1) },
	{ "acceptconn", SOL_SOCKET, SO_ACCEPTCONN, DK_INT, OI_OTHER, true, VALUES(1) },
	{ "addrform", IPPROTO_IPV6, IPV6_ADDRFORM, DK_INT, OI_OTHER, false, VALUES(2) },
	{ "unknown", IPPROTO_TCP, 9999, DK_INT, OI_OTHER, true, VALUES(0) },
	{ "filter", SOL_SOCKET, SO_ATTACH_FILTER, DK_FILTER, OI_OTHER, false, VALUES(0, 1) },
	{ "repair", IPPROTO_TCP, TCP_REPAIR, DK_REPAIR, OI_OTHER, false, VALUES(1) },
	{ "ulp", IPPROTO_TCP, TCP_ULP, DK_ULP, OI_OTHER, false, VALUES(0, 1) },
	{ "fastopen", IPPROTO_TCP, TCP_FASTOPEN_CONNECT, DK_INT, OI_FASTOPEN, true, VALUES(0, 1) },
};

const int diff_opts_n = COUNT(diff_opts);
