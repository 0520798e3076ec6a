/* SPDX-License-Identifier: GPL-2.0 */
/* Descriptors that go from process to process, over an AF_UNIX socket. */
#ifndef SPEED_SELFTESTS_PASSING_H
#define SPEED_SELFTESTS_PASSING_H

void fd_pass(int by, int fd);
int fd_passed(int by);	/* the one that was passed, or -1 */

#endif
