/* SPDX-License-Identifier: GPL-2.0 */
/* A page that comes late: who touches it, in a system call too, is held up there. */
#ifndef SPEED_SELFTESTS_SLOW_PAGE_H
#define SPEED_SELFTESTS_SLOW_PAGE_H

/**
 * struct slow_page - the page
 * @uffd: who asks for it is held up here
 * @at: its place
 */
struct slow_page {
	int uffd;
	char *at;
};

#define SLOW_BYTES	64	/* of what is sent and received there */

/**
 * struct slow - a call that is held up
 * @page: by this
 * @fd: the socket of the call
 */
struct slow {
	struct slow_page page;
	int fd;
};

/* For a task, with a struct slow. */
long slow_send(void *arg);
long slow_recv(void *arg);

/* Ends the body where there is no userfaultfd. */
void slow_page_open(struct slow_page *s);
/* Let it come, with this text at its beginning and zeros after it. */
void slow_page_give(struct slow_page *s, const char *text);
void slow_page_close(struct slow_page *s);

#endif
