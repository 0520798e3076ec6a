// SPDX-License-Identifier: GPL-2.0
/*
 * What handles packets on the path keeps bytes on TCP while it is there: a queueing
 * discipline other than the default, programs of tc, and XDP.
 */
#define _GNU_SOURCE
#include <linux/if_link.h>
#include <net/if.h>
#include <unistd.h>

#include "bpf.h"
#include "stress.h"
#include "tcp_pair.h"

/* Newer than the headers may be. */
#define TCX_INGRESS	46
#define TCX_EGRESS	47
#define TCX_NEXT	(-1)

static void need_tc(const char *what)
{
	tcp_shim_net();
	if (shell("tc -V"))
		trace_skip("needs tc (iproute2)");
	if (shell("tc %s", what))
		trace_skip("needs \"tc %s\" (CONFIG_NET_SCHED and modules)", what);
}

/* Before something comes... */
static void leave_unread(const int fd[2])
{
	WANT_TRUE(tcp_put(fd[0], 5000, 0), "unread, by the ring");
	WANT_TRUE(tcp_put(fd[1], 5000, 0), "and back");
}

/* ...and when it is there. */
static void want_on_tcp(const int fd[2])
{
	WANT_TRUE(tcp_put(fd[0], 5000, 5000), "more, by TCP");
	WANT_TRUE(!(tcp_flags(fd[0]) & SPEED_FUSION_TX), "not by the ring");
	WANT(tcp_reason(fd[0]), SPEED_TCP_FILTER, 0, "the reason");
	WANT_TRUE(tcp_get(fd[1], 10000, 0), "all of it");
	WANT_TRUE(tcp_get(fd[0], 5000, 0), "and back");
	WANT_TRUE(tcp_unfuses(fd), "both ways by TCP");
}

/* A connection of before and one that comes meanwhile. */
static void disciplined(const char *add, const char *del)
{
	long not = stat_number("tcp_not_filter");
	int fd[2], late[2];

	need_tc(add);
	WANT(shell("tc %s", del), 0, 0, "%s", del);
	tcp_fused_pair(fd);
	leave_unread(fd);
	WANT(shell("tc %s", add), 0, 0, "%s", add);
	want_on_tcp(fd);
	tcp_pair(late);
	WANT_TRUE(tcp_exchange(late) && tcp_exchange(late), "a new connection");
	WANT(tcp_fusion(late[0]).fused, 0, 0, "which is not fused");
	WANT_TRUE(tcp_pump(fd[0], fd[1], 300000), "bulk");
	WANT(shell("tc %s", del), 0, 0, "%s", del);
	WANT_TRUE(tcp_fuses(fd), "fused again");
	WANT_TRUE(tcp_fuses(late), "the new one, too");
	WANT_TRUE(stat_number("tcp_not_filter") >= not + 2, "tcp_not_filter");
	tcp_close(fd);
	tcp_close(late);
}

static void pfifo(const struct transport *t)
{
	(void)t;
	disciplined("qdisc replace dev lo root pfifo", "qdisc del dev lo root");
}

static void netem(const struct transport *t)
{
	(void)t;
	disciplined("qdisc replace dev lo root netem delay 3ms", "qdisc del dev lo root");
}

static void filtered(const char *hook)
{
	int fd[2];

	need_tc("qdisc add dev lo clsact");
	WANT(shell("tc qdisc del dev lo clsact"), 0, 0, "gone");
	tcp_fused_pair(fd);
	leave_unread(fd);
	WANT(shell("tc qdisc add dev lo clsact"), 0, 0, "a place for filters");
	if (shell("tc %s", hook))
		trace_skip("needs \"tc %s\" (cls_matchall, act_gact)", hook);
	want_on_tcp(fd);
	WANT(shell("tc qdisc del dev lo clsact"), 0, 0, "gone");
	WANT_TRUE(tcp_fuses(fd), "fused again");
	tcp_close(fd);
}

static void egress(const struct transport *t)
{
	(void)t;
	filtered("filter add dev lo egress matchall action pass");
}

static void ingress(const struct transport *t)
{
	(void)t;
	filtered("filter add dev lo ingress matchall action pass");
}

/* A program of the kernel's own kind, linked to lo for a while. */
static void linked(enum bpf_prog_type type, int value, int at, int flags, const char *needs)
{
	int fd[2], prog = bpf_load(type, value), link;

	tcp_shim_net();
	if (prog < 0)
		trace_skip("needs bpf(), %s", needs);
	tcp_fused_pair(fd);
	leave_unread(fd);
	link = bpf_link_device(prog, if_nametoindex("lo"), at, flags);
	if (link < 0)
		trace_skip("needs %s", needs);
	want_on_tcp(fd);
	close(link);
	WANT_TRUE(tcp_fuses(fd), "fused again");
	tcp_close(fd);
	close(prog);
}

static void xdp(const struct transport *t)
{
	(void)t;
	linked(BPF_PROG_TYPE_XDP, XDP_PASS, BPF_XDP, XDP_FLAGS_SKB_MODE, "XDP");
}

static void tcx_egress(const struct transport *t)
{
	(void)t;
	linked(BPF_PROG_TYPE_SCHED_CLS, TCX_NEXT, TCX_EGRESS, 0, "tcx (Linux 6.6)");
}

static void tcx_ingress(const struct transport *t)
{
	(void)t;
	linked(BPF_PROG_TYPE_SCHED_CLS, TCX_NEXT, TCX_INGRESS, 0, "tcx (Linux 6.6)");
}

static const struct test_case cases[] = {
	{ "pfifo", pfifo, CASE_STREAM | CASE_SPEED },
	{ "netem", netem, CASE_STREAM | CASE_SPEED },
	{ "egress", egress, CASE_STREAM | CASE_SPEED },
	{ "ingress", ingress, CASE_STREAM | CASE_SPEED },
	{ "xdp", xdp, CASE_STREAM | CASE_SPEED },
	{ "tcx_egress", tcx_egress, CASE_STREAM | CASE_SPEED },
	{ "tcx_ingress", tcx_ingress, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
