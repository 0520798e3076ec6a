// SPDX-License-Identifier: GPL-2.0
/* The transports, their addresses and how they make sockets: see transport.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"
#include "transport.h"

/* The family of AF_SPEED is filled in when it is known: see harness.c. */
const struct transport transports[TRANSPORTS] = {
	{ .name = "unix", .family = AF_UNIX },
	{ .name = "tcp", .family = AF_INET },
	{ .name = "speed", .speed = true, .path = { PATH_KERNEL, PATH_KERNEL } },
	{ .name = "speed-mapped", .speed = true, .path = { PATH_MAPPED, PATH_MAPPED } },
	{ .name = "speed-half", .speed = true, .path = { PATH_MAPPED, PATH_KERNEL } },
	{ .name = "speed-other-half", .speed = true, .path = { PATH_KERNEL, PATH_MAPPED } },
	{ .name = "speed-alternate", .speed = true,
	  .path = { PATH_ALTERNATE, PATH_ALTERNATE } },
	{ .name = "fused", .family = AF_INET, .fused = true },
	{ .name = "fused-mapped", .family = AF_INET, .fused = true,
	  .path = { PATH_MAPPED, PATH_MAPPED } },
	{ .name = "fused-half", .family = AF_INET, .fused = true,
	  .path = { PATH_MAPPED, PATH_KERNEL } },
	{ .name = "fused-other-half", .family = AF_INET, .fused = true,
	  .path = { PATH_KERNEL, PATH_MAPPED } },
	{ .name = "fused-alternate", .family = AF_INET, .fused = true,
	  .path = { PATH_ALTERNATE, PATH_ALTERNATE } },
};

bool tp_is_unix(const struct transport *t)
{
	return t->family == AF_UNIX;
}

bool tp_is_tcp(const struct transport *t)
{
	return t->family == AF_INET;
}

bool tp_is_mapped(const struct transport *t)
{
	return t->path[0] != PATH_KERNEL || t->path[1] != PATH_KERNEL;
}

/* The library tells the number, the kernel whether it means AF_SPEED. */
int speed_family_number(void)
{
	int fd = speed_socket(SOCK_STREAM);

	if (fd < 0)
		return -1;
	close(fd);
	return speed_family();
}

static unsigned int address_serial;

static int unique_name(char *out, size_t size)
{
	return snprintf(out, size, "st.%d.%u", getpid(), ++address_serial);
}

static void inet_address(struct address *a)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->sa;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a->len = sizeof(*in);
}

/* TCP's ports are few and shared: ask for a free one, and give it back. */
static void inet_free_port(struct address *a)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	inet_address(a);
	MUST(fd >= 0);
	MUST(bind(fd, (struct sockaddr *)&a->sa, a->len) == 0);
	MUST(get_sockname(fd, a) == 0);
	close(fd);
}

static void unix_abstract(struct address *a, const char *name, int len)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&a->sa;

	un->sun_family = AF_UNIX;
	memcpy(un->sun_path + 1, name, len);
	a->len = offsetof(struct sockaddr_un, sun_path) + 1 + len;
}

void tp_address(const struct transport *t, struct address *a)
{
	char name[SPEED_NAME_MAX];
	int len;

	memset(a, 0, sizeof(*a));
	if (tp_is_tcp(t)) {
		inet_free_port(a);
		return;
	}
	len = unique_name(name, sizeof(name));
	if (tp_is_unix(t))
		unix_abstract(a, name, len);
	else
		MUST(speed_addr_name((struct speed_sockaddr *)&a->sa, name, &a->len) == 0);
}

void tp_path_address(const struct transport *t, struct address *a)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&a->sa;
	char name[SPEED_NAME_MAX];

	tp_address(t, a);
	if (!tp_is_unix(t))
		return;
	memset(a, 0, sizeof(*a));
	unique_name(name, sizeof(name));
	un->sun_family = AF_UNIX;
	snprintf(un->sun_path, sizeof(un->sun_path), "/tmp/%s", name);
	unlink(un->sun_path);
	a->len = sizeof(*un);
}

bool address_unnamed(const struct address *a)
{
	const struct speed_sockaddr *sp = (const struct speed_sockaddr *)&a->sa;

	if (a->sa.ss_family == AF_UNIX)
		return a->len == sizeof(sa_family_t);
	if (a->sa.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&a->sa)->sin_port == 0;
	return a->len == 2 || (a->len == 8 && sp->sp_number == 0);
}

/* The name that was asked for may come back with or without its NUL bytes. */
bool address_equal(const struct address *a, const struct address *b)
{
	if (a->sa.ss_family != b->sa.ss_family)
		return false;
	if (a->sa.ss_family == AF_INET)
		return !memcmp(&a->sa, &b->sa, 8);
	if (a->len == b->len)
		return !memcmp(&a->sa, &b->sa, a->len);
	return a->sa.ss_family == AF_UNIX &&
	       !strcmp(((const struct sockaddr_un *)&a->sa)->sun_path,
		       ((const struct sockaddr_un *)&b->sa)->sun_path) &&
	       ((const struct sockaddr_un *)&a->sa)->sun_path[0];
}

int get_sockname(int fd, struct address *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->sa);
	return getsockname(fd, (struct sockaddr *)&a->sa, &a->len);
}

int get_peername(int fd, struct address *a)
{
	memset(a, 0, sizeof(*a));
	a->len = sizeof(a->sa);
	return getpeername(fd, (struct sockaddr *)&a->sa, &a->len);
}

/* TCP holds a short write back for more of them, which no other does. */
int tp_socket(const struct transport *t, int flags)
{
	int fd = socket(t->family, t->type | flags, 0);

	MUST(fd >= 0);
	if (tp_is_tcp(t))
		MUST(set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1) == 0);
	return fd;
}

int bind_to(int fd, const struct address *a)
{
	return bind(fd, (const struct sockaddr *)&a->sa, a->len);
}

int connect_to(int fd, const struct address *a)
{
	return connect(fd, (const struct sockaddr *)&a->sa, a->len);
}

int tp_listen(const struct transport *t, int backlog, struct address *a)
{
	int fd = tp_socket(t, SOCK_CLOEXEC);

	tp_address(t, a);
	MUST(bind_to(fd, a) == 0);
	MUST(listen(fd, backlog) == 0);
	return fd;
}

int tp_connect(const struct transport *t, const struct address *a)
{
	int fd = tp_socket(t, 0);

	MUST(connect_to(fd, a) == 0);
	return fd;
}

void tp_settle(const struct transport *t)
{
	const struct timespec moment = { .tv_nsec = 30 * 1000 * 1000 };

	if (tp_is_tcp(t))
		nanosleep(&moment, NULL);
}
