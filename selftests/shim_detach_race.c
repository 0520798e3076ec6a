// SPDX-License-Identifier: GPL-2.0
/*
 * A socket leaves the shim (connect(AF_UNSPEC), TCP_ULP "tls") while another thread
 * is in a call of it, held up by a page that userfaultfd does not give. What the call
 * works on is kept until it is out, and goes then: each socket that takes part has a
 * reference to the module until its memory is freed.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "shim_held.h"
#include "slow_page.h"
#include "stress.h"
#include "tcp_pair.h"
#include "tls.h"

#define SOON_MS	60000
#define HOLDS	20	/* looks: what is freed too early is freed by then */
#define HOLD_MS	50	/* before each, and in the long form four times as long */

static long set_fuse(void *arg)
{
	struct slow *s = arg;

	return setsockopt(s->fd, SOL_SPEED, SPEED_FUSE, s->page.at, 4);
}

static long set_repair(void *arg)
{
	struct slow *s = arg;

	return setsockopt(s->fd, IPPROTO_TCP, TCP_REPAIR, s->page.at, 4);
}

static long set_ulp(void *arg)
{
	struct slow *s = arg;

	return setsockopt(s->fd, IPPROTO_TCP, TCP_ULP, s->page.at, 4);
}

static long at_mark(void *arg)
{
	struct slow *s = arg;

	return ioctl(s->fd, SIOCATMARK, s->page.at);
}

static long get_fusion(void *arg)
{
	socklen_t len = sizeof(struct speed_fusion);
	struct slow *s = arg;

	return getsockopt(s->fd, SOL_SPEED, SPEED_FUSION, s->page.at, &len);
}

static long get_info(void *arg)
{
	socklen_t len = sizeof(struct tcp_info);
	struct slow *s = arg;

	return getsockopt(s->fd, IPPROTO_TCP, TCP_INFO, s->page.at, &len);
}

/**
 * struct slow_call - a call, and what it may return
 * @fn: the call
 * @text: what the page has, once it comes
 * @most: the largest result
 * @err: errno of a failure, beside those of a connection that is no more
 */
struct slow_call {
	long (*fn)(void *arg);
	const char *text;
	long most;
	int err;
};

static long gives_up(void *fd)
{
	return tcp_give_up(*(int *)fd);
}

/* The call is under way: its socket's reference stays. */
static bool kept(long without)
{
	int i;

	for (i = 0; i < HOLDS && held_references() > without; i++)
		sleep_ms((soak() ? 4 : 1) * HOLD_MS);
	return held_references() > without;
}

static bool may_return(const struct slow_call *c, const struct task *k)
{
	if (k->ret >= 0)
		return k->ret <= c->most;
	return k->err == c->err || k->err == ECONNRESET || k->err == EPIPE ||
	       k->err == ENOTCONN || k->err == ENOPROTOOPT;
}

static void leaves(const struct slow_call *c, long (*how)(void *fd), const char *name)
{
	struct shim_held before;
	struct task call, leave;
	struct slow s;
	int fd[2];

	shim_orphans_brief();
	shim_held_begin(&before);
	slow_page_open(&s.page);
	tcp_fused_pair(fd);
	s.fd = fd[0];
	MUST(tcp_put(fd[1], SLOW_BYTES, 0));
	task_start(&call, c->fn, &s);
	WANT_TRUE(task_sleeps(&call), "%s: the call is held up", name);
	task_start(&leave, how, &fd[0]);
	/* Either it is done, or it waits for the call. */
	task_ends(&leave, 1000);
	/* TLS may wait for the lock that a close would want. */
	if (how == gives_up)
		close(fd[1]);
	sleep_ms(200);
	WANT_TRUE(kept(before.references + (how != gives_up)), "%s: kept meanwhile", name);
	slow_page_give(&s.page, c->text);
	task_join(&call);
	WANT_TRUE(may_return(c, &call), "%s: the call: %ld, errno %d", name, call.ret, call.err);
	WANT(task_join(&leave) && errno != ENOTCONN && errno != ENOENT, 0, 0, "%s", name);
	if (how != gives_up)
		close(fd[1]);
	/* The descriptor is there yet: it has left. */
	shim_held_end(&before);
	close(fd[0]);
	slow_page_close(&s.page);
}

static void both(const struct slow_call *c)
{
	leaves(c, gives_up, "connect(AF_UNSPEC)");
	tcp_need_tls();
	leaves(c, tcp_takes_tls, "TCP_ULP tls");
}

static void in_set_fuse(const struct transport *t)
{
	both(&(struct slow_call){ set_fuse, "", 0 });
}

static void in_set_repair(const struct transport *t)
{
	both(&(struct slow_call){ set_repair, "", 0 });
}

static void in_set_ulp(const struct transport *t)
{
	both(&(struct slow_call){ set_ulp, "none", 0, ENOENT });
}

static void in_ioctl(const struct transport *t)
{
	if (kernel_since(6, 5))
		trace_skip("ioctl() copies outside of TCP since Linux 6.5");
	both(&(struct slow_call){ at_mark, "", 0 });
}

static void in_get_fusion(const struct transport *t)
{
	both(&(struct slow_call){ get_fusion, "", 0 });
}

static void in_get_info(const struct transport *t)
{
	both(&(struct slow_call){ get_info, "", 0 });
}

static void in_send(const struct transport *t)
{
	both(&(struct slow_call){ slow_send, "", SLOW_BYTES });
}

static void in_recv(const struct transport *t)
{
	both(&(struct slow_call){ slow_recv, "", SLOW_BYTES });
}

static void interrupted(int sig)
{
}

static long accepts(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);

	return fd < 0 ? fd : close(fd);
}

static bool one_ends(const struct task k[2])
{
	long until = now_ms() + SOON_MS;

	while (!task_ends(&k[0], 10) && !task_ends(&k[1], 10)) {
		if (now_ms() > until)
			return false;
	}
	return true;
}

/*
 * A socket whose connect() found its port taken has the shim, and may listen then. Who gives
 * it up wakes one of those who accept.
 */
static void in_accept(const struct transport *t)
{
	int fd[2], listener, client, again;
	struct shim_held before;
	struct task accepting[2];
	struct sigaction sa = { .sa_handler = interrupted };
	struct address to, own;
	int i;

	sigaction(SIGUSR1, &sa, NULL);
	shim_held_begin(&before);
	listener = tcp_listen_at(LOCAL4, 0, &to);
	client = tcp_socket(&to);
	MUST(!set_int(client, SOL_SOCKET, SO_REUSEADDR, 1));
	tcp_address(&own, LOCAL4, 0);
	MUST(bind_to(client, &own) == 0);
	MUST(!get_sockname(client, &own));
	tcp_join(listener, &to, client, fd);
	again = tcp_socket(&to);
	MUST(!set_int(again, SOL_SOCKET, SO_REUSEADDR, 1));
	MUST(bind_to(again, &own) == 0);
	WANT_ERR(connect_to(again, &to), EADDRNOTAVAIL, "the same two names");
	tcp_close(fd);
	close(listener);
	WANT_TRUE(tcp_takes_part(again), "it takes part");
	WANT_OK(listen(again, 1), "listen");
	task_start(&accepting[0], accepts, &again);
	task_start(&accepting[1], accepts, &again);
	WANT_TRUE(task_sleeps(&accepting[0]) && task_sleeps(&accepting[1]), "both accept");
	WANT_OK(tcp_give_up(again), "connect(AF_UNSPEC)");
	WANT_TRUE(one_ends(accepting), "one is woken");
	WANT_TRUE(kept(before.references), "kept meanwhile");
	WANT_TRUE(!task_ends(&accepting[0], 0) || !task_ends(&accepting[1], 0), "and one alone");
	for (i = 0; i < 2; i++) {
		if (!task_ends(&accepting[i], 0))
			pthread_kill(accepting[i].thread, SIGUSR1);
	}
	WANT_TRUE(task_join(&accepting[0]) == -1 && task_join(&accepting[1]) == -1,
		  "neither got a connection");
	shim_held_end(&before);
	close(again);
}

#define FUSED	(CASE_STREAM | CASE_FUSED_ONLY)

static const struct test_case cases[] = {
	{ "set_fuse", in_set_fuse, FUSED },
	{ "set_repair", in_set_repair, FUSED },
	{ "set_ulp", in_set_ulp, FUSED },
	{ "ioctl", in_ioctl, FUSED },
	{ "accept", in_accept, FUSED },
	{ "get_fusion", in_get_fusion, FUSED },
	{ "get_info", in_get_info, FUSED },
	{ "send", in_send, FUSED },
	{ "recv", in_recv, FUSED },
};

RUN_CASES(cases)
