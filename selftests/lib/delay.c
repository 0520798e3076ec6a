// SPDX-License-Identifier: GPL-2.0
/* A function of the kernel made slow for one thread: see delay.h. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "delay.h"
#include "procfile.h"
#include "task.h"
#include "trace.h"

#define KPROBES		"/sys/bus/event_source/devices/kprobe/type"
#define LOOKS		200	/* at the clock; the verifier follows each */
#define BULK		(2 << 20)	/* bytes, copied between two looks */
#define KEY		(-4)	/* where the map's key is on the stack */
#define NS_PER_MS	1000000

#define FROM_MAP(to, map) \
	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (to), .src_reg = BPF_PSEUDO_MAP_FD, \
	  .imm = (map) }, { 0 }

/*
 * Only this thread is held up. What takes the time between two looks at the clock is that
 * the map's only entry is written over itself. Its first word says that it came to that.
 */
static int load(pid_t tid, int map)
{
	const struct bpf_insn code[] = {
		BPF_I_CALL(BPF_FUNC_get_current_pid_tgid),
		{ .code = BPF_JMP32 | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .imm = tid,
		  .off = 24 },
		BPF_I_CALL(BPF_FUNC_ktime_get_ns),
		BPF_I_MOV(BPF_REG_7, BPF_REG_0),
		BPF_I_ADD(BPF_REG_7, DELAY_MS * NS_PER_MS),
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_10, .off = KEY, .imm = 0 },
		FROM_MAP(BPF_REG_1, map),
		BPF_I_MOV(BPF_REG_2, BPF_REG_10),
		BPF_I_ADD(BPF_REG_2, KEY),
		BPF_I_CALL(BPF_FUNC_map_lookup_elem),
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .imm = 0, .off = 14 },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = BPF_REG_0, .off = 0, .imm = true },
		BPF_I_MOV(BPF_REG_8, BPF_REG_0),
		BPF_I_SET(BPF_REG_6, LOOKS),
		/* 15: until it is late enough */
		BPF_I_CALL(BPF_FUNC_ktime_get_ns),
		{ .code = BPF_JMP | BPF_JGE | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_7,
		  .off = 9 },
		FROM_MAP(BPF_REG_1, map),
		BPF_I_MOV(BPF_REG_2, BPF_REG_10),
		BPF_I_ADD(BPF_REG_2, KEY),
		BPF_I_MOV(BPF_REG_3, BPF_REG_8),
		BPF_I_SET(BPF_REG_4, BPF_ANY),
		BPF_I_CALL(BPF_FUNC_map_update_elem),
		BPF_I_ADD(BPF_REG_6, -1),
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_6, .off = -11 },
		/* 26: */
		BPF_I_SET(BPF_REG_0, 0),
		BPF_I_EXIT,
	};

	return bpf_load_code(BPF_PROG_TYPE_KPROBE, code, sizeof(code) / sizeof(code[0]));
}

static atomic_int *met;	/* the first word of the map */

/* One for all: it lives as long as the process. */
static int the_map(void)
{
	static int map = -1;

	if (map < 0) {
		map = bpf_map_of(BPF_MAP_TYPE_ARRAY, BULK, 1, BPF_F_MMAPABLE);
		MUST(map >= 0);
		met = mmap(NULL, sizeof(*met), PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
		MUST(met != MAP_FAILED);
	}
	return map;
}

bool delay_met(void)
{
	return *met;
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
	prog = load(gettid(), the_map());
	MUST(prog >= 0);
	*met = false;
	MUST(ioctl(event, PERF_EVENT_IOC_SET_BPF, prog) == 0);
	MUST(ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0);
	close(prog);
	return event;
}

int delay_begin_in_turn(struct delay_turn *turn, const char *function)
{
	int delay = delay_begin(function);

	turn->ready = true;
	while (!turn->go)
		;
	return delay;
}

void delay_await(struct delay_turn *turn)
{
	while (!turn->ready)
		sleep_ms(1);
}
