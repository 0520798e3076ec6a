// SPDX-License-Identifier: GPL-2.0
/* See tls.h. */
#include <sys/socket.h>

#include "tls.h"

int tls_keys(int fd, int direction)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info.version = TLS_1_2_VERSION,
		.info.cipher_type = TLS_CIPHER_AES_GCM_128,
		.iv = { 1 }, .key = { 2 }, .salt = { 3 },
	};

	return setsockopt(fd, SOL_TLS, direction, &info, sizeof(info));
}
