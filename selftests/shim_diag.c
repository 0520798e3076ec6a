// SPDX-License-Identifier: GPL-2.0
/*
 * What ss -ti asks for by netlink: the ULP's name, struct speed_fusion, and
 * TCP_INFO with the bytes of the rings.
 */
#define _GNU_SOURCE
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include "stress.h"
#include "tcp_pair.h"

#define INFO_FUSION	83

struct diag {
	char name[16];
	struct speed_fusion fusion;
	struct tcp_info info;
	int answers;
};

static void diag_ulp(struct diag *d, struct rtattr *a)
{
	struct rtattr *in = RTA_DATA(a);
	int len = RTA_PAYLOAD(a);

	for (; RTA_OK(in, len); in = RTA_NEXT(in, len)) {
		if (in->rta_type == INET_ULP_INFO_NAME)
			snprintf(d->name, sizeof(d->name), "%s", (char *)RTA_DATA(in));
		else if (in->rta_type == INFO_FUSION && RTA_PAYLOAD(in) == sizeof(d->fusion))
			memcpy(&d->fusion, RTA_DATA(in), sizeof(d->fusion));
	}
}

static void diag_answer(struct diag *d, struct nlmsghdr *h)
{
	struct rtattr *a = (void *)((struct inet_diag_msg *)NLMSG_DATA(h) + 1);
	int len = h->nlmsg_len - NLMSG_LENGTH(sizeof(struct inet_diag_msg));

	d->answers++;
	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if ((a->rta_type & NLA_TYPE_MASK) == INET_DIAG_ULP_INFO)
			diag_ulp(d, a);
		else if (a->rta_type == INET_DIAG_INFO)
			memcpy(&d->info, RTA_DATA(a), RTA_PAYLOAD(a) < sizeof(d->info) ?
						      RTA_PAYLOAD(a) : sizeof(d->info));
	}
}

/* All sockets of the connection's port, as ss -ti does; the one that is asked for. */
static struct diag diag_of(int fd)
{
	static char buf[32768];
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} ask = {
		.h = { sizeof(ask), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP },
		.r = { AF_INET, IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), .idiag_states = -1 },
	};
	int nl = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), n;
	struct diag d = { .answers = 0 };
	struct nlmsghdr *h;
	struct stat st;

	MUST(fstat(fd, &st) == 0);
	if (nl < 0)
		trace_skip("needs CONFIG_INET_DIAG");
	MUST(send(nl, &ask, sizeof(ask), 0) == sizeof(ask));
	while ((n = recv(nl, buf, sizeof(buf), 0)) > 0) {
		for (h = (void *)buf; NLMSG_OK(h, (unsigned int)n); h = NLMSG_NEXT(h, n)) {
			struct inet_diag_msg *m = NLMSG_DATA(h);

			if (h->nlmsg_type == NLMSG_ERROR)
				trace_skip("needs CONFIG_INET_TCP_DIAG");
			if (h->nlmsg_type == NLMSG_DONE)
				goto out;
			if (m->idiag_inode == st.st_ino)
				diag_answer(&d, h);
		}
	}
out:
	close(nl);
	return d;
}

/* TCP's counters learn of the ring's bytes when they are asked for, and once a second. */
static void tell(const int fd[2])
{
	struct tcp_info info;
	socklen_t len;
	int i;

	for (i = 0; i < 2; i++) {
		len = sizeof(info);
		MUST(getsockopt(fd[i], IPPROTO_TCP, TCP_INFO, &info, &len) == 0);
	}
}

static void by_netlink(const struct transport *t)
{
	struct diag d;
	int fd[2];

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	WANT_TRUE(tcp_put(fd[0], 1000, 0), "put");
	tell(fd);
	d = diag_of(fd[0]);
	WANT(d.answers, 1, 0, "answers");
	WANT_TRUE(!strcmp(d.name, "speed"), "the ULP's name");
	WANT(d.fusion.flags, 7, 0, "flags");
	WANT(d.fusion.bytes[SPEED_ROLE_TX], 1009, 0, "bytes by the ring");
	WANT(d.fusion.fill[SPEED_ROLE_TX], 1000, 0, "unread of them");
	WANT(d.fusion.fill[SPEED_ROLE_RX], 0, 0, "the other way");
	WANT(diag_of(fd[1]).fusion.fill[SPEED_ROLE_RX], 1000, 0, "the other end's");
	WANT_TRUE(d.fusion.pair == tcp_fusion(fd[1]).pair, "pair");
	WANT(d.info.tcpi_bytes_sent, 1009, 0, "TCP_INFO's bytes");
	WANT(diag_of(fd[1]).info.tcpi_bytes_received, 1009, 0, "the other end's");
	MUST(tcp_set_fuse(fd[0], 0) == 0);
	WANT_TRUE(tcp_put(fd[0], 10, 0), "put, by TCP");
	tell(fd);
	d = diag_of(fd[0]);
	WANT(d.fusion.reason, SPEED_TCP_REQUEST, 0, "the reason");
	WANT(d.info.tcpi_bytes_sent - d.info.tcpi_bytes_retrans, 1019, 0, "TCP_INFO's bytes");
	tcp_close(fd);
}

/* Nobody asks the sockets themselves, and the connection is never idle. */
static void while_busy(const struct transport *t)
{
	struct tcp_info sender = { 0 }, reader = { 0 };
	long until = now_ms() + 20000;
	size_t sent = 0;
	int fd[2];

	(void)t;
	tcp_shim_net();
	tcp_fused_pair(fd);
	while (now_ms() < until && (sender.tcpi_bytes_sent < 1000 ||
				    reader.tcpi_bytes_received < 1000)) {
		MUST(tcp_put(fd[0], 500, sent) && tcp_get(fd[1], 500, sent));
		sent += 500;
		sender = diag_of(fd[0]).info;
		reader = diag_of(fd[1]).info;
		sleep_ms(20);
	}
	WANT_TRUE(sender.tcpi_bytes_sent >= 1000, "bytes sent");
	WANT_TRUE(sender.tcpi_bytes_acked >= 1000, "acknowledged");
	WANT_TRUE(reader.tcpi_bytes_received >= 1000, "received");
	WANT_TRUE(sender.tcpi_bytes_sent <= 9 + sent, "no more than were");
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "by_netlink", by_netlink, CASE_STREAM | CASE_SPEED },
	{ "while_busy", while_busy, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
