// SPDX-License-Identifier: GPL-2.0
/*
 * How much a sender can write that nobody reads: what plain TCP takes under the same
 * SO_SNDBUF, SO_RCVBUF, tcp_wmem and tcp_rmem, and no more than a ring beyond it. A ring
 * is as large as net.speed.ring_bytes says, but no larger than tcp_wmem's last number; or
 * as the buffers that were set before the connection was made.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define TRIES		3

/**
 * struct limits - what bounds a connection
 * @name: in results
 * @snd: SO_SNDBUF of both ends, or 0
 * @rcv: SO_RCVBUF of both ends, or 0
 * @wmem: tcp_wmem, or NULL
 * @rmem: tcp_rmem, or NULL
 * @late: the buffers are set when the connection has carried bytes
 */
struct limits {
	const char *name;
	int snd;
	int rcv;
	const char *wmem;
	const char *rmem;
	bool late;
};

static const struct limits all[] = {
	{ "as they are" },
	{ "SO_SNDBUF 4096", .snd = 4096 },
	{ "SO_RCVBUF 4096", .rcv = 4096 },
	{ "both 4096", .snd = 4096, .rcv = 4096 },
	{ "both 30000", .snd = 30000, .rcv = 30000 },
	{ "both 150000", .snd = 150000, .rcv = 150000 },
	{ "SO_SNDBUF 4096, late", .snd = 4096, .late = true },
	{ "both 4096, late", .snd = 4096, .rcv = 4096, .late = true },
	{ "small tcp_wmem", .wmem = "4096 8192 16384" },
	{ "small tcp_rmem", .rmem = "4096 8192 16384" },
	{ "both small", .wmem = "4096 8192 16384", .rmem = "4096 8192 16384" },
	{ "both larger", .wmem = "4096 40000 40000", .rmem = "4096 60000 60000" },
};

#define IPV4		"/proc/sys/net/ipv4/"

struct kept {
	char wmem[64], rmem[64];
};

static void keep(struct kept *k)
{
	MUST(file_read(IPV4 "tcp_wmem", k->wmem, sizeof(k->wmem)) == 0);
	MUST(file_read(IPV4 "tcp_rmem", k->rmem, sizeof(k->rmem)) == 0);
}

/*
 * A congestion window that begins anew where a sender takes 200 ms between two packets, or where
 * an earlier connection had slow round trips, would let the buffer of whoever is slower grow less.
 */
static void set_forgetful(void)
{
	MUST(file_write(IPV4 "tcp_slow_start_after_idle", "0") == 0);
	MUST(file_write(IPV4 "tcp_no_metrics_save", "1") == 0);
}

static void set_mem(const char *wmem, const char *rmem)
{
	MUST(file_write(IPV4 "tcp_wmem", wmem) == 0);
	MUST(file_write(IPV4 "tcp_rmem", rmem) == 0);
}

static void set_buffers(const struct limits *l, int fd)
{
	if (l->snd)
		MUST(set_int(fd, SOL_SOCKET, SO_SNDBUF, l->snd) == 0);
	if (l->rcv)
		MUST(set_int(fd, SOL_SOCKET, SO_RCVBUF, l->rcv) == 0);
}

static void limited_pair(const struct limits *l, int fd[2])
{
	struct address a;
	int listener = tcp_listen_at(LOCAL4, 0, &a);
	int client = tcp_socket(&a);

	if (!l->late) {
		set_buffers(l, listener);
		set_buffers(l, client);
	}
	tcp_join(listener, &a, client, fd);
	close(listener);
	MUST(tcp_exchange(fd));
	if (l->late) {
		set_buffers(l, fd[0]);
		set_buffers(l, fd[1]);
	}
}

/* Filled one way. The ring's size is 0 on plain TCP. */
static size_t taken(const struct limits *l, bool fused, size_t *ring)
{
	size_t bytes;
	int fd[2];

	tcp_shim_set(fused);
	limited_pair(l, fd);
	WANT(tcp_fused(fd), fused, 0, "%s: fused", l->name);
	bytes = tcp_fill(fd[0]);
	*ring = tcp_fusion(fd[0]).ring_bytes[SPEED_ROLE_TX];
	WANT_TRUE(tcp_get(fd[1], bytes, 0), "%s: the bytes", l->name);
	WANT_TRUE(tcp_exchange(fd), "%s: exchange", l->name);
	tcp_close(fd);
	return bytes;
}

/* The largest send buffer that TCP gives by itself. */
static size_t wmem_most(void)
{
	char text[64], *last;

	MUST(file_read(IPV4 "tcp_wmem", text, sizeof(text)) == 0);
	last = strrchr(text, '\t');
	MUST(last);
	return strtoul(last, NULL, 10);
}

/* Buffers that were set bound the ring, or the sysctls: what they are, to the next power of two. */
static size_t ring_most(const struct limits *l)
{
	size_t bytes = l->late ? 0 : 2 * (l->snd ?: l->rcv), most = 4096;
	char text[32];

	MUST(sysctl_get("ring_bytes", text, sizeof(text)) == 0);
	if (!bytes) {
		bytes = strtoul(text, NULL, 10);
		bytes = bytes < wmem_most() ? bytes : wmem_most();
	}
	while (most < bytes)
		most *= 2;
	return most;
}

/*
 * What does not fit into the ring goes by TCP, in other segments than those of plain TCP. It
 * counts their overhead, too, and takes a last one whole: of loopback it may be this large.
 */
#define SEGMENT		65536

/*
 * A send buffer that nobody set grows with the acknowledgements that come while it fills, up to
 * tcp_wmem's last number. The receiver, who reads nothing, gets no more than its first window.
 */
static size_t grown(const struct limits *l)
{
	return l->snd ? 0 : wmem_most() + SEGMENT;
}

/*
 * Which packets wait for an acknowledgement at once decides how far TCP's buffers grow: it may
 * be measured again, and fused TCP may take as little as plain TCP once took.
 */
static void bounded(const struct limits *l)
{
	size_t plain, least = SIZE_MAX, most = grown(l), fused, none, ring;
	int tries = 0;

	do {
		plain = taken(l, false, &none);
		least = plain < least ? plain : least;
		most = plain > most ? plain : most;
		fused = taken(l, true, &ring);
	} while (++tries < TRIES && (fused < least || fused > most + ring + SEGMENT));
	trace_num(least, "%s: plain TCP takes", l->name);
	trace_num(fused, "%s: fused TCP takes", l->name);
	WANT_TRUE(ring > 0 && ring <= ring_most(l), "%s: the ring's size is %zu, at most %zu",
		  l->name, ring, ring_most(l));
	WANT_TRUE(fused >= least, "%s: %zu, no less than %zu", l->name, fused, least);
	WANT_TRUE(fused <= most + ring + SEGMENT, "%s: %zu, at most %zu + %zu and a segment",
		  l->name, fused, most, ring);
}

static void limits(const struct transport *t)
{
	struct kept before;
	size_t i;

	tcp_own_net();
	set_forgetful();
	keep(&before);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		set_mem(all[i].wmem ?: before.wmem, all[i].rmem ?: before.rmem);
		bounded(&all[i]);
	}
}

static const struct test_case cases[] = {
	{ "limits", limits, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
