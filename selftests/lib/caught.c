// SPDX-License-Identifier: GPL-2.0
/* See caught.h. */
#include "caught.h"
#include "trace.h"

volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	(void)sig;
	caught++;
}

void catch_signal(int sig, int flags)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = flags };

	MUST(sigaction(sig, &sa, NULL) == 0);
}
