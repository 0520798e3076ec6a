/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Epoll sets, and the mapped connections that each watches: epoll_wait() looks at
 * their rings before it asks the kernel.
 *
 * What is told is what the kernel would tell: level-triggered events of connections
 * whose lease is in force and which have neither ended nor overflowed. All else, and
 * from time to time everything, is the kernel's to tell, so that nobody is kept
 * waiting by busy connections.
 */
#ifndef PRE_CREW_H
#define PRE_CREW_H

#include "watch.h"

int crew_start(void);
unsigned int crew_shares(void);
int crew_own(int epfd, unsigned int shares);
bool crew_any_own(void);
void crew_shared(void);
void crew_fork_begins(void);
void crew_fork_ends(void);
void crew_fork_child(void);
__u32 crew_identity(int epfd, bool make);
bool crew_lives(__u32 set);
void crew_disband(int epfd);
void crew_nests(int epfd);
void crew_join(int fd);
bool crew_unseen(void);

/**
 * struct crew_nap - a look in vain, and the sleep that follows
 * @looked: how long the look took, nanoseconds
 * @since: when the sleep began; 0: nobody wants to know
 */
struct crew_nap {
	__u64	looked;
	__u64	since;
};

int crew_wait(int epfd, struct epoll_event *events, int max, __u64 patience,
	      struct crew_nap *nap);
void crew_slept(int epfd, const struct crew_nap *nap);

#define CREW_PATIENT	(~(__u64)0)	/* of crew_wait(): no time limit */

#endif /* PRE_CREW_H */
