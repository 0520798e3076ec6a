// SPDX-License-Identifier: GPL-2.0
/*
 * A part of the kernel that takes a socket's calls without asking whose they are, and reads
 * TCP's queue itself: ovpn, since Linux 6.16. What lies in the ring comes first.
 */
#define _GNU_SOURCE
#include <linux/genetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stress.h"
#include "tcp_pair.h"

#define DEVICE		"speed-ovpn"
#define PEER		1
#define FRAMES		8		/* some before it is taken, the others after */
#define BEFORE		3
#define PAYLOAD		100
#define CONTROL		(4 << 3)	/* of a packet that is its program's */

/* Of linux/ovpn.h. */
#define CMD_PEER_NEW	1
#define A_IFINDEX	1
#define A_PEER		2
#define A_PEER_ID	1
#define A_PEER_SOCKET	6

union request {
	char bytes[512];
	struct {
		struct nlmsghdr n;
		struct genlmsghdr g;
	};
};

static struct nlattr *add(union request *r, int type, const void *data, size_t len)
{
	struct nlattr *a = (void *)(r->bytes + NLMSG_ALIGN(r->n.nlmsg_len));

	*a = (struct nlattr){ .nla_len = NLA_HDRLEN + len, .nla_type = type };
	memcpy((char *)a + NLA_HDRLEN, data, len);
	r->n.nlmsg_len = NLMSG_ALIGN(r->n.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static union request request(int family, int cmd)
{
	return (union request){
		.n = { .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN), .nlmsg_type = family,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.g = { .cmd = cmd, .version = 1 },
	};
}

/* The answer's first attribute of a type, or NULL. Return: 0, or an errno. */
static int ask(int nl, union request *r)
{
	const struct nlmsgerr *e = NLMSG_DATA(&r->n);

	MUST(send(nl, r, r->n.nlmsg_len, 0) == (ssize_t)r->n.nlmsg_len);
	MUST(recv(nl, r, sizeof(*r), 0) > 0);
	return r->n.nlmsg_type == NLMSG_ERROR ? -e->error : 0;
}

static int family_of(int nl, const char *name)
{
	union request r = request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	const struct nlattr *a;
	size_t at;

	add(&r, CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	r.n.nlmsg_flags = NLM_F_REQUEST;
	if (ask(nl, &r))
		return -1;
	for (at = NLMSG_LENGTH(GENL_HDRLEN); at < r.n.nlmsg_len; at += NLA_ALIGN(a->nla_len)) {
		a = (void *)(r.bytes + at);
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(const uint16_t *)(a + 1);
	}
	return -1;
}

static int give(int nl, int family, int fd)
{
	union request r = request(family, CMD_PEER_NEW);
	uint32_t number = if_nametoindex(DEVICE);
	struct nlattr *peer;

	add(&r, A_IFINDEX, &number, sizeof(number));
	peer = add(&r, A_PEER | NLA_F_NESTED, "", 0);
	number = PEER;
	add(&r, A_PEER_ID, &number, sizeof(number));
	number = fd;
	add(&r, A_PEER_SOCKET, &number, sizeof(number));
	peer->nla_len = r.bytes + r.n.nlmsg_len - (char *)peer;
	return ask(nl, &r);
}

static bool send_frames(int fd, int from, int to)
{
	unsigned char frame[2 + PAYLOAD] = { 0, PAYLOAD, CONTROL };

	for (; from < to; from++) {
		frame[3] = from;
		if (send(fd, frame, sizeof(frame), MSG_NOSIGNAL) != sizeof(frame))
			return false;
	}
	return true;
}

/* As the program gets them: which, in the order in which they come. */
static int count_frames(int fd)
{
	unsigned char frame[1000];
	int n = 0;

	while (poll_wait(fd, POLLIN, 3000) & POLLIN) {
		ssize_t len = recv(fd, frame, sizeof(frame), MSG_DONTWAIT);

		if (len != 2 + PAYLOAD || frame[3] != n)
			break;
		n++;
	}
	return n;
}

static int story(int nl, int family, bool fused)
{
	int fd[2], n;

	tcp_shim_set(fused);
	tcp_pair(fd);
	WANT_TRUE(tcp_exchange(fd), "%d: exchange", fused);
	WANT(tcp_fused(fd), fused, 0, "%d: fused", fused);
	WANT_TRUE(send_frames(fd[0], 0, BEFORE), "%d: before", fused);
	WANT(give(nl, family, fd[1]), 0, 0, "%d: it is taken", fused);
	WANT_TRUE(send_frames(fd[0], BEFORE, FRAMES), "%d: after", fused);
	n = count_frames(fd[1]);
	tcp_close(fd);
	MUST(!shell("ip link del " DEVICE));
	return n;
}

static void by_ovpn(const struct transport *t)
{
	int nl, family, i;

	(void)t;
	tcp_shim_net();
	for (i = 0; i < 2; i++) {
		shell("modprobe ovpn");
		if (shell("ip link add " DEVICE " type ovpn"))
			trace_skip("needs ovpn (Linux 6.16) and ip (iproute2)");
		MUST(!shell("ip link set " DEVICE " up"));
		nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
		family = family_of(nl, "ovpn");
		MUST(family > 0);
		WANT(story(nl, family, i), FRAMES, 0, "%d: frames, in order", i);
		close(nl);
	}
}

static const struct test_case cases[] = {
	{ "by_ovpn", by_ovpn, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
