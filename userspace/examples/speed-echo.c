// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * speed-echo -l ADDRESS		sends each request back, with libspeed
 * speed-echo ADDRESS [COUNT]	makes COUNT calls and tells how long one took
 *
 * An ADDRESS is a number or a name, as in speed_addr_parse(3). The sockets are
 * ordinary AF_SPEED sockets: this program talks to echo-client as well.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <speed.h>

#define REQUEST	64

static int socket_for(const char *text, struct speed_sockaddr *sa, socklen_t *len)
{
	int fd;

	if (speed_addr_parse(sa, text, len))
		err(2, "%s", text);
	fd = speed_socket(SOCK_STREAM);
	if (fd < 0)
		err(1, "socket (is the module loaded?)");
	return fd;
}

static struct speed *attach(int fd)
{
	struct speed *s = speed_attach(fd, SPEED_ATTACH_SINGLE);

	if (!s)
		err(1, "speed_attach");
	/* Not needed, but then the first transfers are mapped already. */
	if (speed_map(s, SPEED_MAP_BOTH))
		warn("not mapped, using system calls");
	return s;
}

static void serve(int fd)
{
	struct speed *s = attach(fd);
	char buf[16384];
	ssize_t got = speed_reply_wait(s, NULL, 0, buf, sizeof(buf), MSG_NOSIGNAL);

	while (got > 0)
		got = speed_reply_wait(s, buf, (size_t)got, buf, sizeof(buf), MSG_NOSIGNAL);
	if (got < 0)
		warn("speed_reply_wait");
	speed_detach(s);
	close(fd);
}

static void listen_on(const char *text)
{
	struct speed_sockaddr sa;
	socklen_t len;
	int fd = socket_for(text, &sa, &len), conn;

	if (bind(fd, (struct sockaddr *)&sa, len) || listen(fd, 16))
		err(1, "%s", text);
	while ((conn = accept(fd, NULL, NULL)) >= 0)
		serve(conn);
	err(1, "accept");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void call(const char *text, long count)
{
	char req[REQUEST] = "how fast?", rep[REQUEST];
	struct speed_sockaddr sa;
	struct speed_stats stats;
	struct speed *s;
	socklen_t len;
	double since;
	int fd = socket_for(text, &sa, &len);

	if (connect(fd, (struct sockaddr *)&sa, len))
		err(1, "%s", text);
	s = attach(fd);
	since = now();
	for (long i = 0; i < count; i++)
		if (speed_call(s, req, sizeof(req), rep, sizeof(rep), MSG_WAITALL) != sizeof(rep) ||
		    memcmp(req, rep, sizeof(rep)))
			err(1, "speed_call");
	since = now() - since;
	speed_get_stats(s, &stats);
	printf("%ld calls, %.2f us each, %llu system calls\n", count, since / (double)count * 1e6,
	       (unsigned long long)(stats.calls + stats.wakes + stats.waits));
	speed_detach(s);
	close(fd);
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? atol(argv[2]) : 10000;

	if (argc == 3 && !strcmp(argv[1], "-l"))
		listen_on(argv[2]);
	if (argc < 2 || argc > 3 || count < 1)
		errx(2, "usage: speed-echo -l ADDRESS | speed-echo ADDRESS [COUNT]");
	call(argv[1], count);
	return 0;
}
