// SPDX-License-Identifier: GPL-2.0
/* What speed_attach(), speed_map(), speed_set_spin() and speed_socket() refuse. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "mapped.h"
#include "procfile.h"
#include "task.h"

static struct speed *attach(int fd, unsigned int flags)
{
	struct speed *s = speed_attach(fd, flags);

	MUST(s);
	return s;
}

/* Where another operation is under way a lease is refused for a moment. */
static int map_soon(struct speed *s, unsigned int roles)
{
	long until = now_ms() + 10000;
	int ret;

	while ((ret = speed_map(s, roles)) && errno == EAGAIN && now_ms() < until)
		sleep_ms(1);
	return ret;
}

/* The errno of a refusal, or 0. */
static int refused(int fd, unsigned int flags)
{
	struct speed *s;

	errno = 0;
	s = speed_attach(fd, flags);
	speed_detach(s);
	return s ? 0 : errno;
}

static void attach_refused(const struct transport *t)
{
	int fd = tp_socket(t, 0), gone = dup(fd), pipes[2];

	MUST(!pipe(pipes) && gone >= 0 && !close(gone));
	WANT(refused(gone, 0), EBADF, 0, "a descriptor that was closed");
	WANT(refused(-1, 0), EBADF, 0, "descriptor -1");
	WANT(refused(open("/dev/null", O_RDWR), 0), ENOTSOCK, 0, "a file");
	WANT(refused(pipes[0], 0), ENOTSOCK, 0, "a pipe");
	WANT(refused(fd, 1u << 2), EINVAL, 0, "an unknown flag");
	WANT(refused(fd, 1u << 31), EINVAL, 0, "another");
	WANT(refused(fd, 0), 0, 0, "no flag");
	WANT(refused(fd, SPEED_ATTACH_SINGLE | SPEED_ATTACH_NOMAP), 0, 0, "both flags");
	close(fd);
}

/* Whatever roles are asked for. */
static void want_plain(struct speed *s, int err, const char *what)
{
	unsigned int roles;

	for (roles = SPEED_MAP_TX; roles <= SPEED_MAP_BOTH; roles++)
		WANT_ERR(speed_map(s, roles), err, "%s: roles %u", what, roles);
	WANT_ERR(speed_map(s, SPEED_MAP_BOTH + 1), EINVAL, "%s: an unknown role", what);
	WANT_ERR(speed_map(s, ~0u), EINVAL, "%s: all of them", what);
}

/* They send and receive all the same. */
static void plain(const int fd[2], unsigned int flags, const char *what)
{
	struct speed *s[2] = { attach(fd[0], flags), attach(fd[1], flags) };
	char buf[16];

	want_plain(s[0], EOPNOTSUPP, what);
	WANT(speed_send(s[0], "abc", 3, 0), 3, 0, "%s: send", what);
	WANT(speed_recv(s[1], buf, 16, 0), 3, 0, "%s: recv", what);
	speed_detach(s[0]);
	speed_detach(s[1]);
}

static void no_rings(const struct transport *t)
{
	struct end e[2];
	int fd[2];

	MUST(!socketpair(AF_UNIX, t->type, 0, fd));
	plain(fd, 0, "AF_UNIX");
	tcp_close(fd);
	if (t->fused)
		tcp_shim_set(0);
	tcp_pair(fd);
	plain(fd, 0, "TCP that takes no part");
	tcp_close(fd);
	if (t->fused)
		tcp_shim_set(1);
	tp_pair(t, e);
	plain(FDS(e), SPEED_ATTACH_NOMAP, "SPEED_ATTACH_NOMAP");
	pair_close(e);
}

/* Not connected, which may change; a listener never is. */
static void not_connected(const struct transport *t)
{
	int err = t->fused ? EOPNOTSUPP : ENOTCONN, fd = tp_socket(t, 0), listener, peer;
	struct speed *s = attach(fd, 0), *l;
	struct address a;

	listener = tp_listen(t, 1, &a);
	l = attach(listener, 0);
	want_plain(l, err, "a listener");
	want_plain(s, err, "a fresh socket");
	MUST(!connect_to(fd, &a));
	peer = accept(listener, NULL, NULL);
	MUST(peer >= 0);
	if (t->fused)
		MUST(tcp_exchange((int [2]){ fd, peer }));
	WANT_OK(map_soon(s, SPEED_MAP_BOTH), "when it is connected");
	speed_detach(l);
	speed_detach(s);
	close(peer);
	close(listener);
	close(fd);
}

static void shut(const struct transport *t)
{
	struct speed *s;
	struct end e[2];

	tp_pair(t, e);
	s = attach(e[0].fd, 0);
	WANT_OK(shutdown(e[0].fd, SHUT_WR), "shutdown");
	WANT_ERR(speed_map(s, SPEED_MAP_TX), EPIPE, "sending");
	WANT_ERR(speed_map(s, SPEED_MAP_BOTH), EPIPE, "both");
	WANT_TRUE(!mapped_leased(e[0].fd, SPEED_ROLE_RX), "the first that fails is the last");
	WANT_OK(map_soon(s, SPEED_MAP_RX), "receiving");
	WANT_OK(shutdown(e[0].fd, SHUT_RD), "shutdown");
	speed_detach(s);
	s = attach(e[0].fd, 0);
	WANT_ERR(speed_map(s, SPEED_MAP_RX), EPIPE, "receiving");
	speed_detach(s);
	end_close(&e[0]);
	s = attach(e[1].fd, 0);
	if (t->speed)
		WANT_ERR(speed_map(s, SPEED_MAP_TX), EPIPE, "the peer has closed");
	speed_detach(s);
	pair_close(e);
}

static long map_from_there(void *arg)
{
	return speed_map(arg, SPEED_MAP_TX) ? errno : 0;
}

static int map_from_child(void *arg)
{
	return map_from_there(arg);
}

/* Another handle, another process, another thread and this one have it. */
static void busy(const struct transport *t)
{
	struct speed *s, *other;
	struct end e[2];
	struct task k;
	void *span;

	tp_pair(t, e);
	s = attach(e[0].fd, 0);
	other = attach(e[0].fd, 0);
	WANT_OK(map_soon(s, SPEED_MAP_RX), "receiving");
	WANT_ERR(map_soon(other, SPEED_MAP_BOTH), EBUSY, "both, by another handle");
	WANT_TRUE(mapped_leased(e[0].fd, SPEED_ROLE_TX), "the first of them is mapped");
	WANT_ERR(speed_map(s, SPEED_MAP_TX), EBUSY, "sending, by the one");
	WANT(process_join(process_start(map_from_child, other)), EBUSY, 0, "by another process");
	WANT_OK(speed_map(other, SPEED_MAP_TX), "what is mapped stays so");
	WANT(speed_reserve(other, 1, &span, 0), 1, 0, "reserve");
	WANT_ERR(speed_map(other, SPEED_MAP_TX), EBUSY, "by the thread that holds it");
	task_start(&k, map_from_there, other);
	WANT(task_join(&k), EBUSY, 0, "by another thread");
	WANT(speed_commit(other, 1, 0), 1, 0, "nobody took it back: commit");
	speed_detach(other);
	WANT_OK(map_soon(s, SPEED_MAP_TX), "when it was given back");
	speed_detach(s);
	pair_close(e);
}

/* It was taken back or has overflowed, or a mapping cannot do what is asked for. */
static void not_now(const struct transport *t)
{
	struct speed *s;
	struct end e[2];
	int tries;

	tp_pair_sized(t, e, 8192);
	s = attach(e[0].fd, 0);
	WANT_OK(map_soon(s, SPEED_MAP_TX), "sending");
	WANT(send(e[0].fd, "abc", 3, 0), 3, 0, "send, which takes it back");
	WANT_ERR(speed_map(s, SPEED_MAP_TX), EAGAIN, "too early");
	for (tries = 0; tries < 1000 && speed_map(s, SPEED_MAP_TX); tries++)
		MUST(send(e[0].fd, "x", 1, 0) == 1);
	WANT_TRUE(tries > 1 && tries < 1000, "after some calls, %d", tries);
	WANT_OK(set_int(e[0].fd, SOL_SOCKET, SO_RCVLOWAT, 2), "SO_RCVLOWAT");
	WANT_ERR(speed_map(s, SPEED_MAP_RX), EAGAIN, "receiving, SO_RCVLOWAT is 2");
	speed_detach(s);
	if (t->speed) {
		s = attach(e[1].fd, 0);
		WANT_OK(set_int(e[1].fd, SOL_SOCKET, SO_PEEK_OFF, 0), "SO_PEEK_OFF");
		WANT_ERR(speed_map(s, SPEED_MAP_RX), EAGAIN, "receiving, SO_PEEK_OFF is set");
		MUST(!set_int(e[1].fd, SOL_SOCKET, SO_SNDBUF, 65536) && end_fill(&e[1], 1000));
		WANT_ERR(speed_map(s, SPEED_MAP_TX), EAGAIN, "it has overflowed");
		speed_detach(s);
	}
	pair_close(e);
}

/*
 * The library maps a lease's regions one after the other. By then somebody else has sent:
 * the lease is gone.
 */
static int mapping = -1, mappings;

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t off)
{
	if (fd >= 0 && fd == mapping && !mappings--)
		MUST(send(fd, "x", 1, 0) == 1);
	return (void *)syscall(SYS_mmap, at, len, prot, flags, fd, off);
}

/* Before the first of three, the second, or the third. */
static void taken_before(const struct transport *t)
{
	int which, tries;
	struct speed *s;
	struct end e[2];

	for (which = 0; which < 3; which++) {
		tp_pair(t, e);
		s = attach(e[0].fd, 0);
		MUST(send(e[0].fd, "x", 1, 0) == 1);
		mapping = e[0].fd;
		mappings = which;
		WANT_ERR(speed_map(s, SPEED_MAP_TX), EAGAIN, "taken back before it was mapped");
		WANT_TRUE(mappings < 0, "it was");
		mapping = -1;
		WANT_TRUE(!mapped_leased(e[0].fd, SPEED_ROLE_TX), "nor is it held");
		for (tries = 0; tries < 1000 && speed_map(s, SPEED_MAP_TX); tries++)
			MUST(send(e[0].fd, "x", 1, 0) == 1);
		WANT_TRUE(tries > 1 && tries < 1000, "after some calls, %d", tries);
		WANT(speed_send(s, "y", 1, 0), 1, 0, "send");
		speed_detach(s);
		pair_close(e);
	}
}

static int send_as_another(void *arg)
{
	const struct end *e = arg;

	if (setgid(12345) || setuid(12345))
		return 255;
	return send(e->fd, "two", 3, 0) != 3;
}

/* The rings would show, and let it change, what another one sent. */
static void two_users(const struct transport *t)
{
	struct speed *s;
	struct end e[2];

	if (geteuid())
		trace_skip("needs root, to be another user");
	tp_pair(t, e);
	s = attach(e[0].fd, 0);
	WANT(speed_send(s, "one", 3, 0), 3, 0, "send");
	WANT_OK(map_soon(s, SPEED_MAP_TX), "map, by the only one");
	WANT(process_join(process_start(send_as_another, e)), 0, 0, "another user sends");
	want_plain(s, EACCES, "another user");
	WANT(speed_send(s, "three", 5, 0), 5, 0, "send all the same");
	speed_detach(s);
	s = attach(e[1].fd, 0);
	WANT_OK(map_soon(s, SPEED_MAP_BOTH), "map, by the peer");
	speed_detach(s);
	pair_close(e);
}

/* The namespace's share is used up. */
static void no_buffers(const struct transport *t)
{
	struct speed *s;
	struct end e[2];
	char old[32];

	tcp_own_net();
	MUST(!sysctl_get("mem_max", old, sizeof(old)) && !sysctl_set("mem_max", "0"));
	tp_pair(t, e);
	s = attach(e[0].fd, 0);
	want_plain(s, ENOBUFS, "no memory for a ring");
	MUST(!sysctl_set("mem_max", old));
	WANT_OK(map_soon(s, SPEED_MAP_BOTH), "when there is some");
	speed_detach(s);
	pair_close(e);
}

/* A process without room for a handle, or for a mapping; who has room maps it. */
static int poor(void *arg)
{
	const struct rlimit none = { 1, 1 };
	struct end *e = arg;
	struct speed *s = attach(e->fd, 0);

	MUST(!setrlimit(RLIMIT_AS, &none));
	while (malloc(64))
		;
	if (refused(e->fd, 0) != ENOMEM)
		return 1;
	return map_soon(s, SPEED_MAP_TX) && errno == ENOMEM ? 0 : 2;
}

static void no_memory(const struct transport *t)
{
	struct speed *s;
	struct end e[2];

	tp_pair(t, e);
	WANT(process_join(process_start(poor, e)), 0, 0, "attach and map, without memory");
	s = attach(e[0].fd, 0);
	WANT_OK(map_soon(s, SPEED_MAP_BOTH), "map, by this process");
	speed_detach(s);
	pair_close(e);
}

static void socket_refused(const struct transport *t)
{
	int fd = speed_socket(t->type | SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct speed *s = attach(fd, 0);

	WANT_ERR(speed_socket(SOCK_DGRAM), ESOCKTNOSUPPORT, "SOCK_DGRAM");
	WANT_ERR(speed_socket(0), ESOCKTNOSUPPORT, "no type");
	WANT_ERR(speed_socket(-1), EINVAL, "type -1");
	WANT_ERR(speed_socket(t->type | 1 << 20), EINVAL, "an unknown flag");
	WANT(get_int(fd, SOL_SOCKET, SO_TYPE), t->type, 0, "the type");
	WANT(fcntl(fd, F_GETFD), FD_CLOEXEC, 0, "SOCK_CLOEXEC");
	WANT_TRUE(fcntl(fd, F_GETFL) & O_NONBLOCK, "SOCK_NONBLOCK");
	WANT_ERR(speed_set_spin(s, SPEED_SPIN_MAX + 1), EINVAL, "spin a microsecond too long");
	WANT_ERR(speed_set_spin(s, SPEED_SPIN_DEFAULT - 1), EINVAL, "the longest but one");
	WANT_OK(speed_set_spin(s, SPEED_SPIN_DEFAULT), "what the sysctl says");
	speed_detach(s);
	close(fd);
}

#define EACH	(CASE_BOTH | CASE_SPEED | CASE_FUSED)

static const struct test_case cases[] = {
	{ "attach_refused", attach_refused, EACH },
	{ "no_rings", no_rings, EACH },
	{ "not_connected", not_connected, EACH },
	{ "shut", shut, EACH },
	{ "busy", busy, EACH },
	{ "not_now", not_now, CASE_STREAM | CASE_SPEED | CASE_FUSED },
	{ "taken_before", taken_before, EACH },
	{ "two_users", two_users, EACH },
	{ "no_buffers", no_buffers, CASE_BOTH | CASE_SPEED },
	{ "no_memory", no_memory, EACH },
	{ "socket_refused", socket_refused, CASE_BOTH | CASE_SPEED },
};

RUN_CASES(cases)
