// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * echo-client NAME TEXT…: sends each TEXT to an echo-server and prints what comes
 * back, over AF_SPEED, by system call.
 */
#include <err.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/speed.h>

static int connect_to(const char *name)
{
	struct speed_sockaddr sa = { .sp_family = SPEED_FAMILY_DEFAULT };
	size_t n = strlen(name);
	int fd = socket(SPEED_FAMILY_DEFAULT, SOCK_STREAM, 0);

	if (fd < 0)
		err(1, "socket (is the module loaded?)");
	if (!n || n > SPEED_NAME_MAX)
		errx(2, "a name has 1 to %d bytes", SPEED_NAME_MAX);
	memcpy(sa.sp_name, name, n);
	n += offsetof(struct speed_sockaddr, sp_name);
	if (connect(fd, (struct sockaddr *)&sa, (socklen_t)n))
		err(1, "%s", name);
	return fd;
}

int main(int argc, char **argv)
{
	char buf[16384];
	int fd;

	if (argc < 3)
		errx(2, "usage: echo-client NAME TEXT...");
	fd = connect_to(argv[1]);
	for (int i = 2; i < argc; i++) {
		size_t n = strlen(argv[i]);

		if (n > sizeof(buf))
			errx(2, "TEXT is too long");
		if (send(fd, argv[i], n, 0) != (ssize_t)n)
			err(1, "send");
		if (n && recv(fd, buf, n, MSG_WAITALL) != (ssize_t)n)
			err(1, "recv");
		printf("%.*s\n", (int)n, buf);
	}
	return close(fd) ? 1 : 0;
}
