// SPDX-License-Identifier: GPL-2.0
/*
 * Allocations that fail: the n-th one inside each call, for n = 1, 2, ... until
 * the call gets by without a failure. Each call succeeds or has a sane errno,
 * and works as soon as nothing fails any more. Needs CONFIG_FAULT_INJECTION,
 * FAILSLAB and FAIL_PAGE_ALLOC; with FAULT_INJECTION_USERCOPY copies fail too.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "held.h"
#include "stress.h"

#define MOST		2000	/* allocations in one call */
#define DEBUGFS		"/sys/kernel/debug"
#define RING		8192

static int nth_fd = -1;

static void need_faults(void)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "/proc/self/task/%d/fail-nth", gettid());
	nth_fd = open(path, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		trace_skip("needs CONFIG_FAULT_INJECTION (%s)", path);
	if (access(DEBUGFS "/failslab", F_OK) && access(DEBUGFS "/fail_page_alloc", F_OK))
		trace_skip("needs CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and debugfs");
	/* Allocations that may sleep fail too; nothing fails by chance. */
	MUST(file_write(DEBUGFS "/failslab/ignore-gfp-wait", "N") == 0);
	MUST(file_write(DEBUGFS "/fail_page_alloc/ignore-gfp-wait", "N") == 0);
	MUST(file_write(DEBUGFS "/fail_page_alloc/min-order", "0") == 0);
	MUST(file_read(DEBUGFS "/failslab/probability", text, sizeof(text)) == 0);
	WANT(atoi(text), 0, 0, "nothing fails by chance");
}

static void fail_nth(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	/* This very copy may be the one that fails. */
	while (pwrite(nth_fd, text, len, 0) != len)
		MUST(errno == EFAULT || errno == ENOMEM);
}

/* Whether the failure has happened; none is pending afterwards. */
static bool failed(void)
{
	char text[16] = "";

	/* Where it hits this read, the call got by without. */
	ssize_t n = pread(nth_fd, text, sizeof(text) - 1, 0);

	fail_nth(0);
	return n > 0 && atoi(text) == 0;
}

/**
 * struct probe - one call
 * @begin: makes what the call needs
 * @call: the call; -1 and errno, or what it returned
 * @end: undoes both
 * @good: is that errno one that a program expects of this call?
 * @role: SPEED_ROLE_*, of a lease
 * @region: of its mapping
 */
struct probe {
	const char *name;
	void (*begin)(void);
	long (*call)(void);
	void (*end)(void);
	bool (*good)(int err);
	int role;
	enum { DATA, OWN, PEER } region;
};

static const struct probe *now;
static const struct transport *tp;
static struct end e[2];
static struct address addr;
static struct raw raw;
static struct speed *handle;
static int fd, listener, accepted;
static char buf[6000];

static bool no_memory(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == ENFILE || err == EFAULT;
}

static bool or_again(int err)
{
	return no_memory(err) || err == EAGAIN;
}

static void none(void)
{
	fd = accepted = listener = -1;
}

static void shut(void)
{
	if (fd >= 0)
		close(fd);
	if (accepted >= 0)
		close(accepted);
	if (listener >= 0)
		close(listener);
}

static long do_socket(void)
{
	return fd = socket(tp->family, tp->type, 0);
}

static void begin_bind(void)
{
	none();
	fd = tp_socket(tp, 0);
	tp_address(tp, &addr);
}

static long do_bind(void)
{
	return bind_to(fd, &addr);
}

static void begin_listen(void)
{
	begin_bind();
	MUST(bind_to(fd, &addr) == 0);
}

static long do_listen(void)
{
	return listen(fd, 4);
}

static void begin_connect(void)
{
	none();
	listener = tp_listen(tp, 4, &addr);
	fd = tp_socket(tp, 0);
}

static long do_connect(void)
{
	return connect_to(fd, &addr);
}

static long do_implied(void)
{
	return sendto(fd, buf, 100, MSG_NOSIGNAL, (struct sockaddr *)&addr.sa, addr.len);
}

static void begin_accept(void)
{
	begin_connect();
	MUST(connect_to(fd, &addr) == 0);
	MUST(set_nonblock(listener, true) == 0);
}

static long do_accept(void)
{
	return accepted = accept(listener, NULL, NULL);
}

static void begin_pair(void)
{
	/* Its pages are to be allocated. */
	held_empty_pool();
	tp_pair_sized(tp, e, RING / 2);
}

static void end_pair(void)
{
	pair_close(e);
}

static long do_send(void)
{
	return send(e[0].fd, buf, sizeof(buf), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The ring has its first pages, and what comes next lies beyond them, too. */
static void begin_grow(void)
{
	held_empty_pool();
	tp_pair_sized(tp, e, 4 * RING);
	MUST(send(e[0].fd, buf, 6000, MSG_DONTWAIT) == 6000);
	MUST(send(e[0].fd, buf, 6000, MSG_DONTWAIT) == 6000);
}

/* The ring is full: what comes is kept beside it. */
static void begin_overflow(void)
{
	begin_pair();
	MUST(set_int(e[0].fd, SOL_SOCKET, SO_SNDBUF, 65536) == 0);
	MUST(set_int(e[1].fd, SOL_SOCKET, SO_RCVBUF, 65536) == 0);
	MUST(send(e[0].fd, buf, 4000, MSG_DONTWAIT) == 4000);
	MUST(send(e[0].fd, buf, 4000, MSG_DONTWAIT) == 4000);
}

/* Of less than a page: no second way to its memory. */
static long do_small(void)
{
	return send(e[0].fd, buf, 1000, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void begin_recv(void)
{
	begin_pair();
	MUST(do_send() == sizeof(buf));
}

static long do_recv(void)
{
	return recv(e[1].fd, buf, sizeof(buf), MSG_DONTWAIT);
}

static long do_lease(void)
{
	return lease_role(e[0].fd, now->role, &raw.l);
}

static void begin_map(void)
{
	begin_pair();
	MUST(do_lease() == 0);
}

static char *mapped, *where;	/* where it has to be; NULL: anywhere */
static size_t mapped_bytes;

/* The peer's bytes and indices are for reading alone. */
static bool writable(void)
{
	return now->region == OWN || (now->region == DATA && now->role == SPEED_ROLE_TX);
}

static long do_map(void)
{
	const uint64_t at[] = { [DATA] = raw.l.off_data, [OWN] = raw.l.off_own,
				[PEER] = raw.l.off_peer };
	const size_t bytes[] = { [DATA] = 2 * raw.l.size, [OWN] = PAGE, [PEER] = 2 * PAGE };

	mapped_bytes = bytes[now->region];
	mapped = mmap(where, mapped_bytes, writable() ? RW : PROT_READ,
		      MAP_SHARED | (where ? MAP_FIXED_NOREPLACE : 0), e[0].fd, at[now->region]);
	return mapped == MAP_FAILED ? -1 : 0;
}

static void end_map(void)
{
	if (mapped != MAP_FAILED)
		munmap(mapped, mapped_bytes);
	end_pair();
}

#define TABLE_BYTES	(2ul << 20)	/* of addresses that share a page table */

static sigjmp_buf faulted;

static void on_fault(int sig)
{
	siglongjmp(faulted, sig);
}

/*
 * Alone among addresses, so that its first page needs a page table. A failed fault is a
 * SIGBUS or a SIGSEGV, or the kernel tries it again.
 */
static void begin_fault(void)
{
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	char *room;

	begin_map();
	room = mmap(NULL, 3 * TABLE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(room != MAP_FAILED && munmap(room, 3 * TABLE_BYTES) == 0);
	where = (char *)(((uintptr_t)room + TABLE_BYTES) & ~(TABLE_BYTES - 1));
	MUST(do_map() == 0 && mapped == where);
	where = NULL;
	MUST(!sigaction(SIGSEGV, &act, NULL) && !sigaction(SIGBUS, &act, NULL));
}

/* Without a system call, in which something else could fail. */
static long do_fault(void)
{
	volatile char *at = mapped;

	if (sigsetjmp(faulted, 0)) {
		errno = ENOMEM;
		return -1;
	}
	if (writable())
		*at = *at;
	else
		(void)*at;
	return 0;
}

static void end_fault(void)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	end_map();
}

/* What is there comes, by the call that takes the role back. */
static void begin_revoke_recv(void)
{
	begin_fault();
	MUST(send(e[1].fd, buf, 10, MSG_NOSIGNAL) == 10);
}

static long do_revoke(void)
{
	if (now->role == SPEED_ROLE_RX)
		return recv(e[0].fd, buf, 10, MSG_DONTWAIT);
	return send(e[0].fd, buf, 10, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void begin_library(void)
{
	begin_pair();
	handle = speed_attach(e[0].fd, 0);
	MUST(handle);
}

static long do_library(void)
{
	speed_map(handle, SPEED_MAP_BOTH);
	return speed_send(handle, buf, 100, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void end_library(void)
{
	speed_detach(handle);
	end_pair();
}

static int out[2];

static void begin_splice(void)
{
	begin_recv();
	MUST(pipe(out) == 0);
}

static long do_splice(void)
{
	return splice(e[1].fd, NULL, out[1], NULL, 2000, SPLICE_F_NONBLOCK);
}

static void begin_splice_in(void)
{
	begin_pair();
	MUST(pipe(out) == 0);
	MUST(write(out[1], buf, 2000) == 2000);
}

static long do_splice_in(void)
{
	return splice(out[0], NULL, e[0].fd, NULL, 2000, SPLICE_F_NONBLOCK);
}

static void end_splice(void)
{
	close(out[0]);
	close(out[1]);
	end_pair();
}

static long do_pair(void)
{
	int two[2];
	long ret = socketpair(tp->family, tp->type, 0, two);

	fd = accepted = -1;
	if (!ret) {
		fd = two[0];
		accepted = two[1];
	}
	return ret;
}

static long do_poll(void)
{
	struct pollfd p = { .fd = e[1].fd, .events = POLLIN };

	return poll(&p, 1, 0);
}

static const struct probe probes[] = {
	{ "socket", none, do_socket, shut, no_memory },
	{ "socketpair", none, do_pair, shut, no_memory },
	{ "bind", begin_bind, do_bind, shut, no_memory },
	{ "listen", begin_listen, do_listen, shut, no_memory },
	{ "connect", begin_connect, do_connect, shut, no_memory },
	{ "sendto", begin_connect, do_implied, shut, no_memory },
	{ "accept", begin_accept, do_accept, shut, no_memory },
	{ "send", begin_pair, do_send, end_pair, or_again },
	{ "send beyond its first pages", begin_grow, do_send, end_pair, no_memory },
	{ "lease with its first pages", begin_grow, do_lease, end_pair, or_again },
	{ "send beyond the ring", begin_overflow, do_send, end_pair, or_again },
	{ "a small send beyond the ring", begin_overflow, do_small, end_pair, or_again },
	{ "recv", begin_recv, do_recv, end_pair, no_memory },
	{ "poll", begin_recv, do_poll, end_pair, no_memory },
	{ "lease", begin_pair, do_lease, end_pair, or_again },
	{ "lease to receive", begin_pair, do_lease, end_pair, or_again, SPEED_ROLE_RX },
	{ "mmap", begin_map, do_map, end_map, or_again },
	{ "mmap of its index", begin_map, do_map, end_map, or_again, SPEED_ROLE_TX, OWN },
	{ "mmap of the peer's", begin_map, do_map, end_map, or_again, SPEED_ROLE_TX, PEER },
	{ "mmap to receive", begin_map, do_map, end_map, or_again, SPEED_ROLE_RX },
	{ "mmap to receive, its index", begin_map, do_map, end_map, or_again, SPEED_ROLE_RX, OWN },
	{ "mmap to receive, peer's", begin_map, do_map, end_map, or_again, SPEED_ROLE_RX, PEER },
	{ "a fault", begin_fault, do_fault, end_fault, no_memory },
	{ "a fault in its index", begin_fault, do_fault, end_fault, no_memory, SPEED_ROLE_TX, OWN },
	{ "a fault in the peer's", begin_fault, do_fault, end_fault, no_memory, SPEED_ROLE_TX, PEER },
	{ "a fault to receive", begin_fault, do_fault, end_fault, no_memory, SPEED_ROLE_RX },
	{ "revoke", begin_fault, do_revoke, end_fault, or_again },
	{ "revoke to receive", begin_revoke_recv, do_revoke, end_fault, no_memory, SPEED_ROLE_RX },
	{ "the library", begin_library, do_library, end_library, or_again },
	{ "splice out", begin_splice, do_splice, end_splice, or_again },
	{ "splice in", begin_splice_in, do_splice_in, end_splice, or_again },
};

/* A connection and a message on it, when nothing fails. */
static bool works(void)
{
	struct end f[2];
	char got[4];
	bool ok;

	tp_pair_sized(tp, f, RING / 2);
	ok = send(f[0].fd, "abc", 3, 0) == 3 && recv(f[1].fd, got, 4, 0) == 3 &&
	     !memcmp(got, "abc", 3);
	pair_close(f);
	return ok;
}

static void try_all(const struct probe *p)
{
	int n, sane = 0, insane = 0, last = 0, broken = 0;

	for (n = 1; n < MOST; n++) {
		bool happened;
		long ret;
		int err;

		now = p;
		p->begin();
		fail_nth(n);
		errno = 0;
		ret = p->call();
		err = errno;
		happened = failed();
		/* The same call again: it is not spoilt by the failure. */
		if (ret < 0 && p->good(err))
			sane++;
		else if (ret < 0) {
			insane++;
			last = err;
		}
		if (ret < 0 && happened && (p->call == do_bind || p->call == do_connect ||
					    p->call == do_send || p->call == do_small ||
					    p->call == do_recv || p->call == do_lease ||
					    p->call == do_map || p->call == do_fault ||
					    p->call == do_accept))
			broken += p->call() < 0 && !(p->begin == begin_overflow && errno == EAGAIN);
		p->end();
		if (!happened)
			break;
	}
	WANT(insane, 0, 0, "%s: strange errors, the last %s", p->name, strerrorname_np(last));
	WANT(broken, 0, 0, "%s: failures that stayed", p->name);
	/* Otherwise nothing was tried; these three allocate nothing at all. */
	WANT_TRUE(n > 1 || p->call == do_revoke || p->call == do_listen || p->call == do_recv, "%s: something failed", p->name);
	WANT_TRUE(n < MOST, "%s: gets by in the end", p->name);
	WANT_TRUE(works(), "%s: all works afterwards", p->name);
	trace_num(n - 1, "%s: allocations", p->name);
	trace_num(sane, "%s: errors", p->name);
}

static void every(const struct transport *t)
{
	int before = sockets_listed();
	size_t i;

	tp = t;
	need_faults();
	MUST(works());
	for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		try_all(&probes[i]);
	WANT(sockets_settle(before), before, 0, "sockets left");
}

static const struct test_case cases[] = {
	{ "every", every, CASE_BOTH | CASE_SPEED | CASE_LONG },
};

RUN_CASES(cases)
