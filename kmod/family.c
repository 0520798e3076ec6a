// SPDX-License-Identifier: GPL-2.0
/*
 * The family: making and releasing sockets, and the socket calls as they
 * arrive, checked and passed on to the file whose matter they are.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <net/sock.h>

#include "accept.h"
#include "addr.h"
#include "charge.h"
#include "close.h"
#include "compat/compat.h"
#include "conn.h"
#include "family.h"
#include "map.h"
#include "msg.h"
#include "net.h"
#include "poll.h"
#include "sockopt.h"
#include "splice.h"

int speed_family = SPEED_FAMILY_DEFAULT;
module_param_named(family, speed_family, int, 0444);
MODULE_PARM_DESC(family, "address family number to use (default 18)");

static atomic_long_t socks;	/* of all namespaces */

static void sock_destruct(struct sock *sk)
{
	speed_charge_end(sk);
	speed_addr_put(speed_sk(sk)->addr);
	speed_user_put(speed_sk(sk)->user);
	mutex_destroy(&speed_sk(sk)->charge_lock);
	atomic_long_dec(&socks);
}

/* As many as AF_UNIX's may be: those that wait for accept() are in no table of descriptors. */
static bool count_in(void)
{
	if (atomic_long_inc_return(&socks) <= 2 * get_max_files())
		return true;
	atomic_long_dec(&socks);
	return false;
}

static void list_add_sock(struct sock *sk)
{
	struct speed_net *sn = speed_net(sock_net(sk));

	spin_lock(&sn->socks_lock);
	hlist_add_head(&speed_sk(sk)->node, &sn->socks);
	spin_unlock(&sn->socks_lock);
}

static void list_del_sock(struct sock *sk)
{
	struct speed_net *sn = speed_net(sock_net(sk));

	spin_lock(&sn->socks_lock);
	hlist_del_init(&speed_sk(sk)->node);
	spin_unlock(&sn->socks_lock);
}

/**
 * speed_sock_new() - make the kernel's part of a socket
 * @net: its namespace
 * @sock: the file's part, or NULL for an endpoint that waits for accept()
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 * @kern: whether the kernel uses it
 * @listener: who pays for it, in the place of the current task; or NULL
 *
 * Context: may sleep.
 * Return: the socket with one reference; -ENFILE where there are too many, or -ENOMEM.
 */
struct sock *speed_sock_new(struct net *net, struct socket *sock, int type, int kern,
			    const struct sock *listener)
{
	struct speed_user *user;
	struct speed_sock *ss;
	struct sock *sk;

	if (!count_in())
		return ERR_PTR(-ENFILE);
	user = listener ? speed_user_hold(speed_sk(listener)->user)
			: speed_user_get(current_euid());
	if (!user)
		goto uncount;
	sk = sk_alloc(net, speed_family, GFP_KERNEL_ACCOUNT, &speed_proto, kern);
	if (!sk)
		goto put_user;
	if (listener)
		speed_charge_group_of(sk, listener);
	sock_init_data(sock, sk);
	sk->sk_type = type;
	sk->sk_destruct = sock_destruct;
	ss = speed_sk(sk);
	ss->user = user;
	mutex_init(&ss->charge_lock);
	spin_lock_init(&ss->queue_lock);
	INIT_LIST_HEAD(&ss->queue);
	INIT_LIST_HEAD(&ss->queue_node);
	init_waitqueue_head(&ss->room);
	list_add_sock(sk);
	return sk;
put_user:
	speed_user_put(user);
uncount:
	atomic_long_dec(&socks);
	return ERR_PTR(-ENOMEM);
}

/**
 * speed_sock_close() - release a socket
 * @sk: the socket; its reference is dropped
 * @embryo: whether it was never accepted
 *
 * Context: may sleep.
 */
void speed_sock_close(struct sock *sk, bool embryo)
{
	list_del_sock(sk);
	speed_addr_unbind(sk);
	if (sk->sk_state == TCP_LISTEN)
		speed_queue_purge(sk);
	speed_disconnect_pair(sk, embryo);
	sock_put(sk);
}

static int op_release(struct socket *sock)
{
	struct sock *sk = sock->sk;

	if (!sk)
		return 0;
	sock->sk = NULL;
	speed_sock_close(sk, false);
	return 0;
}

static int op_bind(struct socket *sock, speed_sockaddr_t *addr, int len)
{
	struct sock *sk = sock->sk;
	struct speed_addr want;
	int err = speed_addr_parse(addr, len, &want);

	if (err)
		return err;
	lock_sock(sk);
	if (!speed_sk(sk)->addr)
		err = speed_addr_bind(sk, &want);
	else if (want.number || want.len)
		err = -EINVAL;
	release_sock(sk);
	return err;
}

static int op_connect(struct socket *sock, speed_sockaddr_t *addr, int len, int flags)
{
	return speed_connect_to(sock, addr, len, flags & O_NONBLOCK);
}

static int op_accept(struct socket *sock, struct socket *newsock, SPEED_ACCEPT_ARGS)
{
	return speed_accept_from(sock, newsock, SPEED_ACCEPT_FLAGS & O_NONBLOCK);
}

static int op_getname(struct socket *sock, struct sockaddr *addr, int peer)
{
	struct sock *sk = sock->sk;
	struct speed_pair *pair = speed_sk_pair(sk);

	if (peer && !pair)
		return -ENOTCONN;
	if (peer)
		sk = pair->sk[!speed_sk(sk)->end];
	return speed_addr_tell(speed_sk_addr(sk), addr);
}

static int op_shutdown(struct socket *sock, int how)
{
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	return speed_shutdown_how(sock->sk, how + 1);
}

static int op_mmap(struct file *file, struct socket *sock, struct vm_area_struct *vma)
{
	return speed_map_mmap(speed_sk_pair(sock->sk), speed_sk(sock->sk)->end, vma);
}

/* Nobody asks for this family, which may not be the one in use. */
#define COMMON_OPS				\
	.family		= SPEED_FAMILY_DEFAULT,	\
	.owner		= THIS_MODULE,		\
	.release	= op_release,		\
	.bind		= op_bind,		\
	.connect	= op_connect,		\
	.socketpair	= speed_socketpair,	\
	.accept		= op_accept,		\
	.getname	= op_getname,		\
	.poll		= speed_poll,		\
	.ioctl		= speed_ioctl,		\
	SPEED_COMPAT_IOCTL(speed_compat_ioctl)	\
	.listen		= speed_listen,		\
	.shutdown	= op_shutdown,		\
	.setsockopt	= speed_setsockopt,	\
	.getsockopt	= speed_getsockopt,	\
	.mmap		= op_mmap,		\
	.splice_read	= speed_splice_read,	\
	.set_peek_off	= speed_set_peek_off,	\
	.set_rcvlowat	= speed_set_rcvlowat,	\
	SPEED_COMPAT_PROTO_OPS

static const struct proto_ops stream_ops = {
	COMMON_OPS
	.sendmsg	= speed_stream_sendmsg,
	.recvmsg	= speed_stream_recvmsg,
};

static const struct proto_ops record_ops = {
	COMMON_OPS
	.sendmsg	= speed_record_sendmsg,
	.recvmsg	= speed_record_recvmsg,
};

static int family_create(struct net *net, struct socket *sock, int protocol, int kern)
{
	if (protocol)
		return -EPROTONOSUPPORT;
	if (sock->type != SOCK_STREAM && sock->type != SOCK_SEQPACKET)
		return -ESOCKTNOSUPPORT;
	sock->state = SS_UNCONNECTED;
	sock->ops = sock->type == SOCK_STREAM ? &stream_ops : &record_ops;
	return PTR_ERR_OR_ZERO(speed_sock_new(net, sock, sock->type, kern, NULL));
}

static struct net_proto_family the_family __ro_after_init = {
	.create	= family_create,
	.owner	= THIS_MODULE,
};

int __init speed_family_init(void)
{
	int err;

	the_family.family = speed_family;
	err = proto_register(&speed_proto, 1);
	if (err)
		return err;
	err = speed_family > 0 ? sock_register(&the_family) : -EINVAL;
	if (!err)
		return 0;
	pr_err("speed: address family %d is %s; choose another with family=N\n", speed_family,
	       err == -EEXIST ? "taken" : "not a family");
	proto_unregister(&speed_proto);
	return err;
}

void speed_family_exit(void)
{
	sock_unregister(speed_family);
	proto_unregister(&speed_proto);
}
