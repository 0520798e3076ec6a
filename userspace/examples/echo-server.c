// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * echo-server NAME: sends back what it receives, over AF_SPEED, by system call.
 *
 * Nothing but the family and the address differs from AF_UNIX or TCP.
 */
#include <err.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/speed.h>

static void echo(int fd)
{
	char buf[16384];
	ssize_t got;

	while ((got = recv(fd, buf, sizeof(buf), 0)) > 0)
		for (ssize_t sent = 0, n; sent < got; sent += n) {
			n = send(fd, buf + sent, (size_t)(got - sent), MSG_NOSIGNAL);
			if (n < 0) {
				warn("send");
				return;
			}
		}
	if (got < 0)
		warn("recv");
}

int main(int argc, char **argv)
{
	struct speed_sockaddr sa = { .sp_family = SPEED_FAMILY_DEFAULT };
	socklen_t len;
	int fd, conn;

	if (argc != 2 || !*argv[1] || strlen(argv[1]) > SPEED_NAME_MAX)
		errx(2, "usage: echo-server NAME");
	memcpy(sa.sp_name, argv[1], strlen(argv[1]));
	len = offsetof(struct speed_sockaddr, sp_name) + (socklen_t)strlen(argv[1]);
	fd = socket(SPEED_FAMILY_DEFAULT, SOCK_STREAM, 0);
	if (fd < 0)
		err(1, "socket (is the module loaded?)");
	if (bind(fd, (struct sockaddr *)&sa, len) || listen(fd, 16))
		err(1, "%s", argv[1]);
	while ((conn = accept(fd, NULL, NULL)) >= 0) {
		echo(conn);
		close(conn);
	}
	err(1, "accept");
}
