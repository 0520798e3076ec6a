// SPDX-License-Identifier: GPL-2.0
/*
 * Attaching the shim to a socket whose calls may be under way: threads may be inside
 * TCP's own, and know of no ring. It does not fuse until all tasks have been seen outside
 * or asleep (RCU-tasks); who sleeps there is found where he sleeps (unfuse.c).
 */
#include <linux/file.h>
#include <linux/net.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "shim.h"

/**
 * struct calls - a wait for calls that began before an attachment
 * @shim: whose memory is held
 * @tasks: to wait for all tasks
 */
struct calls {
	struct shim *shim;
	struct rcu_head tasks;
};

/* All of them have ended, or sleep. */
static void calls_seen(struct rcu_head *rcu)
{
	struct calls *calls = container_of(rcu, struct calls, tasks);

	shim_bar(calls->shim, SPEED_TCP_BUSY, false);
	shim_conn_put(shim_conn(calls->shim));
	kfree(calls);
}

#define OWN	2	/* references to a file: the descriptor's, and its call's */

/**
 * shim_others_call() - may others be inside a call of a socket that was not ours till now?
 * @sk: the socket, whose calls are ours; the caller has locked it
 *
 * Such as a reader who came before the connection. He queues for the lock or, in a process
 * with threads, at least holds the file.
 *
 * Context: process, in a call of the socket's.
 */
bool shim_others_call(struct sock *sk)
{
	const struct socket *sock = sk->sk_socket;

	smp_mb();	/* who holds it later comes by calls of ours */
	return waitqueue_active(&sk->sk_lock.wq) ||
	       (sock && sock->file && file_count(sock->file) > OWN);
}

/**
 * shim_wait_calls() - others may be inside TCP's own calls, and know of no ring
 * @shim: the socket's part, which may not fuse until they have been seen outside
 *
 * Where there is no memory to wait with, it stays on TCP.
 *
 * Context: any but hard interrupt.
 */
void shim_wait_calls(struct shim *shim)
{
	struct calls *calls = kmalloc(sizeof(*calls), GFP_ATOMIC);

	shim->late = true;
	shim_bar(shim, SPEED_TCP_BUSY, true);
	shim_refuse(shim->sk, SPEED_TCP_BUSY);
	if (!calls)
		return;
	calls->shim = shim;
	refcount_inc(&shim_conn(shim)->refs);
	call_rcu_tasks(&calls->tasks, calls_seen);
}
