// SPDX-License-Identifier: GPL-2.0
/* A function of the kernel made slow for one thread: see delay.h. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "delay.h"
#include "procfile.h"
#include "trace.h"

#define KPROBES		"/sys/bus/event_source/devices/kprobe/type"
#define LOOKS		8000	/* at the clock; the verifier follows each */
#define FRAMES		256	/* bytes */
#define NS_PER_MS	1000000

#define MOV(to, from)	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) }
#define SET(to, value)	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (value) }
#define ADD(to, value)	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (to), .imm = (value) }
#define CALL(func)	{ .code = BPF_JMP | BPF_CALL, .imm = (func) }
#define EXIT		{ .code = BPF_JMP | BPF_EXIT }

/* Only this thread is held up. Between looks at the clock the stack is walked: that is slow. */
static int load(pid_t tid)
{
	const struct bpf_insn code[] = {
		MOV(BPF_REG_8, BPF_REG_1),
		CALL(BPF_FUNC_get_current_pid_tgid),
		{ .code = BPF_JMP32 | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .imm = tid, .off = 16 },
		CALL(BPF_FUNC_ktime_get_ns),
		MOV(BPF_REG_7, BPF_REG_0),
		ADD(BPF_REG_7, DELAY_MS * NS_PER_MS),
		SET(BPF_REG_6, LOOKS),
		/* 7: until it is late enough */
		CALL(BPF_FUNC_ktime_get_ns),
		{ .code = BPF_JMP | BPF_JLT | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_7,
		  .off = 2 },
		SET(BPF_REG_0, 0),
		EXIT,
		/* 11: */
		MOV(BPF_REG_1, BPF_REG_8),
		MOV(BPF_REG_2, BPF_REG_10),
		ADD(BPF_REG_2, -FRAMES),
		SET(BPF_REG_3, FRAMES),
		SET(BPF_REG_4, 0),
		CALL(BPF_FUNC_get_stack),
		ADD(BPF_REG_6, -1),
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_6, .off = -12 },
		/* 19: */
		SET(BPF_REG_0, 0),
		EXIT,
	};

	return bpf_load_code(BPF_PROG_TYPE_KPROBE, code, sizeof(code) / sizeof(code[0]));
}

int delay_begin(const char *function)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .kprobe_func = (uintptr_t)function,
	};
	char type[32];
	int event, prog;

	if (geteuid())
		trace_skip("needs root, to set a kprobe");
	if (file_read(KPROBES, type, sizeof(type)))
		trace_skip("needs kprobes (CONFIG_KPROBE_EVENTS)");
	attr.type = atoi(type);
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	MUST(event >= 0);
	prog = load(gettid());
	MUST(prog >= 0);
	MUST(ioctl(event, PERF_EVENT_IOC_SET_BPF, prog) == 0);
	MUST(ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0);
	close(prog);
	return event;
}
