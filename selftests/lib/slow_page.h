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

/* Ends the body where there is no userfaultfd. */
void slow_page_open(struct slow_page *s);
/* Let it come, with this text at its beginning and zeros after it. */
void slow_page_give(struct slow_page *s, const char *text);
void slow_page_close(struct slow_page *s);

#endif
