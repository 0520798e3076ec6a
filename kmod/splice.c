// SPDX-License-Identifier: GPL-2.0
/*
 * splice() from a socket copies: ring pages may be written by the other
 * process, and a pipe's pages may outlive the connection. splice() and
 * sendfile() to a socket arrive in sendmsg().
 */
#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pipe_fs_i.h>
#include <linux/splice.h>
#include <linux/uio.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "family.h"
#include "rx.h"
#include "splice.h"

#define SPLICE_PAGES	16

/* The pages that one splice() fills. */
struct haul {
	unsigned int n;
	struct page *pages[SPLICE_PAGES];
	struct partial_page partial[SPLICE_PAGES];
	struct bio_vec vec[SPLICE_PAGES];
};

static void haul_release(struct splice_pipe_desc *spd, unsigned int i)
{
	put_page(spd->pages[i]);
}

static size_t haul_alloc(struct haul *h, size_t len)
{
	size_t room = 0;

	while (h->n < SPLICE_PAGES && room < len) {
		struct page *page = alloc_page(GFP_KERNEL);

		if (!page)
			break;
		h->pages[h->n] = page;
		bvec_set_page(&h->vec[h->n], page, PAGE_SIZE, 0);
		h->n++;
		room += PAGE_SIZE;
	}
	return min(room, len);
}

static ssize_t haul_give(struct haul *h, struct pipe_inode_info *pipe, size_t bytes)
{
	struct splice_pipe_desc spd = {
		.pages = h->pages,
		.partial = h->partial,
		.nr_pages_max = SPLICE_PAGES,
		.ops = &nosteal_pipe_buf_ops,
		.spd_release = haul_release,
	};
	unsigned int i;

	for (i = 0; i < h->n; i++) {
		h->partial[i].len = min_t(size_t, bytes, PAGE_SIZE);
		bytes -= h->partial[i].len;
		if (h->partial[i].len)
			spd.nr_pages++;
		else
			put_page(h->pages[i]);
	}
	return spd.nr_pages ? splice_to_pipe(pipe, &spd) : 0;
}

static ssize_t haul_fill(struct sock *sk, struct haul *h, size_t len, speed_fill_t fill)
{
	struct msghdr msg = {};

	iov_iter_bvec(&msg.msg_iter, ITER_DEST, h->vec, h->n, len);
	return fill(sk, &msg, len);
}

/*
 * The pipe has room when we are called (splice() holds its lock and has
 * looked), for at least one page; what does not fit would be lost, so that
 * many pages are asked for and no more.
 */
static size_t pipe_room(const struct pipe_inode_info *pipe)
{
	unsigned int used = pipe->head - pipe->tail;

	return used < pipe->max_usage ? (pipe->max_usage - used) * PAGE_SIZE : 0;
}

/**
 * speed_splice_copy() - copy from a socket into fresh pages of a pipe
 * @sk: the socket
 * @pipe: where to, locked
 * @len: bytes wanted, more than zero
 * @fill: receives
 *
 * Return: bytes, 0 at the end, or the error.
 */
ssize_t speed_splice_copy(struct sock *sk, struct pipe_inode_info *pipe, size_t len,
			  speed_fill_t fill)
{
	struct haul *h;
	ssize_t n;

	len = min(len, pipe_room(pipe));
	if (!len)
		return -EAGAIN;
	h = kzalloc(sizeof(*h), GFP_KERNEL);
	if (!h)
		return -ENOMEM;
	len = haul_alloc(h, len);
	n = len ? haul_fill(sk, h, len, fill) : -ENOMEM;
	n = haul_give(h, pipe, max_t(ssize_t, n, 0)) ?: min_t(ssize_t, n, 0);
	kfree(h);
	return n;
}

static ssize_t fill(struct sock *sk, struct msghdr *msg, size_t len, int flags)
{
	if (sk->sk_type == SOCK_STREAM)
		return speed_rx_stream(sk, &msg->msg_iter, len, flags);
	return speed_rx_record(sk, msg, len, flags);
}

static ssize_t fill_wait(struct sock *sk, struct msghdr *msg, size_t len)
{
	return fill(sk, msg, len, 0);
}

static ssize_t fill_now(struct sock *sk, struct msghdr *msg, size_t len)
{
	return fill(sk, msg, len, MSG_DONTWAIT);
}

/**
 * speed_splice_read() - splice() from a socket into a pipe
 * @sock: the socket
 * @ppos: must be zero
 * @pipe: where to
 * @len: bytes wanted
 * @flags: SPLICE_F_*
 *
 * Context: process; the pipe is locked.
 * Return: bytes, 0 at the end, or the error.
 */
ssize_t speed_splice_read(struct socket *sock, loff_t *ppos, struct pipe_inode_info *pipe,
			  size_t len, unsigned int flags)
{
	bool nowait = sock->file->f_flags & O_NONBLOCK || flags & SPLICE_F_NONBLOCK;

	if (unlikely(*ppos))
		return -ESPIPE;
	if (!speed_sk_pair(sock->sk))
		return sock->type == SOCK_STREAM ? -EINVAL : -ENOTCONN;
	return speed_splice_copy(sock->sk, pipe, len, nowait ? fill_now : fill_wait);
}
