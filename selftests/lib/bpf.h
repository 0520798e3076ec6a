/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs of few instructions, which need no compiler, and maps. */
#ifndef SPEED_SELFTESTS_BPF_H
#define SPEED_SELFTESTS_BPF_H

#include <linux/bpf.h>
#include <stdint.h>

/* Instructions, which stand in a list of struct bpf_insn. */
#define BPF_I_MOV(to, from)							\
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) }
#define BPF_I_SET(to, value)							\
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (value) }
#define BPF_I_ADD(to, value)							\
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (to), .imm = (value) }
#define BPF_I_CALL(func)	{ .code = BPF_JMP | BPF_CALL, .imm = (func) }
#define BPF_I_EXIT		{ .code = BPF_JMP | BPF_EXIT }

/* A descriptor, or -1 and errno. */
int bpf_load_code(enum bpf_prog_type type, const struct bpf_insn *code, int count);
/* The same for a program that is to be attached there. */
int bpf_load_code_at(enum bpf_prog_type type, enum bpf_attach_type at,
		     const struct bpf_insn *code, int count);
/* As bpf_load_code(), of "return value". */
int bpf_load(enum bpf_prog_type type, int value);
/* To a control group's directory. */
int bpf_attach_group(int prog, int group, enum bpf_attach_type at);
/* To a device; it goes with the descriptor that is returned. */
int bpf_link_device(int prog, int ifindex, enum bpf_attach_type at, int flags);
/* A map of so many entries of size bytes, by four-byte keys: a descriptor, or -1 and errno. */
int bpf_map_of(enum bpf_map_type type, uint32_t size, uint32_t entries, uint32_t flags);
/* A small map of four-byte words by four-byte keys: a descriptor, or -1 and errno. */
int bpf_map(enum bpf_map_type type);
/* 0, or -1 and errno. */
int bpf_map_set(int map, uint32_t key, uint32_t value);
int bpf_map_del(int map, uint32_t key);

#endif
