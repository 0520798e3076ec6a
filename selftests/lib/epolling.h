/* SPDX-License-Identifier: GPL-2.0 */
/* What tests with epoll share. */
#ifndef SPEED_SELFTESTS_EPOLLING_H
#define SPEED_SELFTESTS_EPOLLING_H

#include <sys/epoll.h>

/* A new epoll with this one descriptor in it. */
int epoll_on(int fd, unsigned int events);
/* The events of one descriptor within so many ms; 0: none. */
unsigned int epoll_next(int ep, int ms);
/* For a task: sleeps in poll() until *(int *)fd is readable; 0 where it never is. */
long sleeps_in_poll(void *fd);

#endif
