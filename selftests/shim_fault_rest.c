// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail in what fused TCP does besides sending and receiving: mapping a
 * ring, splicing into one, giving a connection up, options that take it to TCP, sysctls,
 * a namespace that begins. As in shim_fault.c, each call succeeds or has an errno of
 * memory's, and what is there works.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <speed.h>
#include <sys/sendfile.h>

#include "shim_fault.h"

/* ---- a mapping ---- */

static struct speed *handle;

static void begin_mapping(void)
{
	begin_fused();
	handle = speed_attach(fd[0], 0);
	MUST(handle);
}

static long do_map(void)
{
	return speed_map(handle, SPEED_MAP_BOTH);
}

static void begin_mapped(void)
{
	int tries;

	begin_mapping();
	for (tries = 0; do_map() && tries < 100; tries++) {
		MUST(errno == EAGAIN);
		sleep_ms(1);
		MUST(tcp_exchange(fd));
	}
}

static long do_mapped_send(void)
{
	return speed_send(handle, buf, sizeof(buf), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static long do_tap(void)
{
	return tcp_set_fuse(fd[1], 0);
}

static void end_mapping(void)
{
	speed_detach(handle);
}

/* ---- from a pipe, and from a file ---- */

static int in = -1;

static void begin_pipe(void)
{
	int p[2];

	begin_fused();
	MUST(pipe(p) == 0);
	MUST(write(p[1], buf, sizeof(buf)) == sizeof(buf));
	close(p[1]);
	in = p[0];
}

static long do_splice_in(void)
{
	return splice(in, NULL, fd[0], NULL, sizeof(buf), SPLICE_F_NONBLOCK);
}

static void begin_file(void)
{
	begin_fused();
	in = memfd_create("speed-fault", MFD_CLOEXEC);
	MUST(in >= 0 && pwrite(in, buf, sizeof(buf), 0) == sizeof(buf));
}

static long do_sendfile(void)
{
	return sendfile(fd[0], in, &(off_t){ 0 }, sizeof(buf));
}

static void end_in(void)
{
	close(in);
}

/* ---- ends and beginnings ---- */

static long do_give_up(void)
{
	long ret = tcp_give_up(fd[0]);
	int err = errno;

	close(fd[0]);
	fd[0] = -1;
	errno = err;
	return ret;
}

static void begin_again(void)
{
	begin_fused();
	close(fd[1]);
	fd[1] = -1;
	MUST(tcp_give_up(fd[0]) == 0);
	listener = tcp_listen_at(LOCAL4, 0, &a);
}

static long do_connect_again(void)
{
	return connect_to(fd[0], &a);
}

/* ---- options ---- */

static void begin_v4_mapped(void)
{
	listener = tcp_listen_at(LOCAL4, 0, &a);
	tcp_address(&a, MAPPED, ntohs(((struct sockaddr_in *)&a.sa)->sin_port));
	fd[0] = tcp_socket(&a);
	MUST(connect_to(fd[0], &a) == 0);
	fd[1] = tcp_accept(listener);
	close(listener);
	listener = -1;
	MUST(tcp_exchange(fd) && do_send() == sizeof(buf));
}

/* A value that we cannot read is TCP's to refuse: EBUSY if it can, as with any ULP. */
static long do_addrform(void)
{
	return set_int(fd[0], IPPROTO_IPV6, IPV6_ADDRFORM, AF_INET);
}

static long do_fusion(void)
{
	struct speed_fusion f;

	return get_exact(fd[0], SPEED_FUSION, &f, sizeof(f));
}

/* ---- sysctls and a namespace ---- */

static void begin_off(void)
{
	tcp_shim_set(0);
}

static long do_on(void)
{
	return sysctl_set("loopback", "1");
}

static long do_off(void)
{
	return sysctl_set("loopback", "0");
}

static long do_ports(void)
{
	return sysctl_set("loopback_ports", "!1-9,4000-5000");
}

/* Whatever became of it, it is on for the rest, and works. */
static void end_sysctl(void)
{
	MUST(sysctl_set("loopback_ports", "") == 0);
	tcp_shim_set(1);
	if (fd[0] < 0) {
		begin_pair();
		WANT_TRUE(tcp_fuses(fd), "a connection after it is fused");
	}
}

static int home = -1;

static void begin_namespace(void)
{
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	MUST(home >= 0);
}

static long do_namespace(void)
{
	return unshare(CLONE_NEWNET);
}

static void end_namespace(void)
{
	MUST(setns(home, CLONE_NEWNET) == 0);
	close(home);
}

static const struct probe probes[] = {
	{ "map", begin_mapping, do_map, end_mapping },
	{ "mapped send", begin_mapped, do_mapped_send, end_mapping, .nothing = true },
	{ "SPEED_FUSE 0 of a mapped one", begin_mapped, do_tap, end_mapping, .nothing = true },
	{ "splice into it", begin_pipe, do_splice_in, end_in, .nothing = true },
	{ "sendfile", begin_file, do_sendfile, end_in },
	{ "connect(AF_UNSPEC)", begin_recv, do_give_up, .nothing = true },
	{ "connect again", begin_again, do_connect_again },
	{ "IPV6_ADDRFORM", begin_v4_mapped, do_addrform, .also = EBUSY },
	{ "SPEED_FUSION", begin_fused, do_fusion, .nothing = true },
	{ "loopback on", begin_off, do_on, end_sysctl },
	{ "loopback off", begin_recv, do_off, end_sysctl, .nothing = true },
	{ "loopback_ports", begin_recv, do_ports, end_sysctl },
	{ "a namespace", begin_namespace, do_namespace, end_namespace, .last = 80 },
};

static void every(const struct transport *t)
{
	(void)t;
	fault_each(probes, sizeof(probes) / sizeof(probes[0]));
}

static const struct test_case cases[] = {
	{ "every", every, CASE_STREAM | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
