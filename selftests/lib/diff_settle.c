// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting until what was sent has arrived, so that the next result does not depend on
 * time: Nagle's rule and delayed acknowledgments hold bytes back for 40 ms, a cork for
 * 200 ms. The coordinator asks a borrowed descriptor. It waits only before a step whose
 * result depends on it, so bytes that are held back stay so where a program goes on.
 */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "diff_pool.h"
#include "diff_run.h"

/* Long: a busy machine's timers are late. Short where it is known to be in vain. */
#define SETTLE_MS	10000
#define IN_VAIN_MS	1000

/* Until it is there, or in vain. False: nothing can be asked. */
static bool await(struct diff_run *r, int end, bool (*there)(int fd, long want), long want)
{
	long until = diff_now_us() + (r->wrong ? IN_VAIN_MS : SETTLE_MS) * 1000, nap = 20;
	int fd = diff_borrow(end);
	bool ok, last;

	if (fd < 0)
		return false;
	for (;;) {
		last = diff_now_us() >= until;
		ok = there(fd, want);
		if (ok || last)
			break;
		diff_nap(nap);
		if (nap < 1000)
			nap *= 2;
	}
	close(fd);
	r->log->late += !ok;
	return true;
}

static bool has_bytes(int fd, long want)
{
	int n = -1;

	return ioctl(fd, FIONREAD, &n) || n == want;
}

static bool has_some(int fd, long want)
{
	int n = -1;

	(void)want;
	return ioctl(fd, FIONREAD, &n) || n > 0;
}

static bool has_event(int fd, long want)
{
	struct pollfd p = { .fd = fd, .events = want };

	return poll(&p, 1, 0) != 0;
}

static bool has_left(int fd, long want)
{
	int n = -1;

	(void)want;
	return ioctl(fd, SIOCOUTQNSD, &n) || !n;
}

/* TCP_CLOSE where it cannot be told. */
static int state_of(int fd)
{
	struct tcp_info info = { .tcpi_state = TCP_CLOSE };
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) ? TCP_CLOSE : info.tcpi_state;
}

/* Poll cannot tell: it says so after a shutdown, too. */
bool diff_is_closed(int fd)
{
	return state_of(fd) == TCP_CLOSE;
}

static bool is_acked(int fd, long want)
{
	int n = -1;

	(void)want;
	return ioctl(fd, SIOCOUTQ, &n) || !n || diff_is_closed(fd);
}

/* One that waits for bytes there takes them away: they have left here, and that is all. */
static bool reader_waits(const struct diff_run *r, int end)
{
	return diff_end_busy(&r->m, end, DC_READ);
}

static bool settle_bytes(struct diff_run *r, int dir)
{
	struct diff_dir *d = &r->m.dir[dir];

	if (d->urgent || reader_waits(r, !dir)) {
		if (r->m.side[dir].gone)
			return true;
		/* What has left has not arrived where the receiver's softirq is late. */
		return await(r, dir, d->urgent ? is_acked : has_left, 0);
	}
	/* Nobody there can be asked, as before accept(); what is corked leaves by a timer. */
	if (!diff_held(!dir)) {
		if (!d->loose)
			await(r, dir, has_left, 0);
		return false;
	}
	if (d->loose || d->cut)
		return !d->least || await(r, !dir, has_some, 0);
	return await(r, !dir, has_bytes, diff_unread(d));
}

void diff_settle_dir(struct diff_run *r, int dir)
{
	struct diff_dir *d = &r->m.dir[dir];

	if (!d->dirty || r->m.side[!dir].gone)
		return;
	if (!settle_bytes(r, dir) && !d->ended)
		return;
	if (d->ended && !reader_waits(r, !dir) && !(d->loose && d->most) &&
	    !await(r, !dir, has_event, POLLRDHUP))
		return;
	d->dirty = false;
}

/*
 * Small buffers are full until acknowledgments come, completions need them, too, and
 * that of a FIN wakes up who waits.
 */
static void settle_outward(struct diff_run *r, int end)
{
	struct diff_side *e = &r->m.side[end];

	if (e->gone || r->m.dir[end].loose)
		return;
	if (e->zerocopy || (e->sndbuf && r->m.dir[end].sent) || (e->shut & DW_WR))
		await(r, end, is_acked, 0);
	if (e->zerocopy)
		await(r, end, has_event, 0);
}

/* The answer to a SYN may come late, too: connect() did not wait. */
static bool is_answered(int fd, long want)
{
	(void)want;
	return state_of(fd) != TCP_SYN_SENT;
}

static void settle_connect(struct diff_run *r, int end)
{
	const struct diff_side *e = &r->m.side[end];

	if (e->connecting && e->nonblock && !e->gone && !r->m.defer)
		await(r, end, is_answered, 0);
}

static void settle_reset(struct diff_run *r, int end)
{
	if (r->m.side[end].hit)
		await(r, end, has_event, 0);
	r->m.side[end].hit = false;
}

/* An abortive end throws away what has not arrived. */
static bool throws_away(struct diff_run *r, const struct diff_step *s)
{
	return diff_is(s, DC_ABORT) && s->code != DO_SHUTDOWN &&
	       (s->code == DO_DISCONNECT || r->m.side[diff_end(s->actor)].linger0 ||
		diff_in(&r->m, s)->most);
}

void diff_settle(struct diff_run *r, const struct diff_step *s)
{
	int end = diff_end(s->actor);

	if (diff_is(s, DC_LOOK | DC_SEND))
		settle_connect(r, end);
	if (diff_is(s, DC_LOOK))
		diff_settle_dir(r, !end);
	if (diff_is(s, DC_LOOK | DC_SEND))
		settle_reset(r, end);
	if (diff_is(s, DC_OUTWARD) || (s->words & DW_ERRQUEUE) ||
	    (diff_is(s, DC_SEND) && diff_takes_chance(&r->m, s)))
		settle_outward(r, end);
	/* The acknowledgment of a FIN wakes up who reads: it comes with bytes, or before them. */
	if (diff_is(s, DC_SEND) && (r->m.side[!end].shut & DW_WR) && reader_waits(r, !end))
		settle_outward(r, !end);
	if (throws_away(r, s))
		diff_settle_dir(r, end);
}
