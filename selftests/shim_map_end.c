// SPDX-License-Identifier: GPL-2.0
/*
 * How a mapped fused connection ends, and who else has part in it: connect(AF_UNSPEC),
 * SOCK_DESTROY, the sysctl off, a mapping kept over the close of both ends, another
 * process, and a user without privileges.
 */
#define _GNU_SOURCE
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flow.h"
#include "mapped.h"
#include "stress.h"

static void given_up(const struct transport *t)
{
	struct end e[2];
	char buf[8];
	int i;

	for (i = 0; i < 2; i++) {
		mapped_ends(t, e);
		WANT(mapped_talk(e, 10), 10, 0, "messages");
		WANT_OK(tcp_give_up(e[i].fd), "%d: give it up", i);
		/* As plain TCP: the reset is told once. */
		WANT_ERR(end_send(&e[i], "x", 1, MSG_NOSIGNAL), ECONNRESET, "%d: send", i);
		WANT_ERR(end_send(&e[i], "x", 1, MSG_NOSIGNAL), EPIPE, "%d: send", i);
		WANT_ERR(end_recv(&e[i], buf, sizeof(buf), MSG_DONTWAIT), ENOTCONN, "%d: recv", i);
		WANT_ERR(end_recv(&e[!i], buf, sizeof(buf), 0), ECONNRESET, "%d: the other", i);
		pair_close(e);
	}
}

/* As ss -K: 0 or the errno. */
static int destroy(int fd)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} ask = {
		.h = { sizeof(ask), SOCK_DESTROY, NLM_F_REQUEST | NLM_F_ACK },
		.r = { AF_INET, IPPROTO_TCP, .idiag_states = -1,
		       .id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } },
	};
	int nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct address here, there;
	struct { struct nlmsghdr h; struct nlmsgerr e; char more[256]; } answer;

	MUST(nl >= 0 && !get_sockname(fd, &here) && !get_peername(fd, &there));
	ask.r.id.idiag_sport = ((struct sockaddr_in *)&here.sa)->sin_port;
	ask.r.id.idiag_dport = ((struct sockaddr_in *)&there.sa)->sin_port;
	ask.r.id.idiag_src[0] = ((struct sockaddr_in *)&here.sa)->sin_addr.s_addr;
	ask.r.id.idiag_dst[0] = ((struct sockaddr_in *)&there.sa)->sin_addr.s_addr;
	MUST(send(nl, &ask, sizeof(ask), 0) == sizeof(ask));
	MUST(recv(nl, &answer, sizeof(answer), 0) > 0);
	close(nl);
	return -answer.e.error;
}

/* In the middle of streams both ways: no byte that comes is wrong, and both ends hear. */
static void destroyed(const struct transport *t)
{
	struct flow f[2];
	struct end e[2];
	int i, err;

	for (i = 0; i < 4; i++) {
		mapped_ends(t, e);
		flow_start(&f[0], &e[0], &e[1], 3000);
		flow_start(&f[1], &e[1], &e[0], 3000);
		WANT_TRUE(flow_moves(&f[0], 5000) && flow_moves(&f[1], 5000), "they flow");
		err = destroy(e[i & 1].fd);
		if (err == EOPNOTSUPP)
			trace_skip("needs CONFIG_INET_DIAG_DESTROY");
		WANT(err, 0, 0, "%d: SOCK_DESTROY", i);
		flow_broken(&f[0], "there");
		flow_broken(&f[1], "back");
		pair_close(e);
	}
}

static void switched_off(const struct transport *t)
{
	struct end e[2];
	long late;

	mapped_ends(t, e);
	WANT_TRUE(mapped_put(&e[0], 9000, 0), "unread");
	tcp_shim_set(0);
	WANT_TRUE(mapped_get(&e[1], 9000, 0), "read after the switch");
	for (late = now_ms() + 20000; tcp_flags(e[0].fd) & SPEED_FUSION_TX && now_ms() < late;)
		MUST(mapped_talk(e, 2) == 2);
	WANT(tcp_reason(e[0].fd), SPEED_TCP_OFF, 0, "the reason");
	WANT(mapped_talk(e, 100), 100, 0, "messages by TCP");
	pair_close(e);
}

/* The mappings outlive the descriptors; they show nothing and hold nothing but pages. */
static void mapping_kept(const struct transport *t)
{
	struct end next[2];
	struct raw w[2];
	char told[64];
	int fd[2], i;

	/* The last message of mapped_talk(next, 50). */
	memset(told, 49, sizeof(told));
	for (i = 0; i < 4; i++) {
		raw_fds(t, fd, &w[0]);
		raw_open(&w[1], fd[1], SPEED_ROLE_RX);
		memcpy(w[0].r.data + (w[0].l.own & (w[0].l.size - 1)), "kept", 4);
		raw_publish(&w[0], w[0].l.own + 4);
		close(fd[i & 1]);
		if (i & 2)
			sleep_ms(20);
		close(fd[!(i & 1)]);
		raw_publish(&w[0], 77);
		memset(w[0].r.data, 0xee, w[0].l.size);
		mapped_ends(t, next);
		WANT(mapped_talk(next, 50), 50, 0, "another connection");
		memset(w[0].r.data, 0xdd, w[0].l.size);
		WANT(mapped_talk(next, 50), 50, 0, "another connection");
		WANT_TRUE(!memmem(w[1].r.data, w[1].l.size, told, sizeof(told)),
			  "nothing of it is seen");
		pair_close(next);
		raw_unmap(&w[0]);
		raw_unmap(&w[1]);
	}
}

static int child_talks(void *arg)
{
	struct end *e = arg;

	return mapped_talk(e, 200) == 200 && mapped_put(&e[0], 3000, 0) ? 0 : 1;
}

/* A child uses the handles that it has from its parent; then the parent goes on. */
static void forked(const struct transport *t)
{
	struct end e[2];
	pid_t pid;
	int i;

	mapped_ends(t, e);
	for (i = 0; i < 5; i++) {
		WANT(mapped_talk(e, 100), 100, 0, "the parent");
		pid = process_start(child_talks, e);
		WANT(process_join(pid), 0, 0, "the child");
		WANT_TRUE(mapped_get(&e[1], 3000, 0), "what the child sent last");
	}
	WANT_TRUE(mapped_again(e), "mapped again");
	pair_close(e);
}

/* Two processes at once, each with a lease of its own whenever it gets one. */
static int child_sends(void *arg)
{
	struct end *e = arg;
	int i;

	for (i = 0; i < 2000; i++) {
		if (end_send(e, "cc", 2, MSG_NOSIGNAL) != 2)
			return 1;
	}
	return 0;
}

static void two_processes(const struct transport *t)
{
	long mine = 0, theirs = 0, other = 0;
	struct end e[2];
	char buf[512];
	pid_t pid;
	ssize_t n;
	int i;

	mapped_ends(t, e);
	pid = process_start(child_sends, &e[0]);
	for (i = 0; i < 2000; i++) {
		WANT(end_send(&e[0], "pp", 2, MSG_NOSIGNAL) == 2, 1, 0, "send");
		while ((n = end_recv(&e[1], buf, sizeof(buf), MSG_DONTWAIT)) > 0)
			for (; n; n--) {
				mine += buf[n - 1] == 'p';
				theirs += buf[n - 1] == 'c';
				other += buf[n - 1] != 'p' && buf[n - 1] != 'c';
			}
	}
	WANT(process_join(pid), 0, 0, "the child");
	shutdown(e[0].fd, SHUT_WR);
	while ((n = end_recv(&e[1], buf, sizeof(buf), 0)) > 0)
		for (; n; n--) {
			mine += buf[n - 1] == 'p';
			theirs += buf[n - 1] == 'c';
			other += buf[n - 1] != 'p' && buf[n - 1] != 'c';
		}
	WANT(mine, 4000, 0, "the parent's bytes");
	WANT(theirs, 4000, 0, "the child's");
	WANT(other, 0, 0, "others");
	pair_close(e);
}

/* No privilege is needed for one's own descriptors. */
static int nobody(void *arg)
{
	struct transport *t = arg;
	struct end e[2];

	if (setgid(65534) || setuid(65534))
		return 1;
	mapped_ends(t, e);
	if (mapped_talk(e, 300) != 300 || !tcp_fused(FDS(e)))
		return 2;
	if (t->path[0] == PATH_MAPPED && !mapped_leased(e[0].fd, SPEED_ROLE_TX))
		return 3;
	pair_close(e);
	return 0;
}

static void unprivileged(const struct transport *t)
{
	struct transport u = *t;

	WANT(process_join(process_start(nobody, &u)), 0, 0, "a user without privileges");
}

#define PATHS	(CASE_STREAM | CASE_FUSED_ONLY | CASE_PATHS)

static const struct test_case cases[] = {
	{ "given_up", given_up, PATHS },
	{ "destroyed", destroyed, PATHS },
	{ "switched_off", switched_off, PATHS },
	{ "mapping_kept", mapping_kept, CASE_STREAM | CASE_FUSED_ONLY },
	{ "forked", forked, PATHS },
	{ "two_processes", two_processes, PATHS },
	{ "unprivileged", unprivileged, PATHS | CASE_UNMAPPED },
};

RUN_CASES(cases)
