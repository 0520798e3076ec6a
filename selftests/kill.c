// SPDX-License-Identifier: GPL-2.0
/*
 * SIGKILL of either side at a random instant. What a send accepted before its
 * process died is received before end-of-file; who is left learns of it and
 * does not hang; nothing stays behind.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "held.h"
#include "stress.h"

#define KILLS		20	/* of each path; there are five */
#define MOST_BYTES	6000	/* of one send */
#define LATEST_US	30000

/**
 * struct score - in memory that the processes share
 * @accepted: bytes that sends had taken, told after each
 * @received: bytes that came, all as expected
 * @wrong: bytes that nobody sent there
 * @ready: processes at work
 * @ended: how the receiver ended: 0 end-of-file, or the errno
 * @mapped: transfers of each side in the ring, told after each
 */
struct score {
	atomic_long accepted;
	atomic_long received;
	atomic_int wrong;
	atomic_int ready;
	atomic_int ended;
	atomic_long mapped[2];
};

struct side {
	const struct transport *t;
	struct score *s;
	struct end *e;
	uint64_t seed;
};

/* A process begins to work as one side. While the other one maps, a lease is refused. */
static void side_begin(struct side *d, struct end *e, int side)
{
	int tries = 0;

	close(d->e[!side].fd);
	end_init(d->t, e, d->e[side].fd, side);
	while (e->path == PATH_MAPPED && speed_map(e->map, SPEED_MAP_BOTH) &&
	       errno == EAGAIN && ++tries < 1000)
		sleep_ms(1);
	d->s->ready++;
}

static void tell_mapped(struct score *s, struct end *e, int side)
{
	struct speed_stats st;

	if (e->map && speed_get_stats(e->map, &st) == 0)
		s->mapped[side] = st.mapped_sends + st.mapped_recvs;
}

/* Of all rounds: a side that works by its mapping had some of its transfers there. */
static void want_mapped(const struct transport *t, const long mapped[2])
{
	int side;

	for (side = 0; side < 2; side++) {
		trace_num(mapped[side], "transfers of side %d in the ring", side);
		if (t->path[side] == PATH_MAPPED)
			WANT_TRUE(mapped[side] > 0, "side %d was in the ring", side);
	}
	trace->mapped += mapped[0] + mapped[1];
}

/* Messages tell where they belong by themselves. */
static int sender(void *arg)
{
	static unsigned char buf[MOST_BYTES];
	struct side *d = arg;
	struct chance c = { d->seed | 1 };
	struct end e;
	ssize_t n;

	side_begin(d, &e, 0);
	/* What is sent before the receiver has mapped may be more than the ring holds. */
	while (d->s->ready < 2)
		usleep(100);
	do {
		size_t len = 1 + chance_below(&c, MOST_BYTES);

		stream_fill(buf, len, d->s->accepted);
		n = end_send(&e, buf, len, MSG_NOSIGNAL);
		if (n > 0) {
			d->s->accepted += n;
			tell_mapped(d->s, &e, 0);
		}
	} while (n > 0);
	return errno == EPIPE || errno == ECONNRESET ? 0 : 1;
}

static int receiver(void *arg)
{
	static unsigned char buf[MOST_BYTES];
	struct side *d = arg;
	struct chance c = { d->seed | 2 };
	struct end e;
	ssize_t n;

	side_begin(d, &e, 1);
	while (1) {
		size_t len = d->t->type == SOCK_SEQPACKET ? MOST_BYTES :
							    1 + chance_below(&c, MOST_BYTES);

		n = end_recv(&e, buf, len, 0);
		if (n <= 0)
			break;
		if (!stream_check(buf, n, d->s->received))
			d->s->wrong++;
		d->s->received += n;
		tell_mapped(d->s, &e, 1);
	}
	d->s->ended = n ? errno : 0;
	return 0;
}

/*
 * A round: the victim is side 0, the sender, or 1; what @flows is killed after its first
 * bytes, however long these take. Returns what is wrong, or NULL.
 */
static const char *kill_once(const struct transport *t, struct chance *c, struct score *s,
			     int victim, bool flows)
{
	struct transport plain = *t;
	struct side d = { t, s };
	struct end e[2];
	int status[2];
	pid_t pid[2];

	memset(s, 0, sizeof(*s));
	plain.path[0] = PATH_KERNEL;
	plain.path[1] = PATH_KERNEL;
	tp_pair_sized(&plain, e, 8192);
	d.e = e;
	d.seed = chance64(c);
	pid[0] = process_start(sender, &d);
	pid[1] = process_start(receiver, &d);
	pair_close(e);
	while (s->ready < 2 || (flows && !s->received))
		usleep(100);
	usleep(chance_below(c, LATEST_US));
	kill(pid[victim], SIGKILL);
	status[0] = process_join(pid[0]);
	status[1] = process_join(pid[1]);
	if (s->wrong)
		return "a byte that was not sent there";
	if (victim == 1)
		return status[0] ? "the sender had another error" : NULL;
	if (s->received < s->accepted)
		return "what was accepted did not arrive";
	if (t->type == SOCK_STREAM && s->received > s->accepted + MOST_BYTES)
		return "more arrived than was sent";
	return status[1] || s->ended ? "no end-of-file" : NULL;
}

static void kills(const struct transport *t, int victim)
{
	int rounds = soak_times(KILLS / 2, 20), i, wrong = 0, before = sockets_listed();
	struct score *s = mmap(NULL, sizeof(*s), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct chance c = chance_of(9 + victim);
	const char *why = NULL, *now;
	long bytes = 0, mapped[2] = { 0 };
	struct held held;

	MUST(s != MAP_FAILED);
	held_begin(&held);
	for (i = 0; i < rounds; i++) {
		now = kill_once(t, &c, s, victim, i % 2);
		wrong += now != NULL;
		why = why ?: now;
		bytes += s->received;
		mapped[0] += s->mapped[0];
		mapped[1] += s->mapped[1];
	}
	trace_num(bytes, "bytes");
	WANT(wrong, 0, 0, "wrong, of %d kills: %s", rounds, why ?: "none");
	WANT_TRUE(bytes > 0, "bytes flowed");
	want_mapped(t, mapped);
	WANT(sockets_settle(before), before, 0, "sockets left");
	held_end(&held);
	munmap(s, sizeof(*s));
}

static void of_sender(const struct transport *t)
{
	kills(t, 0);
}

static void of_receiver(const struct transport *t)
{
	kills(t, 1);
}

/* Both roles of both sides at work when one goes: an echo. */
static int echo(void *arg)
{
	struct side *d = arg;
	struct end e;
	char buf[512];
	ssize_t n;

	side_begin(d, &e, 1);
	while ((n = end_recv(&e, buf, sizeof(buf), 0)) > 0) {
		if (end_send(&e, buf, n, MSG_NOSIGNAL) != n)
			break;
		tell_mapped(d->s, &e, 1);
	}
	return 0;
}

static void of_echo(const struct transport *t)
{
	int rounds = soak_times(KILLS / 2, 20), i, before = sockets_listed();
	struct score *s = mmap(NULL, sizeof(*s), RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct chance c = chance_of(12);
	long calls = 0, wrong = 0, mapped[2] = { 0 };
	struct held held;

	MUST(s != MAP_FAILED);
	held_begin(&held);
	for (i = 0; i < rounds; i++) {
		struct transport half = *t;
		struct end e[2];
		struct side d = { t, s, e, 0 };
		char out[256], in[256];
		long until;
		pid_t pid;

		memset(s, 0, sizeof(*s));
		half.path[1] = PATH_KERNEL;
		tp_pair_sized(&half, e, 8192);
		pid = process_start(echo, &d);
		end_close(&e[1]);
		while (!s->ready)
			usleep(100);
		until = now_ms() + chance_below(&c, LATEST_US / 1000);
		do {
			memset(out, i + calls, sizeof(out));
			if (now_ms() >= until)
				kill(pid, SIGKILL);
			if (end_send(&e[0], out, sizeof(out), MSG_NOSIGNAL) != sizeof(out) ||
			    end_recv(&e[0], in, sizeof(in), MSG_WAITALL) != sizeof(in))
				break;
			wrong += memcmp(out, in, sizeof(in)) != 0;
			calls++;
		} while (1);
		process_join(pid);
		tell_mapped(s, &e[0], 0);
		mapped[0] += s->mapped[0];
		mapped[1] += s->mapped[1];
		end_close(&e[0]);
	}
	trace_num(calls, "calls");
	WANT(wrong, 0, 0, "wrong");
	want_mapped(t, mapped);
	WANT(sockets_settle(before), before, 0, "sockets left");
	held_end(&held);
	munmap(s, sizeof(*s));
}

static const struct test_case cases[] = {
	{ "of_sender", of_sender, CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS },
	{ "of_receiver", of_receiver, CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS },
	{ "of_echo", of_echo, CASE_BOTH | CASE_SPEED | CASE_FUSED | CASE_PATHS },
};

RUN_CASES(cases)
