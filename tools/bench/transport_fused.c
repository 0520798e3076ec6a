// SPDX-License-Identifier: GPL-2.0
/*
 * Fused TCP: plain TCP sockets that the module carries because they were made
 * while net.speed.loopback was 1; the same with SO_BUSY_POLL at both ends; and
 * the same under libspeed-preload, which maps what is fused.
 */
#include <stddef.h>

#include "bench.h"
#include "transport.h"

#define POLL_US		100

/*
 * Both ends ask while both are open, for a closed one takes the other back to TCP:
 * neither goes on to close before it has heard that the other has asked.
 */
static void fused_leave(struct end *e)
{
	char byte = 0;

	fused_check_share(e);
	socket_put(e, &byte, 1);
	socket_get(e, &byte, 1);
}

static void polling_enter(struct end *e)
{
	int us = POLL_US;

	if (setsockopt(e->in, SOL_SOCKET, SO_BUSY_POLL, &us, sizeof(us)))
		die("%s: SO_BUSY_POLL: %m", e->transport->name);
}

const struct transport transport_fused = {
	.name = "tcp-fused",
	.able = ABLE_LINK | ABLE_STREAM | ABLE_DOOR | ABLE_MEMORY | ABLE_EPOLL |
		ABLE_NONBLOCKING,
	.family = family_inet,
	.fused = true,
	.open = socket_link,
	.leave = fused_leave,
	.put = socket_put,
	.get = socket_get,
	.get_some = socket_get_some,
};

const struct transport transport_fused_poll = {
	.name = "tcp-fused-poll",
	.able = ABLE_LINK | ABLE_STREAM | ABLE_NONBLOCKING,
	.family = family_inet,
	.fused = true,
	.open = socket_link,
	.enter = polling_enter,
	.leave = fused_leave,
	.put = socket_put,
	.get = socket_get,
	.get_some = socket_get_some,
};

static const char *no_library(void)
{
	return apart_library() ? NULL : "libspeed-preload.so is not built";
}

/*
 * The library looks at a connection after some transfers: short trials may see none of it.
 * Nor does it map one that is seldom without bytes that found the ring full.
 */
#define SURELY_MAPPED	1000

static uint64_t leased_before;	/* when the trial's last link was made */
static uint64_t leased;		/* since then, in all */

static void speedrun_open(const struct transport *t, struct link *l)
{
	socket_link(t, l);
	leased_before = fused_count("leased");
}

static void speedrun_leave(struct end *e)
{
	fused_leave(e);
	leased = fused_count("leased") - leased_before;
	if (e->calls > SURELY_MAPPED && !leased && !fused_fills(e->size))
		die("%s: nothing was mapped", e->transport->name);
}

uint64_t speedrun_leased(void)
{
	return leased;
}

static void speedrun_put(struct end *e, const void *from, size_t len)
{
	e->calls++;
	socket_put(e, from, len);
}

static void speedrun_get(struct end *e, void *to, size_t len)
{
	e->calls++;
	socket_get(e, to, len);
}

static size_t speedrun_get_some(struct end *e, void *to, size_t len)
{
	e->calls++;
	return socket_get_some(e, to, len);
}

/* The same that never looks before it sleeps. */
const struct transport transport_speedrun_sleep = {
	.name = "speedrun-sleep",
	.maps = true,
	.able = ABLE_LINK | ABLE_NONBLOCKING,
	.family = family_inet,
	.fused = true,
	.preload = true,
	.spin = "0",
	.missing = no_library,
	.open = speedrun_open,
	.leave = speedrun_leave,
	.put = speedrun_put,
	.get = speedrun_get,
	.get_some = speedrun_get_some,
};

const struct transport transport_speedrun = {
	.name = "speedrun",
	.maps = true,
	.able = ABLE_LINK | ABLE_STREAM | ABLE_DOOR | ABLE_MEMORY | ABLE_EPOLL |
		ABLE_NONBLOCKING,
	.family = family_inet,
	.fused = true,
	.preload = true,
	.missing = no_library,
	.open = speedrun_open,
	.leave = speedrun_leave,
	.put = speedrun_put,
	.get = speedrun_get,
	.get_some = speedrun_get_some,
};
