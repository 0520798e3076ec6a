// SPDX-License-Identifier: GPL-2.0
/*
 * TCP whose bytes a BPF program takes from one socket's send queue to the other's
 * receive queue: the redirection of sockmap, which service meshes use. Both ends are
 * put into a hash of sockets, and the program looks for the peer's by the
 * connection's ports. Only in the program that is linked with the libraries.
 */
#define _GNU_SOURCE
#include "bench.h"
#include "transport.h"

#ifdef FULL

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define LOAD(to, field) \
	INSN(BPF_LDX | BPF_MEM | BPF_W, to, BPF_REG_1, offsetof(struct sk_msg_md, field), 0)
#define KEY		(-4)	/* on the program's stack */

static int map = -1;

/* The key of a socket: its own port and its peer's. */
static uint32_t key_of(uint16_t local, uint16_t remote)
{
	return (uint32_t)local << 16 | remote;
}

static int program_load(int hash)
{
	const struct bpf_insn code[] = {
		/* r2 = the peer's key: its port, told in network order, and ours */
		LOAD(BPF_REG_2, remote_port),
		INSN(BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_2, 0, 0, 32),
		INSN(BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_2, 0, 0, 16),
		LOAD(BPF_REG_3, local_port),
		INSN(BPF_ALU64 | BPF_OR | BPF_X, BPF_REG_2, BPF_REG_3, 0, 0),
		INSN(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_2, KEY, 0),
		/* r0 = bpf_msg_redirect_hash(r1: the message, map, &key, BPF_F_INGRESS) */
		INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, hash),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, KEY),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, BPF_F_INGRESS),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_msg_redirect_hash),
		/* Whatever came of it: what finds no peer goes by TCP. */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, SK_PASS),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return bpf_prog_load(BPF_PROG_TYPE_SK_MSG, "speedbench", "GPL", code,
			     sizeof(code) / sizeof(code[0]), NULL);
}

/* Why this could not be done, where the kernel or the user lacks what it takes. */
static const char *lacking(const char *what)
{
	static char why[128];

	switch (errno) {
	case EPERM:
		snprintf(why, sizeof(why), "this user may have no %s", what);
		return why;
	case ENOSYS:
	case EINVAL:
	case EOPNOTSUPP:
		snprintf(why, sizeof(why), "this kernel has no %s: %m", what);
		return why;
	}
	die("sockmap: %s: %m", what);
}

static const char *attach(int hash)
{
	const char *why = NULL;
	int program = program_load(hash);

	if (program < 0)
		return lacking("BPF program that redirects messages");
	if (bpf_prog_attach(program, hash, BPF_SK_MSG_VERDICT, 0))
		why = lacking("such program at a hash of sockets");
	close(program);
	return why;
}

static const char *sockmap_missing(void)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	const char *why;
	int hash;

	if (map >= 0)
		return NULL;
	setrlimit(RLIMIT_MEMLOCK, &all);
	hash = bpf_map_create(BPF_MAP_TYPE_SOCKHASH, "speedbench", 4, 4, 64, NULL);
	if (hash < 0)
		return lacking("BPF hash of sockets");
	why = attach(hash);
	if (why)
		close(hash);
	else
		map = hash;
	return why;
}

static uint16_t port(int fd, int (*ask)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	if (ask(fd, (struct sockaddr *)&address, &len))
		die("sockmap: a port: %m");
	return ntohs(address.sin_port);
}

static void insert(int fd)
{
	uint32_t key = key_of(port(fd, getsockname), port(fd, getpeername));

	if (bpf_map_update_elem(map, &key, &fd, BPF_ANY))
		die("sockmap: a socket is not taken: %m");
}

static void sockmap_open(const struct transport *t, struct link *l)
{
	socket_link(t, l);
	insert(l->end[0].in);
	insert(l->end[1].in);
}

/* A figure of redirection must not be TCP's own. */
static void sockmap_leave(struct end *e)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	if (getsockopt(e->out, IPPROTO_TCP, TCP_INFO, &info, &len))
		die("sockmap: TCP_INFO: %m");
	if (info.tcpi_bytes_sent > e->bytes[0] / 10)
		die("sockmap: %llu of %llu bytes went by TCP",
		    (unsigned long long)info.tcpi_bytes_sent, (unsigned long long)e->bytes[0]);
}

/* Woken for nothing, a blocking recv() on a redirected socket says EAGAIN. */
static size_t sockmap_get_some(struct end *e, void *to, size_t len)
{
	ssize_t n;

	do {
		n = recv(e->in, to, len, 0);
	} while (n < 0 && errno == EAGAIN);
	if (n < 0)
		die("sockmap: recv: %m");
	if (!n)
		die("sockmap: the peer has closed");
	return (size_t)n;
}

static void sockmap_get(struct end *e, void *to, size_t len)
{
	while (len) {
		size_t n = sockmap_get_some(e, to, len);

		to = (char *)to + n;
		len -= n;
	}
}

#else

#define sockmap_get		NULL
#define sockmap_get_some	NULL
#define sockmap_open	NULL
#define sockmap_leave	NULL

static const char *sockmap_missing(void)
{
	return "this speedbench is not linked with libbpf";
}

#endif

const struct transport transport_sockmap = {
	.name = "tcp-sockmap",
	.why_unable = "connections are opened here and entered in no map, and are TCP's then",
	.able = ABLE_LINK | ABLE_STREAM,
	.family = family_inet,
	.missing = sockmap_missing,
	.open = sockmap_open,
	.leave = sockmap_leave,
	.put = socket_put,
	.get = sockmap_get,
	.get_some = sockmap_get_some,
};
