// SPDX-License-Identifier: GPL-2.0
/* Addresses: names, numbers, autobind, their lengths, and who may have them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"

static void note_name(int fd, const struct address *want, const char *what)
{
	struct address a;

	NOTE(get_sockname(fd, &a), "getsockname of %s", what);
	trace_num(want ? address_equal(&a, want) : address_unnamed(&a), "is it that: %s", what);
}

static void note_peer(int fd, const struct address *want, const char *what)
{
	struct address a;

	NOTE(get_peername(fd, &a), "getpeername of %s", what);
	trace_num(want ? address_equal(&a, want) : address_unnamed(&a), "is it that: %s", what);
}

static void unbound(const struct transport *t)
{
	struct address a;
	int fd = tp_socket(t, 0);

	note_name(fd, NULL, "an unbound socket");
	NOTE(get_peername(fd, &a), "getpeername of an unconnected socket");
	NOTE(listen(fd, 1), "listen on an unbound socket");
	close(fd);
}

static void name(const struct transport *t)
{
	int listener, other, client, server;
	struct address a, b;

	tp_address(t, &a);
	tp_address(t, &b);
	listener = tp_socket(t, 0);
	NOTE(bind_to(listener, &a), "bind");
	note_name(listener, &a, "the bound socket");
	NOTE(bind_to(listener, &b), "bind again, elsewhere");
	NOTE(bind_to(listener, &a), "bind again, there");
	other = tp_socket(t, 0);
	NOTE(bind_to(other, &a), "bind another there");
	NOTE(bind_to(other, &b), "bind it elsewhere");
	NOTE(listen(listener, 4), "listen");

	client = tp_socket(t, 0);
	NOTE(connect_to(client, &a), "connect");
	server = accept(listener, NULL, NULL);
	note_peer(client, &a, "the client");
	note_name(client, NULL, "the client");
	note_name(server, &a, "the accepted socket");
	note_peer(server, NULL, "the accepted socket");
	close(client);

	client = tp_socket(t, 0);
	tp_address(t, &b);
	NOTE(bind_to(client, &b), "bind a client");
	NOTE(connect_to(client, &a), "connect the bound client");
	close(server);
	server = accept(listener, NULL, NULL);
	note_peer(server, &b, "the accepted socket of a bound client");
	note_name(client, &b, "the bound client");
	NOTE(bind_to(client, &a), "bind a connected and bound socket");

	/* An accepted socket shows the listener's name, but does not hold it. */
	close(listener);
	listener = tp_socket(t, 0);
	NOTE(bind_to(listener, &a), "bind while an accepted socket lives");
	close(client);
	close(server);
	close(listener);
	listener = tp_socket(t, 0);
	NOTE(bind_to(listener, &a), "bind when all are closed");
	close(listener);
	close(other);
}

static void bind_connected(const struct transport *t)
{
	struct address a;
	struct end e[2];

	tp_pair(t, e);
	tp_address(t, &a);
	NOTE(bind_to(e[0].fd, &a), "bind a connected socket");
	note_name(e[0].fd, &a, "a socket bound when connected");
	note_peer(e[1].fd, &a, "its peer");
	NOTE(bind_to(e[1].fd, &a), "bind an accepted socket");
	pair_close(e);
}

static void accept_name(const struct transport *t)
{
	struct address a, b, got;
	int listener = tp_listen(t, 4, &a);
	int client = tp_socket(t, 0);
	int server;

	tp_address(t, &b);
	MUST(bind_to(client, &b) == 0);
	MUST(connect_to(client, &a) == 0);
	memset(&got, 0, sizeof(got));
	got.len = sizeof(got.sa);
	server = accept(listener, (struct sockaddr *)&got.sa, &got.len);
	trace_num(server >= 0, "accept with an address");
	trace_num(address_equal(&got, &b), "it is the client's");
	close(server);
	close(client);
	close(listener);
}

/* Shared by AF_SPEED's numbers and TCP's ports. */
static void number_address(const struct transport *t, struct address *a, unsigned int number)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&a->sa;

	memset(a, 0, sizeof(*a));
	if (t->speed) {
		a->len = speed_addr_number((struct speed_sockaddr *)&a->sa, number);
		return;
	}
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons(number);
	a->len = sizeof(*in);
}

static void number(const struct transport *t)
{
	int listener = tp_socket(t, 0), other = tp_socket(t, 0), client = tp_socket(t, 0);
	struct address a, b;
	int server;

	number_address(t, &a, 20000 + getpid() % 12000);
	number_address(t, &b, 20000 + (getpid() + 1) % 12000);
	NOTE(connect_to(client, &a), "connect to a number nobody has");
	NOTE(bind_to(listener, &a), "bind to a number");
	note_name(listener, &a, "the number");
	NOTE(bind_to(listener, &b), "bind again");
	NOTE(bind_to(other, &a), "bind another to it");
	NOTE(listen(listener, 1), "listen");
	close(client);
	client = tp_socket(t, 0);
	NOTE(connect_to(client, &a), "connect");
	server = accept(listener, NULL, NULL);
	note_peer(client, &a, "the client");
	note_name(server, &a, "the accepted socket");
	close(server);
	close(client);
	close(listener);
	close(other);
}

static void reserved_numbers(const struct transport *t)
{
	struct address a;
	int fd;

	if (geteuid())
		trace_skip("needs root, to become a user without capabilities");
	fd = tp_socket(t, 0);
	number_address(t, &a, 1000);
	NOTE(bind_to(fd, &a), "root binds 1000");
	close(fd);
	MUST(setresuid(65534, 65534, 65534) == 0);
	fd = tp_socket(t, 0);
	number_address(t, &a, 1000);
	NOTE(bind_to(fd, &a), "a user binds 1000");
	number_address(t, &a, 1023);
	NOTE(bind_to(fd, &a), "a user binds 1023");
	number_address(t, &a, 1024 + getpid() % 512);
	NOTE(bind_to(fd, &a), "a user binds 1024 or more");
	close(fd);
}

static void autobind(const struct transport *t)
{
	int first = tp_socket(t, 0), second = tp_socket(t, 0), client = tp_socket(t, 0);
	struct address none = { .sa.ss_family = t->family, .len = sizeof(sa_family_t) };
	struct address a, b, named;

	tp_address(t, &named);
	NOTE(bind_to(first, &none), "autobind");
	NOTE(bind_to(second, &none), "autobind another");
	NOTE(get_sockname(first, &a), "getsockname");
	NOTE(get_sockname(second, &b), "getsockname of the other");
	trace_num(address_unnamed(&a), "is it unnamed");
	trace_num(address_equal(&a, &b), "are they equal");
	NOTE(bind_to(first, &none), "autobind again");
	note_name(first, &a, "it after that");
	NOTE(bind_to(first, &named), "bind when autobound");
	NOTE(listen(first, 1), "listen");
	NOTE(connect_to(client, &a), "connect to what autobind gave");
	close(first);
	close(second);
	close(client);
}

/* A name ends at its length or at a NUL byte, and both are the same name. */
static void name_ends(const struct transport *t)
{
	struct speed_sockaddr sp = { .sp_family = t->family };
	struct sockaddr *sa = (struct sockaddr *)&sp;
	int fd = tp_socket(t, 0), other = tp_socket(t, 0), third = tp_socket(t, 0);
	int len = snprintf(sp.sp_name, sizeof(sp.sp_name), "ends.%d", getpid());

	WANT_OK(bind(fd, sa, 8 + len), "bind, the exact length");
	WANT_ERR(bind(other, sa, 8 + len + 1), EADDRINUSE, "bind, with a NUL byte");
	WANT_ERR(bind(other, sa, sizeof(sp)), EADDRINUSE, "bind, padded");
	WANT_OK(bind(other, sa, 8 + len - 1), "bind, a name that is a prefix");
	memset(sp.sp_name, 'x', sizeof(sp.sp_name));
	WANT_OK(bind(third, sa, sizeof(sp)), "bind, the longest name");
	close(third);
	close(other);
	close(fd);
}

static void name_is_no_number(const struct transport *t)
{
	struct speed_sockaddr number, name;
	int a = tp_socket(t, 0), b = tp_socket(t, 0);
	socklen_t len;

	WANT(speed_addr_number(&number, 4242), 8, 0, "the number's length");
	WANT_OK(speed_addr_name(&name, "4242", &len), "speed_addr_name");
	WANT_OK(bind(a, (struct sockaddr *)&number, 8), "bind the number");
	WANT_OK(bind(b, (struct sockaddr *)&name, len), "bind the name");
	close(a);
	close(b);
}

static void autobind_numbers(const struct transport *t)
{
	struct address none = { .sa.ss_family = t->family, .len = sizeof(sa_family_t) };
	struct address zero = { .sa.ss_family = t->family, .len = 8 };
	const struct speed_sockaddr *sp;
	struct address got;
	int fd = tp_socket(t, 0), other = tp_socket(t, 0);

	sp = (struct speed_sockaddr *)&got.sa;
	WANT_OK(bind_to(fd, &none), "autobind, the family alone");
	WANT_OK(get_sockname(fd, &got), "getsockname");
	WANT(got.len, 8, 0, "its length");
	WANT_TRUE(sp->sp_number >= SPEED_NUMBER_AUTO, "its number is in autobind's range");
	WANT_OK(bind_to(other, &zero), "autobind, number zero");
	close(fd);
	close(other);
}

static const struct test_case cases[] = {
	{ "unbound", unbound, CASE_BOTH },
	{ "name", name, CASE_BOTH },
	{ "bind_connected", bind_connected, CASE_BOTH },
	{ "accept_name", accept_name, CASE_BOTH | CASE_TCP },
	{ "number", number, CASE_STREAM | CASE_LIKE_TCP },
	{ "reserved_numbers", reserved_numbers, CASE_STREAM | CASE_LIKE_TCP },
	{ "autobind", autobind, CASE_BOTH },
	{ "name_ends", name_ends, CASE_STREAM | CASE_SPEED },
	{ "name_is_no_number", name_is_no_number, CASE_STREAM | CASE_SPEED },
	{ "autobind_numbers", autobind_numbers, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
