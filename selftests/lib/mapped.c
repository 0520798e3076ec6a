// SPDX-License-Identifier: GPL-2.0
/* Fused TCP connections, mapped: see mapped.h. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "mapped.h"
#include "regions.h"
#include "task.h"
#include "trace.h"

#define TRIES		10
#define REFUSED_MS	300	/* another call is under way for at most so long */
#define SOON_MS		60000

static bool map_now(struct end *e)
{
	long until = now_ms() + REFUSED_MS;

	while (speed_map(e->map, SPEED_MAP_BOTH)) {
		if (errno != EAGAIN || now_ms() > until)
			return false;
		sleep_ms(1);
	}
	return true;
}

/*
 * A lease that was not mapped within a second is taken back, and not given again for a
 * while: on a slow machine the next connection may do.
 */
void mapped_ends(const struct transport *t, struct end e[2])
{
	int tries, fd[2], i;
	bool ok = false;

	for (tries = 0; !ok; tries++) {
		MUST(tries < TRIES);
		if (tries)
			printf("# a fresh lease was refused: %s\n", strerror(errno));
		tcp_fused_pair(fd);
		for (i = 0, ok = true; i < 2; i++) {
			end_init(t, &e[i], fd[i], i);
			ok = ok && (e[i].path != PATH_MAPPED || map_now(&e[i]));
		}
		if (!ok)
			pair_close(e);
	}
}

unsigned long mapped_transfers(const struct end e[2])
{
	unsigned long n = 0;
	int i;

	for (i = 0; i < 2; i++) {
		struct speed_stats st = { 0 };

		if (e[i].map && !speed_get_stats(e[i].map, &st))
			n += st.mapped_sends + st.mapped_recvs;
	}
	return n;
}

bool mapped_leased(int fd, int role)
{
	struct speed_info info;

	return !get_exact(fd, SPEED_INFO, &info, sizeof(info)) && info.leased[role];
}

bool mapped_left(int fd, int role)
{
	long until = now_ms() + SOON_MS;

	while (mapped_leased(fd, role) && now_ms() < until)
		sleep_ms(10);
	return !mapped_leased(fd, role);
}

int mapped_talk(struct end e[2], int n)
{
	char out[64], in[64];
	int i, right = 0;

	for (i = 0; i < n; i++) {
		struct end *from = &e[i % 2], *to = &e[!(i % 2)];

		memset(out, i, sizeof(out));
		memset(in, ~i, sizeof(in));
		right += end_send(from, out, sizeof(out), MSG_NOSIGNAL) == sizeof(out) &&
			 end_recv(to, in, sizeof(in), MSG_WAITALL) == sizeof(in) &&
			 !memcmp(in, out, sizeof(in));
	}
	return right;
}

static bool as_wanted(const struct end *e)
{
	return e->path != PATH_MAPPED ||
	       (mapped_leased(e->fd, SPEED_ROLE_TX) && mapped_leased(e->fd, SPEED_ROLE_RX));
}

bool mapped_again(struct end e[2])
{
	long until = now_ms() + SOON_MS;

	while (now_ms() < until) {
		if (mapped_talk(e, 20) != 20)
			return false;
		if (as_wanted(&e[0]) && as_wanted(&e[1]))
			return true;
	}
	return false;
}

#define PIECE	4096

bool mapped_put(struct end *e, size_t len, size_t offset)
{
	unsigned char out[PIECE];
	size_t done = 0, n;

	for (; done < len; done += n) {
		n = len - done < PIECE ? len - done : PIECE;
		stream_fill(out, n, offset + done);
		if (end_send_all(e, out, n) != (ssize_t)n)
			return false;
	}
	return true;
}

bool mapped_get(struct end *e, size_t len, size_t offset)
{
	unsigned char in[PIECE];
	size_t done = 0;
	ssize_t n;

	for (; done < len; done += n) {
		n = end_recv(e, in, len - done < PIECE ? len - done : PIECE, 0);
		if (n <= 0 || !stream_check(in, n, offset + done))
			return false;
	}
	return true;
}
