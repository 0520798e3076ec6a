// SPDX-License-Identifier: GPL-2.0
/*
 * speed_pair() between processes: an end each, and a direction each; what a
 * process sent before it left is there.
 */
#include <sys/wait.h>

#include "stream.h"

#ifndef WORK
#define WORK	4
#endif
#define STREAM_BYTES	(WORK * 500000ull)
#define CALLS		(WORK * 2500)

static struct speed *end[2];

static void open_pair(int type, size_t bytes, unsigned int spin_us)
{
	if (speed_pair(type, bytes, end))
		rig_fail("speed_pair");
	need(!speed_set_spin(end[0], spin_us) && !speed_set_spin(end[1], spin_us));
}

/* Run in a child, which fails where a need() does. */
static pid_t in_child(void (*run)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		rig_fail("fork");
	if (pid)
		return pid;
	alarm(120);
	run();
	fflush(stdout);
	_exit(!!tap_here);
}

static void await(pid_t pid)
{
	int status;

	need(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
}

static void far_end(void)
{
	stream_recv(end[1], STREAM_BYTES, 9000, 2, 5);
	stream_send(end[1], STREAM_BYTES, 30000, 2, 6);
	speed_detach(end[1]);
}

static void test_ends(unsigned int spin_us)
{
	unsigned char byte;
	pid_t pid;

	open_pair(SOCK_STREAM, 16384, spin_us);
	pid = in_child(far_end);
	stream_send(end[0], STREAM_BYTES, 30000, 2, 7);
	stream_recv(end[0], STREAM_BYTES, 9000, 2, 8);
	need(speed_recv(end[0], &byte, 1, 0) == 0);
	need(speed_send(end[0], &byte, 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	await(pid);
	speed_detach(end[0]);
	speed_detach(end[1]);	/* closed already; this frees the parent's handle */
	ok("an end in each process, %s", spin_us ? "spinning" : "sleeping");
}

static void sending_half(void)
{
	stream_send(end[0], STREAM_BYTES, 20000, 0, 1);
}

static void receiving_half(void)
{
	stream_recv(end[0], STREAM_BYTES, 20000, 0, 2);
}

static void echo_end(void)
{
	unsigned char buf[7777];
	__u64 left = STREAM_BYTES;
	ssize_t n;

	while (left) {
		n = speed_recv(end[1], buf, sizeof(buf), 0);
		if (!need(n > 0) || !need(speed_send(end[1], buf, n, 0) == n))
			break;
		left -= n;
	}
}

static void test_directions(void)
{
	pid_t pids[3];
	int i;

	open_pair(SOCK_STREAM, 8192, SPEED_SPIN_DEFAULT);
	pids[0] = in_child(sending_half);
	pids[1] = in_child(receiving_half);
	pids[2] = in_child(echo_end);
	for (i = 0; i < 3; i++)
		await(pids[i]);
	ok("a direction of an end in each process");
	speed_detach(end[0]);
	speed_detach(end[1]);
}

static void serve(void)
{
	unsigned char req[64];
	ssize_t n = 0;

	while ((n = speed_reply_wait(end[1], n ? req : NULL, n, req, sizeof(req), 0)) > 0)
		;
	need(n == 0);
}

static void test_calls(unsigned int spin_us)
{
	unsigned char req[64], rep[64];
	pid_t pid;
	int i;

	open_pair(SOCK_SEQPACKET, 4096, spin_us);
	pid = in_child(serve);
	for (i = 0; i < CALLS; i++) {
		stream_fill(req, i, sizeof(req));
		if (!need(speed_call(end[0], req, sizeof(req), rep, sizeof(rep), 0) == 64) ||
		    !need(!memcmp(req, rep, sizeof(req))))
			break;
	}
	speed_detach(end[0]);
	await(pid);
	speed_detach(end[1]);
	ok("call and reply between processes, %s", spin_us ? "spinning" : "sleeping");
}

static void leave_bytes(void)
{
	int i;

	for (i = 0; i < 20; i++)
		message_send(end[1], i, 100, i % 2);
	speed_detach(end[1]);
}

static void test_bytes_left(void)
{
	char byte;
	int i;

	open_pair(SOCK_SEQPACKET, 8192, 0);
	await(in_child(leave_bytes));
	for (i = 0; i < 20; i++)
		message_recv(end[0], i, 100, i % 3);
	need(speed_recv(end[0], &byte, 1, 0) == 0);
	speed_detach(end[0]);
	speed_detach(end[1]);
	ok("what a process sent before it left is there");
}

int main(void)
{
	alarm(120);
	test_ends(0);
	test_ends(SPEED_SPIN_MAX);
	test_directions();
	test_calls(0);
	test_calls(SPEED_SPIN_MAX);
	test_bytes_left();
	return tap_done();
}
