// SPDX-License-Identifier: GPL-2.0
/* Who captures packets: see tap.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"

int tap_open(const char *dev)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, dev ? 0 : htons(ETH_P_ALL));

	if (fd < 0 || !dev)
		return fd;
	at.sll_ifindex = if_nametoindex(dev);
	if (!bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -1;
}
