/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations that fail: the n-th one of this task's next calls. Needs
 * CONFIG_FAULT_INJECTION, FAILSLAB and FAIL_PAGE_ALLOC.
 */
#ifndef SPEED_SELFTESTS_FAULTS_H
#define SPEED_SELFTESTS_FAULTS_H

#include <stdbool.h>

#define FAILSLAB	"/sys/kernel/debug/failslab"
#define FAIL_PAGES	"/sys/kernel/debug/fail_page_alloc"

/* Ends the body where allocations cannot be made to fail. */
void faults_need(void);
void faults_nth(int n);
/* Whether the failure has happened; none is pending afterwards. */
bool faults_happened(void);
/* How many allocations are left until one fails; none does afterwards. */
int faults_left(void);

#endif
