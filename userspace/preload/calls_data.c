// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Interposed: transfers.
 */
#include "export.h"
#include "real.h"
#include "transfer.h"

PRE_CALL(ssize_t, read, int fd, void *buf, size_t len)
{
	ssize_t ret;

	return transfer_recv(fd, buf, len, 0, &ret) ? ret : REAL(read)(fd, buf, len);
}

PRE_ALIAS(__read, read);

PRE_CALL(ssize_t, write, int fd, const void *buf, size_t len)
{
	ssize_t ret;

	return transfer_send(fd, buf, len, 0, &ret) ? ret : REAL(write)(fd, buf, len);
}

PRE_ALIAS(__write, write);

PRE_CALL(ssize_t, recv, int fd, void *buf, size_t len, int flags)
{
	ssize_t ret;

	return transfer_recv(fd, buf, len, flags, &ret) ? ret : REAL(recv)(fd, buf, len, flags);
}

PRE_CALL(ssize_t, send, int fd, const void *buf, size_t len, int flags)
{
	ssize_t ret;

	return transfer_send(fd, buf, len, flags, &ret) ? ret : REAL(send)(fd, buf, len, flags);
}

PRE_ALIAS(__send, send);

PRE_CALL(ssize_t, readv, int fd, const struct iovec *iov, int n)
{
	ssize_t ret;

	return transfer_recvv(fd, iov, n, 0, &ret) ? ret : REAL(readv)(fd, iov, n);
}

PRE_CALL(ssize_t, writev, int fd, const struct iovec *iov, int n)
{
	ssize_t ret;

	return transfer_sendv(fd, iov, n, 0, &ret) ? ret : REAL(writev)(fd, iov, n);
}

static inline bool recvfrom_mapped(int fd, void *buf, size_t len, int flags, void *addr,
				   socklen_t *addrlen, ssize_t *ret)
{
	return addr ? transfer_recvfrom(fd, buf, len, flags, addrlen, ret) :
		      transfer_recv(fd, buf, len, flags, ret);
}

PRE_CALL(ssize_t, recvfrom, int fd, void *buf, size_t len, int flags, void *addr,
	 socklen_t *addrlen)
{
	ssize_t ret;

	return recvfrom_mapped(fd, buf, len, flags, addr, addrlen, &ret) ? ret :
	       REAL(recvfrom)(fd, buf, len, flags, addr, addrlen);
}

PRE_CALL(ssize_t, sendto, int fd, const void *buf, size_t len, int flags, const void *addr,
	 socklen_t addrlen)
{
	ssize_t ret;

	return !addr && transfer_send(fd, buf, len, flags, &ret) ? ret :
	       REAL(sendto)(fd, buf, len, flags, addr, addrlen);
}

/* What a compiler makes of them with _FORTIFY_SOURCE: @size is the buffer's. */
PRE_CALL(ssize_t, __read_chk, int fd, void *buf, size_t len, size_t size)
{
	ssize_t ret;

	return len <= size && transfer_recv(fd, buf, len, 0, &ret) ? ret :
	       REAL(__read_chk)(fd, buf, len, size);
}

PRE_CALL(ssize_t, __recv_chk, int fd, void *buf, size_t len, size_t size, int flags)
{
	ssize_t ret;

	return len <= size && transfer_recv(fd, buf, len, flags, &ret) ? ret :
	       REAL(__recv_chk)(fd, buf, len, size, flags);
}

PRE_CALL(ssize_t, __recvfrom_chk, int fd, void *buf, size_t len, size_t size, int flags,
	 void *addr, socklen_t *addrlen)
{
	ssize_t ret;

	return len <= size && recvfrom_mapped(fd, buf, len, flags, addr, addrlen, &ret) ? ret :
	       REAL(__recvfrom_chk)(fd, buf, len, size, flags, addr, addrlen);
}
