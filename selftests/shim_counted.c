// SPDX-License-Identifier: GPL-2.0
/*
 * Reasons that have to do with who is at an end: a socket of the kernel's, one that the
 * kernel begins to read, an end that is shut, a call of TCP's that is under way. What is
 * told of each, and that /proc/net/speed_stat counts each once.
 */
#define _GNU_SOURCE
#include <linux/kcm.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf.h"
#include "stress.h"
#include "tap.h"
#include "tcp_pair.h"

#define COME_MS		20000
#define TOLD		4	/* bytes of a message of KCM's */

#ifndef AF_KCM
#define AF_KCM		41
#endif
#ifndef AF_SMC
#define AF_SMC		43
#endif

/* ---- a socket of the kernel's: that of a file system over TCP ---- */

static int mount_9p(void *arg)
{
	const struct sockaddr_in *to = arg;
	char dir[] = "/tmp/speed-9p-XXXXXX", options[64];
	int ret;

	snprintf(options, sizeof(options), "trans=tcp,port=%u", ntohs(to->sin_port));
	MUST(mkdtemp(dir));
	ret = mount(LOCAL4, dir, "9p", 0, options);
	rmdir(dir);
	return ret ? 1 : 0;
}

/* Where it cannot be mounted at all, nobody comes. */
static bool comes(int listener, pid_t pid)
{
	siginfo_t ended = { 0 };

	while (!ended.si_pid) {
		if (poll_wait(listener, POLLIN, 50))
			return true;
		MUST(waitid(P_PID, pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0);
	}
	return poll_now(listener, POLLIN);
}

static void kernel_connects(const struct transport *t)
{
	long not, attached;
	struct address a;
	int listener, fd;
	pid_t pid;

	tcp_shim_net();
	shell("modprobe 9p; modprobe 9pnet_fd");
	listener = tcp_listen_at(LOCAL4, 0, &a);
	not = stat_number("tcp_not_kernel");
	attached = stat_number("tcp_attached");
	pid = process_start(mount_9p, &a.sa);
	if (!comes(listener, pid))
		trace_skip("needs 9p over TCP");
	fd = tcp_accept(listener);
	WANT_TRUE(recv(fd, (char [64]){ 0 }, 64, 0) > 4, "its first message");
	WANT(tcp_takes_part(fd), 0, 0, "it takes part");
	WANT(stat_number("tcp_not_kernel") - not, 1, 0, "tcp_not_kernel");
	WANT(stat_number("tcp_attached") - attached, 0, 0, "tcp_attached");
	close(fd);
	close(listener);
	WANT(process_join(pid), 1, 0, "it gives up");
}

/* ---- SMC at one end alone: it falls back to TCP, by a socket of the kernel's ---- */

static int family_socket(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 && family == AF_SMC)
		trace_skip("needs CONFIG_SMC");
	MUST(fd >= 0);
	return fd;
}

static void smc_at_one_end(const struct transport *t)
{
	int fd[2], listener, i;
	struct address a;
	long not;

	tcp_shim_net();
	for (i = 0; i < 2; i++) {
		tcp_address(&a, LOCAL4, 0);
		listener = family_socket(i ? AF_SMC : AF_INET);
		MUST(bind_to(listener, &a) == 0 && listen(listener, 8) == 0);
		MUST(get_sockname(listener, &a) == 0);
		not = stat_number("tcp_not_smc");
		fd[0] = family_socket(i ? AF_INET : AF_SMC);
		WANT_OK(connect_to(fd[0], &a), "%d: connect", i);
		fd[1] = accept(listener, NULL, NULL);
		MUST(fd[1] >= 0);
		WANT_TRUE(tcp_exchange(fd) && tcp_exchange(fd), "%d: exchange", i);
		WANT_TRUE(tcp_pump_both(fd, 300000), "%d: bulk", i);
		/* A listener's child becomes a program's, and then may be fused. */
		if (!i) {
			WANT(tcp_fused(fd), 0, 0, "fused");
			WANT(stat_number("tcp_not_smc") - not, 1, 0, "tcp_not_smc");
		}
		tcp_close(fd);
		close(listener);
	}
}

/* ---- a fused connection that the kernel begins to read ---- */

static int kcm_over(int fd)
{
	int kcm = socket(AF_KCM, SOCK_SEQPACKET | SOCK_CLOEXEC, KCMPROTO_CONNECTED);
	struct kcm_attach with = { .fd = fd };

	if (kcm < 0)
		trace_skip("needs CONFIG_AF_KCM");
	with.bpf_fd = bpf_load(BPF_PROG_TYPE_SOCKET_FILTER, TOLD);
	if (with.bpf_fd < 0)
		trace_skip("needs bpf()");
	WANT_OK(ioctl(kcm, SIOCKCMATTACH, &with), "attach");
	close(with.bpf_fd);
	return kcm;
}

/* So many messages of the known stream. */
static bool told(int kcm, int messages, size_t offset)
{
	char buf[2 * TOLD];
	int i;

	for (i = 0; i < messages; i++) {
		if (!(poll_wait(kcm, POLLIN, COME_MS) & POLLIN) ||
		    recv(kcm, buf, sizeof(buf), MSG_DONTWAIT) != TOLD ||
		    !stream_check(buf, TOLD, offset + i * TOLD))
			return false;
	}
	return true;
}

/* It is noticed by who sends next, or by the kernel's first look at what is there. */
static long kernel_counted(void)
{
	return stat_number("tcp_not_kernel") + stat_number("tcp_not_zerocopy");
}

static void kernel_reads(const struct transport *t)
{
	int fd[2], unread, kcm;
	long not;

	tcp_shim_net();
	for (unread = 0; unread < 2; unread++) {
		tcp_fused_pair(fd);
		not = kernel_counted();
		if (unread)
			WANT_TRUE(tcp_put(fd[0], 20 * TOLD, 0), "unread when it begins");
		kcm = kcm_over(fd[1]);
		if (unread)
			WANT_TRUE(told(kcm, 20, 0), "what was unread");
		WANT_TRUE(tcp_put(fd[0], 50 * TOLD, 0), "%d: bytes for it", unread);
		WANT_TRUE(told(kcm, 50, 0), "%d: it reads them", unread);
		WANT(tcp_flags(fd[0]) & SPEED_FUSION_TX, 0, 0, "%d: by the ring", unread);
		WANT(tcp_reason(fd[0]), SPEED_TCP_KERNEL, 0, "%d: the reason", unread);
		WANT(kernel_counted() - not, 1, 0, "%d: counted", unread);
		close(kcm);
		tcp_close(fd);
	}
}

/* ---- an end that is shut ---- */

static void shut(const struct transport *t)
{
	int fd[2], i, shuts;
	long not;

	tcp_shim_net();
	for (i = 0; i < 4; i++) {
		/* Who sends has shut its sending, or the other end its receiving. */
		tcp_fused_pair(fd);
		not = stat_number("tcp_not_shut");
		shuts = i / 2 ? i & 1 : !(i & 1);
		WANT_OK(shutdown(fd[shuts], i / 2 ? SHUT_WR : SHUT_RD), "%d: shutdown", i);
		WANT(tcp_reason(fd[i & 1]), SPEED_TCP_FUSED, 0, "%d: not before it sends", i);
		WANT(stat_number("tcp_not_shut") - not, 0, 0, "%d: nothing was sent", i);
		if (i / 2)
			WANT_ERR(send(fd[i & 1], "abc", 3, MSG_NOSIGNAL), EPIPE, "%d: send", i);
		else
			WANT(send(fd[i & 1], "abc", 3, 0), 3, 0, "%d: send", i);
		WANT(tcp_reason(fd[i & 1]), SPEED_TCP_SHUT, 0, "%d: the reason", i);
		WANT(stat_number("tcp_not_shut") - not, 1, 0, "%d: tcp_not_shut", i);
		send(fd[i & 1], "abc", 3, MSG_NOSIGNAL);
		WANT(stat_number("tcp_not_shut") - not, 1, 0, "%d: once", i);
		WANT_TRUE(tcp_put(fd[!(i & 1)], 3000, 0) && tcp_get(fd[i & 1], 3000, 0),
			  "%d: the other way", i);
		tcp_close(fd);
	}
}

/* ---- a call of TCP's that is under way ---- */

#define MUCH		1000000	/* more than a ring and the small buffers */

static long put_much(void *arg)
{
	return tcp_put(*(int *)arg, MUCH, 0);
}

/* Another thread sleeps in TCP's sendmsg(), which nobody may overtake by the ring. */
static void busy(const struct transport *t)
{
	struct task k;
	long full;
	int fd[2];

	tcp_shim_net();
	tcp_fused_pair(fd);
	MUST(set_int(fd[0], SOL_SOCKET, SO_SNDBUF, 4096) == 0);
	MUST(set_int(fd[1], SOL_SOCKET, SO_RCVBUF, 4096) == 0);
	full = stat_number("tcp_not_full");
	task_start(&k, put_much, &fd[0]);
	WANT(task_sleeps(&k), 1, 0, "a writer sleeps");
	/* It waits for the ring first, a little. */
	while (tcp_flags(fd[0]) & SPEED_FUSION_TX)
		sleep_ms(10);
	WANT(task_sleeps(&k), 1, 0, "a writer sleeps in TCP's call");
	WANT_ERR(send(fd[0], "x", 1, MSG_DONTWAIT), EAGAIN, "another has no room");
	WANT(tcp_reason(fd[0]), SPEED_TCP_BUSY, 0, "the reason");
	WANT(stat_number("tcp_not_full") - full, 1, 0, "it moved once, as the ring was full");
	WANT_TRUE(tcp_get(fd[1], MUCH, 0), "the bytes");
	WANT(task_join(&k), 1, 0, "the writer");
	WANT_TRUE(tcp_fuses(fd), "fused again");
	tcp_close(fd);
}

/* What was connected before may have calls of TCP's under way: they are waited for. */
static void busy_when_it_comes(const struct transport *t)
{
	long not;
	int fd[2];

	tcp_own_net();
	tcp_pair(fd);
	WANT_TRUE(tcp_exchange(fd), "exchange");
	not = stat_number("tcp_not_busy");
	WANT_OK(tcp_set_ulp(fd[0], "speed"), "TCP_ULP");
	WANT(stat_number("tcp_not_busy") - not, 1, 0, "tcp_not_busy");
	WANT(tcp_reason(fd[0]), SPEED_TCP_PEER, 0, "the reason of one alone");
	WANT_OK(tcp_set_ulp(fd[1], "speed"), "TCP_ULP of the other");
	WANT(stat_number("tcp_not_busy") - not, 2, 0, "tcp_not_busy");
	WANT_TRUE(tcp_fuses(fd), "fused");
	tcp_close(fd);
}

/* ---- an end whose other end takes no part ---- */

/* The server's socket comes into being with the first bytes; by then new ones take part. */
static void peer_does_not(const struct transport *t)
{
	int fd[2], listener, seconds = 5;
	struct address a;
	long not;

	tcp_own_net();
	listener = tcp_listen_at(LOCAL4, 0, &a);
	MUST(setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof(seconds)) == 0);
	fd[0] = tcp_socket(&a);
	WANT_OK(connect_to(fd[0], &a), "connect");
	tcp_shim_set(true);
	not = stat_number("tcp_not_peer");
	WANT(send(fd[0], "x", 1, 0), 1, 0, "send");
	fd[1] = tcp_accept(listener);
	WANT(recv(fd[1], (char [1]){ 0 }, 1, 0), 1, 0, "recv");
	WANT(tcp_takes_part(fd[1]), 0, 0, "it takes part");
	WANT(stat_number("tcp_not_peer") - not, 1, 0, "tcp_not_peer");
	WANT_TRUE(tcp_exchange(fd), "exchange");
	tcp_close(fd);
	close(listener);
}

/* ---- a connection that was never fused ---- */

/* Of each direction that sends it is counted once why; and once more when it goes on so. */
static void never_fused(const struct transport *t)
{
	long tap, off, back;
	int fd[2], capture, i;

	tcp_shim_net();
	tap = stat_number("tcp_not_tap");
	off = stat_number("tcp_not_off");
	back = stat_number("tcp_unfused");
	capture = tap_open(NULL);
	MUST(capture >= 0);
	tcp_pair(fd);
	for (i = 0; i < 3; i++)
		MUST(tcp_put(fd[0], 100, 0) && tcp_get(fd[1], 100, 0));
	WANT(stat_number("tcp_not_tap") - tap, 1, 0, "tcp_not_tap, of one direction");
	for (i = 0; i < 3; i++)
		MUST(tcp_exchange(fd));
	WANT(stat_number("tcp_not_tap") - tap, 2, 0, "tcp_not_tap, of both");
	WANT(tcp_reason(fd[0]), SPEED_TCP_TAP, 0, "the reason");
	tcp_shim_set(false);
	for (i = 0; i < 3; i++)
		MUST(tcp_exchange(fd));
	WANT(stat_number("tcp_not_off") - off, 2, 0, "tcp_not_off, of both");
	WANT(stat_number("tcp_unfused") - back, 0, 0, "none has moved back");
	close(capture);
	tcp_close(fd);
}

static const struct test_case cases[] = {
	{ "kernel_connects", kernel_connects, CASE_STREAM | CASE_SPEED },
	{ "smc_at_one_end", smc_at_one_end, CASE_STREAM | CASE_SPEED },
	{ "kernel_reads", kernel_reads, CASE_STREAM | CASE_SPEED },
	{ "shut", shut, CASE_STREAM | CASE_SPEED },
	{ "busy", busy, CASE_STREAM | CASE_SPEED },
	{ "busy_when_it_comes", busy_when_it_comes, CASE_STREAM | CASE_SPEED },
	{ "never_fused", never_fused, CASE_STREAM | CASE_SPEED },
	{ "peer_does_not", peer_does_not, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
