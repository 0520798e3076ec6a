/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fused TCP connections of which an end works as the transport's path has it: by
 * system calls, through its mapping, or by either in turn.
 */
#ifndef SPEED_SELFTESTS_MAPPED_H
#define SPEED_SELFTESTS_MAPPED_H

#include "tcp_pair.h"

/* One that is fused, and mapped where it is to be; anything else is a failure. */
void mapped_ends(const struct transport *t, struct end e[2]);

/* Transfers in the ring, of both ends. */
unsigned long mapped_transfers(const struct end e[2]);
/* Is the role leased, by whomever? */
bool mapped_leased(int fd, int role);
/*
 * Until it is not, there being a reason: whether it came to that. Who works in a mapped ring
 * learns within 100 ms that its bytes are to go by TCP.
 */
bool mapped_left(int fd, int role);
/* So many messages from one end to the other and back: how many were right. */
int mapped_talk(struct end e[2], int n);
/* Talks until the roles of the ends that map are leased again. */
bool mapped_again(struct end e[2]);

/* So many bytes of the known stream from there on, whatever the path. */
bool mapped_put(struct end *e, size_t len, size_t offset);
bool mapped_get(struct end *e, size_t len, size_t offset);

/* The descriptors of two ends. */
#define FDS(e)	((int [2]){ (e)[0].fd, (e)[1].fd })

#endif
