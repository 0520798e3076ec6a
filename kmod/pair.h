/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pair: two endpoints joined by two rings.
 *
 * Ownership. A pair is counted by its open endpoints (one reference each,
 * dropped when the socket is released), by each endpoint's mapping file, and
 * for a moment by the reaper. The pair in turn holds both struct socks until it
 * is freed, so that an endpoint may always look at its peer's wait queue and
 * limits, closed or not. A sock does not count on its pair once released.
 *
 * Locks, in the order in which they are taken:
 *
 *	lock_sock(sk)		binding, listening, connecting; never with a
 *				peer's
 *	role->lock (TX)		a ring's producer; held while bytes are copied
 *	role->lock (RX)		a ring's consumer; the same. Of one ring both
 *				are held only by who took the second with
 *				trylock, so that nobody waits for a peer
 *	mmap_lock		user pages faulted in under a role's lock
 *	invalidate_lock		of the mapping file: shared in its fault
 *				handler, exclusive to revoke and to grant
 *	overflow->lock		a ring's list beyond the ring
 *
 * A role's lock covers its side, its lease and, with the other role's, where
 * the ring's indices and bytes live. Pollers and sleepers look at indices with
 * no lock, under RCU.
 */
#ifndef SPEED_PAIR_H
#define SPEED_PAIR_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/smp.h>
#include <linux/speed_ring.h>
#include <linux/spinlock.h>

#include "door.h"

struct sock;
struct speed_buf;
struct speed_map;
struct speed_overflow;
struct speed_pair;
struct speed_ring;
struct speed_user;

/**
 * struct speed_ctl - where a ring's indices and flags live
 * @index: head and tail, by role
 * @kern: the kernel page
 */
struct speed_ctl {
	struct speed_index *index[SPEED_ROLES];
	struct speed_kern *kern;
};

/**
 * struct speed_role - one role of one ring
 * @lock: who holds it exercises the role
 * @side: the ring as this role sees it
 * @epoch: of the lease in force, or zero; what else there is of it is in the
 *	endpoint's mapping file
 */
struct speed_role {
	struct mutex lock;	/* the role */
	struct speed_side side;
	u64 epoch;
};

/**
 * struct speed_ring - one direction of a pair
 * @role: producer and consumer
 * @ctl: where indices and flags live now
 * @home: where they live while nobody maps them
 * @home_index: storage of @home
 * @home_kern: storage of @home
 * @buf: the data pages, or NULL. Set under the producer's lock, taken away
 *	under both
 * @overflow: what the ring could not take, NULL until there was any; set under
 *	the producer's lock, for as long as the pair lives
 * @used: jiffies when bytes last went in
 * @pair: the pair
 * @end: index of the producing endpoint
 * @fused: TCP alone: the producer uses the ring now; under its lock
 * @behind: TCP alone: bytes of TCP may come first; set under the producer's
 *	lock while the ring is empty, cleared under the consumer's while it is not
 * @heard: TCP alone: the producer's index when the network last saw the connection
 * @reader_pays: for @buf, for which it asked; set with @buf
 * @tcp_seq: TCP alone: sequence number at which the ring takes over
 * @epoll_func: the function of an epoll set's entry in the reader's wait queue, as
 *	somebody said, or NULL; never called
 */
struct speed_ring {
	struct speed_role role[SPEED_ROLES];
	struct speed_ctl __rcu *ctl;
	struct speed_ctl home;
	struct speed_index home_index[SPEED_ROLES];
	struct speed_kern home_kern;
	struct speed_buf *buf;
	struct speed_overflow *overflow;
	unsigned long used;
	struct speed_pair *pair;
	u8 end;
	bool fused;
	bool behind;
	bool reader_pays;
	u32 tcp_seq;
	u64 heard;
	wait_queue_func_t epoll_func;
};

/**
 * struct speed_tcp_pair - what the shim keeps in a pair
 * @on: the switch that says whether it may fuse
 * @bars: each end's reasons against, a bit each; under that end's shim lock
 * @user: each end's account, from its first charge on
 * @debt: bytes of each end's charge that are to be given back
 * @pinned: it has gone but for that, and has a reference to the module
 * @told: the reason that was last counted, of each producing end; under its lock
 * @late: an end was attached when calls could be under way already
 * @data_ready: what both ends' sk_data_ready was: another is the kernel's
 */
struct speed_tcp_pair {
	const int *on;
	u32 bars[2];
	struct speed_user *user[2];
	atomic_t debt[2];
	bool late;
	bool pinned;
	u8 told[2];
	void (*data_ready)(struct sock *sk);
};

/**
 * struct speed_shy - how often to sleep at once, where a yield might do (yield.h)
 * @left: waits that are left before the next yield
 * @span: how many there will be if that one is in vain
 */
struct speed_shy {
	u16 left;
	u16 span;
};

/**
 * struct speed_pair - two endpoints and two rings
 * @refs: see the head comment
 * @type: SOCK_STREAM or SOCK_SEQPACKET
 * @broken: an index was a lie; nothing in the rings is looked at any more
 * @closed: that end's socket was closed
 * @door: whose sockets these are
 * @id: number, never used again
 * @cpu: where each endpoint's user last was, plus one; negative while it sleeps
 *	in a call of ours
 * @shy: when each endpoint's user yields again
 * @polls: of claimed rings (epoll.c)
 * @uid: the one user who has made calls at each endpoint, plus one, or 0: nobody
 *	(lease.h); before bytes move, under their role's lock
 * @map: each endpoint's mapping file, made with its first lease; NULL again when
 *	the endpoint is released
 * @tcp: TCP alone: what the shim keeps
 * @dead: among those that wait to be freed where it is allowed to sleep
 * @sk: the endpoints
 * @ring: ring[i] is produced by endpoint i
 */
struct speed_pair {
	refcount_t refs;
	u8 type;
	bool broken;
	bool closed[2];
	const struct speed_door *door;
	u64 id;
	s16 cpu[2];
	struct speed_shy shy[2];
	atomic_t polls;
	u32 uid[2];
	struct speed_map *map[2];
	struct speed_tcp_pair tcp;
	struct llist_node dead;
	struct sock *sk[2];
	struct speed_ring ring[2];
};

/* In bytes, a power of two, for as long as the pair lives. */
static inline u64 speed_ring_size(const struct speed_ring *ring)
{
	return ring->role[SPEED_ROLE_TX].side.size;
}

static inline struct speed_map *speed_pair_map(const struct speed_pair *pair, int end)
{
	/* Matches need_map(): whoever sees the pointer sees the mapping file. */
	return smp_load_acquire(&pair->map[end]);
}

static inline struct sock *speed_ring_reader(const struct speed_ring *ring)
{
	return ring->pair->sk[!ring->end];
}

static inline struct sock *speed_ring_writer(const struct speed_ring *ring)
{
	return ring->pair->sk[ring->end];
}

/* The ring in which endpoint @end has @role. */
static inline struct speed_ring *speed_pair_ring(struct speed_pair *pair, int end, int role)
{
	return &pair->ring[role == SPEED_ROLE_TX ? end : !end];
}

/* The endpoint that has @role in @ring. */
static inline int speed_role_end(const struct speed_ring *ring, int role)
{
	return role == SPEED_ROLE_TX ? ring->end : !ring->end;
}

/* An endpoint's user is on this processor; see wait.c. */
static inline void speed_pair_seen(struct speed_pair *pair, int end)
{
	s16 cpu = raw_smp_processor_id() + 1;

	if (READ_ONCE(pair->cpu[end]) != cpu)
		WRITE_ONCE(pair->cpu[end], cpu);
}

static inline void speed_pair_asleep(struct speed_pair *pair, int end)
{
	WRITE_ONCE(pair->cpu[end], -(raw_smp_processor_id() + 1));
}

/* It is about to be woken, where it went to sleep as often as not. */
static inline void speed_pair_woken(struct speed_pair *pair, int end)
{
	int cpu = READ_ONCE(pair->cpu[end]);

	if (cpu < 0)
		WRITE_ONCE(pair->cpu[end], -cpu);
}

struct speed_pair *speed_pair_new(const struct speed_door *door, struct sock *a, struct sock *b,
				  u8 type);
void speed_pair_setup(struct speed_pair *pair, const struct speed_door *door, struct sock *a,
		      struct sock *b, u8 type);
void speed_pair_get(struct speed_pair *pair);
bool speed_pair_tryget(struct speed_pair *pair);
void speed_pair_put(struct speed_pair *pair);
void speed_pair_put_any(struct speed_pair *pair);
void speed_pair_end(struct speed_pair *pair);
void speed_pair_break(struct speed_pair *pair, struct speed_ring *ring);
int speed_pair_lie(struct speed_ring *ring, struct sock *sk);
int speed_pair_init(void);
void speed_pair_flush(void);
void speed_pair_exit(void);

#endif
