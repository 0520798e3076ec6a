// SPDX-License-Identifier: GPL-2.0
/* TCP connections over local addresses: see tcp_pair.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "procfile.h"
#include "task.h"
#include "tcp_pair.h"
#include "trace.h"

#define SOON_MS		20000

static void lo_up(void)
{
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0);
	MUST(ioctl(fd, SIOCGIFFLAGS, &r) == 0);
	r.ifr_flags |= IFF_UP;
	MUST(ioctl(fd, SIOCSIFFLAGS, &r) == 0);
	close(fd);
}

void tcp_own_net(void)
{
	if (geteuid())
		trace_skip("needs root, to make a network namespace");
	MUST(unshare(CLONE_NEWNET) == 0);
	lo_up();
}

void tcp_shim_set(int on)
{
	MUST(sysctl_set("loopback", on ? "1" : "0") == 0);
}

void tcp_shim_net(void)
{
	tcp_own_net();
	tcp_shim_set(1);
}

void tcp_address(struct address *a, const char *host, int port)
{
	struct sockaddr_in6 *in6 = (void *)&a->sa;
	struct sockaddr_in *in = (void *)&a->sa;
	char text[64], *dev;

	memset(a, 0, sizeof(*a));
	snprintf(text, sizeof(text), "%s", host);
	dev = strchr(text, '%');
	if (dev) {
		*dev++ = '\0';
		in6->sin6_scope_id = if_nametoindex(dev);
	}
	if (strchr(text, ':')) {
		a->len = sizeof(*in6);
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		MUST(inet_pton(AF_INET6, text, &in6->sin6_addr) == 1);
	} else {
		a->len = sizeof(*in);
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		MUST(inet_pton(AF_INET, text, &in->sin_addr) == 1);
	}
}

int tcp_socket(const struct address *a)
{
	int fd = socket(a->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);

	MUST(fd >= 0);
	return fd;
}

int tcp_listen_at(const char *host, int port, struct address *a)
{
	int fd;

	tcp_address(a, host, port);
	fd = tcp_socket(a);
	MUST(set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1) == 0);
	MUST(bind_to(fd, a) == 0);
	MUST(listen(fd, 128) == 0);
	MUST(get_sockname(fd, a) == 0);
	return fd;
}

int tcp_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	MUST(fd >= 0);
	MUST(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1) == 0);
	return fd;
}

void tcp_join(int listener, const struct address *to, int client, int fd[2])
{
	fd[0] = client;
	MUST(set_int(client, IPPROTO_TCP, TCP_NODELAY, 1) == 0);
	MUST(connect_to(client, to) == 0);
	fd[1] = tcp_accept(listener);
}

void tcp_pair_via(const char *at, const char *host, int fd[2])
{
	struct address a, to;
	int listener = tcp_listen_at(at, 0, &a);

	/* The port is at the same place in both kinds of address. */
	tcp_address(&to, host, ntohs(((struct sockaddr_in *)&a.sa)->sin_port));
	tcp_join(listener, &to, tcp_socket(&to), fd);
	close(listener);
}

void tcp_pair(int fd[2])
{
	tcp_pair_via(LOCAL4, LOCAL4, fd);
}

void tcp_close(int fd[2])
{
	close(fd[0]);
	close(fd[1]);
}

struct speed_fusion tcp_fusion(int fd)
{
	struct speed_fusion f = { 0 };
	socklen_t len = sizeof(f);

	if (getsockopt(fd, SOL_SPEED, SPEED_FUSION, &f, &len)) {
		MUST(errno == ENOPROTOOPT || errno == EOPNOTSUPP);
		return (struct speed_fusion){ .reason = TCP_NO_PART };
	}
	MUST(len == sizeof(f));
	return f;
}

unsigned int tcp_flags(int fd)
{
	return tcp_fusion(fd).flags;
}

unsigned int tcp_reason(int fd)
{
	return tcp_fusion(fd).reason;
}

bool tcp_takes_part(int fd)
{
	return tcp_reason(fd) != TCP_NO_PART;
}

bool tcp_met(int fd)
{
	long until = now_ms() + SOON_MS;

	while (!(tcp_flags(fd) & SPEED_FUSION_PAIRED) && now_ms() < until)
		sleep_ms(1);
	return tcp_flags(fd) & SPEED_FUSION_PAIRED;
}

bool tcp_fused(const int fd[2])
{
	return (tcp_flags(fd[0]) & tcp_flags(fd[1]) & SPEED_FUSION_TX) != 0;
}

bool tcp_has_ipv6(void)
{
	return !access("/proc/sys/net/ipv6", F_OK);
}

int tcp_set_ulp(int fd, const char *name)
{
	return setsockopt(fd, IPPROTO_TCP, TCP_ULP, name, strlen(name));
}

int tcp_give_up(int fd)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	return connect(fd, &none, sizeof(none));
}

int tcp_set_fuse(int fd, unsigned int wish)
{
	return setsockopt(fd, SOL_SPEED, SPEED_FUSE, &wish, sizeof(wish));
}

static bool becomes(const int fd[2], bool fused)
{
	long until = now_ms() + SOON_MS;
	unsigned int flags;

	do {
		if (!tcp_exchange(fd))
			return false;
		flags = (tcp_flags(fd[0]) | tcp_flags(fd[1])) & SPEED_FUSION_TX;
		if (fused ? tcp_fused(fd) : !flags)
			return true;
		sleep_ms(5);
	} while (now_ms() < until);
	return false;
}

bool tcp_fuses(const int fd[2])
{
	return becomes(fd, true);
}

bool tcp_unfuses(const int fd[2])
{
	return becomes(fd, false);
}

void tcp_fused_pair(int fd[2])
{
	tcp_pair(fd);
	MUST(tcp_exchange(fd));
	WANT_TRUE(tcp_fused(fd), "a fused connection, flags %u and %u, reason %u",
		  tcp_flags(fd[0]), tcp_flags(fd[1]), tcp_reason(fd[0]));
}
