/* SPDX-License-Identifier: GPL-2.0 */
/* kTLS, with one key for everything: it is not secrecy that is tested. */
#ifndef SPEED_SELFTESTS_TLS_H
#define SPEED_SELFTESTS_TLS_H

#include <linux/tls.h>

#ifndef SOL_TLS
#define SOL_TLS		282
#endif

/* Ends the body where there is no such ULP. */
void tcp_need_tls(void);
/* TCP_ULP "tls" for a task, with a pointer to the descriptor. */
long tcp_takes_tls(void *fd);
/* TLS_TX or TLS_RX of a socket that has the ULP: 0 or -1 and errno. */
int tls_keys(int fd, int direction);

#endif
