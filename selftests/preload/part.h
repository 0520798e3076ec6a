/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Another process that takes part in a connection, and how the connection came to it.
 * What is sent are records with numbers.
 */
#ifndef SPEED_SELFTESTS_PART_H
#define SPEED_SELFTESTS_PART_H

#include <stdint.h>

#include "under.h"

#define RECEIVED_MAX	(1 << 20)

struct record {
	int32_t who;
	int32_t number;
};

/* In memory that all share: how often each record came, and how many to another process. */
extern struct part_seen {
	int others;
	unsigned char times[RECEIVED_MAX];
} *seen;

void part_open_seen(bool make);
/* Exit statuses of those who do it: 0 is good. */
int part_send(int fd, int who, int n);
int part_receive(int fd, bool other);
/* What another process does: sends n records as @who, or receives if that is -1. */
int part_take(int fd, int who, int n);

/**
 * struct part_way - how a connection comes to another process
 * @name: fork, vfork, spawn, exec, message
 * @start: starts one that takes part
 */
struct part_way {
	const char *name;
	pid_t (*start)(int fd, int who, int n);
};

/* By the last word of a case's name. */
const struct part_way *part_way(const char *name);

#endif
