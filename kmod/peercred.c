// SPDX-License-Identifier: GPL-2.0
/*
 * SO_PEERCRED: whom a socket is connected to. sk_peer_lock covers it.
 */
#include <linux/cred.h>
#include <linux/pid.h>
#include <net/sock.h>

#include "peercred.h"

static void set_peercred(struct sock *sk, struct pid *pid, const struct cred *cred)
{
	const struct cred *old_cred;
	struct pid *old_pid;

	spin_lock(&sk->sk_peer_lock);
	old_pid = sk->sk_peer_pid;
	old_cred = sk->sk_peer_cred;
	sk->sk_peer_pid = get_pid(pid);
	sk->sk_peer_cred = get_cred(cred);
	spin_unlock(&sk->sk_peer_lock);
	put_pid(old_pid);
	put_cred(old_cred);
}

void speed_peercred_init(struct sock *sk)
{
	set_peercred(sk, task_tgid(current), current_cred());
}

/* A listener's credentials are those of who called listen(). */
void speed_peercred_copy(struct sock *sk, struct sock *listener)
{
	const struct cred *cred;
	struct pid *pid;

	spin_lock(&listener->sk_peer_lock);
	pid = get_pid(listener->sk_peer_pid);
	cred = get_cred(listener->sk_peer_cred);
	spin_unlock(&listener->sk_peer_lock);
	set_peercred(sk, pid, cred);
	put_pid(pid);
	put_cred(cred);
}
