// SPDX-License-Identifier: GPL-2.0
/*
 * SO_RCVLOWAT of fused TCP, asked for where nobody can wait for the bytes of the ring: by a
 * BPF program, and while the other end is held up in a copy into it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <speed.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "bpf.h"
#include "group.h"
#include "slow_page.h"
#include "stress.h"
#include "tcp_pair.h"

#define WANTED	8
#define UNREAD	100

#define LOAD(to, size, at)							\
	{ .code = BPF_LDX | BPF_MEM | (size), .dst_reg = (to), .src_reg = BPF_REG_6,	\
	  .off = (at) }

/* Where SO_KEEPALIVE is set, it sets SO_RCVLOWAT; and all goes on. */
static int program(void)
{
	const struct bpf_insn code[] = {
		BPF_I_MOV(BPF_REG_6, BPF_REG_1),
		LOAD(BPF_REG_2, BPF_W, offsetof(struct bpf_sockopt, optname)),
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_2, .off = 8,
		  .imm = SO_KEEPALIVE },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = -4, .imm = WANTED },
		LOAD(BPF_REG_1, BPF_DW, offsetof(struct bpf_sockopt, sk)),
		BPF_I_SET(BPF_REG_2, SOL_SOCKET),
		BPF_I_SET(BPF_REG_3, SO_RCVLOWAT),
		BPF_I_MOV(BPF_REG_4, BPF_REG_10),
		BPF_I_ADD(BPF_REG_4, -4),
		BPF_I_SET(BPF_REG_5, sizeof(int)),
		BPF_I_CALL(BPF_FUNC_setsockopt),
		BPF_I_SET(BPF_REG_0, 1),
		BPF_I_EXIT,
	};

	return bpf_load_code_at(BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, code,
				sizeof(code) / sizeof(code[0]));
}

static int lowat_of(int fd)
{
	return get_int(fd, SOL_SOCKET, SO_RCVLOWAT);
}

/* Bytes are in the ring, which is mapped or not: no answer of the program's is in the way. */
static void ask_by_program(bool mapped)
{
	struct speed *s = NULL;
	int fd[2];

	tcp_fused_pair(fd);
	if (mapped) {
		s = speed_attach(fd[1], 0);
		MUST(s && speed_map(s, SPEED_MAP_RX) == 0);
	}
	WANT_TRUE(tcp_put(fd[0], UNREAD, 0), "put");
	WANT_OK(set_int(fd[1], SOL_SOCKET, SO_KEEPALIVE, 1), "SO_KEEPALIVE");
	WANT(lowat_of(fd[1]), 1, 0, "mapped %d: SO_RCVLOWAT", mapped);
	WANT_TRUE(poll_wait(fd[1], POLLIN, 5000) & POLLIN, "readable");
	WANT_TRUE(tcp_get(fd[1], UNREAD, 0), "all of it");
	WANT_TRUE(tcp_fuses(fd), "fused");
	/* A program may ask for itself. */
	WANT_OK(set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, WANTED), "SO_RCVLOWAT");
	WANT_TRUE(tcp_put(fd[0], UNREAD, 0), "put");
	WANT(tcp_reason(fd[0]), SPEED_TCP_ODD, 0, "the reason");
	WANT_TRUE(tcp_get(fd[1], UNREAD, 0), "by TCP");
	if (s)
		speed_detach(s);
	tcp_close(fd);
}

static void by_program(const struct transport *t)
{
	int group, prog, plain;

	(void)t;
	group_need();
	tcp_shim_net();
	prog = program();
	group = open(GROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (prog < 0 || group < 0 || bpf_attach_group(prog, group, BPF_CGROUP_SETSOCKOPT)) {
		rmdir(GROUP);
		trace_skip("needs bpf() and CONFIG_CGROUP_BPF");
	}
	MUST(group_enter(GROUP) == 0);
	/* It does what it is for, where there is no ring. */
	plain = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	WANT_OK(set_int(plain, SOL_SOCKET, SO_KEEPALIVE, 1), "SO_KEEPALIVE");
	WANT(lowat_of(plain), WANTED, 0, "plain: SO_RCVLOWAT");
	close(plain);
	ask_by_program(false);
	ask_by_program(true);
	MUST(group_enter(GROUPS) == 0);
	close(group);
	close(prog);
	WANT_OK(rmdir(GROUP), "rmdir");
}

/* Six bytes are in the ring, and their sender in the middle of more: refused, or all is told. */
static void held_up(const struct transport *t)
{
	struct task sender;
	struct slow h;
	int fd[2];
	char buf[SLOW_BYTES];

	(void)t;
	tcp_shim_net();
	slow_page_open(&h.page);
	tcp_fused_pair(fd);
	h.fd = fd[0];
	WANT_TRUE(tcp_put(fd[0], 6, 0), "put");
	task_start(&sender, slow_send, &h);
	WANT_TRUE(task_sleeps(&sender), "the sender is held up");
	WANT_ERR(set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 10), EBUSY, "SO_RCVLOWAT");
	WANT(lowat_of(fd[1]), 1, 0, "as it was");
	WANT(poll_wait(fd[1], POLLIN, 1000) & POLLIN, POLLIN, 0, "readable");
	slow_page_give(&h.page, "held");
	WANT(task_join(&sender), SLOW_BYTES, 0, "sent");
	WANT_OK(set_int(fd[1], SOL_SOCKET, SO_RCVLOWAT, 10), "SO_RCVLOWAT again");
	WANT_TRUE(tcp_get(fd[1], 6, 0), "the first");
	WANT(recv(fd[1], buf, sizeof(buf), MSG_WAITALL), SLOW_BYTES, 0, "the others");
	WANT(memcmp(buf, "held", 4), 0, 0, "what they are");
	tcp_close(fd);
	slow_page_close(&h.page);
}

static const struct test_case cases[] = {
	{ "by_program", by_program, CASE_STREAM | CASE_SPEED },
	{ "held_up", held_up, CASE_STREAM | CASE_SPEED },
};

RUN_CASES(cases)
