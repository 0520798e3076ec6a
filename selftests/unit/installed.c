// SPDX-License-Identifier: GPL-2.0
/*
 * A program of somebody else's: it knows the installed headers and library alone.
 * Bytes go both ways through a pair, by copy and without one.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/speed.h>
#include <speed.h>

static int broken(const char *what)
{
	perror(what);
	return 1;
}

int main(void)
{
	struct speed *end[2];
	const void *span;
	char buf[16];

	if (speed_pair(SOCK_STREAM, 1 << 16, end))
		return broken("speed_pair");
	if (speed_send(end[0], "hello", 5, 0) != 5)
		return broken("speed_send");
	if (speed_recv(end[1], buf, sizeof(buf), 0) != 5 || memcmp(buf, "hello", 5))
		return broken("speed_recv");
	if (speed_send(end[1], "back", 4, 0) != 4)
		return broken("speed_send back");
	if (speed_peek(end[0], 4, &span, 0) < 4 || memcmp(span, "back", 4))
		return broken("speed_peek");
	if (speed_release(end[0], 4))
		return broken("speed_release");
	speed_detach(end[0]);
	if (speed_recv(end[1], buf, sizeof(buf), 0) != 0)
		return broken("end-of-file");
	speed_detach(end[1]);
	printf("family %d\n", SPEED_FAMILY_DEFAULT);
	return 0;
}
