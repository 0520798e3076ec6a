// SPDX-License-Identifier: GPL-2.0
/* BPF programs and maps: see bpf.h. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int bpf_load_code_at(enum bpf_prog_type type, enum bpf_attach_type at,
		     const struct bpf_insn *code, int count)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.expected_attach_type = at;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = count;
	attr.license = (uintptr_t)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

int bpf_load_code(enum bpf_prog_type type, const struct bpf_insn *code, int count)
{
	return bpf_load_code_at(type, 0, code, count);
}

int bpf_load(enum bpf_prog_type type, int value)
{
	const struct bpf_insn code[] = {
		BPF_I_SET(BPF_REG_0, value),
		BPF_I_EXIT,
	};

	return bpf_load_code(type, code, sizeof(code) / sizeof(code[0]));
}

int bpf_attach_group(int prog, int group, enum bpf_attach_type at)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.target_fd = group;
	attr.attach_bpf_fd = prog;
	attr.attach_type = at;
	return bpf(BPF_PROG_ATTACH, &attr);
}

int bpf_link_device(int prog, int ifindex, enum bpf_attach_type at, int flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog;
	attr.link_create.target_ifindex = ifindex;
	attr.link_create.attach_type = at;
	attr.link_create.flags = flags;
	return bpf(BPF_LINK_CREATE, &attr);
}

int bpf_map_of(enum bpf_map_type type, uint32_t size, uint32_t entries, uint32_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = size;
	attr.max_entries = entries;
	attr.map_flags = flags;
	return bpf(BPF_MAP_CREATE, &attr);
}

int bpf_map(enum bpf_map_type type)
{
	return bpf_map_of(type, sizeof(uint32_t), 4, 0);
}

int bpf_map_set(int map, uint32_t key, uint32_t value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int bpf_map_del(int map, uint32_t key)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&key;
	return bpf(BPF_MAP_DELETE_ELEM, &attr);
}
