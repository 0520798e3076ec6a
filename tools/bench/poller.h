/* SPDX-License-Identifier: GPL-2.0 */
/* The ways to wait for one of many descriptors. */
#ifndef POLLER_H
#define POLLER_H

#include <stdbool.h>

struct poller {
	const char *name;
	bool scans;	/* all descriptors, each time */
	/* Why there is no such poller here, or NULL. NULL: it is here. */
	const char *(*missing)(void);
	void *(*start)(const int *fds, unsigned int count);
	/* The number among them of the first that is readable. */
	unsigned int (*wait)(void *state);
	void (*stop)(void *state);
};

/* All of them, ended by NULL. */
extern const struct poller *const pollers[];

#endif /* POLLER_H */
