// SPDX-License-Identifier: GPL-2.0
/* Reasons to move a connection to TCP: see movers.h. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "movers.h"
#include "tap.h"
#include "task.h"
#include "tcp_pair.h"
#include "trace.h"

static int tap;

static bool wish_0(const int fd[2])
{
	return !tcp_set_fuse(fd[0], 0);
}

static void wish_1(const int fd[2])
{
	MUST(!tcp_set_fuse(fd[0], 1));
}

static bool other_0(const int fd[2])
{
	return !tcp_set_fuse(fd[1], 0);
}

static void other_1(const int fd[2])
{
	MUST(!tcp_set_fuse(fd[1], 1));
}

static bool sysctl_0(const int fd[2])
{
	(void)fd;
	tcp_shim_set(0);
	return true;
}

static void sysctl_1(const int fd[2])
{
	(void)fd;
	tcp_shim_set(1);
}

static bool tap_all(const int fd[2])
{
	(void)fd;
	tap = tap_open(NULL);
	return tap >= 0;
}

static bool tap_lo(const int fd[2])
{
	(void)fd;
	tap = tap_open("lo");
	return tap >= 0;
}

static void tap_off(const int fd[2])
{
	(void)fd;
	close(tap);
}

static bool qdisc_on(const int fd[2])
{
	(void)fd;
	return !shell("tc qdisc replace dev lo root pfifo");
}

static void qdisc_off(const int fd[2])
{
	(void)fd;
	MUST(!shell("tc qdisc del dev lo root"));
}

/* All of each packet passes. */
static bool filter_on(const int fd[2])
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, 0xffffffff);
	struct sock_fprog prog = { 1, &all };

	return !setsockopt(fd[1], SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof(prog));
}

static void filter_off(const int fd[2])
{
	MUST(!set_int(fd[1], SOL_SOCKET, SO_DETACH_FILTER, 0));
}

static bool stamps_on(const int fd[2])
{
	return !set_int(fd[1], SOL_SOCKET, SO_TIMESTAMP, 1);
}

static void stamps_off(const int fd[2])
{
	MUST(!set_int(fd[1], SOL_SOCKET, SO_TIMESTAMP, 0));
}

/*
 * Of hardware, which lo has none of: stamps that nobody reads fill the error queue,
 * that counts as received, and TCP closes its window for good.
 */
static bool tx_stamps_on(const int fd[2])
{
	return !set_int(fd[0], SOL_SOCKET, SO_TIMESTAMPING, SOF_TIMESTAMPING_TX_HARDWARE);
}

static void tx_stamps_off(const int fd[2])
{
	MUST(!set_int(fd[0], SOL_SOCKET, SO_TIMESTAMPING, 0));
}

static bool repair_on(const int fd[2])
{
	return !set_int_soon(fd[0], IPPROTO_TCP, TCP_REPAIR, 1);
}

static void repair_off(const int fd[2])
{
	MUST(!set_int(fd[0], IPPROTO_TCP, TCP_REPAIR, 0));
}

const struct mover movers[] = {
	{ "SPEED_FUSE", wish_0, wish_1, SPEED_TCP_REQUEST },
	{ "SPEED_FUSE of the other end", other_0, other_1, SPEED_TCP_REQUEST },
	{ "the sysctl", sysctl_0, sysctl_1, SPEED_TCP_OFF },
	{ "a tap", tap_all, tap_off, SPEED_TCP_TAP },
	{ "a tap of lo", tap_lo, tap_off, SPEED_TCP_TAP },
	{ "SO_ATTACH_FILTER", filter_on, filter_off, SPEED_TCP_FILTER },
	{ "SO_TIMESTAMP", stamps_on, stamps_off, SPEED_TCP_STAMP },
	{ "SO_TIMESTAMPING", tx_stamps_on, tx_stamps_off, SPEED_TCP_STAMP },
	{ "TCP_REPAIR", repair_on, repair_off, SPEED_TCP_REPAIR, EPERM },
	{ "a queueing discipline", qdisc_on, qdisc_off, SPEED_TCP_FILTER },
};

#define MOVERS	(sizeof(movers) / sizeof(movers[0]))

const struct mover *const mover_queueing = &movers[MOVERS - 1];

bool movers_all(void)
{
	return !access("/proc/net/psched", F_OK);
}

size_t movers_here(void)
{
	return MOVERS - !movers_all();
}
