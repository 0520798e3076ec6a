// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners that several processes have: a group by SO_REUSEPORT, one that is passed by
 * SCM_RIGHTS, one that is inherited over fork(). Who accepts is not who was there when
 * the connection was made; it is fused all the same.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "passing.h"
#include "stress.h"
#include "tcp_pair.h"

#define PROCESSES	2
#define EACH		2	/* listeners of a process */
#define LISTENERS	(PROCESSES * EACH)
#define BATCH		16	/* connections at once */
#define BATCHES		4
#define CONNECTIONS	(BATCH * BATCHES)
#define ASKED		2000
#define ANSWERED	3000
#define TAKES		(SPEED_FUSION_TX | SPEED_FUSION_RX)

/**
 * struct group - what the accepting processes write down
 * @accepted: of each connection, how often it was
 * @by: connections of each listener
 * @fused: connections, both ways
 * @wrong: connections with wrong bytes
 */
struct group {
	atomic_int accepted[CONNECTIONS];
	atomic_int by[LISTENERS];
	atomic_int fused;
	atomic_int wrong;
};

/**
 * struct server - an accepting process
 * @group: shared
 * @listener: all of the group's
 * @first: the first of its own
 * @stop: a pipe whose other end is closed when all is done
 */
struct server {
	struct group *group;
	int *listener;
	int first;
	int stop;
};

static int group_listener(struct address *a)
{
	int fd = tcp_socket(a);

	MUST(set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1) == 0);
	MUST(bind_to(fd, a) == 0);
	MUST(listen(fd, CONNECTIONS) == 0);
	MUST(get_sockname(fd, a) == 0);
	return fd;
}

static void serve_one(struct server *s, int which)
{
	int fd = tcp_accept(s->listener[which]);
	uint32_t id = CONNECTIONS;
	bool right;

	right = recv(fd, &id, sizeof(id), MSG_WAITALL) == sizeof(id) && id < CONNECTIONS &&
		tcp_get(fd, ASKED, id) && tcp_put(fd, ANSWERED, id);
	/* What comes before there is a pair may go by TCP; what comes after an answer does not. */
	right &= recv(fd, (char [1]){ 0 }, 1, 0) == 1;
	s->group->wrong += !right;
	s->group->fused += (tcp_flags(fd) & TAKES) == TAKES;
	s->group->by[which]++;
	if (id < CONNECTIONS)
		s->group->accepted[id]++;
	close(fd);
}

static int serve(void *arg)
{
	struct server *s = arg;
	struct pollfd p[EACH + 1];
	int i;

	for (i = 0; i < EACH; i++)
		p[i] = (struct pollfd){ s->listener[s->first + i], POLLIN };
	p[EACH] = (struct pollfd){ s->stop, POLLIN };
	for (i = 0; i < LISTENERS; i++) {
		if (i < s->first || i >= s->first + EACH)
			close(s->listener[i]);
	}
	do {
		MUST(poll(p, EACH + 1, -1) > 0);
		for (i = 0; i < EACH; i++) {
			if (p[i].revents)
				serve_one(s, s->first + i);
		}
	} while (!p[EACH].revents);
	return 0;
}

static bool ask(int fd, uint32_t id)
{
	return send(fd, &id, sizeof(id), 0) == sizeof(id) && tcp_put(fd, ASKED, id);
}

static bool is_answered(int fd, uint32_t id)
{
	return tcp_get(fd, ANSWERED, id) && send(fd, "", 1, MSG_NOSIGNAL) == 1 &&
	       recv(fd, (char [1]){ 0 }, 1, 0) == 0;
}

/* In any order: who accepts takes one after the other. */
static int answers(struct pollfd *p, uint32_t first)
{
	int i, left = BATCH, wrong = 0;

	while (left) {
		MUST(poll(p, BATCH, -1) > 0);
		for (i = 0; i < BATCH; i++) {
			if (p[i].fd < 0 || !p[i].revents)
				continue;
			wrong += !is_answered(p[i].fd, first + i);
			close(p[i].fd);
			p[i].fd = -1;
			left--;
		}
	}
	return wrong;
}

static int connect_all(const struct address *to)
{
	int batch, i, wrong = 0;
	struct pollfd p[BATCH];

	for (batch = 0; batch < BATCHES; batch++) {
		for (i = 0; i < BATCH; i++) {
			p[i] = (struct pollfd){ tcp_socket(to), POLLIN };
			MUST(connect_to(p[i].fd, to) == 0);
			wrong += !ask(p[i].fd, batch * BATCH + i);
		}
		wrong += answers(p, batch * BATCH);
	}
	return wrong;
}

static void want_served(struct group *g, bool fused)
{
	int i, once = 0;

	for (i = 0; i < CONNECTIONS; i++)
		once += g->accepted[i] == 1;
	WANT(once, CONNECTIONS, 0, "connections that were accepted once");
	WANT(g->wrong, 0, 0, "wrong bytes, to who accepts");
	WANT(g->fused, fused ? CONNECTIONS : 0, 0, "connections that were fused");
	/* Who gets one is chance, and of so many each gets some. */
	for (i = 0; i < LISTENERS; i++)
		WANT_TRUE(g->by[i] > 0, "listener %d accepts", i);
}

static void run_group(bool fused)
{
	int listener[LISTENERS], stop[2], i;
	struct server s[PROCESSES];
	pid_t pid[PROCESSES];
	struct group *g;
	struct address a;

	g = mmap(NULL, sizeof(*g), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(g != MAP_FAILED && pipe(stop) == 0);
	tcp_address(&a, LOCAL4, 0);
	for (i = 0; i < LISTENERS; i++)
		listener[i] = group_listener(&a);
	for (i = 0; i < PROCESSES; i++) {
		s[i] = (struct server){ g, listener, i * EACH, stop[0] };
		pid[i] = fork();
		MUST(pid[i] >= 0);
		if (!pid[i]) {
			close(stop[1]);
			_exit(serve(&s[i]));
		}
	}
	for (i = 0; i < LISTENERS; i++)
		close(listener[i]);
	WANT(connect_all(&a), 0, 0, "wrong bytes, to who connects");
	close(stop[1]);
	for (i = 0; i < PROCESSES; i++)
		WANT(process_join(pid[i]), 0, 0, "process %d", i);
	want_served(g, fused);
	close(stop[0]);
	munmap(g, sizeof(*g));
}

static void group(const struct transport *t)
{
	tcp_own_net();
	run_group(false);
	tcp_shim_set(1);
	run_group(true);
}

/* ---- one listener, in another process ---- */

#define WAITING		4	/* connections, made before the other process accepts */
#define SENT(i)		(100 + 9000 * (i))
#define FUSED		10	/* one that is, counted beside the right ones */

static int channel[2];

/* All but the first, which was accepted before. Return: the right ones, and the fused. */
static int accept_waiting(void *listener)
{
	int at = listener ? *(int *)listener : fd_passed(channel[1]);
	int fd, i, right = 0;

	MUST(at >= 0);
	for (i = 1; i < WAITING; i++) {
		fd = tcp_accept(at);
		right += tcp_get(fd, SENT(i), i) && tcp_put(fd, SENT(i), 7 * i);
		right += (tcp_flags(fd) & TAKES) == TAKES ? FUSED : 0;
		close(fd);
	}
	return right;
}

static void run_waiting(bool inherited, bool fused)
{
	int listener, client[WAITING], i, first;
	struct address a;
	pid_t pid = -1;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, channel) == 0);
	if (!inherited)
		pid = process_start(accept_waiting, NULL);
	listener = tcp_listen_at(LOCAL4, 0, &a);
	for (i = 0; i < WAITING; i++) {
		client[i] = tcp_socket(&a);
		MUST(connect_to(client[i], &a) == 0);
		MUST(!fused || tcp_met(client[i]));
		WANT_TRUE(tcp_put(client[i], SENT(i), i), "sent before it is accepted");
		WANT(tcp_flags(client[i]) & SPEED_FUSION_TX, fused ? SPEED_FUSION_TX : 0, 0,
		     "by the ring");
	}
	first = tcp_accept(listener);
	if (inherited)
		pid = process_start(accept_waiting, &listener);
	else
		fd_pass(channel[0], listener);
	close(listener);
	for (i = 1; i < WAITING; i++)
		WANT_TRUE(tcp_get(client[i], SENT(i), 7 * i), "%d: the answer", i);
	WANT(process_join(pid), (WAITING - 1) * (fused ? 1 + FUSED : 1), 0,
	     "what the other process accepted");
	WANT_TRUE(tcp_get(first, SENT(0), 0), "what was accepted here");
	close(first);
	for (i = 0; i < WAITING; i++)
		close(client[i]);
	tcp_close(channel);
}

static void by_message(const struct transport *t)
{
	tcp_own_net();
	run_waiting(false, false);
	tcp_shim_set(1);
	run_waiting(false, true);
}

static void by_fork(const struct transport *t)
{
	tcp_own_net();
	run_waiting(true, false);
	tcp_shim_set(1);
	run_waiting(true, true);
}

static const struct test_case cases[] = {
	{ "group", group, CASE_STREAM | CASE_SPEED },
	{ "by_message", by_message, CASE_STREAM | CASE_SPEED },
	{ "by_fork", by_fork, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
