// SPDX-License-Identifier: GPL-2.0
/*
 * SMC in the way of smc_run: the sockets are AF_SMC where a program asked for
 * AF_INET. SMC falls back to TCP without a word where both sides share no device
 * of its own; figures of that would be TCP's, so the kernel is asked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/netlink.h>
#include <linux/smc_diag.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "transport.h"

static int family_smc(void)
{
	return AF_SMC;
}

static int ask(int fd)
{
	struct {
		struct nlmsghdr head;
		struct smc_diag_req request;
	} ask = {
		.head = {
			.nlmsg_len = sizeof(ask), .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.request = { .diag_family = AF_SMC },
	};

	return send(fd, &ask, sizeof(ask), 0) == sizeof(ask) ? 0 : -1;
}

/* What smc_diag says of the socket with this inode; -1: nothing. */
static int mode_among(const char *text, ssize_t left, ino_t inode)
{
	const struct nlmsghdr *head = (const void *)text;

	for (; NLMSG_OK(head, (size_t)left); head = NLMSG_NEXT(head, left)) {
		const struct smc_diag_msg *message = NLMSG_DATA(head);

		if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY && message->diag_inode == inode)
			return message->diag_mode;
	}
	return -1;
}

static int mode_of(int smc)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	char text[32768] __attribute__((aligned(8)));
	struct stat stat;
	ssize_t n = -1;

	if (fd >= 0 && !fstat(smc, &stat) && !ask(fd))
		n = recv(fd, text, sizeof(text), 0);
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : mode_among(text, n, stat.st_ino);
}

static const char *smc_missing(void)
{
	static const char *why;
	static bool asked;
	struct link l;
	int fd, mode;

	if (asked)
		return why;
	asked = true;
	fd = socket(AF_SMC, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		why = "this kernel has no AF_SMC";
		return why;
	}
	close(fd);
	socket_link(&transport_smc, &l);
	mode = mode_of(l.end[0].in);
	close(l.end[0].in);
	close(l.end[1].in);
	if (mode < 0)
		why = "AF_SMC is there, but smc_diag does not tell whether it fell back";
	else if (mode == SMC_DIAG_MODE_FALLBACK_TCP)
		why = "SMC falls back to TCP: this kernel has no loopback device for SMC-D";
	return why;
}

const struct transport transport_smc = {
	.name = "smc",
	.why_unable = "no crowd is made of it: each connection registers its buffers",
	.able = ABLE_LINK | ABLE_STREAM | ABLE_DOOR | ABLE_NONBLOCKING,
	.family = family_smc,
	.missing = smc_missing,
	.open = socket_link,
	.put = socket_put,
	.get = socket_get,
	.get_some = socket_get_some,
};
