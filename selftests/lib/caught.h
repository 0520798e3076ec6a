/* SPDX-License-Identifier: GPL-2.0 */
/* A handler that counts the signals it catches. */
#ifndef SPEED_SELFTESTS_CAUGHT_H
#define SPEED_SELFTESTS_CAUGHT_H

#include <signal.h>

extern volatile sig_atomic_t caught;

/* It handles this signal from here on, with these SA_* flags. */
void catch_signal(int sig, int flags);

#endif
