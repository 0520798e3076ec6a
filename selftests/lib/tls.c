// SPDX-License-Identifier: GPL-2.0
/* See tls.h. */
#include <errno.h>

#include "tcp_pair.h"
#include "tls.h"
#include "trace.h"

long tcp_takes_tls(void *fd)
{
	return tcp_set_ulp(*(int *)fd, "tls");
}

void tcp_need_tls(void)
{
	int fd[2];

	tcp_pair(fd);
	if (tcp_set_ulp(fd[0], "tls") && errno == ENOENT)
		trace_skip("needs CONFIG_TLS (modprobe tls)");
	tcp_close(fd);
}

int tls_keys(int fd, int direction)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info.version = TLS_1_2_VERSION,
		.info.cipher_type = TLS_CIPHER_AES_GCM_128,
		.iv = { 1 }, .key = { 2 }, .salt = { 3 },
	};

	return setsockopt(fd, SOL_TLS, direction, &info, sizeof(info));
}
