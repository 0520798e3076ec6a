// SPDX-License-Identifier: GPL-2.0
/* The processes of the differential tester, and their threads: see diff_work.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "diff_break.h"
#include "diff_work.h"

typedef void (*diff_fn)(struct diff_call *c);

static const diff_fn functions[DIFF_CODES] = {
	[DO_LISTEN ... DO_LCLOSE]	= diff_do_connection,
	[DO_SEND ... DO_SPLICEIN]	= diff_do_send,
	[DO_RECV ... DO_ZCRECV]		= diff_do_recv,
	[DO_SHUTDOWN ... DO_PASS]	= diff_do_holder,
	[DO_POLL ... DO_EPWAIT]		= diff_do_ready,
	[DO_SET ... DO_GET]		= diff_do_option,
	[DO_INQ ... DO_ZCDONE]		= diff_do_question,
	[DO_FUSE]			= diff_do_option,
	[DO_TAKE]			= diff_do_holder,
	[DO_FINISH]			= diff_do_recv,
	[DO_RESET]			= diff_do_holder,
};

/* They are blocked, so that each is found by the operation that it belongs to. */
static const int taken[] = { SIGPIPE, SIGURG, SIGIO };

/* SIGPIPE is of this thread and this call; the others tell of what has arrived. */
void diff_take_signals(struct diff_result *r, bool arrived)
{
	static const struct timespec now;
	sigset_t set;
	int i, n = arrived ? 3 : 1, sig;

	sigemptyset(&set);
	for (i = 0; i < n; i++)
		sigaddset(&set, taken[i]);
	while ((sig = sigtimedwait(&set, NULL, &now)) > 0)
		r->signals |= 1u << sig;
}

static void obey(int actor)
{
	struct diff_slot *slot = &diff_shared->slot[actor];
	const struct diff_order *o = &slot->order;
	int proc = diff_proc(actor);
	struct diff_call c = {
		.o = o, .s = &o->step, .p = &diff_shared->proc[proc], .r = &slot->result,
		.end = diff_end(actor),
	};

	memset(c.r, 0, sizeof(*c.r));
	c.fd = c.p->fd[c.s->fd];
	errno = 0;
	functions[c.s->code](&c);
	if (c.r->ret < 0 && !c.r->err)
		c.r->err = errno;
	diff_take_signals(c.r, o->signals);
	if (o->wrong)
		diff_spoil(&c);
}

static void act(int actor) __attribute__((noreturn));
static void act(int actor)
{
	struct diff_slot *slot = &diff_shared->slot[actor];
	uint32_t turn;

	__atomic_store_n(&slot->tid, gettid(), __ATOMIC_RELEASE);
	while (1) {
		turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);
		if (turn != TURN_ORDERED) {
			diff_futex_wait(&slot->turn, turn, -1);
			continue;
		}
		__atomic_store_n(&slot->turn, TURN_RUNNING, __ATOMIC_SEQ_CST);
		obey(actor);
		__atomic_store_n(&slot->turn, TURN_DONE, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&diff_shared->bell, 1, __ATOMIC_SEQ_CST);
		diff_futex_wake(&diff_shared->bell);
	}
}

static void *second_thread(void *proc)
{
	act(*(int *)proc / 3 * 4 + 1);
}

static void interrupted(int sig)
{
	(void)sig;
}

static void set_signals(void)
{
	struct sigaction once = { .sa_handler = interrupted };
	struct sigaction again = { .sa_handler = interrupted, .sa_flags = SA_RESTART };
	sigset_t set;
	int i;

	sigemptyset(&set);
	for (i = 0; i < 3; i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigaction(SIGUSR1, &once, NULL);
	sigaction(SIGUSR2, &again, NULL);
}

/* The actor that a process begins with. */
static int first_actor(int proc)
{
	static const int of[] = { 0, 2, 3 };

	return proc / 3 * 4 + of[proc % 3];
}

static void *stand_by(void *unshared)
{
	pthread_mutex_lock(unshared);
	return NULL;
}

/*
 * SPEED_DIFF_BARE=END: the preload library is left out of that end's processes. It does
 * nothing for who may have descriptors of its own, thread by thread: there must be another
 * thread.
 */
static void leave_preload(int end)
{
	pthread_mutex_t unshared = PTHREAD_MUTEX_INITIALIZER;
	const char *bare = getenv("SPEED_DIFF_BARE");
	pthread_t thread;

	if (!bare || *bare != '0' + end)
		return;
	pthread_mutex_lock(&unshared);
	DIFF_MUST(!pthread_create(&thread, NULL, stand_by, &unshared));
	DIFF_MUST(!unshare(CLONE_FILES));
	pthread_mutex_unlock(&unshared);
	DIFF_MUST(!pthread_join(thread, NULL));
}

void diff_work(int proc)
{
	struct diff_proc_state *p = &diff_shared->proc[proc];
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	leave_preload(proc / 3);
	set_signals();
	memset(p, 0, sizeof(*p));
	p->fd[0] = -1;
	p->fd[1] = -1;
	p->listener = -1;
	p->epoll = -1;
	p->pipe[0][0] = -1;
	p->pipe[1][0] = -1;
	p->pid = getpid();
	if (proc % 3 == 0)
		DIFF_MUST(!pthread_create(&thread, NULL, second_thread, &proc));
	act(first_actor(proc));
}

/*
 * The child is the coordinator's, which waits for it. Only the calling thread goes on
 * in it, and nothing there uses what the C library keeps for threads.
 */
pid_t diff_fork(int proc)
{
	int child = proc / 3 * 3 + 2, i;
	pid_t pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	diff_shared->proc[child] = diff_shared->proc[proc];
	diff_shared->proc[child].pid = getpid();
	for (i = 0; i < 2; i++) {
		int *pipe = diff_shared->proc[child].pipe[i];

		if (pipe[0] >= 0) {
			close(pipe[0]);
			close(pipe[1]);
		}
		pipe[0] = -1;
	}
	act(first_actor(child));
}
