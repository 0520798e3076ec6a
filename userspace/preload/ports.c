// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A list of ports as in net.speed.loopback_ports: "80,8000-8099"; with a leading "!"
 * all but these; empty, all. A connection is in the list if one of its two ports is.
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include "handle.h"
#include "ports.h"

#define PORTS	65536

static unsigned char ports_bits[PORTS / 8];
static bool ports_any = true;		/* there is no list */
static bool ports_exclude;

static bool ports_has(unsigned int port)
{
	return ports_bits[port / 8] & (1u << port % 8);
}

/* A number at the front. Return: it, or -1; @list moves on. */
static int ports_number(const char **list)
{
	const char *p = *list;
	int n = 0;

	while (*p >= '0' && *p <= '9' && n < PORTS)
		n = 10 * n + (*p++ - '0');
	if (p == *list || n >= PORTS)
		return -1;
	*list = p;
	return n;
}

/* One port or a range at the front. */
static bool ports_range(const char **list)
{
	int first = ports_number(list), last = first;

	if (first >= 0 && **list == '-') {
		++*list;
		last = ports_number(list);
	}
	if (first < 0 || last < first)
		return false;
	for (int port = first; port <= last; port++)
		ports_bits[port / 8] |= (unsigned char)(1u << port % 8);
	return true;
}

/**
 * ports_parse() - take over a list
 * @list: the text
 *
 * Return: whether it is one; if not, no TCP connection is in it.
 */
bool ports_parse(const char *list)
{
	if (!*list)
		return true;
	ports_any = false;
	ports_exclude = *list == '!';
	list += ports_exclude;
	do {
		if (!ports_range(&list)) {
			memset(ports_bits, 0, sizeof(ports_bits));
			ports_exclude = false;
			return false;
		}
	} while (*list++ == ',');
	return !list[-1];
}

/* The port of one end, or -1 where the socket is not TCP's. */
static int ports_of(int fd, long call)
{
	union {
		struct sockaddr		sa;
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
		struct sockaddr_storage	any;
	} a;
	socklen_t len = sizeof(a);

	a.sa.sa_family = AF_UNSPEC;
	if (spd_syscall(call, fd, &a, &len))
		return -1;
	if (a.sa.sa_family == AF_INET)
		return ntohs(a.in.sin_port);
	return a.sa.sa_family == AF_INET6 ? ntohs(a.in6.sin6_port) : -1;
}

/**
 * ports_allow() - may a connection be mapped?
 * @fd: its socket
 * @inet: filled in: is it TCP's?
 *
 * Return: whether its ports allow it.
 */
bool ports_allow(int fd, bool *inet)
{
	int local = ports_of(fd, SYS_getsockname), remote;

	*inet = local >= 0;
	if (local < 0 || ports_any)
		return true;
	remote = ports_of(fd, SYS_getpeername);
	return remote >= 0 && (ports_has((unsigned int)local) ||
			       ports_has((unsigned int)remote)) != ports_exclude;
}
