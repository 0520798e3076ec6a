// SPDX-License-Identifier: GPL-2.0
/* Allocations that fail: see faults.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"
#include "procfile.h"
#include "trace.h"

static int nth_fd = -1;

void faults_need(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/fail-nth", gettid());
	nth_fd = open(path, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		trace_skip("needs CONFIG_FAULT_INJECTION (%s)", path);
	if (access(FAILSLAB, F_OK) || access(FAIL_PAGES, F_OK))
		trace_skip("needs CONFIG_FAILSLAB, CONFIG_FAIL_PAGE_ALLOC and debugfs");
	MUST(file_write(FAILSLAB "/ignore-gfp-wait", "N") == 0);
	MUST(file_write(FAIL_PAGES "/ignore-gfp-wait", "N") == 0);
	MUST(file_write(FAIL_PAGES "/min-order", "0") == 0);
}

void faults_nth(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	/* This very copy may be the one that fails. */
	while (pwrite(nth_fd, text, len, 0) != len)
		MUST(errno == EFAULT || errno == ENOMEM);
}

int faults_left(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		strcpy(text, "-1");
	faults_nth(0);
	return atoi(text);
}

bool faults_happened(void)
{
	return faults_left() == 0;
}
