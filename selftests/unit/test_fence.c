// SPDX-License-Identifier: GPL-2.0
/*
 * Barriers E to H on two processors: who publishes asks afterwards who must be told and
 * whether it counted; who is about to sleep, or takes a lease back, says so first and looks
 * then. One of the two sees the other, each time. With BREAK the publisher's fence is
 * taken out, and the two must be seen to miss each other; the check asserts that.
 *
 * The kernel's part is written out here; wake.pml, lease_*.pml and the litmus tests are
 * about all orders that there may be, this about those that this processor makes.
 */
#include <linux/types.h>

/* The header brings its own; with BREAK these take their place. */
#ifdef BREAK
#define speed_full_barrier()		__atomic_signal_fence(__ATOMIC_SEQ_CST)
#define speed_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define speed_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define speed_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#endif

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "rig.h"
#include "tap.h"

#define SIZE		4096
#define PATIENCE	20000	/* looks at the other thread before others get the processor */
#define SKEW		512	/* turns of an empty loop, at most, so that neither is always first */
#ifdef BREAK
#define SECONDS		100	/* at most: others may have one of the two processors for long */
#else
#define SECONDS		2
#endif

enum { READER, WRITER, LEASE, KINDS };

static const char *const kinds[KINDS] = {
	"a reader that sleeps is woken", "a writer that sleeps is woken",
	"what a lease published counts, or is known not to",
};

static struct rig rig;
static int kind;
/* Rounds that each thread has begun and ended, on a line of its own. */
static struct { __u64 n; char pad[120]; } at[2] __attribute__((aligned(128)));
static int stop;
static time_t until;
static unsigned long missed, rounds;

/* The publisher's side: does it see that there is something to do? */
static int publisher_sees(void)
{
	struct speed_side *s = kind == WRITER ? &rig.cons : &rig.prod;

	speed_ring_publish(s, 1);
	speed_ring_publish_fence();
	if (kind == READER)
		return speed_prod_must_wake(s);
	if (kind == WRITER)
		return speed_cons_must_wake(s);
	return !speed_ring_counts(s, SPEED_ROLE_TX, 1);
}

/* The kernel's: does it see the publication? */
static int kernel_sees(__u64 before)
{
	__u64 *index = kind == WRITER ? &rig.tail.index : &rig.head.index;

	if (kind == LEASE)
		__atomic_store_n(&rig.kern.epoch[SPEED_ROLE_TX], 0, __ATOMIC_RELAXED);
	else
		__atomic_store_n(&rig.kern.flags,
				 kind == READER ? SPEED_NEED_DATA : SPEED_NEED_SPACE,
				 __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(index, __ATOMIC_RELAXED) != before;
}

static int is_late(void)
{
	return time(NULL) >= until;
}

/* Both threads are where @n says; false: it is over. */
static int meet(int who, __u64 n)
{
	int looks = 0;

	__atomic_store_n(&at[who].n, n, __ATOMIC_RELEASE);
	while (__atomic_load_n(&at[!who].n, __ATOMIC_ACQUIRE) < n) {
		if (__atomic_load_n(&stop, __ATOMIC_RELAXED))
			return 0;
		if (++looks < PATIENCE)
			continue;
		looks = 0;
		if (is_late())
			return 0;
		sched_yield();
	}
	return 1;
}

/*
 * Has the lines of the ring in both caches: what each is about to load is at hand, and
 * what it stores has to be taken from the other first. That is when a load overtakes a
 * store; without, two that have no fence miss each other once in millions of rounds.
 */
static void share_lines(void)
{
	(void)__atomic_load_n(&rig.head.index, __ATOMIC_RELAXED);
	(void)__atomic_load_n(&rig.tail.index, __ATOMIC_RELAXED);
	(void)__atomic_load_n(&rig.kern.flags, __ATOMIC_RELAXED);
}

static void spend_some(__u64 *random)
{
	unsigned int turns = rig_random(random) % SKEW;

	while (turns--)
		__asm__ __volatile__("");
}

static void restart(void)
{
	rig_restart(&rig, SIZE);
	/* The ring is full to a writer that waits for a byte. */
	rig.head.index = kind == WRITER ? 2 * SIZE : SIZE;
	rig.kern.wake_free = 1;
	rig.kern.epoch[SPEED_ROLE_TX] = 1;
}

static int saw[2];

/* Each has its own of the processors that this process may have, if there are two. */
static void pin(int who)
{
	cpu_set_t allowed, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		return;
	for (cpu = 0; who || !CPU_ISSET(cpu, &allowed); cpu++)
		who -= CPU_ISSET(cpu, &allowed) ? 1 : 0;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *publisher(void *unused)
{
	__u64 n = 0, random = 1;

	(void)unused;
	pin(0);
	while (meet(0, ++n)) {
		share_lines();
		if (!meet(0, ++n))
			break;
		spend_some(&random);
		saw[0] = publisher_sees();
		if (!meet(0, ++n))
			break;
	}
	return NULL;
}

static void *kernel(void *unused)
{
	__u64 n = 0, random = 2;

	(void)unused;
	pin(1);
	for (;;) {
		restart();
		if (!meet(1, ++n) || !meet(1, ++n))
			break;
		spend_some(&random);
		saw[1] = kernel_sees(SIZE);
		if (!meet(1, ++n))
			break;
		rounds++;
		missed += !saw[0] && !saw[1];
#ifdef BREAK
		if (missed)
			break;
#endif
		if (!(rounds % 1024) && is_late())
			break;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void try_kind(void)
{
	pthread_t thread[2];

	stop = 0;
	until = time(NULL) + SECONDS;
	missed = rounds = 0;
	memset(at, 0, sizeof(at));
	pthread_create(&thread[0], NULL, publisher, NULL);
	pthread_create(&thread[1], NULL, kernel, NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	printf("# %lu rounds, missed each other in %lu\n", rounds, missed);
	need(rounds > 0);
	need(!missed);
}

int main(void)
{
	rig_open(&rig, SIZE, 0);
	for (kind = 0; kind < KINDS; kind++) {
		try_kind();
		ok("%s", kinds[kind]);
	}
	rig_close(&rig);
	printf("# of %d kinds %d missed each other\n", KINDS, tap_failed);
	return tap_done();
}
