/* SPDX-License-Identifier: GPL-2.0 */
/* How a storm runs: its ends, who moves the connection meanwhile, and what it must come to. */
#ifndef SPEED_SELFTESTS_SHIM_STORM_RUN_H
#define SPEED_SELFTESTS_SHIM_STORM_RUN_H

#include <net/if.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "shim_storm_ends.h"
#include "stacks.h"
#include "tap.h"

#define STILL_MS	60000	/* nothing moves: a wake-up was lost */
#define TIMERS_MS	150000	/* with hardly a window TCP waits for its timers, of two minutes */
#define LATE_MS		600000	/* for what a storm is to come to, while bytes move */

/* Reads or writes until it would block; false at the end or what is wrong. */
static bool go_on(int fd, int end, struct chance *c, unsigned char *buf)
{
	size_t at, len;
	ssize_t n;

	do {
		at = storm->got[end];
		len = some_size(c);
		n = get(fd, buf, len, MSG_DONTWAIT);
		if (n > 0 && memcmp(buf, stream_at(at), n))
			wrong_bytes(end, at, buf, n);
		storm->got[end] += n > 0 ? n : 0;
	} while (n > 0);
	if (n == 0 || errno != EAGAIN)
		return false;
	do {
		/* Who comes first is at most so much before the other. */
		at = storm->sent[end];
		len = storm->got[end] + storm->largest - at;
		n = storm->stop || !len ? -2 : put(fd, stream_at(at), len, MSG_DONTWAIT | MSG_NOSIGNAL);
		storm->sent[end] += n > 0 ? n : 0;
	} while (n > 0);
	return n == -2 || errno == EAGAIN;
}

/* Edge-triggered: an edge that is lost ends it. */
static int by_edges(void *arg)
{
	static unsigned char buf[LARGEST];
	int end = *(int *)arg, fd = storm->fd[end], ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET };
	struct chance c = { storm->seed * 13 + end };
	bool more = true, shut = false;

	end_enter(end);
	MUST(ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e) == 0);
	while (more) {
		more = go_on(fd, end, &c, buf);
		end_count(end);
		if (storm->stop && !shut)
			shut = !shutdown(fd, SHUT_WR);
		/* One of the two always has something to do, and the end is an edge, too. */
		if (more)
			epoll_wait(ep, &e, 1, -1);
	}
	if (!shut)
		shutdown(fd, SHUT_WR);
	end_leave(end);
	return 0;
}

/* Off for a moment, then on for a longer one: or nothing would be by the ring. */
static void flip_once(int kind, struct chance *c)
{
	int fd = storm->fd[chance_below(c, 2)], tap = -1;

	if (kind == 0)
		tcp_shim_set(0);
	else if (kind == 1)
		MUST(tcp_set_fuse(fd, 0) == 0);
	else if (kind == 2)
		tap = tap_open(NULL);
	else if (storm->repairs)
		set_int(fd, IPPROTO_TCP, TCP_REPAIR, 1);
	/* With hardly a window it is moved at TCP's timers alone: a tap must be there then. */
	usleep(chance_below(c, kind == 2 && storm->tight ? 30000 : 300));
	if (kind == 0)
		tcp_shim_set(1);
	else if (kind == 1)
		MUST(tcp_set_fuse(fd, 1) == 0);
	else if (kind == 2)
		close(tap);
	else if (!storm->repairs)
		MUST(tcp_set_ulp(fd, "speed") == 0 || errno == EEXIST);
	else
		MUST(set_int(fd, IPPROTO_TCP, TCP_REPAIR, 0) == 0);
	/* A mapping takes longer to pay. */
	usleep(chance_below(c, kind >= 2 ? 30000 : 3000) * (storm->mapped ? 10 : 1));
	storm->flips[kind]++;
}

static long flip(void *arg)
{
	int kind = *(int *)arg;
	struct chance c = { storm->seed * 11 + kind };

	while (!storm->stop)
		flip_once(kind, &c);
	return 0;
}

/* A remark each time: whether it moves, and whether TCP's timers are what it waits for. */
static void say_where(void)
{
	int i, in, out;

	for (i = 0; i < 2; i++) {
		struct speed_fusion f = tcp_fusion(storm->fd[i]);
		struct tcp_info t = { 0 };
		socklen_t len = sizeof(t);

		ioctl(storm->fd[i], FIONREAD, &in);
		ioctl(storm->fd[i], TIOCOUTQ, &out);
		getsockopt(storm->fd[i], IPPROTO_TCP, TCP_INFO, &t, &len);
		printf("# end %d sent %lu got %lu unread %d unsent %d reason %u flags %u; "
		       "probes %u backoff %u rto %u us, unacked %u\n",
		       i, storm->sent[i], storm->got[i], in, out, f.reason, f.flags, t.tcpi_probes,
		       t.tcpi_backoff, t.tcpi_rto, t.tcpi_unacked);
	}
}

/**
 * struct progress - whether bytes move
 * @bytes: that had moved
 * @since: when that was first seen
 */
struct progress {
	unsigned long bytes;
	long since;
};

static bool stuck(struct progress *p)
{
	unsigned long bytes = storm->sent[0] + storm->sent[1] + storm->got[0] + storm->got[1];

	if (!p->since || bytes != p->bytes)
		*p = (struct progress){ bytes, now_ms() };
	return now_ms() - p->since > (storm->tight ? TIMERS_MS : STILL_MS);
}

/* They come to their end when senders stop; who does not has lost a wake-up. */
static void join_soon(pid_t pid, int end)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct progress p = { 0 };
	bool ended;

	do {
		ended = poll_wait(pidfd, POLLIN, 100);
	} while (!ended && !stuck(&p));
	if (!ended) {
		say_where();
		stacks_print(getpgid(pid));
		sleep_ms(3000);
		say_where();
		WANT(end, -1, 0, "this end does not come to its end");
		kill(pid, SIGKILL);
	}
	close(pidfd);
	WANT(process_join(pid), 0, 0, "a process");
}

/* Of lo. TCP holds back what is less than half a segment: for tiny buffers a small one. */
static void set_mtu(int mtu)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_mtu = mtu };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	MUST(fd >= 0 && ioctl(fd, SIOCSIFMTU, &lo) == 0);
	close(fd);
}

static void begin_mtu(size_t largest, int mtu)
{
	struct chance c = chance_of(41);
	int i, hold;

	/* With another namespace on, the switch costs no registering of probes. */
	tcp_shim_net();
	hold = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	MUST(hold >= 0);
	tcp_shim_net();
	storm = mmap(NULL, sizeof(*storm), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(storm != MAP_FAILED);
	storm->largest = largest;
	storm->seed = chance64(&c);
	for (i = 0; i < PERIOD + LARGEST; i++)
		stream[i] = i < PERIOD ? chance64(&c) >> 32 : stream[i - PERIOD];
	set_mtu(mtu);
	tcp_fused_pair(storm->fd);
}

static void begin(size_t largest)
{
	begin_mtu(largest, 65536);
}

/* With the smallest buffers that TCP allows. */
static void begin_tight(size_t largest)
{
	const int *fd;
	int i;

	begin_mtu(largest, 1280);
	fd = storm->fd;
	storm->tight = true;
	for (i = 0; i < 2; i++) {
		MUST(set_int(fd[i], SOL_SOCKET, SO_SNDBUF, 1) == 0);
		MUST(set_int(fd[i], SOL_SOCKET, SO_RCVBUF, 1) == 0);
	}
}

/* Moves back to TCP that a storm must exceed. A mapping takes longer to pay. */
static unsigned long least_moves(int seconds)
{
	if (storm->least)
		return storm->least;
	return storm->mapped ? 1 : seconds;
}

/* Moves back to TCP, of both directions: a flip that finds a direction there is none. */
static unsigned long all_moves(void)
{
	return tcp_fusion(storm->fd[0]).unfused + tcp_fusion(storm->fd[1]).unfused;
}

/* Why it went to TCP, or did not leave it, by what was flipped. */
static const char * const reasons[] = { "tcp_not_off", "tcp_not_request", "tcp_not_tap" };
#define REASONS	3
static long reasons_before[REASONS];

/* So often did a kind of flips keep a direction on TCP, or take it back. */
static long effects(int kind)
{
	return stat_number(reasons[kind]) - reasons_before[kind];
}

/* Each kind has its effect, and not one for all. Taps come and go more slowly. */
static bool effective(int kind, int seconds)
{
	return effects(kind) > (long)least_moves(seconds) / (storm->least ? 8 : 2);
}

static void finish(int seconds)
{
	struct speed_fusion f = tcp_fusion(storm->fd[0]), g = tcp_fusion(storm->fd[1]);
	int i;

	for (i = 0; i < 2; i++) {
		WANT(storm->wrong[i], 0, 0, "end %d: wrong after so many bytes, less one", i);
		trace_num(storm->error[i], "end %d: errno then", i);
		trace_num((storm->wrong[i] - 1) % PERIOD, "end %d: of place", i);
		trace_num(storm->instead[i], "end %d: what came instead is of place", i);
		WANT(storm->got[i], storm->sent[!i], 0, "end %d: received of what was sent", i);
		trace_num(storm->got[i] >> 10, "end %d: KiB", i);
	}
	for (i = 0; i < 2; i++)
		WANT_TRUE(!(storm->mapped & (1 << i)) || storm->in_ring[i],
			  "end %d: transfers through its mapping: %lu", i, storm->in_ring[i]);
	for (i = 0; i < FLIPS; i++)
		WANT_TRUE(storm->flips[i] > 1ul * seconds, "flips: %lu", storm->flips[i]);
	for (i = 0; i < REASONS; i++)
		WANT_TRUE(effective(i, seconds), "%s: %ld", reasons[i], effects(i));
	WANT_TRUE(all_moves() > least_moves(seconds), "moves back to TCP: %lu", all_moves());
	printf("# %lu moves back to TCP; %s %ld, %s %ld, %s %ld\n", all_moves(), reasons[0],
	       effects(0), reasons[1], effects(1), reasons[2], effects(2));
	WANT_TRUE(f.bytes[0] && g.bytes[0], "bytes by the rings: %llu, %llu",
		  (unsigned long long)f.bytes[0], (unsigned long long)g.bytes[0]);
	tcp_close(storm->fd);
}

/* Has everybody done what the storm is for? A machine with other work needs longer. */
static bool enough(int seconds)
{
	int i;

	for (i = 0; i < FLIPS; i++)
		if (storm->flips[i] <= 1ul * seconds)
			return false;
	for (i = 0; i < REASONS; i++)
		if (!effective(i, seconds))
			return false;
	for (i = 0; i < 2; i++)
		if ((storm->mapped & (1 << i)) && !storm->in_ring[i])
			return false;
	return all_moves() > least_moves(seconds);
}

static void run(int seconds, int (*life)(void *end))
{
	static int number[FLIPS] = { 0, 1, 2, 3 };
	struct progress p = { 0 };
	struct task k[FLIPS];
	long until, latest;
	pid_t pid[2];
	int i;

	seconds = soak() ? 12 * seconds : seconds / 2;
	for (i = 0; i < REASONS; i++)
		reasons_before[i] = stat_number(reasons[i]);
	for (i = 0; i < 2; i++)
		pid[i] = process_start(life, &number[i]);
	for (i = 0; i < FLIPS; i++)
		task_start(&k[i], flip, &number[i]);
	until = now_ms() + seconds * 1000;
	/* The debug kernel moves some ten times a second. */
	latest = until + LATE_MS;
	while (!storm->stop && !stuck(&p) &&
	       (now_ms() < until || (!enough(seconds) && now_ms() < latest)))
		sleep_ms(20);
	storm->stop = true;
	for (i = 0; i < FLIPS; i++)
		task_join(&k[i]);
	for (i = 0; i < 2; i++)
		join_soon(pid[i], i);
	finish(seconds);
}

#endif
